package source

import (
	"bytes"
	"regexp"
	"slices"
	"sort"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	gtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// parseMarkdown finds the destinations in masked, a Markdown text whose front
// matter and shortcodes are blanked so that offsets stay those of the file.
// They leave in the order in which they reach the page; so do the headings. text
// is the file as it is.
func (d *document) parseMarkdown(masked, text []byte) {
	links := &offsetParser{InlineParser: parser.NewLinkParser(), at: map[ast.Node]int{}}
	inline := parser.DefaultInlineParsers()
	for i := range inline {
		if inline[i].Value == links.InlineParser { // beside each other they would undo each other's brackets
			inline[i].Value = links
		}
	}
	md := goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(parser.DefaultBlockParsers()...),
			parser.WithInlineParsers(inline...),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
			parser.WithAttribute(),
		)),
		goldmark.WithExtensions(extension.GFM, extension.Footnote, extension.DefinitionList),
	)
	doc := md.Parser().Parse(gtext.NewReader(masked))
	w := markdownWalk{text: masked, unmasked: text, links: links.at, defs: map[string]definition{}, raw: make([]byte, 0)}
	ast.Walk(doc, w.prepare)
	w.html = htmlItems(blankOutside(masked, w.rawSpans))
	ast.Walk(doc, w.visit)
	d.items, d.headings, d.defs, d.plain = w.items, w.headings, w.defs, w.plain.built()
}

type markdownWalk struct {
	text     []byte
	links    map[ast.Node]int
	defs     map[string]definition // by normalised label
	rawSpans [][2]int
	html     []sourceLink
	raw      []byte
	items    []sourceLink
	headings []heading
	unmasked []byte // with what is blanked in text
	plain    plain
}

// prepare collects what links refer to: definitions, and the spans of raw HTML.
func (w *markdownWalk) prepare(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	switch n := n.(type) {
	case *ast.LinkReferenceDefinition:
		label := util.ToLinkReference(n.Label)
		if _, ok := w.defs[label]; !ok && n.Lines().Len() > 0 {
			if at := definitionOffset(w.text, n.Lines().At(0).Start, n.Destination); at >= 0 {
				w.defs[label] = definition{at, markdownAddress(n.Destination)}
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

// definitionOffset finds the destination in a definition that begins at an
// offset: behind "]:" and white space, which may hold a line end and the marks
// of a block quote.
func definitionOffset(text []byte, start int, dest []byte) int {
	n := bytes.Index(text[start:], []byte("]:"))
	if n < 0 {
		return -1
	}
	for i := start + n + 2; i < len(text); i++ {
		switch text[i] {
		case ' ', '\t', '\r', '\n', '>', '<':
			continue
		}
		if bytes.HasPrefix(text[i:], dest) {
			return i
		}
		return -1
	}
	return -1
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
		return ast.WalkSkipChildren, nil // its text is not shown
	case *ast.AutoLink:
		w.autolink(n)
	case *ast.HTMLBlock:
		for i := range n.Lines().Len() {
			s := n.Lines().At(i)
			w.rawItems(s)
			w.plain.addHTML(s.Start, w.text[s.Start:s.Stop])
		}
		if n.HasClosure() {
			w.rawItems(n.ClosureLine)
		}
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			w.rawItems(n.Segments.At(i))
		}
	}
	return ast.WalkContinue, nil
}

// shown adds text that readers see. What is masked in it is not theirs.
func (w *markdownWalk) addText(s gtext.Segment) {
	from := s.Start
	for i := s.Start; i <= s.Stop; i++ {
		if i < s.Stop && w.text[i] == w.unmasked[i] {
			continue
		}
		if i > from {
			w.plain.add(from, w.text[from:i])
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
	at, ok := w.links[n]
	label := ""
	if ref != nil {
		label = util.ToLinkReference(ref.Value)
		var def definition
		def, ok = w.defs[label]
		at = def.at
	}
	if !ok {
		return
	}
	it := sourceLink{order: n.Pos(), at: at, ref: label, element: element, dest: markdownAddress(dest)}
	if element == "a" {
		it.label = w.label(n)
	}
	w.items = append(w.items, it)
}

func (w *markdownWalk) autolink(n *ast.AutoLink) {
	// The node of a bare address has no position, but its label is a part of
	// the text, which ends where the text ends.
	label := n.Label(w.text)
	at := cap(w.text) - cap(label)
	if at < 0 || at > len(w.text) || !bytes.HasPrefix(w.text[at:], label) {
		return
	}
	w.plain.add(at, label)
	w.items = append(w.items, sourceLink{order: at, at: at, element: "a", dest: string(n.URL(w.text)), label: plainLabel(string(label))})
}

func (w *markdownWalk) rawItems(s gtext.Segment) {
	i := sort.Search(len(w.html), func(i int) bool { return w.html[i].at >= s.Start })
	for ; i < len(w.html) && w.html[i].at < s.Stop; i++ {
		w.items = append(w.items, w.html[i])
	}
}

// label returns what a reader sees of a link, as far as it is text.
func (w *markdownWalk) label(n ast.Node) string {
	w.raw = w.raw[:0]
	ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := c.(*ast.Text); ok && entering {
			w.raw = append(w.raw, t.Value(w.text)...)
			w.raw = append(w.raw, ' ')
		}
		return ast.WalkContinue, nil
	})
	return plainLabel(string(w.raw))
}

// markdownAddress is the address that a destination stands for: character
// references and backslashes resolved (CommonMark, section "Links").
func markdownAddress(dest []byte) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(dest))))
}

