package scan

import (
	"encoding/binary"
	"html"
	"strings"
	"unicode/utf8"
)

// Bits of the result of [ClassifyValue].
const (
	ValueDecode   = 1 << iota // the value differs from its source text
	ValueNonASCII             // the value has a byte above 0x7F
)

// ClassifyValue reports what is special about the source text of an attribute's
// value: a set of the bits above.
func ClassifyValue(raw []byte) (class uint8) {
	// Nearly all values have neither, which eight bytes at a time show.
	i, seen := 0, uint64(0)
	for ; i+8 <= len(raw); i += 8 {
		w := binary.LittleEndian.Uint64(raw[i:])
		seen |= w | hasByte(w, '&') | hasByte(w, '\r') | hasByte(w, 0)
		if seen&TopBits != 0 {
			i = 0
			break
		}
	}
	for _, c := range raw[i:] {
		class |= ValueClass[c]
	}
	return class
}

// topBits is the top bit of each byte of a word.
const TopBits = 0x80 * Ones

// hasByte sets the top bit of the first byte of the result that is c in w. The
// top bits of higher bytes mean nothing.
func hasByte(w uint64, c uint64) uint64 {
	x := w ^ c*Ones
	return (x - Ones) &^ x & TopBits
}

// ValueClass holds for each byte which bits of [ClassifyValue] it sets.
var ValueClass = func() (t [256]uint8) {
	t['&'], t['\r'], t[0] = ValueDecode, ValueDecode, ValueDecode
	for c := utf8.RuneSelf; c < 256; c++ {
		t[c] = ValueNonASCII
	}
	return t
}()

// DecodeRefs appends the DOM value of an attribute's source text: character
// references decoded by the rules for attributes (HTML 13.2.5.72 to
// 13.2.5.80), CRLF and CR as LF (13.2.3.5), NUL as U+FFFD. If places is not nil,
// DecodeRefs appends to it, for every byte of the value, its offset in raw.
func DecodeRefs(dst, raw []byte, places *[]uint32) []byte {
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
			if text, n := Reference(raw[i:]); n > 0 {
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
				for j < len(raw) && ValueClass[raw[j]]&ValueDecode == 0 {
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

// Reference decodes the character reference at the start of b ("&...") by the
// rules for attribute values. It returns the text and the length of the
// reference, 0 if b does not start with one.
func Reference(b []byte) (text []byte, n int) {
	if len(b) < 3 {
		return nil, 0
	}
	if b[1] == '#' {
		return numericReference(b)
	}
	i := 1
	for i < len(b) && IsAlnum(b[i]) {
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
		// The standard library has the table, but it also decodes a prefix of
		// the name, which attributes do not allow if a letter follows. In that
		// case its result still ends in ";".
		src := string(b[:i+1])
		if got := html.UnescapeString(src); got != src && (string(name) == "semi" || !strings.HasSuffix(got, ";")) {
			return []byte(got), i + 1
		}
	}
	// Without a semicolon only the old names are references, and not before "=".
	if len(name) > maxBareName || i < len(b) && b[i] == '=' || !bareNames[string(name)] {
		return nil, 0
	}
	return []byte(html.UnescapeString("&" + string(name) + ";")), i
}

// longRefs are the two references with a text that is longer than their name.
// html.UnescapeString works in place and does not decode them.
var longRefs = map[string]string{"nGt": "\u226B\u20D2", "nLt": "\u226A\u20D2"}

func numericReference(b []byte) ([]byte, int) {
	i, base := 2, rune(10)
	if b[2] == 'x' || b[2] == 'X' {
		i, base = 3, 16
	}
	first, x := i, rune(0)
	for ; i < len(b); i++ {
		d, ok := HexDigit(b[i])
		if !ok || rune(d) >= base {
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

// c1Replacement maps the C1 controls to the windows-1252 characters that they
// stand for in references (HTML 13.2.5.80).
var c1Replacement = [32]rune{
	0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D, 0x8F,
	0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
}

// bareNames are the references that need no semicolon (HTML 13.5).
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
