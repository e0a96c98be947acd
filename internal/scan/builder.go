package scan

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"
)

// A Builder fills a [Page]. It belongs to the scanner of one format, which
// adds links, anchors and the like to Page directly, or through the methods
// where more is involved. A Builder reuses its buffers from file to file. The
// zero value needs a call of Reset.
type Builder struct {
	Page Page
	// Arena holds the values that are not part of the page's text.
	Arena []byte
	// NonASCII reports whether any value taken from the page's text has a byte
	// above 0x7F. The scanner sets it; see also NoteBytes.
	NonASCII bool

	charsetFixed bool // the page's own declaration of an encoding is ignored
	labelOf      map[string]label
}

// Reset starts a new page. charset is the WHATWG name of the encoding if it is
// already certain, or "" if the page's own declaration decides.
func (b *Builder) Reset(text []byte, charset string) {
	b.Clear()
	p := &b.Page
	p.Text = text
	p.Faults, p.Unused, p.SecondHead = p.Faults[:0], p.Unused[:0], 0
	p.Irregular, p.NoIndex, p.Prefixed = false, false, false
	p.labels = p.labels[:0]
	p.Quirks = true // until a doctype says otherwise
	p.charset, p.source = charset, nil
	p.rebased, p.bases = nil, p.bases[:0]
	b.charsetFixed = charset != ""
	clear(b.labelOf)
	b.NonASCII = false
}

// Clear removes the links, anchors, bases and adverts found so far.
func (b *Builder) Clear() {
	p := &b.Page
	p.Links, p.Anchors, p.Bases, p.Adverts = p.Links[:0], p.Anchors[:0], p.Bases[:0], p.Adverts[:0]
	p.Scripts, p.Alias = p.Scripts[:0], 0
	p.refs = nil
	b.Arena = b.Arena[:0]
}

// Keep copies v into the arena.
func (b *Builder) Keep(v []byte) []byte {
	from := len(b.Arena)
	b.Arena = append(b.Arena, v...)
	return b.Arena[from:len(b.Arena):len(b.Arena)]
}

// Value returns the value of a link at text[start:end] for the page. A value
// that a parser put into a buffer of its own is copied into the arena.
func (b *Builder) Value(text []byte, start, end int, value []byte) []byte {
	if start != end && (len(value) != end-start || &value[0] != &text[start]) {
		return b.Keep(value)
	}
	return value
}

// NoteBytes sets NonASCII if text has a byte above 0x7F.
func (b *Builder) NoteBytes(text []byte) {
	if b.NonASCII {
		return
	}
	for _, c := range text {
		if c >= utf8.RuneSelf {
			b.NonASCII = true
			return
		}
	}
}

// Fault adds a fault.
func (b *Builder) Fault(off int, kind FaultKind, name string) {
	b.Page.Faults = append(b.Page.Faults, Fault{Off: uint32(off), Kind: kind, Name: name})
}

// SortLinks sorts the links by offset, for scanners that find them in another
// order.
func (b *Builder) SortLinks() {
	byOffset := func(x, y Link) int { return cmp.Compare(x.Off, y.Off) }
	if links := b.Page.Links; !slices.IsSortedFunc(links, byOffset) {
		slices.SortStableFunc(links, byOffset)
	}
}

// A label is an index into Page.labels. Formats other than HTML can have any
// names of elements and attributes, but one file has few different ones.
type label uint16

// maxLabels limits the number of different names in one file. Further names
// are reported as "".
const maxLabels = 1 << 12

// label returns the label of a name, 0 for "".
func (b *Builder) label(name string) label {
	if name == "" {
		return 0
	}
	if l, ok := b.labelOf[name]; ok {
		return l
	}
	p := &b.Page
	if len(p.labels) == 0 {
		p.labels = append(p.labels, "")
	}
	if len(p.labels) == maxLabels {
		return 0
	}
	if b.labelOf == nil {
		b.labelOf = map[string]label{}
	}
	l := label(len(p.labels))
	p.labels = append(p.labels, name)
	b.labelOf[name] = l
	return l
}

// lowerLabel is label for a name as it is in the file. The label is that of the
// name in lower case.
func (b *Builder) lowerLabel(name []byte) label {
	if l, ok := b.labelOf[string(name)]; ok {
		return l
	}
	l := b.label(string(AppendUTF8(nil, bytes.ToLower(name))))
	if l != 0 {
		b.labelOf[string(name)] = l
	}
	return l
}

// Add adds a link of a format that has neither elements nor attributes.
// element and attribute are the names to report instead.
func (b *Builder) Add(value []byte, off uint32, kind LinkKind, element, attribute string) {
	b.NoteBytes(value)
	b.Page.Links = append(b.Page.Links, Link{Value: value, Off: off, TagOff: off, Attr: AttrText, Kind: kind,
		element: b.label(element), attribute: b.label(attribute)})
}

// AddNamed adds l, a link of an element and an attribute with these names. They
// are reported in lower case.
func (b *Builder) AddNamed(l Link, element, attribute []byte) {
	l.element, l.attribute = b.lowerLabel(element), b.lowerLabel(attribute)
	b.Page.Links = append(b.Page.Links, l)
}

