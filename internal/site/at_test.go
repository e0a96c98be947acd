package site

import (
	"testing"

	"github.com/sitelink/sitelink/internal/docroot"
)

// TestAt: a path names its node byte for byte, and no symbolic link is followed.
func TestAt(t *testing.T) {
	s := loadFiles(t, files{"p.html": plain, "d/e/f.html": plain, "l": "-> d"}, Options{})
	for path, want := range map[string]string{"": "", "p.html": "p.html", "d": "d", "d/e/f.html": "d/e/f.html", "l": "l"} {
		if id := s.tree.At(path); id == docroot.NoNode || s.tree.Path(id) != want {
			t.Errorf("%q: node %d", path, id)
		}
	}
	for _, path := range []string{"P.html", "d/", "/d", "d/e/f", "l/e", "d//e", "p.html/x"} {
		if id := s.tree.At(path); id != docroot.NoNode {
			t.Errorf("%q: node %d, %q", path, id, s.tree.Path(id))
		}
	}
}
