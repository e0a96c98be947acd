package templates

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/linkelement"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/scan/xml"
)

// splice replaces the bytes from..to of a text.
type splice struct {
	from, to int
	insert   string
}

// apply appends text with the splices applied to dst. The splices are in order
// and do not overlap.
func apply(dst, text []byte, splices []splice) []byte {
	i := 0
	for _, s := range splices {
		dst = append(dst, text[i:s.from]...)
		dst = append(dst, s.insert...)
		i = s.to
	}
	return append(dst, text[i:]...)
}

// A pageEditor decides what to change in pages, one page at a time. It is not
// safe for concurrent use.
type pageEditor struct {
	endpoints  Endpoints
	scanner    html.Scanner
	xmlScanner xml.Scanner
}

// isRight reports whether a page already has our block with all elements where
// it belongs. text may be just the start of the page. A false result may be
// wrong: the page then needs the full edit.
func (e *pageEditor) isRight(text []byte, xml bool) bool {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return false
	}
	h := html.ReadHead(text, xml, len(text))
	if h.Charset == 0 && !h.Whole {
		return false
	}
	want := block(e.endpoints.HTML(xml || h.XHTML))
	at := place(&h, len(want))
	return want != "" && at+len(want) <= len(text) && bytes.HasPrefix(text[at:], []byte(want))
}

// pageEdit is the result of editing one page.
type pageEdit struct {
	splices []splice
	// note is the reason why a selected page does not get all elements.
	note string
	// piece: the file is a fragment of a page, or plain text. redirect: the
	// page only redirects.
	piece, redirect bool
}

// edit decides what to change in a page so that it has the elements it needs, or
// none of ours when chosen is false. text is the page in any encoding.
func (e *pageEditor) edit(text []byte, xml, chosen bool) pageEdit {
	raw := text
	text, wide := narrow(raw)
	if wide == notNarrow {
		return pageEdit{note: "the page is in UTF-16 without a byte order mark"}
	}
	h := html.ReadHead(text, xml, len(text))
	from, to := findBlock(text, &h)
	stripped := text
	if to > from {
		stripped = apply(nil, text, []splice{{from: from, to: to}})
		h = html.ReadHead(stripped, xml, len(stripped))
	}
	var v pageEdit
	want := ""
	if chosen {
		switch {
		case !h.Markup:
			v.piece = true
		case h.Start >= len(stripped):
			v.note = "the page ends before its head starts"
		default:
			want = e.wanted(&v, stripped, &h, xml)
		}
	}
	at := place(&h, len(want))
	if want != "" && bytes.IndexByte(stripped[:at], 0x1b) >= 0 {
		// In ISO-2022-JP, a "<" after an escape may be half of a character.
		want, v.note = "", "the page switches its encoding before the place for the elements"
	}
	switch old := string(text[from:to]); {
	case want == old && (want == "" || at == from):
		return v
	case want == "":
		v.splices = []splice{{from, to, ""}}
	case from == to:
		v.splices = []splice{{at, at, want}}
	case at == from:
		v.splices = []splice{{from, to, want}}
	case at < from:
		v.splices = []splice{{at, at, want}, {from, to, ""}}
	default:
		at += to - from
		v.splices = []splice{{from, to, ""}, {at, at, want}}
	}
	wide.widen(text, v.splices)
	return v
}

// wanted returns the block that a page without one needs. It leaves out elements
// that the page has from its own template.
func (e *pageEditor) wanted(v *pageEdit, text []byte, h *html.Head, xml bool) string {
	page := e.read(text, xml)
	if page.Alias != 0 {
		v.redirect = true
		return ""
	}
	xhtml := xml || h.XHTML
	elements := ""
	for _, one := range []struct {
		rel    scan.AdvertRel
		only   Endpoints
		uri    string
		called string
	}{
		{scan.AdvertPingback, Endpoints{Pingback: e.endpoints.Pingback}, e.endpoints.Pingback, "pingback"},
		{scan.AdvertWebmention, Endpoints{Webmention: e.endpoints.Webmention}, e.endpoints.Webmention, "webmention"},
	} {
		if one.uri == "" {
			continue
		}
		switch own := ownElements(page, h, one.rel, one.only); {
		case own == ownNone:
			elements += one.only.HTML(xhtml)
		case own == ownOther && v.note == "":
			v.note = "the page already has a " + one.called + " element that differs from the configuration; change it in the template"
		}
	}
	return block(elements)
}

