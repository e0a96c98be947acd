package near

import (
	"slices"
	"unicode/utf8"
)

// Titles are compared by the letters in their words. A title is a rewording of
// another if most letters of both are in words that they share, in the same
// order.
const (
	// enoughShared is the least share of the letters of both names, in percent.
	enoughShared = 60
	// clearlyMore is by how much the share must be larger than that of the next
	// name, in percent.
	clearlyMore = 10
	// enoughWords is how many words both names must have.
	enoughWords = 2
)

// reworded returns the only name that is a rewording of want, "" if there is
// none. A word that other names of the list have was not reworded: it means
// something else. leftOut restricts the names to those of which want leaves out
// words.
func (l *Names) reworded(want string, leftOut bool) string {
	if !isTitle(want) || !l.spend() {
		return ""
	}
	l.prepare()
	words := Words(want)
	if len(words) < enoughWords {
		return ""
	}
	best, most, next := "", 0, 0
	for i, n := range l.names {
		switch share := l.sharedWords(words, l.taken[i].words, leftOut); {
		case n == best:
		case share > most:
			best, most, next = n, share, most
		case share > next:
			next = share
		}
	}
	if most < enoughShared || most-next < clearlyMore || !isTitle(best) {
		return ""
	}
	return best
}

// isTitle reports whether a name is made of a title: of words with hyphens or
// underscores between them, not of a notation such as method.new.
func isTitle(name string) bool {
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c >= utf8.RuneSelf, c == '-', c == '_', '0' <= c && c <= '9', 'a' <= c|0x20 && c|0x20 <= 'z':
		case c == '.' && i > 0 && isNumeric(name[i-1]):
		default:
			return false
		}
	}
	return true
}

// sharedWords returns how many of the letters of two names are in words that
// both have in the same order, in percent; 0 if want cannot mean name.
func (l *Names) sharedWords(want, name []string, leftOut bool) int {
	total := 0
	for _, w := range want {
		total += len(w)
	}
	for _, w := range name {
		total += len(w)
	}
	// The longest common subsequence, weighted by letters.
	type cell struct{ letters, words int }
	row := make([]cell, len(name)+1)
	for _, w := range want {
		diagonal, isShared := row[0], false
		for j, v := range name {
			above := row[j+1]
			best := above
			if row[j].letters > best.letters {
				best = row[j]
			}
			if s := sameWord(w, v); s > 0 {
				isShared = true
				if diagonal.letters+s > best.letters {
					best = cell{diagonal.letters + s, diagonal.words + 1}
				}
			}
			diagonal, row[j+1] = above, best
		}
		if !isShared && (leftOut || l.isKnown(w)) {
			return 0
		}
	}
	if replacesWord(want, name) {
		return 0
	}
	got := row[len(name)]
	if got.words < enoughWords || leftOut && got.words < len(want) || !sameNumbersOf(want, name) {
		return 0
	}
	return got.letters * 100 / total
}

// replacesWord reports whether each name has a word without a form of it in the other:
// upgrade for install, enable for disable. Words of up to three letters, such as
// the and for, carry no meaning.
func replacesWord(want, name []string) bool {
	lacks := func(all, other []string) bool {
		return slices.ContainsFunc(all, func(w string) bool {
			return len(w) > 3 && !slices.ContainsFunc(other, func(v string) bool { return sameWord(w, v) > 0 })
		})
	}
	return lacks(want, name) && lacks(name, want)
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
	if n >= 4 && 3*n >= 2*max(len(a), len(b)) && !isNumeric(a[0]) {
		return 2 * n
	}
	return 0
}

// sameNumbersOf reports whether two names have the same numbers in the same
// order.
func sameNumbersOf(a, b []string) bool {
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
