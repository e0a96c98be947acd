package outgoing

import (
	"cmp"
	"slices"

	"github.com/sitelink/sitelink/outgoing/ledger"
)

// Plan is what a deploy has to tell, and how the ledger changes by it.
type Plan struct {
	Base string
	// First: there was no ledger. The plan records what is there and tells
	// nobody.
	First bool
	// Items are the notices, sorted by source, target and event.
	Items []Item
	// Change makes the ledger that of this build, with Items as open notices.
	Change ledger.Change
	// Gone are the pages that are no more, sorted by address; Graves all
	// deleted pages, of this deploy or earlier, that nothing answers for.
	Gone   []Gone
	Graves []string
	// Forgotten are pages that are there, but no longer speak to others.
	Forgotten []string
	// Unchanged counts the entries whose content is that of the ledger.
	Unchanged int
	Left      []Left
}

// Item is one notice of a plan.
type Item struct {
	Notice
	Page string // of the source in the docroot, "" when it is gone
	// Withdrawn: an earlier notice was never sent, and need not be now.
	Withdrawn bool
}

// Gone is a page that is no more.
type Gone struct {
	URL string
	// Replacement is where it moved, "" when it was deleted.
	Replacement string
}

// Due returns the items that are to be sent.
func (p *Plan) Due() []Item {
	return slices.DeleteFunc(slices.Clone(p.Items), func(i Item) bool { return i.Withdrawn })
}

// sort puts all lists into the order that they promise.
func (p *Plan) sort() {
	slices.SortFunc(p.Items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Event, b.Event))
	})
	c := &p.Change
	slices.SortFunc(c.Pages, func(a, b ledger.Page) int { return cmp.Compare(a.URL, b.URL) })
	links := func(a, b ledger.Link) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target))
	}
	slices.SortFunc(c.Links, links)
	slices.SortFunc(c.Dropped, links)
	slices.SortFunc(c.Notices, func(a, b ledger.Notice) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Protocol, b.Protocol))
	})
	slices.SortFunc(p.Gone, func(a, b Gone) int { return cmp.Compare(a.URL, b.URL) })
	slices.Sort(p.Forgotten)
}
