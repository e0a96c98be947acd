package edit

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

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
	// The first three lines name the files in another way than git.
	before, after := c.numbered()
	hunks := bytes.SplitN(diff.Diff("", before, "", after), []byte("\n"), 4)
	if len(hunks) == 4 {
		fmt.Fprintf(w, "--- %s\n+++ %s\n%s", from, marked("b/"+c.new), lineNumber.ReplaceAll(hunks[3], nil))
	}
}

// lineNumber is what numbered puts before a line. No text that can be edited has such bytes.
var lineNumber = regexp.MustCompile(`\x00[0-9]{8}\x00`)

// numbered returns the text with a number before each line, and what the edits make of it: a
// line that stays is the same only as itself, so that the diff shows no more than the edits.
func (c *change) numbered() (before, after []byte) {
	n := 0
	for line := range bytes.Lines(c.text) {
		before = append(fmt.Appendf(before, "\x00%08d\x00", n), line...)
		n++
	}
	shifted := func(at int) int { // by the numbers of the lines that begin before it
		if at == 0 {
			return 0
		}
		return at + len("\x0000000000\x00")*(1+bytes.Count(c.text[:at-1], []byte("\n")))
	}
	numbered := change{text: before}
	for _, e := range c.edits {
		numbered.edits = append(numbered.edits, Edit{shifted(e.Start), shifted(e.End), e.Text})
	}
	return before, numbered.result()
}

// similarity estimates the share of text that stays, below 100.
func (c *change) similarity() int {
	changed := 0
	for _, e := range c.edits {
		changed += max(e.End-e.Start, len(e.Text))
	}
	return max(0, min(99, 100-100*changed/max(1, len(c.text))))
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
