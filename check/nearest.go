package check

import "strings"

// vocabulary are the names among which the one most like another is looked
// for. It belongs to one goroutine.
type vocabulary struct {
	names []string
	plain map[string]string // by plainName, the first in byte order
	// spent counts the comparisons made so far.
	spent int
}

// maxComparisons bounds the comparisons with one vocabulary. A page with
// fifty thousand ids, of which five thousand others are asked for, would
// otherwise take minutes; names that differ in case or punctuation only are
// found without.
const maxComparisons = 1 << 21

func (v *vocabulary) add(name string) { v.names = append(v.names, name) }

// maxDistance is how many edits still make two names alike: a third of the
// length, at most 3.
func maxDistance(name string) int { return min(3, len(name)/3) }

// nearest returns the name that is most like want: the same but for letter
// case and punctuation, else the one the fewest edits away, the first in byte
// order of several. Empty when none is near. A nil vocabulary is empty.
func (v *vocabulary) nearest(want string) string {
	if v == nil {
		return ""
	}
	if v.plain == nil {
		v.plain = make(map[string]string, len(v.names))
		for _, n := range v.names {
			p := plainName(n)
			if old, ok := v.plain[p]; !ok || n < old {
				v.plain[p] = n
			}
		}
	}
	if got, ok := v.plain[plainName(want)]; ok {
		return got
	}
	if v.spent += len(v.names); v.spent > maxComparisons && v.spent > len(v.names) {
		return ""
	}
	best, least := "", maxDistance(want)+1
	for _, n := range v.names {
		if d := editDistance(want, n, least+1); d < least || d == least && best != "" && n < best {
			best, least = n, d
		}
	}
	return best
}

// plainName leaves out the punctuation of a name, in lower case.
func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '-', '_', ' ', '.', '+':
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// editDistance is the Levenshtein distance of a and b in bytes, or any number
// of at least limit when it is that large.
func editDistance(a, b string, limit int) int {
	if d := len(a) - len(b); d >= limit || -d >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal, least := row[0], i
		row[0] = i
		for j := 1; j <= len(b); j++ {
			d := diagonal
			if a[i-1] != b[j-1] {
				d++
			}
			diagonal = row[j]
			row[j] = min(d, row[j]+1, row[j-1]+1)
			least = min(least, row[j])
		}
		if least >= limit {
			return limit
		}
	}
	return row[len(b)]
}
