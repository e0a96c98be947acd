package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// field is a bit for each name that a row may hold.
type field uint32

const (
	fieldSitelink field = 1 << iota
	fieldVersion
	fieldBase
	fieldPage
	fieldHash
	fieldGone
	fieldReplacement
	fieldSource
	fieldTarget
	fieldProtocol
	fieldEvent
	fieldState
	fieldEndpoint
	fieldStatus
	fieldFault
	fieldMessage
	fieldLocation
	fieldAttempts
	fieldTried
	fieldNext
	fieldRunner
	fieldLease
	fieldOrigin
	fieldUntil
)

const (
	headerFields = fieldSitelink | fieldVersion | fieldBase
	pageFields   = fieldPage | fieldHash | fieldGone | fieldReplacement
	linkFields   = fieldSource | fieldTarget
	keyFields    = linkFields | fieldProtocol
	noticeFields = keyFields | fieldEvent | fieldReplacement | fieldHash | fieldState | fieldEndpoint | fieldStatus | fieldFault |
		fieldMessage | fieldLocation | fieldAttempts | fieldTried | fieldNext | fieldRunner | fieldLease
	peerFields = fieldOrigin | fieldProtocol | fieldUntil
)

// row is one line of a ledger, of whatever kind.
type row struct {
	has      field
	sitelink string
	version  int
	base     string
	page     Page
	notice   Notice // and link, whose fields are those of its key
	peer     Peer
}

// parseRow reads a line. The plain way reads what encode writes, in one pass
// and without a copy; anything else is for encoding/json, which finds out what
// is wrong with it.
func parseRow(r *row, line string) error {
	*r = row{}
	if r.plain(line) {
		return r.check()
	}
	*r = row{}
	err := r.careful(line)
	if err == nil {
		return r.check()
	}
	var first struct {
		Sitelink string `json:"sitelink"`
		Version  int    `json:"version"`
	}
	if json.Unmarshal([]byte(line), &first) != nil || first.Version <= version {
		return err
	}
	*r = row{has: fieldSitelink | fieldVersion, sitelink: first.Sitelink, version: first.Version}
	return nil
}

// value is that of a field: a text, or a number or word as it is written.
type value struct {
	text   string
	quoted bool
}

// plain reads {"name":value,...} of strings without escapes, numbers and
// true or false. It tells whether the line is nothing else.
func (r *row) plain(line string) bool {
	i := 0
	if len(line) < 2 || line[0] != '{' {
		return false
	}
	for i = 1; ; i++ {
		name, end := plainString(line, i)
		if end < 0 || end >= len(line) || line[end] != ':' {
			return false
		}
		var v value
		if i = end + 1; i < len(line) && line[i] == '"' {
			if v.text, i = plainString(line, i); i < 0 {
				return false
			}
			v.quoted = true
		} else {
			start := i
			for i < len(line) && (line[i] >= '0' && line[i] <= '9' || line[i] >= 'a' && line[i] <= 'z' || line[i] == '-') {
				i++
			}
			if v.text = line[start:i]; !plainWord(v.text) {
				return false
			}
		}
		if i >= len(line) || r.set(name, v) != nil {
			return false
		}
		switch line[i] {
		case ',':
		case '}':
			return i == len(line)-1
		default:
			return false
		}
	}
}

// plainWord tells whether JSON may hold the word, as far as rows do: true, false
// or a whole number.
func plainWord(s string) bool {
	if s == "true" || s == "false" {
		return true
	}
	n, err := strconv.Atoi(s)
	return err == nil && strconv.Itoa(n) == s
}

// plainString reads the string that begins at line[i], and returns the place
// behind it, or -1.
func plainString(line string, i int) (string, int) {
	if i >= len(line) || line[i] != '"' {
		return "", -1
	}
	start, ascii := i+1, true
	for i = start; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			text := line[start:i]
			if !ascii && !utf8.ValidString(text) {
				return "", -1
			}
			return text, i + 1
		case c == '\\' || c < ' ':
			return "", -1
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return "", -1
}

// careful reads any JSON object.
func (r *row) careful(line string) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(line), &fields); err != nil {
		return fmt.Errorf("no JSON object: %w", err)
	}
	if !utf8.ValidString(line) {
		return errors.New("not UTF-8")
	}
	for name, raw := range fields {
		v := value{text: string(raw)}
		if v.text[0] == '"' {
			v.quoted = true
			if err := json.Unmarshal(raw, &v.text); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if err := r.set(name, v); err != nil {
			return err
		}
	}
	return nil
}

