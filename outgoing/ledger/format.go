package ledger

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
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

// Write writes a snapshot as a ledger file: sorted JSON Lines, of which the first
// has the version and the base URL of the site. The only errors are those of w.
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
	e := json.NewEncoder(w)
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

// rowKind is the kind of a row. Rows are sorted by kind first.
type rowKind uint8

const (
	noRow rowKind = iota
	headerRow
	pageRow
	linkRow
	noticeRow
	hostRow
)

// String returns the name of the kind for messages.
func (k rowKind) String() string {
	return [...]string{"no row", "the first line", "a page", "a link", "a notice", "an unsupported host"}[k]
}

// row is a line of a ledger of any kind. It has the fields of all of them.
type row struct {
	Sitelink string `json:"sitelink"`
	Version  int    `json:"version"`
	Base     string `json:"base"`
	counts
	Page        string    `json:"page"`
	Hash        string    `json:"hash"`
	Links       int       `json:"links"`
	Gone        bool      `json:"gone"`
	Replacement string    `json:"replacement"`
	Source      string    `json:"source"`
	Target      string    `json:"target"`
	Protocol    Protocol  `json:"protocol"`
	Event       Event     `json:"event"`
	State       State     `json:"state"`
	Endpoint    string    `json:"endpoint"`
	Status      int       `json:"status"`
	Fault       *int      `json:"fault"`
	Message     string    `json:"message"`
	Problems    string    `json:"problems"`
	Cure        string    `json:"cure"`
	Location    string    `json:"location"`
	Attempts    int       `json:"attempts"`
	Tried       time.Time `json:"tried"`
	Next        time.Time `json:"next"`
	Runner      string    `json:"runner"`
	Lease       time.Time `json:"lease"`
	Origin      string    `json:"origin"`
	Until       time.Time `json:"until"`
}

func (r *row) kind() rowKind {
	switch {
	case r.Sitelink != "":
		return headerRow
	case r.Page != "":
		return pageRow
	case r.Origin != "":
		return hostRow
	case r.Event != "" || r.State != "":
		return noticeRow
	case r.Source != "" || r.Target != "":
		return linkRow
	}
	return noRow
}

func (r *row) page() Page { return Page{r.Page, r.Hash, r.Gone, r.Replacement} }
func (r *row) link() Link { return Link{r.Source, r.Target} }

func (r *row) notice() Notice {
	return Notice{
		Key: Key{r.Source, r.Target, r.Protocol}, Event: r.Event, Replacement: r.Replacement, Hash: r.Hash, State: r.State,
		Endpoint: r.Endpoint, Status: r.Status, Fault: r.Fault, Message: r.Message, Problems: r.Problems, Cure: r.Cure, Location: r.Location, Attempts: r.Attempts,
		Tried: r.Tried, Next: r.Next, Runner: r.Runner, Lease: r.Lease,
	}
}

func (r *row) host() UnsupportedHost { return UnsupportedHost{r.Origin, r.Protocol, r.Until} }

// decodeRow reads a line of a ledger.
func decodeRow(line string) (r row, err error) {
	text, err := withoutSum(line)
	if err == nil {
		err = decode(text, &r)
	}
	if err == nil {
		r.Tried, r.Next, r.Lease, r.Until = toSeconds(r.Tried), toSeconds(r.Next), toSeconds(r.Lease), toSeconds(r.Until)
		return r, r.check()
	}
	// The first line of a newer version may have fields that are unknown here.
	var first header
	if json.Unmarshal([]byte(line), &first) == nil && first.Sitelink != "" && first.Version > version {
		return row{Sitelink: first.Sitelink, Version: first.Version}, nil
	}
	return row{}, err
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
		return fmt.Errorf("%s: want %s, got %s", wrong.Field, wrong.Type.Kind(), wrong.Value)
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

// check requires the fields of the row's kind and refuses those of other kinds.
func (r *row) check() error {
	kind := r.kind()
	var only row // the fields that the kind has
	missing := false
	switch kind {
	case headerRow:
		only = row{Sitelink: r.Sitelink, Version: r.Version, Base: r.Base, counts: r.counts}
		if r.Version > version {
			return nil // it may have more fields
		}
	case pageRow:
		only = row{Page: r.Page, Hash: r.Hash, Links: r.Links, Gone: r.Gone, Replacement: r.Replacement}
	case hostRow:
		only = row{Origin: r.Origin, Protocol: r.Protocol, Until: r.Until}
		missing = r.Protocol == "" || r.Until.IsZero()
	case noticeRow:
		only = *r
		only.Version, only.Base, only.counts, only.Links, only.Gone, only.Until = 0, "", counts{}, 0, false, time.Time{}
		n := r.notice()
		if err := n.check(); err != nil {
			return err
		}
	default:
		kind = linkRow
		only = row{Source: r.Source, Target: r.Target}
		missing = r.Source == "" || r.Target == ""
	}
	switch {
	case missing:
		return fmt.Errorf("%s lacks a required field", kind)
	case *r != only:
		return fmt.Errorf("%s has a field of another kind of row", kind)
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

// before reports whether the row comes before next in a sorted file.
func (r *row) before(next *row) bool {
	a, b := r.kind(), next.kind()
	if a != b {
		return a < b
	}
	switch a {
	case pageRow:
		return r.Page < next.Page
	case linkRow, noticeRow:
		return CompareKeys(Key{r.Source, r.Target, r.Protocol}, Key{next.Source, next.Target, next.Protocol}) < 0
	case hostRow:
		return compareHosts(r.host(), next.host()) < 0
	}
	return false
}
