package outgoing

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	scanhtml "github.com/sitelink/sitelink/internal/scan/html"
)

// content is the part of a page that is its entry. Nodes are indexes in the
// outline.
type content struct {
	page  *scanhtml.Outline
	roots []int
	// whole is set if everything in the roots counts. Otherwise nav, aside and
	// footer do not.
	whole bool
	// heading is the title of the entry if it is outside of the roots, -1 if
	// not.
	heading int
	// marked are links outside of the roots that belong to the entry: what it
	// replies to, likes, reposts or bookmarks.
	marked []int
}

// contentOf returns the content of a page, or false if the page is a list of
// entries. tree has the nodes of the outline, for a selector to match.
func (r *rules) contentOf(page *scanhtml.Outline, tree []*html.Node) (*content, bool) {
	o := pageOutline{page}
	c := &content{page: page, heading: -1}
	if r.content != nil {
		c.roots, c.whole = o.outermost(func(i int) bool { return r.content.Match(tree[i]) }), true
		return c, true
	}
	if page.Mentions(scanhtml.AttrClass, "h-entry") {
		if entries := o.outermost(func(i int) bool { return o.hasClass(i, "h-entry") }); len(entries) == 1 {
			c.setEntry(entries[0])
			return c, true
		} else if len(entries) > 1 {
			return nil, false
		}
	}
	if articles := o.named(atom.Article); len(articles) > 0 {
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
	c.marked = o.outermostIn(entry, func(i int) bool { return o.Tag(i) == atom.A && o.citesTarget(i) }, open)
	// An h-cite inside holds the URL of the page that the entry replies to.
	for _, cite := range o.outermostIn(entry, func(i int) bool { return o.isItem(i) && o.citesTarget(i) }, open) {
		c.marked = append(c.marked, o.outermostIn(cite, func(i int) bool { return o.Tag(i) == atom.A && o.hasClass(i, "u-url") }, open)...)
	}
}

// citesTarget reports whether an element names the page that the entry replies
// to, likes, reposts or bookmarks.
func (o pageOutline) citesTarget(i int) bool {
	return o.hasClass(i, "u-in-reply-to") || o.hasClass(i, "u-like-of") || o.hasClass(i, "u-repost-of") || o.hasClass(i, "u-bookmark-of")
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

// walk calls f for each node of the content that counts, in document order.
func (c *content) walk(f func(i int)) {
	for _, root := range c.roots {
		for i, end := root, c.page.End(root); i < end; {
			if i != root && !c.page.IsText(i) && c.skips(i) {
				i = c.page.End(i)
				continue
			}
			f(i)
			i++
		}
	}
}

func (c *content) skips(i int) bool {
	if c.page.Attrs(i)&(1<<scanhtml.NoMention) != 0 {
		return true
	}
	switch c.page.Tag(i) {
	case atom.Script, atom.Style, atom.Template, atom.Noscript:
		return true
	case atom.Nav, atom.Aside, atom.Footer:
		return !c.whole
	}
	return false
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

// hashed are the attributes that are part of what a reader sees.
var hashed = [...]scanhtml.Attr{scanhtml.AttrAlt, scanhtml.AttrCite, scanhtml.AttrData, scanhtml.AttrDatetime,
	scanhtml.AttrHref, scanhtml.AttrPoster, scanhtml.AttrSrc, scanhtml.AttrTitle}

var hashedSet = func() (set uint32) {
	for _, a := range hashed {
		set |= 1 << a
	}
	return set
}()

// hashChunk is how much is hashed at once. On python3.11-doc, SHA-256 with the
// processor's instructions takes 7 % of the time for reading the entries and
// folding their text 10 %, so a faster hash would change little.
const hashChunk = 8 << 10

// hash returns the hash of what a reader sees of the entry: its text with white
// space folded, the names of its elements, and the targets of its links and
// pictures. Classes, styles and scripts belong to the theme and do not count, so
// that a new theme sends no notices. The order of attributes does not count.
func (c *content) hash() string {
	h := sha256.New()
	buf := make([]byte, 0, hashChunk+hashChunk/4)
	add := func(i int) {
		if c.page.IsText(i) {
			from := len(buf)
			buf = append(buf, '#', 0)
			if buf = c.page.AppendText(buf, i); len(buf) == from+2 {
				buf = buf[:from]
				return
			}
			buf = append(buf, 0)
		} else {
			buf = append(c.page.AppendName(buf, i), 0)
			if set := c.page.Attrs(i); set&hashedSet != 0 {
				for _, name := range hashed {
					if set&(1<<name) != 0 {
						value, _ := c.page.Attr(i, name)
						buf = append(append(buf, name.String()...), 0)
						buf = append(append(buf, value...), 0)
					}
				}
			}
		}
		if len(buf) >= hashChunk {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	if c.heading >= 0 {
		for i := c.heading; i < c.page.End(c.heading); i++ {
			add(i)
		}
	}
	for _, i := range c.marked {
		add(i)
	}
	c.walk(add)
	h.Write(buf)
	return hex.EncodeToString(h.Sum(nil)[:16])
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
