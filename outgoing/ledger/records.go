package ledger

import (
	"maps"
	"slices"
	"time"
)

// records are the rows of a ledger in memory. The slices are sorted and never
// changed in place, so that snapshots can share them. The map belongs to the
// store.
type records struct {
	base        string
	pages       []Page
	links       []Link
	notices     map[Key]Notice
	unsupported []UnsupportedHost
}

func newRecords() *records { return &records{notices: map[Key]Notice{}} }

// clone returns a copy that can be changed independently.
func (b *records) clone() *records {
	c := *b
	c.notices = maps.Clone(b.notices)
	return &c
}

// apply applies a [Change].
func (b *records) apply(base string, c Change) {
	if b.base == "" || !SameSite(b.base, base) {
		b.base = base
	}
	b.pages = replaceRows(b.pages, c.Pages, comparePages)
	b.links = replaceRows(without(b.links, c.Dropped), c.Links, compareLinks)
	for _, n := range c.Notices {
		if old, ok := b.notices[n.Key]; ok && n.State == Retry && old.State != Permanent {
			continue // see Notice.Again
		}
		b.notices[n.Key] = n
	}
}

func (b *records) recordUnsupported(h UnsupportedHost) {
	b.unsupported = replaceRows(b.unsupported, []UnsupportedHost{h}, compareHosts)
}

// begin notes that a notice is about to be sent.
func (b *records) begin(k Key) {
	if n, ok := b.notices[k]; ok {
		n.State = InFlight
		b.notices[k] = n
	}
}

// record stores an outcome under its new key.
func (b *records) record(from Key, n Notice) {
	if from != n.Key {
		delete(b.notices, from)
	}
	b.notices[n.Key] = n
}

func (b *records) snapshot() *Snapshot {
	return &Snapshot{Base: b.base, Pages: b.pages, Links: b.links, Notices: b.sortedNotices(), Unsupported: b.unsupported}
}

func (b *records) sortedNotices() []Notice {
	keys := make([]Key, 0, len(b.notices)) // a quarter of the size of a notice
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

// due returns up to limit open notices that are due at now and free, sorted by
// key.
func (b *records) due(now time.Time, limit int, free func(*Notice) bool) []Notice {
	var all []Notice
	for _, n := range b.notices {
		if n.Open() && !n.Next.After(now) && free(&n) {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(a, b Notice) int { return CompareKeys(a.Key, b.Key) })
	return all[:min(limit, len(all))]
}

// replaceRows returns the rows of both slices. A row of changed replaces an
// old one with the same key.
func replaceRows[T any](old, changed []T, compare func(a, b T) int) []T {
	if len(changed) == 0 {
		return old
	}
	changed = slices.Clone(changed)
	slices.SortStableFunc(changed, compare)
	all := make([]T, 0, len(old)+len(changed))
	i := 0
	for j, row := range changed {
		if j+1 < len(changed) && compare(row, changed[j+1]) == 0 {
			continue // the last of equal rows counts
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

// without returns the links except those dropped.
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
