package report

import "unicode/utf8"

const hexDigits = "0123456789abcdef"

// plainByte tells which bytes stand for themselves in a JSON string. < > and &
// do: nobody pastes a report into a page unescaped, and jq users read it.
var plainByte = func() (t [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// appendString appends s as a JSON string, byte for byte as encoding/json does
// with SetEscapeHTML(false).
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	i := plainPrefix(s)
	for i < len(s) {
		dst = append(dst, s[:i]...)
		var n int
		dst, n = appendEscape(dst, s[i:])
		s = s[i+n:]
		i = plainPrefix(s)
	}
	dst = append(dst, s...)
	return append(dst, '"')
}

// plainPrefix returns the length of the longest prefix of s whose bytes all
// stand for themselves. It looks at eight bytes together, since nearly all of
// a row is plain ASCII.
func plainPrefix(s string) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if !plainWord(s[i : i+8]) {
			break
		}
	}
	if n := len(s); i+8 > n && n >= 8 && plainWord(s[n-8:]) {
		return n // the tail, together with bytes that were seen before
	}
	for i < len(s) && plainByte[s[i]] {
		i++
	}
	return i
}

// plainWord tells whether the first eight bytes of s are all plain.
func plainWord(s string) bool {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	_ = s[7]
	w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	// A high bit is set when some byte is >= 0x80, < 0x20, " or \. A borrow
	// can set one more, but only above a byte that has one of its own.
	return (w|(w-ones*0x20)|((w^ones*'"')-ones)|((w^ones*'\\')-ones))&highs == 0
}

// appendEscape appends the escaped form of the first rune of s, which is not
// plain, and returns the number of bytes of s that it stands for.
func appendEscape(dst []byte, s string) ([]byte, int) {
	c := s[0]
	switch c {
	case '"', '\\':
		return append(dst, '\\', c), 1
	case '\b':
		return append(dst, `\b`...), 1
	case '\f':
		return append(dst, `\f`...), 1
	case '\n':
		return append(dst, `\n`...), 1
	case '\r':
		return append(dst, `\r`...), 1
	case '\t':
		return append(dst, `\t`...), 1
	}
	if c < utf8.RuneSelf {
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15]), 1
	}
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && n == 1:
		return append(dst, `\ufffd`...), 1
	case r == '\u2028' || r == '\u2029': // line ends in JavaScript, not in JSON
		return append(dst, `\u202`+string(hexDigits[r&15])...), n
	}
	return append(dst, s[:n]...), n
}
