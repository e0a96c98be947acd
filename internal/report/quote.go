package report

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/text"
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
	return fmt.Appendf(appendQuoted(dst, s[:keep]), "… (%s)", text.Count(len(s), "byte"))
}

// value and sentence return text of the site as appendCut appends it, and quoted as
// appendQuoted does.
func value(s string) string    { return string(appendCut(nil, s, maxValueBytes)) }
func sentence(s string) string { return string(appendCut(nil, s, maxMessageBytes)) }
func quoted(s string) string   { return string(appendQuoted(nil, s)) }
