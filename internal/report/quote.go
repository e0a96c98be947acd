package report

import (
	"strconv"
	"unicode/utf8"
)

// Longer values are cut in text. A data: URI can have megabytes; its start and
// its size are enough for the reader.
const (
	maxValueBytes   = 200
	maxMessageBytes = 500
)

// appendQuoted appends s with everything made visible that a terminal might
// obey or hide: control characters, invisible characters, characters that
// change the direction, and bytes that are not UTF-8. It does not escape
// backslashes, so that links with one appear as written; JSON has the exact
// value.
func appendQuoted(dst []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if 0x20 <= c && c < 0x7f {
			i++
			continue
		}
		r, n := rune(c), 1
		if c >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
			if strconv.IsPrint(r) && !(r == utf8.RuneError && n == 1) {
				i += n
				continue
			}
		}
		dst = append(dst, s[start:i]...)
		switch {
		case c == '\t':
			dst = append(dst, `\t`...)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case n == 1: // a control character, or a byte that is not UTF-8
			dst = append(dst, '\\', 'x', hexDigits[c>>4], hexDigits[c&15])
		case r <= 0xffff:
			dst = append(dst, '\\', 'u')
			dst = appendHex(dst, r, 4)
		default:
			dst = append(dst, '\\', 'U')
			dst = appendHex(dst, r, 8)
		}
		i += n
		start = i
	}
	return append(dst, s[start:]...)
}

func appendHex(dst []byte, r rune, digits int) []byte {
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		dst = append(dst, hexDigits[r>>shift&15])
	}
	return dst
}

// appendCut appends s quoted. If s is longer than limit bytes, it appends the
// beginning, an ellipsis and the size.
func appendCut(dst []byte, s string, limit int) []byte {
	if len(s) <= limit {
		return appendQuoted(dst, s)
	}
	keep := limit * 3 / 4 // so that a cut is visible just above the limit
	for back := 0; back < utf8.UTFMax-1 && !utf8.RuneStart(s[keep]); back++ {
		keep--
	}
	dst = appendQuoted(dst, s[:keep])
	dst = append(dst, "… ("...)
	dst = appendCount(dst, len(s), "byte")
	return append(dst, ')')
}

// appendCount appends n with thousands separators, and the noun in singular or
// plural: "1 page", "1,204 pages".
func appendCount(dst []byte, n int, noun string) []byte {
	dst = appendThousands(dst, n)
	dst = append(dst, ' ')
	dst = append(dst, noun...)
	if n != 1 {
		dst = append(dst, 's')
	}
	return dst
}

func appendThousands(dst []byte, n int) []byte {
	digits := strconv.Itoa(n)
	if n < 0 {
		dst, digits = append(dst, '-'), digits[1:]
	}
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, digits[i])
	}
	return dst
}
