//go:build integration

package move

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestJekyllMoves: pages and posts move, with redirect_from where the plugin is
// configured, else with a rule of the host.
func TestJekyllMoves(t *testing.T) {
	if _, err := exec.LookPath("jekyll"); err != nil {
		t.Skip("jekyll is not installed: .ci/run installs it")
	}
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
		{"guide/more.md", "help/parts.md", []string{"/guide/more.html /help/parts.html 301", "[home](../) [more](../help/parts.html)", "[part](/help/parts.html#a-part)"}},
		{"guide", "help", []string{"/guide/* /help/:splat 301", "/first /help/ 302", "[guide](help/) [post](/2024/05/06/hello.html) ![](/img/p.svg)", "<a href=\"/help/\">fixed</a>", "[part](/help/more.html#a-part)"}},
		{"_posts/2024-05-06-hello.md", "_posts/2024-05-07-hi.md", []string{"/2024/05/06/hello.html /2024/05/07/hi.html 301", "[guide](guide/) [post](/2024/05/07/hi.html) ![](/img/p.svg)", "[post](../2024/05/07/hi.html)"}},
		{"img/p.svg", "img/q.svg", []string{"/img/p.svg /img/q.svg 301", "[guide](guide/) [post](/2024/05/06/hello.html) ![](/img/q.svg)"}},
	} {
		p, err := plan(t, root, Options{Old: tt.old, New: tt.new})
		if err != nil {
			t.Errorf("%s: %v", tt.old, err)
			continue
		}
		got, want := added(t, p), tt.want
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || len(p.Broken)+len(p.Lost)+len(p.Composed) > 0 {
			t.Errorf("%s: the diff adds\n%s\nwant\n%s\nbroken %v, lost %v, composed %v", tt.old, strings.Join(got, "\n"), strings.Join(want, "\n"), p.Broken, p.Lost, p.Composed)
		}
	}
}
