package outgoing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	scanhtml "github.com/sitelink/sitelink/internal/scan/html"
)

// content is the part of a page that is its entry.
type content struct {
	page  *html.Node
	roots []*html.Node
	// entry is the h-entry of the page, nil without one.
	entry *html.Node
	// whole is set if the author chose the roots, so that everything in them counts
	// except responses. Otherwise the theme may have put more into them, see skips.
	whole bool
	// heading is the title of the entry if it is outside of the roots.
	heading *html.Node
	// marked are links outside of the roots that belong to the entry: to posts
	// that it replies to, likes, reposts or bookmarks, to people whom it tags,
	// and to copies of it.
	marked []*html.Node
	// other reports whether a link leads to another page of the site. Without it, no part of
	// the content is an excerpt.
	other func(href string) bool
}

// contentOf returns the content of a page, or false if the page is a list of
// entries.
func (r *rules) contentOf(page *html.Node) (*content, bool) {
	c := &content{page: page}
	if r.content != nil {
		c.roots, c.whole = outermost(page, r.content.Match, nil), true
		return c, true
	}
	if entries := outermost(page, class("h-entry"), received); len(entries) == 1 {
		c.setEntry(entries[0])
		return c, true
	} else if len(entries) > 1 {
		return nil, false
	}
	if articles := outermost(page, element(atom.Article), received); len(articles) > 0 {
		article, ok := mainArticle(articles)
		c.roots = []*html.Node{article}
		return c, ok
	}
	if c.roots = outermost(page, element(atom.Main), nil); len(c.roots) == 0 {
		c.roots = outermost(page, element(atom.Body), nil)
	}
	return c, true
}

// setEntry makes the content the parts of an h-entry (microformats2) that its
// author wrote.
func (c *content) setEntry(entry *html.Node) {
	c.entry = entry
	c.roots = outermost(entry, class("e-content"), isItem)
	if len(c.roots) == 0 {
		c.roots = []*html.Node{entry}
		return
	}
	c.whole = true
	if names := outermost(entry, class("p-name"), isItem); len(names) > 0 {
		c.heading = names[0]
	}
	// The last two are how a post is submitted to aggregators such as IndieNews, and how it tags people.
	c.marked = outermost(entry, func(n *html.Node) bool {
		return n.DataAtom == atom.A && (citesTarget(n) || hasClass(n, "u-syndication", "u-category"))
	}, func(n *html.Node) bool { return hasClass(n, "e-content") || received(n) })
	// An h-cite inside holds the URL of the page that the entry replies to.
	for _, cite := range outermost(entry, func(n *html.Node) bool { return isItem(n) && citesTarget(n) }, nil) {
		c.marked = append(c.marked, outermost(cite, isPermalink, nil)...)
	}
}

func isPermalink(n *html.Node) bool { return n.DataAtom == atom.A && hasClass(n, "u-url") }

// excerpt reports whether the content belongs to another page, as on a home page or tag
// page with one post. That is so if each permalink of the h-entry (u-url) leads there, or
// the title does: the first of the highest headings.
func (c *content) excerpt() bool {
	roots := c.roots
	if c.entry != nil {
		if urls := outermost(c.entry, isPermalink, isItem); len(urls) > 0 {
			return !slices.ContainsFunc(urls, func(n *html.Node) bool { return !c.leads(n) }) // a short address may be there, too
		}
		roots = []*html.Node{c.entry}
	}
	for _, level := range [...]atom.Atom{atom.H1, atom.H2, atom.H3, atom.H4} {
		for _, root := range roots {
			if titles := outermost(root, element(level), c.skips); len(titles) > 0 {
				return c.leadsWhole(titles[0])
			}
		}
	}
	return false
}

// leads reports whether a node is a link to another page of the site.
func (c *content) leads(n *html.Node) bool {
	href, ok := scanhtml.Attr(n, "href")
	return ok && n.DataAtom == atom.A && c.other(href)
}

