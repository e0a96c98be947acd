package tomltree

import (
	"bytes"
	"fmt"
)

// What a TOML document may have. The decoder compares each name with those before it in
// its table, and takes a level of tables for each part of a key: 60,000 tables [a.b1.c]
// take ten seconds.
const (
	maxNames = 5000 // tables written [name], and keys of one table
	maxParts = 100  // of a key such as a.b.c
)

// Bound returns the line from which on decoding a TOML document takes too long, and
// why. It looks at the beginnings of lines only, so lines of a text in quotes count, too.
func Bound(document []byte) (line int, err error) {
	tables, keys := 0, 0
	for l := range bytes.Lines(document) {
		line++
		l = bytes.TrimLeft(l, " \t")
		if parts := 1 + bytes.Count(l[:keyEnd(l)], []byte(".")); parts > maxParts {
			return line, fmt.Errorf("the key has %d parts; at most %d are read", parts, maxParts)
		}
		switch {
		case bytes.HasPrefix(l, []byte("[[")):
			keys = 0
		case bytes.HasPrefix(l, []byte("[")):
			keys = 0
			if tables++; tables > maxNames {
				return line, fmt.Errorf("the file has more than %d tables", maxNames)
			}
		case keyEnd(l) > 0 && l[keyEnd(l)-1] == '=':
			if keys++; keys > maxNames {
				return line, fmt.Errorf("the table has more than %d keys", maxNames)
			}
		}
	}
	return 0, nil
}

// keyEnd returns the length of the key or header at the beginning of a line, with the
// equals sign or bracket after it.
func keyEnd(line []byte) int {
	for i, c := range line {
		switch {
		case c == '=' || c == ']':
			return i + 1
		case c == '_' || c == '-' || c == '.' || c == '"' || c == '\'' || c == ' ' || c == '\t' || c == '[' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80:
		default:
			return i
		}
	}
	return len(line)
}
