package system

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// Files are read up to the limit. Everything else is refused, before it could block.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	testkit.Check(t, os.WriteFile(filepath.Join(dir, "file"), []byte("12345"), 0o666))
	cases := map[string]string{"file": "", ".": "is a directory"}
	if runtime.GOOS == "linux" {
		testkit.Check(t, os.Symlink("/dev/zero", filepath.Join(dir, "zeros")))
		cases["zeros"] = "not a regular file"
	}
	for name, want := range cases {
		_, openErr := Open(filepath.Join(dir, name))
		text, readErr := Read(filepath.Join(dir, name), 5)
		tree, treeErr := ReadFS(os.DirFS(dir), name, 5)
		for _, err := range []error{openErr, readErr, treeErr} {
			if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
		if want == "" && (string(text) != "12345" || string(tree) != "12345") {
			t.Errorf("%s: %q, %q", name, text, tree)
		}
	}
	for _, err := range []error{
		func() error { _, err := Read(filepath.Join(dir, "file"), 4); return err }(),
		func() error { _, err := ReadFS(os.DirFS(dir), "file", 4); return err }(),
	} {
		if err == nil || !strings.Contains(err.Error(), "4 bytes") {
			t.Errorf("a file above the limit: %v", err)
		}
	}
	if _, err := Read(filepath.Join(dir, "none"), 4); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), dir) {
		t.Errorf("a file that does not exist: %v", err)
	}
}
