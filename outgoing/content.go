package outgoing

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	scanhtml "github.com/sitelink/sitelink/internal/scan/html"
)

// content is the part of a page that is its entry. Nodes are indexes in the
// outline.
type content struct {
	page  *scanhtml.Outline
	roots []int
	// entry is the h-entry of the page, -1 without one.
	entry int
	// whole is set if the author chose the roots, so that everything in them counts
	// except responses. Otherwise the theme may have put more into them, see skips.
	whole bool
	// heading is the title of the entry if it is outside of the roots, -1 if
	// not.
	heading int
	// marked are links outside of the roots that belong to the entry: what it
	// replies to, likes, reposts or bookmarks, whom it tags, and where a copy is.
	marked []int
	// other reports whether a link leads to another page of the site. Without it, no part of
	// the content is an excerpt.
	other func(href []byte) bool
}

// contentOf returns the content of a page, or false if the page is a list of
// entries. tree has the nodes of the outline, for a selector to match.
func (r *rules) contentOf(page *scanhtml.Outline, tree []*html.Node) (*content, bool) {
	o := pageOutline{page}
	c := &content{page: page, heading: -1, entry: -1}
	if r.content != nil {
		c.roots, c.whole = o.outermost(func(i int) bool { return r.content.Match(tree[i]) }), true
		return c, true
	}
	if page.Mentions(scanhtml.AttrClass, "h-entry") {
		if entries := o.between(0, o.Len(), func(i int) bool { return o.hasClass(i, "h-entry") }, o.received); len(entries) == 1 {
			c.setEntry(entries[0])
			return c, true
		} else if len(entries) > 1 {
			return nil, false
		}
	}
	if articles := o.between(0, o.Len(), o.isElement(atom.Article), o.received); len(articles) > 0 {
		article, ok := o.mainArticle(articles)
		c.roots = []int{article}
		return c, ok
	}
	if c.roots = o.named(atom.Main); len(c.roots) == 0 {
		c.roots = o.named(atom.Body)
	}
	return c, true
}

// setEntry makes the content the parts of an h-entry (microformats2) that its
// author wrote.
func (c *content) setEntry(entry int) {
	o := pageOutline{c.page}
	c.entry = entry
	c.roots = o.outermostIn(entry, func(i int) bool { return o.hasClass(i, "e-content") }, o.isItem)
	if len(c.roots) == 0 {
		c.roots = []int{entry}
		return
	}
	c.whole = true
	if names := o.outermostIn(entry, func(i int) bool { return o.hasClass(i, "p-name") }, o.isItem); len(names) > 0 {
		c.heading = names[0]
	}
	open := func(int) bool { return false }
	// The last two are how a post is submitted to aggregators such as IndieNews, and how it tags people.
	c.marked = o.outermostIn(entry, func(i int) bool {
		return o.Tag(i) == atom.A && (o.citesTarget(i) || o.hasClass(i, "u-syndication") || o.hasClass(i, "u-category"))
	}, func(i int) bool { return o.hasClass(i, "e-content") || o.received(i) })
	// An h-cite inside holds the URL of the page that the entry replies to.
	for _, cite := range o.outermostIn(entry, func(i int) bool { return o.isItem(i) && o.citesTarget(i) }, open) {
		c.marked = append(c.marked, o.outermostIn(cite, func(i int) bool { return o.Tag(i) == atom.A && o.hasClass(i, "u-url") }, open)...)
	}
}

// excerpt reports whether the content is that of another page, as on a home page or a tag page
// with one post: each permalink of the h-entry (u-url), or the title, which is the first of
// the highest headings, leads there.
func (c *content) excerpt() bool {
	o := pageOutline{c.page}
	roots := c.roots
	if c.entry >= 0 {
		if urls := o.outermostIn(c.entry, func(i int) bool { return o.Tag(i) == atom.A && o.hasClass(i, "u-url") }, o.isItem); len(urls) > 0 {
			return !slices.ContainsFunc(urls, func(i int) bool { return !c.leads(i) }) // a short address may be there, too
		}
		roots = []int{c.entry}
	}
	for _, level := range [...]atom.Atom{atom.H1, atom.H2, atom.H3, atom.H4} {
		if !o.Has(level) {
			continue
		}
		for _, root := range roots {
			titles := o.outermostIn(root, o.isElement(level), func(i int) bool { return !o.IsText(i) && c.skips(i) })
			if len(titles) > 0 {
				return c.leadsWhole(titles[0])
			}
		}
	}
	return false
}

