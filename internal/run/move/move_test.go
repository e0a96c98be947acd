package move

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/redirect"
	"github.com/sitelink/sitelink/internal/testkit"
)

func TestInsertAlias(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no front matter", "Text\n", "---\naliases:\n- /old/\n---\nText\n"},
		{"byte order mark", "\ufeffText\r\n", "\ufeff---\r\naliases:\r\n- /old/\r\n---\r\nText\r\n"},
		{"YAML", "---\ntitle: A\n---\nText\n", "---\ntitle: A\naliases:\n- /old/\n---\nText\n"},
		{"YAML, CRLF", "---\r\ntitle: A\r\n---\r\nText", "---\r\ntitle: A\r\naliases:\r\n- /old/\r\n---\r\nText"},
		{"YAML list", "---\naliases:\n  - /x/\n  - /y/\ntitle: A\n---\n", "---\naliases:\n  - /old/\n  - /x/\n  - /y/\ntitle: A\n---\n"},
		{"YAML list without indent", "---\nAliases:\n- /x/\n---\n", "---\nAliases:\n- /old/\n- /x/\n---\n"},
		{"YAML in brackets", "---\naliases: ['/x/']\n---\n", "---\naliases: [/old/, '/x/']\n---\n"},
		{"YAML, empty", "---\naliases: []\n---\n", "---\naliases: [/old/]\n---\n"},
		{"YAML, a nested key is another", "---\nother:\n  aliases: x\n---\n", "---\nother:\n  aliases: x\naliases:\n- /old/\n---\n"},
		{"TOML", "+++\ntitle = \"A\"\n[menu]\nmain = 1\n+++\n", "+++\naliases = [\"/old/\"]\ntitle = \"A\"\n[menu]\nmain = 1\n+++\n"},
		{"TOML list", "+++\naliases = [\n  \"/x/\",\n]\n+++\n", "+++\naliases = [\n  \"/old/\",\n  \"/x/\",\n]\n+++\n"},
		{"TOML list, CRLF", "+++\r\naliases = [\r\n\t\"/x/\"\r\n]\r\n+++\r\n", "+++\r\naliases = [\r\n\t\"/old/\",\r\n\t\"/x/\"\r\n]\r\n+++\r\n"},
		{"YAML in brackets, with lines", "---\naliases: [\n  /x/,\n  /y/\n]\n---\n", "---\naliases: [\n  /old/,\n  /x/,\n  /y/\n]\n---\n"},
		{"TOML list in a table", "+++\n[build]\naliases = [\"/x/\"]\n+++\n", "+++\naliases = [\"/old/\"]\n[build]\naliases = [\"/x/\"]\n+++\n"},
		{"JSON", "{\n  \"title\": \"A\"\n}\nText\n", "{\n  \"aliases\": [\"/old/\"],\n  \"title\": \"A\"\n}\nText\n"},
		{"JSON list with lines", "{\"aliases\": [\n    \"/x/\"\n  ]}\n", "{\"aliases\": [\n    \"/old/\",\n    \"/x/\"\n  ]}\n"},
		{"JSON list", "{\"aliases\": [\"/x/\"]}\n", "{\"aliases\": [\"/old/\", \"/x/\"]}\n"},
	} {
		at, insert, err := InsertAlias([]byte(tt.text), "aliases", "/old/")
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		got := tt.text[:at] + insert + tt.text[at:]
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		for _, v := range aliasValues([]byte(got)) { // and the move back
			if got[v[0]:v[1]] == "/old/" && tt.name != "YAML, empty" {
				start, end := aliasRange([]byte(got), v[0], v[1])
				got = got[:start] + got[end:]
				break
			}
		}
		if got != tt.text && tt.name != "YAML, empty" {
			t.Errorf("%s: without the alias %q, want %q", tt.name, got, tt.text)
		}
	}
	for name, text := range map[string]string{
		"a value that is no list":    "---\naliases: /x/\n---\n",
		"the same in TOML":           "+++\naliases = \"/x/\"\n+++\n",
		"front matter without end":   "---\ntitle: A\n",
		"TOML front matter, no end ": "+++\ntitle = \"A\"\n",
	} {
		if _, _, err := InsertAlias([]byte(text), "aliases", "/old/"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for text, want := range map[string]string{
		"Text\n":                           "---\naliases:\n- /a/\n- /b/\n---\nText\n",
		"---\ntitle: A\n---\n":             "---\ntitle: A\naliases:\n- /a/\n- /b/\n---\n",
		"---\naliases:\n  - /x/\n---\n":    "---\naliases:\n  - /a/\n  - /b/\n  - /x/\n---\n",
		"---\naliases: []\n---\n":          "---\naliases: [/a/, /b/]\n---\n",
		"+++\naliases=[\n \"/x/\"]\n+++\n": "+++\naliases=[\n \"/a/\",\n \"/b/\",\n \"/x/\"]\n+++\n",
		"+++\ntitle = \"A\"\n+++\n":        "+++\naliases = [\"/a/\", \"/b/\"]\ntitle = \"A\"\n+++\n",
		"{\"aliases\": [\"/x/\"]}\nText\n": "{\"aliases\": [\"/a/\", \"/b/\", \"/x/\"]}\nText\n",
	} {
		at, insert, err := InsertAlias([]byte(text), "aliases", "/a/", "/b/")
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := text[:at] + insert + text[at:]; got != want {
			t.Errorf("two aliases: %q, want %q", got, want)
		}
	}
	at, insert, err := InsertAlias([]byte("---\ntitle: A\n---\n"), "aliases", "/ä: b/")
	if err != nil || at != 13 || insert != "aliases:\n- \"/ä: b/\"\n" {
		t.Errorf("an address to quote: %d, %q, %v", at, insert, err)
	}
}

func TestClimbs(t *testing.T) {
	for _, tt := range []struct {
		page, rel string
		want      bool
	}{{"/a/", "../b", false}, {"/a.html", "../b", true}, {"/a/b/", "../../c", false}, {"/a/b/", "../../../c", true}, {"/", "a/../../b", true}} {
		if got := climbs(tt.page, tt.rel); got != tt.want {
			t.Errorf("climbs(%s, %s) = %v", tt.page, tt.rel, got)
		}
	}
}

func TestCommonEnd(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want Pair
	}{
		{"/docs/a/", "/guide/a/", Pair{"/docs/", "/guide/"}},
		{"/docs/x/a/", "/guide/y/x/a/", Pair{"/docs/", "/guide/y/"}},
		{"/a/", "/b/", Pair{"/a/", "/b/"}}, {"/x/a/", "/a/", Pair{"/x/", "/"}}, {"/a/", "/x/a/", Pair{"/", "/x/"}},
	} {
		if got := commonEnd(tt.a, tt.b); got != tt.want {
			t.Errorf("commonEnd(%s, %s) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestChangedIDs(t *testing.T) {
	for _, tt := range []struct {
		before, after []string
		want          map[string]string
	}{
		{[]string{"a", "b"}, []string{"a", "c"}, map[string]string{"b": "c"}},
		{[]string{"a", "a-1"}, []string{"b", "a"}, map[string]string{"a": "b", "a-1": "a"}}, // the second loses its number
		{[]string{"a", "b"}, []string{"a", "c", "x"}, nil},
	} {
		got, err := changedIDs(tt.before, tt.after)
		if !maps.Equal(got, tt.want) || (err == nil) != (tt.want != nil) {
			t.Errorf("changedIDs(%v, %v) = %v, %v, want %v", tt.before, tt.after, got, err, tt.want)
		}
	}
}

// TestRules: rules come before those that exist, since the first that matches counts.
func TestRules(t *testing.T) {
	rules := []redirect.Pair{{Old: "/a b.png", New: "/c.png"}, {Old: "/x/*", New: "/y/*"}}
	for _, tt := range []struct {
		name   string
		format func([]byte, []redirect.Pair) (int, string, error)
		text   string
		want   string
	}{
		{"_redirects", redirect.WriteRedirects, "/* /404 404\n", "/a%20b.png /c.png 301\n/x/* /y/:splat 301\n/* /404 404\n"},
		{"_redirects, CRLF and byte order mark", redirect.WriteRedirects, "\ufeff/* /404 404\r\n", "\ufeff/a%20b.png /c.png 301\r\n/x/* /y/:splat 301\r\n/* /404 404\r\n"},
		{"netlify.toml", redirect.WriteNetlifyTOML, "[build]\npublish = \"public\"", "[build]\npublish = \"public\"\n\n[[redirects]]\n  from = \"/a%20b.png\"\n  to = \"/c.png\"\n  status = 301\n[[redirects]]\n  from = \"/x/*\"\n  to = \"/y/:splat\"\n  status = 301\n"},
		{".htaccess", redirect.WriteHtaccess, "", "RedirectMatch 301 \"^/a b\\.png$\" \"/c.png\"\nRedirect 301 \"/x/\" \"/y/\"\n"},
		{"vercel.json", redirect.WriteVercel, `{"redirects": []}`, "{\"redirects\": [\n    {\"destination\":\"/c.png\",\"permanent\":true,\"source\":\"/a%20b.png\"},\n    {\"destination\":\"/y/$1\",\"permanent\":true,\"source\":\"/x/(.*)\"}\n  ]}"},
		{"firebase.json", redirect.WriteFirebase, `{"hosting": {"redirects": [{}]}}`, "{\"hosting\": {\"redirects\": [\n    {\"destination\":\"/c.png\",\"regex\":\"^/a b\\\\.png$\",\"type\":301},\n    {\"destination\":\"/y/\",\"source\":\"/x/\",\"type\":301},\n    {\"destination\":\"/y/:1\",\"regex\":\"^/x/(.+)$\",\"type\":301},{}]}}"},
	} {
		at, insert, err := tt.format([]byte(tt.text), rules)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := tt.text[:at] + insert + tt.text[at:]; got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
	for text, format := range map[string]func([]byte, []redirect.Pair) (int, string, error){
		`{"redirects": "x"}`:             redirect.WriteVercel,
		`{}`:                             redirect.WriteFirebase,
		`{"hosting": [{"target": "a"}]}`: redirect.WriteFirebase,
	} {
		if _, _, err := format([]byte(text), rules); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

// TestTagEdits: Jekyll's tags that name a moved file name the new one.
func TestTagEdits(t *testing.T) {
	moved := map[string]string{
		"guide/a.md": "help/b.md", "img/p.svg": "img/q.svg",
		"_posts/2024-05-06-hello.md": "_posts/2024-05-07-hi.md", "_posts/sub/2024-01-02-x.md": "_posts/2024-01-02-x.md",
		"blog/_posts/2023-01-02-y.md": "guide/y.md",
	}
	for text, want := range map[string]string{
		"[a]({% link guide/a.md %})":                          "[a]({% link help/b.md %})",
		"{%- link /img/p.svg -%}{%link guide/a.md%}":          "{%- link /img/q.svg -%}{%link help/b.md%}",
		"{% link guide/a.md.txt %} {% link other.md %}":       "{% link guide/a.md.txt %} {% link other.md %}",
		"{% post_url 2024-05-06-hello %}":                     "{% post_url 2024-05-07-hi %}",
		"{% post_url /sub/2024-01-02-x %}":                    "{% post_url /2024-01-02-x %}",
		"{% post_url blog/2023-01-02-y %}":                    "{% link guide/y.md %}",
		"{% raw %}{% link guide/a.md %}{% endraw %}":          "{% raw %}{% link guide/a.md %}{% endraw %}",
		"{% comment %}x{% endcomment %}{% link guide/a.md %}": "{% comment %}x{% endcomment %}{% link help/b.md %}",
		"{% if x %}{% include guide/a.md %}{% endif %}":       "{% if x %}{% include guide/a.md %}{% endif %}",
	} {
		got := text
		edits := tagEdits(text, moved)
		for i := len(edits) - 1; i >= 0; i-- {
			e := edits[i]
			got = got[:e.Start] + e.Text + got[e.End:]
		}
		if got != want {
			t.Errorf("%s becomes %s, want %s", text, got, want)
		}
	}
}

// TestImportEdits: when a page of Astro moves, its paths to its layout, components, data
// and pictures follow. Paths to files that move along stay.
func TestImportEdits(t *testing.T) {
	files := map[string]bool{"src/layouts/B.astro": true, "src/lib/util.ts": true, "src/posts": true, "src/a.png": true, "src/pages/x/own.astro": true, "src/pages/c.astro": true}
	for _, tt := range []struct{ file, text, want string }{
		{"src/pages/a.md", "---\nlayout: ../layouts/B.astro\ntitle: A\n---\n![p](../a.png) [b](../b)\nimport x from '../layouts/B.astro'\n",
			"---\nlayout: ../../layouts/B.astro\ntitle: A\n---\n![p](../../a.png) [b](../b)\nimport x from '../layouts/B.astro'\n"},
		{"src/pages/a.md", "---\nlayout: \"../layouts/B.astro\"\n---\n![p](../gone.png)\n", "---\nlayout: \"../../layouts/B.astro\"\n---\n![p](../gone.png)\n"},
		{"src/pages/a.mdx", "import B from \"../layouts/B.astro\"\nexport { u } from '../lib/util'\n\n<B/>\n", "import B from \"../../layouts/B.astro\"\nexport { u } from '../../lib/util'\n\n<B/>\n"},
		{"src/pages/a.astro", "---\nimport {\n  B,\n} from '../layouts/B.astro';\nimport C from './c.astro'\nimport D from '../none.astro'\nconst all = import.meta.glob('../posts/*.md'), l = await import(\"../lib/util.ts\")\n---\n<B/>\n",
			"---\nimport {\n  B,\n} from '../../layouts/B.astro';\nimport C from '../c.astro'\nimport D from '../none.astro'\nconst all = import.meta.glob('../../posts/*.md'), l = await import(\"../../lib/util.ts\")\n---\n<B/>\n"},
		{"src/pages/x/i.astro", "---\nimport O from './own.astro'\nimport B from '../../layouts/B.astro'\n---\n", "---\nimport O from './own.astro'\nimport B from '../../../layouts/B.astro'\n---\n"},
	} {
		rename := Pair{tt.file, "src/pages/docs/" + path.Base(tt.file)}
		if path.Dir(tt.file) == "src/pages/x" {
			rename = Pair{"src/pages/x", "src/pages/docs/x"}
		}
		got := tt.text
		for _, e := range slices.Backward(importEdits(&document{tt.file, []byte(got), "", destination.In(tt.file, []byte(got), generator.Astro)}, rename, func(f string) bool { return files[f] })) {
			got = got[:e.Start] + e.Text + got[e.End:]
		}
		if got != tt.want {
			t.Errorf("%s becomes %s, want %s", tt.text, got, tt.want)
		}
	}
}

// TestNames: what the user may name, and what each name means.
func TestNames(t *testing.T) {
	hugoEnv(t)
	files := maps.Clone(hugoSite)
	files["content/docs/fixed.md"] = "---\ntitle: F\nurl: /elsewhere/\n---\n"
	files["content/docs/a.de.md"] = "---\ntitle: A\nurl: /a-de/\n---\n"
	files["content/free/x.md"] = "---\ntitle: X\n---\n"
	out := t.TempDir() // content that is not in the project
	put(t, out, "x.md", "---\ntitle: Out\n---\n")
	for source, target := range map[string]string{"content": "content", "static": "static", filepath.ToSlash(out): "content/out"} {
		files["hugo.toml"] += fmt.Sprintf("[[module.mounts]]\nsource = %q\ntarget = %q\n", source, target)
	}
	root := newSite(t, files)
	p, err := projectIn(t, root, "netlify")
	testkit.Check(t, err)
	m, err := begin(t.Context(), p, Options{})
	testkit.Check(t, err)
	defer m.close()
	for _, tt := range []struct{ old, new, from, to, address string }{
		{"content/docs/a.md", "content/docs/c.md", "content/docs/a.md", "content/docs/c.md", ""},
		{"docs/a.md", "docs/c.md", "content/docs/a.md", "content/docs/c.md", ""},
		{"content/docs/a.md", "content/docs/c", "content/docs/a.md", "content/docs/c.md", ""},
		{"content/docs/a.md", "content/docs/b/", "content/docs/a.md", "content/docs/b/a.md", ""},
		{"content/docs/a.md", "content/docs/b", "content/docs/a.md", "content/docs/b/a.md", ""},
		{"content/docs/b/index.md", "content/docs/b3/index.md", "content/docs/b", "content/docs/b3", ""},
		{"content/docs/b", "content/guide", "content/docs/b", "content/guide", ""},
		{"/docs/a/", "/docs/c/", "content/docs/a.md", "content/docs/c.md", "/docs/c/"},
		{"/sub/docs/a", "https://h.example/sub/docs/c/", "content/docs/a.md", "content/docs/c.md", "/sub/docs/c/"},
		{"/docs/b/", "/docs/new/b/", "content/docs/b", "content/docs/new/b", "/docs/new/b/"},
		{"/docs/", "/guide/", "content/docs", "content/guide", "/guide/"},
		{"/img/p.svg", "/img/q.svg", "static/img/p.svg", "static/img/q.svg", "/img/q.svg"},
		{"/img/", "/pictures/", "static/img", "static/pictures", "/pictures/"},
		{"static/img/p.svg", "static/pictures/", "static/img/p.svg", "static/pictures/p.svg", ""},
		{"/elsewhere/", "content/docs/free.md", "content/docs/fixed.md", "content/docs/free.md", ""},
		{"/free/", "/bound/", "content/free", "content/bound", "/bound/"},
	} {
		m.opt.Old, m.opt.New = tt.old, tt.new
		from, to, address, err := m.resolveNames()
		if err != nil || from != tt.from || to != tt.to || address != tt.address {
			t.Errorf("%s to %s: %s to %s at %q, %v", tt.old, tt.new, from, to, address, err)
		}
	}
	for _, tt := range []struct{ old, new, want string }{
		{"content/docs/a.md", "content/docs/a.md", "are the same"},
		{"content/none.md", "content/x.md", "there is no content/none.md"},
		{"../a.md", "content/x.md", "outside of the project"},
		{"content/docs/a.md", "../x.md", "outside of the project"},
		{"content", "docs", "whole source directory"},
		{"layouts/_default/list.html", "layouts/x.html", "is not a page, a section or a static file"},
		{"content/docs/a.md", "layouts/x.md", "is not a page, a section or a static file"},
		{"/none/", "/x/", "no page, section or static file has the address /none/"},
		{"content/docs/b", "content/x.md", "is a directory"},
		{"content/docs/a.md", "/", "home page"},
		{"content/docs/fixed.md", "/docs/x/", "does not follow from its name"},
		{"/%zz", "/x/", `"/%zz" is not an address`},
		{"/out/x/", "/out/y/", "no page, section or static file has the address /out/x/"},
	} {
		m.opt.Old, m.opt.New = tt.old, tt.new
		if from, to, _, err := m.resolveNames(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s to %s: %s to %s, error %v, want %q", tt.old, tt.new, from, to, err, tt.want)
		}
	}
	m.pages.byFile["content/docs/_index.de.md"] = &page{} // a translation comes second
	for name, want := range map[string]string{"content/docs": "content/docs/_index.md", "/docs/b/": "content/docs/b/index.md", "docs/a.md": "content/docs/a.md"} {
		if file, err := m.pageFile(name); err != nil || file != want {
			t.Errorf("the page of %s: %s, %v", name, file, err)
		}
	}
	if file, ok := m.belowRoot(m.shadow.at("content/a.md")); !ok || file != "content/a.md" {
		t.Errorf("below the root: %q, %v", file, ok)
	}
	if file, ok := m.belowRoot(m.shadow.at("../a.md")); ok {
		t.Errorf("outside of the root: %q", file)
	}
	var notes []string
	m.opt.Note = func(text string) { notes = append(notes, text) }
	m.noteTranslations("content/docs/a.md")
	m.noteTranslations("content/docs/other.md")
	if want := []string{"content/docs/a.de.md may be a translation of content/docs/a.md: it keeps its name"}; !slices.Equal(notes, want) {
		t.Errorf("notes %q", notes)
	}
}

// TestAddressMap: each form of an address changes to the same form.
func TestAddressMap(t *testing.T) {
	stay := map[string]bool{"/docs/own/": true, "/page.html": true}
	a := &addressMap{
		exact:       map[string]string{"/docs/a/": "/guide/b/", "/ugly.html": "/new.html", "/bare": "/other", "/idx/": "/plain", "/page": "/p2", "/up": "/dir/"},
		directories: []Pair{{"/docs/deep/", "/deeper/"}, {"/docs/", "/guide/"}},
		stay:        func(address string) bool { return stay[address] },
		answers:     func(address string) bool { return address != "/silent.html" },
	}
	a.exact["/silent"] = "/silence"
	for old, want := range map[string]string{
		"/docs/a/": "/guide/b/", "/docs/a": "/guide/b", "/docs/a/index.html": "/guide/b/index.html", "/docs/a/index.xml": "/guide/b/index.xml", "/idx/index.html": "",
		"/ugly.html": "/new.html", "/ugly": "/new", "/bare": "/other", "/bare.html": "/other.html", "/page": "/p2", "/page.html": "",
		"/up.html": "", "/silent.html": "", "/docs/": "/guide/", "/docs": "/guide", "/docs/x/y.png": "/guide/x/y.png", "/docs/own/": "",
		"/docs/deep/x": "/deeper/x", "/docs/deep": "/deeper", "/else/": "", "/docsx/": "",
	} {
		if to, ok := a.of(old); to != want || ok != (want != "") {
			t.Errorf("%s becomes %q, %v, want %q", old, to, ok, want)
		}
		if to := a.pageAfter(old); to != cmp.Or(want, old) {
			t.Errorf("pageAfter(%s) = %s", old, to)
		}
	}
	all := a.all()
	if !slices.IsSortedFunc(all, func(x, y Pair) int { return strings.Compare(x.Old, y.Old) }) || len(all) != 9 {
		t.Errorf("all: %v", all)
	}
}

// TestNearestPath: the built page with most of the last names of a source, if there is one.
func TestNearestPath(t *testing.T) {
	for _, tt := range []struct {
		want, got string
		paths     []string
	}{
		{"docs/a", "x/docs/a/index.html", []string{"a.html", "x/docs/a/index.html", "docs/b.html"}},
		{"docs/a", "", []string{"x/docs/a.html", "y/docs/a/index.html"}},
		{"docs/a", "", []string{"b.html"}},
		{"docs/a", "Docs/A.html", []string{"Docs/A.html"}},
		{"docs/a", "", nil},
	} {
		if got, ok := nearestPath(tt.want, tt.paths); ok != (tt.got != "") || ok && got != tt.got {
			t.Errorf("nearestPath(%s, %v) = %q, %v", tt.want, tt.paths, got, ok)
		}
	}
}
