package weburl

import "unicode/utf8"

// class is a set of properties of a byte.
type class uint16

const (
	// The percent-encode sets, https://url.spec.whatwg.org/#percent-encoded-bytes.
	// Each holds every byte above '~', so that UTF-8 is encoded byte by byte.
	encodeControl class = 1 << iota
	encodeFragment
	encodeQuery
	encodeSpecialQuery
	encodePath
	encodeUserinfo

	inScheme        // allowed in a scheme after its first letter
	tabOrNewline    // removed anywhere
	forbiddenHost   // a forbidden host code point
	forbiddenDomain // a forbidden domain code point
	plainHost       // stands for itself in a domain: a-z 0-9 - . _
	pathSpecial     // what the fast path hands over: encodePath and \
)

var classes = buildClasses()

func buildClasses() (t [256]class) {
	add := func(chars string, c class) {
		for i := 0; i < len(chars); i++ {
			t[chars[i]] |= c
		}
	}
	for b := range t {
		if b <= 0x1F || b > '~' {
			t[b] |= encodeControl | encodeFragment | encodeQuery | encodeSpecialQuery | encodePath | encodeUserinfo | pathSpecial
		}
		if b <= 0x1F || b == 0x7F {
			t[b] |= forbiddenDomain
		}
		switch {
		case 'a' <= b && b <= 'z', '0' <= b && b <= '9':
			t[b] |= inScheme | plainHost
		case 'A' <= b && b <= 'Z':
			t[b] |= inScheme
		}
	}
	add(" \"<>`", encodeFragment)
	add(" \"#<>", encodeQuery|encodeSpecialQuery|encodePath|encodeUserinfo|pathSpecial)
	add("'", encodeSpecialQuery)
	add("?^`{}", encodePath|encodeUserinfo|pathSpecial)
	add("/:;=@[\\]|", encodeUserinfo)
	add("\\", pathSpecial)
	add("+-.", inScheme)
	add("-._", plainHost)
	add("\t\n\r", tabOrNewline)
	add("\x00\t\n\r #/:<>?@[\\]^|", forbiddenHost|forbiddenDomain)
	add("%", forbiddenDomain)
	return t
}

const upperHex = "0123456789ABCDEF"

func appendByte(dst []byte, b byte) []byte {
	return append(dst, '%', upperHex[b>>4], upperHex[b&15])
}

// appendEncoded appends s with the bytes of set percent-encoded. Invalid UTF-8
// counts as U+FFFD.
//
// https://url.spec.whatwg.org/#string-utf-8-percent-encode
func appendEncoded(dst []byte, s string, set class) []byte {
	start := 0
	for i := 0; i < len(s); {
		b := s[i]
		if classes[b]&set == 0 {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		if b < utf8.RuneSelf {
			dst = appendByte(dst, b)
			i++
		} else {
			r, size := decodeRune(s[i:])
			if r == utf8.RuneError {
				dst = append(dst, "%EF%BF%BD"...)
			} else {
				for _, b := range []byte(s[i : i+size]) {
					dst = appendByte(dst, b)
				}
			}
			i += size
		}
		start = i
	}
	return append(dst, s[start:]...)
}

// decodeRune is utf8.DecodeRuneInString, except that a truncated character is one
// U+FFFD and not one for each byte, as in
// https://encoding.spec.whatwg.org/#utf-8-decoder.
func decodeRune(s string) (r rune, size int) {
	r, size = utf8.DecodeRuneInString(s)
	if r != utf8.RuneError || size != 1 {
		return r, size
	}
	lo, hi, more := byte(0x80), byte(0xBF), 0
	switch b := s[0]; {
	case 0xE0 <= b && b <= 0xEF:
		more = 2
		if b == 0xE0 {
			lo = 0xA0
		} else if b == 0xED {
			hi = 0x9F
		}
	case 0xF0 <= b && b <= 0xF4:
		more = 3
		if b == 0xF0 {
			lo = 0x90
		} else if b == 0xF4 {
			hi = 0x8F
		}
	}
	for ; more > 0 && size < len(s) && lo <= s[size] && s[size] <= hi; more-- {
		lo, hi = 0x80, 0xBF
		size++
	}
	return r, size
}

// PercentDecode appends s to dst with each % and two hex digits replaced by
// the byte they encode. Any other % stays.
//
// https://url.spec.whatwg.org/#percent-decode
func PercentDecode(dst []byte, s string) []byte {
	start := 0
	for i := 0; i+2 < len(s); i++ {
		if s[i] != '%' {
			continue
		}
		hi, lo := hexDigit(s[i+1]), hexDigit(s[i+2])
		if hi > 15 || lo > 15 {
			continue
		}
		dst = append(append(dst, s[start:i]...), hi<<4|lo)
		i += 2
		start = i + 1
	}
	return append(dst, s[start:]...)
}

// hexDigit returns the value of a hexadecimal digit, or 255.
func hexDigit(b byte) byte {
	switch {
	case '0' <= b && b <= '9':
		return b - '0'
	case 'a' <= b && b <= 'f':
		return b - 'a' + 10
	case 'A' <= b && b <= 'F':
		return b - 'A' + 10
	}
	return 255
}
