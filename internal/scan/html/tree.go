package html

// The tree of golang.org/x/net/html, within limits, is for those who need to know what is
// inside of what on a page.

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/scan"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// maxParsed limits the bytes of a page that is parsed. Its tree takes about ten times
	// the memory, and that of many short tags a hundred times.
	maxParsed = 16 << 20
	// maxMerged limits the number of html and body tags of a page, because the parser takes
	// quadratic time to merge their attributes: three minutes for 1 MiB of them.
	maxMerged = 64
	// maxCopies limits the elements that the parser adds for formatting elements that are
	// not closed. Each paragraph opens again up to three of those that are equal (HTML
	// 13.2.4.3), and all that differ: without a limit, 1 MiB of text takes 18 GB.
	maxCopies = 4 << 20
)

var (
	errTooDeep = errors.New("nested more than 512 deep")
	errTooMuch = errors.New("too large, or has too many elements that are not closed")
)

// Parse returns the tree of a page, which is in UTF-8, as in a browser with or without
// scripts. The error means that the parser would take too much time or memory: the page is
// larger than 16 MiB, nested more than 512 deep, or made to be costly.
func Parse(text []byte, scripts bool) (*html.Node, error) {
	if isCostly(text, false) {
		return nil, errTooMuch
	}
	root, err := html.ParseWithOptions(bytes.NewReader(text), html.ParseOptionEnableScripting(scripts))
	if err != nil {
		return nil, errTooDeep // the only error in a text in memory
	}
	return root, nil
}

// formatting are the elements that are opened again if they are not closed (HTML
// 13.2.4.2). An a element is not among them, because the next one closes it.
var formatting = map[string]bool{"b": true, "big": true, "code": true, "em": true, "font": true, "i": true, "nobr": true,
	"s": true, "small": true, "strike": true, "strong": true, "tt": true, "u": true}

// isCostly reports whether a page may exceed one of the limits. It takes each "<" for a
// tag, wherever it is, and so never misses one. unlike says that equal tags with attributes
// have different marks, see markTags. Without it, a parser opens at most three of them
// again.
func isCostly(text []byte, unlike bool) bool {
	const window = 4 << 10 // limits the length of the start tag of a formatting element
	work, merged := 0, 0
	open := map[string]bool{} // the formatting elements that are not closed soon
	for i := 0; ; i++ {
		k := bytes.IndexByte(text[i:], '<')
		if k < 0 {
			return len(text) > maxParsed
		}
		i += k
		work++
		name := tagName(text, i+1)
		if string(name) == "html" || string(name) == "body" {
			merged++
		} else if formatting[string(name)] {
			near := text[i:min(len(text), i+window)]
			end, _, ok := scan.ReadAttrs(near, 1+len(name), nil)
			if !ok && len(near) == window {
				return true
			}
			if !closesSoon(near[end:], name) {
				tag := string(near[:end])
				if unlike && end > len("<>")+len(name) {
					tag += strconv.Itoa(i)
				}
				open[tag] = true
				work += end * end / 1600 // comparing all attributes of two elements, in elements added
			}
		}
		if merged > maxMerged || min(3*len(open), 512)*work > maxCopies {
			return true
		}
	}
}

// tagName returns the name at text[i] in lower case, and no more than 8 bytes of it.
func tagName(text []byte, i int) []byte {
	var name [8]byte
	n := 0
	for ; n < len(name) && i+n < len(text) && scan.Class[text[i+n]]&scan.ClassNameEnd == 0; n++ {
		name[n] = text[i+n] | 0x20
	}
	return name[:n]
}

// closesSoon reports whether the formatting element with that name is closed soon. Its
// start tag is before text. Only text may come before its end tag, and tags that leave
// it open: a, span and other formatting elements, as in <code id="x"><a
// href="y">z</a></code>.
func closesSoon(text, name []byte) bool {
	for range 8 {
		k := bytes.IndexByte(text, '<')
		if k < 0 || k+1 == len(text) {
			return false
		}
		at, ends := k+1, text[k+1] == '/'
		if ends {
			at++
		}
		other := tagName(text, at)
		end, _, ok := scan.ReadAttrs(text, at+len(other), nil)
		same := bytes.Equal(other, name)
		if !ok || same || string(other) != "a" && string(other) != "span" && !formatting[string(other)] {
			return ok && same && ends
		}
		text = text[end:]
	}
	return false
}

// plain are elements that a parser leaves where they are, if each is closed: "/" is for
// those without content.
var plain = strings.Fields("a abbr b br/ code div em hr/ i img/ li ol p small span strong svg time ul wbr/")

