package verify

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	scanhtml "github.com/sitelink/sitelink/internal/scan/html"
)

// describe returns what the page says about itself next to a link to us. Where the
// link is in an h-entry of microformats2, or the page has one, its properties
// count.
//
// https://microformats.org/wiki/h-entry
func (d *document) describe(link *html.Node) Evidence {
	e := Evidence{Excerpt: excerptAround(link)}
	if entry := d.entryOf(link); entry != nil {
		e.Title = Clean(propertyText(entry, "p-name"), maxTitle)
		e.AuthorName, e.AuthorURL = d.author(entry)
		if content := property(entry, "e-content", "p-content"); content != nil && !contains(content, link) {
			// The link says what the entry is about, such as a reply; what its
			// author has to say is the content.
			if text := Clean(textOf(content, nil), maxExcerpt); text != "" {
				e.Excerpt = text
			}
		}
	}
	if e.Title == "" {
		e.Title = Clean(d.title(), maxTitle)
	}
	if e.AuthorName == "" && e.AuthorURL == "" {
		e.AuthorName = Clean(d.metaAuthor(), maxName)
	}
	e.Lang = d.language(link)
	return e
}

// entryOf returns the innermost h-entry or h-cite around a link, or else the first
// h-entry of the page, or nil.
func (d *document) entryOf(link *html.Node) *html.Node {
	for n := link; n != nil; n = n.Parent {
		if hasClass(n, "h-entry") || hasClass(n, "h-cite") {
			return n
		}
	}
	for n := range d.elements() {
		if hasClass(n, "h-entry") {
			return n
		}
	}
	return nil
}

func hasClass(n *html.Node, names ...string) bool {
	if n.Type != html.ElementNode {
		return false
	}
	classes, _ := attr(n, "class")
	for class := range strings.FieldsSeq(classes) {
		for _, name := range names {
			if class == name {
				return true
			}
		}
	}
	return false
}

// isItem reports whether an element is a microformat of its own.
func isItem(n *html.Node) bool {
	classes, _ := attr(n, "class")
	for class := range strings.FieldsSeq(classes) {
		if strings.HasPrefix(class, "h-") && len(class) > 2 {
			return true
		}
	}
	return false
}

// property returns the first element of an item that has one of its properties.
// The properties of items inside it are not its own.
func property(item *html.Node, names ...string) *html.Node {
	end := scanhtml.Next(item, false)
	for n := scanhtml.Next(item, true); n != nil && n != end; {
		if hasClass(n, names...) {
			return n
		}
		n = scanhtml.Next(n, n.Type != html.ElementNode || !isItem(n) && n.DataAtom != atom.Template)
	}
	return nil
}

// propertyText returns the text of a property: that of the element, or the value
// of the attribute that has it.
func propertyText(item *html.Node, names ...string) string {
	n := property(item, names...)
	if n == nil {
		return ""
	}
	return elementText(n)
}

func elementText(n *html.Node) string {
	name := ""
	switch n.DataAtom {
	case atom.Abbr, atom.Link:
		name = "title"
	case atom.Data, atom.Input:
		name = "value"
	case atom.Img, atom.Area:
		name = "alt"
	}
	if value, ok := attr(n, name); ok && name != "" {
		return value
	}
	return textOf(n, nil)
}

// nameOf returns the name in an element. A picture next to a name is the portrait
// of its owner, with the name as the alternative text.
func nameOf(n *html.Node) string {
	if n == nil {
		return ""
	}
	var words strings.Builder
	end := scanhtml.Next(n, false)
	for c := scanhtml.Next(n, true); c != nil && c != end; c = scanhtml.Next(c, c.Type != html.ElementNode || !silent(c)) {
		if c.Type == html.TextNode {
			words.WriteString(c.Data)
		} else {
			words.WriteByte(' ')
		}
	}
	if name := Clean(words.String(), maxName); name != "" {
		return name
	}
	return Clean(elementText(n), maxName)
}

func contains(outer, n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == outer {
			return true
		}
	}
	return false
}

// author returns the name and the URL of the author of an entry: its p-author,
// often an h-card. The page of an author is never fetched.
func (d *document) author(entry *html.Node) (name, url string) {
	n := property(entry, "p-author", "u-author")
	if n == nil {
		return "", ""
	}
	if hasClass(n, "h-card") {
		name = nameOf(property(n, "p-name"))
		if u := property(n, "u-url"); u != nil {
			url = d.linkURL(u)
		}
	}
	if name == "" {
		name = nameOf(n)
	}
	if url == "" {
		url = d.linkURL(n)
	}
	if hasClass(n, "u-author") && !hasClass(n, "p-author", "h-card") && strings.Contains(name, "://") {
		name = ""
	}
	return name, url
}

// linkURL returns the http or https URL that an element links to, or "".
func (d *document) linkURL(n *html.Node) string {
	href, ok := attr(n, "href")
	if !ok {
		return ""
	}
	u, err := d.base.ResolveWith(strings.Trim(href, "\t\n\f\r "), d.encoding)
	if err != nil || u.Scheme() != "http" && u.Scheme() != "https" || u.HasCredentials() || len(u.String()) > maxURL {
		return ""
	}
	return u.String()
}

// title returns the title of the page.
func (d *document) title() string {
	for n := range d.elements() {
		if n.DataAtom == atom.Title && n.Namespace == "" {
			var b strings.Builder
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				if c.Type == html.TextNode {
					b.WriteString(c.Data)
				}
			}
			return b.String()
		}
	}
	return ""
}

// metaAuthor returns the author in the head of the page.
func (d *document) metaAuthor() string {
	for n := range d.elements() {
		if name, _ := attr(n, "name"); n.DataAtom == atom.Meta && strings.EqualFold(name, "author") {
			content, _ := attr(n, "content")
			return content
		}
	}
	return ""
}

// language returns the language of the text around a link: that of the nearest
// element that has one, or else that of the response. It is "" if the page does
// not say, or not in the form of a language tag.
func (d *document) language(link *html.Node) string {
	for n := link; n != nil; n = n.Parent {
		for _, a := range n.Attr {
			if a.Key == "lang" && (a.Namespace == "" || a.Namespace == "xml") || a.Key == "xml:lang" {
				return languageTag(a.Val)
			}
		}
	}
	first, _, _ := strings.Cut(d.page.header.Get("Content-Language"), ",")
	return languageTag(first)
}

func languageTag(raw string) string {
	tag := strings.TrimSpace(raw)
	if len(tag) > maxLang || strings.HasPrefix(tag, "-") || strings.HasSuffix(tag, "-") {
		return ""
	}
	for _, c := range []byte(tag) {
		if !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-') {
			return ""
		}
	}
	return tag
}
