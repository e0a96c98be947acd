// Package scan defines what sitelink reads out of one file: its links, its
// anchors and its faults, each with a byte offset. It does not read files
// itself. It scans CSS, which all the others may hold; the packages below it
// scan the other formats:
//
//   - [github.com/sitelink/sitelink/internal/scan/html]: HTML pages, Markdown
//   - [github.com/sitelink/sitelink/internal/scan/data]: XHTML, SVG, feeds,
//     sitemaps, JSON Feed, JSON-LD, web app manifests, robots.txt, _headers,
//     image maps
//
// Each format has a Scanner that turns the bytes of a file into a [Page]. A
// Scanner performs no I/O, starts no goroutine and keeps no state between
// files except its buffers. A format's Scanner fills the page through a
// [Builder].
package scan

import (
	"bytes"
	"sort"
)

// Tags selects the table of elements and attributes that hold links.
type Tags uint8

const (
	// Modern is everything a browser, a crawler or a feed reader follows.
	Modern Tags = iota
	// Linklint is the table of the program linklint (LL-38 to LL-53).
	Linklint
)

// LinkKind is the purpose of a link, as far as it affects the verdict.
type LinkKind uint8

const (
	// KindLink is a link that a visitor or the browser follows.
	KindLink LinkKind = iota
	// KindResource is a resource that the page itself loads. An empty value is
	// an error to the browser.
	KindResource
	// KindAction is a form's action (LL-46).
	KindAction
	// KindHint names a host but no page: preconnect, dns-prefetch.
	KindHint
	// KindPing is a ping target. It accepts POST requests only.
	KindPing
	// KindMap names a map element: usemap (LL-49).
	KindMap
	// KindRefresh is the target of a meta refresh (LL-52).
	KindRefresh
	// KindMetadata is a URL for machines: Open Graph, Twitter, JSON-LD, cite,
	// profile.
	KindMetadata
	// KindReference is a CSS reference into a document, such as url(#gradient).
	KindReference
	// KindPicture is an image in CSS, or an SVG font that no browser loads because
	// others are beside it: its fragment, which no property of CSS refers to, need
	// not exist.
	KindPicture
	// KindFont is an SVG font that is the only source of a font.
	KindFont
	// KindCanonical is the address that a page declares for itself.
	KindCanonical
	// KindManifest is the link to a web app manifest with any file name.
	KindManifest
	// KindEntry is the address of an entry: a page listed in a sitemap, or the
	// page that a feed entry represents.
	KindEntry
	// KindUndefined is a reference of Markdown, [text][label], without a definition.
	KindUndefined
)

// Link is one link of a page.
type Link struct {
	// Value is the attribute's value as the DOM has it: UTF-8, with character
	// references decoded and newlines normalised, but not trimmed. For srcset
	// and CSS it is one URL of the value. It is valid until the scanner reads
	// the next file.
	Value []byte
	// Off is the offset of the value's first byte in [Page.Text].
	Off uint32
	// TagOff is the offset of the tag's "<" in [Page.Text].
	TagOff uint32
	Tag    Tag
	Attr   Attr
	Kind   LinkKind
	// Inert means that the link is inside <template>. Browsers do not follow it.
	Inert bool
	// AtOnce means that browsers request the target as soon as they read the tag,
	// although neither element nor attribute say so; see [Page.BeforeBase].
	AtOnce bool
	// Exempt is the reason of the attribute data-sitelink-ignore on the element, or on
	// one around it; nil without such an attribute.
	Exempt *string
	// element and attribute are the names for a link outside HTML, or 0. See
	// [Page.Element] and [Page.Attribute].
	element, attribute label
}

// AnchorKind is the construct that defines an anchor.
type AnchorKind uint8

const (
	AnchorID   AnchorKind = iota // id of any element
	AnchorName                   // <a name>
	AnchorMap                    // <map name> or <map id>, for usemap only
)

// Anchor is a name that a page defines.
type Anchor struct {
	// Name is never empty. It is valid until the scanner reads the next file.
	Name []byte
	Off  uint32
	Kind AnchorKind
}

// FaultKind is the kind of a [Fault].
type FaultKind uint8

