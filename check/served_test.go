package check

import (
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/host"

	isite "github.com/sitelink/sitelink/internal/site"
)

const serverScript = `<script src="/sub/livereload.js?mindelay=10&amp;v=2&amp;port=1313&amp;path=sub/livereload" data-no-instant defer></script>`

// TestServed: the docroot was written by hugo server (ecosystem.md 1.2, 2). Its
// script is not a finding, its address belongs to the site, and a note warns
// against deploying it.
func TestServed(t *testing.T) {
	r := checkFiles(t, files{
		"index.html":   serverScript + `<a href="http://localhost:1313/sub/x/"><a href="/sub/x/"><a href="http://localhost:1313/sub/none/"><a href="http://localhost:1414/">`,
		"x/index.html": serverScript,
		"y.html":       plain,
	}, isite.Options{BaseURLs: []string{"https://example.org/sub/"}}, Options{})
	if got := briefs(r.Findings); len(got) != 1 || !strings.Contains(got[0], "missing-directory http://localhost:1313/sub/none/") {
		t.Errorf("findings %q", got)
	}
	if r.Summary.ServerPages != 2 || len(r.Summary.Notes) != 1 || !strings.Contains(r.Summary.Notes[0], "http://localhost:1313/sub/") {
		t.Errorf("%d pages, notes %q", r.Summary.ServerPages, r.Summary.Notes)
	}
	if err := Deployable(&r.Summary); err == nil || !strings.Contains(err.Error(), "2 pages") {
		t.Errorf("deployable: %v", err)
	}
	// Without a base URL, the script shows the base path.
	r = checkFiles(t, files{"index.html": serverScript + `<a href="/sub/x/">`, "x/index.html": plain}, isite.Options{}, Options{})
	if len(r.Findings) != 0 || r.Summary.ServerPages != 1 {
		t.Errorf("without base URL: %q, %d pages", briefs(r.Findings), r.Summary.ServerPages)
	}
	// The home page redirects to a language.
	r = checkFiles(t, files{"index.html": plain + `<meta http-equiv=refresh content="0; url=http://localhost:1313/sub/en/">`, "en/index.html": serverScript + `<a href="http://localhost:1313/sub/none/">`}, isite.Options{}, Options{})
	if len(r.Findings) != 1 || r.Summary.ServerPages != 1 {
		t.Errorf("languages: %q, %d pages", briefs(r.Findings), r.Summary.ServerPages)
	}
	// The server has another address than the configuration, and does not add its port.
	elsewhere := strings.ReplaceAll(serverScript, "port=1313", "port=")
	r = checkFiles(t, files{"index.html": elsewhere + `<a href="/sub/x/"><a href="https://me.test/sub/none/"><a href="https://example.org/x/">`, "x/index.html": elsewhere + `<meta name=robots content=noindex>`,
		"sitemap.xml": sitemap("https://me.test/sub/x/")}, isite.Options{BaseURLs: []string{"https://example.org/"}}, Options{})
	if got := briefs(r.Findings); len(got) != 1 || !strings.Contains(got[0], "missing-directory https://me.test/sub/none/") {
		t.Errorf("another address: %q", got)
	}
	r = checkFiles(t, files{"index.html": plain + `<script src="/livereload.js"></script>`}, isite.Options{}, Options{})
	if len(r.Findings) != 1 || Deployable(&r.Summary) != nil {
		t.Errorf("a script of that name: %q, %v", briefs(r.Findings), Deployable(&r.Summary))
	}
}

// TestMarkdownPath: for the path of a Markdown file that a generator could not
// resolve and left unchanged (ecosystem.md 1.2, 11), the finding says what to
// do and suggests the intended page.
func TestMarkdownPath(t *testing.T) {
	r := checkFiles(t, files{
		"post/index.html":  plain + `<a href="../other.md#a"><a href="/x.md"><a href="none.md"><a href="https://example.org/x.md">`,
		"other/index.html": plain + "<p id=a>",
		"x.md":             "",
	}, isite.Options{}, Options{})
	if len(r.Findings) != 2 || r.Findings[0].Suggestion != "../other/#a" {
		t.Fatalf("findings %q, suggestion %q", briefs(r.Findings), r.Findings[0].Suggestion)
	}
	for _, f := range r.Findings {
		if !strings.Contains(f.Message, "Markdown") || strings.Contains(f.Message, "hook") {
			t.Errorf("%s: %s", f.Raw, f.Message)
		}
	}
	for generator, want := range map[string]string{"hugo": "Hugo's link render hook", "mkdocs": "no page is made from a Markdown file at this path: correct it", "jekyll": "write the address of the page"} {
		r := checkFiles(t, files{"a/index.html": plain + `<a href="none.md">`}, isite.Options{Generator: generator}, Options{})
		if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Message, want) || generator != "hugo" && strings.Contains(r.Findings[0].Message, "hook") {
			t.Errorf("%s: %s", generator, r.Findings[0].Message)
		}
	}
}

// TestRootedSuggestions: if each language has a host (ecosystem.md 1.2, 7), a
// suggestion is relative to the page's own host.
func TestRootedSuggestions(t *testing.T) {
	fs := func(raw string) files {
		return files{
			"en/a/index.html": plain + `<a href="` + raw + `">`,
			"en/pic.png":      "",
			"fr/seul.html":    plain + "<p id=p>",
		}
	}
	opt := isite.Options{Roots: []host.Root{{Dir: "en", Base: "https://en.example/"}, {Dir: "fr", Base: "https://fr.example/sub/"}}}
	for raw, want := range map[string]string{
		"pic.png":                            "../pic.png",
		"/Pic.png":                           "/pic.png",
		"https://en.example/Pic.png":         "https://en.example/pic.png",
		"/seul.html?x":                       "https://fr.example/sub/seul.html?x",
		"//fr.example/sub/Seul.html":         "//fr.example/sub/seul.html",
		"https://fr.example/sub/seul/#p":     "https://fr.example/sub/seul.html#p",
		"https://fr.example/sub/d/seul.html": "https://fr.example/sub/seul.html",
	} {
		r := checkFiles(t, fs(raw), opt, Options{})
		if len(r.Findings) != 1 || r.Findings[0].Suggestion != want {
			t.Errorf("%s: %q, suggestion %q, want %q", raw, briefs(r.Findings), r.Findings[0].Suggestion, want)
		}
	}
}

// TestErrorPageAddress: generators give 404.html an address that no file has, and name
// it as canonical. Links of visitors to it are broken all the same.
func TestErrorPageAddress(t *testing.T) {
	names := `<link rel=canonical href="https://example.org/sub/404/"><meta property=og:url content="https://example.org/sub/404.html/"><link rel=alternate hreflang=en href="/sub/404.html/">`
	r := checkFiles(t, files{"404.html": names + `<a href="/sub/404/">`, "a.html": names, "p.html": plain},
		isite.Options{BaseURLs: []string{"https://example.org/sub/"}}, Options{})
	if got := briefs(r.Findings); len(got) != 4 || !strings.Contains(got[0], "404.html") || !strings.Contains(got[0], " /sub/404/") {
		t.Errorf("findings %q", got)
	}
}
