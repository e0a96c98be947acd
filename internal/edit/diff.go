package edit

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// contextLines is the number of unchanged lines around a change, as in git.
const contextLines = 3

// Diff writes the set as a unified diff that `git apply` accepts in the root. A set
// that changes nothing writes nothing.
func (s *Set) Diff(w io.Writer) error {
	var out bytes.Buffer
	for _, name := range s.Files() {
		s.changes[name].diff(&out)
	}
	_, err := w.Write(out.Bytes())
	return err
}

func (c *change) diff(w *bytes.Buffer) {
	old := c.old
	if old == "" {
		old = c.new
	}
	fmt.Fprintf(w, "diff --git %s %s\n", quote("a/"+old), quote("b/"+c.new))
	from := marked("a/" + old)
	switch {
	case c.old == "":
		w.WriteString("new file mode 100644\n")
		from = "/dev/null"
	case c.old != c.new && len(c.edits) == 0:
		fmt.Fprintf(w, "similarity index 100%%\nrename from %s\nrename to %s\n", quote(c.old), quote(c.new))
	case c.old != c.new:
		fmt.Fprintf(w, "similarity index %d%%\nrename from %s\nrename to %s\n", c.similarity(), quote(c.old), quote(c.new))
	}
	hunks := c.hunks()
	if len(hunks) == 0 {
		return
	}
	fmt.Fprintf(w, "--- %s\n+++ %s\n", from, marked("b/"+c.new))
	lines := splitLines(c.text)
	shift := 0
	for len(hunks) > 0 {
		n := 1
		for n < len(hunks) && hunks[n].start-hunks[n-1].end <= 2*contextLines {
			n++
		}
		shift += writeHunk(w, lines, hunks[:n], shift)
		hunks = hunks[n:]
	}
}

// similarity estimates the share of text that stays, below 100.
func (c *change) similarity() int {
	changed := 0
	for _, e := range c.edits {
		changed += max(e.End-e.Start, len(e.Text))
	}
	return max(0, min(99, 100-100*changed/max(1, len(c.text))))
}

// hunk replaces the lines from start up to end, counted from 0, by others.
type hunk struct {
	start, end int
	lines      [][]byte
}

// hunks returns the changed lines without context. Hunks do not touch.
func (c *change) hunks() []hunk {
	lines := splitLines(c.text)
	offsets := make([]int, len(lines)+1) // of each line, and the end
	for i, line := range lines {
		offsets[i+1] = offsets[i] + len(line)
	}
	open := len(lines) > 0 && !bytes.HasSuffix(c.text, []byte("\n")) // an insertion at the end changes the last line
	var hunks []hunk
	line := 0
	for i := 0; i < len(c.edits); {
		for line < len(lines) && offsets[line+1] <= c.edits[i].Start {
			line++
		}
		if open && line == len(lines) {
			line--
		}
		h := hunk{start: line, end: line}
		var text []byte
		at := offsets[line]
		for first := true; i < len(c.edits) && (first || c.edits[i].Start < offsets[h.end] || open && h.end == len(lines)); first = false {
			e := c.edits[i]
			text = append(append(text, c.text[at:e.Start]...), e.Text...)
			at = e.End
			for h.end < len(lines) && (offsets[h.end] < e.End || h.end == line || !endsLine(text) && offsets[h.end] <= e.End) {
				h.end++
			}
			i++
		}
		h.lines = splitLines(append(text, c.text[at:offsets[h.end]]...))
		line = h.end
		if h = h.trimmed(lines); h.start < h.end || len(h.lines) > 0 {
			hunks = append(hunks, h)
		}
	}
	return hunks
}

func endsLine(text []byte) bool { return len(text) == 0 || text[len(text)-1] == '\n' }

// trimmed leaves out the lines that stay at both ends.
func (h hunk) trimmed(lines [][]byte) hunk {
	for h.start < h.end && len(h.lines) > 0 && bytes.Equal(lines[h.start], h.lines[0]) {
		h.start, h.lines = h.start+1, h.lines[1:]
	}
	for h.start < h.end && len(h.lines) > 0 && bytes.Equal(lines[h.end-1], h.lines[len(h.lines)-1]) {
		h.end, h.lines = h.end-1, h.lines[:len(h.lines)-1]
	}
	return h
}

// writeHunk writes hunks that share context, and returns by how many lines they make
// the text longer. The text before is longer by shift.
func writeHunk(w *bytes.Buffer, lines [][]byte, hunks []hunk, shift int) (longer int) {
	start := max(0, hunks[0].start-contextLines)
	end := min(len(lines), hunks[len(hunks)-1].end+contextLines)
	for _, h := range hunks {
		longer += len(h.lines) - (h.end - h.start)
	}
	fmt.Fprintf(w, "@@ -%s +%s @@\n", span(start, end-start), span(start+shift, end-start+longer))
	at := start
	for _, h := range hunks {
		writeLines(w, ' ', lines[at:h.start])
		writeLines(w, '-', lines[h.start:h.end])
		writeLines(w, '+', h.lines)
		at = h.end
	}
	writeLines(w, ' ', lines[at:end])
	return longer
}

// span writes the position of count lines as diff does, after start lines.
func span(start, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", start)
	case 1:
		return fmt.Sprint(start + 1)
	}
	return fmt.Sprintf("%d,%d", start+1, count)
}

func writeLines(w *bytes.Buffer, mark byte, lines [][]byte) {
	for _, line := range lines {
		w.WriteByte(mark)
		w.Write(line)
		if !bytes.HasSuffix(line, []byte("\n")) {
			w.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// splitLines returns the lines of a text with their ends. Only \n ends a line.
func splitLines(text []byte) [][]byte {
	var lines [][]byte
	for line := range bytes.Lines(text) {
		lines = append(lines, line)
	}
	return lines
}

// marked is the name in a line with --- or +++. A tab follows a name with a space, or
// the rest could be read as a date.
func marked(name string) string {
	name = quote(name)
	if strings.Contains(name, " ") {
		name += "\t"
	}
	return name
}

// quote returns a name as git writes it with core.quotePath=false.
func quote(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7f }) {
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
