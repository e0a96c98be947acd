package site

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSortedFiles: the order of the tree is that of the paths as strings.
func TestSortedFiles(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		tree := newTree()
		dirs := []NodeID{0}
		for at := 0; at < len(dirs) && at < 40; at++ {
			var names []string
			for range rnd.IntN(12) {
				name := ""
				for range 1 + rnd.IntN(3) {
					name += string("-.0/ab"[rnd.IntN(6)])
				}
				if !slices.Contains([]byte(name), '/') {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			for _, name := range slices.Compact(names) {
				if rnd.IntN(2) == 0 {
					tree.add(dirs[at], name, KindFile)
				} else {
					dirs = append(dirs, tree.add(dirs[at], name, KindDir))
				}
			}
		}
		var got, want []string
		for _, id := range tree.sortedFiles() {
			got = append(got, tree.Path(id))
		}
		for id := range tree.nodes {
			if tree.nodes[id].kind == KindFile {
				want = append(want, tree.Path(NodeID(id)))
			}
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}
