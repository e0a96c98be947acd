package near

import (
	"slices"
	"unicode/utf8"
)

// Titles are compared by the letters in their words. A name is a rewording of
// another if most letters of both are in words that they share, in the same
// order.
const (
	// enoughShared is the least share of the letters of both names, in percent.
	enoughShared = 60
	// clearlyMore is by how much the share must be larger than that of the next
	// name, in percent.
	clearlyMore = 10
)

// reworded returns the only name that is a rewording of want, "" if there is
// none.
func (l *Names) reworded(want string) string {
	words := Words(want)
	if len(words) == 0 || !slices.ContainsFunc(words, isDistinctive) {
		return ""
	}
	best, most, next := "", 0, 0
	for _, n := range l.names {
		switch share := sharedWords(words, Words(n)); {
		case n == best:
		case share > most:
			best, most, next = n, share, most
		case share > next:
			next = share
		}
	}
	if most < enoughShared || most-next < clearlyMore {
		return ""
	}
	return best
}

// isDistinctive reports whether a word says enough to recognise a title by it.
func isDistinctive(word string) bool {
	return utf8.RuneCountInString(word) >= 4 || word[0] >= utf8.RuneSelf
}

// sharedWords returns how many of the letters of two names are in words that
// both have in the same order, in percent; 0 if a number of one is not in the
// other, or if they share no distinctive word.
func sharedWords(a, b []string) int {
	total := 0
	for _, w := range a {
		total += len(w)
	}
	for _, w := range b {
		total += len(w)
	}
	// The longest common subsequence, weighted by letters.
	row := make([]int, len(b)+1)
	distinctive := false
	for _, w := range a {
		diagonal := 0
		for j, v := range b {
			above := row[j+1]
			if s := sameWord(w, v); s > 0 && diagonal+s > max(above, row[j]) {
				row[j+1] = diagonal + s
				distinctive = distinctive || isDistinctive(w)
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	if !distinctive || !numbersOf(a, b) {
		return 0
	}
	return row[len(b)] * 100 / total
}

// sameWord returns the letters that two words share if they are forms of one
// word: equal, or with another ending.
func sameWord(a, b string) int {
	if a == b {
		return len(a) + len(b)
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if n >= 4 && len(a)-n <= 3 && len(b)-n <= 3 && !isNumeric(a[0]) {
		return 2 * n
	}
	return 0
}

// numbersOf reports whether two names have the same numbers in the same order.
func numbersOf(a, b []string) bool {
	number := func(w string) bool { return isNumeric(w[0]) }
	i := 0
	for _, w := range a {
		if !number(w) {
			continue
		}
		for i < len(b) && !number(b[i]) {
			i++
		}
		if i == len(b) || b[i] != w {
			return false
		}
		i++
	}
	return !slices.ContainsFunc(b[i:], number)
}
