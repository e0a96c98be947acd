package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
)

// Sizes of a generated site. Changing one changes the golden hash of the test
// and makes older results of growth incomparable.
const (
	perFolder      = 100 // entries of a folder, at most
	linksPerPage   = 50  // of these one style sheet and navLinks in the header
	navLinks       = 9
	idsPerPage     = 8
	fragmentEvery  = 8      // each eighth of the other 40 has a fragment: one link in ten
	brokenEvery    = 10_000 // about one link in so many leads to no page
	brokenFragment = 1_000  // about one fragment in so many is not there
)

// generated is a site made from numbers: the same Pages and Seed give the same
// bytes on every machine, whatever the number of workers.
type generated struct {
	Pages int
	Seed  uint64
	depth int // folders above a page
}

// made counts what was written. It is the oracle of the growth runs: a checker
// must find exactly BrokenLinks + BrokenFragments errors.
type made struct {
	Pages, Links, Fragments      int
	BrokenLinks, BrokenFragments int
	Bytes                        int64
}

func (m *made) add(n made) {
	m.Pages += n.Pages
	m.Links += n.Links
	m.Fragments += n.Fragments
	m.BrokenLinks += n.BrokenLinks
	m.BrokenFragments += n.BrokenFragments
	m.Bytes += n.Bytes
}

// newGenerated lays pages out so that no folder has more than perFolder
// entries; the root has index.html and style.css besides.
func newGenerated(pages int, seed uint64) *generated {
	g := &generated{Pages: pages, Seed: seed, depth: 1}
	for room := (perFolder - 2) * perFolder; room < pages; room *= perFolder {
		g.depth++
	}
	return g
}

// write makes the site in dir, which must be missing or empty.
func (g *generated) write(ctx context.Context, dir string) (made, error) {
	if names, err := os.ReadDir(dir); err == nil && len(names) > 0 {
		return made{}, fmt.Errorf("generate site: directory %s is not empty", dir)
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return made{}, fmt.Errorf("generate site: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return made{}, fmt.Errorf("generate site: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "style.css"), []byte(styleSheet), 0o644); err != nil {
		return made{}, fmt.Errorf("generate site: %w", err)
	}
	// A leaf folder is the unit of work: one mkdir, then its pages.
	leaves := (g.Pages + perFolder - 1) / perFolder
	var (
		next   atomic.Int64
		wg     sync.WaitGroup
		mu     sync.Mutex
		total  made
		failed error
	)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			var m made
			var buf []byte
			var err error
			for err == nil {
				leaf := int(next.Add(1)) - 1
				if leaf >= leaves {
					break
				}
				if err = ctx.Err(); err == nil {
					buf, err = g.writeLeaf(dir, leaf, buf, &m)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			total.add(m)
			if failed == nil {
				failed = err
			}
		})
	}
	wg.Wait()
	if failed != nil {
		return made{}, fmt.Errorf("generate site: %w", failed)
	}
	return total, nil
}

func (g *generated) writeLeaf(dir string, leaf int, buf []byte, m *made) ([]byte, error) {
	folder := filepath.Join(dir, string(g.appendFolder(nil, leaf)))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return buf, err
	}
	for page := leaf * perFolder; page < min((leaf+1)*perFolder, g.Pages); page++ {
		buf = g.appendPage(buf[:0], page, m)
		name := filepath.Join(dir, string(g.appendFile(nil, page)))
		if err := os.WriteFile(name, buf, 0o644); err != nil {
			return buf, err
		}
		m.Pages++
		m.Bytes += int64(len(buf))
	}
	return buf, nil
}

func runGenerate(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	var pages int
	var seed uint64
	var dir string
	if err := s.parse("generate", args, func(fs *flag.FlagSet) {
		fs.IntVar(&pages, "pages", 1000, "number of pages")
		fs.Uint64Var(&seed, "seed", 1, "seed")
		fs.StringVar(&dir, "out", "", "`directory` to write, missing or empty")
	}); err != nil {
		return err
	}
	if dir == "" || pages < 1 {
		return fmt.Errorf("%w: generate needs -out DIR and -pages of at least 1", errUsage)
	}
	m, err := newGenerated(pages, seed).write(ctx, dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s pages, %s MB, %s links, %s with fragment; broken: %s links, %s fragments\n",
		thousands(m.Pages), megabytes(m.Bytes), thousands(m.Links), thousands(m.Fragments),
		thousands(m.BrokenLinks), thousands(m.BrokenFragments))
	return nil
}