// leads reports whether a node is a link to another page of the site.
func (c *content) leads(i int) bool {
	href, ok := c.page.Attr(i, scanhtml.AttrHref)
	return ok && c.page.Tag(i) == atom.A && c.other(href)
}

// leadsWhole reports whether all text of a heading is one link to another page of the site.
func (c *content) leadsWhole(heading int) bool {
	o := pageOutline{c.page}
	links := o.outermostIn(heading, c.leads, func(int) bool { return false })
	for i := heading; i < o.End(heading); i++ {
		if o.IsText(i) && (len(links) == 0 || i < links[0] || i >= o.End(links[0])) {
			return false
		}
	}
	return len(links) > 0
}

// levels are the levels of headings.
var levels = map[atom.Atom]int{atom.H1: 1, atom.H2: 2, atom.H3: 3, atom.H4: 4, atom.H5: 5, atom.H6: 6}

// citesTarget reports whether an element names the page that the entry replies
// to, likes, reposts or bookmarks.
func (o pageOutline) citesTarget(i int) bool {
	return o.hasClass(i, "u-in-reply-to") || o.hasClass(i, "u-like-of") || o.hasClass(i, "u-repost-of") || o.hasClass(i, "u-bookmark-of")
}

// responses are the properties of an h-entry that hold what others wrote about it
// (microformats2). themes are the classes in which themes put a list of comments or
// received webmentions: of WordPress and its converters, Minimal Mistakes and other
// themes with Staticman, jekyll-webmention_io, and the webmention starters of Eleventy and
// Hugo. Identifiers are not used: Sphinx and Pandoc make them from headings, and a
// section may be called "Comments".
var (
	responses = classSet("u-comment p-comment u-like u-repost u-mention")
	themes    = classSet("comments comments-area comments-list comments-section comment-list comment-section commentlist " +
		"page__comments post-comments webmentions webmentions-list webmentions-section webmentions__list webmention-list")
)

func classSet(names string) map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(names) {
		set[name] = true
	}
	return set
}

// received reports whether an element holds what others wrote about the page: a response
// to the entry, or a list of them. Its links are those of other people.
func (o pageOutline) received(i int) bool {
	return o.hasAnyClass(i, responses) || o.hasAnyClass(i, themes)
}

func (o pageOutline) hasAnyClass(i int, set map[string]bool) bool {
	classes, _ := o.Attr(i, scanhtml.AttrClass)
	for class := range bytes.FieldsSeq(classes) {
		if set[string(class)] {
			return true
		}
	}
	return false
}

// isItem reports whether an element is a microformat of its own.
func (o pageOutline) isItem(i int) bool {
	classes, _ := o.Attr(i, scanhtml.AttrClass)
	for class := range bytes.FieldsSeq(classes) {
		if bytes.HasPrefix(class, []byte("h-")) {
			return true
		}
	}
	return false
}

// mainArticle chooses among sibling articles: the only one, or the only one with
// an h1, because comments may be articles too.
func (o pageOutline) mainArticle(articles []int) (int, bool) {
	if len(articles) == 1 {
		return articles[0], true
	}
	withHeading := slices.DeleteFunc(slices.Clone(articles), func(i int) bool {
		return len(o.outermostIn(i, o.isElement(atom.H1), func(int) bool { return false })) == 0
	})
	if len(withHeading) != 1 {
		return 0, false
	}
	return withHeading[0], true
}

// anchors calls f with the href of each link that counts, in document order. The
// bytes are only valid until f returns.
func (c *content) anchors(rel map[string]bool, f func(href []byte)) {
	add := func(i int) {
		if tag := c.page.Tag(i); tag != atom.A && tag != atom.Area {
			return
		}
		if types, ok := c.page.Attr(i, scanhtml.AttrRel); ok && hasAny(types, rel) {
			return
		}
		if href, ok := c.page.Attr(i, scanhtml.AttrHref); ok {
			f(href)
		}
	}
	for _, i := range c.marked {
		add(i)
	}
	c.walk(add)
}

// hasAny reports whether a list of link types has one of rel.
func hasAny(types []byte, rel map[string]bool) bool {
	return slices.ContainsFunc(strings.Fields(strings.ToLower(string(types))), func(r string) bool { return rel[r] })
}