func (r *row) set(name string, v value) error {
	var bit field
	var text *string
	var number *int
	var at *time.Time
	switch name {
	case "sitelink":
		bit, text = fieldSitelink, &r.sitelink
	case "version":
		bit, number = fieldVersion, &r.version
	case "base":
		bit, text = fieldBase, &r.base
	case "page":
		bit, text = fieldPage, &r.page.URL
	case "hash":
		bit, text = fieldHash, &r.page.Hash
	case "gone":
		r.has |= fieldGone
		r.page.Gone = v.text == "true"
		if v.quoted || v.text != "true" && v.text != "false" {
			return errors.New("gone: want true or false")
		}
		return nil
	case "replacement":
		bit, text = fieldReplacement, &r.page.Replacement
	case "source":
		bit, text = fieldSource, &r.notice.Source
	case "target":
		bit, text = fieldTarget, &r.notice.Target
	case "protocol":
		bit, text = fieldProtocol, (*string)(&r.notice.Protocol)
	case "event":
		bit, text = fieldEvent, (*string)(&r.notice.Event)
	case "state":
		bit, text = fieldState, (*string)(&r.notice.State)
	case "endpoint":
		bit, text = fieldEndpoint, &r.notice.Endpoint
	case "status":
		bit, number = fieldStatus, &r.notice.Status
	case "fault":
		r.notice.Fault = new(int)
		bit, number = fieldFault, r.notice.Fault
	case "message":
		bit, text = fieldMessage, &r.notice.Message
	case "location":
		bit, text = fieldLocation, &r.notice.Location
	case "attempts":
		bit, number = fieldAttempts, &r.notice.Attempts
	case "tried":
		bit, at = fieldTried, &r.notice.Tried
	case "next":
		bit, at = fieldNext, &r.notice.Next
	case "runner":
		bit, text = fieldRunner, &r.notice.Runner
	case "lease":
		bit, at = fieldLease, &r.notice.Lease
	case "origin":
		bit, text = fieldOrigin, &r.peer.Origin
	case "until":
		bit, at = fieldUntil, &r.peer.Until
	default:
		return fmt.Errorf("unknown field %q", name)
	}
	r.has |= bit
	var err error
	switch {
	case text != nil && v.quoted:
		*text = v.text
	case text != nil:
		err = errors.New("want a text")
	case number != nil && v.quoted:
		err = errors.New("want a number")
	case number != nil:
		*number, err = strconv.Atoi(v.text)
	case !v.quoted:
		err = errors.New("want a time")
	default:
		*at, err = time.Parse(time.RFC3339, v.text)
		*at = at.UTC().Truncate(time.Second)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// isHeader, isPage, isPeer, isNotice: else it is a link.
func (r *row) isHeader() bool { return r.has&fieldSitelink != 0 }
func (r *row) isPage() bool   { return r.has&fieldPage != 0 }
func (r *row) isPeer() bool   { return r.has&fieldOrigin != 0 }
func (r *row) isNotice() bool { return r.has&(fieldEvent|fieldState) != 0 }

// check demands what a row of its kind needs, and nothing of another kind.
func (r *row) check() error {
	want, may, what := field(0), field(0), ""
	switch {
	case r.isHeader():
		want, may, what = fieldSitelink|fieldVersion, headerFields, "the first line"
	case r.isPage():
		want, may, what = fieldPage, pageFields, "a page"
	case r.isPeer():
		want, may, what = fieldOrigin|fieldProtocol|fieldUntil, peerFields, "a peer"
		r.peer.Protocol = r.notice.Protocol
	case r.isNotice():
		want, may, what = linkFields|fieldEvent|fieldState, noticeFields, "a notice"
		r.notice.Replacement, r.notice.Hash = r.page.Replacement, r.page.Hash
		if err := r.notice.check(); err != nil {
			return err
		}
	default:
		want, may, what = linkFields, linkFields, "a link"
	}
	switch {
	case r.isHeader() && r.version > version:
		return nil // it may have fields that we do not know
	case r.has&want != want:
		return fmt.Errorf("%s lacks a field", what)
	case r.has&^may != 0:
		return fmt.Errorf("%s with fields of something else", what)
	case r.isPage() && r.page.URL == "", r.isPeer() && r.peer.Origin == "", r.has&linkFields != 0 && (r.notice.Source == "" || r.notice.Target == ""):
		return fmt.Errorf("%s without address", what)
	}
	return nil
}

// check refuses words that sitelink does not know.
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
	return nil
}
