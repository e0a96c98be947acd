package read

import (
	"bytes"
	"html"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lines converts offsets of a text to lines and columns.
type Lines struct {
	Text   []byte
	starts []int
	marks  []mark // of a text with long lines, see count
}

func NewLines(text []byte) Lines {
	l := Lines{Text: text, starts: []int{0}}
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
func (l *Lines) count() {
	last := len(l.Text)
	long := false
	for _, start := range slices.Backward(l.starts) {
		long = long || last-start > longLine
		last = start
	}
	if !long {
		return
	}
	m := mark{}
	for m.offset < len(l.Text) {
		l.marks = append(l.marks, m)
		end := min(m.offset+longLine, len(l.Text))
		for end < len(l.Text) && !utf8.RuneStart(l.Text[end]) {
			end++
		}
		m = mark{end, m.characters + utf8.RuneCount(l.Text[m.offset:end])}
	}
}

// before returns how many characters are before an offset.
func (l Lines) before(off int) int {
	m := l.marks[sort.Search(len(l.marks), func(i int) bool { return l.marks[i].offset > off })-1]
	return m.characters + utf8.RuneCount(l.Text[m.offset:off])
}

// At returns the line and column of an offset, both counted from 1, the column
// in code points. A byte order mark takes no column.
func (l Lines) At(off int) (line, column int) {
	line = sort.SearchInts(l.starts, off+1)
	start := l.starts[line-1]
	if start == 0 && bytes.HasPrefix(l.Text, Bom) && off >= len(Bom) {
		start = len(Bom)
	}
	if l.marks != nil {
		return line, l.before(off) - l.before(start) + 1
	}
	return line, utf8.RuneCount(l.Text[start:off]) + 1
}

// Span returns the offsets at which a line starts and ends; ok is false if the
// text has no such line.
func (l Lines) Span(line int) (from, to int, ok bool) {
	if line < 1 || line > len(l.starts) {
		return 0, 0, false
	}
	from, to = l.starts[line-1], len(l.Text)
	if line < len(l.starts) {
		to = l.starts[line]
	}
	return from, to, true
}

var Bom = []byte("\uFEFF")

// wordEnds are the bytes that end an address in templates, data files and
// markup of any kind.
const wordEnds = " \t\r\n\"'`<>()[]{}|,;="

var IsWordEnd = func() (t [256]bool) {
	for i := range len(wordEnds) {
		t[wordEnds[i]] = true
	}
	return
}()

// EachWord calls f for each word of a text that has at most maxValue bytes.
func EachWord(text []byte, f func(at int, word []byte)) {
	for i := 0; i < len(text); {
		for i < len(text) && IsWordEnd[text[i]] {
			i++
		}
		start := i
		for i < len(text) && !IsWordEnd[text[i]] {
			i++
		}
		if i > start && i-start <= MaxValue {
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

// letter returns a letter or digit in lower case, 0 for another character.
func letter(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
		return r
	case 'A' <= r && r <= 'Z':
		return r | 0x20
	case r < utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r):
		return 0
	}
	return unicode.ToLower(r)
}

// PlainLabel returns the letters and digits of a text, in lower case.
// Everything else may differ between the source and the page.
func PlainLabel(s string) string {
	var all []byte
	n := 0
	for _, r := range s {
		if r = letter(r); r != 0 {
			all = utf8.AppendRune(all, r)
			if n++; n == maxLabel {
				break
			}
		}
	}
	return string(all)
}

// LinkLabel returns the label of the <a> element with an href value that starts
// at an offset.
func LinkLabel(text []byte, at int) string {
	rest := text[at:min(len(text), at+maxLabelBytes)]
	start := bytes.IndexByte(rest, '>')
	if start < 0 {
		return ""
	}
	rest = rest[start+1:]
	if end := bytes.Index(rest, []byte("</a")); end >= 0 {
		rest = rest[:end]
	}
	var v VisibleText
	v.AddHTML(0, rest)
	return PlainLabel(string(v.Letters))
}

// VisibleText is the text that readers see: its letters and digits, with
// nothing between them, so that a page and its source can be compared. It
// distinguishes links with the same destination.
type VisibleText struct {
	Letters []byte // lower case
	Runs    []Run  // sorted by src after finish
}

// Run is a piece of text that starts at src in the source and at at in letters.
type Run struct{ src, at int }

// MaxAround is how many bytes of letters are compared on each side of a link.
const MaxAround = 48

// add appends the letters of a piece of text that starts at src.
func (p *VisibleText) add(src int, text []byte) {
	p.Runs = append(p.Runs, Run{src, len(p.Letters)})
	for _, r := range string(text) {
		if r = letter(r); r != 0 {
			p.Letters = utf8.AppendRune(p.Letters, r)
		}
	}
}

// AddHTML appends the visible text of a piece of HTML. It stops at a tag
// without an end.
func (p *VisibleText) AddHTML(src int, text []byte) {
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
			if len(rest) > len(hidden)+1 && strings.EqualFold(string(rest[1:1+len(hidden)]), hidden) && IsTagEnd(rest[1+len(hidden)]) {
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

// Finish sorts the runs. Call it before around.
func (p *VisibleText) Finish() *VisibleText {
	sort.SliceStable(p.Runs, func(i, j int) bool { return p.Runs[i].src < p.Runs[j].src })
	return p
}

// Surroundings is the text before a link, and the text from its start.
type Surroundings struct{ Before, After string }

// Around returns the surroundings of a link that starts at src.
func (p *VisibleText) Around(src int) Surroundings {
	at := len(p.Letters)
	if i := sort.Search(len(p.Runs), func(i int) bool { return p.Runs[i].src >= src }); i < len(p.Runs) {
		at = p.Runs[i].at
	}
	return Surroundings{string(p.Letters[max(0, at-MaxAround):at]), string(p.Letters[at:min(len(p.Letters), at+MaxAround)])}
}

// MinAround is how many bytes around a link must be equal to identify it.
const MinAround = 20

// Similarity weights how many bytes around a link are equal in a source and on a
// page, outwards from the link. It adds a bonus if the page contains the whole
// source, which may be a single sentence.
func (c Surroundings) Similarity(d Surroundings) int {
	n := 0
	for n < len(c.Before) && n < len(d.Before) && c.Before[len(c.Before)-1-n] == d.Before[len(d.Before)-1-n] {
		n++
	}
	m := 0
	for m < len(c.After) && m < len(d.After) && c.After[m] == d.After[m] {
		m++
	}
	if n == len(c.Before) && m == len(c.After) && n+m > minWhole {
		return n + m + MinAround
	}
	return n + m
}

// minWhole is how many bytes must be equal even for the shortest source.
const minWhole = 5

func WordSet(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

// MaxValue is the length in bytes of the longest address that is looked for.
const MaxValue = 2048

func IsTagEnd(c byte) bool {
	return c == '>' || c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '/'
}
