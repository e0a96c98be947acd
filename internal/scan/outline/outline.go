// Package outline reads the tree of an HTML page into a list of elements and
// texts, which is what `sitelink diff` needs of a page.
package outline

import (
	"bytes"
	"strings"

	"github.com/sitelink/sitelink/internal/scan/ascii"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Outline is the tree of a page as a list: elements and pieces of text in
// document order, each with the end of its descendants. It leaves out comments,
// white space between elements, and the text of script, style and noscript.
type Outline struct {
	nodes []*html.Node
	ends  []int // the node after the last descendant
}

// Read reads a page. It fails if the page is nested too deeply.
func Read(text []byte) (*Outline, error) {
	doc, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	o := &Outline{}
	o.add(doc)
	return o, nil
}

// add adds what is in a node.
func (o *Outline) add(parent *html.Node) {
	for n := range parent.ChildNodes() {
		if n.Type != html.ElementNode && (n.Type != html.TextNode || strings.Trim(n.Data, ascii.Space) == "") {
			continue
		}
		at := len(o.nodes)
		o.nodes, o.ends = append(o.nodes, n), append(o.ends, 0)
		isMute := n.DataAtom == atom.Script || n.DataAtom == atom.Style || n.DataAtom == atom.Noscript
		if !isMute || n.Namespace != "" {
			o.add(n)
		}
		o.ends[at] = len(o.nodes)
	}
}

// Len returns the number of nodes.
func (o *Outline) Len() int { return len(o.nodes) }

// Node returns node i of the tree.
func (o *Outline) Node(i int) *html.Node { return o.nodes[i] }

// End returns the node after the last descendant of node i.
func (o *Outline) End(i int) int { return o.ends[i] }

// IsText reports whether node i is text.
func (o *Outline) IsText(i int) bool { return o.nodes[i].Type == html.TextNode }

// Tag returns the name of element i. It is 0 for text, and for names that have
// no meaning in HTML.
func (o *Outline) Tag(i int) atom.Atom { return o.nodes[i].DataAtom }

// Foreign reports whether element i belongs to SVG or MathML.
func (o *Outline) Foreign(i int) bool { return o.nodes[i].Namespace != "" }

// Attr returns the value of an attribute of element i.
func (o *Outline) Attr(i int, name string) (value string, ok bool) {
	for _, a := range o.nodes[i].Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val, true
		}
	}
	return "", false
}

// AppendName appends the name of element i in lower case.
func (o *Outline) AppendName(dst []byte, i int) []byte {
	for _, c := range []byte(o.nodes[i].Data) {
		if 'A' <= c && c <= 'Z' { // foreignObject
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// AppendText appends text i. It removes white space (tab, LF, FF, CR and space)
// at both ends and replaces each run of it inside by one space.
func (o *Outline) AppendText(dst []byte, i int) []byte {
	from := len(dst)
	for word := range strings.FieldsFuncSeq(o.nodes[i].Data, func(r rune) bool { return strings.ContainsRune(ascii.Space, r) }) {
		if len(dst) > from {
			dst = append(dst, ' ')
		}
		dst = append(dst, word...)
	}
	return dst
}
