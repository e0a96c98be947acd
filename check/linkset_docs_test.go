package check

import (
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestLinksetDocs compares the table of docs/reference/linksets.md with the
// code.
func TestLinksetDocs(t *testing.T) {
	text := testkit.Read(t, "../docs/reference/linksets.md")
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 7 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		rows++
		words := func(cell string) []string { return strings.Fields(strings.ReplaceAll(cell, "`", "")) }
		l := linkset(t, words(cells[1])[0])
		if seed := words(cells[3])[0]; l.Seed() != seed {
			t.Errorf("the seed of %s is %s, but the documentation has %s", l, l.Seed(), seed)
		}
		for _, p := range words(cells[4]) {
			if !l.Match(p) {
				t.Errorf("%s does not match %s", l, p)
			}
		}
		for _, p := range words(cells[5]) {
			if l.Match(p) {
				t.Errorf("%s matches %s", l, p)
			}
		}
	}
	if rows < 8 {
		t.Errorf("found %d rows", rows)
	}
}
