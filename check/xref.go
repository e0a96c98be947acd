package check

import (
	"iter"
	"slices"

	"github.com/sitelink/sitelink/internal/site"
)

// Xref is who links where inside a site, in both directions (LL-107): each
// page counts once for each file, however often it links there. It is made
// from the records in memory; no page is read. Read-only, and safe for
// concurrent use.
type Xref struct {
	s *site.Site
	// first tells, by node, where its referrers begin in pages.
	first []uint32
	pages []site.PageID
}

// NewXref gathers the links of all pages that lead to a file or to a listing.
// It takes four bytes for each pair of page and file.
func NewXref(s *site.Site) *Xref {
	x := &Xref{s: s, first: make([]uint32, s.Tree().Len()+1)}
	for i := range s.Pages() {
		for n := range x.From(site.PageID(i)) {
			x.first[n+1]++
		}
	}
	for i := 1; i < len(x.first); i++ {
		x.first[i] += x.first[i-1]
	}
	x.pages = make([]site.PageID, x.first[len(x.first)-1])
	next := slices.Clone(x.first)
	for i := range s.Pages() {
		for n := range x.From(site.PageID(i)) {
			x.pages[next[n]] = site.PageID(i)
			next[n]++
		}
	}
	return x
}

// To returns the pages that link to a file, itself included when it does, or
// to the listing of a directory, sorted by path. A symbolic link and the file
// behind it are two.
func (x *Xref) To(n site.NodeID) iter.Seq[site.PageID] {
	return slices.Values(x.pages[x.first[n]:x.first[n+1]])
}

// Referrers returns how many pages link to a file.
func (x *Xref) Referrers(n site.NodeID) int { return int(x.first[n+1] - x.first[n]) }

// From returns the files and listings that a page links to, each once, in the
// order of its links.
func (x *Xref) From(id site.PageID) iter.Seq[site.NodeID] {
	return func(yield func(site.NodeID) bool) {
		links := x.s.Page(id).All()
		seen := make(map[site.NodeID]struct{}, min(len(links), 64))
		for i := range links {
			l := &links[i]
			if !l.State.Answers() || l.Node == site.NoNode {
				continue
			}
			if _, again := seen[l.Node]; again {
				continue
			}
			seen[l.Node] = struct{}{}
			if !yield(l.Node) {
				return
			}
		}
	}
}

// Targets returns the files and listings that pages link to, in the order of
// the docroot's names.
func (x *Xref) Targets() iter.Seq[site.NodeID] {
	return func(yield func(site.NodeID) bool) {
		for i := range x.first[1:] {
			if n := site.NodeID(i); x.Referrers(n) > 0 && !yield(n) {
				return
			}
		}
	}
}
