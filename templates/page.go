package templates

import (
	"bytes"

	"github.com/sitelink/sitelink/internal/scan"
)

// splice replaces bytes of a page.
type splice struct {
	from, to int
	insert   string
}

// apply carries out splices, which are in order and do not overlap.
func apply(dst, text []byte, splices []splice) []byte {
	i := 0
	for _, s := range splices {
		dst = append(dst, text[i:s.from]...)
		dst = append(dst, s.insert...)
		i = s.to
	}
	return append(dst, text[i:]...)
}

// A pageEditor decides what to change in pages, one after the other. It is
// not safe for concurrent use.
type pageEditor struct {
	endpoints Endpoints
	scanner   scan.Scanner
}

// isRight tells by the beginning of a page, which may be all of it, whether its
// block is there as a page with all elements needs it. It may miss one that is.
func (e *pageEditor) isRight(text []byte, xml bool) bool {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return false
	}
	h := scan.ReadHead(text, xml, len(text))
	if h.Charset == 0 && !h.Whole {
		return false
	}
	want := block(e.endpoints.HTML(xml || h.XHTML))
	at := place(&h, len(want))
	return want != "" && at+len(want) <= len(text) && bytes.HasPrefix(text[at:], []byte(want))
}

// verdict is what an editor says of one page.
type verdict struct {
	splices []splice
	// note says why the page, which is chosen, does not get all elements.
	note string
	// piece: the file is no page but a piece of one, or text. redirect: it only
	// sends the visitor on.
	piece, redirect bool
}

// edit decides what to change in a page so that it has the elements it needs,
// or with chosen false none of ours. text is the page's bytes in any encoding.
func (e *pageEditor) edit(text []byte, xml, chosen bool) verdict {
	raw := text
	text, wide := narrow(raw)
	if wide == notNarrow {
		return verdict{note: "the page is in UTF-16 without a byte order mark"}
	}
	h := scan.ReadHead(text, xml, len(text))
	from, to := findBlock(text, &h)
	stripped := text
	if to > from {
		stripped = apply(nil, text, []splice{{from: from, to: to}})
		h = scan.ReadHead(stripped, xml, len(stripped))
	}
	var v verdict
	want := ""
	if chosen {
		switch {
		case !h.Markup:
			v.piece = true
		case h.Start >= len(stripped):
			v.note = "the page ends before its head begins"
		default:
			want = e.wanted(&v, stripped, &h, xml)
		}
	}
	at := place(&h, len(want))
	if want != "" && bytes.IndexByte(stripped[:at], 0x1b) >= 0 {
		// In ISO-2022-JP, "<" may be half of a character there.
		want, v.note = "", "the page switches its encoding before the place"
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

// wanted returns the block that a page without one needs, less the elements
// that the page has of its own.
func (e *pageEditor) wanted(v *verdict, text []byte, h *scan.Head, xml bool) string {
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
			v.note = "the page has a " + one.called + " element of its own that is not as it should be; change it in the template"
		}
	}
	return block(elements)
}

// read scans a page whose text is UTF-8 or agrees with ASCII.
func (e *pageEditor) read(text []byte, xml bool) *scan.Page {
	if xml {
		return e.scanner.XML(text, scan.Options{})
	}
	// The encoding does not matter: what is asked for is ASCII.
	return e.scanner.HTML(text, scan.Options{Charset: "utf-8"})
}

// own is what a page has of one element that a template wrote.
type own uint8

const (
	ownNone  own = iota
	ownRight     // one, as it should be
	ownOther     // more than one, another address, or not in the head
)

func ownElements(page *scan.Page, h *scan.Head, rel scan.AdvertRel, want Endpoints) own {
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
