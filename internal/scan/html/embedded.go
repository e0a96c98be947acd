package html

import (
	"bytes"
	"cmp"

	"github.com/sitelink/sitelink/internal/scan"
)

// Embedded is HTML in a value of another document, such as the content of a
// feed entry.
type Embedded struct {
	Text []byte
	// Off is the offset of Text in the document, if Text is a part of it.
	Off uint32
	// From otherwise holds the offset in the document for each byte of Text.
	From []uint32
	// Base is the base URL of the links, nil for none.
	Base []byte
}

// AddTo adds the links of e to the page of b. It reads e with s.
func (e *Embedded) AddTo(b *scan.Builder, s *Scanner, tags scan.Tags) {
	page := s.Scan(e.Text, scan.Options{Tags: tags, Charset: "utf-8"})
	b.AddEmbedded(page, func(off uint32) uint32 {
		switch {
		case e.From == nil:
			return e.Off + off
		case int(off) < len(e.From):
			return e.From[off]
		}
		return e.From[len(e.From)-1]
	}, e.Base)
}

// maxSrcdoc limits how deep documents in srcdoc attributes are nested. Each
// level must escape the quotes of the next one, so that people write one.
const maxSrcdoc = 4

// srcdoc adds the links of the document in the srcdoc of an iframe. Browsers
// resolve them against the base URL that the page has then, unless the document
// has one of its own. So "#id" leads to the page, not to the document. Browsers
// ignore src beside srcdoc.
//
// Spec: HTML,
// https://html.spec.whatwg.org/multipage/urls-and-fetching.html#fallback-base-url
func (e *Elements) srcdoc() {
	e.dropSource()
	v, places := e.composite(e.Attrs.Val[scan.AttrSrcdoc])
	if e.depth == maxSrcdoc || bytes.IndexByte(v, '<') < 0 {
		return
	}
	if e.inner == nil {
		e.inner = &Scanner{}
		e.inner.el.depth = e.depth + 1
	}
	first, inert, exempt := len(e.Page.Links), e.Inert, e.exempt
	page := e.inner.Scan(v, scan.Options{Charset: "utf-8"})
	var base []byte
	if len(page.Bases) > 0 {
		base = page.Bases[0].Value
	}
	e.AddEmbedded(page, func(off uint32) uint32 { return places.at(int(off)) }, base)
	for i := first; i < len(e.Page.Links); i++ {
		l := &e.Page.Links[i]
		l.AtOnce, l.Exempt = true, cmp.Or(l.Exempt, exempt)
		if l.Inert = l.Inert || inert; l.Kind >= scan.KindCanonical {
			l.Kind = scan.KindLink // a matter of that document
		}
	}
}

// dataScript adds the links of a script element that holds data for browsers
// or search engines. ok is false for other scripts. Browsers ignore import maps
// and speculation rules with src.
func (e *Elements) dataScript(kind []byte, at, content scan.Span) (ok bool) {
	var links func(text []byte, content scan.Span)
	inline := !e.Attrs.Has(scan.AttrSrc)
	switch {
	case scan.EqualFold(kind, "application/ld+json"):
		links, inline = e.jsonLD, true
	case scan.EqualFold(kind, "importmap"):
		links = e.importMap
	case scan.EqualFold(kind, "speculationrules"):
		links = e.speculationRules
	default:
		return false
	}
	if inline && e.Tags == scan.Modern {
		text := e.Page.Text[content.Start:content.End]
		e.NoteBytes(text)
		e.tag, e.at = scan.TagScript, at
		links(text, content)
	}
	return true
}

func (e *Elements) jsonLD(text []byte, content scan.Span) {
	scan.LinkedData(text, func(start, end int, value []byte) {
		e.addLink(e.Value(text, start, end, value), content.Start+uint32(start), scan.AttrText, scan.KindMetadata)
	})
}

// importMap adds the addresses of an import map. Browsers ignore an address
// that does not begin with "/", "./", "../" or a scheme. One that ends in "/"
// is the beginning of addresses.
//
// Spec: HTML,
// https://html.spec.whatwg.org/multipage/webappapis.html#parse-an-import-map-string
func (e *Elements) importMap(text []byte, content scan.Span) {
	e.walkScript(text, content, "import map", func(v *scan.JSONString) (scan.LinkKind, bool) {
		inImports := len(v.Path) == 2 && v.Path[0] == "imports"
		inScopes := len(v.Path) == 3 && v.Path[0] == "scopes"
		address := []byte(v.Text)
		switch {
		case !inImports && !inScopes || !isURLLike(address):
			return 0, false
		case address[len(address)-1] == '/':
			return scan.KindHint, true
		}
		return scan.KindResource, true
	})
}

// isURLLike reports whether a browser takes an address of an import map for a
// URL.
func isURLLike(v []byte) bool {
	for _, start := range []string{"/", "./", "../"} {
		if bytes.HasPrefix(v, []byte(start)) {
			return true
		}
	}
	scheme, _, ok := bytes.Cut(v, []byte(":"))
	return ok && len(scheme) > 1 && !bytes.ContainsAny(scheme, "/?# ")
}

// speculationRules adds the addresses that browsers prefetch or prerender.
// Patterns for links of the page (where) are not addresses.
//
// Spec: https://html.spec.whatwg.org/multipage/speculative-loading.html
func (e *Elements) speculationRules(text []byte, content scan.Span) {
	e.walkScript(text, content, "speculation rules", func(v *scan.JSONString) (scan.LinkKind, bool) {
		ok := len(v.Path) == 2 && v.Path[1] == "urls" && (v.Path[0] == "prefetch" || v.Path[0] == "prerender")
		return scan.KindLink, ok && v.Text != ""
	})
}

// walkScript adds the strings of a JSON script that are links, and a fault if
// the text is not JSON. Browsers then ignore all of it.
func (e *Elements) walkScript(text []byte, content scan.Span, what string, kindOf func(v *scan.JSONString) (scan.LinkKind, bool)) {
	first := len(e.Page.Links)
	fault, off := scan.WalkJSON(text, func(v *scan.JSONString) {
		if kind, ok := kindOf(v); ok {
			value := v.Raw
			if v.Text != string(v.Raw) {
				value = e.Keep([]byte(v.Text))
			}
			e.addLink(value, content.Start+v.Off, scan.AttrText, kind)
		}
	}, func([]string) {})
	if fault != "" {
		e.Page.Links = e.Page.Links[:first]
		if !e.Inert {
			e.Fault(int(content.Start)+int(off), scan.FaultScript, what+": "+fault)
		}
	}
}
