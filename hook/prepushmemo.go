package hook

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/disk"
)

// memo remembers which trees passed, so that the next push of one costs a
// look-up. It is a text file in the repository, a line for each tree, the
// newest last:
//
//	KEY DAY
//
// KEY is the hash of the tree's id and of all that the verdict hung on besides;
// DAY is the only day on which it holds (a baseline's entries expire), - for
// any. A line that is not of this form is as if it were not there: the worst
// that a damaged memo does is one check more.
type memo struct{ file string }

const (
	// maxMemo is how many trees are remembered; older ones go first.
	maxMemo = 1000
	// maxMemoBytes is how much of the file is read.
	maxMemoBytes = 256 << 10
)

// memoKey hashes the parts, each with its length, so that none runs into the
// next.
func memoKey(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:20])
}

// read returns the lines of the memo, none when it cannot be read.
func (m memo) read() [][]string {
	f, err := os.Open(m.file)
	if err != nil {
		return nil
	}
	defer f.Close()
	var lines [][]string
	s := bufio.NewScanner(io.LimitReader(f, maxMemoBytes))
	for s.Scan() {
		if fields := strings.Fields(s.Text()); len(fields) == 2 && len(fields[0]) == 40 {
			lines = append(lines, fields)
		}
	}
	return lines
}

// has tells whether the tree passed, as far as that holds today.
func (m memo) has(key, today string) bool {
	return slices.ContainsFunc(m.read(), func(line []string) bool {
		return line[0] == key && (line[1] == "-" || line[1] == today)
	})
}

// add remembers a tree; day is "" when the verdict holds on any. The file is
// replaced as a whole. Two hooks at once may lose one of their lines, which
// costs one check.
func (m memo) add(key, day string) error {
	if day == "" {
		day = "-"
	}
	lines := slices.DeleteFunc(m.read(), func(line []string) bool { return line[0] == key })
	lines = append(lines, []string{key, day})
	var text bytes.Buffer
	for _, line := range lines[max(0, len(lines)-maxMemo):] {
		fmt.Fprintf(&text, "%s %s\n", line[0], line[1])
	}
	return disk.WriteFile(m.file, text.Bytes(), 0o644)
}