// blankOutside returns the text with spaces in place of all that is in no span.
func blankOutside(text []byte, spans [][2]int) []byte {
	if len(spans) == 0 {
		return nil
	}
	out := bytes.Repeat([]byte{' '}, len(text))
	for _, s := range spans {
		copy(out[s[0]:s[1]], text[s[0]:s[1]])
	}
	return out
}

// offsetParser is goldmark's parser of links that also remembers where their
// destinations begin: the syntax tree tells only where a link does.
type offsetParser struct {
	parser.InlineParser
	at map[ast.Node]int // inline links only
}

func (p *offsetParser) Parse(parent ast.Node, block gtext.Reader, pc parser.Context) ast.Node {
	at := -1
	if line, _ := block.PeekLine(); len(line) > 1 && line[0] == ']' && line[1] == '(' {
		l, pos := block.Position()
		block.Advance(2)
		block.SkipSpaces()
		if line, s := block.PeekLine(); len(line) > 0 {
			at = s.Start
			if line[0] == '<' {
				at++
			}
		}
		block.SetPosition(l, pos)
	}
	n := p.InlineParser.Parse(parent, block, pc)
	if n == nil || at < 0 {
		return n
	}
	switch l := n.(type) {
	case *ast.Link:
		if l.Reference == nil {
			p.at[n] = at
		}
	case *ast.Image:
		if l.Reference == nil {
			p.at[n] = at
		}
	}
	return n
}

// CloseBlock makes goldmark tidy up the brackets that open no link.
func (p *offsetParser) CloseBlock(parent ast.Node, block gtext.Reader, pc parser.Context) {
	if c, ok := p.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
}

// jsxValue finds what MDX gives to components as an address.
var jsxValue = regexp.MustCompile("\\b(?:to|href|src|link|url|image|img|action)\\s*=\\s*\\{?\\s*[\"'`]([^\"'`\\s]+)[\"'`]")

// addJSX puts the addresses that components get among the items of an MDX
// file, unless they were read as HTML.
func (d *document) addJSX(masked []byte) {
	known := map[int]bool{}
	for _, it := range d.items {
		known[it.at] = true
	}
	for _, v := range jsxValue.FindAllSubmatchIndex(masked, -1) {
		if !known[v[2]] {
			d.items = append(d.items, sourceLink{order: v[2], at: v[2], dest: string(masked[v[2]:v[3]]), isGuess: true})
		}
	}
	slices.SortStableFunc(d.items, func(a, b sourceLink) int { return a.order - b.order })
}
