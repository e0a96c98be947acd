package move

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestPlainRules: pages without a generator move, and the rules of each host lead to the
// new address: those that lead to the old one, and one for the old address.
func TestPlainRules(t *testing.T) {
	for _, tt := range []struct {
		profile, rules, text string
		want                 []string
	}{
		{"netlify", "netlify.toml", "[build]\npublish = \"public\"\n\n[[redirects]]\n  from = \"/first\"\n  to = \"/docs/b.html?x=1\"\n\n[[redirects]]\n  from = \"/docs/b.html/x\"\n  to = \"/docs/\"\n", []string{
			"", "  from = \"/docs/b\"", "  from = \"/docs/b.html\"", "  status = 301", "  status = 301", "  to = \"/c\"", "  to = \"/c.html\"", "  to = \"/c.html?x=1\"", "[[redirects]]", "[[redirects]]", ""}},
		{"netlify", "public/_redirects", "# rules\n/first /docs/b.html 302\n/x/docs/b.html /docs/ 302\n", []string{"/docs/b /c 301", "/docs/b.html /c.html 301", "/first /c.html 302"}},
		{"vercel", "vercel.json", "{\"redirects\": [{\"source\": \"/first\", \"destination\": \"/docs/b.html\"}]}\n", []string{
			"{\"redirects\": [", "    {\"destination\":\"/c.html\",\"permanent\":true,\"source\":\"/docs/b.html\"},{\"source\": \"/first\", \"destination\": \"/c.html\"}]}"}},
		{"apache", "public/.htaccess", "Redirect 302 \"/first\" \"/docs/b.html\"\n", []string{"Redirect 302 \"/first\" \"/c.html\"", "RedirectMatch 301 \"^/docs/b\\.html$\" \"/c.html\""}},
	} {
		t.Run(tt.profile+"/"+tt.rules, func(t *testing.T) {
			files := map[string]string{
				"public/index.html":      "<!doctype html><title>i</title><a href=\"docs/b.html#x\">b</a> <a href=\"/docs/b.html\">b</a> <a href=\"docs/gone.html\">gone</a>\n",
				"public/docs/b.html":     "<!doctype html><title>b</title><h2 id=x>x</h2><a href=\"./\">docs</a> <img src=\"../p.svg\"> <a href=\"?q\">self</a>\n",
				"public/docs/index.html": "<!doctype html><title>d</title><a href=b.html>b</a> <a href=\"./b.html#x\">b</a> <a href='https://h.example/docs/b.html'>b</a>\n",
				"public/p.svg":           "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n",
				tt.rules:                 tt.text,
			}
			root := newSite(t, files)
			p, err := planFor(t, root, tt.profile, Options{Old: "public/docs/b.html", New: "public/c.html"})
			testkit.Check(t, err)
			expect(t, p, append(slices.Clone(tt.want),
				"<!doctype html><title>i</title><a href=\"c.html#x\">b</a> <a href=\"/c.html\">b</a> <a href=\"docs/gone.html\">gone</a>",
				"<!doctype html><title>b</title><h2 id=x>x</h2><a href=\"./docs/\">docs</a> <img src=\"p.svg\"> <a href=\"?q\">self</a>",
				"<!doctype html><title>d</title><a href=../c.html>b</a> <a href=\"../c.html#x\">b</a> <a href='https://h.example/docs/b.html'>b</a>",
			), len(p.Broken)+len(p.Lost))
		})
	}
}

// TestMarkdown: a file of a repository without a site moves, and no address is lost.
func TestMarkdown(t *testing.T) {
	root := newSite(t, map[string]string{
		"README.md": "# R\n\n[b](docs/b.md#b)\n", "docs/a.md": "# A\n\n[b](b.md)\n", "docs/b.md": "# B\n\n[a](a.md) [gone](gone.md)\n",
	})
	p, err := project.Find(t.Context(), root, project.Options{Config: &config.Config{}, Env: os.Environ(), Markdown: true})
	testkit.Check(t, err)
	made, err := Make(t.Context(), p, Options{Old: "docs/b.md", New: "docs/more/c.md"})
	testkit.Check(t, err)
	expect(t, made, []string{"[b](docs/more/c.md#b)", "[b](more/c.md)", "[a](../a.md) [gone](gone.md)"}, len(made.Broken)+len(made.Lost))
}

