package check

import (
	"context"
	"slices"

	isite "github.com/sitelink/sitelink/internal/site"
)

// dirty finds the pages to judge again, ascending: those that were read again,
// and those with a link to what is judged differently now.
func (f *Follower) dirty(ctx context.Context, s *isite.Site, c *isite.Change) ([]isite.PageID, error) {
	dirty := slices.Clone(c.Reread)
	if c.Targets == nil {
		return dirty, nil
	}
	found := make([][]isite.PageID, jobs(f.opt, s.Pages()))
	err := eachPage(ctx, s, len(found), func(worker int) func(isite.PageID) error {
		return func(id isite.PageID) error {
			if concerns(s, c, s.Page(id)) {
				found[worker] = append(found[worker], id)
			}
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	for _, ids := range found {
		dirty = append(dirty, ids...)
	}
	slices.Sort(dirty)
	return slices.Compact(dirty), nil
}

// concerns tells whether a change reaches a page through one of its links.
func concerns(s *isite.Site, c *isite.Change, p *isite.Page) bool {
	links := p.All()
	for i := range links {
		switch l := &links[i]; {
		case l.Node == isite.NoNode || c.Targets[l.Node] == 0:
		case c.Targets[l.Node] == isite.RegardAll:
			return true
		case l.Asks():
			return misses(s, c, p)
		}
	}
	return false
}

// misses tells whether a link of a page asks for a fragment of a file whose
// anchors changed that came or went, or that is missing still: what is near it
// may be another one now.
func misses(s *isite.Site, c *isite.Change, p *isite.Page) bool {
	links, asks := p.All(), p.Asks()
	for i := range links {
		l := &links[i]
		if !l.Asks() {
			if l.Node != isite.NoNode && c.Targets[l.Node] == isite.RegardAll {
				return true
			}
			continue
		}
		ask := asks.Next(l)
		if l.Node == isite.NoNode || c.Targets[l.Node] == 0 {
			continue
		}
		target, ok := s.PageOf(l.Node)
		if !ok || c.Targets[l.Node] == isite.RegardAll {
			return true
		}
		if old := c.Was(target); old == nil || find(s.Page(target), &ask) != found || find(old, &ask) != found {
			return true
		}
	}
	return false
}
