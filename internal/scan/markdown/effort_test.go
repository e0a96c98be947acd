package markdown

import (
	"strings"
	"testing"
)

// What makes goldmark take time or memory out of proportion is refused from the place on
// where it is too much; as much text as people write is not.
func TestMarkdownEffort(t *testing.T) {
	links := strings.Repeat("[a](b), and some words around it. ", 500)
	for _, c := range []struct {
		name, text string
		over       bool
	}{
		{"emphasis", strings.Repeat("*a_ ", 20_000), true},
		{"destinations", strings.Repeat("[a](</x", 20_000), true},
		{"lists", strings.Repeat("1. ", 300), true},
		{"quotes", strings.Repeat("> ", 300), true},
		{"definitions", strings.Repeat("[a]: b\n", 100_000), true},
		{"cells", strings.Repeat("|a", 1000) + "|\n" + strings.Repeat("|-", 1000) + "|\n" + strings.Repeat("|\n", 1000), true},
		{"footnotes", strings.Repeat("[^a]: b\n\n", 30_000) + strings.Repeat("[^b]\n\n", 30_000), true},
		{"a paragraph of links", links, false},
		{"links on one per line", strings.ReplaceAll(links, ", ", ",\n"), false},
		{"many definitions", strings.Repeat("[a-b-c]: https://harbour.example/tides/\n", 3000), false},
		{"a table", "|a|b|c|\n|-|-|-|\n" + strings.Repeat("| [a](b) | c | d |\n", 5000), false},
		{"footnotes of a book", strings.Repeat("Text[^1] and text.\n\n", 2000) + strings.Repeat("[^1]: Some note of a page.\n\n", 2000), false},
	} {
		var s Scanner
		page := s.Scan([]byte(c.text))
		if over := len(page.Faults) > 0; over != c.over {
			t.Errorf("%s: over is %v, with %d links", c.name, over, len(page.Links))
		}
	}
}
