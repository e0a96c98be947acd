package report

import (
	"bytes"
	"strings"
)

// appendCodeSpan appends s, quoted and cut, as a code span.
func appendCodeSpan(dst []byte, s string) []byte {
	return appendSpan(dst, appendCut(nil, s, maxValueBytes))
}

// appendSpan appends s as a code span (CommonMark 6.1): between runs of
// backticks of a length that does not occur in s. Nothing inside is Markdown,
// HTML or, on GitHub and GitLab, a mention or a reference. s holds no line end.
func appendSpan(dst, s []byte) []byte {
	if len(s) == 0 {
		return append(dst, "(empty)"...)
	}
	longest, run := 0, 0
	for _, c := range s {
		if c == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	fence := bytes.Repeat([]byte{'`'}, longest+1)
	// One space at either end is taken off again, unless all is spaces.
	pad := s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' && s[len(s)-1] == ' ' && len(bytes.Trim(s, " ")) > 0
	dst = append(dst, fence...)
	if pad {
		dst = append(dst, ' ')
	}
	dst = append(dst, s...)
	if pad {
		dst = append(dst, ' ')
	}
	return append(dst, fence...)
}

// appendPlain appends s as running text, if it holds nothing that Markdown or a
// forge could act on, and as a code span otherwise.
func appendPlain(dst []byte, s string) []byte {
	quoted := appendCut(nil, s, maxMessageBytes)
	if inert(quoted) {
		return append(dst, quoted...)
	}
	return appendSpan(dst, quoted)
}

// inert tells whether s is the same text in and out of Markdown, anywhere but at
// the beginning of a line: words, and punctuation that begins nothing. Left out
// are above all @, # and GH- (mentions, references), a colon before anything but
// a space and www. (automatic links), and all that emphasises, quotes or
// escapes.
func inert(s []byte) bool {
	for i, c := range s {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c >= 0x80:
		case strings.IndexByte(" /.,;()%-=\"'?", c) >= 0:
		case c == ':' && i+1 < len(s) && s[i+1] == ' ':
		default:
			return false
		}
	}
	lower := bytes.ToLower(s)
	return len(s) > 0 && !bytes.Contains(lower, []byte("www.")) && !bytes.Contains(lower, []byte("gh-"))
}
