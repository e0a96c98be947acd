package source

import (
	"bytes"
	"html"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lines converts offsets of a text to lines and columns.
type lines struct {
	text   []byte
	starts []int
	marks  []mark // of a text with long lines, see count
}

func newLines(text []byte) lines {
	l := lines{text: text, starts: []int{0}}
	for i := 0; ; {
		n := bytes.IndexByte(text[i:], '\n')
		if n < 0 {
			l.count()
			return l
		}
		i += n + 1
		l.starts = append(l.starts, i)
	}
}

// longLine is the length of a line from which characters are counted once and not for each
// place: minified files have a line of a megabyte with thousands of links.
const longLine = 4 << 10

// mark says how many characters are before an offset.
type mark struct{ offset, characters int }

// count adds a mark each longLine bytes, if a line is that long.
func (l *lines) count() {
	last := len(l.text)
	long := false
	for _, start := range slices.Backward(l.starts) {
		long = long || last-start > longLine
		last = start
	}
	if !long {
		return
	}
	m := mark{}
	for m.offset < len(l.text) {
		l.marks = append(l.marks, m)
		end := min(m.offset+longLine, len(l.text))
		for end < len(l.text) && !utf8.RuneStart(l.text[end]) {
			end++
		}
		m = mark{end, m.characters + utf8.RuneCount(l.text[m.offset:end])}
	}
}

// before returns how many characters are before an offset.
func (l lines) before(off int) int {
	m := l.marks[sort.Search(len(l.marks), func(i int) bool { return l.marks[i].offset > off })-1]
	return m.characters + utf8.RuneCount(l.text[m.offset:off])
}

// at returns the line and column of an offset, both counted from 1, the column
// in code points. A byte order mark takes no column.
func (l lines) at(off int) (line, column int) {
	line = sort.SearchInts(l.starts, off+1)
	start := l.starts[line-1]
	if start == 0 && bytes.HasPrefix(l.text, bom) && off >= len(bom) {
		start = len(bom)
	}
	if l.marks != nil {
		return line, l.before(off) - l.before(start) + 1
	}
	return line, utf8.RuneCount(l.text[start:off]) + 1
}

// span returns the offsets at which a line starts and ends; ok is false if the
// text has no such line.
func (l lines) span(line int) (from, to int, ok bool) {
	if line < 1 || line > len(l.starts) {
		return 0, 0, false
	}
	from, to = l.starts[line-1], len(l.text)
	if line < len(l.starts) {
		to = l.starts[line]
	}
	return from, to, true
}

var bom = []byte("\uFEFF")

// wordEnds are the bytes that end an address in templates, data files and
// markup of any kind.
const wordEnds = " \t\r\n\"'`<>()[]{}|,;="

var isWordEnd = func() (t [256]bool) {
	for i := range len(wordEnds) {
		t[wordEnds[i]] = true
	}
	return
}()

// eachWord calls f for each word of a text that has at most maxValue bytes.
func eachWord(text []byte, f func(at int, word []byte)) {
	for i := 0; i < len(text); {
		for i < len(text) && isWordEnd[text[i]] {
			i++
		}
		start := i
		for i < len(text) && !isWordEnd[text[i]] {
			i++
		}
		if i > start && i-start <= maxValue {
			f(start, text[start:i])
		}
	}
}

// maxLabel is how many letters and digits of a link's text are compared,
// maxLabelBytes how many bytes of the page are searched for them.
const (
	maxLabel      = 40
	maxLabelBytes = 1000
)

// plainLabel returns the letters and digits of a text, in lower case.
// Everything else may differ between the source and the page.
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

// htmlLabel returns the label of the <a> element whose href value starts at an
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

// visibleText is the text that readers see: its letters and digits, with
// nothing between them, so that a page and its source can be compared. It
// distinguishes links with the same destination.
type visibleText struct {
	letters []byte // lower case
	runs    []run  // sorted by src after finish
}

// run is a piece of text that starts at src in the source and at at in letters.
type run struct{ src, at int }

// maxAround is how many bytes of letters are compared on each side of a link.
const maxAround = 48

// add appends the letters of a piece of text that starts at src.
func (p *visibleText) add(src int, text []byte) {
	p.runs = append(p.runs, run{src, len(p.letters)})
	for _, r := range string(text) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			p.letters = utf8.AppendRune(p.letters, unicode.ToLower(r))
		}
	}
}

// addHTML appends the visible text of a piece of HTML. It stops at a tag
// without an end.
func (p *visibleText) addHTML(src int, text []byte) {
	for i := 0; i < len(text); {
		open := bytes.IndexByte(text[i:], '<')
		if open < 0 {
			open = len(text) - i
		}
		p.add(src+i, []byte(html.UnescapeString(string(text[i:i+open]))))
		i += open
		rest := text[i:]
		end := []byte{'>'}
		for _, hidden := range []string{"script", "style"} {
			if len(rest) > len(hidden)+1 && strings.EqualFold(string(rest[1:1+len(hidden)]), hidden) && isTagEnd(rest[1+len(hidden)]) {
				end = []byte("</" + hidden + ">")
			}
		}
		if bytes.HasPrefix(rest, []byte("<!--")) {
			end = []byte("-->")
		}
		n := bytes.Index(rest, end)
		if n < 0 {
			return
		}
		i += n + len(end)
	}
}

// finish sorts the runs. Call it before around.
func (p *visibleText) finish() *visibleText {
	sort.SliceStable(p.runs, func(i, j int) bool { return p.runs[i].src < p.runs[j].src })
	return p
}

// surroundings is the text before a link, and the text from its start.
type surroundings struct{ before, after string }

// around returns the surroundings of a link that starts at src.
func (p *visibleText) around(src int) surroundings {
	at := len(p.letters)
	if i := sort.Search(len(p.runs), func(i int) bool { return p.runs[i].src >= src }); i < len(p.runs) {
		at = p.runs[i].at
	}
	return surroundings{string(p.letters[max(0, at-maxAround):at]), string(p.letters[at:min(len(p.letters), at+maxAround)])}
}

// minAround is how many bytes around a link must be equal to identify it.
const minAround = 20

// similarity weights how many bytes around a link are equal in a source and on a
// page, outwards from the link. It adds a bonus if the page contains the whole
// source, which may be a single sentence.
func (c surroundings) similarity(d surroundings) int {
	n := 0
	for n < len(c.before) && n < len(d.before) && c.before[len(c.before)-1-n] == d.before[len(d.before)-1-n] {
		n++
	}
	m := 0
	for m < len(c.after) && m < len(d.after) && c.after[m] == d.after[m] {
		m++
	}
	if n == len(c.before) && m == len(c.after) && n+m > minWhole {
		return n + m + minAround
	}
	return n + m
}

// minWhole is how many bytes must be equal even for the shortest source.
const minWhole = 5

func wordSet(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

// maxValue is the length in bytes of the longest address that is looked for.
const maxValue = 2048

func isTagEnd(c byte) bool {
	return c == '>' || c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '/'
}
