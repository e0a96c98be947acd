package lsp

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"go.lsp.dev/protocol"
)

// text is the text of a document with its lines. It never changes.
type text struct {
	bytes  []byte
	starts []int // of the lines
	units  protocol.PositionEncodingKind
	// marks are places inside long lines, so that a position in one is found
	// without reading the line from its start.
	marks []mark
}

// mark is the number of units from the start of a line to an offset in it.
type mark struct{ offset, units int }

// markEvery is the number of bytes between two marks.
const markEvery = 1 << 10

func newText(b []byte, units protocol.PositionEncodingKind) *text {
	t := &text{bytes: b, starts: make([]int, 1, 1+len(b)/32), units: units}
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\r':
			if i+1 < len(b) && b[i+1] == '\n' {
				i++
			}
			t.starts = append(t.starts, i+1)
		case '\n':
			t.starts = append(t.starts, i+1)
		}
	}
	for n, start := range t.starts {
		end := len(b)
		if n+1 < len(t.starts) {
			end = t.starts[n+1]
		}
		if end-start > markEvery {
			t.markLine(start, end)
		}
	}
	return t
}

// markLine adds the marks of the line between two offsets.
func (t *text) markLine(start, end int) {
	units, next := 0, start+markEvery
	for at := start; at < end; {
		if at >= next {
			t.marks, next = append(t.marks, mark{at, units}), at+markEvery
		}
		r, size := utf8.DecodeRune(t.bytes[at:end])
		units, at = units+t.width(r, size), at+size
	}
}

// line returns the bytes of a line without its end.
func (t *text) line(n int) []byte {
	end := len(t.bytes)
	if n+1 < len(t.starts) {
		end = t.starts[n+1]
	}
	return bytes.TrimRight(t.bytes[t.starts[n]:end], "\r\n")
}

// width returns the length of a character in the units of the client.
func (t *text) width(r rune, size int) int {
	switch t.units {
	case protocol.PositionEncodingKindUTF8:
		return size
	case protocol.PositionEncodingKindUTF32:
		return 1
	}
	if r >= 0x10000 {
		return 2
	}
	return 1
}

// offset returns the offset of a position. One behind the end of a line or of the
// text is at that end, as the protocol demands; one inside a character is before it.
func (t *text) offset(p protocol.Position) int {
	if int64(p.Line) >= int64(len(t.starts)) {
		return len(t.bytes)
	}
	line, at := t.line(int(p.Line)), t.starts[p.Line]
	left := int64(p.Character)
	for len(line) > 0 && left > 0 {
		r, size := utf8.DecodeRune(line)
		if left -= int64(t.width(r, size)); left < 0 {
			break
		}
		line, at = line[size:], at+size
	}
	return at
}

// position returns the position of an offset.
func (t *text) position(offset int) protocol.Position {
	offset = max(0, min(offset, len(t.bytes)))
	n := sort.SearchInts(t.starts, offset+1) - 1
	start, units := t.starts[n], 0
	if i := sort.Search(len(t.marks), func(i int) bool { return t.marks[i].offset > offset }); i > 0 && t.marks[i-1].offset > start {
		start, units = t.marks[i-1].offset, t.marks[i-1].units
	}
	for rest := t.bytes[start:offset]; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		units += t.width(r, size)
		rest = rest[size:]
	}
	return protocol.Position{Line: uint32(n), Character: uint32(units)}
}

// span returns the range between two offsets.
func (t *text) span(start, end int) protocol.Range {
	return protocol.Range{Start: t.position(start), End: t.position(end)}
}

// edit returns the text after a change of the client.
func (t *text) edit(c protocol.TextDocumentContentChangeEvent) *text {
	switch c := c.(type) {
	case *protocol.TextDocumentContentChangeWholeDocument:
		return newText([]byte(c.Text), t.units)
	case *protocol.TextDocumentContentChangePartial:
		start, end := t.offset(c.Range.Start), t.offset(c.Range.End)
		if start > end {
			start, end = end, start
		}
		b := make([]byte, 0, len(t.bytes)-(end-start)+len(c.Text))
		b = append(append(append(b, t.bytes[:start]...), c.Text...), t.bytes[end:]...)
		return newText(b, t.units)
	}
	return t
}
