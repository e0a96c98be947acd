package site

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/cespare/xxhash/v2"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/system"
)

// ErrChanged reports that a page changed after the site was loaded.
var ErrChanged = errors.New("changed while the docroot was checked")

// Reader provides what a [Link] does not hold. It reads the page again, unless
// the details in question were saved when the page was first read. It is not
// safe for concurrent use; make one for each worker and close it.
type Reader struct {
	s    *Site
	dir  *docroot.Dir
	scan scanner
	res  resolver
	buf  []byte
	// detail is what the callback of Details receives. One value serves all
	// links, to save allocations.
	detail Detail
}

// NewReader returns a reader of pages. It opens the docroot when it reads the first one.
func (s *Site) NewReader() *Reader {
	return &Reader{s: s, res: resolver{s: s, PathResolver: host.NewPathResolver(s.Host)}}
}

// Open opens the docroot, if it is not open. Readers do so by themselves; a caller that
// reports faults of single pages calls it to know that it is not the docroot's.
func (r *Reader) Open() (err error) {
	if r.dir != nil {
		return nil
	}
	if r.dir, err = docroot.Open(r.s.Real()); err != nil {
		return fmt.Errorf("read docroot %s: %w", r.s.Root(), system.Cause(err))
	}
	return nil
}

// Close closes the docroot.
func (r *Reader) Close() {
	if r.dir != nil {
		r.dir.Close()
	}
}

// load reads the file of a page.
func (r *Reader) load(p *Page) ([]byte, error) {
	if err := r.Open(); err != nil {
		return nil, err
	}
	if r.buf == nil { // saved details need no buffer
		r.buf = make([]byte, 0, docroot.FirstBuffer)
	}
	data, raw, _, err := r.s.load(r.dir, p, r.buf)
	r.buf = raw
	if err != nil {
		return nil, docroot.FileError(err)
	}
	return data, nil
}

// text reads and scans a page.
func (r *Reader) text(p *Page) (*scan.Page, error) {
	data, err := r.load(p)
	if err != nil {
		return nil, err
	}
	if p.kind == PageMap {
		page, _ := mapPage(data)
		return &page, nil
	}
	return r.s.scanPage(&r.scan, p, data), nil
}

// Details calls f, in order, with everything about links of a page. want has
// the ascending numbers of the links, and nil means all. d is valid only until
// f returns, and so are its strings Raw and Fragment, which are parts of the
// page's text. The error is [ErrChanged] if the page no longer holds the links
// that were loaded; f may have been called for some of them by then.
func (r *Reader) Details(id PageID, want []uint32, f func(link int, d *Detail)) error {
	p := &r.s.pages[id]
	if r.fromSaved(p, want, f) {
		return nil
	}
	page, err := r.text(p)
	if err != nil {
		return err
	}
	if len(page.Links) != len(p.links) {
		return ErrChanged
	}
	r.res.open(p, page)
	r.res.startMemo()
	lines := lineCounter{text: page.Text}
	all := want == nil
	for i := range page.Links {
		l := &page.Links[i]
		if l.Off != p.links[i].Off {
			return ErrChanged
		}
		if len(page.Bases) > 0 {
			r.res.rebase(page, l)
		}
		if !all {
			if len(want) == 0 {
				return nil
			}
			if want[0] != uint32(i) {
				continue
			}
			want = want[1:]
		}
		r.detail = r.res.detail(p, page, l, &p.links[i], &lines)
		if !all {
			r.detail.Context = contextOf(p, page, l)
		}
		r.s.permissions(&r.detail.Resolved)
		if p.links[i].bits&bitSelf != 0 {
			r.detail.State = p.links[i].State
		}
		f(i, &r.detail)
	}
	return nil
}

// Written calls f, in order, with where each link of a page is and how it is
// written: Offset, Element, Attribute, Raw and Kind. It is [Reader.Details] without
// the lines and without what answers, which cost most of it. d and its strings
// are valid only until f returns.
func (r *Reader) Written(id PageID, f func(d *Detail)) error {
	p := &r.s.pages[id]
	page, err := r.text(p)
	if err != nil {
		return err
	}
	if len(page.Links) != len(p.links) {
		return ErrChanged
	}
	for i := range page.Links {
		l := &page.Links[i]
		if l.Off != p.links[i].Off {
			return ErrChanged
		}
		r.detail = Detail{Offset: page.Source(l.Off), Attribute: page.Attribute(l), Raw: viewString(l.Value), Kind: l.Kind}
		if p.kind != PageMap {
			r.detail.Element = page.Element(l)
		}
		f(&r.detail)
	}
	return nil
}

