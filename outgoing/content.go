package outgoing

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/sitelink/sitelink/internal/scan/outline"
)

// content is the part of a page that is its entry. Nodes are those of the outline.
type content struct {
	page  *outline.Outline
	roots []int
	// whole: everything in the roots counts; otherwise not what stands in nav,
	// aside and footer.
	whole bool
	// heading is the title of the entry, if it stands outside of the roots;
	// -1 for none.
	heading int
	// marked are links of the entry outside of the roots that say what it is:
	// a reply, a like, a repost, a bookmark.
	marked []int
}

// contentOf finds the content of a page; false when it is a list of entries.
// tree holds the nodes of the outline for a selector to match.
func (r *rules) contentOf(page *outline.Outline, tree []*html.Node) (*content, bool) {
	o := pageOutline{page}
	c := &content{page: page, heading: -1}
	if r.content != nil {
		c.roots, c.whole = o.outermost(func(i int) bool { return r.content.Match(tree[i]) }), true
		return c, true
	}
	if page.Mentions(outline.Class, "h-entry") {
		if entries := o.outermost(func(i int) bool { return o.hasClass(i, "h-entry") }); len(entries) == 1 {
			c.takeEntry(entries[0])
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

// takeEntry takes the parts of an h-entry (microformats2) that its author
// wrote.
func (c *content) takeEntry(entry int) {
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
	// What is quoted in an h-cite is the address of what the entry answers.
	for _, cite := range o.outermostIn(entry, func(i int) bool { return o.isItem(i) && o.citesTarget(i) }, open) {
		c.marked = append(c.marked, o.outermostIn(cite, func(i int) bool { return o.Tag(i) == atom.A && o.hasClass(i, "u-url") }, open)...)
	}
}

// citesTarget tells whether an element says what the entry is about.
func (o pageOutline) citesTarget(i int) bool {
	return o.hasClass(i, "u-in-reply-to") || o.hasClass(i, "u-like-of") || o.hasClass(i, "u-repost-of") || o.hasClass(i, "u-bookmark-of")
}

// isItem tells whether an element is a microformat of its own.
func (o pageOutline) isItem(i int) bool {
	classes, _ := o.Attr(i, outline.Class)
	for class := range bytes.FieldsSeq(classes) {
		if bytes.HasPrefix(class, []byte("h-")) {
			return true
		}
	}
	return false
}

// mainArticle chooses among articles that stand side by side: the only one, or
// the only one that has the page's heading, when comments are articles too.
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

// anchors calls f for the values of the links that count, in document order.
// They are good until f returns.
func (c *content) anchors(rel map[string]bool, f func(href []byte)) {
	add := func(i int) {
		if tag := c.page.Tag(i); tag != atom.A && tag != atom.Area {
			return
		}
		if types, ok := c.page.Attr(i, outline.Rel); ok && discourages(types, rel) {
			return
		}
		if href, ok := c.page.Attr(i, outline.Href); ok {
			f(href)
		}
	}
	for _, i := range c.marked {
		add(i)
	}
	c.walk(add)
}

// discourages tells whether a list of link types has one of rel.
func discourages(types []byte, rel map[string]bool) bool {
	return slices.ContainsFunc(strings.Fields(strings.ToLower(string(types))), func(r string) bool { return rel[r] })
}

// walk calls f for each node of the content, in document order, but for what
// does not count.
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
	if c.page.Attrs(i)&(1<<outline.NoMention) != 0 {
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
