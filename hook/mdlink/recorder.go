// Package mdlink records, while goldmark renders Markdown, where each link is
// written: nothing is parsed a second time. What it records is what
// [hook.Site] wants as Sources, so that broken links of the built site are
// reported at their line and column in the Markdown.
//
// A [Recorder] is an extension of goldmark. Its [Recorder.Convert] takes the
// place of [goldmark.Markdown.Convert], and [Document.Page] says on which page
// the result went:
//
//	var links mdlink.Recorder
//	md := goldmark.New(goldmark.WithExtensions(&links))
//	doc, err := links.Convert(md, mdlink.Source{File: "content/a.md", Text: text}, &html)
//	...
//	doc.Page("a/index.html")
//	result, err := hook.Check(ctx, hook.Site{Docroot: "public", Sources: links.Parts})
//
// [Relative] is a second extension, which reports relative links that lead
// nowhere while they are rendered.
package mdlink

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"

	"github.com/sitelink/sitelink/hook"
)

// Source is a Markdown text and where it comes from.
type Source struct {
	// File names the file in reports, a slash path relative to the root of the
	// project.
	File string
	// Line is the line of the file in which Text begins, for files whose front
	// matter the program has cut off; 0 means 1.
	Line int
	// Text is what goldmark renders. It must not change during the call.
	Text []byte
}

// Recorder records the links of documents and the pages that they are part of.
// Its zero value is ready. It is safe for concurrent use; it must not be copied
// after the first use.
type Recorder struct {
	mu    sync.Mutex
	pages map[string][]hook.Part
}

// Document is one rendered text. It is safe for concurrent use.
type Document struct {
	recorder *Recorder
	part     hook.Part
}

// ErrNoExtension: the Markdown was made without the recorder among its
// extensions.
var ErrNoExtension = errors.New("the recorder is no extension of this Markdown")

// Convert renders src to w with md, which must have the recorder or another one
// among its extensions, and records its links. opts are handed on; their
// context, if there is one, is used. Nothing is written to w when md fails. The
// errors are those of md and w, and [ErrNoExtension].
func (r *Recorder) Convert(md goldmark.Markdown, src Source, w io.Writer, opts ...parser.ParseOption) (*Document, error) {
	var config parser.ParseConfig
	for _, opt := range opts {
		opt(&config)
	}
	if config.Context == nil {
		config.Context = parser.NewContext()
	}
	rec := &record{file: src.File, line: max(src.Line, 1)}
	config.Context.Set(recordKey, rec)
	var html bytes.Buffer
	if err := md.Convert(src.Text, &html, append(slices.Clone(opts), parser.WithContext(config.Context))...); err != nil {
		return nil, fmt.Errorf("render %s: %w", src.File, err)
	}
	if !rec.done {
		return nil, fmt.Errorf("render %s: %w", src.File, ErrNoExtension)
	}
	if _, err := w.Write(html.Bytes()); err != nil {
		return nil, fmt.Errorf("write %s as HTML: %w", src.File, err)
	}
	return &Document{r, hook.Part{Links: rec.links, HTML: hook.DigestOf(html.Bytes())}}, nil
}

// Page says that the document is part of a built page: page is its slash path
// relative to the docroot, such as post/a.html. A document may be part of
// several pages, and a page of several documents: call Page in the order in
// which they stand on it.
func (d *Document) Page(page string) {
	d.recorder.mu.Lock()
	defer d.recorder.mu.Unlock()
	if d.recorder.pages == nil {
		d.recorder.pages = map[string][]hook.Part{}
	}
	d.recorder.pages[page] = append(d.recorder.pages[page], d.part)
}

// Links returns the links of the document in the order in which they were
// rendered. The caller owns the slice.
func (d *Document) Links() []hook.Link { return slices.Clone(d.part.Links) }

// Parts returns the documents that a page is made of, none for a page that no
// document named. It is meant for [hook.Site.Sources].
func (r *Recorder) Parts(page string) []hook.Part {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.pages[page])
}
