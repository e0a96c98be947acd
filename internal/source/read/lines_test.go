package read

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Columns on long lines, which are counted by marks, are those that counting from the
// start of the line gives.
func TestLongLines(t *testing.T) {
	text := []byte("\ufeffa\n" + strings.Repeat("é€𝄞\xe2\x82a", 3000) + "\nb\n" + strings.Repeat("x", longLine))
	l := NewLines(text)
	if len(l.marks) < 3 {
		t.Fatalf("%d marks", len(l.marks))
	}
	start := 0
	for off := 3; off < len(text); off += 7 {
		line, column := l.At(off)
		start = l.starts[line-1]
		if start == 0 {
			start = len(Bom)
		}
		if want := utf8.RuneCount(text[start:off]) + 1; utf8.RuneStart(text[off]) && column != want {
			t.Fatalf("offset %d: line %d, column %d, want %d", off, line, column, want)
		}
	}
}
