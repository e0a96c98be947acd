package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// readFixture has what the reader must get right: more files in a folder than
// one task takes, sizes around the buffer, deep folders, links, other files.
func readFixture(t *testing.T) (dir string, pages, pageBytes int64) {
	t.Helper()
	dir = t.TempDir()
	put := func(name string, size int) {
		t.Helper()
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
		if isPage(filepath.Base(name)) {
			pages++
			pageBytes += int64(size)
		}
	}
	for i := range 3*filesPerTask + 1 {
		put(fmt.Sprintf("many/p%d.html", i), i)
	}
	for _, size := range []int{0, readBufferBytes - 1, readBufferBytes, readBufferBytes + 1, 3 * readBufferBytes} {
		put(fmt.Sprintf("size/%d.htm", size), size)
	}
	put("a/b/c/d/e/f/deep.xhtml", 10)
	put("style.css", 1000)
	put(".html", 1000) // a hidden file without suffix
	for link, to := range map[string]string{
		"linked.html": "a/b/c/d/e/f/deep.xhtml", "gone.html": "nowhere", "out.html": "../out.html", "away": "/usr",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return dir, pages, pageBytes
}

func TestReadTree(t *testing.T) {
	dir, pages, pageBytes := readFixture(t)
	for _, workers := range []int{1, 2, 7} {
		files, size, err := readTree(dir, workers, isPage[[]byte])
		if err != nil || files != pages || size != pageBytes {
			t.Errorf("%d workers: %d files, %d bytes, error %v, want %d and %d", workers, files, size, err, pages, pageBytes)
		}
	}
	files, size, err := readTree(dir, 2, func([]byte) bool { return true })
	if err != nil || files != pages+2 || size != pageBytes+2000 {
		t.Errorf("all: %d files, %d bytes, error %v, want %d and %d", files, size, err, pages+2, pageBytes+2000)
	}
}

func TestReadTreeMissing(t *testing.T) {
	if _, _, err := readTree(filepath.Join(t.TempDir(), "none"), 2, isPage[[]byte]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want one about a missing directory", err)
	}
}

func TestSurveyAgreesWithReader(t *testing.T) {
	dir, pages, pageBytes := readFixture(t)
	got, err := surveyDocroot(dir)
	want := survey{Files: int(pages) + 2, Pages: int(pages), FileBytes: pageBytes + 2000, PageBytes: pageBytes, Links: 4, Leaving: 2}
	if err != nil || got != want {
		t.Errorf("got %+v, error %v, want %+v", got, err, want)
	}
}
