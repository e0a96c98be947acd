package layout

import (
	"bytes"
)

// segment is a part of a template: text, or one action with its delimiters.
type segment struct {
	start, end int
	// isAction: the bytes are not text of the page. code is the trimmed text
	// between the delimiters; it is empty for a comment.
	isAction bool
	code     string
}

// next returns the segment of src that starts at offset. inMarkup reports whether
// the HTML there is markup, where braces start expressions in Astro. An action
// without end extends to the end of the file.
func (l Language) next(src []byte, offset int, inMarkup bool) segment {
	switch l {
	case Go:
		return nextGo(src, offset)
	case Liquid, Jinja:
		return nextBraces(src, offset, l)
	case Astro:
		return nextAstro(src, offset, inMarkup)
	}
	return segment{start: offset, end: len(src)}
}

func textOrAll(src []byte, offset, found int) segment {
	if found < 0 {
		return segment{start: offset, end: len(src)}
	}
	return segment{start: offset, end: offset + found}
}

// nextGo follows text/template's lexer: comments end at */, actions at }}
// outside of strings.
func nextGo(src []byte, offset int) segment {
	open := bytes.Index(src[offset:], []byte("{{"))
	if open != 0 {
		return textOrAll(src, offset, open)
	}
	i := offset + 2
	if bytes.HasPrefix(src[i:], []byte("-")) {
		i++
	}
	for i < len(src) && isSpace(src[i]) {
		i++
	}
	if bytes.HasPrefix(src[i:], []byte("/*")) {
		end := bytes.Index(src[i:], []byte("*/"))
		if end < 0 {
			return segment{start: offset, end: len(src), isAction: true}
		}
		i += end
		if end = bytes.Index(src[i:], []byte("}}")); end < 0 {
			return segment{start: offset, end: len(src), isAction: true}
		}
		return segment{start: offset, end: i + end + 2, isAction: true}
	}
	for begin := i; i < len(src); i++ {
		switch src[i] {
		case '"', '`', '\'':
			i = skipString(src, i, src[i] != '`')
		case '}':
			if bytes.HasPrefix(src[i:], []byte("}}")) {
				code := bytes.TrimSpace(bytes.TrimSuffix(src[begin:i], []byte("-")))
				return segment{start: offset, end: i + 2, isAction: true, code: string(code)}
			}
		}
	}
	return segment{start: offset, end: len(src), isAction: true}
}

// skipString returns the offset of the quote that ends the string at start. A
// string with escapes ends at the line end at the latest.
func skipString(src []byte, start int, escapes bool) int {
	for i := start + 1; i < len(src); i++ {
		switch {
		case src[i] == src[start]:
			return i
		case escapes && src[i] == '\\':
			i++
		case escapes && src[i] == '\n':
			return i
		}
	}
	return len(src)
}

// verbatim are the tags whose content is not template code, and their end tags.
// The content of a comment is not part of the page; raw text is.
var verbatim = map[string]struct {
	end       string
	isComment bool
}{
	"comment":  {"endcomment", true},
	"raw":      {"endraw", false},
	"verbatim": {"endverbatim", false},
}

