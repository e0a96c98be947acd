package check

import (
	"cmp"
	"slices"

	isite "github.com/sitelink/sitelink/internal/site"
)

// sortMisses sorts misses by target, page and link, in place of comparisons by
// counting: rust-doc has 107,000. With the links to report, takeStock kept one core
// busy for 35 ms at its end, and now does for 8.
func sortMisses(misses []miss, pages int) {
	if len(misses) > pages/8 && !slices.IsSortedFunc(misses, compareMisses) {
		// Each page's stand together, in the order of its links.
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

// countingSort copies from to to, by page; what has the same page keeps its
// order. starts is zero, one longer than there are pages, and holds on return
// where each page's begin.
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

// byPage groups links to report by page, sorted by link: parts of one slice.
func (b badLinks) byPage(pages int) map[isite.PageID][]badLink {
	sorted := make(badLinks, len(b))
	starts := make([]uint32, pages+1)
	countingSort(sorted, b, starts, func(b *pageLink) isite.PageID { return b.page })
	all := make([]badLink, len(b))
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

// scriptLinks are the links of misses.
func scriptLinks(misses []miss) badLinks {
	out := make(badLinks, len(misses))
	for i := range misses {
		out[i] = pageLink{misses[i].page, badLink{link: misses[i].link}}
	}
	return out
}
