package scan

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// A literal is a string or an unquoted URL.
type literal struct {
	start, end int // of the value as written
	next       int // offset after the token
	escaped    bool
	bad        bool // a bad-string or bad-url token
}

// str reads the string whose quote is at i. A string may end with the text, but
// not with its line.
func (s *parser) str(i int) literal {
	text, quote := s.text, s.text[i]
	v := literal{start: i + 1}
	for i++; i < len(text); i++ {
		switch c := text[i]; c {
		case quote:
			v.end, v.next = i, i+1
			return v
		case '\n', '\r', '\f':
			v.end, v.next, v.bad = i, i, true
			s.fail(v.start-1, "a string is not closed on its line")
			return v
		case '\\':
			if i+1 == len(text) {
				v.end, v.next = i, i+1 // a backslash at the end has no effect
				return v
			}
			v.escaped = true
			i = stringEscapeEnd(text, i) - 1
		}
	}
	v.end, v.next = len(text), len(text)
	s.fail(v.start-1, "a string is never closed")
	return v
}

// unquoted reads the unquoted URL whose first byte, not white space, is at i.
func (s *parser) unquoted(i int) literal {
	text := s.text
	v := literal{start: i}
	for ; i < len(text); i++ {
		c := text[i]
		if byteClass[c]&classURLStop == 0 {
			continue
		}
		switch {
		case c == ')':
			v.end, v.next = i, i+1
			return v
		case IsSpace(c):
			v.end = i
			i = SkipSpace(text, i)
			if i < len(text) && text[i] != ')' {
				return s.badURL(v, i)
			}
			v.next = min(i+1, len(text))
			return v
		case c == '\\' && s.validEscape(i):
			v.escaped = true
			i = escapeEnd(text, i) - 1
		default:
			return s.badURL(v, i)
		}
	}
	v.end, v.next = len(text), len(text)
	s.fail(v.start, "url( is never closed")
	return v
}

// badURL reads the rest of a URL that has an error at i.
func (s *parser) badURL(v literal, i int) literal {
	v.bad = true
	s.fail(i, "white space, a quote or a parenthesis in url() without quotes")
	for ; i < len(s.text) && s.text[i] != ')'; i++ {
		if s.text[i] == '\\' && s.validEscape(i) && i+1 < len(s.text) {
			i++
		}
	}
	v.end, v.next = i, min(i+1, len(s.text))
	return v
}

// comment returns the offset after the comment at i, or i if there is none.
func (s *parser) comment(i int) int {
	if i+1 >= len(s.text) || s.text[i] != '/' || s.text[i+1] != '*' {
		return i
	}
	n := bytes.Index(s.text[i+2:], []byte("*/"))
	if n < 0 {
		s.fail(i, "a comment is never closed")
		return len(s.text)
	}
	return i + 2 + n + 2
}

// validEscape reports whether the backslash at i begins an escape. It does at
// the end of the text.
func (s *parser) validEscape(i int) bool {
	return i+1 >= len(s.text) || !isNewline(s.text[i+1])
}

// nameBegins reports whether an identifier begins at i.
func (s *parser) nameBegins(i int) bool {
	if i < len(s.text) && s.text[i] == '-' {
		i++
		if i < len(s.text) && s.text[i] == '-' {
			return true
		}
	}
	if i >= len(s.text) {
		return false
	}
	c := s.text[i]
	if c == '\\' {
		return s.validEscape(i)
	}
	return byteClass[c]&className != 0 && c != '-' && !IsDigit(c)
}

// A shortName holds a name with its escapes decoded if it can be a name of
// interest: ASCII and not too long.
type shortName struct {
	buf [maxName]byte
	n   int // above len(buf) for any other name
}

func (n *shortName) add(c rune) {
	if n.n < len(n.buf) && c < utf8.RuneSelf {
		n.buf[n.n] = byte(c)
		n.n++
		return
	}
	n.n = len(n.buf) + 1
}

// bytes returns the name, or nil if it is not of interest.
func (n *shortName) bytes() []byte {
	if n.n > len(n.buf) {
		return nil
	}
	return n.buf[:n.n]
}

// name reads the name that begins at start and has no escape before i. It
// returns the offset after the name.
func (s *parser) name(start, i int) (next int, name shortName) {
	for _, c := range s.text[start:i] {
		if name.n > maxName {
			break
		}
		name.add(rune(c))
	}
	for i < len(s.text) {
		c := s.text[i]
		switch {
		case byteClass[c]&className != 0:
			name.add(rune(c))
			i++
		case c == '\\' && s.validEscape(i):
			r, _ := escape(s.text, i)
			name.add(r)
			i = escapeEnd(s.text, i)
		default:
			return i, name
		}
	}
	return i, name
}

// escapeEnd returns the offset after the escape whose backslash is at i.
func escapeEnd(text []byte, i int) int {
	_, n := escape(text, i)
	return i + n
}

// escape returns the character of the escape whose backslash is at i, and the
// length of the escape. Ill-formed UTF-8 becomes U+FFFD.
//
// Spec: CSS Syntax 3,
// https://www.w3.org/TR/css-syntax-3/#consume-escaped-code-point
func escape(text []byte, i int) (r rune, n int) {
	first := i
	i++
	if i == len(text) {
		return utf8.RuneError, 1
	}
	digits := 0
	for ; digits < 6 && i < len(text); digits++ {
		d, ok := HexDigit(text[i])
		if !ok {
			break
		}
		r = r<<4 | rune(d)
		i++
	}
	if digits == 0 {
		r, n = utf8.DecodeRune(text[i:])
		if r == 0 {
			r = utf8.RuneError
		}
		return r, 1 + n
	}
	if r == 0 || !utf8.ValidRune(r) {
		r = utf8.RuneError
	}
	if i < len(text) && IsSpace(text[i]) {
		i = spaceEnd(text, i) // white space that ends the digits
	}
	return r, i - first
}

// unescapeCSS appends raw to dst with its escapes decoded. raw is the inside of a
// string or an unquoted URL.
func unescapeCSS(dst, raw []byte) []byte {
	dst = slices.Grow(dst, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			dst = append(dst, raw[i])
			i++
			continue
		}
		end := stringEscapeEnd(raw, i)
		if i+1 == len(raw) || !isNewline(raw[i+1]) {
			r, _ := escape(raw, i)
			dst = utf8.AppendRune(dst, r)
		}
		i = end
	}
	return dst
}

// stringEscapeEnd is escapeEnd for strings, where a backslash at the end of a
// line continues the string.
func stringEscapeEnd(text []byte, i int) int {
	if i+1 == len(text) || !isNewline(text[i+1]) {
		return escapeEnd(text, i)
	}
	return spaceEnd(text, i+1)
}

// spaceEnd returns the offset after the white space character at i. CR LF is
// one.
func spaceEnd(text []byte, i int) int {
	if text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
		return i + 2
	}
	return i + 1
}

func isNewline(c byte) bool { return c == '\n' || c == '\r' || c == '\f' }
