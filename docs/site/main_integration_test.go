//go:build integration

package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestManualAccessible: axe-core finds no fault on any page of the manual, in light and in
// dark colors in turn: the style is the same on all pages.
func TestManualAccessible(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(filepath.Join("..", ".."))
	var out bytes.Buffer
	if code, err := run(t.Context(), []string{dir}, &out); code != 0 || err != nil {
		t.Fatalf("exit code %d, %v\n%s", code, err, &out)
	}
	b, pages := testkit.StartBrowser(t, true), 0
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".html") {
			return err
		}
		colors := []string{"light", "dark"}[pages%2]
		pages++
		b.View(1280, 900, colors)
		b.Load("file://" + filepath.ToSlash(filepath.Join(dir, name)))
		for _, fault := range b.Axe() {
			t.Errorf("%s, %s: %s", name, colors, fault)
		}
		return nil
	})
	if err != nil || pages < 40 {
		t.Errorf("%d pages, %v", pages, err)
	}
}