// IsApart reports whether it is certain, without a tree, that none of the links with
// values at these offsets is in the content of the page. That takes a page without an
// article and without a heading of the first four levels that begins with a link. Each
// link must be in a nav, aside or footer element with plain tags that are all closed, or
// belong to another element than a and area.
func IsApart(text []byte, links []int) bool {
	var ranges []scan.Span
	heading := false // within one that has no text yet
	for i := 0; ; {
		k := bytes.IndexByte(text[i:], '<')
		if k < 0 || i+k+1 == len(text) {
			break
		}
		heading = heading && len(scan.Trim(text[i:i+k])) == 0
		i += k + 1
		if bytes.HasPrefix(text[i:], []byte("!--")) {
			i, _ = scan.CommentEnd(text, i+len("!--"))
			continue
		}
		name := tagName(text, i)
		var set scan.AttrSet
		next, _, ok := scan.ReadAttrs(text, i+len(name), &set)
		switch string(name) {
		case "article", "select", "template":
			return false
		case "h1", "h2", "h3", "h4":
			heading = true
		case "nav", "aside", "footer":
			if end := plainEnd(text, next, name); end > 0 {
				ranges = append(ranges, scan.NewSpan(next, end))
				next = end
			}
		case "script":
			next = scan.ScriptEnd(text, next)
		case "style", "title", "textarea", "noscript", "iframe", "noembed", "noframes", "xmp":
			next = scan.RawEnd(text, next, string(name))
		case "", "span":
		default:
			if heading && (string(name) != "a" || set.Has(scan.AttrHref)) {
				return false
			}
		}
		if !ok {
			return false
		}
		i = next
	}
	return !slices.ContainsFunc(links, func(off int) bool {
		tag := bytes.LastIndexByte(text[:min(off, len(text))], '<')
		if tag < 0 || bytes.IndexByte(text[tag:off], '>') >= 0 {
			return true
		}
		name := string(tagName(text, tag+1))
		return (name == "a" || name == "area") && !slices.ContainsFunc(ranges, func(r scan.Span) bool { return int(r.Start) <= off && off < int(r.End) })
	})
}

// plainEnd returns the offset of the end tag of an element. The content of the element
// begins at text[i]. plainEnd returns 0 if the content has other tags than plain ones, or
// a tag that is not closed.
func plainEnd(text []byte, i int, around []byte) int {
	open, count := map[string]int{}, 0
	for ok := true; ok; {
		k := bytes.IndexByte(text[i:], '<')
		if k < 0 || i+k+1 == len(text) {
			return 0
		}
		at := i + k
		i = at + 1
		if bytes.HasPrefix(text[i:], []byte("!--")) {
			i, ok = scan.CommentEnd(text, i+len("!--"))
			continue
		}
		step := 1
		if text[i] == '/' {
			i, step = i+1, -1
		}
		name := string(tagName(text, i))
		i, _, ok = scan.ReadAttrs(text, i+len(name), nil)
		switch {
		case step < 0 && name == string(around) && count == 0:
			return at
		case step > 0 && slices.Contains(plain, name+"/"):
		case !slices.Contains(plain, name) || open[name]+step < 0:
			return 0
		default:
			open[name] += step
			count += step
		}
	}
	return 0
}

// Next returns the node after n in document order: its first child if inside is set, or
// else the first one after its end. It needs no stack, however deep the page is.
func Next(n *html.Node, inside bool) *html.Node {
	if inside && n.FirstChild != nil {
		return n.FirstChild
	}
	for ; n != nil; n = n.Parent {
		if n.NextSibling != nil {
			return n.NextSibling
		}
	}
	return nil
}

// Each calls f for root and the nodes in it, in document order. If f returns false for a
// node, Each skips the nodes inside.
func Each(root *html.Node, f func(n *html.Node) (inside bool)) {
	for n, end := root, Next(root, false); n != end; {
		n = Next(n, f(n))
	}
}

// Attr returns the value of an attribute of an element. It knows none with a namespace.
func Attr(n *html.Node, name string) (value string, ok bool) {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val, true
		}
	}
	return "", false
}

// HasClass reports whether an element has a class that is accepts.
func HasClass(n *html.Node, is func(class string) bool) bool {
	classes, _ := Attr(n, "class")
	for from := 0; from < len(classes); {
		to := from
		for to < len(classes) && scan.Class[classes[to]]&scan.ClassSpace == 0 {
			to++
		}
		if to > from && is(classes[from:to]) {
			return true
		}
		from = to + 1
	}
	return false
}

// IsElement reports whether a node is an HTML element with that name.
func IsElement(n *html.Node, name atom.Atom) bool {
	return n.Type == html.ElementNode && n.DataAtom == name && n.Namespace == ""
}

// TextOf returns the text of a node with its white space folded (tab, LF, FF, CR and
// space): none at both ends, and one space for each inside. It is "" for an element, and
// in script, style and noscript.
func TextOf(n *html.Node) string {
	if n.Type != html.TextNode {
		return ""
	}
	if in := n.Parent; in != nil && in.Namespace == "" && (in.DataAtom == atom.Script || in.DataAtom == atom.Style || in.DataAtom == atom.Noscript) {
		return ""
	}
	text := strings.Trim(n.Data, scan.Space)
	for i := range len(text) {
		if c := text[i]; scan.Class[c]&scan.ClassSpace != 0 && (c != ' ' || scan.Class[text[i+1]]&scan.ClassSpace != 0) {
			return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(scan.Space, r) }), " ")
		}
	}
	return text
}

// IsTombstone reports whether a page says in its head that it was deleted, with
//
//	<meta http-equiv="Status" content="410 Gone">
func IsTombstone(root *html.Node) (found bool) {
	Each(root, func(n *html.Node) bool {
		if n.DataAtom == atom.Meta {
			equiv, _ := Attr(n, "http-equiv")
			status, _ := Attr(n, "content")
			found = found || strings.EqualFold(equiv, "status") && strings.HasPrefix(strings.TrimSpace(status), "410")
		}
		return n.DataAtom != atom.Body
	})
	return found
}
