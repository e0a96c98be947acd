package templates

import (
	"bytes"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/data"
	"github.com/sitelink/sitelink/internal/scan/endpoint"
	"github.com/sitelink/sitelink/internal/scan/html"
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
	xmlScanner data.XMLScanner
}

// isRight reports whether a page already has our block with all elements where
// it belongs. text may be just the start of the page. A false result may be
// wrong: the page then needs the full edit.
func (e *pageEditor) isRight(text []byte, xml bool) bool {
	if isUTF16(text) {
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
// none of ours when chosen is false. text is the page in an extension of ASCII.
func (e *pageEditor) edit(text []byte, xml, chosen bool) pageEdit {
	if isUTF16(text) {
		return pageEdit{note: "the page is in UTF-16: make it UTF-8"}
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

// read scans a page in UTF-8 or another extension of ASCII.
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
		k := endpoint.ElementLength(text[i:])
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

// place returns where to insert n bytes into a page without a block. That is
// right after the charset declaration, which parsers need early, or at the start
// of the head if the page has no declaration or has it too late for pingback
// clients.
func place(h *html.Head, n int) int {
	if h.Charset > 0 && h.Charset+n <= endpoint.MaxEnd {
		return h.Charset
	}
	return h.Start
}

// isUTF16 reports whether a page is in UTF-16, with a byte order mark or without.
func isUTF16(text []byte) bool {
	for _, start := range []string{"\xff\xfe", "\xfe\xff", "<\x00", "\x00<"} {
		if bytes.HasPrefix(text, []byte(start)) {
			return true
		}
	}
	return false
}