// fromSaved answers Details from saved details, if all that are wanted were
// saved.
func (r *Reader) fromSaved(p *Page, want []uint32, f func(link int, d *Detail)) bool {
	if len(want) == 0 || len(want) > len(p.saved) {
		return false
	}
	next := 0
	for _, w := range want {
		for next < len(p.saved) && p.saved[next].link < w {
			next++
		}
		if next == len(p.saved) || p.saved[next].link != w {
			return false
		}
	}
	next = 0
	for _, w := range want {
		for p.saved[next].link != w {
			next++
		}
		r.detail = p.saved[next].Detail
		r.s.permissions(&r.detail.Resolved)
		f(int(w), &r.detail)
	}
	return true
}

// Anchors calls f for every anchor of a page, in document order.
func (r *Reader) Anchors(id PageID, f func(name []byte, kind scan.AnchorKind)) error {
	page, err := r.text(&r.s.pages[id])
	if err != nil {
		return err
	}
	for _, a := range page.Anchors {
		f(a.Name, a.Kind)
	}
	return nil
}

// Position returns the line, column and file offset of an offset in a page's
// text.
func (r *Reader) Position(id PageID, off uint32) (line, column int, offset int64, err error) {
	page, err := r.text(&r.s.pages[id])
	if err != nil {
		return 0, 0, 0, err
	}
	l := lineCounter{text: page.Text}
	line, column = l.at(off)
	return line, column, page.Source(off), nil
}

// Detail is everything about one link.
type Detail struct {
	host.Resolved
	// Line and Column count from 1, Column in code points; Offset counts
	// bytes of the file.
	Line, Column int
	Offset       int64
	Element      string
	Attribute    string
	Raw          string
	Kind         scan.LinkKind
	// Context identifies the markup around the link: the same in the same menu
	// or list of many pages. It is 0 where that has no meaning, and when all
	// links of a page are asked for.
	Context uint64
	// Base is the address that a relative link is resolved against, if that is
	// not the address of the page. It comes from a base element, xml:base or
	// the item of a feed, or is the address of a feed for its other relative
	// links.
	Base string
	// FeedRelative: nothing answers the link of a feed, but something would if it
	// were resolved against the address of the feed. The page of the item does not have
	// the same link, which would be as wrong there.
	FeedRelative bool
	// Exempt is that of [scan.Link].
	Exempt *string
}

// savedDetail is the detail of one link, saved when its page was read.
type savedDetail struct {
	link uint32
	Detail
}

// maxSaved limits the details that are saved while loading, at some 300 bytes
// each. On a site with more bad links, pages are read twice. Saving details
// makes a check of rust-doc (4,422 of them) a tenth faster, and one of
// openjdk-17-doc (40,835) a third.
const maxSaved = 1 << 16

// detail returns where a link is, how it is written, and what answers it.
func (r *resolver) detail(p *Page, page *scan.Page, l *scan.Link, rec *Link, lines *lineCounter) Detail {
	d := Detail{Offset: page.Source(l.Off), Attribute: page.Attribute(l), Raw: viewString(l.Value), Kind: l.Kind, Exempt: l.Exempt}
	d.Line, d.Column = lines.at(l.Off)
	if p.kind != PageMap {
		d.Element = page.Element(l)
	}
	d.Resolved = r.resolved(page, l, rec)
	onPage(r.s, p, &d.Resolved)
	r.addBase(&d, p, page, l)
	return d
}

