package scan

import (
	"bytes"
	"encoding/binary"
	"html"
	"strings"
	"unicode/utf8"
)

// value returns the attribute value text[sp] as the DOM has it. It aliases
// the page's text when nothing has to change, which is the common case, and
// lies in the arena otherwise.
func (s *Scanner) value(sp span) []byte {
	raw := s.page.Text[sp.start:sp.end]
	i, seen := 0, uint64(0)
	for ; i+8 <= len(raw); i += 8 {
		w := binary.LittleEndian.Uint64(raw[i:])
		seen |= w | hasByte(w, '&') | hasByte(w, '\r') | hasByte(w, 0)
		if seen&special != 0 {
			break
		}
	}
	if seen&special == 0 {
		var class uint8
		for _, c := range raw[i:] {
			class |= valueClass[c]
		}
		if class == 0 {
			return raw
		}
	}
	class := uint8(0)
	for _, c := range raw {
		class |= valueClass[c]
	}
	if class&2 != 0 {
		s.sawNonASCI = true
	}
	if class&1 == 0 {
		return raw
	}
	from := len(s.arena)
	s.arena = decodeRefs(s.arena, raw, nil)
	return s.arena[from:len(s.arena):len(s.arena)]
}

// special is the top bit of each byte of a word.
const special = 0x80 * ones

// hasByte sets the top bit of a byte of the result, and no lower one before
// it, where w has the byte c.
func hasByte(w uint64, c uint64) uint64 {
	x := w ^ c*ones
	return (x - ones) &^ x & special
}

// valueClass marks the bytes that make a value differ from its source text.
var valueClass = func() (t [256]uint8) {
	t['&'], t['\r'], t[0] = 1, 1, 1
	for c := utf8.RuneSelf; c < 256; c++ {
		t[c] = 2
	}
	return t
}()

// decodeRefs appends the DOM value of an attribute's source text: character
// references decoded by the rules for attributes (HTML 13.2.5.72 to
// 13.2.5.80), CRLF and CR as LF (13.2.3.5), NUL as U+FFFD. When places is not
// nil it gets, for every byte appended, its offset in raw.
func decodeRefs(dst, raw []byte, places *[]uint32) []byte {
	put := func(at int, b ...byte) {
		dst = append(dst, b...)
		if places != nil {
			for range b {
				*places = append(*places, uint32(at))
			}
		}
	}
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '&':
			if text, n := reference(raw[i:]); n > 0 {
				put(i, text...)
				i += n
				continue
			}
			put(i, c)
		case c == '\r':
			put(i, '\n')
			if i+1 < len(raw) && raw[i+1] == '\n' {
				i++
			}
		case c == 0:
			put(i, []byte("\uFFFD")...)
		default:
			if places == nil { // copy the plain run at once
				j := i + 1
				for j < len(raw) && valueClass[raw[j]]&1 == 0 {
					j++
				}
				dst = append(dst, raw[i:j]...)
				i = j
				continue
			}
			put(i, c)
		}
		i++
	}
	return dst
}

// reference decodes the character reference at the start of b ("&..."), by
// the rules for attribute values, and returns its text and length; 0 when it
// is none.
func reference(b []byte) (text []byte, n int) {
	if len(b) < 3 {
		return nil, 0
	}
	if b[1] == '#' {
		return numericReference(b)
	}
	i := 1
	for i < len(b) && isAlnum(b[i]) {
		i++
	}
	if i == 1 {
		return nil, 0
	}
	name := b[1:i]
	if i < len(b) && b[i] == ';' {
		if string(name) == "amp" {
			return b[:1], i + 1
		}
		if string(name) == "nGt" || string(name) == "nLt" {
			return []byte(longRefs[string(name)]), i + 1
		}
		// The standard library holds the table, but offers prefixes too, which
		// attributes do not take when a letter follows: those leave the ";".
		src := string(b[:i+1])
		if got := html.UnescapeString(src); got != src && (string(name) == "semi" || !strings.HasSuffix(got, ";")) {
			return []byte(got), i + 1
		}
	}
	// Without semicolon only the old names count, and not before "=".
	if len(name) > maxBareName || i < len(b) && b[i] == '=' || !bareNames[string(name)] {
		return nil, 0
	}
	return []byte(html.UnescapeString("&" + string(name) + ";")), i
}

// longRefs are the two references whose text is longer than their name, which
// html.UnescapeString, working in place, leaves alone.
var longRefs = map[string]string{"nGt": "\u226B\u20D2", "nLt": "\u226A\u20D2"}

func isAlnum(c byte) bool {
	return byteClass[c]&clsLetter != 0 || '0' <= c && c <= '9'
}

func numericReference(b []byte) ([]byte, int) {
	i, base := 2, rune(10)
	if b[2] == 'x' || b[2] == 'X' {
		i, base = 3, 16
	}
	first, x := i, rune(0)
	for ; i < len(b); i++ {
		d := bytes.IndexByte(hexDigits, b[i]|0x20)
		if b[i] >= '0' && b[i] <= '9' {
			d = int(b[i] - '0')
		} else if base == 10 || b[i] < 'A' {
			d = -1
		}
		if d < 0 {
			break
		}
		if x <= utf8.MaxRune {
			x = x*base + rune(d)
		}
	}
	if i == first {
		return nil, 0
	}
	if i < len(b) && b[i] == ';' {
		i++
	}
	switch {
	case x >= 0x80 && x <= 0x9F:
		x = c1Replacement[x-0x80]
	case x == 0 || x > utf8.MaxRune || 0xD800 <= x && x <= 0xDFFF:
		x = utf8.RuneError
	}
	return utf8.AppendRune(nil, x), i
}

var hexDigits = []byte("0123456789abcdef")

// c1Replacement is the table of numeric character reference end state
// (HTML 13.2.5.80): the C1 controls mean their windows-1252 characters.
var c1Replacement = [32]rune{
	0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D, 0x8F,
	0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
}

// bareNames are the references that count without a semicolon (HTML 13.5).
var bareNames = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(`
AElig AMP Aacute Acirc Agrave Aring Atilde Auml COPY Ccedil ETH Eacute Ecirc Egrave Euml GT Iacute Icirc
Igrave Iuml LT Ntilde Oacute Ocirc Ograve Oslash Otilde Ouml QUOT REG THORN Uacute Ucirc Ugrave Uuml Yacute
aacute acirc acute aelig agrave amp aring atilde auml brvbar ccedil cedil cent copy curren deg divide eacute
ecirc egrave eth euml frac12 frac14 frac34 gt iacute icirc iexcl igrave iquest iuml laquo lt macr micro
middot nbsp not ntilde oacute ocirc ograve ordf ordm oslash otilde ouml para plusmn pound quot raquo reg sect
shy sup1 sup2 sup3 szlig thorn times uacute ucirc ugrave uml uuml yacute yen yuml`) {
		m[n] = true
	}
	return m
}()

const maxBareName = len("Aacute")