// TestReadOnly: a file that cannot be edited is named once, and its links are those that the
// move would break.
func TestReadOnly(t *testing.T) {
	root := newSite(t, map[string]string{
		"public/index.html": "<!doctype html><title>i</title><a href=\"b.html\">b</a> <a href=\"/b.html\">b</a>\n",
		"public/b.html":     "<!doctype html><title>b</title>\n",
	})
	testkit.Check(t, os.Chmod(filepath.Join(root, "public", "index.html"), 0o444))
	var notes []string
	p, err := plan(t, root, Options{Old: "public/b.html", New: "public/c.html", Note: func(text string) { notes = append(notes, text) }})
	testkit.Check(t, err)
	if want := []string{"public/index.html: is read-only; its links stay as they are"}; !slices.Equal(notes, want) {
		t.Errorf("notes %q", notes)
	}
	redirects := slices.ContainsFunc(p.Set.Files(), func(f string) bool { return f == "public/_redirects" })
	if p.Links != 0 || len(p.Broken) != 0 || len(p.Composed) != 2 || !redirects {
		t.Errorf("%d links, broken %v, composed %v, files %v", p.Links, p.Broken, p.Composed, p.Set.Files())
	}
}

// TestBackUncommitted: a page that git does not know moves there and back, and nothing of
// the move stays.
func TestBackUncommitted(t *testing.T) {
	hugoEnv(t)
	root := newSite(t, hugoSite)
	fresh := map[string]string{
		"content/docs/new.md":  "---\ntitle: New\n---\n[a](../a/)\n",
		"content/docs/open.md": "---\ntitle: Open\n---\n[new](../new/) [ref]({{< relref \"new\" >}})\n",
	}
	for name, text := range fresh {
		put(t, root, name, text)
	}
	for _, move := range []Pair{{"content/docs/new.md", "content/docs/newer.md"}, {"content/docs/newer.md", "content/docs/new.md"}} {
		var notes []string
		p, err := plan(t, root, Options{Old: move.Old, New: move.New, Note: func(text string) { notes = append(notes, text) }})
		if err == nil {
			err = p.Set.Apply(t.Context(), "sitelink mv")
		}
		testkit.Check(t, err)
		if back := slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "takes an earlier move back") }); back != (move.New == "content/docs/new.md") {
			t.Errorf("%v: notes %q", move, notes)
		}
	}
	now := sources(t, root)
	for name, text := range fresh {
		if now[name] != text {
			t.Errorf("%s: %q, want %q", name, now[name], text)
		}
	}
	if _, ok := now["content/docs/newer.md"]; ok || len(now) != len(hugoSite)+len(fresh) {
		t.Errorf("the files %q", slices.Sorted(maps.Keys(now)))
	}
}

// TestBackRules: the rules of a move go when it is taken back, and others lead to the page again.
func TestBackRules(t *testing.T) {
	files := map[string]string{
		"public/index.html": "<!doctype html><title>i</title><a href=\"b.html\">b</a>\n", "public/b.html": "<!doctype html><title>b</title>\n",
		"public/_redirects": "# rules\n/first /b.html 302\n/other /index.html 302\n/last /b.html 302\n",
	}
	root := newSite(t, files)
	for _, move := range []Pair{{"public/b.html", "public/c.html"}, {"public/c.html", "public/b.html"}} {
		p, err := plan(t, root, Options{Old: move.Old, New: move.New})
		if err == nil {
			err = p.Set.Apply(t.Context(), "sitelink mv")
		}
		if err != nil || len(p.Broken)+len(p.Lost) > 0 {
			t.Fatalf("%v: %v, %+v", move, err, p)
		}
		text := files["public/_redirects"]
		if move.New == "public/c.html" {
			text = "/b /c 301\n/b.html /c.html 301\n" + strings.ReplaceAll(text, "/b.html", "/c.html")
		} else if text = files["public/_redirects"]; p.Links != 3 {
			t.Errorf("%d links", p.Links)
		}
		if got, err := os.ReadFile(filepath.Join(root, "public", "_redirects")); err != nil || string(got) != text {
			t.Errorf("%v: %q, want %q, %v", move, got, text, err)
		}
	}
}

