package check

import (
	"iter"
	"slices"

	"github.com/sitelink/sitelink/internal/docroot"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/site"
)

// Xref tells which pages link to which files inside a site, in both directions
// (LL-107). A page counts once for each file, however often it links there.
// Paths are relative to the docroot, with slashes. An Xref is read-only and
// safe for concurrent use.
type Xref struct {
	s *isite.Site
	// first holds, by node, where the pages that link to it begin in pages.
	first []uint32
	pages []isite.PageID
}

// NewXref gathers the links that lead to a file or to the listing of a
// directory. It reads no page again, and takes four bytes for each pair of page
// and file.
func NewXref(s *site.Site) *Xref {
	in := isite.Unwrap(s)
	x := &Xref{s: in, first: make([]uint32, in.Tree().Len()+1)}
	for i := range in.Pages() {
		for n := range x.targets(isite.PageID(i)) {
			x.first[n+1]++
		}
	}
	for i := 1; i < len(x.first); i++ {
		x.first[i] += x.first[i-1]
	}
	x.pages = make([]isite.PageID, x.first[len(x.first)-1])
	next := slices.Clone(x.first)
	for i := range in.Pages() {
		for n := range x.targets(isite.PageID(i)) {
			x.pages[next[n]] = isite.PageID(i)
			next[n]++
		}
	}
	return x
}

// To returns the pages that link to a file, or to the listing of a directory,
// sorted. A file that links to itself is among them. A symbolic link and the
// file behind it are two.
func (x *Xref) To(file string) iter.Seq[string] {
	return func(yield func(string) bool) {
		n, ok := x.s.Lookup(file)
		if !ok {
			return
		}
		for _, id := range x.pages[x.first[n]:x.first[n+1]] {
			if !yield(x.s.Path(id)) {
				return
			}
		}
	}
}

// From returns the files and listings that a page links to, each once, in the
// order of its links.
func (x *Xref) From(page string) iter.Seq[string] {
	return func(yield func(string) bool) {
		n, _ := x.s.Lookup(page)
		id, ok := x.s.PageOf(n)
		if !ok {
			return
		}
		for n := range x.targets(id) {
			if !yield(x.s.Tree().Path(n)) {
				return
			}
		}
	}
}

// Targets returns the files and listings that pages link to, and how many pages
// do, in the order of the docroot's names.
func (x *Xref) Targets() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for i := range x.first[1:] {
			if n := int(x.first[i+1] - x.first[i]); n > 0 && !yield(x.s.Tree().Path(docroot.NodeID(i)), n) {
				return
			}
		}
	}
}

// targets returns the nodes that a page links to, each once.
func (x *Xref) targets(id isite.PageID) iter.Seq[docroot.NodeID] {
	return func(yield func(docroot.NodeID) bool) {
		links := x.s.Page(id).All()
		seen := make(map[docroot.NodeID]struct{}, min(len(links), 64))
		for i := range links {
			l := &links[i]
			if !l.State.Answers() || l.Node == docroot.NoNode {
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
