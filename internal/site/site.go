// Package site turns a docroot into a [Site]: its files, the links and anchors
// of each page, and the file that answers each link on the site's host. It
// never opens a file outside the docroot and writes nothing.
package site

import (
	"slices"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/script"
)

// Site is a loaded docroot. It is immutable and safe for concurrent use. Its
// methods include those of the [host.Host].
type Site struct {
	*host.Host
	opt    Options
	tree   *docroot.Tree // that of the host
	base   host.BaseRule
	public bool // visitors can reach one of the site's addresses
	hash   hasher
	kinds  map[string]PageKind // by extension, in lower case
	pages  []Page
	unread []docroot.FileFault // files whose kind is not known because they cannot be read
	// manifests are the files that pages name as their web manifests, sitemaps
	// the text files that robots.txt names as sitemaps.
	manifests, sitemaps []docroot.NodeID
	// otherXML counts the XML files that are not of a known kind, sourceMaps
	// the files that are source maps by their names, foreign those below
	// node_modules or .git that are pages by their names.
	otherXML, sourceMaps, foreign int
	// linked holds, by node, whether any link leads there.
	linked []bool
	// overrides holds a bit for each node, see markOverrides.
	overrides []uint64
}

// PageID is an index into the pages of a site, which are sorted by path.
type PageID uint32

// Page is one parsed file. Its links are in the order of the file.
type Page struct {
	node    docroot.NodeID
	kind    PageKind
	scripts uint64 // see [Page.Scripts]
	quirks  bool
	noIndex bool
	zipped  bool           // the file is compressed
	served  bool           // written by hugo server
	plain   bool           // HTML whose text is the file, byte for byte
	beside  bool           // shows the way to other parts of its host, see [worker.beside]
	canon   docroot.NodeID // the page's canonical address, or NoNode
	// manifest is the first web manifest that the page names, or 0. manifests:
	// the page names another one, too.
	manifest  docroot.NodeID
	manifests bool
	err       PageError
	anchorN   uint32
	size      int64
	sum       uint64 // of the file's bytes, see [Page.Sum]
	links     []Link
	frags     []uint64
	anchors   []uint64
	faults    []scan.Fault
	// badLines are the lines of an image map that cannot be parsed.
	badLines []int
	unused   []int // see [scan.Page]
	based    bool
	baseDiff bool
	picture  bool // an SVG file that is shown, but not opened
	saved    []savedDetail
	alias    string
	// inspected is what Options.Inspect found.
	inspected Inspected
}

// PageError says why a page could not be read.
type PageError struct {
	TooLarge bool
	Err      error
}

// Link is one link of a page in twelve bytes, because a site may have 50
// million links. [Reader.Details] finds everything else by reading the page
// again.
type Link struct {
	// Off is the offset of the value in the text that was scanned.
	Off uint32
	// Node is the file that answers, if State says that one does.
	Node docroot.NodeID
	// State is the host's answer, before permissions; see [Site.State].
	State host.State
	form  script.Form // of the fragment
	bits  linkBits
}

type linkBits uint16

const (
	bitExact   linkBits = 1 << iota // asks for a fragment: one entry in frags
	bitDecoded                      // and one for its decoded form
	bitParts                        // and two for its parts, see [Fragment]
	bitMap                          // names a map, not a fragment
	bitEntry                        // the address of an entry of a sitemap or feed
	bitOpens                        // opens the target as a document; see [Site.findPictures]
	bitSelf                         // of a page that redirects, to the page itself
	bitExempt                       // see [scan.Link]
	bitFont                         // see [scan.KindFont]
)

// Pages returns the number of parsed files.
func (s *Site) Pages() int { return len(s.pages) }

// Page returns a parsed file; it must not be changed.
func (s *Site) Page(id PageID) *Page { return &s.pages[id] }

