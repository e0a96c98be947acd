//go:build integration && linux

package main_test

import (
	"bufio"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// hostData holds what the web hosts' software answers: the docroot, and a
// table for each host that internal/site holds its profiles against.
const hostData = "../../internal/host/testdata/hosts"

// docrootEntry is a line of docroot.txt.
type docrootEntry struct {
	kind string // file, empty, dir, link
	name string
	to   string // where a link leads
}

// readDocroot reads docroot.txt.
func readDocroot(t *testing.T) []docrootEntry {
	t.Helper()
	f, err := os.Open(filepath.Join(hostData, "docroot.txt"))
	testkit.Check(t, err)
	defer f.Close()
	var entries []docrootEntry
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		kind, rest, _ := strings.Cut(line, " ")
		name, to, _ := strings.Cut(strings.TrimSpace(rest), " -> ")
		e := docrootEntry{kind: kind, to: to}
		if e.name, err = url.PathUnescape(name); err != nil {
			t.Fatalf("docroot.txt: %q: %v", line, err)
		}
		entries = append(entries, e)
	}
	testkit.Check(t, lines.Err())
	if len(entries) < 100 {
		t.Fatalf("docroot.txt holds %d entries only", len(entries))
	}
	return entries
}

// makeHostDocroot makes the docroot, except files with the name without (or all
// symbolic links), and returns its path.
func makeHostDocroot(t *testing.T, without string) string {
	t.Helper()
	dir := testkit.Must(filepath.EvalSymlinks(t.TempDir()))(t)
	openToAll(t, dir)
	docroot := filepath.Join(dir, "public")
	for _, e := range readDocroot(t) {
		if filepath.Base(e.name) == without || e.kind == "link" && without == symbolicLinks {
			continue
		}
		name := filepath.Join(docroot, e.name)
		parent := filepath.Dir(name)
		if e.kind == "dir" {
			parent = name
		}
		err := os.MkdirAll(parent, 0o755)
		switch {
		case err != nil:
		case e.kind == "file":
			err = os.WriteFile(name, []byte(e.name+"\n"), 0o644)
		case e.kind == "empty":
			err = os.WriteFile(name, nil, 0o644)
		case e.kind == "link":
			err = os.Symlink(e.to, name)
		}
		if err != nil {
			t.Fatalf("make docroot: %v", err)
		}
	}
	return docroot
}

