package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// treeHash depends on every name and byte below dir.
func treeHash(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	// WalkDir goes in lexical order.
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(text)
		h.Write([]byte(filepath.ToSlash(rel) + "\x00"))
		h.Write(sum[:])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func writeSite(t *testing.T, pages int, seed uint64) (string, made) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "site")
	m, err := newGenerated(pages, seed).write(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, m
}

// goldenHash is that of 1,234 pages with seed 7. Results of growth are
// comparable as long as it stays.
const goldenHash = "b0b2728d8ad8c548e7ad574b140a9c32a4ab9e72455635671340a432f094fcc1"

func TestGenerateIsDeterministic(t *testing.T) {
	dir, m := writeSite(t, 1234, 7)
	if got := treeHash(t, dir); got != goldenHash {
		t.Errorf("hash %s, want %s", got, goldenHash)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	alone, n := writeSite(t, 1234, 7)
	if got := treeHash(t, alone); got != goldenHash || n != m {
		t.Errorf("one worker: hash %s, counts %+v, want %s and %+v", got, n, goldenHash, m)
	}
	if other, _ := writeSite(t, 1234, 8); treeHash(t, other) == goldenHash {
		t.Error("another seed gives the same site")
	}
}

// TestGeneratedLinks reads the site back and resolves every link: the counts
// that growth holds against sitelink must be true.
func TestGeneratedLinks(t *testing.T) {
	link := regexp.MustCompile(`<(?:a|link rel="stylesheet") href="([^"]*)"`)
	id := regexp.MustCompile(` id="([^"]*)"`)
	for _, pages := range []int{1, 5, 100, 101, 3_000} {
		dir, m := writeSite(t, pages, 3)
		files := map[string]string{} // text by path
		entries := map[string]int{}
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || name == dir {
				return err
			}
			if entries[filepath.Dir(name)]++; entries[filepath.Dir(name)] > perFolder {
				t.Errorf("%d pages: more than %d entries in a folder", pages, perFolder)
			}
			if d.IsDir() {
				return nil
			}
			text, err := os.ReadFile(name)
			files[filepath.ToSlash(strings.TrimPrefix(name, dir))] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		got := made{Pages: len(files) - 1}
		ids := map[string]bool{}
		for name, text := range files {
			for _, m := range id.FindAllStringSubmatch(text, -1) {
				ids[name+"#"+m[1]] = true
			}
		}
		for name, text := range files {
			base := &url.URL{Scheme: "http", Host: "site", Path: name}
			if name != "/style.css" {
				got.Bytes += int64(len(text))
			}
			for _, l := range link.FindAllStringSubmatch(text, -1) {
				u, err := base.Parse(l[1])
				if err != nil {
					t.Fatal(err)
				}
				target := u.Path
				if strings.HasSuffix(target, "/") {
					target += "index.html"
				}
				got.Links++
				_, there := files[target]
				if !there {
					got.BrokenLinks++
				}
				if u.Fragment != "" {
					got.Fragments++
					if there && !ids[target+"#"+u.Fragment] {
						got.BrokenFragments++
					}
				}
			}
		}
		if got != m {
			t.Errorf("%d pages: read back %+v, reported %+v", pages, got, m)
		}
		if got.Links != pages*linksPerPage || got.Fragments*10 != got.Links {
			t.Errorf("%d pages: %d links, %d with fragment", pages, got.Links, got.Fragments)
		}
		if pages == 3_000 && (got.BrokenLinks == 0 || got.BrokenFragments == 0) {
			t.Error("nothing is broken")
		}
	}
}

func TestGenerateRefusesFullDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine.html"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := newGenerated(10, 1).write(context.Background(), dir); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("error %v, want a refusal", err)
	}
}

// TestGeneratedDepth: the root holds folders, index.html and style.css.
func TestGeneratedDepth(t *testing.T) {
	for _, c := range []struct{ pages, want int }{
		{1, 1}, {9_800, 1}, {9_801, 2}, {980_000, 2}, {1_000_000, 3},
	} {
		if got := newGenerated(c.pages, 1).depth; got != c.want {
			t.Errorf("%d pages: depth %d, want %d", c.pages, got, c.want)
		}
	}
	g := newGenerated(1_000_000, 1)
	for _, c := range []struct {
		page int
		want string
	}{
		{0, "index.html"}, {1, "d00/d00/d00/p01.html"}, {100, "d00/d00/d01/index.html"}, {999_999, "d00/d99/d99/p99.html"},
	} {
		if got := string(g.appendFile(nil, c.page)); got != c.want {
			t.Errorf("page %d: file %s, want %s", c.page, got, c.want)
		}
	}
}
