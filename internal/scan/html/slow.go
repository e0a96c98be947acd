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
	// maxSlowBytes bounds the slow path, whose tree takes some fifty times the
	// memory of the text. A larger irregular page keeps what the fast path found.
	maxSlowBytes = 4 << 20
	// maxMerged bounds the html and body tags that are marked: the parser takes
	// time in the square of their number to merge their attributes.
	maxMerged = 64
)

// slow judges an irregular page: golang.org/x/net/html builds the tree, and
// the start tags that became elements are read again at their places. The
// parser knows no positions, so each tag is marked before: every "<" with a
// letter gets an attribute of its own name after the tag name. Where that
// text is no tag (comments, scripts, other values) the mark changes nothing
// that matters. Marks that one element collects from several tags are those
// of html and body, whose later attributes are merged.
func (s *Scanner) slow(from int) {
	text := s.el.Page.Text
	if len(text) > maxSlowBytes {
		return
	}
	root, err := html.ParseWithOptions(bytes.NewReader(mark(text, from)), html.ParseOptionEnableScripting(false))
	if err != nil {
		return // nested deeper than the parser goes: browsers go on, and so did the fast path
	}
	found := marked(root, text)
	p := &s.el.Page
	p.Irregular = true
	s.el.Clear()
	// Which elements hold text, and so what never closes, is known only now.
	p.Faults = slices.DeleteFunc(p.Faults, func(f scan.Fault) bool {
		return f.Kind == scan.FaultElement || f.Kind == scan.FaultComment && !isComment(text, f.Off)
	})
	s.reg.reset()
	for i := 0; i < len(found); {
		// The tags of one element in turn: the first value of each attribute
		// counts.
		s.el.Attrs.Seen = 0
		for group := found[i].group; i < len(found) && found[i].group == group; i++ {
			s.readMarked(found[i])
		}
	}
	slices.SortStableFunc(p.Faults, func(a, b scan.Fault) int { return cmp.Compare(a.Off, b.Off) })
	slices.SortStableFunc(p.Adverts, func(a, b scan.Advert) int { return cmp.Compare(a.TagOff, b.TagOff) })
	slices.SortStableFunc(p.Links, func(a, b scan.Link) int { return cmp.Compare(a.Off, b.Off) })
}

// readMarked emits one start tag, less the attributes that an earlier tag of
// the same element had.
func (s *Scanner) readMarked(m marker) {
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

// isComment tells whether "<!--" at text[off] begins a comment: what follows
// one that is closed at once is then an element.
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

// mark inserts the marks.
func mark(text []byte, from int) []byte {
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
			// Nor the end of a comment or section: "<!--<b-->". As a tag it would
			// have no attributes.
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
			out = append(out, "=1 "...) // a value, lest it takes that of "<p ='x'>"
		}
		i = j
	}
	return out
}

// marker is a start tag that became an element, or was merged into one.
type marker struct {
	off   uint32
	group uint32 // off of the element's first tag
	ns    Namespace
	inert bool
}

// marked returns the marks in the tree by group and offset.
func marked(root *html.Node, text []byte) []marker {
	var out []marker
	seen := map[uint32]bool{}
	var walk func(n *html.Node, inert bool)
	walk = func(n *html.Node, inert bool) {
		for ; n != nil; n = n.NextSibling {
			in := inert
			if n.Type == html.ElementNode {
				out = append(out, ofElement(n, text, inert, seen)...)
				in = in || n.Namespace == "" && n.Data == "template"
			}
			walk(n.FirstChild, in)
		}
	}
	walk(root.FirstChild, false)
	slices.SortFunc(out, func(a, b marker) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.off, b.off))
	})
	return out
}

// ofElement returns the marks that one element carries, but those seen
// before: the adoption agency copies elements. Its own tag's is the one with
// the least offset; html and body may have more, of tags of that name, and any
// other is that of a "<" among the attributes.
func ofElement(n *html.Node, text []byte, inert bool, seen map[uint32]bool) []marker {
	var offs []uint32
	for _, a := range n.Attr {
		off, ok := strings.CutPrefix(a.Key, markPrefix)
		v, err := strconv.ParseUint(off, 10, 32)
		if ok && err == nil && !seen[uint32(v)] {
			seen[uint32(v)] = true
			offs = append(offs, uint32(v))
		}
	}
	slices.Sort(offs) // the parser sorts attributes of a, b, font ... by name
	merges := n.Namespace == "" && (n.Data == "html" || n.Data == "body")
	var out []marker
	for i, off := range offs {
		if i == 0 || merges && token.Named(text, int(off)+1, n.Data) {
			out = append(out, marker{off: off, group: offs[0], ns: namespaceOf(n), inert: inert})
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
