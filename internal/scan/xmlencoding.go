package scan

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// decodeXML settles the encoding (XML appendix F), makes the text in UTF-8
// the page's, and returns where the document begins in it.
func (s *Scanner) decodeXML(text []byte, opt Options) int {
	enc, bom := sniffBOM(text)
	if enc == "" {
		enc = headerCharset(opt.Charset)
	}
	switch {
	case enc != "":
	case bytes.HasPrefix(text, []byte("<\x00?\x00")):
		enc = "utf-16le"
	case bytes.HasPrefix(text, []byte("\x00<\x00?")):
		enc = "utf-16be"
	default:
		enc = canonicalCharset(declaredXMLCharset(text))
	}
	if enc == "" || enc == "utf-8" {
		s.reset(text, "utf-8")
		return bom
	}
	s.transcribe(text[bom:], bom, enc)
	return 0
}

// declaredXMLCharset returns the encoding that an XML declaration names.
func declaredXMLCharset(text []byte) string {
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
		if string(text[name.start:name.end]) == "encoding" && val.end-val.start <= 64 {
			return string(text[val.start:val.end])
		}
		i = next
	}
}

// badXMLChar returns the offset of the first byte that begins no character
// allowed in XML (XML 2.2), and what is wrong with it. In text transcribed
// from an encoding without U+FFFD that character stands for a byte that is
// none.
func badXMLChar(text []byte, charset string) (at int, why string) {
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
		case !isXMLChar(r):
			return i, fmt.Sprintf("character U+%04X is not allowed", r)
		}
		i += n
	}
	return 0, ""
}

func isXMLChar(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD ||
		r >= 0x10000 && r <= utf8.MaxRune
}