const (
	// FaultComment is a comment that is never closed. It contains the rest of
	// the file (LL-31).
	FaultComment FaultKind = iota
	// FaultElement is a script, style, title, textarea or similar element that
	// is never closed (LL-33). Name is the element.
	FaultElement
	// FaultTag means that the file ends inside a tag. Browsers ignore that tag.
	FaultTag
	// FaultXML is an error in an XML document. Name is the reason, such as
	// "mismatched end tag </b>". After an error of well-formedness browsers show
	// nothing. They ignore errors against the namespace rules, so only the first
	// of those is reported, and the rest of the file is read.
	FaultXML
	// FaultXMLSpace means that white space precedes the XML declaration of a feed
	// or sitemap. XML forbids it, but the rest of the file is read.
	FaultXMLSpace
	// FaultJSON means that the document is not JSON. Name is the reason. The
	// links before the fault are reported.
	FaultJSON
	// FaultScript means that an import map or speculation rules are not JSON, so
	// that browsers ignore them. Name is the reason.
	FaultScript
	// FaultCSS is a part of a style sheet that browsers drop. Name is the
	// reason. Only the first one in a style sheet is reported, and the rest of
	// the file is read.
	FaultCSS
	// FaultMarkdown means that a Markdown file has a paragraph with too many
	// brackets and emphasis marks, or too many nested quotes. Links of the file
	// are missing.
	FaultMarkdown
	// FaultTree means that the markup of the page is irregular, and that its
	// tree cannot be built. Name is the reason, such as "larger than 4 MiB".
	// Links of the page may be missing or read wrongly.
	FaultTree
)

// Fault is a defect of a file that hides links from its readers.
type Fault struct {
	Off  uint32
	Kind FaultKind
	// Name is an element name in lower case or a reason, depending on Kind.
	Name string
}

// AdvertRel is the set of endpoints that a link element advertises.
type AdvertRel uint8

const (
	AdvertPingback   AdvertRel = 1 << iota // rel=pingback
	AdvertWebmention                       // rel=webmention
)

// Advert is a link element that names an endpoint for pingbacks or webmentions.
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

// Script is one script element that browsers run.
type Script struct {
	// TagOff is the offset of the tag's "<".
	TagOff uint32
	// External reports whether the element has a src. The link of that attribute
	// is then the script's address, and browsers ignore Text.
	External bool
	Text     []byte
}

// Page is what a scanner found in one file. It belongs to the scanner and is
// valid until the scanner reads the next file.
type Page struct {
	// Text is the text that offsets refer to: the file itself, or the file
	// converted to UTF-8. [Page.Source] converts an offset in Text to an offset
	// in the file.
	Text []byte
	// Links are sorted by offset, Anchors by the offset of their tag.
	Links   []Link
	Anchors []Anchor
	Faults  []Fault
	// Unused are the lines of Markdown with link reference definitions that no link uses.
	Unused []int
	Bases  []Base
	// Adverts are in the order of the file. Those inside templates are left out.
	Adverts []Advert
	// SecondHead is the offset of the second head tag plus one, or 0.
	SecondHead uint32
	// Scripts are the scripts that the page runs, in order.
	Scripts []Script
	// Quirks reports whether browsers ignore letter case when they look for
	// <a name>.
	Quirks bool
	// Alias is the offset plus one of the link to which a meta refresh sends
	// the visitor without delay, or 0.
	Alias uint32
	// Irregular reports whether golang.org/x/net/html decided which tags count.
	Irregular bool
	// NoIndex reports whether the page asks search engines not to list it.
	NoIndex bool
	// Prefixed reports whether element names may have a namespace prefix.
	Prefixed bool

	charset string // WHATWG name; "" until declared
	// refs holds, by offset, the reference to resolve instead of the value.
	refs map[uint32][]byte
	// rebased holds, by offset, the number of the base URL in bases that a link
	// is resolved against instead of the page's own base URL.
	rebased map[uint32]int32
	bases   [][]byte
	source  *transcript
	labels  []string // by label; label 0 is ""
}

// Ref returns the reference to resolve for a link. It is the link's value, with
// two exceptions: the code and archive of an applet are joined to its code base
// (LL-40, LL-41), and a link in a feed is joined to the base URL in scope.
func (p *Page) Ref(l *Link) []byte {
	if len(p.refs) == 0 && len(p.rebased) == 0 { // nearly always
		return l.Value
	}
	return p.joined(l)
}

func (p *Page) joined(l *Link) []byte {
	ref := l.Value
	if r, ok := p.refs[l.Off]; ok {
		ref = r
	}
	if base := p.BaseOf(l); base != nil {
		return Merge(base, ref)
	}
	return ref
}

// BaseOf returns the base URL that a link is resolved against in place of the
// page's own, nil for the page's own. It may be relative to the page.
func (p *Page) BaseOf(l *Link) []byte {
	if b, ok := p.rebased[l.Off]; ok {
		return p.bases[b]
	}
	return nil
}

