package source

import (
	"strings"

	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source/read"
)

type answer struct {
	at   *Position
	none bool
	// source is what the file has at the place, or the places that disagree.
	source string
}

// openLink is a link that is not placed yet, with what rules found about it.
type openLink struct {
	page *locatedPage
	link BuiltLink
	// on is the link on the page, nil for a fault of the file. nthOnPage is its index in
	// the links of the page.
	on        *pageLink
	nthOnPage int
	place     *Place // the result
	// nth counts the links of the page before it with the same value that are not in its
	// own content.
	nth int
	// own is the position of this value in the page's own content, as the
	// source of another link; nil if it occurs there never or more than once.
	own      *Position
	composed composition // what the templates say about it
	// hits are in templates, data and configuration. otherForm reports that the address has
	// another form there, and that no template is known that writes such links.
	hits      []hit
	otherForm bool
}

// isLink reports that readers can follow it: it is an a or area element.
func (l *openLink) isLink() bool { return l.on.element == "a" || l.on.element == "area" }

// menuTarget returns the site path and fragment of a link if a template writes no part
// of them, as in a menu. It returns "" for another link.
func (l *openLink) menuTarget() string {
	a := &l.on.addr
	if len(l.composed.by) == 0 || l.composed.by[0].Writes() || strings.Trim(strings.Join(l.composed.by[0].Pieces, ""), "/") != "" || !l.isLink() || a.target == "" {
		return ""
	}
	return strings.TrimSuffix(a.target+"#"+a.fragment, "#")
}

// search looks for the links that are not in the content of their own page.
type search struct {
	m *composer
	// levels are the hits in templates, data and configuration: of the project,
	// and of themes and modules.
	levels  [2]textSearch
	content textSearch // the hits in content files
}

// composer compares the links of pages with the links of templates.
type composer struct {
	*Map
	readers []*site.Reader         // of the workers
	runs    memo[string, *linkRun] // of all pages
	// fits are the templates with attributes that fit a tag, by everything in
	// the tag that fitAttributes compares. constants are the addresses that
	// templates write. An address that is relative to the page has no target
	// there.
	fits      memo[string, []tagFit]
	constants memo[*written, address]
	made      memo[string, []string] // the keys of pages that templates make, see isOtherPage
	// rules returns the lines of templates of rule files, see ruleTemplates.
	rules   func() map[string][]*Position
	perPage int // comparisons that are allowed for each page, see locatedPage
}

// allowedForAll is how many links of pages and templates are compared for all pages, in
// addition to 32 for each byte of a page: some 50 ns each.
const allowedForAll = 1 << 25

// locatedPage is a page to locate the links of.
type locatedPage struct {
	m       *composer
	name    string
	text    []byte
	links   []pageLink
	markers markers
	copyOf  *contentFile // the file that the page is a copy of, nil for none
	lines   *read.Lines  // of such a page, nil until needed
	// doc is the file that the page was made of, nil for none, and written are the
	// destinations there and in the files that it includes, with their documents. pairs has
	// the index there of each link of the page, -1 for none.
	doc     *document
	written []read.Written
	owners  []*document
	pairs   []int
	addrs   []address // of doc's own links
	matter  []address // of its front matter
	ofItems []answer  // of each link of a feed
	// near holds the keys of the pages that the page links to. A list page shows parts of
	// them. shown is the text of the page, nil until needed.
	near  map[string]bool
	shown *read.VisibleText

	outline *read.Outline // nil until needed
	tagsOf  map[*pageLink]*pageLinkTag
	runs    map[*written]pageRun
	// left is how many comparisons of links with templates remain, see [Map.Costly], and
	// compared are the tags that were compared with all.
	left     int
	compared map[string]bool
}

// pageRun is a run with the offsets of its links on one page.
type pageRun struct {
	run *linkRun
	at  []int64
}

// linkRun is a sequence of links that one place of a template wrote. Pages with
// the same sequence share it.
type linkRun struct {
	links      []runLink
	expression string // that wrote them
	placed     bool
	places     []*Position
}

// runLink is the part of a link that the actions wrote, and the link's label.
type runLink struct{ hole, label string }

// composition is what the templates say about a link of a page.
type composition struct {
	// by are the templates that fit best, in the order of the files.
	by []*written
	// run are all links of the page that by[0] may have written, and nth is the
	// index of this one.
	run *linkRun
	nth int
}

// pageLinkTag is a link of a page, as templates are compared with it.
type pageLinkTag struct {
	outline *read.Outline
	tag     int
	attrs   []read.Attribute
	value   string // of the whole attribute
	on      *pageLink
	// before and after are the text around it, if known is set.
	before, after string
	known         bool
}

// tagFit is a template with attributes that fit a tag, and how well they fit.
type tagFit struct {
	by    *written
	score int
}

// hit is an occurrence of a text in a file.
type hit struct {
	file contentFile
	// around holds the surroundings of the links with their destination here,
	// or nothing if they are not known.
	around []read.Surroundings
	// element is the element of the template that has the address as a link, or
	// "".
	element string
	// label is the text of the link, certain reports that the address is in
	// front matter or a parameter of a shortcode, and relative that only a relative
	// destination leads to it.
	label             string
	certain, relative bool
	text              string // what is there
	at                int
	line              int
	col               int
}

func (h *hit) answer() answer { return answer{at: h.file.position(h.line, h.col), source: h.text} }

// textSearch looks for many texts at once.
type textSearch struct {
	// byWord holds the texts by their first word, see eachWord.
	byWord map[string][]string
	// byName holds the site paths of links that menus may have, by their last
	// name. Relative destinations in content may be the entries of such menus.
	byName map[string][]string
	hits   map[string][]hit
}
