package read

import (
	"bytes"
	"sort"
	"sync"

	"github.com/sitelink/sitelink/internal/scan/markdown"
	"github.com/sitelink/sitelink/internal/text"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	gtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// parseGoldmark parses a Markdown text. What would take too long is left out, see
// [markdown.Effort]: the links there keep their place on the built page.
// over reports that something is.
func parseGoldmark(text []byte) (doc *ast.Document, over bool) {
	parse := parsers.Get().(func(text []byte) (*ast.Document, bool))
	defer parsers.Put(parse)
	return parse(text)
}

// parsers keeps parsers: to make one takes as long as to parse a file of a kilobyte.
var parsers = sync.Pool{New: func() any {
	effort := &markdown.Effort{}
	p := goldmark.New(
		// Behind all others, so that tables are tables.
		goldmark.WithParserOptions(parser.WithParagraphTransformers(util.Prioritized(effort, 1<<30)), parser.WithAttribute()),
		goldmark.WithExtensions(extension.GFM, extension.Footnote, extension.DefinitionList),
	).Parser()
	return func(text []byte) (*ast.Document, bool) {
		if *effort = (markdown.Effort{}); effort.Lines(text) {
			text = nil
		}
		return p.Parse(gtext.NewReader(text)).(*ast.Document), effort.Over
	}
}}

type markdownWalk struct {
	text     []byte
	locator  markdown.Locator
	defs     map[string]Definition // by normalised label, from prepare
	rawSpans [][2]int
	html     []Written
	raw      []byte
	links    []Written
	headings []heading
	unmasked []byte // text before front matter and shortcodes were blanked
	visible  VisibleText
}

// prepare collects the link reference definitions and the spans of raw HTML.
func (w *markdownWalk) prepare(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	switch n := n.(type) {
	case *ast.LinkReferenceDefinition:
		label := util.ToLinkReference(n.Label)
		if _, ok := w.defs[label]; !ok {
			if at := w.locator.Offset(n); at >= 0 {
				w.defs[label] = Definition{at, markdownAddress(n.Destination)}
			}
		}
	case *ast.HTMLBlock:
		for i := range n.Lines().Len() {
			s := n.Lines().At(i)
			w.rawSpans = append(w.rawSpans, [2]int{s.Start, s.Stop})
		}
		if n.HasClosure() {
			w.rawSpans = append(w.rawSpans, [2]int{n.ClosureLine.Start, n.ClosureLine.Stop})
		}
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			s := n.Segments.At(i)
			w.rawSpans = append(w.rawSpans, [2]int{s.Start, s.Stop})
		}
	}
	return ast.WalkContinue, nil
}

func (w *markdownWalk) visit(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	switch n := n.(type) {
	case *ast.Text:
		w.addText(n.Segment)
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		for i := range n.Lines().Len() {
			w.addText(n.Lines().At(i))
		}
	case *ast.Heading:
		if n.Lines().Len() > 0 {
			w.heading(n, n.Lines().At(0).Start)
		}
	case *extast.DefinitionTerm:
		if t, ok := n.FirstChild().(*ast.Text); ok {
			w.heading(n, t.Segment.Start)
		} else if n.HasChildren() && n.FirstChild().Pos() >= 0 {
			w.heading(n, n.FirstChild().Pos())
		}
	case *ast.Link:
		w.link(n, n.Reference, n.Destination, "a")
	case *ast.Image:
		w.link(n, n.Reference, n.Destination, "img")
		return ast.WalkSkipChildren, nil // the alt text is not visible
	case *ast.AutoLink:
		w.autolink(n)
	case *ast.HTMLBlock:
		for i := range n.Lines().Len() {
			s := n.Lines().At(i)
			w.addRawLinks(s)
			w.visible.AddHTML(s.Start, w.text[s.Start:s.Stop])
		}
		if n.HasClosure() {
			w.addRawLinks(n.ClosureLine)
		}
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			w.addRawLinks(n.Segments.At(i))
		}
	}
	return ast.WalkContinue, nil
}

// addText adds visible text, without the parts that are blanked.
func (w *markdownWalk) addText(s gtext.Segment) {
	from := s.Start
	for i := s.Start; i <= s.Stop; i++ {
		if i < s.Stop && w.text[i] == w.unmasked[i] {
			continue
		}
		if i > from {
			w.visible.add(from, w.text[from:i])
		}
		from = i + 1
	}
}

func (w *markdownWalk) heading(n ast.Node, at int) {
	h := heading{at: at, label: w.label(n)}
	if id, ok := n.AttributeString("id"); ok {
		if id, ok := id.([]byte); ok {
			h.id = string(id)
		}
	}
	w.headings = append(w.headings, h)
}

func (w *markdownWalk) link(n ast.Node, ref *ast.ReferenceLink, dest []byte, element string) {
	at, label, form := w.locator.Offset(n), "", FormInline
	if ref != nil {
		label, form = util.ToLinkReference(ref.Value), FormDefinition
	}
	if at < 0 {
		return
	}
	it := Written{Order: n.Pos(), At: at, Ref: label, Element: element, Value: markdownAddress(dest), Form: form}
	if element == "a" {
		it.Label = w.label(n)
	}
	w.links = append(w.links, it)
}

func (w *markdownWalk) autolink(n *ast.AutoLink) {
	label, at := n.Label(w.text), w.locator.Offset(n)
	w.visible.add(at, label)
	value := string(n.URL(w.text))
	if n.AutoLinkType == ast.AutoLinkEmail && !bytes.HasPrefix(bytes.ToLower(label), []byte("mailto:")) {
		value = "mailto:" + value
	}
	w.links = append(w.links, Written{Order: at, At: at, Element: "a", Value: value, Label: PlainLabel(string(label)), Form: FormAutolink})
}

func (w *markdownWalk) addRawLinks(s gtext.Segment) {
	i := sort.Search(len(w.html), func(i int) bool { return w.html[i].At >= s.Start })
	for ; i < len(w.html) && w.html[i].At < s.Stop; i++ {
		w.links = append(w.links, w.html[i])
	}
}

// label returns the visible text of a link, to be compared.
func (w *markdownWalk) label(n ast.Node) string { return PlainLabel(w.plainText(n)) }

// plainText returns the visible text of a node.
func (w *markdownWalk) plainText(n ast.Node) string {
	w.raw = w.raw[:0]
	ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := c.(*ast.Text); ok && entering {
			w.raw = append(w.raw, t.Value(w.text)...)
			if t.SoftLineBreak() || t.HardLineBreak() {
				w.raw = append(w.raw, ' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return string(w.raw)
}

// markdownAddress resolves the character references and backslash escapes of a
// destination (CommonMark, section "Links").
func markdownAddress(dest []byte) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(dest))))
}

// blankOutside returns the text with spaces in place of everything outside of
// the spans.
func blankOutside(text []byte, spans [][2]int) []byte {
	out := bytes.Repeat([]byte{' '}, len(text))
	for _, s := range spans {
		copy(out[s[0]:s[1]], text[s[0]:s[1]])
	}
	return out
}

// jsxValue matches an attribute of an MDX component, or a property of an object, with an
// address as value.
var jsxValue = text.Regexp("\\b(?:to|href|src|link|url|image|img|action)[\"']?\\s*(?:=\\s*\\{?|:)\\s*[\"'`]([^\"'`\\s]+)[\"'`]")