// AddEmbedded adds the links of another page that is embedded in a value of
// this one, such as HTML in a feed. place converts an offset in its text to an
// offset in this page's text. base is the base URL of the links, nil for none.
// References from CSS (url(#a)) and image maps are left out: they refer to the
// document that shows the content, which is unknown.
func (b *Builder) AddEmbedded(inner *Page, place func(off uint32) uint32, base []byte) {
	first := len(b.Page.Links)
	for i := range inner.Links {
		l := inner.Links[i]
		if l.Kind == KindReference || l.Kind == KindMap {
			continue
		}
		l.element, l.attribute = b.label(inner.Element(&l)), b.label(l.Attr.String())
		ref, joined := inner.refs[l.Off]
		if _, ok := inner.rebased[l.Off]; ok {
			ref, joined = inner.Ref(&l), true
		}
		l.Value, l.Off, l.TagOff = b.Keep(l.Value), place(l.Off), place(l.TagOff)
		b.Page.Links = append(b.Page.Links, l)
		if joined {
			b.SetRef(l.Off, b.Keep(ref))
		}
	}
	b.Rebase(first, base)
}

// SetRef sets what [Page.Ref] returns for the link at off.
func (b *Builder) SetRef(off uint32, ref []byte) {
	if b.Page.refs == nil {
		b.Page.refs = map[uint32][]byte{}
	}
	b.Page.refs[off] = ref
}

// WithText calls add with text as the page's text, and then changes the
// offsets of everything that add adds: from holds the offset in the real text
// for each byte of text.
func (b *Builder) WithText(text []byte, from []uint32, add func()) {
	p := &b.Page
	realText, realRefs, realRebased := p.Text, p.refs, p.rebased
	links, anchors, bases := len(p.Links), len(p.Anchors), len(p.Bases)
	p.Text, p.refs, p.rebased = b.Keep(text), nil, nil
	add()
	for i := range p.Links[links:] {
		p.Links[links+i].Off = from[p.Links[links+i].Off]
	}
	for i := range p.Anchors[anchors:] {
		p.Anchors[anchors+i].Off = from[p.Anchors[anchors+i].Off]
	}
	for i := range p.Bases[bases:] {
		p.Bases[bases+i].Off = from[p.Bases[bases+i].Off]
	}
	refs, rebased := p.refs, p.rebased
	p.Text, p.refs, p.rebased = realText, realRefs, realRebased
	for off, ref := range refs {
		b.SetRef(from[off], ref)
	}
	for off, base := range rebased {
		if p.rebased == nil {
			p.rebased = map[uint32]int32{}
		}
		p.rebased[from[off]] = base
	}
}

// MaxBase is the length in bytes of the longest base URL that is used. No
// server accepts a longer address.
const MaxBase = 1 << 10

// Rebase sets the base URL of the page's links from number first on. base may
// be relative to the page's address. nil means that they have no base URL of
// their own.
func (b *Builder) Rebase(first int, base []byte) {
	p := &b.Page
	if len(base) == 0 || len(base) > MaxBase || first == len(p.Links) {
		return
	}
	// Usually many links in a row have the same base URL.
	if n := len(p.bases); n == 0 || !bytes.Equal(p.bases[n-1], base) {
		p.bases = append(p.bases, AppendUTF8(nil, base))
	}
	if p.rebased == nil {
		p.rebased = map[uint32]int32{}
	}
	for i := first; i < len(p.Links); i++ {
		l := &p.Links[i]
		if len(l.Value) == 0 && l.Kind == KindResource || l.Kind == KindReference || l.Kind == KindMap {
			continue
		}
		p.rebased[l.Off] = int32(len(p.bases) - 1)
	}
}

// Merge resolves the reference ref against base, which may be relative itself
// (RFC 3986, 5.2.2 and 5.2.3). It works on text: dot segments remain until the
// result is resolved against an absolute address. The result may alias ref.
func Merge(base, ref []byte) []byte {
	ref = Trim(ref)
	base, _, _ = bytes.Cut(base, []byte("#"))
	if len(base) == 0 || schemeLen(ref) > 0 {
		return ref
	}
	path := schemeLen(base)
	if bytes.HasPrefix(base[path:], []byte("//")) {
		path += 2
		for path < len(base) && base[path] != '/' && base[path] != '?' {
			path++
		}
	}
	query := len(base)
	if k := bytes.IndexByte(base[path:], '?'); k >= 0 {
		query = path + k
	}
	keep := path // bytes of base before ref
	switch {
	case len(ref) == 0, ref[0] == '#':
		keep = len(base)
	case ref[0] == '?':
		keep = query
	case bytes.HasPrefix(ref, []byte("//")):
		keep = schemeLen(base)
	case ref[0] != '/':
		if k := bytes.LastIndexByte(base[path:query], '/'); k >= 0 {
			keep = path + k + 1
		} else if path > 0 {
			return slices.Concat(base[:path], []byte("/"), ref)
		}
	}
	return slices.Concat(base[:keep], ref)
}

// schemeLen returns the length of the scheme at the start of ref, including its
// colon, or 0.
func schemeLen(ref []byte) int {
	for i, c := range ref {
		switch {
		case IsLetter(c):
		case c == ':' && i > 0:
			return i + 1
		case i > 0 && (IsDigit(c) || c == '+' || c == '-' || c == '.'):
		default:
			return 0
		}
	}
	return 0
}

// RepairUTF8 replaces ill-formed bytes in everything that was taken from a page
// in UTF-8.
func (b *Builder) RepairUTF8() {
	if !b.NonASCII {
		return
	}
	repair := func(v []byte) []byte {
		if v == nil || utf8.Valid(v) {
			return v
		}
		from := len(b.Arena)
		b.Arena = AppendUTF8(b.Arena, v)
		return b.Arena[from:len(b.Arena):len(b.Arena)]
	}
	p := &b.Page
	for i := range p.Links {
		p.Links[i].Value = repair(p.Links[i].Value)
	}
	for off, ref := range p.refs {
		p.refs[off] = repair(ref)
	}
	for i := range p.Anchors {
		p.Anchors[i].Name = repair(p.Anchors[i].Name)
	}
	for i := range p.Bases {
		p.Bases[i].Value = repair(p.Bases[i].Value)
	}
}
