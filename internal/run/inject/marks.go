package inject

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"

	"github.com/sitelink/sitelink/internal/text"
)

// language is a template language, or a syntax of configuration files.
type language uint8

const (
	plainHTML language = iota
	goTemplate
	liquid
	jinja // also Nunjucks and Tera, which share its comments
	astro
	hash // YAML and TOML
)

// comment returns text as a comment of the language.
func (l language) comment(text string) string {
	return [...]string{"<!-- ", "{{/* ", "{% comment %}", "{# ", "{/* ", "# "}[l] + text + [...]string{" -->", " */}}", "{% endcomment %}", " #}", " */}", ""}[l]
}

// region is what sitelink wrote into a file, between two marks, which are comments
// of the file's language:
//
//	{{/* sitelink:begin */}}...{{/* sitelink:end */}}
//
// start and end include the marks and, when nothing else is on their lines, these
// whole lines. Removing the bytes between them restores the file.
type region struct {
	start, end           int
	innerStart, innerEnd int
	// isFile: the region was a whole new file. If the file has nothing else, undoing
	// removes it.
	isFile bool
}

// The words of the marks. A user may add text to the comments, but must keep these
// words.
const (
	beginWord = "sitelink:begin"
	endWord   = "sitelink:end"
	fileWord  = beginWord + " file"
)

// marks match the comments, also in the forms that template formatters produce.
var marks = [...]struct{ begin, end func() *regexp.Regexp }{
	plainHTML:  markPair(`<!--\s*`, `[^>]*?-->`),
	goTemplate: markPair(`\{\{-?\s*/\*\s*`, `[^*]*?\*/\s*-?\}\}`),
	liquid:     markPair(`\{%-?\s*comment\s*-?%\}\s*`, `[^{]*?\{%-?\s*endcomment\s*-?%\}`),
	jinja:      markPair(`\{#-?\s*`, `[^#]*?#\}`),
	astro:      markPair(`\{\s*/\*\s*`, `[^*]*?\*/\s*\}`),
	hash:       markPair(`#[ \t]*`, `[^\n]*`),
}

func markPair(open, rest string) struct{ begin, end func() *regexp.Regexp } {
	return struct{ begin, end func() *regexp.Regexp }{
		text.Regexp(open + beginWord + `\b` + rest),
		text.Regexp(open + endWord + `\b` + rest),
	}
}

// findRegion returns the first region of src. ok is false when src has no region or
// only one of the marks.
func findRegion(src []byte) (r region, ok bool) {
	if !bytes.Contains(src, []byte(beginWord)) {
		return region{}, false
	}
	for _, l := range []language{goTemplate, liquid, jinja, astro, plainHTML, hash} {
		begin := marks[l].begin().FindIndex(src)
		if begin == nil {
			continue
		}
		end := marks[l].end().FindIndex(src[begin[1]:])
		if end == nil {
			continue
		}
		r = region{start: begin[0], end: begin[1] + end[1], innerStart: begin[1], innerEnd: begin[1] + end[0]}
		r.isFile = bytes.Contains(src[begin[0]:begin[1]], []byte(fileWord))
		from, to := lineStart(src, r.start), lineEnd(src, r.end)
		if blank(src[from:r.start]) && blank(src[r.end:to]) {
			r.start, r.end = from, to
		}
		return r, true
	}
	return region{}, false
}

// without returns src without its regions, nil for a file that sitelink created and
// that has nothing else.
func without(src []byte) []byte {
	isFile := false
	for {
		r, ok := findRegion(src)
		if !ok {
			break
		}
		isFile = isFile || r.isFile
		src = splice(src, r.start, r.end, "")
	}
	if isFile && blank(src) {
		return nil
	}
	return src
}

// marked returns inner between the marks.
func (l language) marked(inner string) string {
	return l.comment(beginWord) + inner + l.comment(endWord)
}

// file returns the content of a file that is only a region. The first comment
// contains why.
func (l language) file(inner, why string) []byte {
	return []byte(l.comment(fileWord+": "+why) + inner + l.comment(endWord) + "\n")
}

// insertAfter inserts inner, between marks, after the tag that ends at offset. If
// nothing else follows on the line, it adds a line with the same indent and line
// end.
func (l language) insertAfter(src []byte, offset int, inner string) []byte {
	end := lineEnd(src, offset)
	if !blank(src[offset:end]) || eol(src, offset) == "" {
		return splice(src, offset, offset, l.marked(inner))
	}
	return splice(src, end, end, indent(src[lineStart(src, offset):end])+l.marked(inner)+eol(src, offset))
}

// insertBefore inserts inner, between marks, before the tag that starts at offset. If
// the tag is first on its line, it adds a line, indented as deep as the line above if
// that is deeper.
func (l language) insertBefore(src []byte, offset int, inner string) []byte {
	start := lineStart(src, offset)
	if start == 0 || !blank(src[start:offset]) {
		return splice(src, offset, offset, l.marked(inner))
	}
	in := string(src[start:offset])
	if above := bytes.TrimRight(src[:start], "\r\n"); len(above) > 0 {
		if deeper := indent(above[lineStart(above, len(above)):]); strings.HasPrefix(deeper, in) {
			in = deeper
		}
	}
	return splice(src, start, start, in+l.marked(inner)+eol(src, start-1))
}

// add inserts inner, between marks, at the end of a file: as a line of its own, or at
// the end of a last line that has no line end.
func (l language) add(src []byte, inner string) []byte {
	if last := lineStart(src, len(src)); blank(src[last:]) {
		return splice(src, last, last, l.marked(inner)+cmp.Or(eol(src, 0), "\n"))
	}
	return splice(src, len(src), len(src), l.marked(inner))
}

func splice(src []byte, from, to int, text string) []byte {
	out := make([]byte, 0, len(src)+len(text))
	out = append(append(out, src[:from]...), text...)
	return append(out, src[to:]...)
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
