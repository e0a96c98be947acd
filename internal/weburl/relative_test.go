package weburl

import "testing"

// TestRelative: references are as short as possible (RFC 3986, section 4.2), also from a
// page at the root.
func TestRelative(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"/a.html", "/b.html", "b.html"}, {"/a.html", "/d/b.html", "d/b.html"}, {"/a.html", "/", "./"}, {"/d/a.html", "/b.html", "../b.html"},
		{"/d/a.html", "/d/b.html", "b.html"}, {"/d/e/a.html", "/d/", "../"}, {"/a.html", "/c:d.html", "./c:d.html"},
		{"/a/b/", "/a/c/", "../c/"}, {"/", "/a/", "a/"}, {"/a/b/", "/", "../../"}, {"/a/b/", "/a/b/", "./"}, {"/a/b/", "/a/b/c.png", "c.png"},
		{"/x/y/z/", "/a/b/", "../../../a/b/"}, {"/a/b/", "/a/b", "../b"}, {"/./", "/a/", "a/"},
	} {
		if got := Relative(c.from, c.to); got != c.want {
			t.Errorf("from %s to %s: %s, want %s", c.from, c.to, got, c.want)
		}
	}
}

// TestWithPath: links stay relative.
func TestWithPath(t *testing.T) {
	for _, tt := range []struct{ page, raw, want string }{
		{"/a/index.html", "/old/?x#y", "/new/?x#y"},
		{"/a/index.html", "../old/", "../new/"},
		{"/index.html", "old.html", "new/"},
		{"/a/b/index.html", "https://example.org/old/#y", "https://example.org/new/#y"},
		{"/a/b/index.html", "//example.org/old/", "//example.org/new/"},
		{"", "../old/", "/new/"},
	} {
		if got := WithPath(tt.raw, tt.page, "/new/"); got != tt.want {
			t.Errorf("%s on %s: %q, want %q", tt.raw, tt.page, got, tt.want)
		}
	}
}
