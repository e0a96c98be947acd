package scan

import "bytes"

// FaultCSS: a part of a style sheet that browsers drop; its Name is the reason.
// The first one of a sheet is noted, and the rest is read.
const FaultCSS FaultKind = 5

// CSS reads a style sheet: the URLs that [Scanner.HTML] finds in a style
// element. Their element is "url" or "@import", their attribute empty. The
// encoding is that of a byte order mark, of @charset, or else UTF-8 (CSS Syntax
// 3, 3.2); what does not fit counts as U+FFFD. text must stay
// unchanged while the page is in use, and be shorter than 4 GiB.
//
// The URL of a source map stands in a comment and is no link.
func (s *Scanner) CSS(text []byte, opt Options) *Page {
	s.opt = opt
	enc, bom := sniffBOM(text)
	if enc == "" {
		enc = canonicalCharset(sheetCharset(text))
	}
	if enc == "" || enc == "utf-8" {
		s.reset(text, "utf-8")
	} else {
		s.transcribe(text[bom:], bom, enc)
		bom = 0
	}
	s.page.Quirks = false
	s.inert = false
	sheet := s.page.Text
	c := cssScanner{text: sheet[bom:], emit: func(kind cssKind, start, end int, value []byte) {
		start += bom
		element := "url"
		if kind == cssImport {
			element = "@import"
		}
		if start != end+bom && (len(value) != end+bom-start || &value[0] != &sheet[start]) {
			value = s.keep(value) // it lies in the parser's scratch space
		}
		s.place(value, uint32(start), KindLink, element, "")
	}}
	if c.scan(); c.fault.reason != "" {
		s.fault(c.fault.off+bom, FaultCSS, c.fault.reason)
	}
	s.repairUTF8()
	return &s.page
}

// sheetCharset returns the label of an @charset rule, which must begin the
// file byte for byte.
func sheetCharset(text []byte) string {
	const rule = `@charset "`
	if !bytes.HasPrefix(text, []byte(rule)) {
		return ""
	}
	text = text[len(rule):min(len(text), 1024)]
	end := bytes.IndexByte(text, '"')
	if end < 0 || end+1 == len(text) || text[end+1] != ';' {
		return ""
	}
	return string(text[:end])
}
