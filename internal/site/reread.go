package site

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// newLoader opens the docroot for reading pages; done closes it.
func (s *Site) newLoader() (l *loader, done func(), err error) {
	dir, err := openDocroot(s.real)
	if err != nil {
		return nil, nil, fmt.Errorf("read docroot %s: %w", s.root, reason(err))
	}
	l = &loader{s: s, dir: dir, limit: s.opt.MaxPageBytes, modes: s.modes}
	if l.limit <= 0 {
		l.limit = DefaultMaxPageBytes
	}
	for i := range s.pages {
		l.kept.Add(int64(len(s.pages[i].kept)))
	}
	return l, dir.close, nil
}

// jobs is the number of workers for n pages.
func (s *Site) jobs(n int) int {
	return max(1, min(cmp.Or(max(s.opt.Jobs, 0), runtime.GOMAXPROCS(0)), (n+batch-1)/batch))
}

// reread reads pages and returns what was seen of their permissions. The error
// is that of ctx, or [ErrMoving].
func (l *loader) reread(ctx context.Context, pages []PageID) ([]nodeMode, error) {
	s := l.s
	workers := make([]*worker, s.jobs(len(pages)))
	var moving atomic.Bool
	var wg sync.WaitGroup
	l.next.Store(0)
	for i := range workers {
		w := newWorker(l)
		workers[i] = w
		wg.Go(func() {
			for ctx.Err() == nil && !moving.Load() {
				first := int(l.next.Add(batch)) - batch
				if first >= len(pages) {
					return
				}
				for _, id := range pages[first:min(first+batch, len(pages))] {
					p := &s.pages[id]
					l.kept.Add(-int64(len(p.kept)))
					*p = Page{node: p.node, kind: p.kind}
					if w.page(p); p.err.Err == errVanished {
						moving.Store(true)
					}
					// Blocks of many pages would live as long as one of them.
					p.links, p.frags, p.anchors = slices.Clone(p.links), slices.Clone(p.frags), slices.Clone(p.anchors)
				}
			}
		})
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

// markLinked notes which files the links of pages lead to, of the kinds that
// take accepts.
func (s *Site) markLinked(take func(PageKind) bool) {
	if s.linked == nil {
		s.linked = make([]bool, len(s.tree.nodes))
	}
	for i := range s.pages {
		if !take(s.pages[i].kind) {
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
}
