package site

import (
	"slices"
	"strings"
	"testing"
)

// TestChildren: every name of the docroot is an entry of its directory, in
// byte order.
func TestChildren(t *testing.T) {
	s := load(t, tempDocroot(t, files{"b.html": plain, "a/x.txt": "", "a/b/y.txt": "", "Z.txt": "", ".h": ""}), Options{})
	c := s.Tree().Children()
	for dir, want := range map[string]string{"": ".h Z.txt a b.html", "a": "b x.txt", "a/b": "y.txt", "b.html": ""} {
		node, ok := s.Lookup(dir)
		if !ok {
			t.Fatalf("no %q", dir)
		}
		var got []string
		for _, id := range c.Of(node) {
			got = append(got, s.Tree().Name(id))
		}
		if strings.Join(got, " ") != want || !slices.IsSorted(got) {
			t.Errorf("entries of %q: got %q, want %q", dir, got, want)
		}
	}
}
