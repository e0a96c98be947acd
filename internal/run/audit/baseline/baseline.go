// Package baseline keeps a list of accepted findings in a file. A run reports only the findings
// that are not in it.
package baseline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sitelink/sitelink/check"
)

// List is a list of accepted findings. The zero value accepts nothing.
type List struct {
	entries map[string]Entry // by ID
}

// Len returns the number of entries.
func (b *List) Len() int { return len(b.entries) }

// Entries returns all entries, sorted by page, code, link and ID.
func (b *List) Entries() []Entry {
	return slices.SortedFunc(maps.Values(b.entries), compareEntries)
}

// Entry returns the entry for a fingerprint, if there is one.
func (b *List) Entry(id string) (e Entry, ok bool) {
	e, ok = b.entries[id]
	return e, ok
}

// add adds e, unless there is an entry for the same finding that lasts longer.
func (b *List) add(e Entry) {
	if b.entries == nil {
		b.entries = map[string]Entry{}
	}
	if have, ok := b.entries[e.ID]; ok {
		e = longer(have, e)
	}
	b.entries[e.ID] = e
}

// Terms are the conditions of new entries.
type Terms struct {
	Expires Date   // the last day on which they count, "" for no end
	Reason  string // for the next reader, may be empty
}

// New returns a baseline that accepts findings: all findings of one run, in its
// order.
func New(findings []check.Finding, terms Terms) *List {
	b := &List{}
	for i, id := range check.Fingerprints(findings) {
		e := entryOf(&findings[i], id)
		e.Expires, e.Reason = terms.Expires, terms.Reason
		b.add(e)
	}
	return b
}

// Entry is one accepted finding.
type Entry struct {
	// ID is the finding's fingerprint, see [check.Fingerprints]. It alone
	// decides what the entry accepts.
	ID string
	// Page, Code and Link tell a reader what was accepted, as it was when the
	// entry was written. Link is the target with its fragment, or the value as
	// written where there is no target, or the message of a fault of a file.
	Page string
	Code check.Code
	Link string
	// Expires is the last day on which the entry counts, "" for no end.
	Expires Date
	// Reason tells the next reader why; it may be empty.
	Reason string
	// Line is the line of the file that the entry was read from, 0 for none.
	Line int
}

// maxLinkBytes bounds Link, which is for people: a data: URL may have megabytes.
const maxLinkBytes = 500

// entryOf describes a finding.
func entryOf(f *check.Finding, id string) Entry {
	link := cmp.Or(f.Target, f.Raw, f.Message)
	if f.Target != "" && f.Fragment != "" {
		link += "#" + f.Fragment
	}
	if len(link) > maxLinkBytes {
		cut := maxLinkBytes
		for cut > 0 && !utf8.RuneStart(link[cut]) {
			cut--
		}
		link = link[:cut] + "..."
	}
	return Entry{ID: id, Page: f.Page, Code: f.Code, Link: link}
}

// Expired reports whether the entry no longer counts today.
func (e *Entry) Expired(today Date) bool { return e.Expires != "" && e.Expires < today }

// String describes the entry in a few words, without its date and reason.
func (e *Entry) String() string {
	return strings.TrimRight(e.Page+": "+string(e.Code)+" "+e.Link, " ")
}

// compareEntries is the order of a file. It is that of a report, as far as an
// entry knows it, so that the entries of a page are together in a diff.
func compareEntries(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.Page, b.Page), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Link, b.Link), cmp.Compare(a.ID, b.ID))
}

// longer returns the one of two entries for the same finding that accepts it
// longer. The result does not depend on which of them was read first.
func longer(a, b Entry) Entry {
	end := func(e Entry) Date { return cmp.Or(e.Expires, "~") } // sorts behind every date
	if cmp.Or(cmp.Compare(end(a), end(b)), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Page, b.Page), cmp.Compare(b.Line, a.Line)) >= 0 {
		return a
	}
	return b
}

// Date is a calendar day as YYYY-MM-DD, "" for none. Dates compare like strings.
type Date string

// ParseDate reads a day such as 2027-01-31.
func ParseDate(text string) (Date, error) {
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return "", fmt.Errorf("must be a date such as 2027-01-31, not %q", text)
	}
	return Date(text), nil
}

// DateOf returns the day of t in UTC, so that two machines that check at the same
// time agree on what has expired.
func DateOf(t time.Time) Date { return Date(t.UTC().Format(time.DateOnly)) }
