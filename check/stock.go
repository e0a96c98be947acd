package check

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/host"

	isite "github.com/sitelink/sitelink/internal/site"
)

// stock is what is known of all links before any page is read again.
type stock struct {
	summary Summary
	// bad lists, by page, the links to describe, in order.
	bad map[isite.PageID][]badLink
	// scripts lists the target pages whose missing fragments only scripts can
	// serve, by target.
	scripts []scriptTarget
	// scriptMisses are those links, sorted as misses are; script lists them by
	// page and in order, for the rows of Links.
	scriptMisses []miss
	script       map[isite.PageID][]badLink
	// quiet are the targets for which an ignore rule accepts them.
	quiet map[isite.PageID]bool
	// total is what all links come to, for a [Memo].
	total *tally
}

// badLink is a link to report. There may be millions.
type badLink struct {
	link uint32
	why  cause
}

type linkKey struct {
	page isite.PageID
	link uint32
}

// scriptTarget is a page with fragments that only scripts can serve.
type scriptTarget struct {
	target  isite.PageID
	example linkKey // the first link, by page and place
	missing int     // links whose fragment is not there
}

// tally is what one worker counts.
type tally struct {
	// states counts links that ask for no fragment, by state.
	states [256]int
	// ok, reasons and redirects count those that do.
	ok        int
	reasons   map[Code]int
	redirects int
	bad       badLinks
	misses    []miss
	demands   []demand
}

// badLinks are links to report with the pages that hold them.
type badLinks []pageLink

type pageLink struct {
	page isite.PageID
	badLink
}

func newTally(s *isite.Site) *tally {
	return &tally{reasons: map[Code]int{}, demands: make([]demand, s.Pages())}
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
	for i, d := range o.demands {
		t.demands[i].asked += uint32(n) * d.asked
		t.demands[i].found += uint32(n) * d.found
	}
}

// merged adds tallies of different pages, nil ones left out.
func merged(s *isite.Site, tallies []*tally) *tally {
	t := newTally(s)
	missing, broken := 0, 0
	for _, w := range tallies {
		if w != nil {
			missing, broken = missing+len(w.misses), broken+len(w.bad)
		}
	}
	t.misses, t.bad = make([]miss, 0, missing), make(badLinks, 0, broken)
	for _, w := range tallies {
		if w != nil {
			t.addCounts(w, 1)
			t.misses, t.bad = append(t.misses, w.misses...), append(t.bad, w.bad...)
		}
	}
	sortMisses(t.misses, s.Pages())
	return t
}

