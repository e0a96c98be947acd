package config

import (
	"fmt"
	"strings"
)

// Nearest returns the word of words that a typing mistake most likely turned
// into name, and whether there is one. Case and _ for - do not count. The
// first of equals wins.
func Nearest(name string, words []string) (string, bool) {
	const maxLength = 64 // longer names are no typing mistakes, and cost time
	if len(name) > maxLength {
		return "", false
	}
	name = fold(name)
	best, bestDistance := "", len(name)/3+1
	for _, w := range words {
		if d := distance(name, fold(w)); d < bestDistance || d == bestDistance && best == "" {
			best, bestDistance = w, d
		}
	}
	return best, best != ""
}

func fold(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }

// didYouMean is the hint for name, "" when nothing is near.
func didYouMean(name string, words []string) string {
	if w, ok := Nearest(name, words); ok {
		return fmt.Sprintf("did you mean %q?", w)
	}
	return ""
}

// distance counts the letters to insert, delete, replace or swap with their
// neighbour that lead from a to b (optimal string alignment).
func distance(a, b string) int {
	previous2 := make([]int, len(b)+1)
	previous := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range row {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(previous[j]+1, row[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], previous2[j-2]+1)
			}
		}
		previous2, previous, row = previous, row, previous2
	}
	return previous[len(b)]
}
