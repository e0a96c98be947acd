package site

import (
	"bytes"
	"unicode/utf8"
	"unsafe"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
)

// Detail is all there is to say about one link.
type Detail struct {
	host.Resolved
	// Line and Column count from 1, Column in code points; Offset counts
	// bytes of the file.
	Line, Column int
	Offset       int64
	Element      string
	Attribute    string
	Raw          string
	Kind         scan.Kind
}

// kept is the detail of one link, noted when its page was read.
type kept struct {
	link uint32
	Detail
}

// maxKept bounds the details that are kept while loading, at some 300 bytes
// each: a site with more bad links has its pages read twice. Keeping them is
// worth a tenth of a check of rust-doc (4,422 of them) and a third of one of
// openjdk-17-doc (40,835).
const maxKept = 1 << 16

// detail says where a link stands, how it is written, and what answers it.
func (r *resolver) detail(p *Page, page *scan.Page, l *scan.Link, rec *Link, lines *liner) Detail {
	d := Detail{Offset: page.Source(l.Off), Attribute: page.Attribute(l), Raw: alias(l.Value), Kind: l.Kind}
	d.Line, d.Column = lines.at(l.Off)
	if p.kind != PageMap {
		d.Element = page.Element(l)
	}
	d.Resolved = r.resolved(page, l, rec)
	return d
}

// resolved is the full form of [resolver.link]. With a memo it remembers what
// values resolve to.
func (r *resolver) resolved(page *scan.Page, l *scan.Link, rec *Link) host.Resolved {
	switch {
	case l.Kind == scan.KindMap:
		r.address()
		_, name, _ := bytes.Cut(l.Value, []byte("#"))
		return host.Resolved{State: rec.State, Node: r.Page, Status: 200, Target: r.pageURL.Path(), Fragment: string(name)}
	case rec.State == host.StateEmptyLink:
		return host.Resolved{State: host.StateEmptyLink, Node: docroot.NoNode}
	}
	res := r.remembered(page.Ref(l), l.Kind == scan.KindReference)
	// What the element means goes before what the URL says.
	switch rec.State {
	case host.StateInert, host.StateAction, host.StateHint, host.StatePing:
		res.State = rec.State
	}
	return res
}

// remembered is slow with a memory, if there is one, for the part of a value
// before a plain fragment: pages of one directory repeat each other's links.
func (r *resolver) remembered(v []byte, reference bool) host.Resolved {
	path, frag, hasFrag := bytes.Cut(v, hash)
	frag, plain := host.PlainFragment(frag)
	if r.memo == nil || !plain || len(path) > maxMemo || reference && !r.PlainBase {
		return r.slow(v, reference)
	}
	if len(path) == 0 || path[0] == '?' {
		return r.own(v, hasFrag, frag, reference)
	}
	if path[len(path)-1] <= ' ' { // dropped at the end of a value, encoded before a fragment
		return r.slow(v, reference)
	}
	res, ok := r.memo[string(path)]
	if !ok {
		res = r.slow(v, reference)
		known := res
		known.Fragment = ""
		r.memo[string(path)] = known
		return res
	}
	if hasFrag && res.Target != "" { // what is no URL has no fragment
		// Trailing white space is no part of the URL, but it is not plain either.
		res.Fragment = alias(frag)
	}
	return res
}

// own resolves a value that means the page itself, not its directory.
func (r *resolver) own(v []byte, hasFrag bool, frag []byte, reference bool) host.Resolved {
	if !hasFrag || v[0] != '#' || !r.PlainBase {
		return r.slow(v, reference)
	}
	if r.selfOf != r.Page || !r.hasSelf {
		r.self, r.selfOf, r.hasSelf = r.slow(hash, reference), r.Page, true
	}
	res := r.self
	res.Fragment = alias(frag)
	return res
}

const (
	// maxMemo is the longest value that is worth remembering.
	maxMemo = 256
	// maxMemos bounds how many are.
	maxMemos = 1 << 13
)

var hash = []byte{'#'}

// startMemo makes the memory ready for a page: it lasts as long as pages of
// the same directory follow, whose base is their own address.
func (r *resolver) startMemo() {
	switch {
	case r.memo == nil:
		r.memo = make(map[string]host.Resolved)
	case r.Dir != r.memoDir || !r.PlainBase || !r.memoPlain || len(r.memo) > maxMemos:
		clear(r.memo)
	}
	r.memoDir, r.memoPlain = r.Dir, r.PlainBase
}

// alias returns b as a string that shares its memory, and changes with it.
func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// permissions applies what is known of a file's permissions only when all
// files have been read.
func (s *Site) permissions(r *host.Resolved) {
	if !r.State.Answers() || r.Node == docroot.NoNode || s.tree.Nodes[r.Node].Kind != docroot.KindFile {
		return
	}
	switch f := s.tree.Nodes[r.Node].Flags; {
	case f&docroot.Unreadable != 0:
		r.State, r.Status = host.StateUnreadable, 403
	case f&docroot.Private != 0:
		r.State, r.Status = host.StatePrivate, 403
	case f&flagAlias != 0 && r.State <= host.StateRedirect:
		r.State = host.StateAlias
	}
}

// liner turns ascending offsets into lines and columns.
type liner struct {
	text []byte
	line int // lines before start
	col  int // code points between the start of the line and upTo
	upTo int
}

// at returns the position of off, which is not before the last one asked for.
func (l *liner) at(off uint32) (line, column int) {
	o := min(int(off), len(l.text))
	if o < l.upTo {
		*l = liner{text: l.text}
	}
	from := l.upTo
	if n := bytes.Count(l.text[from:o], newline); n > 0 {
		l.line += n
		l.col = 0
		from += bytes.LastIndexByte(l.text[from:o], '\n') + 1
	}
	if from == 0 && bytes.HasPrefix(l.text, []byte("\uFEFF")) && o >= 3 {
		from = 3 // a byte order mark takes no column
	}
	l.col += utf8.RuneCount(l.text[from:o])
	l.upTo = o
	return l.line + 1, l.col + 1
}

var newline = []byte{'\n'}
