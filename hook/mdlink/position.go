package mdlink

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/html"
)

// locator finds where the destinations of links are written.
type locator struct {
	source []byte
	doc    *ast.Document
	// definitions holds the link reference definitions by label; nil until the
	// first one is needed. The first definition of a label counts (CommonMark
	// 0.31, section 4.7).
	definitions map[string]*ast.LinkReferenceDefinition
}

// offset returns the offset of the first byte of n's destination, for a
// reference link in its definition. It returns -1 if that is not known.
func (l *locator) offset(n ast.Node) int {
	switch n := n.(type) {
	case *ast.Link:
		return l.destination(n, n.Destination, n.Reference)
	case *ast.Image:
		return l.destination(n, n.Destination, n.Reference)
	case *ast.AutoLink:
		return l.sliceOffset(n.Label(l.source))
	}
	return -1 // see rawLinks for HTML
}

func (l *locator) destination(n ast.Node, destination []byte, reference *ast.ReferenceLink) int {
	if at := l.sliceOffset(destination); at >= 0 {
		return at
	}
	// goldmark parses a copy of lines that start in the middle of a tab.
	if reference != nil {
		return l.definition(reference.Value)
	}
	from := endOfText(n)
	i := bytes.Index(l.source[from:], []byte("]("))
	if i < 0 {
		return -1
	}
	return l.after(from+i+len("]("), destination)
}

// sliceOffset returns the offset of b in the source if b is a slice of it, and
// -1 otherwise. goldmark cuts destinations out of the source, and the capacity
// of a slice says how much of the array follows its start.
func (l *locator) sliceOffset(b []byte) int {
	at := cap(l.source) - cap(b)
	if cap(b) == 0 || at < 0 || at+len(b) > len(l.source) || &l.source[:at+1][at] != &b[:1][0] {
		return -1
	}
	return at
}

// after returns the offset of destination, which is written at from, or on the
// next line behind white space and the markers of the blocks around it.
func (l *locator) after(from int, destination []byte) int {
	if len(destination) == 0 {
		return from
	}
	i := bytes.Index(l.source[from:], destination)
	if i < 0 {
		return -1
	}
	return from + i
}

// definition returns the offset of the destination in the definition of a label.
func (l *locator) definition(label []byte) int {
	if l.definitions == nil {
		l.definitions = map[string]*ast.LinkReferenceDefinition{}
		_ = ast.Walk(l.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if d, ok := n.(*ast.LinkReferenceDefinition); ok && entering {
				if key := util.ToLinkReference(d.Label); l.definitions[key] == nil {
					l.definitions[key] = d
				}
			}
			return ast.WalkContinue, nil
		})
	}
	d := l.definitions[util.ToLinkReference(label)]
	if d == nil || d.Pos() < 0 {
		return -1
	}
	i := bytes.Index(l.source[d.Pos():], []byte("]:"))
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

// rawLinks finds the links of HTML in Markdown, with the scanner that later finds
// them on the page.
type rawLinks struct {
	scanner  html.Scanner
	html     []byte
	segments []rawSegment
}

// rawSegment is a segment of the source in the HTML of a node: the offset at
// which it starts in each of them.
type rawSegment struct{ html, source int }

// each calls add for the links of a node, an inline tag or a block of HTML, with
// the offset of the value in the source.
func (r *rawLinks) each(source []byte, n ast.Node, add func(value string, offset int)) {
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
	// The page will be UTF-8, whatever a meta element in this HTML says.
	page := r.scanner.Scan(r.html, scan.Options{Charset: "utf-8"})
	for i := range page.Links {
		l := &page.Links[i]
		add(string(l.Value), r.sourceOffset(int(page.Source(l.Off))))
	}
}

func (r *rawLinks) addSegments(source []byte, of *text.Segments) {
	for i := range of.Len() {
		r.addSegment(source, of.At(i))
	}
}

func (r *rawLinks) addSegment(source []byte, s text.Segment) {
	r.segments = append(r.segments, rawSegment{len(r.html), s.Start - s.Padding})
	r.html = append(r.html, s.Value(source)...)
}

// sourceOffset returns the offset in the source for an offset in the HTML.
func (r *rawLinks) sourceOffset(at int) int {
	i := sort.Search(len(r.segments), func(i int) bool { return r.segments[i].html > at }) - 1
	if i < 0 {
		return -1
	}
	return max(r.segments[i].source+at-r.segments[i].html, 0)
}

// lineCounter turns offsets into lines and columns. It counts from the last
// offset that it was asked for, so that many links on one long line cost no more
// than on short ones.
type lineCounter struct {
	source []byte
	starts []int // offsets of the lines
	line   int   // of the file, where the source starts
	last   int   // the offset of the last call
	runes  int   // code points between the start of its line and last
}

func newLineCounter(source []byte, line int) *lineCounter {
	c := &lineCounter{source: source, starts: []int{0}, line: line}
	for i, b := range source {
		if b == '\n' {
			c.starts = append(c.starts, i+1)
		}
	}
	if bytes.HasPrefix(source, []byte(byteOrderMark)) {
		c.starts[0] = len(byteOrderMark) // it takes no column
	}
	return c
}

const byteOrderMark = "\uFEFF"

// position returns the line in the file and the column in code points, both
// counted from 1, of an offset at which a character starts.
func (c *lineCounter) position(offset int) (line, column int) {
	offset = max(offset, c.starts[0])
	i := sort.SearchInts(c.starts, offset+1) - 1
	start := c.starts[i]
	switch {
	case c.last < start || i+1 < len(c.starts) && c.last >= c.starts[i+1]:
		c.runes = utf8.RuneCount(c.source[start:offset])
	case c.last <= offset:
		c.runes += utf8.RuneCount(c.source[c.last:offset])
	default:
		c.runes -= utf8.RuneCount(c.source[offset:c.last])
	}
	c.last = offset
	return c.line + i, c.runes + 1
}
