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
// space around it. It skips empty lines and lines that start with #.
func linesOf(data []byte) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		// Rules keep substrings of the lines. One string for all lines is less
		// work for the garbage collector.
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

// appendFields is strings.Fields without an allocation per line, which took a
// tenth of the time to parse a file.
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

// lineIndex has the offsets of the line ends.
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

// line returns the line, from 1, of the byte at offset.
func (l lineIndex) line(offset int) int {
	n, _ := slices.BinarySearch(l, offset)
	return n + 1
}

// count returns "1 rule" or "3 rules".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// leadingInt parses an integer at the start of s like JavaScript's parseInt,
// which ignores what follows the digits.
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

// quote quotes a text for a message, at most 80 bytes of it.
func quote(s string) string {
	if len(s) > 80 {
		return fmt.Sprintf("%q...", strings.ToValidUTF8(s[:80], ""))
	}
	return strconv.Quote(s)
}

// ruleCapacity returns the largest number of rules in a file with one rule per
// line. A slice that grows would take as much time as parsing.
func ruleCapacity(data []byte) int { return min(bytes.Count(data, []byte{'\n'})+1, 1<<16) }
