package check

import (
	isite "github.com/sitelink/sitelink/internal/site"
)

// renumber gives all that the Follower knows the numbers that pages have now.
// What pages that are no more missed is dropped, and their targets are added to
// touched; what was found of them stays in f.left until it is told.
func (f *Follower) renumber(s *isite.Site, c *isite.Change, touched map[isite.PageID]bool) {
	f.demands = movedDemands(f.demands, s.Pages(), c)
	f.was.demands = movedDemands(f.was.demands, s.Pages(), c)
	f.is = newTally(s)
	bad := make([]bool, s.Pages())
	for id, is := range f.bad {
		switch now := c.Now(isite.PageID(id)); {
		case now != isite.NoPage:
			bad[now] = is
		case is:
			f.unsettled = true
		}
	}
	f.bad = bad
	f.was.misses, _ = movedMisses(f.was.misses, c)
	targets := make(map[isite.PageID]*target, len(f.targets))
	for id, t := range f.targets {
		now := c.Now(id)
		if now == isite.NoPage {
			f.unsettled = true
			continue // whoever missed something there is judged again
		}
		all := len(t.script) == len(t.misses)
		var fewer bool
		if t.misses, fewer = movedMisses(t.misses, c); fewer {
			touched[now] = true
		}
		if all {
			t.script = t.misses[:len(t.misses):len(t.misses)]
		} else {
			t.script, _ = movedMisses(t.script, c)
		}
		if m, gone := movedMisses([]miss{t.smallest}, c); !gone {
			t.smallest = m[0]
		}
		targets[now] = t
	}
	f.targets = targets
	pages := make(map[isite.PageID]*judged, len(f.pages))
	for id, p := range f.pages {
		if now := c.Now(id); now != isite.NoPage {
			pages[now] = p
		} else {
			f.left = append(f.left, p)
		}
	}
	f.pages = pages
	retry := map[isite.PageID]bool{}
	for id := range f.retry {
		if now := c.Now(id); now != isite.NoPage {
			retry[now] = true
		}
	}
	f.retry = retry
	f.moveExamples(c)
}

// moveExamples is renumber for examples. Those of targets that are no more are
// chosen anew with all others, which takes them out.
func (f *Follower) moveExamples(c *isite.Change) {
	examples := make(map[isite.PageID]*example, len(f.examples))
	for id, e := range f.examples {
		now, page := c.Now(id), c.Now(e.example.page)
		if page == isite.NoPage || now == isite.NoPage {
			f.unsettled = true
		}
		e.target, e.example.page = now, page
		if now == isite.NoPage {
			f.leftOver = append(f.leftOver, e)
		} else {
			examples[now] = e
		}
	}
	f.examples = examples
}

func movedDemands(old []demand, pages int, c *isite.Change) []demand {
	out := make([]demand, pages)
	for id, d := range old {
		if now := c.Now(isite.PageID(id)); now != isite.NoPage {
			out[now] = d
		}
	}
	return out
}

// movedMisses returns misses with the numbers of now, in the same order; fewer
// tells whether some are of pages that are no more. Of a page that is no more
// nothing is missed.
func movedMisses(old []miss, c *isite.Change) (out []miss, fewer bool) {
	out = old[:0:len(old)]
	for _, m := range old {
		m.page, m.target = c.Now(m.page), c.Now(m.target)
		if m.page == isite.NoPage || m.target == isite.NoPage {
			fewer = true
			continue
		}
		out = append(out, m)
	}
	return out, fewer
}