// walk calls f for each node of the content that counts, in document order. Below a heading
// that is a link to another page of the site is an excerpt of that page, as in a list of
// posts: up to the next heading that is not lower, or the end of a section or list item.
func (c *content) walk(f func(i int)) {
	for _, root := range c.roots {
		below, until := 0, 0 // the level of such a heading, and where its part ends
		for i, end := root, c.page.End(root); i < end; {
			if i >= until {
				below, until = 0, end
			}
			switch tag := c.page.Tag(i); tag {
			case atom.Article, atom.Section, atom.Li:
				if below == 0 {
					until = c.page.End(i)
				}
			case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
				if level := levels[tag]; !c.whole && c.other != nil && (below == 0 || level <= below) {
					if below = 0; c.leadsWhole(i) {
						below = level
					}
				}
			}
			if i != root && !c.page.IsText(i) && c.skips(i) {
				i = c.page.End(i)
				continue
			}
			if below == 0 {
				f(i)
			}
			i++
		}
	}
}

// skips reports whether an element in the roots does not count, with all that is in it.
// Where the author did not choose the roots, that includes what themes add to a post: its
// date, its author, and citations (h-cite) that it does not answer, which are received
// comments in themes without e-content.
func (c *content) skips(i int) bool {
	set := c.page.Attrs(i)
	if set&(1<<scanhtml.NoMention) != 0 {
		return true
	}
	switch c.page.Tag(i) {
	case atom.Script, atom.Style, atom.Template, atom.Noscript:
		return true
	case atom.Nav, atom.Aside, atom.Footer, atom.Time:
		return !c.whole
	}
	if set&(1<<scanhtml.AttrClass) == 0 {
		return false
	}
	o := pageOutline{c.page}
	if c.whole {
		return o.hasAnyClass(i, responses)
	}
	return o.received(i) || o.hasClass(i, "p-author") || o.hasClass(i, "h-cite") && !o.citesTarget(i)
}

// pageOutline adds queries to the outline of a page.
type pageOutline struct{ *scanhtml.Outline }

// outermost returns the elements of the page that match and are not inside
// another one that does.
func (o pageOutline) outermost(match func(i int) bool) []int {
	return o.between(0, o.Len(), match, func(int) bool { return false })
}

// named returns the HTML elements with a name that are not inside another one
// with that name.
func (o pageOutline) named(a atom.Atom) []int {
	if !o.Has(a) {
		return nil // without visiting each node
	}
	return o.outermost(o.isElement(a))
}

// outermostIn does the same below an element, skipping the insides of elements
// for which closed is true.
func (o pageOutline) outermostIn(root int, match, closed func(i int) bool) []int {
	return o.between(root+1, o.End(root), match, closed)
}

func (o pageOutline) between(from, to int, match, closed func(i int) bool) (found []int) {
	for i := from; i < to; {
		next := i + 1
		switch {
		case o.IsText(i):
		case o.Tag(i) == atom.Template:
			next = o.End(i)
		case match(i):
			found, next = append(found, i), o.End(i)
		case closed(i):
			next = o.End(i)
		}
		i = next
	}
	return found
}

func (o pageOutline) isElement(a atom.Atom) func(i int) bool {
	return func(i int) bool { return o.Tag(i) == a && !o.Foreign(i) }
}

func (o pageOutline) hasClass(i int, class string) bool {
	classes, _ := o.Attr(i, scanhtml.AttrClass)
	for c := range bytes.FieldsSeq(classes) {
		if string(c) == class {
			return true
		}
	}
	return false
}

// baseHref returns the href of the first base element that has one.
func (o pageOutline) baseHref() (href []byte, ok bool) {
	if !o.Has(atom.Base) {
		return nil, false
	}
	for i := range o.Len() {
		if o.Tag(i) == atom.Base {
			if href, ok = o.Attr(i, scanhtml.AttrHref); ok {
				return href, true
			}
		}
	}
	return nil, false
}

// hashed are the attributes that are part of what a reader sees: text, and addresses.
var hashed = [...]scanhtml.Attr{scanhtml.AttrAlt, scanhtml.AttrCite, scanhtml.AttrData, scanhtml.AttrDatetime,
	scanhtml.AttrHref, scanhtml.AttrPoster, scanhtml.AttrSrc, scanhtml.AttrTitle}

var hashedSet = func() (set uint32) {
	for _, a := range hashed {
		set |= 1 << a
	}
	return set
}()

