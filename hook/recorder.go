package hook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"sync"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/scan/markdown"
)

// Input is a Markdown text and the file that contains it.
type Input struct {
	// File is the name of the file in reports: a slash path relative to the root
	// of the project.
	File string
	// Line is the line of the file at which Text starts, for programs that remove
	// the front matter; 0 means 1.
	Line int
	// Text is the Markdown to render. It must not change during the call.
	Text []byte
}

// Recorder is an extension of goldmark that records where the links of documents
// are written, and the pages that contain the documents. Nothing is parsed a
// second time. Links that other extensions add or change are recorded with the
// destination that is rendered. The zero value is ready to use. A
// Recorder is safe for concurrent use; do not copy it after first use.
type Recorder struct {
	mu    sync.Mutex
	pages map[string][]Source
}

// Document is one rendered text. It is safe for concurrent use.
type Document struct {
	recorder *Recorder
	source   Source
}

// ErrNoExtension means that the recorder is not among the extensions of the
// goldmark.Markdown.
var ErrNoExtension = errors.New("the recorder is not an extension of this goldmark.Markdown; pass it to goldmark.WithExtensions")

// Extend adds the recorder to md. [goldmark.WithExtensions] calls it.
func (r *Recorder) Extend(md goldmark.Markdown) {
	md.Parser().AddOptions(parser.WithASTTransformers(
		util.Prioritized(locate{}, firstPriority),
		util.Prioritized(collect{}, lastPriority)))
}

// Convert renders in to w with md and records its links. md must have a Recorder
// among its extensions. opts are passed on to goldmark; a context among them is
// used. If md fails, nothing is written to w. The errors are [ErrNoExtension] and
// those of md and w.
func (r *Recorder) Convert(md goldmark.Markdown, in Input, w io.Writer, opts ...parser.ParseOption) (*Document, error) {
	var config parser.ParseConfig
	for _, opt := range opts {
		opt(&config)
	}
	if config.Context == nil {
		config.Context = parser.NewContext()
	}
	rec := &record{file: in.File, line: max(in.Line, 1)}
	config.Context.Set(recordKey, rec)
	var html bytes.Buffer
	if err := md.Convert(in.Text, &html, append(slices.Clone(opts), parser.WithContext(config.Context))...); err != nil {
		return nil, fmt.Errorf("render %s: %w", in.File, err)
	}
	if !rec.done {
		return nil, fmt.Errorf("render %s: %w", in.File, ErrNoExtension)
	}
	if _, err := w.Write(html.Bytes()); err != nil {
		return nil, fmt.Errorf("write the HTML of %s: %w", in.File, err)
	}
	return &Document{r, Source{Links: rec.links, HTML: DigestOf(html.Bytes())}}, nil
}

// Page records that a built page contains the document. page is a slash path
// relative to the docroot, such as post/a.html. A document may be on several
// pages, and a page may contain several documents: call Page in the order in
// which they are on the page.
func (d *Document) Page(page string) {
	d.recorder.mu.Lock()
	defer d.recorder.mu.Unlock()
	if d.recorder.pages == nil {
		d.recorder.pages = map[string][]Source{}
	}
	d.recorder.pages[page] = append(d.recorder.pages[page], d.source)
}

// Links returns the links of the document in the order in which they were
// rendered. The caller owns the slice.
func (d *Document) Links() []Link { return slices.Clone(d.source.Links) }

// Sources returns the documents that a page contains, nil if [Document.Page] was
// never called for it. Use it as [hook.Site.Sources].
func (r *Recorder) Sources(page string) []Source {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.pages[page])
}

// record is what one call of Convert collects.
type record struct {
	file    string
	line    int              // of the file, where the text starts
	offsets map[ast.Node]int // of destinations in the text, -1 if not known
	links   []Link
	done    bool
}

// recordKey is the key of the record in the context of a parse.
var recordKey = parser.NewContextKey()

// The transformers of other extensions run between these two: the first one sees
// destinations as they are written, the last one as they are rendered.
const (
	firstPriority = -1 << 30
	lastPriority  = 1 << 30
)

// locate records where destinations are written, before another transformer
// replaces them.
type locate struct{}

func (locate) Transform(doc *ast.Document, reader text.Reader, pc parser.Context) {
	rec, ok := pc.Get(recordKey).(*record)
	if !ok {
		return // rendered without Recorder.Convert
	}
	rec.offsets = map[ast.Node]int{}
	l := markdown.Locator{Source: reader.Source(), Doc: doc}
	markdown.EachLink(doc, func(n ast.Node) { rec.offsets[n] = l.Offset(n) })
}

// collect records the destinations that are rendered, in the order of the page.
type collect struct{}

func (collect) Transform(doc *ast.Document, reader text.Reader, pc parser.Context) {
	rec, ok := pc.Get(recordKey).(*record)
	if !ok || rec.offsets == nil {
		return
	}
	rec.done = true
	source := reader.Source()
	lines := newLineCounter(source, rec.line)
	add := func(destination string, offset int) {
		p := check.Position{File: rec.file}
		if offset >= 0 {
			p.Line, p.Column = lines.position(offset)
		}
		rec.links = append(rec.links, Link{Destination: destination, Position: p})
	}
	var raw markdown.RawLinks
	markdown.EachLink(doc, func(n ast.Node) {
		offset, known := rec.offsets[n]
		switch n := n.(type) {
		case *ast.RawHTML, *ast.HTMLBlock:
			if known {
				page := raw.Read(source, n)
				for i := range page.Links {
					l := &page.Links[i]
					add(string(l.Value), raw.SourceOffset(int(page.Source(l.Off))))
				}
			}
		default:
			if !known {
				offset = -1 // another extension added the link
			}
			add(destination(n, source), offset)
		}
	})
	rec.offsets = nil
}

// destination returns the value of href or src that goldmark's renderer writes,
// before it is escaped as HTML.
func destination(n ast.Node, source []byte) string {
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
