package outgoing

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// content is the part of a page that is its entry.
type content struct {
	roots []*html.Node
	// whole: everything in the roots counts; otherwise not what stands in nav,
	// aside and footer.
	whole bool
	// heading is the title of the entry, if it stands outside of the roots.
	heading *html.Node
	// marked are links of the entry outside of the roots that say what it is:
	// a reply, a like, a repost, a bookmark.
	marked []*html.Node
}

// contentOf finds the content of a page; false when it is a list of entries.
func (r *rules) contentOf(doc *html.Node) (*content, bool) {
	if r.content != nil {
		return &content{roots: outermost(doc, r.content.Match), whole: true}, true
	}
	if entries := outermost(doc, func(n *html.Node) bool { return hasClass(n, "h-entry") }); len(entries) == 1 {
		return entryContent(entries[0]), true
	} else if len(entries) > 1 {
		return nil, false
	}
	if articles := outermost(doc, isElement(atom.Article)); len(articles) > 0 {
		article, ok := mainArticle(articles)
		if !ok {
			return nil, false
		}
		return &content{roots: []*html.Node{article}}, true
	}
	if main := outermost(doc, isElement(atom.Main)); len(main) > 0 {
		return &content{roots: main}, true
	}
	return &content{roots: outermost(doc, isElement(atom.Body))}, true
}

// entryContent takes the parts of an h-entry (microformats2) that its author
// wrote.
func entryContent(entry *html.Node) *content {
	c := &content{whole: true}
	c.roots = outermostIn(entry, func(n *html.Node) bool { return hasClass(n, "e-content") }, isItem)
	if len(c.roots) == 0 {
		return &content{roots: []*html.Node{entry}}
	}
	if names := outermostIn(entry, func(n *html.Node) bool { return hasClass(n, "p-name") }, isItem); len(names) > 0 {
		c.heading = names[0]
	}
	c.marked = outermostIn(entry, func(n *html.Node) bool {
		return n.DataAtom == atom.A && (hasClass(n, "u-in-reply-to") || hasClass(n, "u-like-of") || hasClass(n, "u-repost-of") || hasClass(n, "u-bookmark-of"))
	}, func(*html.Node) bool { return false })
	// What is quoted in an h-cite is the address of what the entry answers.
	for _, cite := range outermostIn(entry, func(n *html.Node) bool { return isItem(n) && citesTarget(n) }, func(*html.Node) bool { return false }) {
		c.marked = append(c.marked, outermost(cite, func(n *html.Node) bool { return n.DataAtom == atom.A && hasClass(n, "u-url") })...)
	}
	return c
}

func citesTarget(n *html.Node) bool {
	return hasClass(n, "u-in-reply-to") || hasClass(n, "u-like-of") || hasClass(n, "u-repost-of") || hasClass(n, "u-bookmark-of")
}

// isItem tells whether an element is a microformat of its own.
func isItem(n *html.Node) bool {
	for class := range strings.FieldsSeq(attribute(n, "class")) {
		if strings.HasPrefix(class, "h-") {
			return true
		}
	}
	return false
}

// mainArticle chooses among articles that stand side by side: the only one, or
// the only one that has the page's heading, when comments are articles too.
func mainArticle(articles []*html.Node) (*html.Node, bool) {
	if len(articles) == 1 {
		return articles[0], true
	}
	withHeading := slices.DeleteFunc(slices.Clone(articles), func(n *html.Node) bool {
		return len(outermost(n, isElement(atom.H1))) == 0
	})
	if len(withHeading) != 1 {
		return nil, false
	}
	return withHeading[0], true
}

// anchors returns the values of the links that count, in document order.
func (c *content) anchors(rel map[string]bool) []string {
	var found []string
	add := func(n *html.Node) {
		if n.DataAtom != atom.A && n.DataAtom != atom.Area {
			return
		}
		if slices.ContainsFunc(strings.Fields(strings.ToLower(attribute(n, "rel"))), func(r string) bool { return rel[r] }) {
			return
		}
		if href, ok := attributeOf(n, "href"); ok {
			found = append(found, href)
		}
	}
	for _, n := range c.marked {
		add(n)
	}
	c.walk(func(n *html.Node) {
		if n.Type == html.ElementNode {
			add(n)
		}
	})
	return found
}

// walk calls f for each node of the content, in document order, but for what
// does not count.
func (c *content) walk(f func(*html.Node)) {
	for _, root := range c.roots {
		walk(root, func(n *html.Node) bool {
			if n.Type == html.ElementNode && n != root && c.skips(n) {
				return false
			}
			f(n)
			return true
		})
	}
}

func (c *content) skips(n *html.Node) bool {
	if _, ok := attributeOf(n, "data-no-mention"); ok {
		return true
	}
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Noscript:
		return true
	case atom.Nav, atom.Aside, atom.Footer:
		return !c.whole
	}
	return false
}
