package source

import (
	"bytes"
	"html"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain is what a reader sees of a text, as letters and digits without anything
// between them, so that a page and its source can be compared. It tells links
// apart that have the same destination.
type plain struct {
	letters []byte // lower case
	runs    []run  // sorted by src once built
}

// run is a piece of text that begins at src of the source and at of letters.
type run struct{ src, at int }

// maxAround is how many bytes of letters on each side of a link are compared.
const maxAround = 48

// add appends the letters of a piece of text that begins at src.
func (p *plain) add(src int, text []byte) {
	p.runs = append(p.runs, run{src, len(p.letters)})
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			p.letters = append(p.letters, c)
		case 'A' <= c && c <= 'Z':
			p.letters = append(p.letters, c+'a'-'A')
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(text[i:])
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				p.letters = utf8.AppendRune(p.letters, unicode.ToLower(r))
			}
			i += n
			continue
		}
		i++
	}
}

// addHTML appends what a piece of HTML shows. A tag that is not closed in it
// ends it.
func (p *plain) addHTML(src int, text []byte) {
	for i := 0; i < len(text); {
		open := bytes.IndexByte(text[i:], '<')
		if open < 0 {
			open = len(text) - i
		}
		if open > 0 {
			shown := text[i : i+open]
			if bytes.IndexByte(shown, '&') >= 0 {
				shown = []byte(html.UnescapeString(string(shown)))
			}
			p.add(src+i, shown)
		}
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

// built makes p ready for questions.
func (p *plain) built() *plain {
	sort.SliceStable(p.runs, func(i, j int) bool { return p.runs[i].src < p.runs[j].src })
	return p
}

// surroundings are what stands before a link, and its own text with what follows.
type surroundings struct{ before, after string }

// around returns the surroundings of a link that stands at src.
func (p *plain) around(src int) surroundings {
	at := len(p.letters)
	if i := sort.Search(len(p.runs), func(i int) bool { return p.runs[i].src >= src }); i < len(p.runs) {
		at = p.runs[i].at
	}
	return surroundings{string(p.letters[max(0, at-maxAround):at]), string(p.letters[at:min(len(p.letters), at+maxAround)])}
}

// minAround is how many bytes around a link must be the same before they tell
// where it is written.
const minAround = 20

// likeness counts how many bytes a source's surroundings and those on a page
// have in common, outwards from the link. A source that is found as a whole
// counts for more: it may be a single sentence.
func (c surroundings) likeness(d surroundings) int {
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

// minWhole is how many bytes even the shortest source must have in common.
const minWhole = 5
