package server

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestPages: GET and HEAD of a docroot.
func TestPages(t *testing.T) {
	outside := testkit.MakeDocroot(t, map[string]string{"secret.txt": "secret"})
	dir := testkit.MakeDocroot(t, map[string]string{
		"index.html": "home", "a/index.html": "a", "a/b.html": "b", "style.css": "body {}", "noext": "<script>", "404.html": "<p>own 404",
		".git/config": "secret", ".well-known/x.txt": "known", "empty/x": "", "a b.html": "space",
	})
	testkit.Check(t, os.Symlink(filepath.Join(outside, "secret.txt"), filepath.Join(dir, "link.txt")))
	pages := testkit.Must(NewPages([]Docroot{{"https://b.example/", dir}}))(t)
	_, address := start(t, Options{Pages: pages})
	for _, c := range []struct {
		path   string
		status int
		text   string
		kind   string
	}{
		{"/", 200, "home", "text/html; charset=utf-8"},
		{"/index.html", 200, "home", "text/html; charset=utf-8"},
		{"/a/", 200, "a", "text/html; charset=utf-8"},
		{"/a/b.html?x=1", 200, "b", "text/html; charset=utf-8"},
		{"/a%20b.html", 200, "space", "text/html; charset=utf-8"},
		{"/style.css", 200, "body {}", "text/css; charset=utf-8"},
		{"/noext", 200, "<script>", "application/octet-stream"},
		{"/.well-known/x.txt", 200, "known", "text/plain; charset=utf-8"},
		{"/a", 301, "", ""},
		{"/a/b.html/", 404, "<p>own 404", "text/html; charset=utf-8"},
		{"/missing", 404, "<p>own 404", "text/html; charset=utf-8"},
		{"/empty/", 404, "<p>own 404", "text/html; charset=utf-8"},
		{"/.git/config", 404, "<p>own 404", "text/html; charset=utf-8"},
		{"/.well-known/../.git/config", 404, "<p>own 404", "text/html; charset=utf-8"},
		{"/link.txt", 404, "<p>own 404", "text/html; charset=utf-8"},
		{"/../secret.txt", 404, "<p>own 404", "text/html; charset=utf-8"},
		{"/%2e%2e/secret.txt", 404, "<p>own 404", "text/html; charset=utf-8"},
		{"/a/..%2f..%2fsecret.txt", 404, "<p>own 404", "text/html; charset=utf-8"},
		{"//a", 404, "<p>own 404", "text/html; charset=utf-8"},
		{"/a%00", 404, "<p>own 404", "text/html; charset=utf-8"},
		{"/a%5cb.html", 404, "<p>own 404", "text/html; charset=utf-8"},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			text := c.text
			if method == "HEAD" {
				text = ""
			}
			a := get(t, address, method, c.path)
			if a.StatusCode != c.status || a.text != text || a.Header.Get("Content-Type") != c.kind {
				t.Errorf("%s %s: %s %q %q", method, c.path, a.line, a.text, a.Header.Get("Content-Type"))
			}
		}
	}
	if a := get(t, address, "GET", "/a?x=y"); a.Header.Get("Location") != "/a/?x=y" {
		t.Errorf("Location %q", a.Header.Get("Location"))
	}
	if a := get(t, address, "GET", "/index.html", "Range: bytes=1-2"); a.StatusCode != 206 || a.text != "om" {
		t.Errorf("range: %s %q", a.line, a.text)
	}
	if a := get(t, address, "GET", "/index.html", "If-Modified-Since: "+get(t, address, "GET", "/").Header.Get("Last-Modified")); a.StatusCode != 304 {
		t.Errorf("not modified: %s", a.line)
	}
	// The endpoints are in front of the pages, and so are the methods.
	if a := get(t, address, "LINK", "/a/", "Link: <http://a.example/>"); a.StatusCode != 202 {
		t.Errorf("LINK: %s", a.line)
	}
	// Deploying by replacing the directory works without a restart.
	testkit.Check(t, os.Rename(dir, dir+".old"))
	if a := get(t, address, "GET", "/"); a.StatusCode != 503 {
		t.Errorf("no docroot: %s", a.line)
	}
	testkit.Check(t, os.Rename(testkit.MakeDocroot(t, map[string]string{"index.html": "new"}), dir))
	if a := get(t, address, "GET", "/"); a.text != "new" {
		t.Errorf("%s %q", a.line, a.text)
	}
	if a := get(t, address, "GET", "/missing"); a.StatusCode != 404 || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("no 404.html: %s", a.line)
	}
}

// TestPagesOfSites: the docroot is chosen by host and by the longest base path.
func TestPagesOfSites(t *testing.T) {
	pages, err := NewPages([]Docroot{
		{"https://b.example/", testkit.MakeDocroot(t, map[string]string{"index.html": "b"})},
		{"https://b.example/sub", testkit.MakeDocroot(t, map[string]string{"index.html": "sub", "x/index.html": "sub x"})},
		{"http://c.example:8080/", testkit.MakeDocroot(t, map[string]string{"index.html": "c"})},
	})
	testkit.Check(t, err)
	for _, c := range []struct {
		url    string
		status int
		text   string
	}{
		{"http://b.example/", 200, "b"}, {"http://B.example/sub/", 200, "sub"}, {"http://b.example/sub/x/", 200, "sub x"},
		{"http://b.example/sub", 301, ""}, {"http://b.example/sub/x", 301, ""}, {"http://b.example/submarine", 404, "There is no such page.\n"},
		{"http://c.example:8080/", 200, "c"}, {"http://c.example/", 404, "There is no such page.\n"}, {"http://evil.example/", 404, "There is no such page.\n"},
	} {
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, httptest.NewRequest(http.MethodGet, c.url, nil))
		if w.Code != c.status || w.Body.String() != c.text {
			t.Errorf("%s: %d %q", c.url, w.Code, w.Body)
		}
	}
	for _, d := range []Docroot{{"/relative", t.TempDir()}, {"ftp://b.example/", t.TempDir()}, {"https://b.example/", filepath.Join(t.TempDir(), "missing")}} {
		if _, err := NewPages([]Docroot{d}); err == nil || !strings.Contains(err.Error(), d.Dir) {
			t.Errorf("%+v: %v", d, err)
		}
	}
}

// TestModeration: the handler has all paths below /moderation, and only those.
func TestModeration(t *testing.T) {
	own := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusTeapot) })
	s := New(Options{Receiver: &script{}, Moderation: own})
	for path, want := range map[string]int{"/moderation": 418, "/moderation/x": 418, "/moderations": 405, "/": 405} {
		if w := serve(s, "POST", path, ""); w.Code != want {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if w := serve(New(Options{Receiver: &script{}}), "GET", "/moderation", ""); w.Code != 404 {
		t.Errorf("without a handler: %d", w.Code)
	}
}

// pageFunc is a handler that answers with a text.
type pageFunc func() string

func (f pageFunc) ServeHTTP(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(f())) }