// hostRequests are the requests of a table: for every file and directory its
// own path and those that hosts may take for it, and what no name leads to.
func hostRequests(t *testing.T) []string {
	t.Helper()
	var requests []string
	seen := map[string]bool{}
	add := func(paths ...string) {
		for _, p := range paths {
			// Browsers never send dot segments.
			if !seen[p] && !strings.HasPrefix(p, "/../") && p != "/.." && !strings.HasPrefix(p, "/..?") {
				seen[p] = true
				requests = append(requests, p)
			}
		}
	}
	add("/", "/?q=1", "/index", "/index/", "/index.htm", "/404", "/404/")
	dirs := map[string]bool{}
	for _, e := range readDocroot(t) {
		p := "/" + testkit.EscapePath(e.name)
		add(p, p+"/", p+"?q=1")
		for _, suffix := range []string{".html", ".htm", ".xhtml"} {
			if stem, ok := strings.CutSuffix(p, suffix); ok {
				add(stem, stem+"/", stem+"?q=1", stem+"/?q=1", stem+"/index.html")
			}
		}
		parent := e.name
		if e.kind == "dir" || e.to == "dir" {
			parent += "/"
		}
		for d := filepath.Dir(parent); d != "."; d = filepath.Dir(d) {
			dirs[d] = true
		}
	}
	for d := range dirs {
		if d == ".git" || strings.Contains(d, "/") && !strings.HasPrefix(d, "dir") {
			delete(dirs, d)
		}
	}
	names := make([]string, 0, len(dirs))
	for d := range dirs {
		names = append(names, d)
	}
	slices.Sort(names)
	for _, d := range names {
		p := "/" + testkit.EscapePath(d)
		add(p, p+"/", p+"?q=1", p+"/?q=1", p+"/index", p+"/index/", p+"/index?q=1", p+"/index.html", p+"/index.html?q=1",
			p+"/index.html/", p+"/index.htm", p+".html", p+"//", "/"+p, p+"/missing", p+"/missing/", p+"/missing.html")
	}
	add(
		"/missing", "/missing/", "/missing.html", "/missing.html/", "/missing/index.html", "/missing?q=1", "/missing.png",
		"//", "///", "//page", "//page.html", "//page/", "/page//", "/page.html//", "/dir//inner.html", "/dir//inner", "/dir//sub",
		"/dir//sub/", "//dir//sub//", "/dir///", "//?q=1", "//dir?q=1", "//missing", "/dir//missing",
		"/%2F", "/%2Fpage", "/%2Fpage.html", "/%2Fdir", "/%2Fdir%2F", "/dir%2F", "/dir%2f", "/dir%2Finner", "/dir%2Finner.html",
		"/dir%2Findex.html", "/dir%2Fsub", "/dir%2Fsub%2F", "/page%2F", "/page.html%2F", "/no-index%2F",
		"/dir/..%2Fpage.html", "/dir/..%2Fpage", "/..%2Fpage.html", "/..%2F..%2Fpage.html", "/dir%2F..%2Fpage.html", "/missing%2F..%2Fpage.html",
		"/dir%2F..", "/dir%2F.", "/.%2Fpage.html", "/%252Fpage.html", "/dir%252Findex.html",
		"/%70age", "/%70age.html", "/page%2Ehtml", "/page%2ehtml", "/%64ir", "/%64ir/", "/dir/%69ndex.html", "/p%61ge/", "/dir/i%6Ener.html",
		"/page%20", "/page.html%20", "/%20page.html", "/page.html%09", "/page.", "/page.html.", "/dir.", "/dir./", "/dir%20/",
		"/page%00", "/page.html%00", "/page%01", "/page%0A", "/page%7F", "/%FF", "/%C0%AFpage.html", "/%ED%A0%80",
		"/page%", "/page%2", "/page%zz", "/page.html%", "/100%", "/page%25", "/page.html%25", "/percent%.html",
		"/PAGE", "/PAGE.html", "/page.HTML", "/page.Html", "/Page.html", "/DIR", "/DIR/", "/dir/INNER.html", "/dir/Index.html", "/dir/INDEX",
		"/case/", "/case", "/upper.html", "/UPPER", "/upper", "/mixed", "/mixed.html", "/Mixed",
		"/e%CC%81-nfc.html", "/%C3%A9-nfd.html", "/e%CC%81-nfc", "/%C3%A9-nfd", "/%c3%a9-nfc.html", "/%c3%a9-nfc", "/%e6%97%a5%e6%9c%ac",
		"/with+space.html", "/with+space", "/plus%2B.html", "/plus%2B", "/plus%20.html",
		// As browsers write them: unescaped.
		"/plus+.html", "/plus+", "/amp&.html", "/amp&", "/at@", "/at@.html", "/colon:x", "/colon:x.html", "/comma,", "/comma,.html",
		"/semi;colon", "/semi;colon.html", "/equal=", "/equal=.html", "/excl!", "/excl!.html", "/dollar$", "/dollar$.html", "/star*", "/star*.html",
		"/paren()", "/paren().html", "/quote'", "/quote'.html", "/tilde~", "/tilde~.html", "/brackets[].html", "/brackets[]",
		"/pipe|.html", "/pipe|", "/caret^.html", "/caret^",
		"/page.html;x", "/page;x", "/page.html?", "/page?", "/dir?", "/dir/?", "/dir/index.html?", "/page/?", "/page.html?a=b&c=%20", "/page?a=%zz", "/dir?a=%zz",
		"/page/inner", "/page.html/x", "/page.html/x/", "/noext/x", "/style.css/x", "/style.css.html", "/style", "/image", "/asset.css", "/asset.css/",
		"/both/missing", "/both/index", "/both//", "/beside//", "/dir/inner/", "/dir/inner", "/dir/inner?q=1", "/dir/sub/deep", "/dir/sub/deep/",
		"/dir/index/index", "/index/index", "/index/index.html", "/index/index/", "/index//", "/index.html.html", "/.html", "/dir/.html", "/dir/.htm",
		"/link-dir/inner.html", "/link-dir/inner", "/link-dir/missing", "/own404/missing", "/own404/404", "/own404/404.html",
		"/.git", "/.git/", "/.well-known", "/.well-known/", "/.well-known/page", "/.hidden", "/.dotdir/inner", "/node_modules", "/node_modules/pkg", "/node_modules/pkg/",
		"/cdn-cgi/x", "/api", "/api/", "/"+strings.Repeat("n", 255), "/"+strings.Repeat("n", 256), "/"+strings.Repeat("long/", 300),
	)
	return requests
}
