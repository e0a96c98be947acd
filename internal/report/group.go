package report

import (
	"cmp"
	"slices"

	"github.com/sitelink/sitelink/check"
)

// group holds the findings below one heading.
type group struct {
	// label is the page, the target, the code or the owners; "" if a finding
	// has none.
	label string
	// code is set for groups of targets, because a target can be wrong in two
	// ways.
	code check.Code
	// findings are indexes into the findings of the result, in their order.
	findings                []int32
	errors, warnings, links int
	pages                   int
	last                    string // page counted last
}

// targetOf returns what f leads to as one text for headings, "" for a fault of
// a file or an empty link.
func targetOf(f *check.Finding) string {
	key, ok := keyOf(f)
	switch {
	case !ok:
		return ""
	case key.fragment != "":
		return key.target + "#" + key.fragment
	}
	return key.target
}

// groupFindings returns the findings below the headings that opt selects.
func groupFindings(findings []check.Finding, opt *Options) []*group {
	type key struct {
		label string
		code  check.Code
	}
	byKey := map[key]*group{}
	var groups []*group
	owners := map[string]string{}
	for i := range findings {
		f := &findings[i]
		var k key
		switch opt.GroupBy {
		case GroupTarget:
			k = key{targetOf(f), f.Code}
		case GroupCode:
			k.label = string(f.Code)
		case GroupOwner:
			k.label = opt.ownerOf(f, owners)
		default:
			k.label = f.Page
		}
		g := byKey[k]
		if g == nil {
			g = &group{label: k.label, code: k.code}
			byKey[k] = g
			groups = append(groups, g)
		}
		g.add(int32(i), f)
	}
	switch opt.GroupBy {
	case GroupTarget:
		slices.SortStableFunc(groups, func(a, b *group) int {
			return cmp.Or(bySeverity(a, b), lastIf(a.label == "", b.label == ""), cmp.Compare(b.pages, a.pages), cmp.Compare(b.links, a.links),
				cmp.Compare(a.label, b.label), cmp.Compare(a.code, b.code))
		})
	case GroupCode:
		slices.SortStableFunc(groups, func(a, b *group) int {
			return cmp.Or(bySeverity(a, b), cmp.Compare(len(b.findings), len(a.findings)), cmp.Compare(a.label, b.label))
		})
	case GroupOwner:
		slices.SortStableFunc(groups, func(a, b *group) int {
			return cmp.Or(lastIf(a.label == "", b.label == ""), cmp.Compare(len(b.findings), len(a.findings)), cmp.Compare(a.label, b.label))
		})
	}
	return groups
}

func (g *group) add(i int32, f *check.Finding) {
	g.findings = append(g.findings, i)
	g.links += max(1, f.Count)
	if f.Verdict == check.Error {
		g.errors++
	} else {
		g.warnings++
	}
	if g.pages == 0 || g.last != f.Page { // findings come sorted by page
		g.pages++
		g.last = f.Page
	}
}

// ownerOf returns the owners of f. seen caches them by file, because there are
// far fewer files than findings.
func (o *Options) ownerOf(f *check.Finding, seen map[string]string) string {
	if o.Owners == nil {
		return ""
	}
	file, _, _ := o.filePosition(f)
	owner, ok := seen[file]
	if !ok {
		owner = o.Owners(file)
		seen[file] = owner
	}
	return owner
}

// bySeverity sorts groups with an error first.
func bySeverity(a, b *group) int { return lastIf(a.errors == 0, b.errors == 0) }

// lastIf sorts what is true after what is false.
func lastIf(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// bestFinding is a finding to show when there is room for few.
type bestFinding struct {
	finding *check.Finding
	index   int // into the findings of the result
	// pages counts the pages with the same broken target, including this one,
	// if the finding represents all of them; otherwise it is 0.
	pages int
}

// bestFindings returns the n findings with verdict v that a reader should see
// first. First come one finding for each target, most pages first, because one
// repair fixes them all; then, if there is room, the others in their order.
func bestFindings(findings []check.Finding, v check.Verdict, n int) []bestFinding {
	type target struct {
		bestFinding
		last string // page counted last
	}
	byKey := map[topKey]*target{}
	var firsts []*target
	var others []bestFinding
	for i := range findings {
		f := &findings[i]
		if f.Verdict != v {
			continue
		}
		key, ok := keyOf(f)
		if !ok { // a fault of a file is in no group
			firsts = append(firsts, &target{bestFinding{f, i, 1}, f.Page})
			continue
		}
		t := byKey[key]
		switch {
		case t == nil:
			t = &target{bestFinding{f, i, 1}, f.Page}
			byKey[key] = t
			firsts = append(firsts, t)
		case len(others) < n:
			others = append(others, bestFinding{f, i, 0})
		}
		if t.last != f.Page {
			t.pages++
			t.last = f.Page
		}
	}
	slices.SortStableFunc(firsts, func(a, b *target) int { return cmp.Compare(b.pages, a.pages) })
	chosen := make([]bestFinding, 0, min(n, len(firsts)+len(others)))
	for _, t := range firsts[:min(n, len(firsts))] {
		chosen = append(chosen, t.bestFinding)
	}
	return append(chosen, others[:min(n-len(chosen), len(others))]...)
}

// count returns the number of findings with verdict v.
func count(findings []check.Finding, v check.Verdict) (n int) {
	for i := range findings {
		if findings[i].Verdict == v {
			n++
		}
	}
	return n
}

// maxRepeats is how many links through one redirect text lists. One rule or one
// template repairs all of them, and a site may have thousands: in rust-doc,
// 22,606 links lead to one alias page.
const maxRepeats = 3

// repeats decides which findings text leaves out: links that work through the
// same redirect, and what one template does wrong on every page.
type repeats struct {
	seen   map[string]int
	hidden int // links left out
	from   int // redirects that these links go through
	pages  int // findings about endpoints left out
}

// hides reports whether text leaves f out because it has listed enough like it.
func (r *repeats) hides(f *check.Finding) bool {
	if f.Code != check.ViaRedirect && !isEndpoint(f.Code) {
		return false
	}
	if r.seen == nil {
		r.seen = map[string]int{}
	}
	if isEndpoint(f.Code) {
		what := string(f.Code) + f.Message
		if r.seen[what]++; r.seen[what] > maxRepeats {
			r.pages++
			return true
		}
		return false
	}
	r.seen[f.Target]++
	n := r.seen[f.Target]
	if n <= maxRepeats {
		return false
	}
	if n == maxRepeats+1 {
		r.from++
	}
	r.hidden++
	return true
}

// append appends what was left out, if anything was.
func (r *repeats) append(dst []byte) []byte {
	if r.pages > 0 {
		dst = append(dst, '\n')
		dst = appendCount(dst, r.pages, "more finding")
		dst = append(dst, " of the same kinds about endpoints not listed: --format jsonl lists them [endpoint-]\n"...)
	}
	if r.hidden == 0 {
		return dst
	}
	dst = append(dst, '\n')
	dst = appendCount(dst, r.hidden, "more link")
	dst = append(dst, " through "...)
	dst = appendCount(dst, r.from, "redirect")
	return append(dst, " not listed: --group-by target counts them, --format jsonl lists them [via-redirect]\n"...)
}
