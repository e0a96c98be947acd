package redirect

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// bom is the byte order mark that some editors on Windows write.
const bom = "\xef\xbb\xbf"

// linesOf yields each line of a file with its number, from 1, without white
// space around it. Empty lines and lines that begin with # are left out.
func linesOf(data []byte) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		data = bytes.TrimPrefix(data, []byte(bom))
		number := 0
		for len(data) > 0 {
			number++
			var line []byte
			line, data, _ = bytes.Cut(data, []byte("\n"))
			line = bytes.TrimSpace(line)
			if len(line) == 0 || line[0] == '#' {
				continue
			}
			if !yield(number, string(line)) {
				return
			}
		}
	}
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
