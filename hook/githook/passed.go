package githook

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/disk"
)

// passedTrees remembers which trees passed the check, so that the next push of
// one of them costs a lookup. It is a text file in the repository with one line
// for each tree, the newest last:
//
//	KEY DAY
//
// KEY is a hash of the tree's id and of everything else that the result depends
// on. DAY is the only day on which the result is valid, because the entries of a
// baseline expire, or - for any day. Lines of another form are ignored: a
// damaged file costs one more check.
type passedTrees struct{ file string }

const (
	// maxPassed is how many trees are remembered; the oldest are dropped.
	maxPassed = 1000
	// maxPassedBytes is how much of the file is read.
	maxPassedBytes = 256 << 10
)

// passedKey hashes the parts, each with its length, so that the end of one part
// cannot be taken for the start of the next.
func passedKey(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:20])
}

func (p passedTrees) read() [][]string { return readPairs(p.file) }

// readPairs returns the two fields of each line of a file, none when the file
// cannot be read. The first field is a key, see [passedKey].
func readPairs(file string) [][]string {
	f, err := disk.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	var lines [][]string
	s := bufio.NewScanner(io.LimitReader(f, maxPassedBytes))
	for s.Scan() {
		if fields := strings.Fields(s.Text()); len(fields) == 2 && len(fields[0]) == 40 {
			lines = append(lines, fields)
		}
	}
	return lines
}

// has reports whether the tree passed and that result is valid today.
func (p passedTrees) has(key, today string) bool {
	return slices.ContainsFunc(p.read(), func(line []string) bool {
		return line[0] == key && (line[1] == "-" || line[1] == today)
	})
}

// add remembers a tree; day is "" when the result is valid on any day. The file
// is replaced as a whole: two hooks that run at once may lose one line, which
// costs one check.
func (p passedTrees) add(key, day string) error {
	if day == "" {
		day = "-"
	}
	lines := slices.DeleteFunc(p.read(), func(line []string) bool { return line[0] == key })
	lines = append(lines, []string{key, day})
	var text bytes.Buffer
	for _, line := range lines[max(0, len(lines)-maxPassed):] {
		fmt.Fprintf(&text, "%s %s\n", line[0], line[1])
	}
	return disk.WriteFile(p.file, text.Bytes(), 0o644)
}
