package data

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/scan"
)

// decode determines the encoding (XML appendix F), starts a page with the text
// in UTF-8, and returns the offset of the document in it.
func (s *XMLScanner) decode(text []byte, opt scan.Options) int {
	enc, bom := scan.SniffBOM(text)
	if enc == "" {
		enc = scan.HeaderCharset(opt.Charset)
	}
	switch {
	case enc != "":
	case bytes.HasPrefix(text, []byte("<\x00?\x00")):
		enc = "utf-16le"
	case bytes.HasPrefix(text, []byte("\x00<\x00?")):
		enc = "utf-16be"
	default:
		enc = scan.DeclaredCharset(declaredCharset(text))
	}
	if enc == "" || enc == "utf-8" {
		s.el.Reset(text, "utf-8")
		return bom
	}
	s.el.Convert(text[bom:], bom, enc)
	return 0
}

// declaredCharset returns the encoding that an XML declaration names. White
// space may precede it, as it does in some feeds.
func declaredCharset(text []byte) string {
	text = text[skipSpace(text, 0):]
	if !bytes.HasPrefix(text, []byte("<?xml")) {
		return ""
	}
	end := bytes.Index(text, []byte("?>"))
	if end < 0 {
		return ""
	}
	for i := len("<?xml"); ; {
		name, val, next, ok := pseudoAttr(text[:end], i)
		if !ok {
			return ""
		}
		if string(text[name.Start:name.End]) == "encoding" && val.End-val.Start <= 64 {
			return string(text[val.Start:val.End])
		}
		i = next
	}
}

// badChar returns the offset of the first character that XML forbids (XML 2.2),
// and an error message, or "". In text converted from an encoding without
// U+FFFD that character means that a byte could not be decoded.
func badChar(text []byte, charset string) (at int, why string) {
	replaced := true
	switch charset {
	case "utf-8", "utf-16le", "utf-16be", "gb18030":
		replaced = false
	}
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c < utf8.RuneSelf || c == '\n' || c == '\t' || c == '\r' {
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return i, fmt.Sprintf("byte 0x%02X is not UTF-8", c)
		case r == utf8.RuneError && replaced:
			return i, "a byte is not " + charset
		case !isChar(r):
			return i, fmt.Sprintf("character U+%04X is not allowed", r)
		}
		i += n
	}
	return 0, ""
}

func isChar(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD ||
		r >= 0x10000 && r <= utf8.MaxRune
}

// declaration reads the XML declaration (XML 2.8). Chromium accepts any version
// 1.x.
func (x *reader) declaration() {
	from := x.i
	end := bytes.Index(x.text[from:], []byte("?>"))
	if end < 0 {
		x.failUnclosed(from, "the XML declaration is never closed")
		return
	}
	decl := x.text[:from+end]
	x.i = from + end + len("?>")
	i, turn := from+len("<?xml"), 0
	for {
		name, val, next, ok := pseudoAttr(decl, i)
		if !ok || !isSpace(decl[i]) {
			break
		}
		v := string(decl[val.Start:val.End])
		switch known := string(decl[name.Start:name.End]); {
		case turn == 0 && known == "version":
			if len(v) < 3 || v[:2] != "1." || !isAllOf(v[2:], "0123456789") {
				x.fail(int(val.Start), "unsupported XML version "+shownName([]byte(v)))
				return
			}
			turn = 1
		case turn == 1 && known == "encoding" && isEncodingName(v):
			turn = 2
		case (turn == 1 || turn == 2) && known == "standalone" && (v == "yes" || v == "no"):
			x.standalone = v == "yes"
			turn = 3
		default:
			x.fail(int(name.Start), "bad XML declaration")
			return
		}
		i = next
	}
	if turn == 0 || skipSpace(decl, i) < len(decl) {
		x.fail(i, "bad XML declaration")
	}
}

// isEncodingName is rule 81 of XML 4.3.3.
func isEncodingName(v string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return v != "" && isAllOf(v[:1], letters) && isAllOf(v, letters+"0123456789._-")
}

func isAllOf(s, set string) bool {
	for i := range len(s) {
		if bytes.IndexByte([]byte(set), s[i]) < 0 {
			return false
		}
	}
	return true
}

// instruction reads the current processing instruction.
func (x *reader) instruction() {
	from := x.i
	name, end, ok := x.readPI(from)
	if !ok {
		return
	}
	x.i = end
	if target := x.text[name.Start:name.End]; string(target) == "xml-stylesheet" && !x.rooted {
		x.stylesheet(scan.NewSpan(from, end), int(name.End))
	}
}

// readPI reads a processing instruction (XML 2.6). It returns its target and
// its end.
func (x *reader) readPI(from int) (name scan.Span, end int, ok bool) {
	j := nameLen(x.text, from+2)
	name = scan.NewSpan(from+2, j)
	k := bytes.Index(x.text[j:], []byte("?>"))
	switch {
	case k < 0:
		x.failUnclosed(from, "a processing instruction is never closed")
	case j == from+2:
		x.fail(from, "\"<?\" is not followed by a name")
	case scan.EqualFold(x.text[from+2:j], "xml"):
		x.fail(from, "the XML declaration is not at the start of the document")
	case k > 0 && !isSpace(x.text[j]):
		x.fail(j, "no space after the name of a processing instruction")
	}
	return name, j + k + len("?>"), !x.failed
}

// stylesheet adds the link of an xml-stylesheet instruction. Its data begins at
// i. Its element is "?xml-stylesheet". An instruction with a syntax error has
// no link.
//
// Spec: https://www.w3.org/TR/xml-stylesheet/
func (x *reader) stylesheet(at scan.Span, i int) {
	s := x.s
	data := x.text[:at.End-uint32(len("?>"))]
	var href scan.Span
	linked := false
	for i < len(data) && skipSpace(data, i) < len(data) {
		name, val, next, ok := pseudoAttr(data, i)
		if !ok || !isSpace(data[i]) {
			return
		}
		if string(data[name.Start:name.End]) == "href" && !linked {
			href, linked = val, true
		}
		i = next
	}
	if !linked || s.el.Tags == scan.Linklint {
		return
	}
	// Only predefined and numeric references are allowed.
	x.decoded.reset(false)
	for i := int(href.Start); i < int(href.End); {
		b := x.text[i:href.End]
		if b[0] != '&' {
			x.decoded.put(i, b[0])
			i++
			continue
		}
		lit, n := plainRef(b, &x.char)
		if lit == nil {
			return
		}
		x.decoded.put(i, lit...)
		i += n
	}
	s.el.Page.Links = append(s.el.Page.Links, scan.Link{
		Value: s.el.Keep(x.decoded.buf), Off: href.Start, TagOff: at.Start, Attr: scan.AttrHref, Kind: scan.KindLink,
	})
}

// pseudoAttr reads name="value" after white space at text[i].
func pseudoAttr(text []byte, i int) (name, val scan.Span, next int, ok bool) {
	i = skipSpace(text, i)
	j := nameLen(text, i)
	k := skipSpace(text, j)
	if j == i || k == len(text) || text[k] != '=' {
		return scan.Span{}, scan.Span{}, 0, false
	}
	k = skipSpace(text, k+1)
	if k == len(text) || text[k] != '"' && text[k] != '\'' {
		return scan.Span{}, scan.Span{}, 0, false
	}
	n := bytes.IndexByte(text[k+1:], text[k])
	if n < 0 {
		return scan.Span{}, scan.Span{}, 0, false
	}
	return scan.NewSpan(i, j), scan.NewSpan(k+1, k+1+n), k + n + 2, true
}