// frontMatter returns the end of the front matter between lines of ---, or 0
// when the file has none.
func frontMatter(src []byte) int {
	start := len(src) - len(bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")))
	if string(bytes.TrimRight(src[start:lineEnd(src, start)], " \t\r\n")) != "---" {
		return 0
	}
	for i := lineEnd(src, start); i < len(src); i = lineEnd(src, i) {
		if string(bytes.TrimRight(src[i:lineEnd(src, i)], " \t\r\n")) == "---" {
			return lineEnd(src, i)
		}
	}
	return 0
}

// nextBraces reads {% %}, {{ }} and, in Jinja, {# #}.
func nextBraces(src []byte, offset int, l Language) segment {
	if offset == 0 {
		if end := frontMatter(src); end > 0 {
			return segment{end: end, isAction: true}
		}
	}
	found := -1
	for i := offset; i+1 < len(src); i++ {
		if src[i] == '{' && (src[i+1] == '%' || src[i+1] == '{' || src[i+1] == '#' && l == Jinja) {
			found = i - offset
			break
		}
	}
	if found != 0 {
		return textOrAll(src, offset, found)
	}
	var closing string
	switch src[offset+1] {
	case '#':
		return segment{start: offset, end: after(src, offset+2, "#}"), isAction: true}
	case '%':
		closing = "%}"
	default:
		closing = "}}"
	}
	for i := offset + 2; i < len(src); i++ {
		switch src[i] {
		case '"', '\'':
			if end := bytes.IndexByte(src[i+1:], src[i]); end >= 0 {
				i += 1 + end
			}
		case closing[0]:
			if i+1 == len(src) || src[i+1] != closing[1] {
				continue
			}
			if closing == "}}" { // a value, which does not change the structure
				return segment{start: offset, end: i + 2, isAction: true, code: "value"}
			}
			code := string(bytes.TrimSpace(bytes.Trim(src[offset+2:i], "-+")))
			s := segment{start: offset, end: i + 2, isAction: true, code: code}
			if v, ok := verbatim[firstWord(code)]; ok && v.isComment {
				s.end, s.code = endOfTag(src, s.end, v.end), ""
			}
			return s
		}
	}
	return segment{start: offset, end: len(src), isAction: true}
}

func after(src []byte, offset int, text string) int {
	i := bytes.Index(src[offset:], []byte(text))
	if i < 0 {
		return len(src)
	}
	return offset + i + len(text)
}

// endOfTag returns the offset after the tag {% name %}.
func endOfTag(src []byte, offset int, name string) int {
	for i := offset; ; {
		open := bytes.Index(src[i:], []byte("{%"))
		if open < 0 {
			return len(src)
		}
		i += open + 2
		end := bytes.Index(src[i:], []byte("%}"))
		if end < 0 {
			return len(src)
		}
		if string(bytes.TrimSpace(bytes.Trim(src[i:i+end], "-+"))) == name {
			return i + end + 2
		}
	}
}

// nextAstro treats the front matter and each {expression} as an action. The
// output of markup inside an expression is unknown.
func nextAstro(src []byte, offset int, inMarkup bool) segment {
	if offset == 0 {
		trimmed := bytes.TrimLeft(bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")), " \t\r\n")
		if bytes.HasPrefix(trimmed, []byte("---")) {
			return segment{end: after(src, len(src)-len(trimmed)+3, "---"), isAction: true}
		}
	}
	if src[offset] != '{' || !inMarkup {
		// One byte at a time: it decides what the next brace means.
		return segment{start: offset, end: offset + 1}
	}
	depth := 0
	for i := offset; i < len(src); i++ {
		switch src[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return segment{start: offset, end: i + 1, isAction: true, code: "value"}
			}
		case '"', '\'':
			i = skipString(src, i, true)
		case '`':
			i = skipString(src, i, false)
		case '/':
			switch {
			case bytes.HasPrefix(src[i:], []byte("/*")):
				i = after(src, i+2, "*/") - 1
			case bytes.HasPrefix(src[i:], []byte("//")) && src[i-1] != ':':
				i = after(src, i, "\n") - 1
			}
		}
	}
	return segment{start: offset, end: len(src), isAction: true}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' }

// skipDefine returns the offset after the end of a define.
func (l Language) skipDefine(src []byte, offset int) int {
	_, after := l.defineEnd(src, offset)
	return after
}

// defineEnd returns where the body of a define ends, and the offset after its end.
func (l Language) defineEnd(src []byte, offset int) (end, after int) {
	for depth := 1; offset < len(src); {
		seg := l.next(src, offset, true)
		offset = seg.end
		if !seg.isAction || seg.code == "" {
			continue
		}
		switch l.action(seg.code).kind {
		case opens, rebinds, guards, blocks, defines:
			depth++
		case closes:
			if depth--; depth == 0 {
				return seg.start, seg.end
			}
		}
	}
	return len(src), len(src)
}

// IsEmpty reports whether a template writes nothing: it contains only white space
// and comments, in the template language or in HTML.
func IsEmpty(s Source) bool {
	w := &walker{doc: &Doc{}, load: func(string, string) (Source, bool) { return Source{}, false }}
	for i := 0; i < len(s.Text); {
		seg := s.Lang.next(s.Text, i, true)
		i = seg.end
		if seg.isAction && seg.code != "" {
			return false
		}
		if !seg.isAction {
			empty := true
			w.html.feed(s.Text[seg.start:seg.end], Pos{s.File, seg.start}, func(g tag) { empty = false }, func(Pos) { empty = false })
			if !empty {
				return false
			}
		}
	}
	return w.html.state == inText
}

// Block returns the offsets of the body of the first block of that name.
func (l Language) Block(src []byte, name string) (start, end int, ok bool) {
	for i := 0; i < len(src); {
		seg := l.next(src, i, true)
		i = seg.end
		if !seg.isAction || seg.code == "" {
			continue
		}
		if a := l.action(seg.code); a.kind == blocks && a.name == name {
			end, _ := l.defineEnd(src, i)
			return i, end, true
		}
	}
	return 0, 0, false
}
