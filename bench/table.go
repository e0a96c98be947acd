package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// table lays out rows under a header: the first column left-aligned, the
// others right-aligned unless they hold words, two blanks between. Every line
// ends in a newline and carries no trailing blanks. Short rows are padded.
func table(header []string, rows [][]string) string {
	width := make([]int, len(header))
	left := make([]bool, len(header))
	for i, h := range header {
		width[i] = utf8.RuneCountInString(h)
		left[i] = true
		for _, r := range rows {
			if i < len(r) {
				width[i] = max(width[i], utf8.RuneCountInString(r[i]))
				left[i] = left[i] && !numeric(r[i])
			}
		}
	}
	var b strings.Builder
	line := func(cells []string) {
		var l strings.Builder
		for i := range header {
			cell := ""
			if i < len(cells) {
				cell = cells[i]
			}
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				l.WriteString("  ")
			}
			if left[i] {
				l.WriteString(cell + pad)
			} else {
				l.WriteString(pad + cell)
			}
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	line(header)
	rule := make([]string, len(header))
	for i, w := range width {
		rule[i] = strings.Repeat("-", w)
	}
	line(rule)
	for _, r := range rows {
		line(r)
	}
	return b.String()
}

// numeric reports whether a cell is a number, such as 12, 1,234.5 and > 180.0.
// A column with one number in it is set flush right.
func numeric(s string) bool {
	s = strings.TrimLeft(s, "<> ")
	return s != "" && s[0] >= '0' && s[0] <= '9' && strings.Trim(s, "0123456789.,") == ""
}

// thousands writes n with commas: 2,512,003.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// megabytes writes a size in units of 10^6 bytes.
func megabytes(n int64) string { return fmt.Sprintf("%.1f", float64(n)/1e6) }

// mebibytes writes a size in units of 2^20 bytes, as memory is counted.
func mebibytes(n int64) string { return fmt.Sprintf("%.1f", float64(n)/(1<<20)) }

// seconds writes a duration with three digits behind the point.
func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