// addBase fills in the base of a relative link.
func (r *resolver) addBase(d *Detail, p *Page, page *scan.Page, l *scan.Link) {
	isFeed := p.kind.IsFeed()
	base := page.BaseOf(l)
	if !isFeed && base == nil && r.bases == 0 || !isRelative(l.Value) {
		return
	}
	r.address()
	switch u, err := r.base.Resolve(string(base)); {
	case base == nil:
		d.Base = r.base.String()
	case err == nil:
		d.Base = u.String()
	}
	if !bytes.Contains(base, []byte("://")) { // a path names an address of this site
		d.Base = strings.TrimPrefix(d.Base, strings.TrimSuffix(r.pageURL.String(), r.pageURL.Path()))
	}
	if isFeed && base != nil && d.State.IsError() {
		u, err := r.pageURL.Resolve(string(l.Value))
		d.FeedRelative = err == nil && r.s.Resolve(u, nil).State.Answers() && !r.itemHas(string(base), l.Value)
	}
}

// itemHas reports whether the page of a feed's item has an attribute with this value:
// the author wrote it there.
func (r *resolver) itemHas(address string, value []byte) bool {
	if r.itemText == nil || r.item != address {
		r.item, r.itemText = address, []byte{}
		if u, err := r.pageURL.Resolve(address); err == nil {
			if at := r.s.Resolve(u, nil); at.State.Answers() {
				r.itemText = fileText(r.s, at.Node)
			}
		}
	}
	for rest := r.itemText; ; {
		i := bytes.Index(rest, value)
		end := i + len(value)
		if i < 0 || end == len(rest) {
			return false
		}
		if i > 0 && strings.IndexByte("\"'=", rest[i-1]) >= 0 && strings.IndexByte("\"' >", rest[end]) >= 0 {
			return true
		}
		rest = rest[i+1:]
	}
}

// fileText returns the contents of a file, empty if it cannot be read.
func fileText(s *Site, node docroot.NodeID) []byte {
	r := s.NewReader()
	defer r.Close()
	text, err := r.File(node, s.opt.MaxPageBytes)
	if err != nil {
		return []byte{}
	}
	return bytes.Clone(text)
}

// isRelative reports whether a value is a path that begins at the directory of
// the base.
func isRelative(v []byte) bool {
	v = bytes.TrimSpace(v)
	i := bytes.IndexAny(v, ":/?#\\")
	return len(v) > 0 && i != 0 && (i < 0 || v[i] != ':')
}

// maxContext is how many bytes before a link count as its context.
const maxContext = 1 << 10

// contextOf returns [Detail.Context]: a hash of the classes of the link's
// element and of the name of the element around it. With more, the same menu would
// differ on two pages, where another entry is open or marked.
func contextOf(p *Page, page *scan.Page, l *scan.Link) uint64 {
	if !p.kind.IsHTML() {
		return 0
	}
	text, off := page.Text, int(l.Off)
	start := max(0, off-maxContext)
	tag := start + bytes.LastIndexByte(text[start:off], '<')
	if tag < start {
		return 0
	}
	h := xxhash.New()
	own := text[tag:min(len(text), off+maxContext)]
	if end := bytes.IndexByte(own, '>'); end >= 0 {
		own = own[:end]
	}
	_, _ = h.Write(classOf(own)) // a hash never fails
	_, _ = h.Write([]byte{0})
	_, _ = h.Write(parentOf(text[start:tag]))
	return h.Sum64() | 1 // never 0
}

// classOf returns the value of the class attribute of a tag, nil if it has none.
// A value without quotes ends at a space.
func classOf(tag []byte) []byte {
	_, value, ok := bytes.Cut(tag, []byte(" class="))
	if !ok || len(value) == 0 {
		return nil
	}
	quote := value[0]
	if quote == '"' || quote == '\'' {
		value, _, _ = bytes.Cut(value[1:], value[:1])
		return value
	}
	if end := bytes.IndexAny(value, " \t\n\f\r/"); end >= 0 {
		value = value[:end]
	}
	return value
}

// parentOf returns the name of the last element that text leaves open, or nil.
// Elements without an end tag do not count.
func parentOf(text []byte) []byte {
	closed := 0
	for {
		at := bytes.LastIndexByte(text, '<')
		if at < 0 {
			return nil
		}
		tag := text[at+1:]
		text = text[:at]
		isEnd := len(tag) > 0 && tag[0] == '/'
		if isEnd {
			tag = tag[1:]
		}
		n := 0
		for n < len(tag) && (tag[n]|0x20 >= 'a' && tag[n]|0x20 <= 'z' || n > 0 && tag[n] >= '0' && tag[n] <= '9') {
			n++
		}
		name := tag[:n]
		if n == 0 || isVoid(name) {
			continue
		}
		if end := bytes.IndexByte(tag[n:], '>'); end > 0 && tag[n+end-1] == '/' {
			continue
		}
		switch {
		case isEnd:
			closed++
		case closed > 0:
			closed--
		default:
			return name
		}
	}
}

