package check

import (
	"context"
	"maps"
	"slices"

	"github.com/sitelink/sitelink/internal/site"
)

// Follower checks a site again and again while it is edited. It keeps what it
// counted and described, so that [Follower.Update] looks at little more than
// what changed. It is not safe for concurrent use.
type Follower struct {
	opt  Options
	site *site.Site
	// count is what the records of all pages come to.
	count *tally
	// bad are the links that were described, described what was said of them.
	bad       map[site.PageID][]badLink
	described map[site.PageID][]Finding
	// fine counts, by page, bad links that turned out to be none.
	fine    map[site.PageID]int
	scripts map[site.PageID]scriptWords
	// more is how many findings the last result had beside those described.
	more int
	// retry are pages that could not be read again when they were described.
	retry map[site.PageID]bool
}

// scriptWords is what was said of the fragments that only scripts can serve.
type scriptWords struct {
	scriptTarget
	finding Finding
}

// Follow does the work of [Run] and returns, with its result, who can do it
// again for what becomes of s. Findings of results must not be changed: they are
// shared with the Follower.
func Follow(ctx context.Context, s *site.Site, opt Options) (*Follower, *Result, error) {
	opt.names = &fileIndex{}
	f := &Follower{opt: opt}
	r, err := f.anew(ctx, s)
	return f, r, err
}

// Update returns what [Run] would find on s, which [site.Site.Update] made of
// the site of the last call that returned no error. Errors are those of Run; after
// one, the next call has to tell all changes since, or come from Follow.
//
// Where one run could not compare all names of a very large directory,
// suggestions may be better than those of Run.
func (f *Follower) Update(ctx context.Context, s *site.Site, c *site.Change) (*Result, error) {
	if c.Renumbered || f.partial() || f.count == nil {
		*f = Follower{opt: f.opt} // nothing of it holds, and it may be large
		return f.anew(ctx, s)
	}
	ignore, err := compileIgnores(f.opt.Ignore)
	if err != nil {
		return nil, err
	}
	dirty := f.dirty(s, c)
	count := f.recount(s, dirty)
	t := settle(s, f.opt, []*tally{count})
	return f.say(ctx, s, count, t, ignore, dirty, c.Targets)
}

// partial tells whether only a part of the site is judged: which one depends on
// every link.
func (f *Follower) partial() bool {
	return len(f.opt.From) > 0 || len(f.opt.Skip) > 0 || f.opt.Limit > 0
}

// anew checks s as if nothing were known.
func (f *Follower) anew(ctx context.Context, s *site.Site) (*Result, error) {
	*f.opt.names = fileIndex{}
	if f.partial() {
		return Run(ctx, s, f.opt)
	}
	ignore, err := compileIgnores(f.opt.Ignore)
	if err != nil {
		return nil, err
	}
	count := newTally(s)
	for id := range s.Pages() {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		count.page(s, site.PageID(id), f.opt)
	}
	slices.SortFunc(count.misses, compareMisses)
	t := settle(s, f.opt, []*tally{count})
	blank := Follower{opt: f.opt}
	r, err := blank.say(ctx, s, count, t, ignore, nil, nil)
	if err == nil {
		*f = blank
	}
	return r, err
}

func newTally(s *site.Site) *tally {
	return &tally{reasons: map[Code]int{}, demands: make([]demand, s.Pages())}
}

// dirty finds the pages to judge again: those that were read again, and those
// with a link to what is judged differently now.
func (f *Follower) dirty(s *site.Site, c *site.Change) map[site.PageID]bool {
	dirty := make(map[site.PageID]bool, len(c.Reread))
	for _, id := range c.Reread {
		dirty[id] = true
	}
	if c.Targets == nil {
		return dirty
	}
	for id := range s.Pages() {
		links := s.Page(site.PageID(id)).All()
		for i := range links {
			if n := links[i].Node; n != site.NoNode && c.Targets[n] {
				dirty[site.PageID(id)] = true
				break
			}
		}
	}
	return dirty
}

// recount takes the old records of dirty pages out of the count and the new
// ones in.
func (f *Follower) recount(s *site.Site, dirty map[site.PageID]bool) *tally {
	was, is := newTally(f.site), newTally(s)
	for id := range dirty {
		was.page(f.site, id, f.opt)
		is.page(s, id, f.opt)
	}
	n := &tally{ok: f.count.ok - was.ok + is.ok, redirects: f.count.redirects - was.redirects + is.redirects, states: f.count.states}
	for i := range n.states {
		n.states[i] += is.states[i] - was.states[i]
	}
	n.reasons = maps.Clone(f.count.reasons)
	for c, k := range was.reasons {
		n.reasons[c] -= k
	}
	for c, k := range is.reasons {
		n.reasons[c] += k
	}
	maps.DeleteFunc(n.reasons, func(_ Code, k int) bool { return k == 0 })
	n.demands = slices.Clone(f.count.demands)
	for i := range n.demands {
		n.demands[i].asked += is.demands[i].asked - was.demands[i].asked
		n.demands[i].found += is.demands[i].found - was.demands[i].found
	}
	n.bad = make(badLinks, 0, len(f.count.bad)+len(is.bad))
	for _, b := range f.count.bad {
		if !dirty[b.page] {
			n.bad = append(n.bad, b)
		}
	}
	n.bad = append(n.bad, is.bad...)
	// In order, so that settling them costs little.
	slices.SortFunc(is.misses, compareMisses)
	n.misses = make([]miss, 0, len(f.count.misses)+len(is.misses))
	fresh := is.misses
	for _, m := range f.count.misses {
		if dirty[m.page] {
			continue
		}
		for len(fresh) > 0 && compareMisses(fresh[0], m) < 0 {
			n.misses, fresh = append(n.misses, fresh[0]), fresh[1:]
		}
		n.misses = append(n.misses, m)
	}
	n.misses = append(n.misses, fresh...)
	return n
}

