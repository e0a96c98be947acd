package read

import (
	"bytes"
	"strings"
)

// RuleFields returns the first two fields of a rule, "" for other lines.
func RuleFields(line []byte) (from, to string) {
	fields := strings.Fields(string(line))
	if len(fields) < 2 || strings.HasPrefix(fields[0], "#") {
		return "", ""
	}
	return fields[0], fields[1]
}

// apacheFields returns the source and the destination of a rule in .htaccess, "" for
// other lines.
func apacheFields(line []byte) (from, to string) {
	fields := strings.Fields(string(line))
	if n := len(fields); n > 2 {
		switch directive := strings.ToLower(fields[0]); {
		case directive == "rewriterule":
			return fields[1], strings.Trim(fields[2], `"`)
		case strings.HasPrefix(directive, "redirect"):
			return fields[n-2], strings.Trim(fields[n-1], `"`)
		}
	}
	return "", ""
}

// LineOf returns a line of a text, counted from 1.
func LineOf(text []byte, line int) []byte {
	for l := range bytes.Lines(text) {
		if line--; line == 0 {
			return l
		}
	}
	return nil
}
