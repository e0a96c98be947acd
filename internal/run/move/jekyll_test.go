package move

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestJekyllMoves: pages and posts move, with redirect_from where the plugin is
// configured, else with a rule of the host.
func TestJekyllMoves(t *testing.T) {
	jekyllEnv(t)
	files := map[string]string{
		"_config.yml":                "title: T\nurl: https://h.example\n",
		"_layouts/page.html":         "<!doctype html><title>{{ page.title }}</title>\n<a href=\"/guide/\">fixed</a>\n{{ content }}\n",
		"index.md":                   "---\nlayout: page\ntitle: Home\n---\n[guide](guide/) [post](/2024/05/06/hello.html) ![](/img/p.svg)\n",
		"guide/index.md":             "---\nlayout: page\ntitle: Guide\n---\n[home](../) [more](more.html)\n",
		"guide/more.md":              "---\nlayout: page\ntitle: More\n---\n[post](../2024/05/06/hello.html)\n\n## A part\n",
		"_posts/2024-05-06-hello.md": "---\nlayout: page\ntitle: Hello\n---\n[part](/guide/more.html#a-part)\n",
		"img/p.svg":                  "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n",
		"_redirects":                 "/first /guide/ 302\n",
	}
	files["_config.yml"] += "include: [_redirects]\n"
	root := newSite(t, files)
	for _, tt := range []struct {
		old, new string
		want     []string
	}{
		{"guide/more.md", "help/parts.md", []string{"/guide/more /help/parts 301", "/guide/more.html /help/parts.html 301", "[home](../) [more](../help/parts.html)", "[part](/help/parts.html#a-part)"}},
		{"guide", "help", []string{"/guide/* /help/:splat 301", "/first /help/ 302", "[guide](help/) [post](/2024/05/06/hello.html) ![](/img/p.svg)", "<a href=\"/help/\">fixed</a>", "[part](/help/more.html#a-part)"}},
		{"_posts/2024-05-06-hello.md", "_posts/2024-05-07-hi.md", []string{"/2024/05/06/hello /2024/05/07/hi 301", "/2024/05/06/hello.html /2024/05/07/hi.html 301", "[guide](guide/) [post](/2024/05/07/hi.html) ![](/img/p.svg)", "[post](../2024/05/07/hi.html)"}},
		{"img/p.svg", "img/q.svg", []string{"/img/p.svg /img/q.svg 301", "[guide](guide/) [post](/2024/05/06/hello.html) ![](/img/q.svg)"}},
	} {
		p, err := plan(t, root, Options{Old: tt.old, New: tt.new})
		if err != nil {
			t.Errorf("%s: %v", tt.old, err)
			continue
		}
		expect(t, p, tt.want, len(p.Broken)+len(p.Lost)+len(p.Composed))
	}
}

// TestJekyllNewRules: where a site has no rule file yet, a move makes one that the host
// reads without Jekyll publishing it, or says which addresses are lost.
func TestJekyllNewRules(t *testing.T) {
	jekyllEnv(t)
	for profile, want := range map[string][]string{
		"netlify": {"[[redirects]]", "  from = \"/guide/more\"", "  to = \"/help/parts\"", "  status = 301",
			"[[redirects]]", "  from = \"/guide/more.html\"", "  to = \"/help/parts.html\"", "  status = 301", "[more](help/parts.html)"},
		"vercel":           {"{", `  "redirects": [`, `    {"destination":"/help/parts.html","permanent":true,"source":"/guide/more.html"}`, "  ]", "}", "[more](help/parts.html)"},
		"cloudflare-pages": {"[more](help/parts.html)"},
		"apache":           {"[more](help/parts.html)"},
	} {
		root := newSite(t, map[string]string{
			"_config.yml":   "title: T\nurl: https://h.example\n",
			"404.html":      "<title>none</title>\n",
			"index.md":      "---\ntitle: Home\n---\n[more](guide/more.html)\n",
			"guide/more.md": "---\ntitle: More\n---\nText.\n",
		})
		p, err := planFor(t, root, profile, Options{Old: "guide/more.md", New: "help/parts.md"})
		if err != nil {
			t.Errorf("%s: %v", profile, err)
			continue
		}
		got := added(t, p)
		slices.Sort(got)
		slices.Sort(want)
		if known := len(want) > 1; !slices.Equal(got, want) || len(p.Broken) > 0 || known != (len(p.Lost) == 0) {
			t.Errorf("%s: the diff adds\n%s\nbroken %v, lost %v", profile, strings.Join(got, "\n"), p.Broken, p.Lost)
		}
	}
}

