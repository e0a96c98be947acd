package redirect

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// bom is the byte order mark that some editors on Windows write.
const bom = "\xef\xbb\xbf"

// linesOf yields each line of a file with its number, from 1, without white
// space around it. Empty lines and lines that begin with # are left out.
func linesOf(data []byte) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		// One string for all lines: the garbage collector meets what the rules keep
		// of them in one place.
		text := strings.TrimPrefix(string(data), bom)
		number := 0
		for len(text) > 0 {
			number++
			var line string
			line, text, _ = strings.Cut(text, "\n")
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			if !yield(number, line) {
				return
			}
		}
	}
}

// appendFields appends what strings.Fields returns, without a slice for each line:
// that and the counting in it were a tenth of the reading.
func appendFields(words []string, line string) []string {
	start := -1
	for i := range len(line) {
		switch c := line[i]; {
		case c >= utf8.RuneSelf: // there may be white space outside ASCII
			return strings.Fields(line)
		case c == ' ' || '\t' <= c && c <= '\r':
			if start >= 0 {
				words = append(words, line[start:i])
			}
			start = -1
		case start < 0:
			start = i
		}
	}
	if start >= 0 {
		words = append(words, line[start:])
	}
	return words
}

// lineIndex tells the line of a byte offset.
type lineIndex []int

func newLineIndex(data []byte) lineIndex {
	var ends lineIndex
	for i, c := range data {
		if c == '\n' {
			ends = append(ends, i)
		}
	}
	return ends
}

// line returns the line, from 1, that holds the byte at offset.
func (l lineIndex) line(offset int) int {
	n, _ := slices.BinarySearch(l, offset)
	return n + 1
}

// count is "1 rule" or "3 rules".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// leadingInt reads an integer at the start of s as JavaScript's parseInt does:
// what follows the digits is ignored.
func leadingInt(s string) (int, bool) {
	end := 0
	if end < len(s) && (s[end] == '-' || s[end] == '+') {
		end++
	}
	digits := end
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	if end == digits || end-digits > 9 {
		return 0, false
	}
	n, err := strconv.Atoi(s[:end])
	return n, err == nil
}

// quote shows a piece of a file in a message, at most 80 bytes of it.
func quote(s string) string {
	if len(s) > 80 {
		return fmt.Sprintf("%q...", strings.ToValidUTF8(s[:80], ""))
	}
	return strconv.Quote(s)
}

// roomFor returns how many rules a file of lines may hold, so that they are not
// moved while they are read: the garbage of that cost as much as the reading.
func roomFor(data []byte) int { return min(bytes.Count(data, []byte{'\n'})+1, 1<<16) }
