package check

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan/script"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/site"
)

// Run judges every link of s and returns the findings, sorted by page, offset
// and code. It reads again only the pages that have findings.
//
// Broken links are not an error. An error means that Run could not do its work,
// or is the cause of ctx. Several calls may run at the same time for one site.
func Run(ctx context.Context, s *site.Site, opt Options) (*Result, error) {
	return checkSite(ctx, isite.Unwrap(s), opt)
}

func checkSite(ctx context.Context, s *isite.Site, opt Options) (*Result, error) {
	ignore, err := newIgnoreRules(&opt)
	if err != nil {
		return nil, err
	}
	if opt.scope, err = scopeOf(ctx, s, opt); err != nil {
		return nil, err
	}
	j, err := judgeLinks(ctx, s, opt)
	if err != nil {
		return nil, err
	}
	found, err := describe(ctx, s, opt, j, ignore)
	if err != nil {
		return nil, err
	}
	more, err := fileFindings(ctx, s, opt, &j.summary)
	if err != nil {
		return nil, err
	}
	sum := &j.summary
	all := mergeFindings(found, more)
	if len(opt.Ignore) > 0 {
		all = slices.DeleteFunc(all, func(f Finding) bool {
			ignored := ignore.match(&f)
			if ignored {
				sum.ignore(&f, ignore.endpoint)
			}
			return ignored
		})
	}
	_, relative := s.Advice()
	r := conclude(joinFeedRelative(all, relative), sum, ignore, opt)
	r.others = askOthers(s, r.Findings)
	r.hostDecides()
	return r, nil
}

// conclude makes a result of findings, which are sorted, and of what is known of
// links.
func conclude(findings []Finding, sum *Summary, ignore *ignoreRules, opt Options) *Result {
	for i := range findings {
		if isFileFault(&findings[i]) {
			sum.addFault(&findings[i], 1)
		}
	}
	sum.UnusedIgnores = ignore.unused()
	if note := ownAnchorNote(findings); note != "" {
		sum.Notes = append(sum.Notes, note)
	}
	return &Result{
		Findings: findings,
		Summary:  *sum,
		scripts:  opt.ScriptFragments == ScriptWarn && sum.reportsScripts(),
	}
}

// judged is what is known of all links from the records in memory, before any
// page is read again.
type judged struct {
	summary Summary
	// bad lists the links to report, by page and in order.
	bad map[isite.PageID][]badLink
	// scriptMisses are the links with fragments that are left to scripts, in
	// the order of misses. evidence says why, and scripts are the targets to
	// report.
	scriptMisses []miss
	evidence     []evidence
	scripts      []scriptTarget
}

// badLink is a link to report. There may be millions.
type badLink struct {
	link  uint32
	state state
	// evidence is set for the links of scriptMisses only.
	evidence uint16
}

// pageLink is a link to report with the page that holds it.
type pageLink struct {
	page isite.PageID
	badLink
}

