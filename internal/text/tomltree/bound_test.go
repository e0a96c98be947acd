package tomltree

import (
	"strings"
	"testing"
)

func TestBound(t *testing.T) {
	for _, c := range []struct {
		document string
		line     int
	}{
		{"a = 1\n" + strings.Repeat("a.", 20_000) + "a = 1\n", 2},
		{"\n\n[" + strings.Repeat("a.", 200) + "a]\n", 3},
		{strings.Repeat("[a.b]\n", 6000), 5001},
		{strings.Repeat("a = 1\n", 6000), 5001},
		{strings.Repeat("[[redirects]]\nfrom = \"/a\"\nto = \"/b\"\n", 20_000), 0},
		{"a = \"" + strings.Repeat("a.b. ", 1000) + "\"\n", 0},
		{"text = '''\n" + strings.Repeat("Some text, and some more.\n", 10_000) + "'''\n", 0},
	} {
		if line, err := Bound([]byte(c.document)); line != c.line || (err == nil) != (c.line == 0) {
			t.Errorf("%.30q: line %d, %v, want line %d", c.document, line, err, c.line)
		}
	}
}
