package move

import (
	"fmt"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/redirect"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestRulesAnswer: the hosts understand the rules as they are meant, whatever is in the
// names. Package redirect is compared with the software of the hosts.
func TestRulesAnswer(t *testing.T) {
	rules := []Pair{
		{"/a b.png", "/c d.png"}, {"/c++/", "/cpp/"}, {"/x(1)/", "/y(2)/"}, {"/ä/", "/ö/"}, {"/a|b{c}[d]/", "/e/"}, {"/q$1.html", "/r$1&.html"},
		{"/10:30/", "/11:45/"}, {"/100%/", "/99%/"}, {"/old/*", "/new/"}, {"/v1.2+/*", "/v1:3/*"},
	}
	rules[8].New += "*"
	want := map[string]string{"/old/sub/p%20q.html": "/new/sub/p%20q.html", "/old/": "/new/", "/old/x/": "/new/x/", "/v1.2+/x/": "/v1:3/x/"}
	for _, r := range rules[:8] {
		want[rulePath(r.Old)] = rulePath(r.New)
	}
	texts := map[string][]string{"_redirects": {"/z /y 301\n"}, "netlify.toml": {"[build]\n"}, ".htaccess": {"# rules\n"},
		"vercel.json":              {`{"cleanUrls": false}`, `{"redirects": [{"source": "/z", "destination": "/"}]}`},
		"firebase.json":            {`{"hosting": {"public": "public"}}`, `{"hosting": {"redirects": []}}`},
		"staticwebapp.config.json": {`{"trailingSlash": "auto"}`, `{"routes": [{"route": "/z", "redirect": "/"}]}`}}
	for f, text := range writtenFiles(texts) {
		rules, want := rules, want
		if f.Single {
			rules, want = rules[:8], maps.Clone(want)
			maps.DeleteFunc(want, func(old, _ string) bool { return strings.HasPrefix(old, "/old/") || strings.HasPrefix(old, "/v1") })
		}
		at, insert, err := f.Insert([]byte(text), rules)
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		text = text[:at] + insert + text[at:]
		file := f.Read("/", f.Name, []byte(text))
		if len(file.Faults) > 0 {
			t.Errorf("%s: %v in\n%s", f.Name, file.Faults, text)
		}
		set := redirect.New(redirect.Options{Scheme: "https", Host: "h.example"}, file)
		for old, now := range want {
			req := redirect.Request{Scheme: "https", Host: "h.example", Path: old}
			hit, ok := set.Match(req)
			if !ok {
				req.Stage = redirect.AfterFiles
				hit, ok = set.Match(req)
			}
			if !ok || hit.Rule.Kind != redirect.Redirect || !samePlace(hit.To, now) {
				t.Errorf("%s: %s leads to %q, want %q, in\n%s", f.Name, old, hit.To, now, text)
			}
		}
		for _, other := range []string{"/c/", "/x1/", "/older/", "/a/"} {
			if hit, ok := set.Match(redirect.Request{Scheme: "https", Host: "h.example", Path: other}); ok && hit.Rule.Kind == redirect.Redirect {
				t.Errorf("%s: %s leads to %q", f.Name, other, hit.To)
			}
		}
	}
}

// writtenFiles yields each rule file of a host into which rules can be written, without a
// text and with those given.
func writtenFiles(texts map[string][]string) iter.Seq2[RuleFile, string] {
	return func(yield func(RuleFile, string) bool) {
		for _, k := range host.Kinds() {
			for _, f := range k.Files {
				for _, text := range append([]string{""}, texts[f.Name]...) {
					if f.Write != nil && !yield(RuleFile{RuleFile: f}, text) {
						return
					}
				}
			}
		}
	}
}

// samePlace compares two addresses without their percent-encoding.
func samePlace(a, b string) bool {
	decoded := func(s string) string {
		if d, err := url.PathUnescape(s); err == nil {
			return d
		}
		return s
	}
	return decoded(strings.TrimPrefix(a, "https://h.example")) == decoded(b)
}

// TestHostRules: which file gets the rules of a host, and where a new one goes.
func TestHostRules(t *testing.T) {
	root := t.TempDir()
	put(t, root, "layouts/index.redirects", "")
	put(t, root, "two/index.redirects", "")
	put(t, root, "two/home.redir", "")
	for _, tt := range []struct {
		profile, exists, published string
		layouts                    string
		ruleDir, dir, new          string
		want                       string
		first                      bool
	}{
		{profile: "netlify", new: "static", dir: ".", want: "static/_redirects"},
		{profile: "netlify", dir: ".", want: "netlify.toml"},
		{profile: "netlify", exists: "static/_redirects", new: "more", want: "static/_redirects"},
		{profile: "netlify", exists: "more/_redirects", new: "static", want: "more/_redirects"},
		{profile: "netlify", exists: "site/netlify.toml", ruleDir: "site", new: "static", want: "site/netlify.toml"},
		{profile: "netlify", exists: "netlify.toml", new: "static", want: "static/_redirects"},
		{profile: "netlify", published: "_redirects", layouts: "layouts", new: "static", want: "layouts/index.redirects"},
		{profile: "netlify", published: "_redirects", layouts: "two", new: "static", dir: ".", want: "netlify.toml"},
		{profile: "cloudflare-pages", new: "static", want: "static/_redirects", first: true},
		{profile: "cloudflare-pages", exists: "static/_redirects", want: "static/_redirects", first: true},
		{profile: "cloudflare-pages", published: "_redirects", layouts: "layouts", want: "layouts/index.redirects", first: true},
		{profile: "cloudflare-pages", dir: ".", want: ""},
		{profile: "vercel", new: "static", dir: "site", want: "site/vercel.json", first: true},
		{profile: "firebase", exists: "firebase.json", ruleDir: ".", want: "firebase.json", first: true},
		{profile: "firebase", dir: ".", want: ""},
		{profile: "apache", new: "static", want: "static/.htaccess", first: true},
		{profile: "apache", exists: "more/.htaccess", new: "static", want: "more/.htaccess", first: true},
		{profile: "vercel", exists: "static/.htaccess", new: "static", dir: ".", want: "vercel.json", first: true},
		{profile: "apache", published: ".htaccess", new: "static", want: ""},
		{profile: "azure-static-web-apps", exists: "static/staticwebapp.config.json", ruleDir: ".", dir: ".", want: "static/staticwebapp.config.json", first: true},
		{profile: "azure-static-web-apps", dir: "site", want: "site/staticwebapp.config.json", first: true},
		{profile: "apache", exists: "static/_redirects", new: "static", want: "static/.htaccess", first: true},
		{profile: "generic", exists: "static/_redirects", new: "static", want: "static/_redirects", first: true},
		{profile: "nginx", new: "static", dir: ".", want: ""},
	} {
		h := Host{Root: root, Profile: tt.profile, RuleDir: tt.ruleDir, Dir: tt.dir, Static: []string{"static", "more"}, New: tt.new,
			Exists: func(name string) bool { return name == tt.exists }, Published: func(name string) bool { return name == tt.published }}
		if tt.layouts != "" {
			h.Layouts = []string{tt.layouts}
		}
		if got := h.Rules(); got.Name != tt.want || got.First != tt.first {
			t.Errorf("%+v: %s, first %v", tt, got.Name, got.First)
		}
	}
}

// TestFindRule: a rule that a move wrote is found again among others, with its comma, and
// removing it leaves the text as it was.
func TestFindRule(t *testing.T) {
	rule, other := Pair{"/a b/", "/c/"}, Pair{"/x/", "/y/"}
	for f := range writtenFiles(nil) {
		f.base = "/blog"
		for _, others := range [][]Pair{nil, {other}} {
			text := []byte(nil)
			for _, r := range others {
				_, insert, err := f.Insert(text, []Pair{r})
				testkit.Check(t, err)
				text = []byte(insert)
			}
			if start, end := f.find(text, rule); start != end {
				t.Errorf("%s: found where it is not: %s", f.Name, text[start:end])
			}
			at, insert, err := f.Insert(text, []Pair{rule})
			testkit.Check(t, err)
			with := string(text[:at]) + insert + string(text[at:])
			start, end := f.find([]byte(with), rule)
			left := strings.Join(strings.Fields(with[:start]+with[end:]), " ")
			want := strings.Join(strings.Fields(string(text)), " ")
			if others == nil { // the file that had no rules
				want = strings.Join(strings.Fields(f.Empty), " ")
			}
			if start >= end || strings.ReplaceAll(left, " ", "") != strings.ReplaceAll(want, " ", "") {
				t.Errorf("%s: %q without the rule is %q, want %q", f.Name, with, left, want)
			}
		}
	}
}

// TestCut: what is inserted into a text without some ranges has its place in the text with them.
func TestCut(t *testing.T) {
	text, ranges := []byte("0123456789"), [][2]int{{2, 4}, {6, 7}}
	if got := string(cut(text, ranges)); got != "0145789" || string(text) != "0123456789" {
		t.Errorf("cut: %q, %q", got, text)
	}
	for at, want := range []int{0, 1, 2, 5, 6, 8, 9, 10} {
		if got := uncut(at, ranges); got != want {
			t.Errorf("uncut(%d) = %d, want %d", at, got, want)
		}
	}
}

// TestURLForms: small decisions about how a new address is written.
func TestURLForms(t *testing.T) {
	for _, tt := range []struct{ old, value, want string }{
		{"/a/", "/b/", "/b/"}, {"/a", "/b/", "/b"}, {"/a", "", ""}, {"/a", "/", "/"}, {"a", "../..", "../.."}, {"a", "b", "b"},
	} {
		if got := like(tt.old, tt.value); got != tt.want {
			t.Errorf("like(%q, %q) = %q", tt.old, tt.value, got)
		}
	}
	for p, want := range map[string]string{"a b": "a%20b", "a:b/c": "./a:b/c", "/a:b": "/a:b", "./a:b": "./a:b", "a/b:c": "a/b:c"} {
		if got := escape(p); got != want {
			t.Errorf("escape(%q) = %q", p, got)
		}
	}
	for target, want := range map[string]string{"/a%20b?x#y": "/a b", "https://h.example/": "", "/%zz": "/%zz"} {
		if got, ok := sitePath(target); got != want || ok != (want != "") {
			t.Errorf("sitePath(%q) = %q, %v", target, got, ok)
		}
	}
	for _, tt := range []struct {
		text, name string
		want       []int
	}{{`"a/b" "/a/b" a/b "a/bc" "a/b/c" x"a/b`, "a/b", []int{1, 8, 25}}, {"", "a", nil}} {
		if got := quotedPaths([]byte(tt.text), tt.name); !slices.Equal(got, tt.want) {
			t.Errorf("quotedPaths(%s) = %v", tt.text, got)
		}
	}
	for address, want := range map[string]string{"/a/": "/a/", "/a": "/a/", "/a.html": "/a/", "/a.htm": "/a.htm/"} {
		if got := directoryOf(address); got != want {
			t.Errorf("directoryOf(%q) = %q", address, got)
		}
	}
	for text, want := range map[string]string{"{{- range }}": "/a /b 301\n{{/* moved files are above */}}", "{{ range }}": "/a /b 301\n"} {
		if _, got, err := redirectsTemplate([]byte(text), []redirect.Pair{{Old: "/a", New: "/b"}}); got != want || err != nil {
			t.Errorf("redirectsTemplate(%q) = %q, %v", text, got, err)
		}
	}
	for from, want := range map[string]string{"a.png": "map[/sub/a.png:/sub/new] []", "d": "map[] [{/sub/d/ /sub/new/}]", "dd": "map[] []", "none": "map[] []"} {
		m := &addressMap{exact: map[string]string{}, files: map[string]bool{"a.png": true, "d/x": true, "d/y": true, "dde": true}, base: "/sub"}
		if m.addStatic(from, "new"); fmt.Sprint(m.exact, m.directories) != want {
			t.Errorf("addStatic(%s): %v %v", from, m.exact, m.directories)
		}
	}
}

// TestAliasRange: an alias goes with its line or comma, with its key if it is the only
// one, and with the front matter if nothing else is there.
func TestAliasRange(t *testing.T) {
	for text, want := range map[string]string{
		"---\na: b\naliases:\n- /old/\n---\n":                    "---\na: b\n---\n",
		"---\naliases:\n- /old/\n---\nx":                         "x",
		"\uFEFF---\naliases:\n  - \"/old/\"\n---":                "\uFEFF",
		"---\naliases:\n- /a/\n- /old/\n---\n":                   "---\naliases:\n- /a/\n---\n",
		"---\naliases:\n- /old/\n- /a/\n---\n":                   "---\naliases:\n- /a/\n---\n",
		"---\naliases: [/old/]\nb: c\n---\n":                     "---\nb: c\n---\n",
		"---\naliases: [ '/old/' , /b/]\n---\n":                  "---\naliases: [ /b/]\n---\n",
		"---\naliases: [/a/, \"/old/\"]\n---\n":                  "---\naliases: [/a/]\n---\n",
		"---\naliases: [/a/, /old/, /b/]\n---\n":                 "---\naliases: [/a/, /b/]\n---\n",
		"+++\naliases = [\"/old/\"]\n+++\nx":                     "x",
		"+++\naliases = [\n  \"/old/\",\n]\n+++\n":               "+++\naliases = [\n  ]\n+++\n",
		"{\n  \"aliases\": [\"/old/\"],\n  \"a\": 1\n}\n":        "{\n  \"a\": 1\n}\n",
		"{\"aliases\": [\"/old/\"], \"a\": 1}\n":                 "{\"aliases\": [], \"a\": 1}\n",
		"{\"t\":0,\"aliases\":[\"/old/\"]}\naliases: [/old/]":    "{\"t\":0,\"aliases\":[]}\naliases: [/old/]",
		"---\nredirect_from:\n- /old/\n# c\n---\n":               "---\n# c\n---\n",
		"---\r\naliases:\r\n- /old/\r\n- /b/\r\ntitle: x\r\n---": "---\r\naliases:\r\n- /b/\r\ntitle: x\r\n---",
	} {
		found := false
		for _, v := range aliasValues([]byte(text)) {
			if text[v[0]:v[1]] == "/old/" {
				found = true
				start, end := aliasRange([]byte(text), v[0], v[1])
				if got := text[:start] + text[end:]; got != want {
					t.Errorf("%q: got %q, want %q", text, got, want)
				}
			}
		}
		if !found {
			t.Errorf("%q has no alias", text)
		}
	}
	for _, tt := range []struct {
		mt         mount
		file, want string
	}{{mount{dir: "docs"}, "docs", ". true"}, {mount{dir: "docs", target: "t"}, "docs", "t true"}, {mount{dir: ".", target: "t"}, "a/b", "t/a/b true"}, {mount{dir: "docs", target: "t"}, "docs/a", "t/a true"}, {mount{dir: "docs"}, "docsa", "docsa false"}} {
		if got, ok := tt.mt.rel(tt.file); fmt.Sprint(got, " ", ok) != tt.want {
			t.Errorf("%+v, %s: %s %v", tt.mt, tt.file, got, ok)
		}
	}
}

// TestFindHeading: a heading is named by its text, by an id that the page has, or by its
// text in other letter case, in this order.
func TestFindHeading(t *testing.T) {
	headings := []destination.Heading{{Text: "One", Anchor: "one"}, {Text: "two", Anchor: "own", ID: "own"}, {Text: "Two", Anchor: "two"}, {Text: "one", Anchor: "one-1"}, {Text: "Three", Anchor: "three"}, {Text: "own", Anchor: "x"}}
	for name, want := range map[string]string{
		"One": "0 one", "one": "3 one-1", "two": "1 own", "Two": "2 ", "own": "5 ", "THREE": "4 ", "three": "4 ", "TWO": `2 headings are "TWO"`, "four": `it has no heading "four"`, "one-1": "3 one-1", "x": `it has no heading "x"`, "": `it has no heading ""`,
	} {
		h, id, err := findHeading(headings, name, []string{"one", "one-1", "own"})
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(slices.IndexFunc(headings, func(o destination.Heading) bool { return o.Text == h.Text }), " ", id)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
