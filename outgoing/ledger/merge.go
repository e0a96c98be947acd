package ledger

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Merge merges three states of a ledger, as a merge driver of git does: what
// both sides made of base. It cannot conflict: of a row that only one side
// changed its change counts, of one that both changed the one that is further
// along (see docs/reference/ledger.md). The merged file is written to w. names are for
// messages; what could not be read is returned.
func Merge(w io.Writer, base, ours, theirs []byte, names [3]string) ([]Fault, error) {
	var sides [3]*parsed
	var faults []Fault
	for i, text := range [][]byte{base, ours, theirs} {
		p, err := parse(names[i], string(text))
		if err != nil {
			return nil, err
		}
		sides[i] = p
		if i > 0 {
			faults = append(faults, p.faults...)
		}
	}
	if a, b := sides[1].base, sides[2].base; a != b && a != "" && b != "" {
		return faults, fmt.Errorf("merge %s: it belongs to %s, the other side to %s", names[1], a, b)
	}
	return faults, merge3(sides[0].book, sides[1].book, sides[2].book).write(w)
}

// merge3 merges two books that came from base.
func merge3(base, ours, theirs *book) *book {
	m := newBook()
	m.base = ours.base
	if m.base == "" {
		m.base = theirs.base
	}
	m.pages = mergeRows(base.pages, ours.pages, theirs.pages, func(p Page) string { return p.URL }, furtherPage, comparePages)
	m.links = mergeRows(base.links, ours.links, theirs.links, func(l Link) Link { return l }, func(a, _ Link) Link { return a }, compareLinks)
	m.peers = mergeRows(base.peers, ours.peers, theirs.peers, func(p Peer) [2]string { return [2]string{p.Origin, string(p.Protocol)} },
		furtherPeer, comparePeers)
	mergeMaps(m.notices, base.notices, ours.notices, theirs.notices, further, func(a, b Notice) bool {
		return bytes.Equal(appendNotice(nil, &a), appendNotice(nil, &b)) // Fault is a pointer
	})
	m.settleTwins()
	return m
}

// mergeRows merges three sorted lists.
func mergeRows[K comparable, T comparable](base, ours, theirs []T, key func(T) K, choose func(a, b T) T, compare func(a, b T) int) []T {
	index := func(rows []T) map[K]T {
		m := make(map[K]T, len(rows))
		for _, r := range rows {
			m[key(r)] = r
		}
		return m
	}
	all := map[K]T{}
	mergeMaps(all, index(base), index(ours), index(theirs), choose, func(a, b T) bool { return a == b })
	return slices.SortedFunc(maps.Values(all), compare)
}

func mergeMaps[K comparable, T any](into, base, ours, theirs map[K]T, choose func(a, b T) T, equal func(a, b T) bool) {
	for k, our := range ours {
		their, inTheirs := theirs[k]
		before, inBase := base[k]
		switch {
		case !inTheirs && inBase && equal(our, before): // they removed what we left alone
		case !inTheirs:
			into[k] = our
		case inBase && equal(our, before):
			into[k] = their
		case inBase && equal(their, before):
			into[k] = our
		default:
			into[k] = choose(our, their)
		}
	}
	for k, their := range theirs {
		if _, inOurs := ours[k]; inOurs {
			continue
		}
		if before, inBase := base[k]; !inBase || !equal(their, before) {
			into[k] = their
		}
	}
}
