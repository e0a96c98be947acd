package repotest

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sitelink/sitelink/docs"
	"github.com/sitelink/sitelink/internal/testkit"
)

// elsewhere are the codes that need a disk which fails and a file that changes
// while it is read; the tests of package check have both.
var elsewhere = []string{"read-error", "changed"}

// firstFailure is a date in the finding doubtful.
var firstFailure = regexp.MustCompile(`first on \d{4}-\d\d-\d\d`)

// odd makes what testdata/codes.txtar cannot hold: links, special files and large
// files, in the directory public of a code.
func odd(t *testing.T, dir string) {
	t.Helper()
	in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	testkit.Check(t, os.Symlink("gone.html", in("broken-symlink/public/tides.html")))
	testkit.Check(t, os.Chmod(in("unreadable/public/tides.html"), 0))
	socket := testkit.Must(net.Listen("unix", in("special-file/public/tides.html")))(t)
	t.Cleanup(func() { socket.Close() })
	var rules, entries strings.Builder
	for i := range 2001 {
		fmt.Fprintf(&rules, "/old/%d / 301\n", i)
	}
	for range 50001 {
		entries.WriteString("<url><loc>https://harbour.example/</loc></url>")
	}
	write(t, in("redirect-limit/public/_redirects"), rules.String())
	write(t, in("sitemap-limit/public/sitemap.xml"), `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`+entries.String()+"</urlset>")
	write(t, in("endpoint-late/public/index.html"), "<!doctype html><title>Harbour</title><style>"+strings.Repeat("/* the tides */\n", 400)+
		`</style><link rel="pingback" href="https://harbour.example/pingback">`)
	// The other site, behind a proxy.
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.String() {
		case "http://tides.example/old":
			http.Redirect(w, r, "/new", http.StatusMovedPermanently)
		case "http://tides.example/new":
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(site.Close)
	t.Setenv("HTTP_PROXY", site.URL)
}

// TestCodeFindings checks the sites of testdata/codes.txtar, one for each code,
// and compares each finding with docs/reference/codes.md.
func TestCodeFindings(t *testing.T) {
	const document = "docs/reference/codes.md"
	archive := testkit.Must(txtar.ParseFile(filepath.Join("testdata", "codes.txtar")))(t)
	dir, flags := t.TempDir(), map[string][]string{}
	for _, f := range archive.Files {
		code, name, _ := strings.Cut(f.Name, "/")
		switch {
		case name == "flags":
			flags[code] = strings.Fields(string(f.Data))
			continue
		case name != "sitelink.toml" && name != "hugo.toml" && !strings.HasPrefix(name, "old/"):
			name = "public/" + name
		}
		write(t, filepath.Join(dir, code, filepath.FromSlash(name)), string(f.Data))
		write(t, filepath.Join(dir, code, ".git", "HEAD"), "ref: refs/heads/main\n")
	}
	binary, text := build(t, "./cmd/sitelink"), readFile(t, document)
	odd(t, dir)
	t.Setenv("PATH", t.TempDir()) // without the generators of the developer's machine
	entry := regexp.MustCompile(`(?m)^\S.*\n(?:    .*\n)*`)
	for _, c := range docs.Codes() {
		if c.Level == "" || slices.Contains(elsewhere, c.Name) {
			continue
		}
		args := append([]string{"check", "public"}, flags[c.Name]...)
		if slices.Contains([]string{"dead-link", "doubtful", "moved"}, c.Name) {
			args[0] = "external"
		}
		stdout, _, stderr := runSitelink(t, binary, filepath.Join(dir, c.Name), args...)
		entries := entry.FindAllString(firstFailure.ReplaceAllString(stdout, "first on 2026-05-01"), -1)
		i := slices.IndexFunc(entries, func(e string) bool { return strings.Contains(e, " ["+c.Name+"]\n") })
		if i < 0 {
			t.Errorf("%s: no such finding\n%s%s", c.Name, stdout, stderr)
		} else if entries[i] != c.Finding && *update {
			text = strings.Replace(text, "\n```text\n"+c.Finding, "\n```text\n"+entries[i], 1)
		} else if entries[i] != c.Finding {
			t.Errorf("%s: %s does not show what is printed; run go test ./internal/repotest -update\ngot:\n%s\nwant:\n%s", c.Name, document, entries[i], c.Finding)
		}
	}
	if *update {
		write(t, filepath.Join(root, filepath.FromSlash(document)), text)
	}
}

// write writes a file and makes its directories.
func write(t *testing.T, name, text string) {
	t.Helper()
	testkit.Write(t, name, text)
}