// TestUndo takes back moves only.
func TestUndo(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	root := newSite(t, map[string]string{"a.txt": "a\n"})
	if _, err := Undo(t.Context(), root, os.Environ()); err == nil || !strings.Contains(err.Error(), "no move to undo") {
		t.Errorf("without a move: %v", err)
	}
	for _, command := range []string{"sitelink fix --write", "sitelink mv a.txt b.txt"} {
		s := destination.NewSet(root, os.Environ())
		testkit.Check(t, s.Rename("a.txt", "b.txt"))
		testkit.Check(t, s.Apply(t.Context(), command))
		u, err := Undo(t.Context(), root, os.Environ())
		if isMove := strings.HasPrefix(command, "sitelink mv"); isMove != (err == nil) || isMove && !slices.Equal(u.Files, []string{"a.txt"}) || !isMove && !strings.Contains(err.Error(), "was not a move") {
			t.Errorf("%s: %v, %v", command, u, err)
		}
		if _, err := destination.Undo(t.Context(), root, os.Environ()); command == "sitelink fix --write" && err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "a.txt")); err != nil {
		t.Error(err)
	}
}

// TestPlainDirectory: a directory gets one rule where that may hide nothing, and one for
// each address else.
func TestPlainDirectory(t *testing.T) {
	for _, tt := range []struct{ profile, rules, text, to, want string }{
		{"netlify", "public/_redirects", "", "guide", "/docs/* /guide/:splat 301[] [] 0 1 1"},
		{"netlify", "public/_redirects", "/docs/old /docs/b.html 302\n", "guide", "/docs/ /guide/ 301\n/docs/b /guide/b 301\n/docs/b.html /guide/b.html 301\n/docs/old /guide/b.html 302[] [] 0 2 2"},
		{"netlify", "public/_redirects", "/docs/* /docs/b.html 302\n", "guide", "/docs/* /guide/b.html 302[] [] 0 2 2"},
		{"cloudflare-pages", "public/_redirects", "", "guide", "/docs/* /guide/:splat 301\n/docs /guide/ 301[] [] 0 1 1"},
		{"vercel", "vercel.json", "{\"redirects\": []}\n", "guide", "{\"redirects\": [\n    {\"destination\":\"/guide/$1\",\"permanent\":true,\"source\":\"/docs/(.*)\"},\n    {\"destination\":\"/guide/\",\"permanent\":true,\"source\":\"/docs\"}\n  ]}[] [] 0 1 1"},
		{"vercel", "vercel.json", "{\"redirects\": {}}\n", "guide", "[vercel.json: its redirects are not a list: add the old addresses yourself] [/docs/ /docs/b.html] 0 1 1"},
		{"firebase", "firebase.json", "{\"hosting\": {\"public\": \"public\", \"redirects\": []}}\n", "guide", "{\"hosting\": {\"public\": \"public\", \"redirects\": [\n    {\"destination\":\"/guide/\",\"source\":\"/docs/\",\"type\":301},\n    {\"destination\":\"/guide/:1\",\"regex\":\"^/docs/(.+)$\",\"type\":301},\n    {\"destination\":\"/guide/\",\"source\":\"/docs\",\"type\":301}\n  ]}}[] [] 0 1 1"},
		{"apache", "public/.htaccess", "Redirect 302 \"/first\" \"/docs/b.html\"\n", "a+b", "Redirect 301 \"/docs/\" \"/a+b/\"\nRedirectMatch 301 \"^/docs$\" \"/a+b/\"[public/.htaccess: the new address would be a pattern for Apache; the rule stays as it is] [] 1 1 1"},
	} {
		root := newSite(t, map[string]string{
			"public/index.html": "<!doctype html><title>i</title><a href=\"docs/\">docs</a>\n", "public/docs/index.html": "<!doctype html><title>d</title><a href=b.html>b</a>\n",
			"public/docs/b.html": "<!doctype html><title>b</title>\n", tt.rules: tt.text,
		})
		var notes []string
		p, err := planFor(t, root, tt.profile, Options{Old: "public/docs", New: "public/" + tt.to, Note: func(text string) { notes = append(notes, text) }})
		testkit.Check(t, err)
		got := fmt.Sprint(strings.Join(slices.DeleteFunc(added(t, p), func(line string) bool { return strings.HasPrefix(line, "<") }), "\n"), notes, p.Lost, len(p.Broken), p.Files, p.Links)
		if got != tt.want {
			t.Errorf("%s: %q", tt.profile, got)
		}
	}
}
