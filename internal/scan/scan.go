// Package scan finds what one document links to and what it defines: the
// bytes of a page enter, links and anchors with their byte offsets leave.
//
// It reads HTML as browsers do (HTML Living Standard, section 13.2): which
// tags are real, which are text, comment or inert, and what an attribute's
// value is. It performs no I/O, starts no goroutine and keeps no state but
// the buffers of a [Scanner].
//
// Most pages are read in one pass by the fast path (tokens.go), which knows
// just enough of tree construction to tell when it knows enough. A page with
// a construct that can change which tags count (regular.go) is judged by
// golang.org/x/net/html instead (slow.go), with the same positions.
package scan

// Tags selects the table of elements and attributes that hold links.
type Tags uint8

const (
	// Modern is everything a browser, a crawler or a feed reader follows.
	Modern Tags = iota
	// Linklint is the table of LL-38 to LL-53.
	Linklint
)

// Kind says what a link is for, as far as that decides how it is judged.
type Kind uint8

const (
	// KindLink is a link that a visitor or the browser follows.
	KindLink Kind = iota
	// KindResource is a resource that the page itself loads: an empty value
	// is an error to the browser.
	KindResource
	// KindAction is a form's action (LL-46).
	KindAction
	// KindHint names a host and no page: preconnect, dns-prefetch.
	KindHint
	// KindPing is a ping target, which takes POST requests only.
	KindPing
	// KindMap names a map element: usemap (LL-49).
	KindMap
	// KindRefresh is the target of a meta refresh (LL-52).
	KindRefresh
	// KindMetadata is a URL that only machines read: Open Graph, Twitter,
	// JSON-LD, cite, profile.
	KindMetadata
	// KindReference is a CSS reference into a document, such as url(#gradient).
	KindReference
	// KindCanonical is a page's address as the page itself gives it.
	KindCanonical
	// KindManifest leads to a web app manifest, whatever that is called.
	KindManifest
	// KindEntry is the address of an entry: what a sitemap lists, or the page
	// that an entry of a feed stands for.
	KindEntry
)

// Link is one link of a page.
type Link struct {
	// Value is the attribute's value as the DOM has it: character references
	// decoded, newlines normalised, in UTF-8, not trimmed. For srcset and CSS
	// it is one URL of the value. It is valid until the scanner's next page.
	Value []byte
	// Off is the offset of the value's first byte in [Page.Text].
	Off uint32
	// TagOff is the offset of the tag's "<" in [Page.Text].
	TagOff uint32
	Tag    Tag
	Attr   Attr
	Kind   Kind
	// Inert: inside <template>, which no browser follows.
	Inert bool
	// element and attribute name the place of a link that is not in HTML, or
	// are 0: see [Page.Element] and [Page.Attribute].
	element, attribute label
}

// AnchorKind says what defines an anchor.
type AnchorKind uint8

const (
	AnchorID   AnchorKind = iota // id of any element
	AnchorName                   // <a name>
	AnchorMap                    // <map name>, for usemap only
)

// Anchor is a name that a page defines.
type Anchor struct {
	// Name is never empty, and valid until the scanner's next page.
	Name []byte
	Off  uint32
	Kind AnchorKind
}

// FaultKind is a defect of the file that hides links from readers.
type FaultKind uint8

const (
	// FaultComment: a comment is never closed; the rest of the file is in it (LL-31).
	FaultComment FaultKind = iota
	// FaultElement: a script, style, title, textarea ... never closes (LL-33).
	FaultElement
	// FaultTag: the file ends inside a tag, which no browser sees.
	FaultTag
)

// Fault is a defect of the file.
type Fault struct {
	Off  uint32
	Kind FaultKind
	// Name is the element's name in lower case, for FaultElement.
	Name string
}

// AdvertRel is a set of what a link element advertises by its relations.
type AdvertRel uint8

const (
	AdvertPingback   AdvertRel = 1 << iota // rel=pingback
	AdvertWebmention                       // rel=webmention
)

// Advert is a link element that names where pingbacks or webmentions go.
type Advert struct {
	// TagOff is the offset of the tag's "<" in [Page.Text].
	TagOff uint32
	Rel    AdvertRel
}

// Base is one <base href>.
type Base struct {
	Value []byte
	Off   uint32
}

