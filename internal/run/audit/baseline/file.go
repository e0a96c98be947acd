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
	"github.com/sitelink/sitelink/internal/text"
)

// FileName is the name of a baseline that the configuration does not name.
const FileName = "sitelink-baseline.jsonl"

// version is the format that this package writes, and the newest one that it reads.
const version = 1

// MaxReasonBytes is the length of the longest reason.
const MaxReasonBytes = 1000

// MaxBytes is the size of the largest baseline, about a million entries. Larger
// ones are neither read nor written.
const MaxBytes = 256 << 20

const (
	// maxLineBytes bounds one line. Lines usually have a few hundred bytes; the
	// longest ones that the other limits allow fit, escaped as JSON.
	maxLineBytes = 64 << 10
	// maxPageBytes is the length of the longest path, each byte written as U+FFFD.
	maxPageBytes = 3 << 12
	// maxFaults bounds the list of faults: a file of another kind has one on each
	// line.
	maxFaults = 5
)

// Fault is an error in a baseline file.
type Fault struct {
	Name string // of the file
	Line int    // counts from 1; 0 for the whole file
	Msg  string
	Hint string // what to do next, may be empty
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

// Read reads a baseline file; name is for messages. The lines may be in any order
// and occur more than once, so that any way of merging two files works. Of two
// entries for the same finding, the one that lasts longer counts.
//
// If anything in the file is wrong, Read returns no baseline. Its error joins a
// [*Fault] for each error in the file, up to a limit. Other errors are those of
// r.
func Read(name string, r io.Reader) (*List, error) {
	in := parser{name: name, b: &List{}}
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
			in.parse(text)
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
		return nil, in.newer // the other lines may be correct in the newer format
	}
	if len(in.faults) > 0 {
		return nil, errors.Join(in.faults...)
	}
	return in.b, nil
}

// parser is the state of one Read.
type parser struct {
	name   string
	b      *List
	line   int
	header bool
	faults []error
	newer  error
}

func (in *parser) fault(hint, format string, args ...any) {
	in.faults = append(in.faults, &Fault{Name: in.name, Line: in.line, Msg: fmt.Sprintf(format, args...), Hint: hint})
}

// parse takes one line.
func (in *parser) parse(text []byte) {
	if in.line == 1 {
		text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // some editors on Windows write a byte order mark
	}
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0:
		return
	case isConflict(text):
		in.fault("keep the lines of both sides, in any order, and remove the conflict markers", "conflict marker of a merge")
		return
	}
	var l line
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	err := dec.Decode(&l)
	if err == nil && dec.InputOffset() < int64(len(text)) {
		err = errors.New("text after the object")
	}
	if v := l.Version; v != nil && *v > version {
		in.newer = &Fault{in.name, in.line, fmt.Sprintf("format %d was written by a newer sitelink; this one reads formats up to %d", *v, version),
			"use that version of sitelink or a newer one; the file was not changed"}
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

// plain words the errors of the decoder for a person who edits the file.
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

// isConflict reports whether git wrote the line between the two sides of a
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

func (in *parser) entry(l line) {
	e := Entry{ID: l.ID, Page: l.Page, Code: check.Code(l.Code), Link: l.Link, Reason: l.Reason, Line: in.line}
	switch {
	case len(l.ID) != 32 || strings.Trim(l.ID, "0123456789abcdef") != "":
		in.fault(damagedHint, "damaged line: id is not a fingerprint of 32 hexadecimal digits")
		return
	case l.Code == "":
		in.fault(damagedHint, "damaged line: code is missing")
		return
	case len(l.Page) > maxPageBytes || len(l.Code)+len(l.Link) > 2*maxLinkBytes || len(l.Reason) > MaxReasonBytes:
		in.fault("", "longer than any line that sitelink writes; a reason has at most %d bytes", MaxReasonBytes)
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

// end checks the file as a whole.
func (in *parser) end() {
	if !in.header && len(in.faults) == 0 {
		in.line = 0
		in.fault("create one with sitelink baseline write", "not a baseline: the line %s is missing", header)
	}
}

// header is the first line of a baseline file.
var header = fmt.Sprintf(`{"sitelink-baseline":%d}`, version)

// Write writes b in the format that [Read] reads: the header, then one entry on
// each line, sorted. Equal entries give equal bytes. Errors are those of w, or
// that b is larger than [MaxBytes].
func (b *List) Write(w io.Writer) error {
	var buf bytes.Buffer
	buf.WriteString(header + "\n")
	enc := json.NewEncoder(text.JSONWriter(&buf))
	enc.SetEscapeHTML(false) // links are full of &
	size := 0
	for _, e := range b.Entries() {
		if err := enc.Encode(line{Page: e.Page, Code: string(e.Code), Link: e.Link, Expires: string(e.Expires), Reason: e.Reason, ID: e.ID}); err != nil {
			return fmt.Errorf("write baseline: %w", err)
		}
		if size+buf.Len() > MaxBytes {
			return fmt.Errorf("write baseline: %d entries take more than %d MiB; use an ignore rule to accept many findings at once", b.Len(), MaxBytes>>20)
		}
		if buf.Len() >= 64<<10 {
			size += buf.Len()
			if _, err := buf.WriteTo(w); err != nil {
				return fmt.Errorf("write baseline: %w", err)
			}
		}
	}
	if _, err := buf.WriteTo(w); err != nil {
		return fmt.Errorf("write baseline: %w", err)
	}
	return nil
}
