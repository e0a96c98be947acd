package check

import (
	"cmp"
	"context"
	"maps"
	"slices"

	isite "github.com/sitelink/sitelink/internal/site"
)

// target is what links miss on a page.
type target struct {
	misses []miss // by page and link
	// scripts tells, by the reason of a miss, whether only a script could serve
	// it.
	scripts [missingRange + 1]bool
	// script are the misses that are not reported for that, smallest the first
	// of them on the smallest page.
	script   []miss
	smallest miss
}

func newTally(s *isite.Site) *tally {
	return &tally{reasons: map[Code]int{}, demands: make([]demand, s.Pages())}
}

// reset makes a tally as new.
func (t *tally) reset() {
	clear(t.reasons)
	clear(t.demands)
	*t = tally{reasons: t.reasons, demands: t.demands, bad: t.bad[:0], misses: t.misses[:0]}
}

// addCounts adds the counts of a tally n times.
func (t *tally) addCounts(o *tally, n int) {
	t.ok += n * o.ok
	t.redirects += n * o.redirects
	for i, k := range o.states {
		t.states[i] += n * k
	}
	for c, k := range o.reasons {
		t.reasons[c] += n * k
	}
}

// stocked are the links to report, by page, of pages that are described again. A
// page without any is in it, too, if it may have had some.
type stocked map[isite.PageID][]badLink

// take adds what a tally has, when it is decided what only scripts can serve.
func (a stocked) take(f *Follower, t *tally) {
	for _, b := range t.bad {
		a[b.page] = append(a[b.page], b.badLink)
	}
	for _, m := range t.misses {
		if why := f.cause(m); why != 0 {
			a[m.page] = append(a[m.page], badLink{m.link, why})
		}
	}
}

