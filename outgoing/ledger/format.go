package ledger

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/text"
)

// version is the version of the file format. A file with a higher one is refused.
// Version 1 had neither counts nor checksums.
const version = 2

// formatName is the word in the first line that identifies a ledger.
const formatName = "ledger"

// header is the first line of a ledger.
type header struct {
	Sitelink string `json:"sitelink"`
	Version  int    `json:"version"`
	Base     string `json:"base,omitempty"`
	counts
}

// countedPage is the row of a page, with the number of its links.
type countedPage struct {
	Page
	Links int `json:"links,omitempty"`
}

// Write writes a snapshot as a ledger file: sorted JSON Lines. The first line has
// the version and the base URL of the site. The only errors are those of w.
func Write(w io.Writer, s *Snapshot) error {
	b := newRecords()
	b.base, b.pages, b.links, b.unsupported = s.Base, s.Pages, s.Links, s.Unsupported
	for _, n := range s.Notices {
		b.notices[n.Key] = n.toSeconds()
	}
	return b.write(w)
}

// write writes the records as a file.
func (b *records) write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<18)
	rows := newEncoder(sumWriter{out})
	err := rows.Encode(header{formatName, version, b.base, b.count()})
	for i, links := range b.linkCounts() {
		err = errors.Join(err, rows.Encode(countedPage{b.pages[i], links}))
	}
	err = errors.Join(err, encodeAll(rows, b.links), encodeAll(rows, b.sortedNotices()), encodeAll(rows, b.unsupported))
	return errors.Join(err, out.Flush())
}

// newEncoder returns an encoder that leaves <, > and & as they are: people read
// and search these files.
func newEncoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(text.JSONWriter(w))
	e.SetEscapeHTML(false)
	return e
}

func encodeAll[T any](e *json.Encoder, rows []T) error {
	for i := range rows {
		if err := e.Encode(&rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// rowText returns a row as a line of a ledger, including the line end.
func rowText(row any) string {
	var b strings.Builder
	if err := newEncoder(&b).Encode(row); err != nil {
		panic(err) // rows only have fields that JSON can represent
	}
	return b.String()
}

// decodeRow reads a line of a ledger: a *header, *countedPage, *Link, *Notice or
// *UnsupportedHost. Its fields say which.
func decodeRow(line string) (row any, err error) {
	text, err := withoutSum(line)
	if err == nil {
		switch {
		case hasField(text, "sitelink"):
			row = &header{}
		case hasField(text, "page"):
			row = &countedPage{}
		case hasField(text, "origin"):
			row = &UnsupportedHost{}
		case hasField(text, "event") || hasField(text, "state"):
			row = &Notice{}
		default:
			row = &Link{}
		}
		err = decode(text, row)
	}
	if err != nil {
		// The first line of a newer version may have fields that are unknown here.
		var first header
		if json.Unmarshal([]byte(line), &first) == nil && first.Sitelink != "" && first.Version > version {
			return &first, nil
		}
		return nil, err
	}
	missing := false
	switch r := row.(type) {
	case *countedPage:
		missing = r.URL == ""
	case *Link:
		missing = r.Source == "" || r.Target == ""
	case *Notice:
		*r = r.toSeconds()
		return r, r.check()
	case *UnsupportedHost:
		r.Until = toSeconds(r.Until)
		missing = r.Origin == "" || r.Protocol == "" || r.Until.IsZero()
	}
	if missing {
		return nil, errors.New("the row lacks a required field")
	}
	return row, nil
}

// hasField reports whether a row has a field. In a text, the quotes around the name
// would be escaped.
func hasField(row, name string) bool {
	_, rest, ok := strings.Cut(row, `"`+name+`"`)
	return ok && strings.HasPrefix(strings.TrimLeft(rest, " \t"), ":")
}

// place returns where a row is in a sorted file: rows are sorted by kind first.
func place(row any) (kind int, key Key) {
	switch r := row.(type) {
	case *countedPage:
		return 2, Key{Source: r.URL}
	case *Link:
		return 3, Key{Source: r.Source, Target: r.Target}
	case *Notice:
		return 4, r.Key
	case *UnsupportedHost:
		return 5, Key{Source: r.Origin, Target: string(r.Protocol)}
	}
	return 1, Key{}
}

// decode reads a line that must be one JSON object with the fields of to.
func decode(line string, to any) error {
	if !utf8.ValidString(line) {
		return errors.New("the line is not UTF-8")
	}
	d := json.NewDecoder(strings.NewReader(line))
	d.DisallowUnknownFields()
	err := d.Decode(to)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		if wrong.Field == "" {
			return fmt.Errorf("not a JSON object but a JSON %s", wrong.Value)
		}
		field := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:] // without embedded types
		return fmt.Errorf("%s: want %s, got %s", field, wrong.Type.Kind(), wrong.Value)
	}
	if err == nil && strings.TrimSpace(line[d.InputOffset():]) != "" {
		err = errors.New("text after the object")
	}
	if err != nil {
		if unknown, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return fmt.Errorf("unknown field %s", unknown)
		}
		return fmt.Errorf("not a valid JSON object: %w", err)
	}
	return nil
}

// check refuses a notice without source or target and unknown words.
func (n *Notice) check() error {
	switch n.Event {
	case Added, Updated, Removed, Deleted, Moved:
	default:
		return fmt.Errorf("unknown event %q", n.Event)
	}
	switch n.State {
	case Pending, InFlight, Retry, Done, Accepted, Permanent, NoService, Skipped:
	default:
		return fmt.Errorf("unknown state %q", n.State)
	}
	return n.Key.check()
}

func (k Key) check() error {
	if k.Source == "" || k.Target == "" {
		return errors.New("a notice lacks its source or target")
	}
	return nil
}