// isVoid reports whether an element has no content.
func isVoid(name []byte) bool {
	switch string(name) {
	case "area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr":
		return true
	}
	return false
}

// resolved is the full form of [resolver.link]. With a memo it caches what
// values resolve to.
func (r *resolver) resolved(page *scan.Page, l *scan.Link, rec *Link) host.Resolved {
	switch {
	case l.Kind == scan.KindMap:
		r.address()
		_, name, _ := bytes.Cut(l.Value, []byte("#"))
		return host.Resolved{State: rec.State, Node: r.Page, Status: 200, Target: r.pageURL.Path(), Fragment: string(name)}
	case l.Kind == scan.KindUndefined:
		return host.Resolved{State: rec.State, Node: r.Page, Fragment: string(l.Value)}
	case rec.State == host.StateEmptyLink:
		return host.Resolved{State: host.StateEmptyLink, Node: docroot.NoNode}
	}
	res := r.resolveRemembered(page.Ref(l), l.Kind == scan.KindReference)
	// What the element means takes precedence over what the URL says.
	switch rec.State {
	case host.StateInert, host.StateAction, host.StateHint, host.StatePing, host.StateLocal, host.StateMixed, host.StateMixedOwn:
		res.State = rec.State
	case host.StateWrongHost:
		if res.State == host.StateOutsideBase {
			res.State, res.Meant = rec.State, afterOneSlash(string(page.Ref(l)))
		}
	case host.StateDevServer:
		res.State = rec.State
		if u, err := r.resolve(page.Ref(l), false); err == nil {
			res.Meant = r.fromServer(u)
		}
	}
	return res
}

// resolveRemembered is resolveURL for the link at hand, with a cache, if there is
// one, for the part of a value before a plain fragment. Pages of one directory repeat each
// other's links.
func (r *resolver) resolveRemembered(v []byte, reference bool) host.Resolved {
	if r.hasFull {
		return r.full
	}
	path, frag, hasFrag := bytes.Cut(v, hash)
	frag, plain := host.PlainFragment(frag)
	if r.memo == nil || !plain || len(path) > maxMemo || reference && !r.PlainBase {
		return r.resolveURL(v, reference)
	}
	if len(path) == 0 || path[0] == '?' {
		return r.ownPage(v, hasFrag, frag, reference)
	}
	if path[len(path)-1] <= ' ' { // dropped at the end of a value, but encoded before a fragment
		return r.resolveURL(v, reference)
	}
	res, ok := r.memo[string(path)]
	if !ok {
		if res = r.resolveURL(v, reference); len(res.Target) > 4*maxMemo {
			return res
		}
		known := res
		known.Fragment = ""
		r.memo[string(path)] = known
		return res
	}
	if hasFrag && res.Target != "" { // an invalid URL has no fragment
		// Trailing white space is not part of the URL, but it is not plain
		// either.
		res.Fragment = viewString(frag)
	}
	return res
}

// ownPage resolves a value that refers to the page itself, not to its
// directory.
func (r *resolver) ownPage(v []byte, hasFrag bool, frag []byte, reference bool) host.Resolved {
	if !hasFrag || v[0] != '#' || !r.PlainBase {
		return r.resolveURL(v, reference)
	}
	if r.selfOf != r.Page || !r.hasSelf {
		r.self, r.selfOf, r.hasSelf = r.resolveURL(hash, reference), r.Page, true
	}
	res := r.self
	res.Fragment = viewString(frag)
	return res
}

const (
	// maxMemo is the longest value that is cached.
	maxMemo = 256
	// maxMemos is how many values are cached.
	maxMemos = 1 << 13
)

var hash = []byte{'#'}

