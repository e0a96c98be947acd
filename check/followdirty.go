package check

import (
	"context"
	"slices"

	"github.com/sitelink/sitelink/internal/site"
)

// dirty finds the pages to judge again, ascending: those that were read again,
// and those with a link to what is judged differently now.
func (f *Follower) dirty(ctx context.Context, s *site.Site, c *site.Change) ([]site.PageID, error) {
	dirty := slices.Clone(c.Reread)
	if c.Targets == nil {
		return dirty, nil
	}
	found := make([][]site.PageID, jobs(f.opt, s.Pages()))
	err := eachPage(ctx, s, len(found), func(worker int) func(site.PageID) error {
		return func(id site.PageID) error {
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
func concerns(s *site.Site, c *site.Change, p *site.Page) bool {
	links := p.All()
	for i := range links {
		switch l := &links[i]; {
		case l.Node == site.NoNode || c.Targets[l.Node] == 0:
		case c.Targets[l.Node] == site.RegardAll:
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
func misses(s *site.Site, c *site.Change, p *site.Page) bool {
	links, asks := p.All(), p.Asks()
	for i := range links {
		l := &links[i]
		if !l.Asks() {
			if l.Node != site.NoNode && c.Targets[l.Node] == site.RegardAll {
				return true
			}
			continue
		}
		ask := asks.Next(l)
		if l.Node == site.NoNode || c.Targets[l.Node] == 0 {
			continue
		}
		target, ok := s.PageOf(l.Node)
		if !ok || c.Targets[l.Node] == site.RegardAll {
			return true
		}
		if old := c.Was(target); old == nil || find(s.Page(target), &ask) != found || find(old, &ask) != found {
			return true
		}
	}
	return false
}
