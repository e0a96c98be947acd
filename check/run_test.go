package check

import (
	"math/rand/v2"
	"slices"
	"testing"

	isite "github.com/sitelink/sitelink/internal/site"
)

// TestSortMisses: counting gives the same order as comparing, however the
// workers shared the pages and in whatever order the misses arrive.
func TestSortMisses(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	const pages = 50
	for round := range 20 {
		var misses []miss
		for _, page := range rnd.Perm(pages) {
			for link := range rnd.IntN(10) {
				misses = append(misses, miss{target: isite.PageID(rnd.IntN(pages)), page: isite.PageID(page), link: uint32(link)})
			}
		}
		if round%4 == 3 {
			rnd.Shuffle(len(misses), func(i, j int) { misses[i], misses[j] = misses[j], misses[i] })
		}
		want := slices.Clone(misses)
		slices.SortFunc(want, compareMisses)
		if sortMisses(misses, pages); !slices.Equal(misses, want) {
			t.Fatalf("round %d: not sorted", round)
		}
	}
}

// TestByPage: each link is listed with its page, in order, and none is lost.
func TestByPage(t *testing.T) {
	bad := []pageLink{{3, badLink{2, 1, 0}}, {3, badLink{7, 2, 0}}, {0, badLink{5, 3, 0}}, {3, badLink{1, 4, 0}}}
	got := groupByPage(bad, 5)
	if len(got) != 2 || !slices.Equal(got[3], []badLink{{1, 4, 0}, {2, 1, 0}, {7, 2, 0}}) || !slices.Equal(got[0], []badLink{{5, 3, 0}}) {
		t.Errorf("got %v", got)
	}
	if got := append(got[0], badLink{9, 9, 0}); got[0].link != 5 || groupByPage(bad, 5)[3][0].link != 1 {
		t.Error("pages share room")
	}
	if len(groupByPage(nil, 3)) != 0 {
		t.Error("out of nothing")
	}
}
