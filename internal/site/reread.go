package site

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sitelink/sitelink/internal/disk"
)

// newLoader opens the docroot for reading pages; done closes it.
func (s *Site) newLoader() (l *loader, done func(), err error) {
	dir, err := openDocroot(s.real)
	if err != nil {
		return nil, nil, fmt.Errorf("read docroot %s: %w", s.root, disk.Cause(err))
	}
	return &loader{s: s, dir: dir, modes: s.modes}, dir.close, nil
}

// countKept counts the details that pages keep.
func (l *loader) countKept() {
	for i := range l.s.pages {
		l.kept.Add(int64(len(l.s.pages[i].kept)))
	}
}

// jobs is the number of workers for n pages.
func (s *Site) jobs(n int) int {
	return max(1, min(cmp.Or(max(s.opt.Jobs, 0), runtime.GOMAXPROCS(0)), (n+batch-1)/batch))
}

// reread reads pages, of which node, kind and zipped are set, and returns what
// was seen of their permissions. The worker of k, if there is one, does the work
// or a part of it. The error is that of ctx, or [ErrMoving].
func (l *loader) reread(ctx context.Context, pages []*Page, k *upkeep) ([]nodeMode, error) {
	workers := make([]*worker, l.s.jobs(len(pages)))
	var moving atomic.Bool
	var wg sync.WaitGroup
	l.next.Store(0)
	for i := range workers {
		w := l.rereader(k, i)
		workers[i] = w
		work := func() {
			for ctx.Err() == nil && !moving.Load() {
				first := int(l.next.Add(batch)) - batch
				if first >= len(pages) {
					return
				}
				for _, p := range pages[first:min(first+batch, len(pages))] {
					*p = Page{node: p.node, kind: p.kind, zipped: p.zipped, canon: NoNode}
					if w.page(p); p.err.Err == errVanished {
						moving.Store(true)
					}
				}
			}
		}
		if len(workers) == 1 {
			work()
		} else {
			wg.Go(work)
		}
	}
	wg.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case moving.Load():
		return nil, ErrMoving
	}
	var modes []nodeMode
	for _, w := range workers {
		modes = append(modes, w.modes...)
	}
	return modes, nil
}

// rereader is the i-th worker that reads pages again: the first one is that of
// k, with what it knows of the docroot forgotten.
func (l *loader) rereader(k *upkeep, i int) *worker {
	if k == nil || i > 0 {
		w := newWorker(l)
		w.links.single, w.hashes.single = true, true // blocks of many pages would live as long as one of them
		return w
	}
	if k.worker == nil {
		k.worker = l.rereader(nil, 0)
	}
	w := k.worker
	clear(w.res.cache[:])
	w.l, w.res = l, resolver{s: l.s, cache: w.res.cache}
	w.modes, w.aliases, w.manifests = w.modes[:0], w.aliases[:0], w.manifests[:0]
	return w
}

// pagesAt returns the pages of these numbers.
func (s *Site) pagesAt(ids []PageID) []*Page {
	out := make([]*Page, len(ids))
	for i, id := range ids {
		out[i] = &s.pages[id]
	}
	return out
}

// markLinked notes which files the links of pages lead to: of those that are
// pages by their names, or of those that are since other pages link to them.
func (s *Site) markLinked(late bool) {
	if s.linked == nil {
		s.linked = make([]bool, len(s.tree.nodes))
	}
	for i := range s.pages {
		if s.isLate(&s.pages[i]) != late {
			continue
		}
		links := s.pages[i].links
		for j := range links {
			if l := &links[j]; l.Node != NoNode && l.State.Answers() {
				s.linked[l.Node] = true
			}
		}
	}
}

// isLate tells whether a page is none by its name.
func (s *Site) isLate(p *Page) bool {
	if p.kind != PageMap && p.kind != PageManifest {
		return false
	}
	kind, ok := s.kindOf(&s.tree.nodes[p.node])
	return !ok || kind != p.kind // a manifest may be any JSON
}

// collectManifests finds the manifests that pages name. ok is false when a page
// names several.
func (s *Site) collectManifests() (ok bool) {
	s.manifests = nil
	for i := range s.pages {
		p := &s.pages[i]
		if p.manifests {
			return false
		}
		if p.manifest != 0 && !s.isLate(p) {
			s.manifests = append(s.manifests, p.manifest)
		}
	}
	slices.Sort(s.manifests)
	s.manifests = slices.Compact(s.manifests)
	return true
}

// settleFlags notes what is known only when all pages have been read.
func (s *Site) settleFlags(read []nodeMode) {
	for i := range s.pages {
		x := &s.tree.nodes[s.pages[i].node]
		if x.flags &^= flagAlias; s.pages[i].alias != "" {
			x.flags |= flagAlias
		}
	}
	for _, m := range read {
		s.tree.nodes[m.id].flags |= m.flags
	}
	if s.modes {
		s.statLinked()
	}
	s.markOdd()
}
