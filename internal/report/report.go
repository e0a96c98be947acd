// Package report turns what [check.Run] found into bytes: text for a person,
// JSON and JSON Lines for programs. docs/reference/formats.md describes every format,
// field and code.
//
// A [check.Result] enters, bytes on an [io.Writer] leave. The package sorts
// nothing and reads no clock: the same result gives the same bytes. It opens
// no file and decides no exit code. Nothing that a page contains reaches a
// terminal unquoted.
package report

import (
	"fmt"
	"io"
)

// flushBytes is the size at which buffered output goes to the writer.
const flushBytes = 64 << 10

// sink collects appended bytes and hands them to w in large pieces. The first
// error sticks and ends all writing.
type sink struct {
	w   io.Writer
	buf []byte
	err error
}

// drain writes the buffer once it is large, so that memory stays bounded by
// the largest finding.
func (s *sink) drain() error {
	if len(s.buf) >= flushBytes {
		return s.flush()
	}
	return s.err
}

func (s *sink) flush() error {
	if s.err == nil && len(s.buf) > 0 {
		if _, err := s.w.Write(s.buf); err != nil {
			s.err = fmt.Errorf("write report: %w", err)
		}
	}
	if cap(s.buf) > 16*flushBytes {
		s.buf = nil // one giant attribute must not stay allocated for the rest
	}
	s.buf = s.buf[:0]
	return s.err
}
