package templates

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestCorpora prints how long it takes to put elements into the pages of real
// documentation, to do so again, and to undo it. It also prints the time to
// read and write the same files without change. It proves that undo restores
// every byte. SITELINK_CORPORA names a directory with unpacked Debian packages,
// SITELINK_CORPUS one of them (rust-doc if unset).
func TestCorpora(t *testing.T) {
	corpora := os.Getenv("SITELINK_CORPORA")
	if corpora == "" {
		t.Skip("SITELINK_CORPORA is not set")
	}
	name := os.Getenv("SITELINK_CORPUS")
	if name == "" {
		name = "rust-doc"
	}
	source := filepath.Join(corpora, name, "usr/share/doc")
	if _, err := os.Stat(source); err != nil {
		t.Skip(name + " is not in SITELINK_CORPORA")
	}
	dir := t.TempDir()
	testkit.Check(t, os.CopyFS(dir, corpusFS{os.DirFS(source)}))
	before := hashTree(t, dir)
	var pages []string
	for p := range before {
		if strings.HasSuffix(p, ".html") {
			pages = append(pages, filepath.Join(dir, p))
		}
	}
	bare := timed(func() { rewriteBare(t, pages) })
	bareAgain := timed(func() { rewriteBare(t, pages) })
	e, err := NewEndpoints("https://h.example/xmlrpc", "https://h.example/wm")
	testkit.Check(t, err)
	opt := DocrootOptions{Endpoints: e, Choice: Choice{Kinds: []string{"home", "page", "list"}}}
	run := func(opt DocrootOptions) (result *DocrootResult, took time.Duration) {
		took = timed(func() {
			if result, err = Docroot(context.Background(), dir, opt); err != nil {
				t.Fatal(err)
			}
		})
		return result, took
	}
	first, firstTook := run(opt)
	second, secondTook := run(opt)
	opt.Undo = true
	undone, undoTook := run(opt)
	t.Logf("%s: %d pages, %d chosen, %d changed, %d right, %d notes", name, first.Pages, first.Chosen, len(first.Changed), first.Right, len(first.Notes))
	for i, n := range first.Notes {
		if i < 5 {
			t.Logf("%s: %s", n.Page, n.Text)
		}
	}
	t.Logf("bare reading and writing %v, %v; first run %v (%.2f times); second run %v; undo %v", bare, bareAgain, firstTook,
		float64(firstTook)/float64(min(bare, bareAgain)), secondTook, undoTook)
	if len(second.Changed) > 0 || len(undone.Changed) != len(first.Changed) {
		t.Errorf("the second run changed %d pages, undo %d", len(second.Changed), len(undone.Changed))
	}
	for p, hash := range hashTree(t, dir) {
		if before[p] != hash {
			t.Errorf("%s is not what it was", p)
		}
	}
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start).Round(time.Millisecond)
}

// rewriteBare reads each page and writes it again under another name beside it,
// which takes its place: no more than must be done.
func rewriteBare(t *testing.T, pages []string) {
	var wg sync.WaitGroup
	n := runtime.GOMAXPROCS(0)
	for w := range n {
		wg.Go(func() {
			for i := w; i < len(pages); i += n {
				data, err := os.ReadFile(pages[i])
				if err == nil {
					err = os.WriteFile(pages[i]+".new", data, 0o644)
				}
				if err == nil {
					err = os.Rename(pages[i]+".new", pages[i])
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func hashTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	hashes := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, p))
		sum := sha256.Sum256(data)
		hashes[p] = hex.EncodeToString(sum[:8])
		return err
	})
	testkit.Check(t, err)
	return hashes
}

// corpusFS hides symbolic links, which may lead out of a package.
type corpusFS struct{ fs.FS }

func (c corpusFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(c.FS, name)
	kept := entries[:0]
	for _, e := range entries {
		if e.IsDir() || e.Type().IsRegular() {
			kept = append(kept, e)
		}
	}
	return kept, err
}
