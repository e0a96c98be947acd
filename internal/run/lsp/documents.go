package lsp

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sort"
	"unicode/utf8"

	"go.lsp.dev/uri"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/system"
)

// view is what one request is about: the state of a folder and a document of it.
type view struct {
	*state
	doc    *document
	file   string // its name in the snapshot
	folder *folder
}

// viewsKey is the key of the views of a context.
type viewsKey struct{}

// views are the documents and states at the moment of a request.
type views struct {
	docs   map[string]*document
	states map[*folder]*state
}

// withViews keeps the views of this moment for a request that is answered while
// later messages are read.
func (s *server) withViews(ctx context.Context) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := &views{docs: make(map[string]*document, len(s.docs)), states: map[*folder]*state{}}
	for name, d := range s.docs {
		v.docs[name] = d
	}
	for _, f := range s.folders {
		v.states[f] = f.current()
	}
	return context.WithValue(ctx, viewsKey{}, v)
}

// errNoSite says that the site is not known yet.
var errNoSite = errors.New("no site")

// view returns the view of a document. The error is errNoSite while its site is
// being loaded, or if it has none.
func (s *server) view(ctx context.Context, u uri.URI) (*view, error) {
	name, ok := pathOf(u)
	if !ok {
		return nil, errNoSite
	}
	all, ok := ctx.Value(viewsKey{}).(*views)
	if !ok {
		return nil, errNoSite
	}
	s.mu.Lock()
	f := s.folderOf(name)
	s.mu.Unlock()
	st := all.states[f]
	if st == nil {
		return nil, errNoSite
	}
	v := &view{state: st, folder: f, doc: all.docs[name]}
	if v.file, ok = st.snap.File(name); !ok || !st.snap.Knows(v.file) {
		return nil, errNoSite
	}
	if v.doc == nil {
		text, err := st.snap.Text(st.overlay, v.file)
		if err != nil {
			return nil, noDocument(name)
		}
		v.doc = &document{uri: u, path: name, text: newText(text, s.units)}
	}
	return v, nil
}

// analyze returns what the document of a view holds.
func (v *view) analyze(ctx context.Context) (*File, error) {
	return v.snap.Analyze(ctx, v.overlay, v.file, v.doc.text.bytes)
}

// didOpen takes over a document.
func (s *server) didOpen(_ context.Context, p *params) (any, error) {
	name, ok := pathOf(p.TextDocument.URI)
	if !ok {
		return nil, nil // it is in no directory
	}
	d := &document{uri: p.TextDocument.URI, path: name, version: p.TextDocument.Version, text: newText([]byte(p.TextDocument.Text), s.units)}
	s.replace(d)
	return nil, nil
}

// replace makes a document the current one of its file.
func (s *server) replace(d *document) {
	s.mu.Lock()
	s.docs[d.path] = d
	f := s.folderOf(d.path)
	s.mu.Unlock()
	f.change(d.path, d.text.bytes)
	s.diagnose(f, d)
}

// didChange applies the changes of a document, in order.
func (s *server) didChange(_ context.Context, p *params) (any, error) {
	name, ok := pathOf(p.TextDocument.URI)
	s.mu.Lock()
	d := s.docs[name]
	s.mu.Unlock()
	if !ok || d == nil {
		return nil, noDocument(string(p.TextDocument.URI))
	}
	t := d.text
	for _, c := range p.ContentChanges {
		t = t.edit(c)
	}
	s.replace(&document{uri: d.uri, path: d.path, version: p.TextDocument.Version, text: t})
	return nil, nil
}

// didSave builds the project, if the user trusts it.
func (s *server) didSave(_ context.Context, p *params) (any, error) {
	name, ok := pathOf(p.TextDocument.URI)
	if !ok {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.folderOf(name)
	if s.build && s.opt.Build != nil {
		f.want(work{saved: []string{name}})
	}
	return nil, nil
}

// didClose forgets a document. Its file counts from now on.
func (s *server) didClose(_ context.Context, p *params) (any, error) {
	name, ok := pathOf(p.TextDocument.URI)
	if !ok {
		return nil, nil
	}
	s.mu.Lock()
	d := s.docs[name]
	delete(s.docs, name)
	f := s.folderOf(name)
	s.mu.Unlock()
	if d == nil {
		return nil, noDocument(name)
	}
	f.reread(name) // what was not saved is given up
	s.publishClosed(f, d)
	return nil, nil
}

// didChangeWatchedFiles takes over what other programs wrote.
func (s *server) didChangeWatchedFiles(_ context.Context, p *params) (any, error) {
	for _, c := range p.Changes {
		name, ok := pathOf(c.URI)
		if !ok {
			continue
		}
		s.mu.Lock()
		_, open := s.docs[name]
		var f *folder
		for _, x := range s.folders {
			if system.Within(name, x.dir) && (f == nil || len(x.dir) > len(f.dir)) {
				f = x
			}
		}
		s.mu.Unlock()
		if base := filepath.Base(name); f == nil || open {
			continue
		} else if slices.Contains(config.FileNames, base) || generator.IsConfig(base) {
			f.want(work{reload: true})
		} else {
			f.reread(name)
		}
	}
	return nil, nil
}

// didChangeConfiguration reads the configuration again.
func (s *server) didChangeConfiguration(_ context.Context, _ *params) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.folders {
		f.want(work{reload: true})
	}
	return nil, nil
}

