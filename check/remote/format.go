package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/text"
)

// schema is the version of the file format, and of each row. A row of version 1 stood
// for all spellings of its URL, although only one had been asked for.
const schema = 2

// formatName is the word in the first line that identifies a status cache.
const formatName = "status-cache"

// headerLine is the first line of a cache.
const headerLine = `{"sitelink":"` + formatName + `","schema":2}`

// newerError means that a header has a schema that is not known here.
type newerError struct{ schema int }

func (e *newerError) Error() string { return fmt.Sprintf("schema %d", e.schema) }

// row is a line of the cache.
type row struct {
	URL     string `json:"url"`
	Schema  int    `json:"v,omitempty"`
	Verdict string `json:"verdict"`
	Record
}

// appendRow appends the line of a record, without line end.
func appendRow(dst []byte, r *Record) []byte {
	w := writers.Get().(*rowWriter)
	defer writers.Put(w)
	w.buf.Reset()
	w.row = row{URL: r.URL, Schema: schema, Verdict: r.Verdict.String(), Record: *r}
	w.row.ETag, w.row.LastModified = valid(r.ETag), valid(r.LastModified)
	if err := w.json.Encode(&w.row); err != nil {
		panic(err) // rows only have fields that JSON can represent
	}
	return append(dst, bytes.TrimSuffix(w.buf.Bytes(), []byte("\n"))...)
}

// rowWriter is what writing a row needs. There may be a million rows.
type rowWriter struct {
	row  row
	buf  bytes.Buffer
	json *json.Encoder
}

var writers = sync.Pool{New: func() any {
	w := &rowWriter{}
	w.json = json.NewEncoder(text.JSONWriter(&w.buf))
	w.json.SetEscapeHTML(false) // people read and search these files
	return w
}}

// valid returns a field that a host sent, or "" if JSON would change it: it is sent
// back as it is or not at all.
func valid(field string) string {
	if !utf8.ValidString(field) {
		return ""
	}
	return field
}

// parseLine reads the header or a row. It returns an empty record for the
// header.
func parseLine(line string) (Record, error) {
	if !strings.HasPrefix(line, `{"sitelink":`) {
		return parseRow(line)
	}
	var h struct {
		Sitelink string `json:"sitelink"`
		Schema   int    `json:"schema"`
	}
	if err := json.Unmarshal([]byte(line), &h); err != nil {
		return Record{}, errors.New("not a valid first line")
	}
	switch {
	case h.Sitelink != formatName:
		return Record{}, fmt.Errorf("the first line of a %q, not of a status cache", h.Sitelink)
	case h.Schema > schema:
		return Record{}, &newerError{h.Schema}
	}
	return Record{}, nil
}

// parseRow reads a row.
func parseRow(line string) (Record, error) {
	if !utf8.ValidString(line) {
		return Record{}, errors.New("the line is not UTF-8")
	}
	w, plain := plainRow(line)
	if !plain {
		decoded, err := decodeRow(line)
		if err != nil {
			return Record{}, err
		}
		w = *decoded
	}
	if w.URL == "" || w.Asked.IsZero() {
		return Record{}, errors.New("the row has no url or no asked")
	}
	r := w.Record
	if w.Schema < 2 { // the rest may be about another spelling
		r = Record{
			Code: w.Code, Reason: w.Reason, Status: w.Status, Strikes: w.Strikes, Since: w.Since, Struck: w.Struck,
			WasGone: w.WasGone, Asked: time.Unix(0, 0), Good: w.Good, Next: w.Next, Changed: w.Changed, Title: w.Title,
		}
		if w.Code == check.Moved {
			w.Verdict, r.Code = check.OK.String(), ""
		}
	}
	r.URL, r.Strikes = w.URL, max(r.Strikes, 0)
	for _, at := range []*time.Time{&r.Since, &r.Struck, &r.Asked, &r.Good, &r.Next, &r.Changed, &r.Probed, &r.Searched} {
		*at = seconds(*at)
	}
	for v := check.OK; v <= check.Unchecked; v++ {
		if v.String() == w.Verdict {
			r.Verdict = v
			return r, r.check()
		}
	}
	return Record{}, fmt.Errorf("unknown verdict %q", w.Verdict)
}

