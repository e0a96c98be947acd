package outgoing

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// walk calls f for n and all below it, in document order. Where f is false it
// goes no deeper. It needs no stack: pages may be nested a million deep.
func walk(root *html.Node, f func(*html.Node) bool) {
	for n := root; n != nil; {
		if f(n) && n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		for n != root && n.NextSibling == nil {
			n = n.Parent
		}
		if n == root {
			return
		}
		n = n.NextSibling
	}
}

// outermost returns the elements below n that fit and stand in no other such.
func outermost(n *html.Node, fits func(*html.Node) bool) []*html.Node {
	return outermostIn(n, fits, func(*html.Node) bool { return false })
}

// outermostIn leaves out what stands in an element that is closed, too.
func outermostIn(root *html.Node, fits, closed func(*html.Node) bool) (found []*html.Node) {
	walk(root, func(n *html.Node) bool {
		switch {
		case n.Type != html.ElementNode || n == root:
			return true
		case n.DataAtom == atom.Template:
			return false
		case fits(n):
			found = append(found, n)
			return false
		}
		return !closed(n)
	})
	return found
}

func isElement(a atom.Atom) func(*html.Node) bool {
	return func(n *html.Node) bool { return n.DataAtom == a && n.Namespace == "" }
}

func attributeOf(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val, true
		}
	}
	return "", false
}

func attribute(n *html.Node, name string) string {
	value, _ := attributeOf(n, name)
	return value
}

func hasClass(n *html.Node, class string) bool {
	return slices.Contains(strings.Fields(attribute(n, "class")), class)
}

// baseHref returns the first base element's address.
func baseHref(doc *html.Node) (href string, ok bool) {
	walk(doc, func(n *html.Node) bool {
		if !ok && n.DataAtom == atom.Base {
			href, ok = attributeOf(n, "href")
		}
		return !ok
	})
	return href, ok
}
