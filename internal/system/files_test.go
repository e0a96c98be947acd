package system

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

func TestCause(t *testing.T) {
	_, missing := os.Open(filepath.Join(t.TempDir(), "none"))
	link := os.Rename(filepath.Join(t.TempDir(), "none"), "x")
	for _, err := range []error{missing, link, fmt.Errorf("more: %w", missing)} {
		if got := Cause(err); !errors.Is(got, fs.ErrNotExist) || strings.Contains(got.Error(), "none") {
			t.Errorf("%v became %v", err, got)
		}
	}
	if own := errors.New("own"); Cause(own) != own || Cause(nil) != nil {
		t.Error("an error without a path was changed")
	}
}

// writers are the two ways to write a file, below dir.
func writers(t *testing.T, dir string) map[string]func(name string, data []byte, mode fs.FileMode) error {
	root := testkit.Must(os.OpenRoot(dir))(t)
	t.Cleanup(func() { root.Close() })
	return map[string]func(string, []byte, fs.FileMode) error{
		"WriteFile": func(name string, data []byte, mode fs.FileMode) error {
			return WriteFile(filepath.Join(dir, name), data, mode)
		},
		"WriteFileIn": func(name string, data []byte, mode fs.FileMode) error { return WriteFileIn(root, name, data, mode) },
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries := testkit.Must(os.ReadDir(dir))(t)
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func TestWriteFile(t *testing.T) {
	for way := range writers(t, t.TempDir()) {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			write := writers(t, dir)[way]
			// A file that a crash has left does not matter.
			left := fmt.Sprintf(".a.txt.sitelink-%d-0.tmp", os.Getpid())
			testkit.Check(t, os.WriteFile(filepath.Join(dir, left), nil, 0o666))
			for _, text := range []string{"one", "two"} {
				testkit.Check(t, write("a.txt", []byte(text), 0o604))
				got, err := os.ReadFile(filepath.Join(dir, "a.txt"))
				if string(got) != text || err != nil {
					t.Errorf("content %q, %v", got, err)
				}
			}
			if info, err := os.Stat(filepath.Join(dir, "a.txt")); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o604 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
			if got := names(t, dir); got != left+" a.txt" {
				t.Errorf("files in the directory: %s", got)
			}
			// The destination cannot be replaced: the error names it, and no file is left.
			testkit.Check(t, os.Mkdir(filepath.Join(dir, "d"), 0o777))
			testkit.Check(t, os.WriteFile(filepath.Join(dir, "d", "x"), nil, 0o666))
			err := write("d", nil, 0)
			if err == nil || !strings.HasPrefix(err.Error(), "write ") || strings.Contains(err.Error(), ".sitelink-") {
				t.Errorf("in place of a directory: %v", err)
			}
			if got := names(t, dir); got != left+" a.txt d" {
				t.Errorf("files in the directory: %s", got)
			}
		})
	}
}

// TestWriteFileInRoot checks that names and links cannot leave the root.
func TestWriteFileInRoot(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "out")); err != nil {
		t.Skip(err)
	}
	write := writers(t, dir)["WriteFileIn"]
	for _, name := range []string{"../x", "out/x"} {
		if err := write(name, nil, 0); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if got := names(t, outside); got != "" {
		t.Errorf("files outside: %s", got)
	}
}

func TestDiscard(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	testkit.Check(t, WriteFile(name, []byte("old"), 0))
	for _, how := range []string{"written", "prepared", "closed", "committed"} {
		r, err := NewReplacement(name, 0)
		testkit.Check(t, err)
		fmt.Fprint(r, how)
		want := "old"
		switch how {
		case "prepared":
			err = r.Prepare()
		case "closed": // as if the disk were full
			r.File.Close()
			if r.Commit() == nil {
				t.Error("a file that was not written was committed")
			}
		case "committed":
			err, want = r.Commit(), how
		}
		if err != nil {
			t.Error(err)
		}
		r.Discard()
		if got, err := os.ReadFile(name); string(got) != want || err != nil || names(t, dir) != "a" {
			t.Errorf("%s: content %q, %v; files in the directory: %s", how, got, err, names(t, dir))
		}
	}
}

func TestIsTemporary(t *testing.T) {
	dir := t.TempDir()
	r := testkit.Must(NewReplacement(filepath.Join(dir, "a.txt"), 0))(t)
	defer r.Discard()
	if !IsTemporary(filepath.Base(r.File.Name()), "a.txt") {
		t.Errorf("%s is not recognised as temporary", r.File.Name())
	}
	for _, name := range []string{"a.txt", ".a.txt.sitelink-.tmp", ".a.txt.sitelink-1", ".b.sitelink-1-0.tmp", ".a.txt.sitelink-x.tmp"} {
		if IsTemporary(name, "a.txt") {
			t.Errorf("IsTemporary(%s)", name)
		}
	}
}
