// Package markdown reads the links of Markdown files: those of a repository, as its forge shows
// them, llms.txt (https://llmstxt.org), and the .md files that generators write beside pages.
//
// goldmark reads the text as CommonMark with the extensions of GitHub. A link counts where its
// destination is written. The package also finds these places for
// [github.com/sitelink/sitelink/hook.Recorder]. It performs no I/O.
package markdown

import (
	"bytes"
	"regexp"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/sitelink/sitelink/internal/scan"
)

// MaxBytes is the size from which a Markdown file is not read. The syntax tree
// takes about ten times the memory of the text.
const MaxBytes = 32 << 20

// Scanner reads Markdown files. The zero value is ready for use.
type Scanner struct {
	b      scan.Builder
	parser parser.Parser
	effort Effort
	plain  plainText
	raw    RawLinks
	defs   map[uint32]bool // offsets of the definitions that links use
	// Slug returns the id that a forge makes of the text of a heading. It is nil where
	// browsers show a Markdown file as plain text: the page has no anchors then.
	Slug func(text string) string
}

// Scan reads a file. The element of a link is "link", "image" or "autolink", its
// attribute is empty; HTML has its own elements and attributes. Several links
// that use the same link reference definition are one, at the definition. A
// definition that none uses is left out, and so is front matter.
// Scan never fails; a file that would take too long is reported as a
// [scan.FaultMarkdown], and some of its links are missing. text must not change while the page is in use, and must be
// shorter than 4 GiB.
func (s *Scanner) Scan(text []byte) *scan.Page {
	s.b.Reset(text, "utf-8")
	s.b.Page.Quirks = false
	if s.parser == nil {
		extensions := []goldmark.Extender{extension.GFM, extension.Footnote}
		if s.Slug == nil {
			extensions = append(extensions, extension.DefinitionList)
		}
		s.parser = goldmark.New(goldmark.WithExtensions(extensions...)).Parser()
		// Behind all others, so that tables are tables.
		s.parser.AddOptions(parser.WithParagraphTransformers(util.Prioritized(&s.plain, 1<<30), util.Prioritized(&s.effort, 1<<30+1)))
		s.defs = map[uint32]bool{}
	}
	clear(s.defs)
	s.effort = Effort{}
	if !s.effort.Lines(text) {
		s.read(withoutFrontMatter(text))
	}
	if s.effort.Over {
		s.b.Fault(s.effort.At, scan.FaultMarkdown, "")
	}
	s.b.SortLinks()
	s.b.RepairUTF8()
	return &s.b.Page
}

func (s *Scanner) read(source []byte) {
	s.plain.off = s.Slug == nil || hasHeading(source)
	doc := s.parser.Parse(text.NewReader(source)).(*ast.Document)
	l := Locator{Source: source, Doc: doc}
	EachLink(doc, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Link:
			s.add(l.Offset(n), n.Destination, scan.KindLink, "link", n.Reference)
		case *ast.Image:
			s.add(l.Offset(n), n.Destination, scan.KindResource, "image", n.Reference)
		case *ast.AutoLink:
			value := n.URL(source)
			if n.AutoLinkType == ast.AutoLinkEmail && !bytes.HasPrefix(value, []byte("mailto:")) {
				value = append([]byte("mailto:"), value...)
			}
			if at := l.Offset(n); at >= 0 {
				s.b.Add(s.b.Value(source, at, at+len(value), value), uint32(at), scan.KindLink, "autolink", "")
			}
		case *ast.RawHTML, *ast.HTMLBlock:
			s.addHTML(source, n)
		}
	})
	if s.Slug != nil {
		f := forgePage{s: s, source: source, locator: &l, used: map[string]int{}, known: bytes.Contains(source, []byte("]["))}
		_ = ast.Walk(doc, f.visit)
		f.anchor("readme", 0) // of the box around the text
		if f.lacks {
			s.b.Page.Anchors = append(s.b.Page.Anchors, f.labels...)
		}
	}
}