// TestJekyllRedirectFrom: with jekyll-redirect-from, the old addresses answer after a
// build, and the tags link and post_url name the moved files.
func TestJekyllRedirectFrom(t *testing.T) {
	jekyllEnv(t)
	root := newSite(t, map[string]string{
		"_config.yml":                "title: T\nurl: https://h.example\nplugins: [jekyll-redirect-from]\n",
		"_layouts/page.html":         "<!doctype html><title>{{ page.title }}</title>\n<a href=\"{% link guide/more.md %}\">more</a> {{ content }}\n",
		"_includes/unused.html":      "{% link guide/more.md %}\n{% link guide/more.md %}\n",
		"index.md":                   "---\nlayout: page\ntitle: Home\n---\n[more]({% link guide/more.md %}#a-part) [post]({% post_url 2024-05-06-hello %})\n",
		"guide/more.md":              "---\nlayout: page\ntitle: More\n---\n[post]({% post_url 2024-05-06-hello %})\n\n## A part\n",
		"_posts/2024-05-06-hello.md": "---\nlayout: page\ntitle: Hello\nredirect_from:\n  - /first/\n---\n{% raw %}{% link guide/more.md %}{% endraw %} [plain](/guide/more.html)\n",
	})
	testkit.Check(t, os.Symlink("unused.html", filepath.Join(root, "_includes", "link.html")))
	for _, tt := range []struct {
		old, new string
		want     []string
	}{
		{"guide/more.md", "help/parts.md", []string{
			"- /guide/more.html", "[more]({% link help/parts.md %}#a-part) [post]({% post_url 2024-05-06-hello %})", "redirect_from:",
			"<a href=\"{% link help/parts.md %}\">more</a> {{ content }}", "{% link help/parts.md %}", "{% link help/parts.md %}",
			"{% raw %}{% link guide/more.md %}{% endraw %} [plain](/help/parts.html)",
		}},
		{"_posts/2024-05-06-hello.md", "_posts/2024-05-07-hi.md", []string{
			"  - /2024/05/06/hello.html", "[more]({% link help/parts.md %}#a-part) [post]({% post_url 2024-05-07-hi %})", "[post]({% post_url 2024-05-07-hi %})",
		}},
	} {
		p, err := plan(t, root, Options{Old: tt.old, New: tt.new})
		if err != nil {
			t.Fatalf("%s: %v", tt.old, err)
		}
		expect(t, p, tt.want, len(p.Broken)+len(p.Lost)+len(p.Composed))
		if err := p.Set.Apply(t.Context(), "test"); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Check(t, os.Chmod(filepath.Join(root, "_layouts", "page.html"), 0o444))
	var notes []string
	_, err := plan(t, root, Options{Old: "help/parts.md", New: "help/p.md", Note: func(text string) { notes = append(notes, text) }})
	if err == nil || !strings.Contains(err.Error(), "cannot be built after the move") || !slices.Equal(notes, []string{"_layouts/page.html: is read-only; its links stay as they are"}) {
		t.Errorf("a tag that cannot be edited: %v, notes %q", err, notes)
	}
	docroot := t.TempDir()
	cmd := exec.Command("jekyll", "build", "--destination", docroot)
	cmd.Dir = root
	testkit.Run(t, cmd)
	for old, now := range map[string]string{
		"guide/more.html": "/help/parts.html", "2024/05/06/hello.html": "/2024/05/07/hi.html", "first/index.html": "/2024/05/07/hi.html",
	} {
		page, err := os.ReadFile(filepath.Join(docroot, filepath.FromSlash(old)))
		if err != nil || !strings.Contains(string(page), `http-equiv="refresh" content="0; url=https://h.example`+now+`"`) {
			t.Errorf("/%s does not redirect to %s: %v\n%s", old, now, err, page)
		}
	}
}
