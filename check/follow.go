package check

import (
	"context"
	"maps"
	"slices"

	isite "github.com/sitelink/sitelink/internal/site"
)

// Follower checks a site again and again while it is edited. It owns what was
// found of each page and what links ask of each, so that [Follower.Update]
// looks at what changed and at nothing else. It is not safe for concurrent use.
type Follower struct {
	opt  Options
	site *isite.Site
	// whole is the last result where only a part of the site is judged: which
	// one depends on every link. Nothing below is used then.
	whole *Result

	// count is what the links of all pages come to, demands and misses apart;
	// was and is are those of pages before and after a change.
	count   tally
	was, is *tally
	demands []demand
	targets map[isite.PageID]*target
	files   fileSums

	pages map[isite.PageID]*judged
	// bad tells, by page, whether it has links to report; examples are by target.
	bad      []bool
	examples map[isite.PageID]*example
	// unsettled: other examples may have to be chosen.
	unsettled bool
	// others are the findings for which no page is to blame, or not alone, listed
	// those of them that no rule ignores.
	others, listed []Finding
	told           account
	// retry are pages that could not be read again when they were described.
	retry map[isite.PageID]bool
	// left is what was found of pages that are no more, leftOver the examples of
	// such targets, until it is told.
	left     []*judged
	leftOver []*example
	// lost: an update failed in the middle; only what was told is right.
	lost bool
}

// Follow does the work of [Run] for s and returns who can do it again for what
// becomes of s. The error is that of Run.
func Follow(ctx context.Context, s *isite.Site, opt Options) (*Follower, error) {
	f := &Follower{}
	_, err := f.Renew(ctx, s, opt)
	return f, err
}

// Renew is [Follower.Update] where anything may have changed, the options too.
// After an error the Follower is as it was.
func (f *Follower) Renew(ctx context.Context, s *isite.Site, opt Options) (Difference, error) {
	opt.names = &fileIndex{}
	n := &Follower{opt: opt}
	if err := n.anew(ctx, s); err != nil {
		return Difference{}, err
	}
	d := Compare(f.Findings(), n.Findings())
	*f = *n
	return d, nil
}

// Update does the work of [Run] on s, which [isite.Site.Update] made of the site
// of the last call that returned no error, and returns what came and what went
// since. Errors are those of Run; after one, the next call has to tell all
// changes since, or be one of Renew.
//
// Where one run could not compare all names of a very large directory,
// suggestions may be better than those of Run.
func (f *Follower) Update(ctx context.Context, s *isite.Site, c *isite.Change) (Difference, error) {
	if c.Renumbered || f.whole != nil || f.lost {
		return f.Renew(ctx, s, f.opt)
	}
	f.lost = true // until all is done
	dirty, err := f.dirty(ctx, s, c)
	if err != nil {
		return Difference{}, err
	}
	f.site = s
	var d difference
	if err := f.tell(ctx, s, c, c.Reread, dirty, f.recount(s, c, dirty), &d); err != nil {
		return Difference{}, err
	}
	f.lost = false
	return d.compare(), nil
}

// partial tells whether only a part of the site is judged.
func (f *Follower) partial() bool {
	return len(f.opt.From) > 0 || len(f.opt.Skip) > 0 || f.opt.Limit > 0
}

// anew checks s as if nothing were known, which must be so.
func (f *Follower) anew(ctx context.Context, s *isite.Site) (err error) {
	f.site = s
	if f.partial() {
		f.whole, err = checkSite(ctx, s, f.opt)
		return err
	}
	if f.told.ignore, err = compileIgnores(f.opt.Ignore); err != nil {
		return err
	}
	f.count.reasons, f.told.reasons = map[Code]int{}, map[Code]int{}
	f.demands, f.bad = make([]demand, s.Pages()), make([]bool, s.Pages())
	f.was, f.is = newTally(s), newTally(s)
	f.targets, f.pages, f.examples = map[isite.PageID]*target{}, map[isite.PageID]*judged{}, map[isite.PageID]*example{}
	again, err := f.countAll(ctx, s)
	if err != nil {
		return err
	}
	all := make([]isite.PageID, s.Pages())
	for id := range all {
		all[id] = isite.PageID(id)
		if _, ok := again[isite.PageID(id)]; !ok && hasFaults(s, isite.PageID(id)) {
			again[isite.PageID(id)] = nil
		}
	}
	return f.tell(ctx, s, &isite.Change{}, all, nil, again, nil)
}

// Findings returns what [Result.Findings] of [Run] would hold. They must not be
// changed: they are shared with the Follower.
func (f *Follower) Findings() []Finding {
	if f.whole != nil {
		return f.whole.Findings
	}
	n := 0
	for _, p := range f.pages {
		n += len(p.listed)
	}
	all, more := make([]Finding, 0, n+len(f.examples)+len(f.listed)), []Finding(nil)
	for _, id := range slices.Sorted(maps.Keys(f.pages)) {
		all = append(all, f.pages[id].listed...)
	}
	for _, e := range f.examples {
		more = append(more, e.listed...)
	}
	for _, p := range f.left {
		all = append(all, p.listed...)
	}
	for _, e := range f.leftOver {
		more = append(more, e.listed...)
	}
	return merge(all, append(more, f.listed...))
}

// Result returns what [Run] would return now. Its findings must not be changed.
func (f *Follower) Result() *Result {
	if f.whole != nil {
		return f.whole
	}
	r := &Result{Findings: f.Findings(), Summary: f.summary()}
	r.scripts = reportsScripts(&r.Summary, f.opt)
	return r
}

// Counts returns how many of the findings are errors, and how many warnings.
func (f *Follower) Counts() (errors, warnings int) {
	if f.whole == nil {
		return f.told.broken, f.told.doubtful
	}
	for i := range f.whole.Findings {
		if f.whole.Findings[i].Verdict == Error {
			errors++
		} else {
			warnings++
		}
	}
	return errors, warnings
}

// summary adds up what is known.
func (f *Follower) summary() Summary {
	sum := f.told.sum
	reasons := maps.Clone(f.told.reasons)
	sum.tallied(&f.count, reasons)
	for _, t := range f.targets {
		reasons[ScriptFragment] += len(t.script)
	}
	f.files.sum(f.site, &sum)
	sum.reason(reasons)
	sum.UnusedIgnores = f.told.ignore.unused()
	return sum
}
