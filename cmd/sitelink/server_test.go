package main

import (
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestServer: a check of a running site names its pages by their addresses, or the places of its
// sources, and works with the rest of the command.
func TestServer(t *testing.T) {
	dir, address, special := liveSite(t)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	special.Store("/", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		// What is killed now must leave nothing behind. Windows does not allow that.
		if left, _ := os.ReadDir(temporary); len(left) > 0 && runtime.GOOS != "windows" {
			t.Errorf("files while a page is asked for: %v", left)
		}
		w.Write([]byte("<!doctype html><title>Home</title><a href=about>a</a>\n<a href=/old/>b</a>"))
	}))
	text, _ := sitelink(t, dir, 1, "check", address)
	contains(t, text, address+":2:9: error: directory not found: /old/ [missing-directory]\n")
	contains(t, text, "checked 2 pages, 2 links, 0 anchors in "+address+" ")
	for _, c := range []struct{ format, want string }{
		{"json", `"page":"index.html","line":2,`}, {"json", `"file":"` + address + `",`}, {"junit", `file="` + address + `" line="2"`},
		{"sarif", `"artifactLocation":{"uri":"` + address + `"}`}, {"github", "::error file=" + strings.ReplaceAll(address, ":", "%3A") + ",line=2,col=9,"},
		{"gitlab", `"path":"` + address + `"`}, {"checkstyle", `<file name="` + address + `">`}, {"markdown", "- `" + address + ":2:9`: **error**"},
		{"html", `class="mono">` + address + `<span class="pos">:2:9</span>`},
	} {
		text, _ := sitelink(t, dir, 1, "check", address, "--format", c.format)
		contains(t, text, c.want)
	}
	for _, c := range []struct {
		exit       int
		link, page string
		want       string
	}{
		{1, address + ":2:9", "", "/old/\n  page    index.html, shown at /\n"}, {0, "about", "", "  server  redirects to /about/\n"}, {0, address + "new.html", "", "\nok\n"},
		{1, "none", "about/", "  page    about/index.html, shown at /about/\n"}, {1, "none", address + "about/", "error missing-file: file not found: /about/none\n"},
	} {
		text, _ := sitelink(t, dir, c.exit, "explain", c.link, address, "--page", c.page)
		contains(t, text, c.want)
	}
	_, errs := sitelink(t, dir, 0, "explain", address+"about/")
	contains(t, errs, "note: what a running site answers: sitelink explain "+address+"about/ "+address+"\n")
	sitelink(t, dir, 0, "baseline", "write", address)
	sitelink(t, dir, 0, "check", address, "--baseline", "sitelink-baseline.jsonl")

	special.Store("/sitemap.xml", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		w.Write([]byte(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://blog.example/about</loc></url></urlset>`))
	}))
	text, _ = sitelink(t, dir, 1, "check", address, "--fail-on", "warning")
	contains(t, text, "note: all entries of sitemap.xml are addresses of another site, such as https://blog.example/about: with --base-url,")
	text, _ = sitelink(t, dir, 1, "check", address, "--fail-on", "warning", "--base-url", "https://blog.example/")
	contains(t, text, ": 1 error")

	special.Store("/old/", status(503))
	text, _ = sitelink(t, dir, 1, "check", address)
	contains(t, text, "error: the server does not send /old/ (it answers Service Unavailable) [unreadable]\n")
	special.Store("/old/", status(200))
	text, _ = sitelink(t, dir, 0, "links", address)
	contains(t, text, "ok: <a href=\"/old/\">")

	testkit.Write(t, filepath.Join(dir, "sitelink.toml"), "profile = \"nginx\"\n")
	_, errs = sitelink(t, dir, 0, "check", address)
	contains(t, errs, "sitelink.toml:1: the profile does not count: the server answers itself\n")
}

// TestServerSources: the sources of a site that was never built have the places of its findings.
func TestServerSources(t *testing.T) {
	dir, address, special := liveSite(t)
	special.Store("/", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte("<!doctype html><title>Home</title><script src=/reload.js></script><p>See <a href=\"gone/\">this</a>.</p>" +
			"<a href=" + strings.Replace(address, "127.0.0.1", "localhost", 1) + "none>x</a>"))
	}))
	special.Store("/reload.js", status(200))
	testkit.Write(t, filepath.Join(dir, "mkdocs.yml"), "site_name: Home\n")
	testkit.Write(t, filepath.Join(dir, "docs", "index.md"), "See [this](gone/).\n")
	text, errs := sitelink(t, dir, 1, "check", address)
	contains(t, text, "docs/index.md:1:12: error: directory not found: /gone/ [missing-directory]\n")
	contains(t, text, "\n    in "+address+", line 1, column 83\n")
	contains(t, text, ": error: file not found: /none [missing-file]\n")
	if strings.Contains(errs, "warning") {
		t.Error(errs)
	}
	for _, path := range []string{"/gone/", "/none", "/sitelink-asks-for-a-missing-page"} {
		special.Store(path, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte("<!doctype html><title>Not here</title>"))
		}))
	}
	text, _ = sitelink(t, dir, 0, "check", address)
	contains(t, text, "2 warnings\nnote: "+address+" answers 200 OK for addresses that do not exist, so links to them are warnings")
}

// TestServerUsage: commands that need files say so.
func TestServerUsage(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"watch http://x.example/", "sitelink watch waits for files to change"},
		{"fix http://x.example/", "sitelink fix edits sources and builds them again"},
		{"notify http://x.example/", "sitelink notify reads the files of a built site"},
		{"check http://x.example/ public", "sitelink check takes one address or files, not both"},
		{"check http://me:pass@x.example/", "the address has a user name or password"},
		{"check http://[/", "is not an address"},
	} {
		_, errs := sitelink(t, t.TempDir(), 2, strings.Fields(c.line)...)
		contains(t, errs, c.want)
	}
}
