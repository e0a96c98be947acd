package site

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/disk"
)

// TestListers: what the system's own calls and the standard library say of a
// directory is the same, in the order of the bytes of the names.
func TestListers(t *testing.T) {
	fs := files{"sub/": "", "shut/": "", "a": "", "a.b": "", "A": "", "long-name-of-one-kind": "", "long-name-of-another": "", "ü": "", ".hidden": ""}
	for i := range 3000 { // more than one call takes
		fs[fmt.Sprintf("many/%04d-%s", i, strings.Repeat("x", i%40))] = ""
	}
	root := tempDocroot(t, fs)
	if os.Symlink("a", filepath.Join(root, "link")) != nil || os.Symlink("sub", filepath.Join(root, "linked")) != nil {
		t.Skip("no symbolic links")
	}
	chmod(t, filepath.Join(root, "shut"), 0o711)
	l := newLister(root)
	defer l.close()
	for _, path := range []string{"", "sub", "shut", "many", "gone", "a"} {
		got, want := l.list([]byte(path)), listPortable(root, path)
		if (got.err == nil) != (want.err == nil) || got.err != nil && disk.Cause(got.err) != disk.Cause(want.err) {
			t.Errorf("%q: error %v, want %v", path, got.err, want.err)
		}
		if got.known != want.known || got.mode&0o777 != want.mode&0o777 {
			t.Errorf("%q: mode %v, want %v", path, got.mode, want.mode)
		}
		names := func(l *listing) (out []string) {
			for i := range l.names {
				out = append(out, fmt.Sprintf("%s %d", l.name(&l.names[i]), l.names[i].kind))
			}
			return out
		}
		if a, b := names(got), names(want); !slices.Equal(a, b) {
			t.Errorf("%q: got %q, want %q", path, a, b)
		}
	}
}

// TestListersStay: no directory behind a symbolic link is listed.
func TestListersStay(t *testing.T) {
	root := tempDocroot(t, files{"d/x": ""})
	if os.Symlink("d", filepath.Join(root, "l")) != nil || os.Symlink("..", filepath.Join(root, "up")) != nil {
		t.Skip("no symbolic links")
	}
	w, err := walk(t.Context(), root, 3)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for id := range w.tree.Len() {
		got = append(got, w.tree.Path(NodeID(id)))
	}
	if want := []string{"", "d", "l", "up", "d/x"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