// startMemo prepares the cache for a page. The cache is valid for consecutive
// pages of one directory if their links resolve against their own address.
func (r *resolver) startMemo() {
	switch {
	case r.memo == nil:
		r.memo = make(map[string]host.Resolved)
	case r.Dir != r.memoDir || !r.PlainBase || !r.memoPlain || len(r.memo) > maxMemos:
		clear(r.memo)
	}
	r.memoDir, r.memoPlain = r.Dir, r.PlainBase
}

// viewString returns b as a string that shares its memory and changes with it.
func viewString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// permissions applies the permissions of a file, which are known only after all
// files have been read.
func (s *Site) permissions(r *host.Resolved) {
	if !r.State.Answers() || r.Node == docroot.NoNode {
		return
	}
	if r.State = withFlags(s, r.Node, r.State, false); r.State == host.StateUnreadable || r.State == host.StatePrivate {
		r.Status = 403
	}
}

// lineCounter turns ascending offsets into lines and columns.
type lineCounter struct {
	text []byte
	line int // lines before start
	col  int // code points between the start of the line and upTo
	upTo int
}

// at returns the position of off, which must not precede the last one.
func (l *lineCounter) at(off uint32) (line, column int) {
	o := min(int(off), len(l.text))
	if o < l.upTo {
		*l = lineCounter{text: l.text}
	}
	from := l.upTo
	if n := bytes.Count(l.text[from:o], newline); n > 0 {
		l.line += n
		l.col = 0
		from += bytes.LastIndexByte(l.text[from:o], '\n') + 1
	}
	if from == 0 && bytes.HasPrefix(l.text, []byte("\uFEFF")) && o >= 3 {
		from = 3 // a byte order mark has no column
	}
	l.col += utf8.RuneCount(l.text[from:o])
	l.upTo = o
	return l.line + 1, l.col + 1
}

var newline = []byte{'\n'}

// Sum returns a hash of the bytes of the page's file, to find out whether it
// changed since another build; 0 unless [Options.Sums] is set. It does not protect
// against someone who crafts two files with the same hash.
//
// xxhash reads 478 MB of rust-doc in 0.04 s of processor time; SHA-256 would
// take 0.3 s of a check's 1.4 s.
func (p *Page) Sum() uint64 { return p.sum }

// Sums reports whether the hashes of files are known.
func (s *Site) Sums() bool { return s.opt.Sums }

// Sum returns the hash of the bytes of a page's file: [Page.Sum] if
// [Options.Sums] was set, or else the hash of the file as it is now. The error is
// that of reading the file.
func (r *Reader) Sum(id PageID) (uint64, error) {
	p := &r.s.pages[id]
	if r.s.opt.Sums {
		return p.sum, nil
	}
	data, err := r.load(p)
	if err != nil {
		return 0, err
	}
	return xxhash.Sum64(data), nil
}

// Text returns the text of a page as UTF-8 without byte order mark, good until
// the reader is used again. The error is that of reading the file, or
// [ErrChanged] when [Options.Sums] is set and the file is not what it was when
// the site was loaded.
func (r *Reader) Text(id PageID) ([]byte, error) {
	p := &r.s.pages[id]
	data, err := r.load(p)
	if err != nil {
		return nil, err
	}
	if r.s.opt.Sums && xxhash.Sum64(data) != p.sum {
		return nil, ErrChanged
	}
	if p.plain && r.s.opt.Sums {
		// These are the bytes that were scanned; they need no second scan.
		return bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")), nil
	}
	return r.s.scanPage(&r.scan, p, data).UTF8(), nil
}

// Position is where a link is in its file.
type Position struct{ Line, Column int }

// Explanation lists the steps from the value of a link to the answer.
type Explanation struct {
	Steps []host.Step
	host.Resolved
	// Positions are where the page has a link with exactly this value.
	Positions []Position
	// Detail is the link at the first of them that is wrong, or at the first, or
	// nil. Link is its number.
	Detail *Detail
	Link   int
	// Anchors are the anchors of the target page, in document order; nil if no
	// page answers.
	Anchors []string
}

