package html

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/scan"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// maxSlowBytes limits the size of the pages for the slow path, because the
	// tree takes about fifty times the memory of the text. A larger page is
	// read loosely.
	maxSlowBytes = 4 << 20
	// maxTreeBytes limits the text that is parsed for one page, because each
	// template inside svg or math takes two more passes.
	maxTreeBytes = 64 << 20
)

// slow reads an irregular page. golang.org/x/net/html builds the tree, and then
// the start tags that became elements are read again. The parser does not
// report positions, so each tag is marked first: every "<" with a letter gets
// an attribute after the tag name, and the attribute's name is the offset. If
// that text is not a tag (but a part of a comment, a script or a value), the
// mark changes nothing that matters. An element has several marks if the parser
// merged the attributes of several html or body tags.
func (s *Scanner) slow(from int) {
	text := s.el.Page.Text
	if len(text) > maxSlowBytes {
		s.readLoosely(from, "larger than 4 MiB")
		return
	}
	if isCostly(text, true) {
		s.readLoosely(from, "full of elements that are not closed")
		return
	}
	t := treeReader{text: text, budget: max(maxTreeBytes, 2*len(text))}
	if err := t.read(from, nil); err != nil {
		s.readLoosely(from, err.Error())
		return
	}
	text, found := t.text, t.found
	p := &s.el.Page
	p.Irregular = true
	s.el.Clear()
	slices.SortFunc(found, func(a, b tagMark) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.off, b.off))
	})
	// Only now is it known which elements hold text, and so which are never
	// closed. Scripts are read again.
	p.Faults = slices.DeleteFunc(p.Faults, func(f scan.Fault) bool {
		return f.Kind == scan.FaultElement || f.Kind == scan.FaultScript || f.Kind == scan.FaultComment && !isComment(text, f.Off)
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
	slices.SortStableFunc(p.Scripts, func(a, b scan.Script) int { return cmp.Compare(a.TagOff, b.TagOff) })
	slices.SortStableFunc(p.Links, func(a, b scan.Link) int { return cmp.Compare(a.Off, b.Off) })
}

// readMarked adds the links of one start tag, without the attributes that an
// earlier tag of the same element has.
func (s *Scanner) readMarked(m tagMark) {
	text := s.el.Page.Text
	i := int(m.off)
	j := i + 2
	for j < len(text) && scan.Class[text[j]]&scan.ClassNameEnd == 0 {
		j++
	}
	earlier := s.el.Attrs.Seen
	next, _, ok := scan.ReadAttrs(text, j, &s.el.Attrs)
	if !ok {
		return
	}
	all := s.el.Attrs.Seen
	s.el.Attrs.Seen &^= earlier
	s.el.Inert, s.el.Shadow, s.el.Around = m.inert, m.shadow, m.exempt
	s.element(scan.TagAt(text, i+1, j), m.ns, scan.NewSpan(i, next))
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

// instead is the element that stands for templates that are not to be read. It
// has no content and may be anywhere.
const instead = "basefont"

// markTags returns the text with the marks. From offset voids on, templates
// become other elements.
func markTags(text []byte, from, voids int) []byte {
	out := make([]byte, 0, len(text)+len(text)/2)
	for i := from; i < len(text); {
		k := bytes.IndexByte(text[i:], '<')
		if k < 0 || i+k+1 >= len(text) {
			out = append(out, text[i:]...)
			break
		}
		out = append(out, text[i:i+k]...)
		i += k
		j := i + 1
		if scan.Class[text[j]]&scan.ClassLetter == 0 {
			out = append(out, '<')
			i++
			continue
		}
		for j < len(text) && scan.Class[text[j]]&scan.ClassNameEnd == 0 {
			j++
		}
		tag := scan.TagAt(text, i+1, j)
		for j < len(text) && text[j] == '/' && text[j-1] == '<' {
			// The mark must not split an end tag: "<title>a<b</title>".
			for j++; j < len(text) && scan.Class[text[j]]&scan.ClassNameEnd == 0; j++ {
			}
		}
		if i >= voids && tag == scan.TagTemplate {
			out = append(append(out, '<'), instead...)
		} else {
			out = append(out, text[i:j]...)
		}
		if j < len(text) && text[j] == '>' && bytes.IndexByte([]byte("-!]"), text[j-1]) >= 0 {
			// The mark must not split the end of a comment or section either:
			// "<!--<b-->". As a tag this would have no attributes.
			i = j
			continue
		}
		if bare := j < len(text) && text[j] == '>' && formatting[string(tagName(text, i+1))]; bare {
			// Without attributes it has nothing to read. With the mark, the parser would not
			// see that several such tags are equal, and open all of them again.
			i = j
			continue
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
	// foreign means that the element is inside svg or math, root that it begins
	// a declarative shadow root, shadow that it does or is inside one.
	foreign, root, shadow bool
	exempt                *string // see [scan.Link]
}

// treeReader finds the start tags that became elements.
//
// golang.org/x/net/html ignores the rest of a page after an HTML template
// inside svg or math, as in <svg><foreignObject><template>. What is inside a
// template has no effect on what is outside. So the tree reader replaces such a
// template by spaces, parses the page again, and parses the content of the
// template on its own.
type treeReader struct {
	text   []byte // without the templates that were replaced
	found  []tagMark
	budget int // number of bytes that may still be parsed
}

var errManyTemplates = errors.New("full of templates inside svg and math")

// read adds the start tags of the text from offset from on. context is nil for
// a page, and otherwise the template that contains the text.
func (t *treeReader) read(from int, context *tagMark) error {
	cloned := false
	for {
		found, err := t.parse(from, context, len(t.text))
		if err != nil {
			return err
		}
		at, err := t.lostTemplate(from, context, found)
		if err != nil {
			return err
		}
		if at == nil {
			t.found = append(t.found, found...)
			return nil
		}
		if !cloned {
			t.text, cloned = bytes.Clone(t.text), true
		}
		start := int(at.off)
		inside, _, _ := scan.ReadAttrs(t.text, start+len("<template"), nil)
		w := headParser{text: t.text, at: inside}
		w.skipTemplate(false)
		content := treeReader{text: t.text[:w.at], budget: t.budget}
		if err := content.read(inside, at); err != nil {
			return err
		}
		t.budget = content.budget
		at.foreign = false
		t.found = append(append(t.found, *at), content.found...)
		for i := start; i < w.at; i++ {
			t.text[i] = ' '
		}
	}
}

// lostTemplate returns the template after which the parser ignored everything,
// or nil. found are the tags before it. To find out, it parses the text with
// other elements in place of the templates that follow.
func (t *treeReader) lostTemplate(from int, context *tagMark, found []tagMark) (*tagMark, error) {
	last := from
	for _, m := range found {
		last = max(last, int(m.off)+1)
	}
	if scan.IndexFold(t.text[last:], "<template") < 0 {
		return nil, nil
	}
	others, err := t.parse(from, context, last)
	if err != nil {
		return nil, err
	}
	var lost *tagMark
	for i, m := range others {
		if int(m.off) >= last && m.foreign && m.ns == HTML && scan.Named(t.text, int(m.off)+1, "template") && (lost == nil || m.off < lost.off) {
			lost = &others[i]
		}
	}
	return lost, nil
}

// parse returns the marks in the tree of the text from offset from on. From
// offset voids on, templates are replaced.
func (t *treeReader) parse(from int, context *tagMark, voids int) ([]tagMark, error) {
	if t.budget -= len(t.text) - from; t.budget < 0 {
		return nil, errManyTemplates
	}
	r, option := bytes.NewReader(markTags(t.text, from, voids)), html.ParseOptionEnableScripting(false)
	c := markCollector{text: t.text, seen: map[uint32]bool{}, hosts: map[*html.Node]bool{}}
	if context != nil {
		nodes, err := html.ParseFragmentWithOptions(r, &html.Node{Type: html.ElementNode, Data: "template", DataAtom: atom.Template}, option)
		if err != nil {
			return nil, errTooDeep
		}
		for _, n := range nodes {
			c.walk(n, tagMark{inert: context.inert || !context.root, shadow: context.shadow})
		}
		return c.out, nil
	}
	root, err := html.ParseWithOptions(r, option)
	if err != nil {
		return nil, errTooDeep
	}
	c.walk(root, tagMark{})
	return c.out, nil
}

// markCollector collects the marks in a tree.
type markCollector struct {
	text  []byte
	seen  map[uint32]bool
	hosts map[*html.Node]bool // have a shadow root
	out   []tagMark
}

// walk adds the marks of n and the nodes below it, which are where in says.
func (c *markCollector) walk(n *html.Node, in tagMark) {
	if n.Type == html.ElementNode {
		in.ns = namespaceOf(n)
		in.root = beginsShadow(n) && !c.hosts[n.Parent]
		if in.root {
			c.hosts[n.Parent] = true
		}
		in.shadow = in.shadow || in.root
		c.out = append(c.out, marksOf(n, c.text, in, c.seen)...)
		in.inert = in.inert || n.Namespace == "" && n.Data == "template" && !in.root
		in.foreign = in.foreign || n.Namespace != ""
		for _, a := range n.Attr {
			if scan.AttrAt([]byte(a.Key), 0, len(a.Key)) == scan.AttrExempt {
				in.exempt = &a.Val
				break
			}
		}
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		c.walk(child, in)
	}
}

// beginsShadow reports whether n is a declarative shadow root, if its parent
// has no other (HTML 13.2.6.4.4; DOM, "valid shadow host name"). n may be the
// element that stands for a template.
func beginsShadow(n *html.Node) bool {
	if n.Namespace != "" || n.Data != "template" && n.Data != instead || n.Parent == nil || n.Parent.Namespace != "" {
		return false
	}
	name := n.Parent.Data
	if !shadowHosts[name] && (strings.IndexByte(name, '-') < 0 || noCustomElements[name]) {
		return false
	}
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool {
		return a.Key == "shadowrootmode" && (scan.EqualFold([]byte(a.Val), "open") || scan.EqualFold([]byte(a.Val), "closed"))
	})
}

// shadowHosts are the elements that can have a shadow root, next to custom
// elements. noCustomElements have names like those.
var (
	shadowHosts = map[string]bool{"article": true, "aside": true, "blockquote": true, "body": true, "div": true, "footer": true, "h1": true,
		"h2": true, "h3": true, "h4": true, "h5": true, "h6": true, "header": true, "main": true, "nav": true, "p": true, "section": true, "span": true}
	noCustomElements = map[string]bool{"annotation-xml": true, "color-profile": true, "font-face": true, "font-face-src": true,
		"font-face-uri": true, "font-face-format": true, "font-face-name": true, "missing-glyph": true}
)

// readLoosely reads an irregular page without its tree, and notes why. Inside
// svg and math the first tag that is in doubt ends them, so that the links
// after it are found.
func (s *Scanner) readLoosely(from int, reason string) {
	p := &s.el.Page
	p.Faults = p.Faults[:0]
	p.SecondHead = 0
	s.el.Clear()
	s.reg.reset()
	s.reg.loose = true
	s.sawDoctype = false
	s.scanTags(from)
	p.Faults = slices.Insert(p.Faults, 0, scan.Fault{Kind: scan.FaultTree, Name: reason})
}

// marksOf returns the marks of one element, except those in seen: the parser
// copies elements (adoption agency algorithm). The mark with the lowest offset
// belongs to the element's own tag. html and body may have more, from tags of
// the same name. All others come from a "<" among the attributes.
func marksOf(n *html.Node, text []byte, in tagMark, seen map[uint32]bool) []tagMark {
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
		if i == 0 || merges && scan.Named(text, int(off)+1, n.Data) {
			in.off, in.group = off, offs[0]
			out = append(out, in)
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