// read scans a page whose encoding is UTF-8 or an extension of ASCII.
func (e *pageEditor) read(text []byte, xml bool) *scan.Page {
	if xml {
		return e.xmlScanner.XHTML(text, scan.Options{})
	}
	// The exact encoding does not matter, because the elements are ASCII.
	return e.scanner.Scan(text, scan.Options{Charset: "utf-8"})
}

// own is the state of an element that a template wrote.
type own uint8

const (
	ownNone  own = iota
	ownRight     // exactly one, as configured
	ownOther     // more than one, another address, or not in the head
)

func ownElements(page *scan.Page, h *html.Head, rel scan.AdvertRel, want Endpoints) own {
	found := ownNone
	for _, a := range page.Adverts {
		if a.Rel&rel == 0 {
			continue
		}
		rest := page.Text[a.TagOff:]
		if found != ownNone || page.Source(a.TagOff) >= int64(h.Body) ||
			!bytes.HasPrefix(rest, []byte(want.HTML(false))) && !bytes.HasPrefix(rest, []byte(want.HTML(true))) {
			return ownOther
		}
		found = ownRight
	}
	return found
}

// mark ends what Docroot writes into a page. A later run recognises its own
// elements by it, so no record beside the docroot is needed, and a copy of the
// docroot can be undone as well.
const mark = "<!--sitelink-->"

// block returns what Docroot writes into a page that needs these elements.
func block(elements string) string {
	if elements == "" {
		return ""
	}
	return elements + mark
}

// blockLength returns the length of the block at the start of text, or 0.
func blockLength(text []byte) int {
	i := 0
	for {
		k := linkelement.Length(text[i:])
		if k == 0 {
			break
		}
		i += k
	}
	if i == 0 || !bytes.HasPrefix(text[i:], []byte(mark)) {
		return 0
	}
	return i + len(mark)
}

// findBlock returns where the block is in the page's head; from equals to when
// the page has no block.
func findBlock(text []byte, h *html.Head) (from, to int) {
	if n := blockLength(text[h.Charset:]); n > 0 && h.Charset > 0 {
		return h.Charset, h.Charset + n
	}
	return h.Start, h.Start + blockLength(text[h.Start:])
}

// place returns where to insert n bytes into a page without a block: right after
// the charset declaration, which parsers need early, or at the start of the head
// when there is no declaration or it comes too late for pingback clients.
func place(h *html.Head, n int) int {
	if h.Charset > 0 && h.Charset+n <= linkelement.MaxEnd {
		return h.Charset
	}
	return h.Start
}

// width is how the bytes of a page relate to the text that we search.
type width uint8

const (
	oneByte      width = iota // the same bytes: UTF-8 and other extensions of ASCII
	littleEndian              // UTF-16
	bigEndian
	notNarrow // UTF-16 without a byte order mark, which browsers misread
)

// narrow returns the text of a page: its bytes, or for UTF-16 its UTF-8 form
// without the byte order mark.
func narrow(raw []byte) ([]byte, width) {
	var order binary.ByteOrder
	w := oneByte
	switch {
	case bytes.HasPrefix(raw, []byte("\xff\xfe")):
		order, w = binary.LittleEndian, littleEndian
	case bytes.HasPrefix(raw, []byte("\xfe\xff")):
		order, w = binary.BigEndian, bigEndian
	case bytes.HasPrefix(raw, []byte("<\x00")), bytes.HasPrefix(raw, []byte("\x00<")):
		return raw, notNarrow
	default:
		return raw, oneByte
	}
	units := make([]uint16, 0, len(raw)/2)
	for i := 2; i+1 < len(raw); i += 2 {
		units = append(units, order.Uint16(raw[i:]))
	}
	text := make([]byte, 0, len(units)+len(units)/2)
	for _, r := range utf16.Decode(units) {
		text = utf8.AppendRune(text, r) // a lone surrogate becomes one U+FFFD
	}
	return text, w
}

// widen turns splices of the text into splices of the page's bytes.
func (w width) widen(text []byte, splices []splice) {
	if w == oneByte {
		return
	}
	at, units := 0, 1 // one unit for the byte order mark
	offset := func(i int) int {
		for at < i {
			r, size := utf8.DecodeRune(text[at:])
			at += size
			units += utf16.RuneLen(r)
		}
		return 2 * units
	}
	for i := range splices {
		s := &splices[i]
		s.from, s.to = offset(s.from), offset(s.to)
		var b strings.Builder
		for _, c := range []byte(s.insert) { // the elements are ASCII
			if w == littleEndian {
				b.Write([]byte{c, 0})
			} else {
				b.Write([]byte{0, c})
			}
		}
		s.insert = b.String()
	}
}
