package layout

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"
)

// Region is inserted text in a file. It is between two marks, which are comments
// of the file's language:
//
//	{{/* sitelink:begin */}}...{{/* sitelink:end */}}
//
// Start and End include the marks and, when nothing else is on their lines, these
// whole lines. Removing the bytes between Start and End restores the file.
type Region struct {
	Start, End           int
	InnerStart, InnerEnd int
	// IsFile: the region was a whole new file. If the file has nothing else,
	// undoing removes it.
	IsFile bool
}

// The words of the marks. A user may add text to the comments, but must keep
// these words.
const (
	beginWord = "sitelink:begin"
	endWord   = "sitelink:end"
	fileWord  = beginWord + " file"
)

// marks match the comments, also in the forms that template formatters produce.
var marks = map[Language]struct{ begin, end *regexp.Regexp }{
	HTML:   markPair(`<!--\s*`, `[^>]*?-->`),
	Go:     markPair(`\{\{-?\s*/\*\s*`, `[^*]*?\*/\s*-?\}\}`),
	Liquid: markPair(`\{%-?\s*comment\s*-?%\}\s*`, `[^{]*?\{%-?\s*endcomment\s*-?%\}`),
	Jinja:  markPair(`\{#-?\s*`, `[^#]*?#\}`),
	Astro:  markPair(`\{\s*/\*\s*`, `[^*]*?\*/\s*\}`),
	YAML:   markPair(`#[ \t]*`, `[^\n]*`),
	TOML:   markPair(`#[ \t]*`, `[^\n]*`),
}

func markPair(open, rest string) struct{ begin, end *regexp.Regexp } {
	return struct{ begin, end *regexp.Regexp }{
		regexp.MustCompile(open + beginWord + `\b` + rest),
		regexp.MustCompile(open + endWord + `\b` + rest),
	}
}

// FindRegion returns the first region of src. ok is false when src has no region
// or only one of the marks.
func (l Language) FindRegion(src []byte) (r Region, ok bool) {
	if !bytes.Contains(src, []byte(beginWord)) {
		return Region{}, false
	}
	begin := marks[l].begin.FindIndex(src)
	if begin == nil {
		return Region{}, false
	}
	end := marks[l].end.FindIndex(src[begin[1]:])
	if end == nil {
		return Region{}, false
	}
	r = Region{Start: begin[0], End: begin[1] + end[1], InnerStart: begin[1], InnerEnd: begin[1] + end[0]}
	r.IsFile = bytes.Contains(src[begin[0]:begin[1]], []byte(fileWord))
	from, to := lineStart(src, r.Start), lineEnd(src, r.End)
	if blank(src[from:r.Start]) && blank(src[r.End:to]) {
		r.Start, r.End = from, to
	}
	return r, true
}

// Without returns src without its regions.
func (l Language) Without(src []byte) []byte {
	for {
		r, ok := l.FindRegion(src)
		if !ok {
			return src
		}
		src = append(bytes.Clone(src[:r.Start]), src[r.End:]...)
	}
}

// Replace returns src with inner between the marks of its first region.
func (l Language) Replace(src []byte, inner string) []byte {
	r, ok := l.FindRegion(src)
	if !ok {
		return src
	}
	out := append(bytes.Clone(src[:r.InnerStart]), inner...)
	return append(out, src[r.InnerEnd:]...)
}

// Marked returns inner between the marks.
func (l Language) Marked(inner string) string {
	return l.Comment(beginWord) + inner + l.Comment(endWord)
}

// File returns the content of a file that is only a region. The first comment
// contains why.
func (l Language) File(inner, why string) []byte {
	return []byte(l.Comment(fileWord+": "+why) + inner + l.Comment(endWord) + "\n")
}

// InsertAfter inserts inner, between marks, after the tag that ends at offset. If
// nothing else follows on the line, it adds a line with the same indent and line
// end.
func (l Language) InsertAfter(src []byte, offset int, inner string) []byte {
	end := lineEnd(src, offset)
	if !blank(src[offset:end]) || eol(src, offset) == "" {
		return splice(src, offset, l.Marked(inner))
	}
	line := src[lineStart(src, offset):end]
	return splice(src, end, indent(line)+l.Marked(inner)+eol(src, offset))
}

// InsertBefore inserts inner, between marks, before the tag that starts at
// offset. If the tag is first on its line, it adds a line, indented as deep as
// the line above if that is deeper.
func (l Language) InsertBefore(src []byte, offset int, inner string) []byte {
	start := lineStart(src, offset)
	ending := eol(src, max(start-1, 0))
	if start == 0 || !blank(src[start:offset]) {
		return splice(src, offset, l.Marked(inner))
	}
	in := string(src[start:offset])
	if above := bytes.TrimRight(src[:start], "\r\n"); len(above) > 0 {
		if deeper := indent(above[lineStart(above, len(above)):]); strings.HasPrefix(deeper, in) {
			in = deeper
		}
	}
	return splice(src, start, in+l.Marked(inner)+ending)
}

// InsertLine inserts inner, between marks, below the line that contains offset.
func (l Language) InsertLine(src []byte, offset int, in, inner string) []byte {
	return splice(src, lineEnd(src, offset), in+l.Marked(inner)+eol(src, offset))
}

// Append adds inner, between marks, at the end of a file: as a line of its own,
// or at the end of a last line that has no line end.
func (l Language) Append(src []byte, inner string) []byte {
	if last := lineStart(src, len(src)); blank(src[last:]) {
		return splice(src, last, l.Marked(inner)+cmp.Or(eol(src, 0), "\n"))
	}
	return splice(src, len(src), l.Marked(inner))
}

func splice(src []byte, at int, text string) []byte {
	out := make([]byte, 0, len(src)+len(text))
	out = append(out, src[:at]...)
	out = append(out, text...)
	return append(out, src[at:]...)
}

func lineStart(src []byte, offset int) int { return bytes.LastIndexByte(src[:offset], '\n') + 1 }

// lineEnd returns the offset after the next line end, or the end of src.
func lineEnd(src []byte, offset int) int {
	if i := bytes.IndexByte(src[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(src)
}

// eol returns the line end of the line at offset, or "".
func eol(src []byte, offset int) string {
	end := lineEnd(src, offset)
	switch {
	case end == 0 || src[end-1] != '\n':
		return ""
	case end > 1 && src[end-2] == '\r':
		return "\r\n"
	}
	return "\n"
}

func blank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }

func indent(line []byte) string {
	line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// Marked returns the template language of a file that contains a region. It does
// not recognise configuration files.
func Marked(src []byte) (l Language, ok bool) {
	for _, l := range []Language{Go, Liquid, Jinja, Astro, HTML} {
		if _, ok := l.FindRegion(src); ok {
			return l, true
		}
	}
	return HTML, false
}
