package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestServer: a check of a running site names its pages by their addresses, or the places of its
// sources, and works with the rest of the command.
func TestServer(t *testing.T) {
	dir, address, special := liveSite(t)
	special.Store("/", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte("<!doctype html><title>Home</title><a href=about>a</a>\n<a href=/old/>b</a>"))
	}))
	text, _ := sitelink(t, dir, 1, "check", address)
	contains(t, text, address+":2:9: error: directory not found: /old/ [missing-directory]\n")
	contains(t, text, "checked 2 pages, 2 links, 0 anchors in "+address+" ")
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
	_, errs := sitelink(t, dir, 0, "check", address)
	contains(t, errs, "sitelink.toml:1: the profile does not count: the server answers itself\n")
	if left, _ := filepath.Glob(filepath.Join(t.TempDir(), "..", "sitelink-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
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