// leadsWhole reports whether all text of a heading is one link to another page of the site.
func (c *content) leadsWhole(heading *html.Node) bool {
	link, whole := false, true
	scanhtml.Each(heading, func(n *html.Node) bool {
		if !link && n != heading && c.leads(n) {
			link = true
			return false
		}
		whole = whole && scanhtml.TextOf(n) == ""
		return true
	})
	return link && whole
}

// levels are the levels of headings.
var levels = map[atom.Atom]int{atom.H1: 1, atom.H2: 2, atom.H3: 3, atom.H4: 4, atom.H5: 5, atom.H6: 6}

// citesTarget reports whether an element names the page that the entry replies
// to, likes, reposts or bookmarks.
func citesTarget(n *html.Node) bool {
	return hasClass(n, "u-in-reply-to", "u-like-of", "u-repost-of", "u-bookmark-of")
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
func received(n *html.Node) bool {
	return scanhtml.HasClass(n, func(class string) bool { return responses[class] || themes[class] })
}

// isItem reports whether an element is a microformat of its own.
func isItem(n *html.Node) bool {
	return scanhtml.HasClass(n, func(class string) bool { return strings.HasPrefix(class, "h-") })
}

func hasClass(n *html.Node, names ...string) bool {
	return scanhtml.HasClass(n, func(class string) bool { return slices.Contains(names, class) })
}

// mainArticle chooses among sibling articles: the only one, or the only one with
// an h1, because comments may be articles too.
func mainArticle(articles []*html.Node) (*html.Node, bool) {
	if len(articles) == 1 {
		return articles[0], true
	}
	withHeading := slices.DeleteFunc(slices.Clone(articles), func(n *html.Node) bool {
		return len(outermost(n, element(atom.H1), nil)) == 0
	})
	if len(withHeading) != 1 {
		return nil, false
	}
	return withHeading[0], true
}

// anchors calls f with the href of each link that counts, in document order.
func (c *content) anchors(rel map[string]bool, f func(href string)) {
	add := func(n *html.Node) {
		if n.DataAtom == atom.A || n.DataAtom == atom.Area {
			types, _ := scanhtml.Attr(n, "rel")
			href, ok := scanhtml.Attr(n, "href")
			if ok && !slices.ContainsFunc(strings.Fields(strings.ToLower(types)), func(r string) bool { return rel[r] }) {
				f(href)
			}
		}
	}
	for _, n := range c.marked {
		add(n)
	}
	c.walk(add)
}

// walk calls f for each node of the content that counts, in document order. A heading that
// links to another page of the site begins an excerpt of that page, as in a list of posts.
// The excerpt ends at the next heading that is not lower, or at the end of a section or
// list item.
func (c *content) walk(f func(n *html.Node)) {
	for _, root := range c.roots {
		below := 0           // the level of such a heading
		var until *html.Node // where its part ends
		scanhtml.Each(root, func(n *html.Node) bool {
			if n == until {
				below, until = 0, nil
			}
			switch n.DataAtom {
			case atom.Article, atom.Section, atom.Li:
				if below == 0 {
					until = scanhtml.Next(n, false)
				}
			case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
				if level := levels[n.DataAtom]; !c.whole && c.other != nil && (below == 0 || level <= below) {
					if below = 0; c.leadsWhole(n) {
						below = level
					}
				}
			}
			if n != root && c.skips(n) {
				return false
			}
			if below == 0 {
				f(n)
			}
			return true
		})
	}
}

// skips reports whether an element in the roots does not count, with everything in it. If
// the author did not choose the roots, that includes what themes add to a post: its date,
// its author, and citations (h-cite) that the post does not answer. In themes without
// e-content, such citations are received comments.
func (c *content) skips(n *html.Node) bool {
	if _, ok := scanhtml.Attr(n, "data-no-mention"); ok {
		return true
	}
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Noscript:
		return true
	case atom.Nav, atom.Aside, atom.Footer, atom.Time:
		return !c.whole
	}
	if c.whole {
		return scanhtml.HasClass(n, func(class string) bool { return responses[class] })
	}
	return scanhtml.HasClass(n, func(class string) bool {
		return responses[class] || themes[class] || class == "p-author" || class == "h-cite" && !citesTarget(n)
	})
}

