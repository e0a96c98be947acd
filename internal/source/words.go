package source

import (
	"bytes"
	"html"
	"strings"
	"unicode"
)

// wordEnds are the bytes that end an address in templates, data files and
// markup of any kind.
const wordEnds = " \t\r\n\"'`<>()[]{}|,;="

var isWordEnd = func() (t [256]bool) {
	for i := range len(wordEnds) {
		t[wordEnds[i]] = true
	}
	return
}()

// eachWord calls f for the words of a text, up to maxValue bytes long.
func eachWord(text []byte, f func(at int, word string)) {
	for i := 0; i < len(text); {
		for i < len(text) && isWordEnd[text[i]] {
			i++
		}
		start := i
		for i < len(text) && !isWordEnd[text[i]] {
			i++
		}
		if i > start && i-start <= maxValue {
			f(start, string(text[start:i]))
		}
	}
}

// maxLabel is how much of a link's text is compared, in letters and digits;
// maxLabelBytes how much of the page is looked at for it.
const (
	maxLabel      = 40
	maxLabelBytes = 1000
)

// plainLabel keeps the letters and digits of a text: all else may differ
// between what is written and what is shown.
func plainLabel(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(unicode.ToLower(r))
			if n++; n == maxLabel {
				break
			}
		}
	}
	return b.String()
}

// htmlLabel returns the label of the a element whose href value stands at an
// offset.
func htmlLabel(text []byte, at int) string {
	rest := text[at:min(len(text), at+maxLabelBytes)]
	start := bytes.IndexByte(rest, '>')
	if start < 0 {
		return ""
	}
	rest = rest[start+1:]
	if end := bytes.Index(rest, []byte("</a")); end >= 0 {
		rest = rest[:end]
	}
	var b strings.Builder
	for len(rest) > 0 {
		open := bytes.IndexByte(rest, '<')
		if open < 0 {
			b.Write(rest)
			break
		}
		b.Write(rest[:open])
		end := bytes.IndexByte(rest[open:], '>')
		if end < 0 {
			break
		}
		rest = rest[open+end+1:]
	}
	return plainLabel(html.UnescapeString(b.String()))
}