// hash returns the hash of what the entry tells the sites that it links to: its texts
// with white space folded, and the addresses on other sites of its links and pictures.
// What the theme decides does not count, so that a new theme sends no notices: elements,
// classes, styles and scripts. Neither do links to other pages of the site, with their
// text, and addresses of its files: lists of related posts and "next" links change when
// another page does, and names of pictures when the generator encodes them again. own is
// the scheme and host of the site, path that of the page.
//
// The hash is a sum of the hashes of these pieces, so the difference between two hashes
// of a page is that of its change, wherever it is. A change that many pages have in common
// is one of the theme (see [change]), and no text of an earlier build is needed to see
// that. The second half is the same sum without digits, for build dates and reading
// times. Both have 64 bits: a collision with their own text gains authors nothing.
func (c *content) hash(own, path string) string {
	var sum, folded uint64
	var buf []byte
	count := func() {
		sum += xxhash.Sum64(buf)
		without := buf[:0]
		for _, b := range buf {
			if b < '0' || b > '9' {
				without = append(without, b)
			}
		}
		folded += xxhash.Sum64(without)
	}
	add := func(i int) {
		if c.page.IsText(i) {
			if buf = c.page.AppendText(buf[:0], i); len(buf) > 0 {
				count()
			}
			return
		}
		set := c.page.Attrs(i)
		if set&hashedSet == 0 {
			return
		}
		for _, name := range hashed {
			if set&(1<<name) == 0 {
				continue
			}
			value, _ := c.page.Attr(i, name)
			switch name {
			case scanhtml.AttrAlt, scanhtml.AttrDatetime, scanhtml.AttrTitle:
			default:
				if isPath(value) || isOwn(value, own) {
					continue
				}
			}
			buf = append(append(append(buf[:0], name.String()...), 0), value...)
			count()
		}
	}
	end := 0 // of a link to another page of the site
	visit := func(i int) {
		if i < end {
			return
		}
		if !c.page.IsText(i) && c.page.Tag(i) == atom.A {
			if href, ok := c.page.Attr(i, scanhtml.AttrHref); ok && (isPath(href) || isOwn(href, own)) && !isSelf(string(href), path) {
				end = c.page.End(i)
				return
			}
		}
		add(i)
	}
	if c.heading >= 0 {
		for i := c.heading; i < c.page.End(c.heading); i++ {
			add(i)
		}
	}
	for _, i := range c.marked {
		add(i)
	}
	c.walk(visit)
	return fmt.Sprintf("%016x.%016x", sum, folded)
}

// isOwn reports whether an absolute address is one of the site.
func isOwn(address []byte, own string) bool {
	return len(address) >= len(own) && strings.EqualFold(string(address[:len(own)]), own) &&
		(len(address) == len(own) || strings.IndexByte("/?#", address[len(own)]) >= 0)
}

// isSelf reports whether a link leads to the page itself, as that of a title may: a
// fragment, or the last segment of its path.
func isSelf(href, path string) bool {
	href, _, _ = strings.Cut(href, "#")
	return href == "" || href == "." || href == "./" || lastSegment(href) == lastSegment(path)
}

func lastSegment(path string) string {
	path = strings.TrimSuffix(strings.TrimRight(path, "/"), "/index.html")
	return path[strings.LastIndexByte(path, '/')+1:]
}

// change returns how the content of a page differs from that of an earlier build, by its
// two hashes: changed is set if it does, and what identifies the change apart from digits,
// so that pages can be compared. Hashes of another form, of another version, do not show a
// change.
func change(before, now string) (what uint64, changed bool) {
	if len(before) != len(now) || before == now {
		return 0, false
	}
	var a, b [2]uint64
	if n, _ := fmt.Sscanf(before, "%16x.%16x", &a[0], &a[1]); n != 2 {
		return 0, true // the hash of a feed
	}
	if n, _ := fmt.Sscanf(now, "%16x.%16x", &b[0], &b[1]); n != 2 {
		return 0, true
	}
	return b[1] - a[1], true
}

// TombstonePage is a page to put at the URL of a deleted page on hosts that cannot
// answer 410. Receivers of webmentions read the status from its meta element
// (Webmention, section 3.2.5; in the form that webmention.rocks uses).
const TombstonePage = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Status" content="410 Gone">
<meta name="robots" content="noindex">
<title>Gone</title>
</head>
<body>
<p>This page was deleted.</p>
</body>
</html>
`
