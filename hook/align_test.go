package hook

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestAlign(t *testing.T) {
	for _, c := range []struct {
		page, source string
		sure         bool
		want         []int
	}{
		{"a b c", "a b c", true, []int{0, 1, 2}},
		{"m a n b o", "a b", true, []int{-1, 0, -1, 1, -1}},
		{"a a", "a", false, []int{0, -1}},
		{"a a", "a", true, []int{-1, -1}},
		{"a x a", "x a", true, []int{-1, 0, 1}},
		{"a x a", "a x", true, []int{0, 1, -1}},
		{"x y", "y x", true, []int{-1, -1}}, // either could be moved
		{"a", "a a", true, []int{-1}},
		{"", "a", true, []int{}},
		{"a", "", true, []int{-1}},
	} {
		if got := align(strings.Fields(c.page), strings.Fields(c.source), c.sure); !slices.Equal(got, c.want) {
			t.Errorf("align(%q, %q, %v) = %v, want %v", c.page, c.source, c.sure, got, c.want)
		}
	}
}

// TestAlignEmbedded: a source whose links all stand on a page, between other
// links of other values, is paired n-th with n-th; with sure, no pair is wrong
// even where the other links have the same values.
func TestAlignEmbedded(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 5))
	words := strings.Fields("a b c d")
	sure := 0
	for range 5000 {
		for _, same := range []bool{false, true} {
			var page, source []string
			var want []int
			for range random.IntN(12) {
				if random.IntN(3) == 0 {
					menu := "menu"
					if same {
						menu = words[random.IntN(4)]
					}
					page, want = append(page, menu), append(want, -1)
					continue
				}
				word := words[random.IntN(4)]
				page, want, source = append(page, word), append(want, len(source)), append(source, word)
			}
			got := align(page, source, same)
			for i, j := range got {
				switch {
				case j < 0 && !same && want[i] >= 0, j >= 0 && j != want[i]:
					t.Fatalf("page %q, source %q, sure %v: got %v, want %v", page, source, same, got, want)
				case j >= 0 && same:
					sure++
				}
			}
		}
	}
	if sure < 5000 {
		t.Errorf("only %d pairs were sure", sure)
	}
}

// TestAlignLong: lists too long for the table keep n-th with n-th where the
// counts agree.
func TestAlignLong(t *testing.T) {
	const n = 5000
	page, source := []string{"only-once"}, []string{"only-once", "only-once"}
	for range n {
		page, source = append(page, "a", "b"), append(source, "a", "b")
	}
	got := align(page, source, true)
	if got[0] != -1 {
		t.Errorf("a value of other counts is paired with %d", got[0])
	}
	for i, j := range got[1:] {
		if j != i+2 {
			t.Fatalf("link %d is paired with %d", i+1, j)
		}
	}
}

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

// FuzzAlign: pairs ascend on both sides and have equal values, and the first
// subsequence is as long as the last one.
func FuzzAlign(f *testing.F) {
	f.Add("abcab", "bca")
	f.Add("aaaa", "aa")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 300 || len(b) > 300 {
			return
		}
		page, source := strings.Split(a, ""), strings.Split(b, "")
		first := align(page, source, false)
		pairs, last := 0, -1
		for i, j := range first {
			if j < 0 {
				continue
			}
			if j <= last || page[i] != source[j] {
				t.Fatalf("align(%q, %q) = %v", page, source, first)
			}
			pairs, last = pairs+1, j
		}
		slices.Reverse(page)
		slices.Reverse(source)
		for _, j := range align(page, source, false) {
			if j >= 0 {
				pairs--
			}
		}
		if pairs != 0 {
			t.Fatalf("align(%q, %q) is no longest one", a, b)
		}
		for i, j := range align(strings.Split(a, ""), strings.Split(b, ""), true) {
			if j >= 0 && j != first[i] {
				t.Fatalf("sure pairs of %q, %q differ", a, b)
			}
		}
	})
}
