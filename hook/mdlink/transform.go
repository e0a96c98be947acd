package mdlink

import (
	"bytes"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/hook"
)

// record is what one call of Convert collects.
type record struct {
	file    string
	line    int              // of the file, where the text begins
	offsets map[ast.Node]int // of destinations, in the text
	links   []hook.Link
	done    bool
}

// recordKey is where the context of a parse holds its record.
var recordKey = parser.NewContextKey()

// Other extensions' transformers stand between these two: the first sees
// destinations as they are written, the last as they are rendered.
const (
	firstPriority = -1 << 30
	lastPriority  = 1 << 30
)

// Extend adds the recorder to md, for [goldmark.WithExtensions].
func (r *Recorder) Extend(md goldmark.Markdown) {
	md.Parser().AddOptions(parser.WithASTTransformers(
		util.Prioritized(written{}, firstPriority),
		util.Prioritized(rendered{}, lastPriority)))
}

// written notes where destinations are written, before another transformer
// replaces them.
type written struct{}

func (written) Transform(doc *ast.Document, reader text.Reader, pc parser.Context) {
	rec, ok := pc.Get(recordKey).(*record)
	if !ok {
		return // rendered without Convert
	}
	rec.offsets = map[ast.Node]int{}
	l := locator{source: reader.Source(), doc: doc}
	eachLink(doc, func(n ast.Node) { rec.offsets[n] = l.offset(n) })
}

// rendered notes what destinations are rendered to, in the order of the page.
type rendered struct{}

func (rendered) Transform(doc *ast.Document, reader text.Reader, pc parser.Context) {
	rec, ok := pc.Get(recordKey).(*record)
	if !ok || rec.offsets == nil {
		return
	}
	rec.done = true
	source := reader.Source()
	at := newPlacer(source, rec.line)
	add := func(destination string, offset int) {
		p := check.Position{File: rec.file}
		if offset >= 0 {
			p.Line, p.Column = at.place(offset)
		}
		rec.links = append(rec.links, hook.Link{Destination: destination, Position: p})
	}
	var raw rawLinks
	eachLink(doc, func(n ast.Node) {
		offset, known := rec.offsets[n]
		switch n := n.(type) {
		case *ast.RawHTML, *ast.HTMLBlock:
			if known {
				raw.each(source, n, add)
			}
		default:
			if !known {
				offset = -1 // another extension made the link
			}
			add(rendering(n, source), offset)
		}
	})
	rec.offsets = nil
}

// eachLink calls f for the nodes that can write a link, in the order of the
// page. The text of an image becomes its alt attribute, where nothing is a
// link.
func eachLink(doc *ast.Document, f func(ast.Node)) {
	// The callback returns no error, and so does Walk.
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

// rendering is the value of href or src that goldmark's renderer writes, before
// it is escaped as HTML.
func rendering(n ast.Node, source []byte) string {
	switch n := n.(type) {
	case *ast.Link:
		return string(util.URLEscape(n.Destination, true))
	case *ast.Image:
		return string(util.URLEscape(n.Destination, true))
	case *ast.AutoLink:
		url := util.URLEscape(n.URL(source), false)
		if n.AutoLinkType == ast.AutoLinkEmail && !bytes.HasPrefix(bytes.ToLower(url), []byte("mailto:")) {
			return "mailto:" + string(url)
		}
		return string(url)
	}
	return ""
}