// BeforeBase reports whether browsers resolve l against the page's own address
// although the page has a base element: it names a resource that they request
// as soon as they read its tag, and the base element follows. They load images
// and media later.
func (p *Page) BeforeBase(l *Link) bool {
	switch {
	case len(p.Bases) == 0 || l.TagOff >= p.Bases[0].Off:
		return false
	case l.AtOnce || l.Attr == AttrStyle:
		return true
	}
	switch l.Tag {
	case TagScript, TagStyle:
		return true
	case TagIframe, TagFrame:
		return l.Attr == AttrSrc
	case TagOther:
		name := p.Element(l)
		return name == "script" || name == "use"
	}
	return false
}

// Rebased reports whether any link is resolved against a base URL other than
// the page's own.
func (p *Page) Rebased() bool { return len(p.rebased) > 0 }

// Element returns the name of the element that holds l, in lower case: in
// XHTML and SVG without its prefix, in other XML with its prefix. In formats
// without elements it is the construct that holds the link, such as "url" in a
// style sheet.
func (p *Page) Element(l *Link) string {
	if l.element != 0 {
		return p.labels[l.element]
	}
	if l.Tag == TagImage {
		return "img"
	}
	if l.Tag != TagOther {
		return l.Tag.String()
	}
	name := p.Text[l.TagOff+1:]
	if k := bytes.IndexAny(name, "\t\n\f\r />"); k >= 0 {
		name = name[:k]
	}
	if p.Prefixed {
		name = name[bytes.LastIndexByte(name, ':')+1:]
	}
	return string(AppendUTF8(nil, bytes.ToLower(name)))
}

// Attribute returns the name of the attribute that holds l, or "" when the
// element's text holds it. In formats without attributes it is the member of
// the object. See docs/reference/formats.md.
func (p *Page) Attribute(l *Link) string {
	if l.attribute != 0 {
		return p.labels[l.attribute]
	}
	return l.Attr.String()
}

// Options are the settings for reading a file.
type Options struct {
	Tags Tags
	// Charset is the WHATWG label of the encoding in the server's Content-Type
	// header. It overrides the page's own declaration. Empty means none.
	Charset string
	// DefaultCharset applies to pages that declare no encoding. Empty means
	// windows-1252.
	DefaultCharset string
}

// Relations returns the kind of a link element or Link header with these
// relations, and the endpoints that it advertises. The kind is [KindHint] if
// all relations only name a host. loads reports whether browsers request the
// target as a part of the page.
func Relations(rel []byte) (kind LinkKind, advert AdvertRel, loads bool) {
	hint, others := false, false
	for len(rel) > 0 {
		i := 0
		for i < len(rel) && !IsSpace(rel[i]) {
			i++
		}
		if word := rel[:i]; i > 0 {
			switch {
			case EqualFold(word, "preconnect"), EqualFold(word, "dns-prefetch"):
				hint = true
			case EqualFold(word, "canonical"):
				kind, others = KindCanonical, true
			case EqualFold(word, "manifest"):
				kind, others = KindManifest, true
			case EqualFold(word, "pingback"):
				advert, others = advert|AdvertPingback, true
			case EqualFold(word, "webmention"):
				advert, others = advert|AdvertWebmention, true
			case EqualFold(word, "stylesheet"), EqualFold(word, "preload"), EqualFold(word, "modulepreload"), EqualFold(word, "prefetch"):
				loads, others = true, true
			default:
				others = true
			}
		}
		rel = rel[min(i+1, len(rel)):]
	}
	if hint && !others {
		return KindHint, 0, false
	}
	return kind, advert, loads
}

// IsWebURL reports whether v is one absolute http or https URL without white
// space.
func IsWebURL(v []byte) bool {
	if len(v) < len("http://x") || !EqualFold(v[:4], "http") {
		return false
	}
	rest := v[4:]
	if rest[0]|0x20 == 's' {
		rest = rest[1:]
	}
	return bytes.HasPrefix(rest, []byte("://")) && len(rest) > 3 && !bytes.ContainsAny(rest, Space)
}

// ScriptLink returns the number of the link that holds the address of a script,
// or -1.
func (p *Page) ScriptLink(sc *Script) int {
	if !sc.External {
		return -1
	}
	i := sort.Search(len(p.Links), func(i int) bool { return p.Links[i].Off >= sc.TagOff })
	for ; i < len(p.Links) && p.Links[i].TagOff == sc.TagOff; i++ {
		if p.Links[i].Attr == AttrSrc {
			return i
		}
	}
	return -1
}
