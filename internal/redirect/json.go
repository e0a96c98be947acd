package redirect

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"

	"github.com/sitelink/sitelink/internal/text"
)

// elementLines finds the lines of the elements of arrays in a JSON text.
type elementLines struct {
	text []byte
	at   int // after the last element
	lineIndex
}

func jsonLines(data []byte) *elementLines {
	return &elementLines{text: data, lineIndex: newLineIndex(data)}
}

// rulePath matches the member that holds the path that a rule is for.
var rulePath = text.Regexp(`(?i)"(?:source|src|regex|glob)"\s*:`)

// of returns the line of element i of the array with a name: that of the member with
// the path it is for, if it has one. It is asked for the elements in order. Where the
// text holds the same element earlier in an array of the same name, it returns that.
func (l *elementLines) of(array string, i int, element json.RawMessage) int {
	if i == 0 {
		l.at = 0
		if at := regexp.MustCompile(`(?i)"` + array + `"\s*:`).FindIndex(l.text); at != nil {
			l.at = at[1]
		}
	}
	l.at += max(0, bytes.Index(l.text[l.at:], element))
	line := l.line(l.at)
	if path := rulePath().FindIndex(element); path != nil {
		line = l.line(l.at + path[0])
	}
	l.at += len(element)
	return line
}

// decode reads an element; ok is false if it has another form, which is a fault.
func decode[T any](f *File, raw json.RawMessage, line int, what string) (in T, ok bool) {
	err := json.Unmarshal(raw, &in)
	if err != nil {
		f.fault(CodeSyntax, Error, line, oneLine(raw), "the "+what+" cannot be read: "+err.Error())
	}
	return in, err == nil
}

// jsonFault adds a fault for a JSON text that cannot be parsed, with the line.
func (f *File) jsonFault(data []byte, err error) {
	line := 1
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch index := newLineIndex(data); {
	case errors.As(err, &syntax):
		line = index.line(int(syntax.Offset) - 1)
	case errors.As(err, &mismatch):
		line = index.line(int(mismatch.Offset) - 1)
	}
	f.fault(CodeSyntax, Error, line, "", "the file cannot be read: "+err.Error())
}

// oneLine returns the text of a JSON value for a report.
func oneLine(raw json.RawMessage) string {
	var out bytes.Buffer
	if len(raw) > 1<<16 || json.Compact(&out, raw) != nil {
		return clip(string(raw[:min(len(raw), maxText+1)]))
	}
	return clip(out.String())
}