// PageOf returns the page parsed from a node.
func (s *Site) PageOf(n docroot.NodeID) (PageID, bool) {
	if n == docroot.NoNode {
		return 0, false
	}
	nd := &s.tree.Nodes[n]
	if nd.Page == 0 {
		nd = &s.tree.Nodes[nd.Real]
	}
	return PageID(nd.Page - 1), nd.Page != 0
}

// PageAt returns the page of a node, which must be a page.
func (s *Site) PageAt(n docroot.NodeID) PageID { return PageID(s.tree.Nodes[n].Page - 1) }

// Path returns the docroot-relative path of a page.
func (s *Site) Path(id PageID) string { return s.tree.Path(s.pages[id].node) }

// Faults returns the files and directories that cannot be read.
func (s *Site) Faults() []docroot.FileFault { return append(slices.Clip(s.Host.Faults()), s.unread...) }

// Node returns the file that the page was read from.
func (p *Page) Node() docroot.NodeID { return p.node }

// Kind returns how the page was read.
func (p *Page) Kind() PageKind { return p.kind }

// Scripts identifies the scripts that the page runs, as far as they matter for
// fragments: pages with the same number run the same ones. It is 0 if the page
// runs none.
func (p *Page) Scripts() uint64 { return p.scripts }

// Quirks reports whether browsers ignore letter case when they compare names.
func (p *Page) Quirks() bool { return p.quirks }

// Size returns the size of the file in bytes.
func (p *Page) Size() int64 { return p.size }

// Error returns why the page could not be read; its zero value if it was read.
func (p *Page) Error() PageError { return p.err }

// Anchors returns how many anchors the page defines.
func (p *Page) Anchors() int { return int(p.anchorN) }

// Faults returns the faults in the file's text.
func (p *Page) Faults() []scan.Fault { return p.faults }

// BadLines returns the lines of an image map that cannot be parsed.
func (p *Page) BadLines() []int { return p.badLines }

// Unused returns the lines with link reference definitions that no link uses, of Markdown
// that a forge shows.
func (p *Page) Unused() []int { return p.unused }

// Alias returns where a meta refresh sends the visitor at once, a site path or
// an absolute URL with its fragment; empty if the page has none.
func (p *Page) Alias() string { return p.alias }

// NoIndex reports whether the page asks search engines not to list it. What hugo
// server wrote may do so because it is not for production.
func (p *Page) NoIndex() bool { return p.noIndex && !p.served }

// Canonical returns the page of the docroot that the page names as its
// canonical address, or NoNode.
func (p *Page) Canonical() docroot.NodeID { return p.canon }

// HasOtherCanonical reports whether that is another file of the docroot.
func (p *Page) HasOtherCanonical() bool { return p.canon != docroot.NoNode && p.canon != p.node }

// HasBase reports whether links of the page resolve against another address
// than its own: because of a base element, or xml:base in a feed.
func (p *Page) HasBase() bool { return p.based }

// BaseDiffers reports whether the two ways to apply <base href> differ for the
// page (A-LL-4).
func (p *Page) BaseDiffers() bool { return p.baseDiff }

// Links returns how many links the page holds.
func (p *Page) Links() int { return len(p.links) }

// All returns the links of the page, in order; they must not be changed.
func (p *Page) All() []Link { return p.links }

// IsExempt reports whether an attribute in the page keeps the link from being judged,
// see [scan.Link].
func (l *Link) IsExempt() bool { return l.bits&bitExempt != 0 }

// IsFont reports whether the link is an SVG font and the only source of a font.
func (l *Link) IsFont() bool { return l.bits&bitFont != 0 }

// HasFragment reports whether the link asks for a fragment or a map.
func (l *Link) HasFragment() bool { return l.bits&bitExact != 0 }

// FragmentReader iterates over the fragments that the links of a page ask for.
type FragmentReader struct{ rest []uint64 }

// Fragments returns a reader that begins with the page's first link.
func (p *Page) Fragments() FragmentReader { return FragmentReader{p.frags} }

