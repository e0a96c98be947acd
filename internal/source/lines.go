package source

import (
	"bytes"
	"sort"
	"unicode/utf8"
)

// lines turns offsets of a text into lines and columns.
type lines struct {
	text   []byte
	starts []int
}

func newLines(text []byte) lines {
	l := lines{text, []int{0}}
	for i := 0; ; {
		n := bytes.IndexByte(text[i:], '\n')
		if n < 0 {
			return l
		}
		i += n + 1
		l.starts = append(l.starts, i)
	}
}

// at returns the place of an offset, both counted from 1, the column in code
// points. A byte order mark takes no column.
func (l lines) at(off int) (line, column int) {
	line = sort.SearchInts(l.starts, off+1)
	start := l.starts[line-1]
	if start == 0 && bytes.HasPrefix(l.text, bom) && off >= len(bom) {
		start = len(bom)
	}
	return line, utf8.RuneCount(l.text[start:off]) + 1
}

// offset is the inverse of at for the start of a line; ok is false when the
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
