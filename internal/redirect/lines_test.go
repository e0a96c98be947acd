package redirect

import (
	"slices"
	"strings"
	"testing"
)

// FuzzFields: the words of a line are those of strings.Fields.
func FuzzFields(f *testing.F) {
	for _, line := range []string{"", " ", "/a /b 301", "\t/a\v/b\r\n", "/a\u00a0/b", "/ü /b", "a b c d e f g h i j"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		var room [2]string
		if got, want := appendFields(room[:0], line), strings.Fields(line); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	})
}
