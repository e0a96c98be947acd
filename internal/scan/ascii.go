package scan

// This file has functions on ASCII text, which the syntax of all formats
// is made of. Letter case and white space are those of the HTML, CSS and URL
// standards, and bytes from 0x80 on are never letters.

import "bytes"

// Space is the ASCII white space of HTML, CSS and URL: tab, line feed, form
// feed, carriage return and space, but not vertical tab.
// https://infra.spec.whatwg.org/#ascii-whitespace
const Space = "\t\n\f\r "

// IsSpace reports whether c is in [Space].
func IsSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'
}

// Trim returns b without the white space at both ends.
func Trim(b []byte) []byte { return bytes.Trim(b, Space) }

// SkipSpace returns the offset of the first byte of b from i on that is not
// white space, or len(b).
func SkipSpace(b []byte, i int) int {
	for i < len(b) && IsSpace(b[i]) {
		i++
	}
	return i
}

// IsDigit reports whether c is a decimal digit.
func IsDigit(c byte) bool { return c-'0' < 10 }

// IsLetter reports whether c is a letter.
func IsLetter(c byte) bool { return c|0x20-'a' < 26 }

// IsAlnum reports whether c is a letter or a digit.
func IsAlnum(c byte) bool { return IsLetter(c) || IsDigit(c) }

// HexDigit returns the value of the hexadecimal digit c.
func HexDigit(c byte) (value byte, ok bool) {
	switch {
	case IsDigit(c):
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return (c | 0x20) - 'a' + 10, true
	}
	return 0, false
}

// EqualFold reports whether b is name in any letter case. name must be in lower
// case. Unlike [bytes.EqualFold], it does not treat U+017F as an s.
func EqualFold(b []byte, name string) bool {
	if len(b) != len(name) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != name[i] {
			return false
		}
	}
	return true
}

// EqualFoldBytes reports whether a and b differ in letter case at most.
func EqualFoldBytes(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := a[i], b[i]
		if x != y && (x|0x20 != y|0x20 || !IsLetter(x)) {
			return false
		}
	}
	return true
}

// IndexFold returns the offset of the first occurrence of name in b in any
// letter case, or -1. name must be in lower case.
func IndexFold(b []byte, name string) int {
	for i := 0; i+len(name) <= len(b); i++ {
		if EqualFold(b[i:i+len(name)], name) {
			return i
		}
	}
	return -1
}

// LineEnd returns the end of the line at pos without its CR, LF or CR LF, and
// the start of the next line.
func LineEnd(text []byte, pos int) (end, next int) {
	for end = pos; end < len(text) && text[end] != '\r' && text[end] != '\n'; end++ {
	}
	switch {
	case end == len(text):
		return end, end
	case text[end] == '\r' && end+1 < len(text) && text[end+1] == '\n':
		return end, end + 2
	}
	return end, end + 1
}
