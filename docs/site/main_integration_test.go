//go:build integration

package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestManualNarrow: at 390 pixels no page is wider than the window, tables of at most five
// columns are lists, others scroll, and a search without a hit says so.
// $SITELINK_PICTURES keeps the pictures.
func TestManualNarrow(t *testing.T) {
	dir, pictures := t.TempDir(), os.Getenv("SITELINK_PICTURES")
	t.Chdir(filepath.Join("..", ".."))
	if code, err := run(t.Context(), []string{dir}, io.Discard); code != 0 || err != nil {
		t.Fatalf("exit code %d, %v", code, err)
	}
	b := testkit.StartBrowser(t, true)
	for _, colors := range []string{"light", "dark"} {
		for _, width := range []int{390, 1280} {
			b.View(width, 900, colors)
			for _, name := range []string{"index", "reference/profiles", "reference/configuration", "reference/commands", "guide/repair"} {
				b.Load("file://" + filepath.ToSlash(filepath.Join(dir, name+".html")))
				var wide, cut []string
				b.Eval(`document.documentElement.scrollWidth > innerWidth ? ["the page"] : []`, &wide)
				b.Eval(`[...document.querySelectorAll(".stack")].filter((t) => t.scrollWidth > t.clientWidth).map((t) => t.innerText.slice(0, 80))`, &cut)
				if len(wide)+len(cut) > 0 {
					t.Errorf("%s at %d pixels: wider than the window: %q", name, width, append(wide, cut...))
				}
				if pictures != "" {
					b.Do(`document.querySelectorAll("table")[document.querySelectorAll("table").length >> 1]?.scrollIntoView()`)
					file := fmt.Sprintf("manual-%s-%s-%d.png", filepath.Base(name), colors, width)
					testkit.Check(t, os.WriteFile(filepath.Join(pictures, file), b.Picture(), 0o644))
				}
			}
		}
	}
	var says string
	for _, c := range []struct{ query, want string }{
		{"baseline flubber", "No page contains “flubber”. Try another word, or fewer."},
		{"watch", "Watch"},
	} {
		b.Eval(`new Promise((done) => { const input = document.querySelector("input"); input.value = "`+c.query+`"; input.oninput().then(() => done(hits.innerText)); })`, &says)
		if !strings.HasPrefix(says, c.want) {
			t.Errorf("search for %q: %q, want %q", c.query, says, c.want)
		}
	}
}

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
		colors, within := []string{"light", "dark"}[pages%2], "main"
		if pages < 2 { // what surrounds it is the same on all pages
			within = "html"
		}
		pages++
		b.View(1280, 900, colors)
		b.Load("file://" + filepath.ToSlash(filepath.Join(dir, name)))
		for _, fault := range b.Axe(within) {
			t.Errorf("%s, %s: %s", name, colors, fault)
		}
		return nil
	})
	if err != nil || pages < 40 {
		t.Errorf("%d pages, %v", pages, err)
	}
}