// countAll counts the links of all pages.
func (f *Follower) countAll(ctx context.Context, s *isite.Site) (stocked, error) {
	tallies := make([]*tally, jobs(f.opt, s.Pages()))
	err := eachPage(ctx, s, len(tallies), func(worker int) func(isite.PageID) error {
		t := newTally(s)
		tallies[worker] = t
		return func(id isite.PageID) error {
			t.page(s, id, f.opt)
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	for id := range s.Pages() {
		f.files.add(s, isite.PageID(id), 1, true)
	}
	n := 0
	for _, t := range tallies {
		n += len(t.misses)
	}
	all := make([]miss, 0, n)
	for _, t := range tallies {
		f.count.addCounts(t, 1)
		for i, d := range t.demands {
			f.demands[i].asked += d.asked
			f.demands[i].found += d.found
		}
		all = append(all, t.misses...)
	}
	sortMisses(all, s.Pages())
	for len(all) > 0 {
		n := targetEnd(all)
		t := &target{misses: all[:n:n]}
		f.targets[all[0].target] = t
		f.decide(s, all[0].target, t)
		all = all[n:]
	}
	again := stocked{}
	for _, t := range tallies {
		again.take(f, t)
	}
	return again, nil
}

// targetEnd returns how many of the first misses have one target.
func targetEnd(all []miss) int {
	n := 1
	for n < len(all) && all[n].target == all[0].target {
		n++
	}
	return n
}

// decide finds out what only scripts could serve of what is missed on a page. It
// tells whether that differs from before.
func (f *Follower) decide(s *isite.Site, id isite.PageID, t *target) (other bool) {
	before := t.scripts
	f.unsettled = f.unsettled || len(t.script) > 0
	for why := missing; why <= missingRange; why++ {
		t.scripts[why] = onlyScripts(s, id, why, f.demands[id], f.opt.ScriptFragments)
	}
	t.script = t.script[:0:0]
	silent := func(m miss) bool { return t.scripts[m.why] && !m.state.IsWarning() }
	if n := len(t.misses); n > 0 && !slices.ContainsFunc(t.misses, func(m miss) bool { return !silent(m) }) {
		t.script = t.misses[:n:n]
	} else {
		for _, m := range t.misses {
			if silent(m) {
				t.script = append(t.script, m)
			}
		}
	}
	if len(t.script) > 0 {
		t.smallest, f.unsettled = smallest(s, t.script), true
	}
	return before != t.scripts
}

// cause says why a miss is reported; 0 when it is not.
func (f *Follower) cause(m miss) cause {
	switch {
	case !f.targets[m.target].scripts[m.why]:
		return causeFragment
	case m.state.IsWarning(): // the path alone is worth one
		return cause(m.state)
	}
	return 0
}

// recount takes the old records of dirty pages out of the counts and the new
// ones in, and returns what there is to report of these pages and of those that
// now miss on a page what only scripts can serve, or no longer do.
func (f *Follower) recount(s *isite.Site, c *isite.Change, dirty []isite.PageID) stocked {
	f.was.reset()
	c.Before(func(old *isite.Site) {
		for _, id := range dirty {
			if then := c.Then(id); then != isite.NoPage {
				f.was.page(old, then, f.opt)
			}
		}
		for _, id := range c.Gone {
			f.was.page(old, id, f.opt)
			f.files.add(old, id, -1, true)
		}
		for _, id := range c.Reread {
			if then := c.Then(id); then != isite.NoPage {
				f.files.add(old, then, -1, true)
			}
		}
	})
	touched := map[isite.PageID]bool{}
	if c.Moved() {
		f.renumber(s, c, touched)
	}
	f.is.reset()
	for _, id := range dirty {
		f.is.page(s, id, f.opt)
	}
	for _, id := range c.Reread {
		f.files.add(s, id, 1, true)
	}
	f.count.addCounts(f.was, -1)
	f.count.addCounts(f.is, 1)
	more := f.retarget(s, c, dirty, touched)
	again := stocked{}
	for _, id := range dirty {
		again[id] = nil
	}
	again.take(f, f.is)
	for id := range f.retry {
		more[id] = true
		f.unsettled = true
	}
	f.rename(c, more)
	rest := make([]isite.PageID, 0, len(more))
	for id := range more {
		if _, ok := again[id]; !ok {
			rest = append(rest, id)
		}
	}
	f.was.reset()
	for _, id := range rest {
		again[id] = nil
		f.was.page(s, id, f.opt)
	}
	again.take(f, f.was)
	return again
}

// rename lets suggestions look at the names anew when some came or went, and adds the pages
// with findings for which another one may be meant now.
func (f *Follower) rename(c *isite.Change, more map[isite.PageID]bool) {
	if len(c.Came)+len(c.Went) == 0 {
		return
	}
	f.opt.names.forget()
	for id, p := range f.pages {
		if slices.ContainsFunc(p.links, func(x Finding) bool {
			switch cmp.Or(x.was, x.Code) {
			case MissingFile, MissingDirectory, MissingIndex:
				return true
			}
			return false
		}) {
			more[id] = true
		}
	}
}

// retarget brings up to date what is missed on pages, after f.was and f.is were
// counted, and returns the pages with links that only scripts can serve now, or
// that others can. touched are targets of which it knows nothing else.
func (f *Follower) retarget(s *isite.Site, c *isite.Change, dirty []isite.PageID, touched map[isite.PageID]bool) map[isite.PageID]bool {
	for i := range f.demands {
		was, is := f.was.demands[i], f.is.demands[i]
		if was == is {
			continue
		}
		f.demands[i].asked += is.asked - was.asked
		f.demands[i].found += is.found - was.found
		touched[isite.PageID(i)] = true
	}
	for _, id := range c.Reread { // it may run scripts now
		touched[id] = true
	}
	fresh, stale := byTarget(f.is.misses), byTarget(f.was.misses)
	for id, ms := range stale {
		if len(ms) != len(fresh[id]) {
			touched[id] = true
		}
	}
	for id, ms := range fresh {
		if !slices.Equal(ms, stale[id]) || f.otherSize(s, c, f.targets[id], ms) {
			touched[id] = true
		}
	}
	isDirty := func(m miss) bool {
		_, ok := slices.BinarySearch(dirty, m.page)
		return ok
	}
	more := map[isite.PageID]bool{}
	for id := range touched {
		t := f.targets[id]
		if t == nil && len(fresh[id]) == 0 {
			continue
		}
		if t == nil {
			t = &target{}
			f.targets[id] = t
		}
		t.misses = mergeMisses(slices.DeleteFunc(slices.Clone(t.misses), isDirty), fresh[id])
		if f.decide(s, id, t) {
			for _, m := range t.misses {
				more[m.page] = true
			}
		}
		if len(t.misses) == 0 {
			delete(f.targets, id)
		}
	}
	return more
}

// otherSize tells whether the smallest page that misses something on a target may
// be another one: ms are misses of pages some of which were read again.
func (f *Follower) otherSize(s *isite.Site, c *isite.Change, t *target, ms []miss) bool {
	if len(t.script) == 0 || c.Was(t.smallest.page) != nil {
		return true
	}
	size := s.Page(t.smallest.page).Size()
	return slices.ContainsFunc(ms, func(m miss) bool { return s.Page(m.page).Size() <= size })
}

// byTarget groups misses, which it sorts.
func byTarget(all []miss) map[isite.PageID][]miss {
	slices.SortFunc(all, compareMisses)
	out := map[isite.PageID][]miss{}
	for len(all) > 0 {
		n := targetEnd(all)
		out[all[0].target] = all[:n]
		all = all[n:]
	}
	return out
}

// mergeMisses merges two sorted lists.
func mergeMisses(a, b []miss) []miss {
	if len(b) == 0 {
		return a
	}
	out := make([]miss, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if compareMisses(a[0], b[0]) < 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// silent returns the targets with links that are not reported because only
// scripts can serve them, ascending.
func (f *Follower) silent() []isite.PageID {
	var out []isite.PageID
	for _, id := range slices.Sorted(maps.Keys(f.targets)) {
		if len(f.targets[id].script) > 0 {
			out = append(out, id)
		}
	}
	return out
}
