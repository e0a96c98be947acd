package script

import "bytes"

// parts splits the text of a script into code and the contents of its string
// literals, and leaves out comments. It calls f for each part in order until f
// returns false. A regular expression is a part of the code around it, and the
// text of a template literal is a string. Where the text is no JavaScript, the
// parts have no meaning, but they are inside the text.
func parts(text []byte, f func(start, end int, isCode bool) bool) {
	p := partReader{text: text, f: f}
	for p.i < len(text) && !p.stopped {
		p.step()
	}
	p.code(len(text))
}

// partReader is the state of parts.
type partReader struct {
	text    []byte
	f       func(start, end int, isCode bool) bool
	i       int // next byte
	from    int // start of the code before i
	stopped bool
	// last is the last byte of code other than white space, or 0.
	last byte
	// depth counts the open braces of each ${ of a template literal.
	depth []int
}

// code ends a part of code.
func (p *partReader) code(end int) {
	if end > p.from && !p.stopped {
		p.stopped = !p.f(p.from, end, true)
	}
}

// str ends a string literal that starts at start; p.i is after its end.
func (p *partReader) str(start, end int) {
	if end > start && !p.stopped {
		p.stopped = !p.f(start, end, false)
	}
	p.from, p.last = p.i, '"'
}

func (p *partReader) step() {
	c := p.text[p.i]
	switch {
	case c == '/' && p.next('/'):
		p.comment(p.find("\n", 2))
	case c == '/' && p.next('*'):
		p.comment(p.find("*/", 2))
	case c == '/' && p.regexCanStart():
		p.regex()
	case c == '"' || c == '\'':
		p.code(p.i)
		start := p.i + 1
		end := p.quoted(c)
		p.str(start, end)
	case c == '`':
		p.code(p.i)
		p.template()
	case c == '{' && len(p.depth) > 0:
		p.depth[len(p.depth)-1]++
		p.plain(c)
	case c == '}' && len(p.depth) > 0:
		if p.depth[len(p.depth)-1] == 0 { // the end of ${
			p.depth = p.depth[:len(p.depth)-1]
			p.code(p.i)
			p.template()
			return
		}
		p.depth[len(p.depth)-1]--
		p.plain(c)
	default:
		p.plain(c)
	}
}

func (p *partReader) plain(c byte) {
	p.i++
	if c > ' ' {
		p.last = c
	}
}

func (p *partReader) next(c byte) bool { return p.i+1 < len(p.text) && p.text[p.i+1] == c }

// find returns the offset after the next end, skip bytes from here, or the end of
// the text.
func (p *partReader) find(end string, skip int) int {
	from := min(p.i+skip, len(p.text))
	if k := bytes.Index(p.text[from:], []byte(end)); k >= 0 {
		return from + k + len(end)
	}
	return len(p.text)
}

func (p *partReader) comment(end int) {
	p.code(p.i)
	p.i, p.from = end, end
}

// quoted moves after a string literal and returns the offset of its closing
// quote. A string ends at the end of its line at the latest.
func (p *partReader) quoted(quote byte) (end int) {
	for p.i++; p.i < len(p.text); p.i++ {
		switch c := p.text[p.i]; c {
		case '\\':
			p.i++
		case quote, '\n':
			end = p.i
			p.i++
			return end
		}
	}
	p.i = len(p.text)
	return p.i
}

// template reads the text of a template literal, from its opening quote or from
// the brace that ends a ${, to its closing quote or the next ${.
func (p *partReader) template() {
	start := p.i + 1
	for p.i++; p.i < len(p.text); p.i++ {
		switch c := p.text[p.i]; {
		case c == '\\':
			p.i++
		case c == '`':
			end := p.i
			p.i++
			p.str(start, end)
			return
		case c == '$' && p.next('{'):
			end := p.i
			p.i += 2
			p.str(start, end)
			p.depth, p.last = append(p.depth, 0), '{'
			return
		}
	}
	p.i = len(p.text)
	p.str(start, p.i)
}

// regexCanStart reports whether a slash begins a regular expression here. After a
// value it divides.
func (p *partReader) regexCanStart() bool {
	if bytes.IndexByte([]byte("(,=:[!&|?{};+-*%~^<>"), p.last) >= 0 || p.last == 0 {
		return true
	}
	before := bytes.TrimRight(p.text[p.from:p.i], " \t\r\n")
	for _, word := range []string{"return", "typeof", "case", "in", "of", "void", "delete"} {
		if rest, ok := bytes.CutSuffix(before, []byte(word)); ok && (len(rest) == 0 || !isNameByte(rest[len(rest)-1])) {
			return true
		}
	}
	return false
}

// regex moves after a regular expression. One that does not end on its line is a
// division after all.
func (p *partReader) regex() {
	class := false
	for i := p.i + 1; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '\n':
			p.plain('/')
			return
		case c == '/' && !class:
			p.i, p.last = i+1, ')' // a value: a slash after it divides
			return
		}
	}
	p.plain('/')
}
