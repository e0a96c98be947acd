package baseline

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sitelink/sitelink/check"
)

// version is the format that this package writes, and the newest that it reads.
const version = 1

// MaxReasonBytes is the length of the longest reason.
const MaxReasonBytes = 1000

// MaxBytes is the size above which a baseline is neither read nor written:
// about a million entries.
const MaxBytes = 256 << 20

const (
	// maxLineBytes bounds one line. Ours have some hundred bytes; the longest
	// that the bounds below allow fit, escaped as JSON.
	maxLineBytes = 64 << 10
	// maxPageBytes is the longest path of a file, each byte written as U+FFFD.
	maxPageBytes = 3 << 12
	// maxFaults bounds the list of faults: a file of another kind has one a line.
	maxFaults = 5
)

// Fault is something wrong with a baseline file.
type Fault struct {
	Name string // of the file
	Line int    // from 1, 0 for the file as a whole
	Msg  string
	Hint string // what to do, may be empty
}

func (f *Fault) Error() string {
	if f.Line == 0 {
		return f.Name + ": " + f.Msg
	}
	return fmt.Sprintf("%s:%d: %s", f.Name, f.Line, f.Msg)
}

// line is one line of the file: the header, or an entry.
type line struct {
	Version *int   `json:"sitelink-baseline,omitempty"`
	Page    string `json:"page,omitempty"`
	Code    string `json:"code,omitempty"`
	Link    string `json:"link,omitempty"`
	Expires string `json:"expires,omitempty"`
	Reason  string `json:"reason,omitempty"`
	ID      string `json:"id,omitempty"`
}

// Read reads a baseline file; name is for messages. Lines may stand in any
// order and more than once, so that two files may be joined by any means; of
// two entries for the same finding the one that lasts longer counts. What is
// not a baseline as a whole is refused: every fault of the file, up to a limit,
// is a [*Fault], joined into the error. Other errors are those of r.
func Read(name string, r io.Reader) (*Baseline, error) {
	in := reading{name: name, b: &Baseline{}}
	buf := bufio.NewReaderSize(io.LimitReader(r, MaxBytes+1), maxLineBytes)
	size := 0
	for len(in.faults) < maxFaults && in.newer == nil {
		text, err := buf.ReadSlice('\n')
		size += len(text)
		if size > MaxBytes {
			in.line = 0
			in.fault("", "larger than %d MiB", MaxBytes>>20)
			break
		}
		in.line++
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			in.fault("", "longer than %d KiB: not a line of a baseline", maxLineBytes>>10)
			for err != nil && errors.Is(err, bufio.ErrBufferFull) && size <= MaxBytes {
				text, err = buf.ReadSlice('\n')
				size += len(text)
			}
		case err == nil || errors.Is(err, io.EOF):
			in.text(text)
		}
		if errors.Is(err, io.EOF) {
			in.end()
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read baseline %s: %w", name, err)
		}
	}
	if in.newer != nil {
		return nil, in.newer // its other lines are not for us to judge
	}
	if len(in.faults) > 0 {
		return nil, errors.Join(in.faults...)
	}
	return in.b, nil
}

// reading is the state of one Read.
type reading struct {
	name   string
	b      *Baseline
	line   int
	header bool
	faults []error
	newer  error
}

func (in *reading) fault(hint, format string, args ...any) {
	in.faults = append(in.faults, &Fault{Name: in.name, Line: in.line, Msg: fmt.Sprintf(format, args...), Hint: hint})
}

// text takes one line.
func (in *reading) text(text []byte) {
	if in.line == 1 {
		text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // some editors on Windows write a byte order mark
	}
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0:
		return
	case isConflict(text):
		in.fault("the lines of both sides may stay, in any order: remove the lines of the markers", "conflict marker of a merge")
		return
	}
	var l line
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	err := dec.Decode(&l)
	if err == nil && dec.InputOffset() < int64(len(text)) {
		err = errors.New("something stands behind the object")
	}
	if v := l.Version; v != nil && *v > version {
		in.newer = &Fault{in.name, in.line, fmt.Sprintf("written by a newer sitelink: format %d, this one reads up to %d", *v, version),
			"use that version of sitelink, or newer; the file was left as it is"}
		return
	}
	if err != nil {
		in.fault(damagedHint, "damaged line: %s", strings.TrimPrefix(plain(err), "json: "))
		return
	}
	if l.Version != nil {
		if *l.Version < 1 || l != (line{Version: l.Version}) {
			in.fault(damagedHint, "damaged header")
		}
		in.header = true
		return
	}
	in.entry(l)
}

const damagedHint = "restore the line from version control, or remove it and run sitelink baseline update --add"

// plain puts the errors of the decoder into words for somebody who edits the
// file.
func plain(err error) string {
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "it ends too early"
	case errors.As(err, &wrongType) && wrongType.Field == "":
		return "not a JSON object"
	case errors.As(err, &wrongType):
		return fmt.Sprintf("%s is a %s", wrongType.Field, wrongType.Value)
	}
	return err.Error()
}

// isConflict tells whether a line is one that git puts between the sides of a
// conflict.
func isConflict(text []byte) bool {
	for _, c := range []byte("<|=>") {
		run := bytes.Repeat([]byte{c}, 7)
		if rest, ok := bytes.CutPrefix(text, run); ok && (len(rest) == 0 || rest[0] == ' ') {
			return true
		}
	}
	return false
}

func (in *reading) entry(l line) {
	e := Entry{ID: l.ID, Page: l.Page, Code: check.Code(l.Code), Link: l.Link, Reason: l.Reason, Line: in.line}
	switch {
	case !isFingerprint(l.ID):
		in.fault(damagedHint, "damaged line: id is no fingerprint of 32 hexadecimal digits")
		return
	case l.Code == "":
		in.fault(damagedHint, "damaged line: code is missing")
		return
	case len(l.Page) > maxPageBytes || len(l.Code)+len(l.Link) > 2*maxLinkBytes || len(l.Reason) > MaxReasonBytes:
		in.fault("", "longer than what sitelink writes: a reason has %d bytes at most", MaxReasonBytes)
		return
	case l.Expires != "":
		var err error
		if e.Expires, err = ParseDate(l.Expires); err != nil {
			in.fault("", "expires: %v", err)
			return
		}
	}
	in.b.add(e)
}

func isFingerprint(id string) bool {
	return len(id) == 32 && strings.Trim(id, "0123456789abcdef") == ""
}

// end judges the file as a whole.
func (in *reading) end() {
	if !in.header && len(in.faults) == 0 {
		in.line = 0
		in.fault("sitelink baseline write makes one", "not a baseline: the line %s is missing", header)
	}
}
