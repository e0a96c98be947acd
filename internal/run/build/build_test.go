package build

import (
	"bytes"
	"testing"
)

// TestWarningCounter: lines are counted however they are cut into writes.
func TestWarningCounter(t *testing.T) {
	for _, tc := range []struct {
		warning, said string
		want          int
	}{
		{"WARN ", "Start\nWARN  a\nWARN 2023 b\nno WARN \n WARN x\nWARN", 2},
		{"WARN ", "WARN ", 1},
		{"WARN ", "WARNING: x\nWAR\nN \n\n\nWARN x", 1},
		{"", "WARN  a\n", 0},
	} {
		for size := 1; size <= len(tc.said); size++ {
			var out bytes.Buffer
			w := &warningCounter{to: &out, warning: tc.warning}
			for at := 0; at < len(tc.said); at += size {
				piece := tc.said[at:min(at+size, len(tc.said))]
				if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
					t.Fatalf("Write(%q): %d, %v", piece, n, err)
				}
			}
			if w.warnings != tc.want || out.String() != tc.said {
				t.Errorf("%q in pieces of %d: %d warnings, want %d; handed on %q", tc.said, size, w.warnings, tc.want, out.String())
			}
		}
	}
}
