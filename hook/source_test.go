package hook

import (
	"slices"
	"strings"
	"testing"
)

func TestDigest(t *testing.T) {
	long := strings.Repeat("x", headBytes)
	for _, c := range []struct {
		page, html string
		want       []span
	}{
		{"a<p>b</p>c", "<p>b</p>", []span{{1, 9}}},
		{"<p>b</p><p>b</p>", "<p>b</p>", []span{{0, 8}, {8, 16}}},
		{"abc", "", nil},
		{"ab", "abc", nil},
		{long + "1" + long + "2", long + "2", []span{{headBytes + 1, 2*headBytes + 2}}},
		{long + long, long + "2", nil},
	} {
		d := DigestOf([]byte(c.html))
		if got := d.find([]byte(c.page)); !slices.Equal(got, c.want) {
			t.Errorf("%q in %q: got %v, want %v", c.html, c.page, got, c.want)
		}
	}
}