// decodeRow reads any row. It is apart so that a plain row stays on the stack.
func decodeRow(line string) (*row, error) {
	w := &row{}
	d := json.NewDecoder(strings.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(w); err != nil {
		if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return nil, fmt.Errorf("unknown field %s", field)
		}
		return nil, errors.New("not a valid JSON object")
	}
	if strings.TrimSpace(line[d.InputOffset():]) != "" {
		return nil, errors.New("text after the object")
	}
	return w, nil
}

// plainRow reads a row with the fields that most rows have, without spaces and escapes other
// than of quotes.
// There may be a million rows, and package json takes twenty times as long.
func plainRow(line string) (w row, ok bool) {
	rest, ok := strings.CutPrefix(line, "{")
	for ok {
		name, after, found := strings.Cut(rest, `":`)
		if !found || len(name) < 2 || name[0] != '"' {
			return w, false
		}
		name, rest = name[1:], after
		var value string
		isText := strings.HasPrefix(rest, `"`)
		if isText {
			rest = rest[1:]
			end := strings.IndexByte(rest, '"')
			for end > 0 && rest[end-1] == '\\' { // as in most ETags
				next := strings.IndexByte(rest[end+1:], '"')
				if next < 0 {
					return w, false
				}
				end += 1 + next
			}
			if ok = end >= 0; ok {
				value, rest = strings.ReplaceAll(rest[:end], `\"`, `"`), rest[end+1:]
			}
		} else {
			end := strings.IndexAny(rest, ",}")
			ok = end >= 0
			if ok {
				value, rest = rest[:end], rest[end:]
			}
		}
		if !ok || rest == "" {
			return w, false
		}
		for i := range len(value) {
			if value[i] == '\\' || value[i] < ' ' {
				return w, false
			}
		}
		ok = plainField(&w, name, value, isText)
		end := rest[0]
		rest = rest[1:]
		if end == '}' {
			return w, ok && rest == ""
		}
		ok = ok && end == ','
	}
	return w, false
}

// plainField sets a field of a row. It returns false for one that package json has to read.
func plainField(w *row, name, value string, isText bool) bool {
	var number *int
	var when *time.Time
	switch name {
	case "url":
		w.URL = value
	case "verdict":
		w.Verdict = value
	case "code":
		w.Code = check.Code(value)
	case "reason":
		w.Reason = Reason(value)
	case "final":
		w.Final = value
	case "etag":
		w.ETag = value
	case "last_modified":
		w.LastModified = value
	case "hash":
		w.Hash = value
	case "answered":
		w.Answered = value
	case "title":
		w.Title = value
	case "v":
		number = &w.Schema
	case "status":
		number = &w.Status
	case "strikes":
		number = &w.Strikes
	case "gone":
		w.WasGone = value == "true"
		return !isText && w.WasGone
	case "since":
		when = &w.Since
	case "struck":
		when = &w.Struck
	case "asked":
		when = &w.Asked
	case "good":
		when = &w.Good
	case "next":
		when = &w.Next
	case "changed":
		when = &w.Changed
	default:
		return false
	}
	var err error
	switch {
	case number != nil:
		*number, err = strconv.Atoi(value)
		return !isText && err == nil && value == strconv.Itoa(*number)
	case when != nil:
		*when, err = time.Parse(time.RFC3339, value)
		return isText && err == nil
	}
	return isText
}

// check refuses a record if its code does not belong to its verdict.
func (r *Record) check() error {
	want := check.OK
	switch r.Code {
	case "":
	case check.DeadLink:
		want = check.Error
	case check.Doubtful, check.Moved:
		want = check.Warning
	case check.Blocked:
		want = check.Unchecked
	default:
		return fmt.Errorf("unknown code %q", r.Code)
	}
	if r.Verdict != want {
		return fmt.Errorf("the verdict of code %q is %s, not %s", r.Code, want, r.Verdict)
	}
	if _, known := effects[r.Reason]; !known {
		return fmt.Errorf("unknown reason %q", r.Reason)
	}
	return nil
}

// keyIn returns the part of a line that is its URL, so that both share memory.
func keyIn(line, url string) string {
	const start = `{"url":"`
	if strings.HasPrefix(line, start+url+`"`) {
		return line[len(start) : len(start)+len(url)]
	}
	return url
}