// outermost returns the matching elements below root that are not inside another
// matching element, a template, or an element that closed excludes.
func outermost(root *html.Node, match, closed func(n *html.Node) bool) (found []*html.Node) {
	scanhtml.Each(root, func(n *html.Node) bool {
		switch {
		case n == root || n.Type != html.ElementNode:
		case n.DataAtom == atom.Template:
			return false
		case match(n):
			found = append(found, n)
			return false
		case closed != nil && closed(n):
			return false
		}
		return true
	})
	return found
}

func element(name atom.Atom) func(n *html.Node) bool {
	return func(n *html.Node) bool { return scanhtml.IsElement(n, name) }
}

func class(name string) func(n *html.Node) bool {
	return func(n *html.Node) bool { return hasClass(n, name) }
}

// baseHref returns the href of the first base element that has one.
func baseHref(page *html.Node) (href string, ok bool) {
	scanhtml.Each(page, func(n *html.Node) bool {
		if !ok && n.DataAtom == atom.Base {
			href, ok = scanhtml.Attr(n, "href")
		}
		return !ok
	})
	return href, ok
}

// hash returns a hash of what the linked sites can learn from the entry: its texts with
// white space folded, and the addresses of its links and pictures on other sites.
// Elements, classes, styles and scripts do not count, so that a new theme sends no
// notices. Links to other pages of the site do not count either, with their text: lists
// of related posts and "next" links change with other pages. Nor do the site's own
// files: pictures get new names when the generator encodes them again. own is the scheme
// and host of the site, and path is the path of the page.
//
// The hash is a sum of the hashes of these pieces. So the difference between two hashes of
// a page depends on its change alone, wherever that is. A change that many pages have in
// common comes from the theme (see [change]); to see that, hash needs no text of an
// earlier build. The second half is the same sum without digits, for build dates and
// reading times. Both have 64 bits: authors gain nothing from a collision in their own
// text.
func (c *content) hash(own, path string) string {
	var sum, folded uint64
	var buf []byte
	count := func(parts ...string) {
		buf = buf[:0]
		for _, part := range parts {
			buf = append(buf, part...)
		}
		sum += xxhash.Sum64(buf)
		folded += xxhash.Sum64(slices.DeleteFunc(buf, func(b byte) bool { return '0' <= b && b <= '9' }))
	}
	add := func(n *html.Node) {
		if text := scanhtml.TextOf(n); text != "" {
			count(text)
		}
		for i, a := range n.Attr {
			switch a.Key {
			case "alt", "datetime", "title":
			case "cite", "data", "href", "poster", "src":
				if isPath(a.Val) || isOwn(a.Val, own) {
					continue
				}
			default:
				continue
			}
			if a.Namespace == "" && !slices.ContainsFunc(n.Attr[:i], func(b html.Attribute) bool { return b.Key == a.Key && b.Namespace == "" }) {
				count(a.Key, "\x00", a.Val)
			}
		}
	}
	if c.heading != nil {
		scanhtml.Each(c.heading, func(n *html.Node) bool { add(n); return true })
	}
	for _, n := range c.marked {
		add(n)
	}
	var link *html.Node // to another page of the site
	c.walk(func(n *html.Node) {
		if link != nil && contains(link, n) {
			return
		}
		link = nil
		if n.DataAtom == atom.A {
			if href, ok := scanhtml.Attr(n, "href"); ok && (isPath(href) || isOwn(href, own)) && !isSelf(href, path) {
				link = n
				return
			}
		}
		add(n)
	})
	return fmt.Sprintf("%016x.%016x", sum, folded)
}

// contains reports whether n is outer or inside of it.
func contains(outer, n *html.Node) bool {
	for n != nil && n != outer {
		n = n.Parent
	}
	return n != nil
}

// isOwn reports whether an absolute address is one of the site.
func isOwn(address, own string) bool {
	return len(address) >= len(own) && strings.EqualFold(address[:len(own)], own) &&
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

// change compares two hashes of a page, before and now. changed reports whether the
// content differs. what identifies the change, apart from digits, so that changes of
// several pages can be compared. Hashes in the form of another version show no change.
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