// editorText is the text of a document with its lines. It never changes.
type editorText struct {
	bytes  []byte
	starts []int // of the lines
	units  string
	// marks are places inside long lines, so that a position in one is found
	// without reading the line from its start.
	marks []mark
}

// mark is the number of units from the start of a line to an offset in it.
type mark struct{ offset, units int }

// markEvery is the number of bytes between two marks.
const markEvery = 1 << 10

func newText(b []byte, units string) *editorText {
	t := &editorText{bytes: b, starts: make([]int, 1, 1+len(b)/32), units: units}
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\r':
			if i+1 < len(b) && b[i+1] == '\n' {
				i++
			}
			t.starts = append(t.starts, i+1)
		case '\n':
			t.starts = append(t.starts, i+1)
		}
	}
	for n, start := range t.starts {
		end := len(b)
		if n+1 < len(t.starts) {
			end = t.starts[n+1]
		}
		if end-start > markEvery {
			t.markLine(start, end)
		}
	}
	return t
}

// markLine adds the marks of the line between two offsets.
func (t *editorText) markLine(start, end int) {
	units, next := 0, start+markEvery
	for at := start; at < end; {
		if at >= next {
			t.marks, next = append(t.marks, mark{at, units}), at+markEvery
		}
		r, size := utf8.DecodeRune(t.bytes[at:end])
		units, at = units+t.width(r, size), at+size
	}
}

// line returns the bytes of a line without its end.
func (t *editorText) line(n int) []byte {
	end := len(t.bytes)
	if n+1 < len(t.starts) {
		end = t.starts[n+1]
	}
	return bytes.TrimRight(t.bytes[t.starts[n]:end], "\r\n")
}

// width returns the length of a character in the units of the client.
func (t *editorText) width(r rune, size int) int {
	switch t.units {
	case utf8Units:
		return size
	case utf32Units:
		return 1
	}
	if r >= 0x10000 {
		return 2
	}
	return 1
}

// offset returns the offset of a position. One behind the end of a line or of the
// text is at that end, as the protocol demands; one inside a character is before it.
func (t *editorText) offset(p position) int {
	if int64(p.Line) >= int64(len(t.starts)) {
		return len(t.bytes)
	}
	line, at := t.line(int(p.Line)), t.starts[p.Line]
	left := int64(p.Character)
	for len(line) > 0 && left > 0 {
		r, size := utf8.DecodeRune(line)
		if left -= int64(t.width(r, size)); left < 0 {
			break
		}
		line, at = line[size:], at+size
	}
	return at
}

// position returns the position of an offset.
func (t *editorText) position(offset int) position {
	offset = max(0, min(offset, len(t.bytes)))
	n := sort.SearchInts(t.starts, offset+1) - 1
	start, units := t.starts[n], 0
	if i := sort.Search(len(t.marks), func(i int) bool { return t.marks[i].offset > offset }); i > 0 && t.marks[i-1].offset > start {
		start, units = t.marks[i-1].offset, t.marks[i-1].units
	}
	for rest := t.bytes[start:offset]; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		units += t.width(r, size)
		rest = rest[size:]
	}
	return position{Line: uint32(n), Character: uint32(units)}
}

// span returns the range between two offsets.
func (t *editorText) span(start, end int) textRange {
	return textRange{Start: t.position(start), End: t.position(end)}
}

// edit returns the text after a change of the client.
func (t *editorText) edit(c change) *editorText {
	if c.Range == nil {
		return newText([]byte(c.Text), t.units)
	}
	start, end := t.offset(c.Range.Start), t.offset(c.Range.End)
	if start > end {
		start, end = end, start
	}
	b := make([]byte, 0, len(t.bytes)-(end-start)+len(c.Text))
	b = append(append(append(b, t.bytes[:start]...), c.Text...), t.bytes[end:]...)
	return newText(b, t.units)
}