// Next returns what l asks for. Call it, in order, for each link with
// [Link.HasFragment].
func (a *FragmentReader) Next(l *Link) Fragment {
	k := Fragment{Exact: a.rest[0], Form: l.form}
	n := 1
	if l.bits&bitDecoded != 0 {
		k.Decoded = a.rest[n]
		n++
	}
	if l.bits&bitParts != 0 {
		k.From, k.To = a.rest[n], a.rest[n+1]
		n += 2
	}
	a.rest = a.rest[n:]
	return k
}

// IsMap reports whether the link names a map element instead of a fragment.
func (l *Link) IsMap() bool { return l.bits&bitMap != 0 }

// IsEntry reports whether the link is the address of an entry: a URL that a
// sitemap lists, or the page of an entry of a feed.
func (l *Link) IsEntry() bool { return l.bits&bitEntry != 0 }

// Unread returns how many files were not read: XML of no known kind; source maps,
// because these name the sources of the build and not files of the site; and files
// below node_modules or .git.
func (s *Site) Unread() (otherXML, sourceMaps, foreign int) {
	return s.otherXML, s.sourceMaps, s.foreign
}

// Advice returns [Options.Generator] and [Options.RelativeURLs], which messages depend on.
func (s *Site) Advice() (generator string, relativeURLs bool) {
	return s.opt.Generator, s.opt.RelativeURLs
}

// HostUnknown is [Options.HostUnknown].
func (s *Site) HostUnknown() bool { return s.opt.HostUnknown }

// ServerPages returns how many pages were written by `hugo server`.
func (s *Site) ServerPages() int {
	n := 0
	for i := range s.pages {
		if s.pages[i].served {
			n++
		}
	}
	return n
}

// Served reports whether the page was written by `hugo server`.
func (p *Page) Served() bool { return p.served }

// flagAlias: a page that sends the visitor on at once.
const flagAlias = host.FreeFlag

// State returns the state of a link, including the permissions of its file,
// which are known only after everything has been read.
func (s *Site) State(l *Link) host.State {
	if !l.State.Answers() || l.Node == docroot.NoNode || s.overrides != nil && s.overrides[l.Node/64]>>(l.Node%64)&1 == 0 {
		return l.State
	}
	return withFlags(s, l.Node, l.State, l.bits&bitSelf != 0)
}

// withFlags returns the state of a link to a file that is known by now to be
// unreadable or an alias page. self: the link is one of an alias page to itself.
func withFlags(s *Site, node docroot.NodeID, state host.State, self bool) host.State {
	switch f := s.tree.Nodes[node].Flags; {
	case s.tree.Nodes[node].Kind != docroot.KindFile:
	case f&docroot.Unreadable != 0:
		return host.StateUnreadable
	case f&docroot.Private != 0:
		return host.StatePrivate
	case f&flagAlias != 0 && state <= host.StateRedirect && !self:
		return host.StateAlias
	}
	return state
}

// markOverrides marks the files with links that have another state than their
// record, now that all flags are known. State is called for every link. One bit
// per node fits in the processor's cache, but the nodes do not.
func (s *Site) markOverrides() {
	s.overrides = make([]uint64, len(s.tree.Nodes)/64+1)
	for id := range s.tree.Nodes {
		if n := &s.tree.Nodes[id]; n.Kind == docroot.KindFile && n.Flags&(docroot.Unreadable|docroot.Private|flagAlias) != 0 {
			s.overrides[id/64] |= 1 << (id % 64)
		}
	}
}

// The public package site hands out an opaque handle that holds a [Site]. Its
// init sets these two functions, which let the other packages of this module,
// but no program outside of it, convert one to the other. A package that calls
// them must import the public package too, or they are nil.
var (
	// Wrap returns the handle of s, a *site.Site of the public package.
	Wrap func(s *Site) (handle any)
	// Unwrap returns what a *site.Site of the public package holds. It panics
	// for any other type.
	Unwrap func(handle any) *Site
)