// judgeLinks judges all links from the records in memory.
func judgeLinks(ctx context.Context, s *isite.Site, opt Options) (*judged, error) {
	var tallies []*tally
	err := s.Each(ctx, opt.Jobs, s.Pages(), func(*isite.Reader) func(int) error {
		t := newTally(s, &opt)
		tallies = append(tallies, t)
		return func(i int) error {
			if id := isite.PageID(i); opt.scope.has(id) {
				// p may be another version of the page with that number.
				p := s.Page(id)
				links, fragments := p.All(), p.Fragments()
				var fragment isite.Fragment
				for i := range links {
					l := &links[i]
					answer := t.s.State(l)
					if l.HasFragment() {
						fragment = fragments.Next(l)
					}
					var entry state
					if l.IsEntry() {
						entry = entryState(t.s, p.Kind(), l, answer)
					}
					at := linkPlace{id, uint32(i)}
					switch {
					case l.IsExempt():
						t.reasons[Exempted]++
					case entry != 0:
						t.report(at, entry)
					case l.HasFragment() && answer.Answers():
						t.addFragment(at, l, answer, &fragment)
					default:
						t.states[answer]++
						if answer.IsError() || answer.IsWarning() || l.HasFragment() {
							t.report(at, state(answer))
						}
					}
				}
			}
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	return newJudged(ctx, mergeTallies(s, &opt, tallies))
}

// tally counts the links of some pages.
type tally struct {
	s   *isite.Site
	opt *Options
	// states counts the links that ask for no fragment.
	states [256]int
	// ok, reasons and redirects count those that do: the links that are fine,
	// those that were not checked, and those that the host redirects.
	ok        int
	reasons   map[Code]int
	redirects int
	bad       []pageLink
	misses    []miss
	// lines holds the lines of files of a repository, as the hashes of their fragments.
	lines map[docroot.NodeID]map[uint64]bool
	// kept counts the links of bad, and beyond those that are only counted, by verdict.
	kept, beyond [Warning + 1]int
}

func newTally(s *isite.Site, opt *Options) *tally {
	return &tally{s: s, opt: opt, reasons: map[Code]int{}, lines: map[docroot.NodeID]map[uint64]bool{}}
}

// mergeTallies adds up tallies of different pages. The misses are sorted.
func mergeTallies(s *isite.Site, opt *Options, tallies []*tally) *tally {
	sum := newTally(s, opt)
	misses, bad := 0, 0
	for _, t := range tallies {
		misses, bad = misses+len(t.misses), bad+len(t.bad)
	}
	sum.misses, sum.bad = make([]miss, 0, misses), make([]pageLink, 0, bad)
	for _, t := range tallies {
		sum.ok, sum.redirects = sum.ok+t.ok, sum.redirects+t.redirects
		for i, n := range t.states {
			sum.states[i] += n
		}
		for c, n := range t.reasons {
			sum.reasons[c] += n
		}
		for v, n := range t.beyond {
			sum.beyond[v] += n
		}
		sum.misses, sum.bad = append(sum.misses, t.misses...), append(sum.bad, t.bad...)
	}
	sortMisses(sum.misses, s.Pages())
	if opt.counts() { // each worker has kept the first of its own pages
		all := sum.bad
		slices.SortStableFunc(all, func(a, b pageLink) int { return cmp.Compare(a.page, b.page) })
		sum.bad = make([]pageLink, 0, min(len(all), 2*opt.MaxFindings))
		for _, b := range all {
			sum.report(linkPlace{b.page, b.link}, b.state)
		}
	}
	return sum
}

// linkPlace is a link of a page.
type linkPlace struct {
	page isite.PageID
	link uint32
}

// addFragment judges a link that asks for a fragment of a file that is there.
func (t *tally) addFragment(at linkPlace, l *isite.Link, answer host.State, fragment *isite.Fragment) {
	if answer == host.StateRedirect {
		t.redirects++
	}
	var unchecked Code
	if !t.opt.NoFragments {
		unchecked = uncheckedFragment(t.s, l.Node, t.opt)
	}
	if fragment.Form == script.FormLines && !t.opt.NoFragments && t.s.Profile().Forge != nil {
		switch {
		case t.hasLine(l.Node, fragment):
			t.ok++
			return
		case unchecked == NotHTML:
			t.report(at, stateNoFragment)
			return
		}
	}
	if !t.opt.NoFragments && unchecked == "" {
		target, _ := t.s.PageOf(l.Node)
		p := t.s.Page(target)
		if l.IsMap() {
			if !p.Has(fragment.Exact) {
				t.report(at, stateNoMap)
				return
			}
		} else if own := t.s.Page(at.page); own.HasBase() && hasFragment(own, fragment) && t.s.Path(at.page) == "404.html" {
			// A heading that links to itself. The error page needs its base element,
			// because hosts answer any address with it.
		} else if !hasFragment(p, fragment) {
			if l.IsFont() {
				t.report(at, stateNoFont)
				return
			}
			// Counted when all links to the target are known.
			t.misses = append(t.misses, newMiss(target, at, answer, fragment))
			return
		}
	}
	switch {
	case answer.IsWarning():
		t.report(at, state(answer))
	case unchecked != "":
		t.reasons[unchecked]++
	default:
		t.ok++
	}
}

// hasLine reports whether a file of a repository has the line that a fragment names, L10, or
// both ends of the range L10-L20.
func (t *tally) hasLine(node docroot.NodeID, fragment *isite.Fragment) bool {
	lines := t.lines[node]
	if lines == nil {
		r := t.s.NewReader()
		defer r.Close()
		text, err := r.File(node, maxScriptBytes)
		if err != nil {
			return true // its size is not known
		}
		lines = map[uint64]bool{}
		for i := range bytes.Count(append(text, '\n'), []byte("\n")) {
			f, _ := t.s.ParseFragment(fmt.Sprintf("L%d", i+1))
			lines[f.Exact] = true
		}
		t.lines[node] = lines
	}
	return lines[fragment.Exact] || lines[fragment.From] && lines[fragment.To]
}

// report takes a bad link. Of those beyond the limit, it keeps only the number.
func (t *tally) report(at linkPlace, st state) {
	if t.opt.counts() {
		v := Warning
		if decisions[st].verdict == Error {
			v = Error
		}
		if t.kept[v] == t.opt.MaxFindings {
			t.beyond[v]++
			return
		}
		t.kept[v]++
	}
	t.bad = append(t.bad, pageLink{at.page, badLink{link: at.link, state: st}})
}

// newJudged decides about missing fragments, and makes the summary.
func newJudged(ctx context.Context, t *tally) (*judged, error) {
	s, opt := t.s, t.opt
	j := &judged{}
	a := newAttributor(s, opt)
	if err := a.attribute(ctx, t.misses); err != nil {
		return nil, err
	}
	j.evidence = a.evidence
	sum := &j.summary
	reasons := map[Code]int{}
	// The verdict of these links is final.
	sum.OK += t.ok
	sum.Redirected += t.redirects + t.states[host.StateRedirect]
	for s, n := range t.states {
		switch d := decisions[s]; {
		case n == 0:
		case d.verdict == OK:
			sum.OK += n
		case d.verdict == Unchecked:
			reasons[d.code] += n
		}
	}
	for c, n := range t.reasons {
		reasons[c] += n
	}
	bad := slices.Clip(t.bad)
	j.scriptMisses = t.misses[:0] // overwrites only what was looked at
	for _, m := range t.misses {
		switch {
		case m.evidence == 0:
			bad = append(bad, pageLink{m.page, badLink{link: m.link, state: stateNoFragment}})
		case m.answer.IsWarning(): // the path alone deserves one
			bad = append(bad, pageLink{m.page, badLink{link: m.link, state: state(m.answer)}})
		default:
			reasons[ScriptFragment]++
			if j.evidence[m.evidence].stated {
				sum.statedScripts++
			}
			j.scriptMisses = append(j.scriptMisses, m)
		}
	}
	for i := range bad {
		if decisions[bad[i].state].verdict == Error {
			sum.Errors++
		} else {
			sum.Warnings++
		}
	}
	sum.UnlistedErrors, sum.UnlistedWarnings = t.beyond[Error], t.beyond[Warning]
	sum.Errors, sum.Warnings = sum.Errors+t.beyond[Error], sum.Warnings+t.beyond[Warning]
	j.bad = groupByPage(bad, s.Pages())
	t.bad, t.misses = nil, nil // there may be millions
	j.scripts, sum.ScriptFragments = scriptTargets(s, j.scriptMisses, j.evidence, j.bad)
	sum.addFiles(s, opt.scope)
	for c, n := range reasons {
		sum.addUnchecked(c, n)
	}
	for i, r := range opt.ScriptRules {
		if !a.usedRule[i] {
			sum.Notes = append(sum.Notes, r.Origin+": [[script-fragments]] matches no missing fragment; remove it")
		}
	}
	return j, nil
}

// sortMisses sorts misses by target, page and link. It counts instead of
// comparing: rust-doc has 107,000 misses. Together with groupByPage that takes
// 8 ms on rust-doc, where comparing took 35 ms on one core.
func sortMisses(misses []miss, pages int) {
	if len(misses) > pages/8 && !slices.IsSortedFunc(misses, compareMisses) {
		// The misses of each page are together already, in the order of its links.
		other := make([]miss, len(misses))
		starts := make([]uint32, pages+1)
		countingSort(other, misses, starts, func(m *miss) isite.PageID { return m.page })
		clear(starts)
		countingSort(misses, other, starts, func(m *miss) isite.PageID { return m.target })
	}
	if !slices.IsSortedFunc(misses, compareMisses) {
		slices.SortFunc(misses, compareMisses)
	}
}

// countingSort copies from to to, sorted by page; elements of the same page
// keep their order. starts must be zero and one longer than the number of pages.
// On return it holds where the elements of each page begin.
func countingSort[T any](to, from []T, starts []uint32, page func(*T) isite.PageID) {
	for i := range from {
		starts[page(&from[i])+1]++
	}
	for i := 1; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	for i := range from {
		at := &starts[page(&from[i])]
		to[*at] = from[i]
		*at++
	}
	copy(starts[1:], starts)
	starts[0] = 0
}

// groupByPage groups links by page, sorted by link.
func groupByPage(links []pageLink, pages int) map[isite.PageID][]badLink {
	sorted := make([]pageLink, len(links))
	starts := make([]uint32, pages+1)
	countingSort(sorted, links, starts, func(l *pageLink) isite.PageID { return l.page })
	all := make([]badLink, len(links)) // the groups are parts of it
	n := 0
	for i := range sorted {
		all[i] = sorted[i].badLink
		if i == 0 || sorted[i].page != sorted[i-1].page {
			n++
		}
	}
	out := make(map[isite.PageID][]badLink, n)
	byLink := func(a, b badLink) int { return cmp.Compare(a.link, b.link) }
	for id := range pages {
		from, to := starts[id], starts[id+1]
		if from == to {
			continue
		}
		bad := all[from:to:to]
		if !slices.IsSortedFunc(bad, byLink) {
			slices.SortFunc(bad, byLink)
		}
		out[isite.PageID(id)] = bad
	}
	return out
}