// Explain resolves a value as a link of the page from, step by step. The error
// is that of reading the page.
func (r *Reader) Explain(from PageID, raw string) (*Explanation, error) {
	p := &r.s.pages[from]
	page, err := r.text(p)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", r.s.Path(from), err)
	}
	e := &Explanation{}
	say := func(rule, format string, args ...any) {
		e.Steps = append(e.Steps, host.Step{Rule: rule, Text: fmt.Sprintf(format, args...)})
	}
	r.res.open(p, page)
	r.res.address()
	say("page", "%s, shown at %s", r.s.Path(from), r.res.pageURL.Path())
	show := func() string { return strings.TrimPrefix(r.res.base.String(), host.Unpublished) }
	l, ref := r.occurrence(p, page, raw, e)
	r.res.open(p, page) // base elements before another occurrence do not count
	r.res.address()
	if len(page.Bases) > 0 {
		r.res.rebase(page, l)
	}
	switch {
	case e.Detail != nil && p.kind.IsFeed() && e.Detail.Base != "":
		say("base", "%s, for this link of a feed", e.Detail.Base)
	case len(page.Bases) == 0:
		say("base", "the page's own address: it has no base element")
	case r.s.base == host.BaseDocumentOrder:
		say("base", "%s, by the base elements before the link", show())
	case r.res.bases == 0:
		say("base", "the page's own address: browsers request this before they read the base element, %q", page.Bases[0].Value)
	default:
		say("base", "%s, by the first base element, %q", show(), page.Bases[0].Value)
	}
	e.Resolved = r.res.traceURL(ref, false, &e.Steps)
	r.s.permissions(&e.Resolved)
	if e.State == host.StateAlias && e.Node == p.node || e.State == host.StateViaRedirect && r.res.isOwnAddress(ref) {
		e.State = host.StateOK
		say("redirect", "the link leads to its own page, so it is not reported that the page redirects")
	}
	if e.State == host.StateMissingBase {
		if onPage(r.s, p, &e.Resolved); e.State == host.StateOutsideBase {
			say("base-url", "the page has more links to other parts of the host, so the top of the host is meant")
		}
	}
	if d := e.Detail; d != nil && (d.State == host.StateLocal || d.State == host.StateWrongHost || d.State == host.StateMixed || d.State == host.StateMixedOwn || d.State == host.StateDevServer) {
		e.State, e.Meant = d.State, d.Meant
	}
	if e.Detail != nil && e.Fragment != "" && !p.links[e.Link].HasFragment() && isSVG(r.s, &p.links[e.Link]) && p.node != e.Node {
		say("fragment", "#%s is ignored: the SVG file is shown as an image", e.Fragment)
		e.Fragment = ""
	}
	if target, ok := r.s.PageOf(e.Node); ok && e.State.Answers() {
		err = r.Anchors(target, func(name []byte, kind scan.AnchorKind) {
			if kind != scan.AnchorMap {
				e.Anchors = append(e.Anchors, string(name))
			}
		})
		if err != nil && !errors.Is(err, ErrChanged) {
			return nil, fmt.Errorf("read %s: %w", r.s.Path(target), err)
		}
	}
	return e, nil
}

// occurrence finds where the value occurs. It fills in the positions and the
// detail, and returns the link to explain, or one at the end of the page, and
// the reference to resolve.
func (r *Reader) occurrence(p *Page, page *scan.Page, raw string, e *Explanation) (found *scan.Link, ref []byte) {
	lines := lineCounter{text: page.Text}
	end := uint32(len(page.Text))
	found, ref = &scan.Link{Off: end, TagOff: end}, []byte(raw)
	for i := range page.Links {
		l := &page.Links[i]
		if string(l.Value) != raw {
			continue
		}
		line, column := lines.at(l.Off)
		e.Positions = append(e.Positions, Position{line, column})
		if len(page.Links) != len(p.links) || e.Detail != nil && (e.Detail.State.IsError() || !p.links[i].State.IsError()) {
			continue
		}
		if len(page.Bases) > 0 {
			r.res.rebase(page, l)
		}
		d := r.res.detail(p, page, l, &p.links[i], &lines)
		d.Raw, d.Fragment = strings.Clone(d.Raw), strings.Clone(d.Fragment)
		e.Detail, e.Link = &d, i
		found, ref = l, page.Ref(l)
	}
	return found, ref
}
