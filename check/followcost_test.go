package check

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	isite "github.com/sitelink/sitelink/internal/site"
)

// edits is a site of many pages, each with a broken link, of which one is edited
// again and again.
type edits struct {
	t    testing.TB
	root string
	site *isite.Site
	f    *Follower
	n    int
}

func newEdits(t testing.TB, pages int) *edits {
	t.Helper()
	e := &edits{t: t, root: t.TempDir()}
	for n := range pages {
		e.write(fmt.Sprintf("%d/%d.html", n%97, n), fmt.Sprintf("<p id=a><a href=gone.html>x</a><a href=../%d/%d.html#a>y</a>", (n+1)%97, (n+1)%pages))
	}
	var err error
	if e.site, err = isite.Load(t.Context(), e.root, isite.Options{Jobs: 1}); err != nil {
		t.Fatal(err)
	}
	if e.f, err = Follow(t.Context(), e.site, Options{Jobs: 1}); err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *edits) write(name, text string) {
	e.t.Helper()
	name = filepath.Join(e.root, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		e.t.Fatal(err)
	}
}

// edit adds a broken link to a page and takes the last one out.
func (e *edits) edit() {
	e.n++
	const page = "3/3.html"
	e.write(page, fmt.Sprintf("<p id=a><a href=gone.html>x</a><a href=gone%d.html>y</a>", e.n))
	s, c, err := e.site.Update(e.t.Context(), []string{page})
	if err != nil {
		e.t.Fatal(err)
	}
	e.site = s
	d, err := e.f.Update(e.t.Context(), s, c)
	if err != nil || len(d.New) != 1 || len(d.Fixed) > 1 {
		e.t.Fatalf("%v, %d new and %d fixed", err, len(d.New), len(d.Fixed))
	}
}

// TestEditCost: what an edit allocates does not depend on the size of the site.
func TestEditCost(t *testing.T) {
	cost := func(pages int) uint64 {
		e := newEdits(t, pages)
		e.edit() // makes what is kept
		e.edit()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 10 {
			e.edit()
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / 10
	}
	small, large := cost(100), cost(3000)
	if large > small+small/4 {
		t.Errorf("%d bytes an edit with 100 pages, %d with 3,000", small, large)
	}
}

// BenchmarkEdit is an edit of one page of 3,000.
func BenchmarkEdit(b *testing.B) {
	e := newEdits(b, 3000)
	e.edit()
	b.ReportAllocs()
	for b.Loop() {
		e.edit()
	}
}
