package html

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/token"
	"golang.org/x/net/html"
)

const (
	// maxSlowBytes limits the size of the pages for the slow path, because the
	// tree takes about fifty times the memory of the text. For a larger page
	// the result of the fast path is used.
	maxSlowBytes = 4 << 20
	// maxMerged limits the number of html and body tags that are marked,
	// because the parser takes quadratic time to merge their attributes.
	maxMerged = 64
)

// slow reads an irregular page. golang.org/x/net/html builds the tree, and then
// the start tags that became elements are read again. The parser does not
// report positions, so each tag is marked first: every "<" with a letter gets
// an attribute, whose name is the offset, after the tag name. If that text is
// not a tag (but a part of a comment, a script or a value), the mark changes
// nothing that matters. An element has several marks if the parser merged the
// attributes of several html or body tags.
func (s *Scanner) slow(from int) {
	text := s.el.Page.Text
	if len(text) > maxSlowBytes {
		return
	}
	root, err := html.ParseWithOptions(bytes.NewReader(markTags(text, from)), html.ParseOptionEnableScripting(false))
	if err != nil {
		return // nested deeper than the parser allows; browsers continue, and so did the fast path
	}
	found := collectMarks(root, text)
	p := &s.el.Page
	p.Irregular = true
	s.el.Clear()
	// Only now is it known which elements hold text, and so which are never
	// closed.
	p.Faults = slices.DeleteFunc(p.Faults, func(f scan.Fault) bool {
		return f.Kind == scan.FaultElement || f.Kind == scan.FaultComment && !isComment(text, f.Off)
	})
	s.reg.reset()
	for i := 0; i < len(found); {
		// Read all tags of one element together: of each attribute the first
		// value counts.
		s.el.Attrs.Seen = 0
		for group := found[i].group; i < len(found) && found[i].group == group; i++ {
			s.readMarked(found[i])
		}
	}
	slices.SortStableFunc(p.Faults, func(a, b scan.Fault) int { return cmp.Compare(a.Off, b.Off) })
	slices.SortStableFunc(p.Adverts, func(a, b scan.Advert) int { return cmp.Compare(a.TagOff, b.TagOff) })
	slices.SortStableFunc(p.Links, func(a, b scan.Link) int { return cmp.Compare(a.Off, b.Off) })
}

// readMarked adds the links of one start tag, without the attributes that an
// earlier tag of the same element has.
func (s *Scanner) readMarked(m tagMark) {
	text := s.el.Page.Text
	i := int(m.off)
	j := i + 2
	for j < len(text) && token.Class[text[j]]&token.ClassNameEnd == 0 {
		j++
	}
	earlier := s.el.Attrs.Seen
	next, _, ok := token.ReadAttrs(text, j, &s.el.Attrs)
	if !ok {
		return
	}
	all := s.el.Attrs.Seen
	s.el.Attrs.Seen &^= earlier
	s.el.Inert = m.inert
	s.element(token.TagAt(text, i+1, j), m.ns, token.NewSpan(i, next))
	s.el.Attrs.Seen = all
}

// isComment reports whether "<!--" at text[off] begins a comment. To find out,
// it parses the text before with a comment and an element after it.
func isComment(text []byte, off uint32) bool {
	const probe = "data-sitelink-probe"
	page := append(bytes.Clone(text[:off]), "<!----><template "+probe+">"...)
	root, err := html.ParseWithOptions(bytes.NewReader(page), html.ParseOptionEnableScripting(false))
	if err != nil {
		return true
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == probe }) {
			return true
		}
	}
	return false
}

const markPrefix = "data-sitelink-at-"

// markTags returns the text with the marks.
func markTags(text []byte, from int) []byte {
	out := make([]byte, 0, len(text)+len(text)/2)
	merged := 0
	for i := from; i < len(text); {
		k := bytes.IndexByte(text[i:], '<')
		if k < 0 || i+k+1 >= len(text) {
			out = append(out, text[i:]...)
			break
		}
		out = append(out, text[i:i+k]...)
		i += k
		j := i + 1
		if token.Class[text[j]]&token.ClassLetter == 0 {
			out = append(out, '<')
			i++
			continue
		}
		for j < len(text) && token.Class[text[j]]&token.ClassNameEnd == 0 {
			j++
		}
		tag := token.TagAt(text, i+1, j)
		for j < len(text) && text[j] == '/' && text[j-1] == '<' {
			// The mark must not split an end tag: "<title>a<b</title>".
			for j++; j < len(text) && token.Class[text[j]]&token.ClassNameEnd == 0; j++ {
			}
		}
		out = append(out, text[i:j]...)
		if j < len(text) && text[j] == '>' && bytes.IndexByte([]byte("-!]"), text[j-1]) >= 0 {
			// The mark must not split the end of a comment or section either:
			// "<!--<b-->". As a tag this would have no attributes.
			i = j
			continue
		}
		if tag == scan.TagHTML || tag == scan.TagBody {
			merged++
			if merged > maxMerged {
				i = j
				continue
			}
		}
		if j < len(text) {
			out = append(out, ' ')
			out = append(out, markPrefix...)
			out = strconv.AppendInt(out, int64(i), 10)
			out = append(out, "=1 "...) // with a value, so that it does not take the value of "<p ='x'>"
		}
		i = j
	}
	return out
}

// tagMark is a start tag that became an element or was merged into one.
type tagMark struct {
	off   uint32
	group uint32 // off of the element's first tag
	ns    Namespace
	inert bool
}

// collectMarks returns the marks in the tree, sorted by group and offset.
func collectMarks(root *html.Node, text []byte) []tagMark {
	var out []tagMark
	seen := map[uint32]bool{}
	var walk func(n *html.Node, inert bool)
	walk = func(n *html.Node, inert bool) {
		for ; n != nil; n = n.NextSibling {
			in := inert
			if n.Type == html.ElementNode {
				out = append(out, marksOf(n, text, inert, seen)...)
				in = in || n.Namespace == "" && n.Data == "template"
			}
			walk(n.FirstChild, in)
		}
	}
	walk(root.FirstChild, false)
	slices.SortFunc(out, func(a, b tagMark) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.off, b.off))
	})
	return out
}

// marksOf returns the marks of one element, except those in seen: the parser
// copies elements (adoption agency algorithm). The mark with the lowest offset
// belongs to the element's own tag. html and body may have more, from tags of
// the same name. All others come from a "<" among the attributes.
func marksOf(n *html.Node, text []byte, inert bool, seen map[uint32]bool) []tagMark {
	var offs []uint32
	for _, a := range n.Attr {
		off, ok := strings.CutPrefix(a.Key, markPrefix)
		v, err := strconv.ParseUint(off, 10, 32)
		if ok && err == nil && !seen[uint32(v)] {
			seen[uint32(v)] = true
			offs = append(offs, uint32(v))
		}
	}
	slices.Sort(offs) // the parser sorts attributes of a, b, font and others by name
	merges := n.Namespace == "" && (n.Data == "html" || n.Data == "body")
	var out []tagMark
	for i, off := range offs {
		if i == 0 || merges && token.Named(text, int(off)+1, n.Data) {
			out = append(out, tagMark{off: off, group: offs[0], ns: namespaceOf(n), inert: inert})
		}
	}
	return out
}

func namespaceOf(n *html.Node) Namespace {
	switch n.Namespace {
	case "svg":
		return SVG
	case "math":
		return MathML
	}
	return HTML
}