// plainText keeps paragraphs without any link from being read further: half of the time of
// goldmark goes into delimiters of emphasis and the like. It is off where the text of a
// paragraph counts: between tags of a heading, and in front of a definition.
type plainText struct{ off bool }

// Transform replaces a paragraph that can have no link, and is not above the line that makes
// it a heading.
func (t *plainText) Transform(p *ast.Paragraph, reader text.Reader, _ parser.Context) {
	bar, _ := reader.PeekLine()
	if bar = bytes.TrimLeft(bar, " \t"); t.off || len(bar) > 0 && (bar[0] == '=' || bar[0] == '-') {
		return
	}
	lines := p.Lines()
	for _, line := range lines.Sliced(0, lines.Len()) {
		line := line.Value(reader.Source())
		if bytes.IndexByte(line, '[') >= 0 || bytes.IndexByte(line, '<') >= 0 || bytes.IndexByte(line, '@') >= 0 ||
			bytes.Contains(line, []byte("://")) || bytes.Contains(line, []byte("www.")) {
			return
		}
	}
	p.Parent().ReplaceChild(p.Parent(), p, ast.NewTextBlock())
}

// add adds the link with the destination at an offset.
func (s *Scanner) add(at int, destination []byte, kind scan.LinkKind, element string, reference *ast.ReferenceLink) {
	if at < 0 {
		return
	}
	off := uint32(at)
	if reference != nil {
		if s.defs[off] {
			return
		}
		s.defs[off] = true
	}
	s.b.Add(s.b.Keep(unescaped(destination)), off, kind, element, "")
}

// unescaped resolves the backslashes and character references of a text.
func unescaped(text []byte) []byte {
	return util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(text)))
}

// addHTML adds the links of HTML. Only a page has a canonical address or sends
// its visitors on.
func (s *Scanner) addHTML(source []byte, n ast.Node) {
	page := s.raw.Read(source, n)
	for i := range page.Links {
		if l := &page.Links[i]; l.Kind >= scan.KindCanonical || l.Kind == scan.KindRefresh {
			l.Kind = scan.KindLink
		}
	}
	s.b.NoteBytes(s.raw.html)
	for _, a := range page.Anchors {
		if s.Slug != nil {
			s.b.Page.Anchors = append(s.b.Page.Anchors, scan.Anchor{Name: s.b.Keep(a.Name), Off: uint32(max(0, s.raw.SourceOffset(int(page.Source(a.Off)))))})
		}
	}
	s.b.AddEmbedded(page, func(off uint32) uint32 {
		return uint32(max(0, s.raw.SourceOffset(int(page.Source(off)))))
	}, nil)
}

// yamlKey matches the first line of front matter in YAML. Without it, a line of
// hyphens is a thematic break.
var yamlKey = regexp.MustCompile(`^(?:[\w-]+\s*:|#)`)

// withoutFrontMatter returns the text with spaces in place of front matter, so
// that offsets stay the same.
func withoutFrontMatter(text []byte) []byte {
	start := scan.UTF8BOMLen(text)
	end, first := scan.LineEnd(text, start)
	fence := string(bytes.TrimRight(text[start:end], " \t"))
	if fence != "+++" && (fence != "---" || !yamlKey.Match(text[first:])) {
		return text
	}
	for i := first; i < len(text); {
		end, next := scan.LineEnd(text, i)
		if string(bytes.TrimRight(text[i:end], " \t")) != fence {
			i = next
			continue
		}
		out := bytes.Clone(text)
		for j := start; j < end; j++ {
			if out[j] != '\n' && out[j] != '\r' {
				out[j] = ' '
			}
		}
		return out
	}
	return text
}

// Effort bounds the time and memory for a text. The time that goldmark needs
// grows with the square of three numbers: the delimiters ("[", "*" ...) of a paragraph or
// line, the depth of block quotes and lists, and link reference definitions side by side.
// 16 KB of "[a](" take 0.4 s. goldmark also pads the rows of tables to the width of the
// first, and compares each footnote with all. The zero value is for one text.
type Effort struct {
	// Over says that the text would take too long, from the offset At on.
	Over    bool
	At      int
	spent   int // steps
	allowed int
}

