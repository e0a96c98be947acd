package mdlink

import (
	"sort"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/html"
)

// rawLinks finds the links of HTML that stands in Markdown, by the scanner that
// finds them on the page later.
type rawLinks struct {
	scanner html.Scanner
	html    []byte
	pieces  []piece
}

// piece is one segment of the source in the HTML of a node.
type piece struct{ html, source int }

// each calls add for the links of a node, an inline tag or a block of HTML, with
// the offset of the value in the source.
func (r *rawLinks) each(source []byte, n ast.Node, add func(value string, offset int)) {
	r.html, r.pieces = r.html[:0], r.pieces[:0]
	switch n := n.(type) {
	case *ast.RawHTML:
		r.segments(source, n.Segments)
	case *ast.HTMLBlock:
		r.segments(source, n.Lines())
		if n.HasClosure() {
			r.segment(source, n.ClosureLine)
		}
	}
	// The page that it becomes a part of is UTF-8, whatever a meta element says.
	page := r.scanner.Scan(r.html, scan.Options{Charset: "utf-8"})
	for i := range page.Links {
		l := &page.Links[i]
		add(string(l.Value), r.source(int(page.Source(l.Off))))
	}
}

func (r *rawLinks) segments(source []byte, of *text.Segments) {
	for i := range of.Len() {
		r.segment(source, of.At(i))
	}
}

func (r *rawLinks) segment(source []byte, s text.Segment) {
	r.pieces = append(r.pieces, piece{len(r.html), s.Start - s.Padding})
	r.html = append(r.html, s.Value(source)...)
}

// source returns the offset in the source of an offset in the HTML.
func (r *rawLinks) source(at int) int {
	i := sort.Search(len(r.pieces), func(i int) bool { return r.pieces[i].html > at }) - 1
	if i < 0 {
		return -1
	}
	return max(r.pieces[i].source+at-r.pieces[i].html, 0)
}
