package source

import (
	"bytes"
	"sort"
)

// regions knows which parts of a page are navigation and which are what the
// page is about, by the elements that HTML has for that.
type regions struct {
	starts []int // offsets at which what counts changes
	counts []int
}

// What a place speaks for.
const (
	inMain       = 2
	inNavigation = -6
)

var regionTags = []struct {
	name       string
	navigation bool
}{{"nav", true}, {"footer", true}, {"header", true}, {"aside", true}, {"main", false}, {"article", false}}

// findRegions looks for the tags, wherever they stand: a wrong one shifts a
// weight, no more.
func findRegions(text []byte) regions {
	r := regions{starts: []int{0}, counts: []int{0}}
	navigation, main := 0, 0
	for i := 0; i < len(text); {
		n := bytes.IndexByte(text[i:], '<')
		if n < 0 || i+n+2 >= len(text) {
			break
		}
		i += n + 1
		rest, step := text[i:], 1
		if rest[0] == '/' {
			rest, step = rest[1:], -1
		}
		for _, t := range regionTags {
			if !bytes.HasPrefix(rest, []byte(t.name)) || len(rest) > len(t.name) && !isTagEnd(rest[len(t.name)]) {
				continue
			}
			if t.navigation {
				navigation = max(0, navigation+step)
			} else {
				main = max(0, main+step)
			}
			count := 0
			switch {
			case navigation > 0:
				count = inNavigation
			case main > 0:
				count = inMain
			}
			r.starts, r.counts = append(r.starts, i), append(r.counts, count)
			break
		}
	}
	return r
}

func isTagEnd(c byte) bool {
	return c == '>' || c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '/'
}

func (r regions) at(off int) int {
	i := sort.SearchInts(r.starts, off+1) - 1
	return r.counts[i]
}
