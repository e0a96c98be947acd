package markdown

import (
	"bytes"
	"sort"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/sitelink/sitelink/internal/scan"
	scanhtml "github.com/sitelink/sitelink/internal/scan/html"
)

// EachLink calls f for the nodes that can render a link, in the order of the
// page. The text of an image becomes its alt attribute, which contains no links.
func EachLink(doc *ast.Document, f func(ast.Node)) {
	// Walk returns only the errors of the callback.
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n.(type) {
		case *ast.Image:
			f(n)
			return ast.WalkSkipChildren, nil
		case *ast.Link, *ast.AutoLink, *ast.RawHTML, *ast.HTMLBlock:
			f(n)
		}
		return ast.WalkContinue, nil
	})
}

// A Locator finds where the destinations of links are written.
type Locator struct {
	Source []byte
	Doc    *ast.Document
	// definitions holds the link reference definitions by label; nil until the
	// first one is needed. The first definition of a label counts (CommonMark
	// 0.31, section 4.7).
	definitions map[string]*ast.LinkReferenceDefinition
}

// Offset returns the offset of the first byte of n's destination, for a
// reference link in the first definition of its label. It returns -1 if that is not known.
func (l *Locator) Offset(n ast.Node) int {
	switch n := n.(type) {
	case *ast.Link:
		return l.destination(n, n.Destination, n.Reference)
	case *ast.Image:
		return l.destination(n, n.Destination, n.Reference)
	case *ast.AutoLink:
		return l.sliceOffset(n.Label(l.Source))
	case *ast.LinkReferenceDefinition:
		return l.definition(n)
	}
	return -1 // see RawLinks for HTML
}

func (l *Locator) destination(n ast.Node, destination []byte, reference *ast.ReferenceLink) int {
	if at := l.sliceOffset(destination); at >= 0 {
		return at
	}
	// goldmark parses a copy of lines that start in the middle of a tab.
	if reference != nil {
		return l.labelled(reference.Value)
	}
	from := endOfText(n)
	i := bytes.Index(l.Source[from:], []byte("]("))
	if i < 0 {
		return -1
	}
	return l.after(from+i+len("]("), destination)
}

// sliceOffset returns the offset of b in the source if b is a slice of it, and
// -1 otherwise. goldmark cuts destinations out of the source, and the capacity
// of a slice says how much of the array follows its start.
func (l *Locator) sliceOffset(b []byte) int {
	at := cap(l.Source) - cap(b)
	if cap(b) == 0 || at < 0 || at+len(b) > len(l.Source) || &l.Source[:at+1][at] != &b[:1][0] {
		return -1
	}
	return at
}

// after returns the offset of destination, which is written at from, or on the
// next line behind white space and the markers of the blocks around it.
func (l *Locator) after(from int, destination []byte) int {
	if len(destination) == 0 { // ( ) or (<>)
		return len(l.Source) - len(bytes.TrimPrefix(bytes.TrimLeft(l.Source[from:], " \t\r\n"), []byte("<")))
	}
	i := bytes.Index(l.Source[from:], destination)
	if i < 0 {
		return -1
	}
	return from + i
}

// labelled returns the offset of the destination in the definition of a label.
func (l *Locator) labelled(label []byte) int {
	if l.definitions == nil {
		l.definitions = map[string]*ast.LinkReferenceDefinition{}
		_ = ast.Walk(l.Doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if d, ok := n.(*ast.LinkReferenceDefinition); ok && entering {
				if key := util.ToLinkReference(d.Label); l.definitions[key] == nil {
					l.definitions[key] = d
				}
			}
			return ast.WalkContinue, nil
		})
	}
	if d := l.definitions[util.ToLinkReference(label)]; d != nil {
		return l.definition(d)
	}
	return -1
}

func (l *Locator) definition(d *ast.LinkReferenceDefinition) int {
	if at := l.sliceOffset(d.Destination); at >= 0 || d.Pos() < 0 {
		return at
	}
	i := bytes.Index(l.Source[d.Pos():], []byte("]:"))
	if i < 0 {
		return -1
	}
	return l.after(d.Pos()+i+len("]:"), d.Destination)
}

// endOfText returns an offset after the text of a link and before its
// destination.
func endOfText(n ast.Node) int {
	at := max(n.Pos(), 0)
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			at = max(at, t.Segment.Stop)
		} else if entering {
			at = max(at, n.Pos())
		}
		return ast.WalkContinue, nil
	})
	return at
}

// RawLinks finds the links of HTML in Markdown, with the scanner that finds them
// on a page. The zero value is ready for use.
type RawLinks struct {
	scanner  scanhtml.Scanner
	html     []byte
	segments []rawSegment
}

// rawSegment is a segment of the source in the HTML of a node: the offset at
// which it starts in each of them.
type rawSegment struct{ html, source int }

// Read returns the page that consists of the HTML of a node: an inline tag or a
// block. It is valid until the next call. SourceOffset converts its offsets.
func (r *RawLinks) Read(source []byte, n ast.Node) *scan.Page {
	r.take(source, n)
	// The page will be UTF-8, whatever a meta element in this HTML says.
	return r.scanner.Scan(r.html, scan.Options{Charset: "utf-8"})
}

// take copies the HTML of a node.
func (r *RawLinks) take(source []byte, n ast.Node) {
	r.html, r.segments = r.html[:0], r.segments[:0]
	switch n := n.(type) {
	case *ast.RawHTML:
		r.addSegments(source, n.Segments)
	case *ast.HTMLBlock:
		r.addSegments(source, n.Lines())
		if n.HasClosure() {
			r.addSegment(source, n.ClosureLine)
		}
	}
}

func (r *RawLinks) addSegments(source []byte, of *text.Segments) {
	for i := range of.Len() {
		r.addSegment(source, of.At(i))
	}
}

func (r *RawLinks) addSegment(source []byte, s text.Segment) {
	r.segments = append(r.segments, rawSegment{len(r.html), s.Start - s.Padding})
	r.html = append(r.html, s.Value(source)...)
}

// SourceOffset returns the offset in the source for an offset in the HTML that
// was read last, or -1.
func (r *RawLinks) SourceOffset(at int) int {
	i := sort.Search(len(r.segments), func(i int) bool { return r.segments[i].html > at }) - 1
	if i < 0 {
		return -1
	}
	return max(r.segments[i].source+at-r.segments[i].html, 0)
}
