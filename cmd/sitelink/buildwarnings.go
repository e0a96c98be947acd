package main

import (
	"bytes"
	"io"
)

// warningCounter hands on what a generator says, and counts the lines that begin
// with warning; an empty one counts none.
type warningCounter struct {
	to      io.Writer
	warning string
	count   int
	start   []byte // of the line that is not ended yet, as much as decides
}

func (w *warningCounter) Write(p []byte) (int, error) {
	for rest := p; w.warning != "" && len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		if short := len(w.warning) - len(w.start); short > 0 {
			w.start = append(w.start, line[:min(short, len(line))]...)
			if len(line) >= short && string(w.start) == w.warning {
				w.count++
			}
		}
		if ended {
			w.start = w.start[:0]
		}
		rest = after
	}
	return w.to.Write(p)
}
