package main

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/sitelink/sitelink/internal/disk"
)

// stream is standard output, or another pipe or device. A reader that goes
// away has seen enough: from then on everything written is dropped without
// error, and the exit code still says what was found.
type stream struct {
	name string // for errors
	w    io.Writer
	gone bool
}

func (c *cli) stdout() stream { return stream{name: "standard output", w: c.env.Stdout} }

func (s *stream) Write(p []byte) (int, error) {
	if s.gone {
		return len(p), nil
	}
	n, err := s.w.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		s.gone = true
		return len(p), nil
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", s.name, disk.Cause(err))
	}
	return n, err
}

// writeFailure says that writing to name did not work; nil stays nil.
func writeFailure(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("write %s: %w", name, disk.Cause(err))
}

// print writes text to standard output.
func (c *cli) print(text string) error {
	out := c.stdout()
	if _, err := io.WriteString(&out, text); err != nil {
		return fmt.Errorf("write %w", err)
	}
	return nil
}
