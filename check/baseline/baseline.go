// Package baseline keeps the list of findings that a site has today and that
// its owners accept, so that a check reports only what is new.
//
// Findings and the bytes of a baseline file enter; which findings are accepted,
// which entries no longer serve, and the bytes of the next file leave. The
// package opens no file and reads no clock: today is an argument. Nothing in it
// may be called concurrently on the same [Baseline] while it is changed; none
// of its functions changes one that it was given.
//
// docs/guide/baseline.md describes the file.
package baseline

import (
	"maps"
	"slices"

	"github.com/sitelink/sitelink/check"
)

// Baseline is a list of accepted findings. The zero value accepts nothing.
type Baseline struct {
	entries map[string]Entry // by ID
}

// Len returns the number of entries.
func (b *Baseline) Len() int { return len(b.entries) }

// Entries returns all entries, sorted by page, code, link and ID.
func (b *Baseline) Entries() []Entry {
	return slices.SortedFunc(maps.Values(b.entries), compareEntries)
}

// Entry returns the entry that accepts the finding of a fingerprint, if there is
// one.
func (b *Baseline) Entry(id string) (e Entry, ok bool) {
	e, ok = b.entries[id]
	return e, ok
}

// add puts e in, unless an entry for the same finding lasts longer.
func (b *Baseline) add(e Entry) {
	if b.entries == nil {
		b.entries = map[string]Entry{}
	}
	if have, ok := b.entries[e.ID]; ok {
		e = lasting(have, e)
	}
	b.entries[e.ID] = e
}

// Terms are what a new entry is accepted on.
type Terms struct {
	Expires Date   // the last day, "" for no end
	Reason  string // for the reader, may be empty
}

// New returns a baseline that accepts findings, which must be all of one run
// and in its order.
func New(findings []check.Finding, terms Terms) *Baseline {
	b := &Baseline{}
	for i, id := range check.Fingerprints(findings) {
		e := entryOf(&findings[i], id)
		e.Expires, e.Reason = terms.Expires, terms.Reason
		b.add(e)
	}
	return b
}
