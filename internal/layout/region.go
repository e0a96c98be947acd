package layout

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"
)

// Region is what was inserted into a file, between two marks that are comments
// of its language:
//
//	{{/* sitelink:begin */}}...{{/* sitelink:end */}}
//
// Start and End span the marks and, where nothing else stands on their lines,
// these lines: without the bytes between Start and End the file is what it was.
type Region struct {
	Start, End           int
	InnerStart, InnerEnd int
	// IsFile: the region was the whole file when it was written; a file of
	// which nothing else is left was not there before.
	IsFile bool
}

// The words of the marks. A user may add to a comment, not change the words.
const (
	beginWord = "sitelink:begin"
	endWord   = "sitelink:end"
	fileWord  = beginWord + " file"
)

// marks find the comments, also as formatters of templates rewrite them.
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

// FindRegion returns the first region of src; ok is false when there is none,
// or only one of its marks.
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

// Replace returns src with other text between the marks of its first region.
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

// File returns the text of a file that holds nothing but a region. why is said
// in its first comment.
func (l Language) File(inner, why string) []byte {
	return []byte(l.Comment(fileWord+": "+why) + inner + l.Comment(endWord) + "\n")
}

// InsertAfter inserts inner, marked, behind the tag that ends at offset: on a
// line of its own with the line's indent and line end, if nothing else follows
// on the line, else right there.
func (l Language) InsertAfter(src []byte, offset int, inner string) []byte {
	end := lineEnd(src, offset)
	if !blank(src[offset:end]) || eol(src, offset) == "" {
		return splice(src, offset, l.Marked(inner))
	}
	line := src[lineStart(src, offset):end]
	return splice(src, end, indent(line)+l.Marked(inner)+eol(src, offset))
}

// InsertBefore inserts inner, marked, before the tag that begins at offset: on a
// line of its own if the tag begins one, indented as the line above if that is
// deeper, else right there.
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

// InsertLine inserts inner, marked, as lines below the one that ends at offset.
func (l Language) InsertLine(src []byte, offset int, in, inner string) []byte {
	return splice(src, lineEnd(src, offset), in+l.Marked(inner)+eol(src, offset))
}

// Append adds inner, marked, at the end of a file: as a line of its own, before
// white space that has no line end, or behind what else has none.
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

// lineEnd returns the offset behind the line end that follows, or the end.
func lineEnd(src []byte, offset int) int {
	if i := bytes.IndexByte(src[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(src)
}

// eol returns the line end of the line at offset, "" if it has none.
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

// Marked tells the template language of a file in which a region stands; ok is
// false when there is none. Configuration files are not told by their text.
func Marked(src []byte) (l Language, ok bool) {
	for _, l := range []Language{Go, Liquid, Jinja, Astro, HTML} {
		if _, ok := l.FindRegion(src); ok {
			return l, true
		}
	}
	return HTML, false
}
