package report

import (
	"cmp"
	"slices"

	"github.com/sitelink/sitelink/check"
)

// pick is a finding worth showing where there is room for few.
type pick struct {
	finding *check.Finding
	index   int // into the findings of the result
	// pages are the pages with the same broken target, this one included, when
	// the pick stands for all of them; else 0.
	pages int
}

// best returns the n findings of verdict v that a reader should see first, best
// first: one for each target, those that break on most pages first, since one
// repair removes them all; then, while there is room, the others in their
// order.
func best(findings []check.Finding, v check.Verdict, n int) []pick {
	type target struct {
		pick
		last string // page counted last
	}
	byKey := map[topKey]*target{}
	var firsts []*target
	var others []pick
	for i := range findings {
		f := &findings[i]
		if f.Verdict != v {
			continue
		}
		key, ok := keyOf(f)
		if !ok { // a fault of a file: like no other
			firsts = append(firsts, &target{pick{f, i, 1}, f.Page})
			continue
		}
		t := byKey[key]
		switch {
		case t == nil:
			t = &target{pick{f, i, 1}, f.Page}
			byKey[key] = t
			firsts = append(firsts, t)
		case len(others) < n:
			others = append(others, pick{f, i, 0})
		}
		if t.last != f.Page {
			t.pages++
			t.last = f.Page
		}
	}
	slices.SortStableFunc(firsts, func(a, b *target) int { return cmp.Compare(b.pages, a.pages) })
	picks := make([]pick, 0, min(n, len(firsts)+len(others)))
	for _, t := range firsts[:min(n, len(firsts))] {
		picks = append(picks, t.pick)
	}
	return append(picks, others[:min(n-len(picks), len(others))]...)
}

// count returns the number of findings of verdict v.
func count(findings []check.Finding, v check.Verdict) (n int) {
	for i := range findings {
		if findings[i].Verdict == v {
			n++
		}
	}
	return n
}
