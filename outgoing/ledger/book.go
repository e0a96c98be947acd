package ledger

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// book is a ledger in memory. Its slices are sorted and never changed in place,
// so that a snapshot may share them; the map of notices belongs to the store.
type book struct {
	base    string
	pages   []Page
	links   []Link
	notices map[Key]Notice
	peers   []Peer
}

func newBook() *book { return &book{notices: map[Key]Notice{}} }

// clone returns a book that can be changed without changing b.
func (b *book) clone() *book {
	c := *b
	c.notices = maps.Clone(b.notices)
	return &c
}

// apply makes a change: see [Change].
func (b *book) apply(base string, c Change) {
	b.base = base
	b.pages = merged(b.pages, c.Pages, comparePages)
	b.links = merged(without(b.links, c.Dropped), c.Links, compareLinks)
	for _, n := range c.Notices {
		b.notices[n.Key] = n
	}
}

// remember keeps what is known of a peer.
func (b *book) remember(p Peer) { b.peers = merged(b.peers, []Peer{p}, comparePeers) }

// begin notes that a notice is about to be sent.
func (b *book) begin(k Key) {
	if n, ok := b.notices[k]; ok {
		n.State = InFlight
		b.notices[k] = n
	}
}

// record keeps an outcome, under its new key.
func (b *book) record(from Key, n Notice) {
	if from != n.Key {
		delete(b.notices, from)
	}
	b.notices[n.Key] = n
}

// snapshot returns the state, sorted.
func (b *book) snapshot() *Snapshot {
	return &Snapshot{Base: b.base, Pages: b.pages, Links: b.links, Notices: b.sortedNotices(), Peers: b.peers}
}

func (b *book) sortedNotices() []Notice {
	keys := make([]Key, 0, len(b.notices)) // a quarter of a notice to move
	for k := range b.notices {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, CompareKeys)
	all := make([]Notice, len(keys))
	for i, k := range keys {
		all[i] = b.notices[k]
	}
	return all
}

// merged returns the rows of both, those of more in place of equal ones.
func merged[T any](old, more []T, compare func(a, b T) int) []T {
	if len(more) == 0 {
		return old
	}
	more = slices.Clone(more)
	slices.SortStableFunc(more, compare)
	all := make([]T, 0, len(old)+len(more))
	i := 0
	for j, row := range more {
		if j+1 < len(more) && compare(row, more[j+1]) == 0 {
			continue // the last one counts
		}
		for i < len(old) && compare(old[i], row) < 0 {
			all = append(all, old[i])
			i++
		}
		if i < len(old) && compare(old[i], row) == 0 {
			i++
		}
		all = append(all, row)
	}
	return append(all, old[i:]...)
}

// without returns the links but for those dropped.
func without(links, dropped []Link) []Link {
	if len(dropped) == 0 {
		return links
	}
	gone := make(map[Link]bool, len(dropped))
	for _, l := range dropped {
		gone[l] = true
	}
	kept := make([]Link, 0, len(links))
	for _, l := range links {
		if !gone[l] {
			kept = append(kept, l)
		}
	}
	return kept
}

func comparePages(a, b Page) int { return strings.Compare(a.URL, b.URL) }

func compareLinks(a, b Link) int {
	return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.Target, b.Target))
}

// CompareKeys is the order of notices in a ledger.
func CompareKeys(a, b Key) int {
	if order := strings.Compare(a.Source, b.Source); order != 0 {
		return order
	}
	if order := strings.Compare(a.Target, b.Target); order != 0 {
		return order
	}
	return strings.Compare(string(a.Protocol), string(b.Protocol))
}

func compareNotices(a, b Notice) int { return CompareKeys(a.Key, b.Key) }

func comparePeers(a, b Peer) int {
	return cmp.Or(strings.Compare(a.Origin, b.Origin), strings.Compare(string(a.Protocol), string(b.Protocol)))
}