// Page is what a document holds. It belongs to its [Scanner] and is valid
// until the scanner's next page.
type Page struct {
	// Text is what offsets refer to: the file itself, or its transcription to
	// UTF-8 (see [Page.Source]).
	Text []byte
	// Links are sorted by offset, Anchors by the offset of their tag.
	Links   []Link
	Anchors []Anchor
	Faults  []Fault
	Bases   []Base
	// Adverts are in the order of the file; those in templates are none.
	Adverts []Advert
	// SecondHead is one more than the offset of a head tag after the first, 0
	// for none.
	SecondHead uint32
	// HasScript tells whether the page runs scripts.
	HasScript bool
	// Quirks tells whether browsers compare <a name> without regard to case.
	Quirks bool
	// Alias is one more than the offset of the link to which a meta refresh
	// sends the visitor at once, 0 when none does.
	Alias uint32
	// Irregular tells that the slow path judged the page.
	Irregular bool
	// NoIndex tells whether the page asks search engines not to list it.
	NoIndex bool

	charset string // WHATWG name; "" until declared
	// refs holds, by offset, what to resolve in place of a value: for applets.
	refs map[uint32][]byte
	// rebased holds, by offset, which of bases a link resolves against instead
	// of the page's own.
	rebased map[uint32]int32
	bases   [][]byte
	source  *transcript
	labels  []string // by label; label 0 is none
	xml     bool     // names may have prefixes
}

// Ref returns what to resolve for a link: its value, but for applets that
// joined to their code base (LL-40, LL-41), and for links of feeds joined to
// the base in force there.
func (p *Page) Ref(l *Link) []byte {
	ref := l.Value
	if p.refs != nil {
		if r, ok := p.refs[l.Off]; ok {
			ref = r
		}
	}
	if p.rebased != nil {
		if b, ok := p.rebased[l.Off]; ok {
			return merge(p.bases[b], ref)
		}
	}
	return ref
}

// Options say how to read a page.
type Options struct {
	Tags Tags
	// Charset is the WHATWG label of the encoding that the server's header
	// gives; it wins over the page's own declaration. Empty: none.
	Charset string
	// DefaultCharset rules pages that declare nothing. Empty: windows-1252.
	DefaultCharset string
}

// A Scanner reads pages one after the other and reuses its buffers. The zero
// value is ready. It is not safe for concurrent use.
type Scanner struct {
	page  Page
	arena []byte // decoded values
	attrs attrSet
	reg   regularity
	em    emitter
	opt   Options
	index *index // nil before the first page

	careful bool // no quick path, for tests

	inert      bool // the tag at hand stands in a template
	sawNonASCI bool // a value taken from the page holds bytes above 0x7F
	sawDoctype bool
	headerSet  bool // the encoding is settled from outside the text

	labelOf map[string]label
	inner   *Scanner // reads HTML that stands in a value of another format
}

// HTML reads an HTML document. It never fails: browsers show something for
// any bytes. text must stay unchanged while the page is in use, and be
// shorter than 4 GiB.
func (s *Scanner) HTML(text []byte, opt Options) *Page {
	s.opt = opt
	enc, bom := sniffBOM(text)
	switch {
	case enc == "utf-8":
		s.reset(text, enc)
	case enc != "":
		return s.transcoded(text[bom:], bom, enc)
	default:
		s.reset(text, headerCharset(opt.Charset))
	}
	s.scan(bom)
	if s.page.charset == "" {
		s.page.charset = canonicalCharset(opt.DefaultCharset)
	}
	if needsTranscoding(s.page.charset, s.sawNonASCI) {
		return s.transcoded(text[bom:], bom, s.page.charset)
	}
	s.repairUTF8()
	return &s.page
}

// scan runs the fast path over the page's text from offset i, and the slow
// path where that is not enough.
func (s *Scanner) scan(i int) {
	s.tokens(i)
	if s.reg.irregular {
		s.slow(i)
	}
}

func (s *Scanner) reset(text []byte, charset string) {
	p := &s.page
	p.Text = text
	p.Links, p.Anchors = p.Links[:0], p.Anchors[:0]
	p.Faults, p.Bases = p.Faults[:0], p.Bases[:0]
	p.Adverts, p.SecondHead = p.Adverts[:0], 0
	p.HasScript, p.Irregular, p.Alias, p.NoIndex, p.xml = false, false, 0, false, false
	p.labels = p.labels[:0]
	p.Quirks = true // until a doctype says otherwise
	p.charset, p.source, p.refs = charset, nil, nil
	p.rebased, p.bases = nil, p.bases[:0]
	s.headerSet = charset != ""
	s.arena = s.arena[:0]
	clear(s.labelOf)
	s.sawNonASCI, s.sawDoctype = false, false
	s.reg.reset()
}
