package similar

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// pairValues pairs equal values: the result has the index in source for each
// value of page.
func pairValues(page, source []string, unique bool) []int {
	return Align(keysOf(source), keysOf(page), equal(source, page), Options{Unique: unique})
}

func keysOf(values []string) (keys [][]Key) {
	for _, v := range values {
		keys = append(keys, []Key{{Text: v}})
	}
	return keys
}

func equal(rows, columns []string) func(i, j int) int32 {
	return func(i, j int) int32 {
		if rows[i] == columns[j] {
			return 1
		}
		return 0
	}
}

func TestPairs(t *testing.T) {
	for _, c := range []struct {
		page, source string
		unique       bool
		want         []int
	}{
		{"a b c", "a b c", true, []int{0, 1, 2}},
		{"m a n b o", "a b", true, []int{-1, 0, -1, 1, -1}},
		{"a a", "a", false, []int{0, -1}},
		{"a a", "a", true, []int{-1, -1}},
		{"a x a", "x a", true, []int{-1, 0, 1}},
		{"a x a", "a x", true, []int{0, 1, -1}},
		{"x y", "y x", true, []int{-1, -1}}, // either could have moved
		{"a", "a a", true, []int{-1}},
		{"", "a", true, []int{}},
		{"a", "", true, []int{-1}},
	} {
		if got := pairValues(strings.Fields(c.page), strings.Fields(c.source), c.unique); !slices.Equal(got, c.want) {
			t.Errorf("page %q, source %q, unique %v: got %v, want %v", c.page, c.source, c.unique, got, c.want)
		}
	}
}

// TestAdjacent: of two alignments with as many pairs, the one with the longer run
// wins.
func TestAdjacent(t *testing.T) {
	source, page := strings.Fields("a b c"), strings.Fields("a a b c")
	for adjacent, want := range map[int32][]int{0: {0, -1, 1, 2}, 3: {-1, 0, 1, 2}} {
		if got := Align(keysOf(source), keysOf(page), equal(source, page), Options{Adjacent: adjacent}); !slices.Equal(got, want) {
			t.Errorf("adjacent %d: got %v, want %v", adjacent, got, want)
		}
	}
}

// TestEmbedded: if all links of a source are on a page, between other links with
// other values, the n-th belongs to the n-th. With Unique, no pair is wrong even
// if the other links have the same values.
func TestEmbedded(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 5))
	words := strings.Fields("a b c d")
	unique := 0
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
			got := pairValues(page, source, same)
			for i, j := range got {
				switch {
				case j < 0 && !same && want[i] >= 0, j >= 0 && j != want[i]:
					t.Fatalf("page %q, source %q, unique %v: got %v, want %v", page, source, same, got, want)
				case j >= 0 && same:
					unique++
				}
			}
		}
	}
	if unique < 5000 {
		t.Errorf("only %d pairs are unique", unique)
	}
}

// TestUnique compares with a definition of Unique that tries everything: a pair
// is left if all longest common subsequences have it.
func TestUnique(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		page, source := make([]string, random.IntN(8)), make([]string, random.IntN(8))
		for _, list := range [][]string{page, source} {
			for i := range list {
				list[i] = string(rune('a' + random.IntN(3)))
			}
		}
		want := inAll(page, source)
		if got := pairValues(page, source, true); !slices.Equal(got, want) {
			t.Fatalf("page %q, source %q: got %v, want %v", page, source, got, want)
		}
	}
}

// inAll returns the pairs that all longest common subsequences of a and b have.
func inAll(a, b []string) []int {
	out := make([]int, len(a))
	longest := common(a, b)
	for i := range a {
		out[i] = -1
		partners := 0
		for j := range b {
			if a[i] == b[j] && common(a[:i], b[:j])+1+common(a[i+1:], b[j+1:]) == longest {
				partners++
				out[i] = j
			}
		}
		for j := range len(b) + 1 { // can it do without a partner?
			if common(a[:i], b[:j])+common(a[i+1:], b[j:]) == longest {
				partners = 0
			}
		}
		if partners != 1 {
			out[i] = -1
		}
	}
	return out
}

// common returns the length of the longest common subsequence.
func common(a, b []string) int {
	lengths := make([]int, len(b)+1)
	for i := range a {
		diagonal := 0
		for j := range b {
			above := lengths[j+1]
			lengths[j+1] = max(above, lengths[j])
			if a[i] == b[j] {
				lengths[j+1] = diagonal + 1
			}
			diagonal = above
		}
	}
	return lengths[len(b)]
}

// TestLong: lists that are too long for the table pair the n-th with the n-th
// where both sides have a value equally often.
func TestLong(t *testing.T) {
	const n = 5000
	page, source := []string{"only-once"}, []string{"only-once", "only-once"}
	for range n {
		page, source = append(page, "a", "b"), append(source, "a", "b")
	}
	got := pairValues(page, source, true)
	if got[0] != -1 {
		t.Errorf("a value that occurs once on one side and twice on the other is paired with %d", got[0])
	}
	for i, j := range got[1:] {
		if j != i+2 {
			t.Fatalf("link %d is paired with %d", i+1, j)
		}
	}
}

// FuzzPairs: pairs ascend on both sides and have equal values, and there is no
// longer alignment.
func FuzzPairs(f *testing.F) {
	f.Add("abcab", "bca")
	f.Add("aaaa", "aa")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 300 || len(b) > 300 {
			return
		}
		page, source := strings.Split(a, ""), strings.Split(b, "")
		first := pairValues(page, source, false)
		pairs, last := 0, -1
		for i, j := range first {
			if j < 0 {
				continue
			}
			if j <= last || page[i] != source[j] {
				t.Fatalf("page %q, source %q: got %v", page, source, first)
			}
			pairs, last = pairs+1, j
		}
		if pairs != common(page, source) {
			t.Fatalf("page %q, source %q: %v is not the longest alignment", page, source, first)
		}
		for i, j := range pairValues(page, source, true) {
			if j >= 0 && j != first[i] {
				t.Fatalf("page %q, source %q: a unique pair is not among the pairs", page, source)
			}
		}
	})
}