// say describes the links of t that were not described before, or not as they
// are now, and concludes.
func (f *Follower) say(ctx context.Context, s *site.Site, count *tally, t *stock, ignore *ignores, dirty map[site.PageID]bool, targets []bool) (*Result, error) {
	rest := &stock{bad: map[site.PageID][]badLink{}}
	described, fine := make(map[site.PageID][]Finding, len(t.bad)), map[site.PageID]int{}
	for id, bad := range t.bad {
		if old, ok := f.described[id]; ok && !dirty[id] && !f.retry[id] && slices.Equal(bad, f.bad[id]) {
			described[id], fine[id] = old, f.fine[id]
		} else {
			rest.bad[id] = bad
		}
	}
	scripts := map[site.PageID]scriptWords{}
	for _, st := range t.scripts {
		old, ok := f.scripts[st.target]
		if ok && old.finding.Code != "" && old.scriptTarget == st && !dirty[st.example.page] && (targets == nil || !targets[s.Page(st.target).Node()]) {
			scripts[st.target] = old
		} else {
			rest.scripts = append(rest.scripts, st)
		}
	}
	found, err := describe(ctx, s, f.opt, rest)
	if err != nil {
		return nil, err
	}
	retry := sortFindings(s, found, rest, described, fine, scripts)

	for id := range retry {
		t.summary.lose(s, id, t.bad[id])
	}
	n := len(scripts)
	for _, fs := range described {
		n += len(fs)
	}
	all, more := make([]Finding, 0, n+f.more+16), []Finding(nil)
	pages := slices.Sorted(maps.Keys(described))
	for _, id := range pages {
		all = append(all, described[id]...)
		t.summary.Errors -= fine[id]
		t.summary.OK += fine[id]
	}
	if f.opt.ScriptFragments == ScriptWarn {
		for _, id := range slices.Sorted(maps.Keys(scripts)) {
			if scripts[id].finding.Code != "" {
				more = append(more, scripts[id].finding)
			}
		}
	}
	r, err := conclude(ctx, s, f.opt, ignore, t, all, more)
	if err != nil {
		return nil, err
	}
	f.more = len(r.Findings) - len(all)
	if len(f.opt.Ignore) == 0 {
		share(pages, described, r.Findings)
	}
	f.site, f.count, f.bad, f.described, f.fine, f.scripts, f.retry = s, count, t.bad, described, fine, scripts, retry
	return r, nil
}

// share lets what was said of a page be a part of all findings, where that is
// all that is said of the page: they are held once then.
func share(pages []site.PageID, described map[site.PageID][]Finding, all []Finding) {
	for _, id := range pages {
		if len(described[id]) == 0 {
			continue
		}
		page := described[id][0].Page
		for len(all) > 0 && all[0].Page < page {
			all = all[1:]
		}
		if n := pageEnd(all, page); n == len(described[id]) {
			described[id] = all[:n:n]
		}
	}
}

// sortFindings puts new descriptions where they belong, and returns the pages
// that could not be read.
func sortFindings(s *site.Site, found []Finding, rest *stock, described map[site.PageID][]Finding, fine map[site.PageID]int,
	scripts map[site.PageID]scriptWords) (gone map[site.PageID]bool) {
	byPage := map[site.PageID][]Finding{}
	examples := map[site.PageID][]Finding{}
	gone = map[site.PageID]bool{}
	for i := range found {
		node, _ := s.Lookup(found[i].Page)
		id := s.PageAt(node)
		switch found[i].Code {
		case ScriptFragment:
			examples[id] = append(examples[id], found[i])
			continue
		case Changed, ReadError:
			gone[id] = true
		}
		byPage[id] = append(byPage[id], found[i])
	}
	for id, bad := range rest.bad {
		fs := byPage[id]
		slices.SortFunc(fs, compareFindings)
		described[id] = slices.Clip(fs)
		if !gone[id] {
			fine[id] = len(bad) - len(fs)
		}
	}
	// The examples of a page stand in the order of their links, then of targets.
	byExample := map[site.PageID][]scriptTarget{}
	for _, st := range rest.scripts {
		byExample[st.example.page] = append(byExample[st.example.page], st)
	}
	for id, sts := range byExample {
		slices.SortStableFunc(sts, func(a, b scriptTarget) int { return int(a.example.link) - int(b.example.link) })
		for i, st := range sts {
			w := scriptWords{scriptTarget: st}
			if i < len(examples[id]) {
				w.finding = examples[id][i]
			}
			scripts[st.target] = w
		}
		if gone[id] && len(rest.bad[id]) == 0 {
			described[id] = byPage[id]
		}
	}
	return gone
}
