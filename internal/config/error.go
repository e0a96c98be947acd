package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Error is one fault of the configuration.
type Error struct {
	// Name is the file, the variable or the flag that has the fault.
	Name string
	// Line and Column count from 1, Column in bytes. Both are 0 outside files.
	Line, Column int
	// Msg describes the fault. Hint is what to write instead, if that is known.
	Msg, Hint string
}

// Error returns "sitelink.toml:3:1: message", or "--jobs: message".
func (e *Error) Error() string {
	s := e.place()
	if e.Column > 0 {
		s += ":" + strconv.Itoa(e.Column)
	}
	return s + ": " + e.Msg
}

func (e *Error) place() string {
	if e.Line == 0 {
		return e.Name
	}
	return e.Name + ":" + strconv.Itoa(e.Line)
}

// hintError describes an invalid value, with advice.
type hintError struct{ msg, hint string }

func (e *hintError) Error() string { return e.msg }

func hintOf(err error) string {
	var h *hintError
	if errors.As(err, &h) {
		return h.hint
	}
	return ""
}

// Nearest returns the word that name is most likely a misspelling of, and
// whether there is one. It ignores case and takes _ for -. Of several equally
// near words it returns the first.
func Nearest(name string, words []string) (string, bool) {
	const maxLength = 64 // longer names are not misspellings, and cost time
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

// DidYouMean returns the hint for name, or "" if no word is near.
func DidYouMean(name string, words []string) string {
	if w, ok := Nearest(name, words); ok {
		return fmt.Sprintf("did you mean %q?", w)
	}
	return ""
}

// distance returns how many letters must be inserted, deleted, replaced or
// swapped with their neighbour to turn a into b (optimal string alignment).
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