// takeStock judges all links from the records in memory.
func takeStock(ctx context.Context, s *isite.Site, opt Options) (*stock, error) {
	if t := opt.Memo.tally(s, opt); t != nil {
		sortMisses(t.misses, s.Pages())
		return settle(s, opt, t), nil
	}
	tallies := make([]*tally, jobs(opt, s.Pages()))
	err := eachPage(ctx, s, len(tallies), func(worker int) func(isite.PageID) error {
		t := newTally(s)
		tallies[worker] = t
		return func(id isite.PageID) error {
			if opt.scope.has(id) {
				t.page(s, id, s.Page(id), opt)
			}
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	return settle(s, opt, merged(s, tallies)), nil
}

// page judges the links of p, a version of the page with that number.
func (t *tally) page(s *isite.Site, id isite.PageID, p *isite.Page, opt Options) {
	links, asks := p.All(), p.Fragments()
	for i := range links {
		l := &links[i]
		state := s.State(l)
		if l.IsEntry() {
			if why := entryCause(s, p.Kind(), l, state); why != 0 {
				if l.HasFragment() {
					asks.Next(l)
				}
				t.add(id, uint32(i), why)
				continue
			}
		}
		if !l.HasFragment() {
			t.states[state]++
			if state.IsError() || state.IsWarning() {
				t.add(id, uint32(i), cause(state))
			}
			continue
		}
		ask := asks.Next(l)
		if !state.Answers() {
			t.states[state]++
			t.add(id, uint32(i), cause(state))
			continue
		}
		t.asking(s, id, i, l, state, &ask, opt)
	}
}

// asking judges a link that asks for a fragment of a file that is there.
func (t *tally) asking(s *isite.Site, id isite.PageID, i int, l *isite.Link, state host.State, ask *isite.Fragment, opt Options) {
	if state == host.StateRedirect {
		t.redirects++
	}
	why, unchecked, m := t.fragment(s, l, ask, opt)
	if m != found {
		// Counted when it is known what the fragment is.
		target, _ := s.PageOf(l.Node)
		t.misses = append(t.misses, miss{target: target, page: id, link: uint32(i), why: m, state: state})
		return
	}
	switch {
	case why != 0:
		t.add(id, uint32(i), why)
	case state.IsWarning():
		t.add(id, uint32(i), cause(state))
	case unchecked != "":
		t.reasons[unchecked]++
	default:
		t.ok++
	}
}

func (t *tally) add(page isite.PageID, link uint32, why cause) {
	t.bad = append(t.bad, pageLink{page, badLink{link, why}})
}

// fragment looks for what a link asks of a file that is there. why is set when
// that is an error for sure, unchecked when it was not looked for.
func (t *tally) fragment(s *isite.Site, l *isite.Link, ask *isite.Fragment, opt Options) (why cause, unchecked Code, m lookup) {
	if opt.NoFragments {
		return 0, "", found
	}
	target, ok := s.PageOf(l.Node)
	if unchecked = uncheckedOn(s, target, ok, opt); unchecked != "" {
		return 0, unchecked, found
	}
	p := s.Page(target)
	if l.IsMap() {
		if !p.Has(ask.Exact) {
			why = causeMap
		}
		return why, "", found
	}
	m = find(p, ask)
	if m != missingRoute && m != missingRange {
		d := &t.demands[target]
		d.asked++
		if m == found {
			d.found++
		}
	}
	return 0, "", m
}

// uncheckedFragment says why no fragment can be looked for in the file that
// answers l; empty when one can.
func uncheckedFragment(s *isite.Site, l *isite.Link, opt Options) Code {
	target, ok := s.PageOf(l.Node)
	return uncheckedOn(s, target, ok, opt)
}

// uncheckedOn is uncheckedFragment for a file that is this page, or none.
func uncheckedOn(s *isite.Site, target isite.PageID, isPage bool, opt Options) Code {
	switch {
	case !isPage || !s.Page(target).Kind().HasAnchors():
		return NotHTML
	case s.Page(target).Error().Err != nil:
		return NotScanned
	case !opt.scope.has(target): // A-LL-11
		return Skipped
	}
	return ""
}

// settle decides about fragments, and adds up.
func settle(s *isite.Site, opt Options, w *tally) *stock {
	t := &stock{}
	sum := &t.summary
	reasons := map[Code]int{}
	sum.tallied(w, reasons)
	misses, bad := w.misses, slices.Clip(w.bad)
	t.scriptMisses = misses[:0] // those looked at make room
	if opt.Memo != nil {
		t.total, t.scriptMisses = w, nil
	}
	for _, m := range misses {
		if !onlyScripts(s, m.target, m.why, w.demands[m.target], opt.ScriptFragments) {
			bad = append(bad, pageLink{m.page, badLink{m.link, causeFragment}})
			continue
		}
		if m.state.IsWarning() { // the path alone is worth one
			bad = append(bad, pageLink{m.page, badLink{m.link, cause(m.state)}})
			continue
		}
		reasons[ScriptFragment]++
		t.scriptMisses = append(t.scriptMisses, m)
	}
	t.bad = bad.byPage(s.Pages())
	t.scripts = scriptTargets(s, t.scriptMisses, t.bad)
	for i := range bad {
		if bad[i].why.judgement().verdict == Error {
			sum.Errors++
		} else {
			sum.Warnings++
		}
	}
	files := &fileSums{}
	for i := range s.Pages() {
		files.add(s, isite.PageID(i), opt.scope.has(isite.PageID(i)))
	}
	files.sum(s, sum)
	if opt.scope != nil {
		sum.Skipped = opt.scope.skipped
	}
	sum.reason(reasons)
	return t
}

// tallied adds the links whose judgement is final, and to reasons those that
// were not checked.
func (sum *Summary) tallied(w *tally, reasons map[Code]int) {
	sum.OK += w.ok
	sum.Redirected += w.redirects + w.states[host.StateRedirect]
	for state, n := range w.states {
		switch j := judgementOf[state]; {
		case n == 0:
		case j.verdict == OK:
			sum.OK += n
		case j.verdict == Unchecked:
			reasons[j.code] += n
		}
	}
	for c, n := range w.reasons {
		reasons[c] += n
	}
}

// reason adds what was not checked, with the reasons.
func (sum *Summary) reason(reasons map[Code]int) {
	for c, n := range reasons {
		if n != 0 {
			sum.Unchecked += n
			sum.Reasons = append(sum.Reasons, Reason{c, n})
		}
	}
	sortReasons(sum)
}

// scriptTargets groups misses, sorted by target, and picks an example for each
// target: on a page that is read again anyway if there is one, else on the
// smallest. On rust-doc the first link of each would read twice as many pages.
func scriptTargets(s *isite.Site, misses []miss, bad map[isite.PageID][]badLink) []scriptTarget {
	var out []scriptTarget
	chosen := map[isite.PageID]bool{}
	again := func(id isite.PageID) bool {
		_, bad := bad[id]
		return bad || chosen[id]
	}
	for len(misses) > 0 {
		n := targetEnd(misses)
		best, ok := firstOn(misses[:n], again)
		if !ok {
			best = smallest(s, misses[:n])
		}
		chosen[best.page] = true
		out = append(out, best.scriptTarget(n))
		misses = misses[n:]
	}
	return out
}

// targetEnd returns how many of the first misses have one target.
func targetEnd(all []miss) int {
	n := 1
	for n < len(all) && all[n].target == all[0].target {
		n++
	}
	return n
}

// firstOn returns the first of some misses that is on one of these pages.
func firstOn(misses []miss, has func(isite.PageID) bool) (miss, bool) {
	for _, m := range misses {
		if has(m.page) {
			return m, true
		}
	}
	return miss{}, false
}

// smallest returns the first of some misses on the smallest page.
func smallest(s *isite.Site, misses []miss) miss {
	best := misses[0]
	for _, m := range misses {
		if s.Page(m.page).Size() < s.Page(best.page).Size() {
			best = m
		}
	}
	return best
}

// scriptTarget is what is said of the target of m, the example of n misses.
func (m miss) scriptTarget(n int) scriptTarget {
	return scriptTarget{target: m.target, example: linkKey{m.page, m.link}, missing: n}
}

func addReason(sum *Summary, c Code, n int) {
	for i := range sum.Reasons {
		if sum.Reasons[i].Code == c {
			if sum.Reasons[i].Count += n; sum.Reasons[i].Count == 0 {
				sum.Reasons = slices.Delete(sum.Reasons, i, i+1)
			}
			sortReasons(sum)
			return
		}
	}
	if n > 0 {
		sum.Reasons = append(sum.Reasons, Reason{c, n})
		sortReasons(sum)
	}
}

func sortReasons(sum *Summary) {
	slices.SortFunc(sum.Reasons, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(string(a.Code), string(b.Code)))
	})
}
