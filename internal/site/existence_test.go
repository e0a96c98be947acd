package site

import (
	"math/rand/v2"
	"testing"
)

// TestExistence: what the tree tells a rule check about a path is what the
// profile says of it.
func TestExistence(t *testing.T) {
	for _, site := range fastSites(t) {
		t.Run(site.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(3, uint64(len(site.name))))
			exists := site.s.existence()
			there, bad := 0, 0
			for i := range 20000 {
				path := "/" + site.s.Tree().Path(NodeID(rnd.IntN(site.s.Tree().Len())))
				switch {
				case i%3 == 0:
					path = "/" + randomHref(rnd)
				case i%7 == 0:
					path += "/"
				case i%5 == 0:
					path += "/none/x.html"
				case i%13 == 0:
					path = "/none" + path
				case i%11 == 0:
					path = path[:rnd.IntN(len(path))+1]
				}
				got, want := exists(path), site.s.filesAnswer(path)
				if got {
					there++
				}
				if got != want && bad < 8 {
					bad++
					t.Errorf("%q: %t, want %t", path, got, want)
				}
			}
			if there < 2000 {
				t.Errorf("only %d paths are there: the test says little", there)
			}
		})
	}
}
