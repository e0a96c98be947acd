//go:build integration && linux

package main_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// docsifyDocroot returns a site that Docsify shows: an empty page, the script of
// the npm package, Markdown, and a page with a link for each fragment.
func docsifyDocroot(t *testing.T, fragments []string) string {
	t.Helper()
	dir := t.TempDir()
	script := testkit.Read(t, filepath.Join(npmFolder(t), "node_modules/docsify/lib/docsify.min.js"))
	links := "<!doctype html><title>links</title>"
	for _, f := range fragments {
		links += `<a href="index.html#` + f + `">x</a>`
	}
	for name, text := range map[string]string{
		"index.html":         `<!doctype html><meta charset=utf-8><title>t</title><div id=app></div><i id=fixed></i><script>window.$docsify = {}</script><script src=lib/docsify.min.js></script>`,
		"links.html":         links,
		"lib/docsify.min.js": string(script),
		"README.md":          "# Home page\n",
		"guide.md":           "# The guide\n\n## Install it\n",
		"sub/README.md":      "# Sub home\n",
		"sub/page.md":        "# Sub page\n",
	} {
		name = filepath.Join(dir, name)
		testkit.Write(t, name, text)
	}
	return dir
}

// TestChromiumDocsify: what Docsify shows for a fragment is left to it, and what it
// does not show is an error if its form says so.
func TestChromiumDocsify(t *testing.T) {
	cases := []struct{ fragment, shows, code string }{
		{"/guide", "The guide", "script-fragment"},
		{"/guide?id=install-it", "The guide", "script-fragment"},
		{"/sub/", "Sub home", "script-fragment"},
		{"/sub/page", "Sub page", "script-fragment"},
		{"/", "Home page", "script-fragment"},
		{"guide", "The guide", "script-fragment"},
		{"sub/page", "Sub page", "script-fragment"},
		{"install-it", "404", "missing-fragment"},
		{"/nope", "404", "script-fragment"},
		{"!guide", "404", "script-fragment"},
		{"fixed", "404", ""},
	}
	var fragments []string
	for _, c := range cases {
		fragments = append(fragments, c.fragment)
	}
	docroot := docsifyDocroot(t, fragments)
	codes := map[string]string{}
	eachLink(t, docroot, nil, func(r *row) { codes[r.Fragment] = r.Code })
	origin := serveFixtures(t, docroot)
	b := testkit.StartBrowser(t, true)
	for _, c := range cases {
		b.Navigate("about:blank")
		b.Navigate(origin + "/index.html#" + c.fragment)
		title := ""
		for start := time.Now(); title == "" && time.Since(start) < time.Minute; time.Sleep(20 * time.Millisecond) {
			b.Eval(`(() => { const h = document.querySelector("article h1"); return h ? h.textContent : "" })()`, &title)
		}
		if title = strings.TrimSpace(title); !strings.HasPrefix(title, c.shows) {
			t.Errorf("#%s: Docsify shows %q, want %q", c.fragment, title, c.shows)
		}
		if codes[c.fragment] != c.code {
			t.Errorf("#%s: the code is %q, want %q", c.fragment, codes[c.fragment], c.code)
		}
	}
}
