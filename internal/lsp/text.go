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
}

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
	return t
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
	r := ruler{text: t}
	return r.position(offset)
}

// span returns the range between two offsets.
func (t *text) span(start, end int) protocol.Range {
	r := ruler{text: t}
	return r.span(start, end)
}

// ruler turns offsets into positions. It is fast for offsets in ascending order, even
// if a line is long: it counts from the last one.
type ruler struct {
	*text
	line, from, units int // the last position
}

// position returns the position of an offset.
func (r *ruler) position(offset int) protocol.Position {
	offset = max(0, min(offset, len(r.bytes)))
	if offset < r.from {
		r.line, r.from, r.units = 0, 0, 0
	}
	if r.line+1 < len(r.starts) && r.starts[r.line+1] <= offset {
		r.line = sort.SearchInts(r.starts, offset+1) - 1
		r.from, r.units = r.starts[r.line], 0
	}
	for rest := r.bytes[r.from:offset]; len(rest) > 0; {
		if rest[0] < utf8.RuneSelf {
			r.units++
			rest = rest[1:]
			continue
		}
		c, size := utf8.DecodeRune(rest)
		r.units += r.width(c, size)
		rest = rest[size:]
	}
	r.from = offset
	return protocol.Position{Line: uint32(r.line), Character: uint32(r.units)}
}

// span returns the range between two offsets.
func (r *ruler) span(start, end int) protocol.Range {
	return protocol.Range{Start: r.position(start), End: r.position(end)}
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
