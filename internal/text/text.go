// Package text writes what people read: it formats numbers and names, and gives errors a hint.
package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Thousands formats 32101 as 32,101.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count formats a number with a noun: 1 finding, 2 entries, 1,000 pages.
func Count(n int, noun string) string {
	if n != 1 {
		if stem, ok := strings.CutSuffix(noun, "y"); ok {
			noun = stem + "ie"
		} else if strings.HasSuffix(noun, "ss") {
			noun += "e" // address
		}
		noun += "s"
	}
	return Thousands(n) + " " + noun
}

// Visible replaces what a terminal might obey, such as an escape sequence in the
// name of a file, by its Go notation, and keeps the rest.
func Visible(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case !strconv.IsPrint(r):
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}