const (
	// stepsPerByte is how many steps are granted for each byte of a text: 1 MB takes some
	// three seconds. A paragraph of 32 KB may have 1,600 links.
	stepsPerByte = 256
	// fewDelimiters cost nothing worth counting.
	fewDelimiters = 128
	// maxLists is how many block quotes and lists may begin on a line.
	maxLists = 256
	// fewCells is how many cells the rows of tables may lack.
	fewCells = 10_000
)

// add counts steps, and reports whether they are too many.
func (e *Effort) add(steps, at int) bool {
	if e.spent += steps; e.spent > e.allowed && !e.Over {
		e.Over, e.At = true, at
	}
	return e.Over
}

// part counts the delimiters of a part of the text. Some make goldmark look at the rest of
// the part, all at those before.
func (e *Effort) part(delimiters, bytes, at int) bool {
	if delimiters <= fewDelimiters {
		return e.Over
	}
	return e.add(delimiters*(delimiters+bytes/8), at)
}

// Lines counts each line of a text, and what lines without blank ones between them make
// together. It reports whether they are too many.
func (e *Effort) Lines(text []byte) (over bool) {
	e.allowed = stepsPerByte * len(text)
	notes, references, cells := 0, 0, 0
	run, definitions, columns := 0, 0, 0 // of lines that are not blank
	for i := 0; i < len(text); {
		end, next := scan.LineEnd(text, i)
		line := text[i:end]
		if depthOf(line) > maxLists {
			e.Over, e.At = true, i
		}
		if len(line) > fewDelimiters && e.part(delimiters(line), len(line), i) {
			return true
		}
		bracket := bytes.IndexByte(line, '[') >= 0
		if bracket {
			references += bytes.Count(line, []byte("[^"))
			if bytes.HasPrefix(line, []byte("[^")) {
				notes++
			}
		}
		switch blank := len(bytes.TrimSpace(line)) == 0; {
		case blank:
			run, definitions, columns = 0, 0, 0
		default:
			run++
			if bracket && bytes.Contains(line, []byte("]:")) {
				definitions++
				if e.add(run/16, i) { // all lines move
					return true
				}
			}
			if bytes.IndexByte(line, '|') >= 0 && len(bytes.Trim(line, "|-: \t>")) == 0 {
				columns = max(columns, bytes.Count(line, []byte("|")))
			}
			if cells += columns; cells > fewCells+len(text)/2 {
				e.Over, e.At = true, i
				return true
			}
		}
		i = next
	}
	return e.add(notes*references/16, 0)
}

// Transform removes a paragraph that would take too long.
func (e *Effort) Transform(p *ast.Paragraph, reader text.Reader, _ parser.Context) {
	lines, n, size := p.Lines(), 0, 0
	for _, line := range lines.Sliced(0, lines.Len()) {
		size += line.Len()
	}
	if lines.Len() == 1 || size <= fewDelimiters { // one line has been counted
		return
	}
	for _, line := range lines.Sliced(0, lines.Len()) {
		n += delimiters(line.Value(reader.Source()))
	}
	if e.part(n, size, lines.At(0).Start) {
		p.Parent().RemoveChild(p.Parent(), p)
	}
}

func delimiters(line []byte) (n int) {
	for _, c := range line {
		n += int(isDelimiter[c])
	}
	return n
}

var isDelimiter = [256]uint8{'[': 1, '*': 1, '_': 1, '~': 1, '<': 1}

// depthOf returns how many markers of block quotes and lists a line begins with.
func depthOf(line []byte) (n int) {
	for i, c := range line {
		isMarker := c == '-' || c == '+' || c == '*' || c == '.' || c == ')'
		switch {
		case c == '>', isMarker && i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t'):
			n++
		case c != ' ' && c != '\t' && !isMarker && !scan.IsDigit(c):
			return n
		}
	}
	return n
}
