package scan

import "testing"

// TestMerge: resolving against a relative base agrees with RFC 3986, 5.4.1,
// except for the dot segments that remain.
func TestMerge(t *testing.T) {
	const base = "http://a/b/c/d;p?q"
	for _, c := range []struct{ base, ref, want string }{
		{base, "g:h", "g:h"}, {base, "g", "http://a/b/c/g"}, {base, "./g", "http://a/b/c/./g"}, {base, "g/", "http://a/b/c/g/"},
		{base, "/g", "http://a/g"}, {base, "//g", "http://g"}, {base, "?y", "http://a/b/c/d;p?y"}, {base, "g?y", "http://a/b/c/g?y"},
		{base, "#s", "http://a/b/c/d;p?q#s"}, {base, "", "http://a/b/c/d;p?q"}, {base, "..", "http://a/b/c/.."}, {base, ";x", "http://a/b/c/;x"},
		{"http://a", "g", "http://a/g"}, {"http://a?q/r", "g", "http://a/g"}, {"http://a/b?q/r", "g", "http://a/g"}, {"", "g", "g"},
		{"/b/", "g", "/b/g"}, {"/b", "g", "/g"}, {"b", "g", "g"}, {"b/c", "g", "b/g"}, {"b/c", "?x", "b/c?x"}, {"b/c", "/g", "/g"},
		{"//h/b/c", "/g", "//h/g"}, {"//h/b/c", "//i", "//i"}, {"b#f", "#g", "b#g"}, {"b", " g\n", "g"},
	} {
		if got := string(Merge([]byte(c.base), []byte(c.ref))); got != c.want {
			t.Errorf("%q against %q: %q, want %q", c.ref, c.base, got, c.want)
		}
	}
}
