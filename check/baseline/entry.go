package baseline

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/sitelink/sitelink/check"
)

// Entry is one accepted finding.
type Entry struct {
	// ID is the finding's fingerprint, see [check.Fingerprints]. It alone
	// decides what the entry accepts.
	ID string
	// Page, Code and Link tell a reader what was accepted: Link is the target
	// with its fragment, or the value as written where there is no target, or
	// what is wrong with the file. They are as they were when the entry was
	// written.
	Page string
	Code check.Code
	Link string
	// Expires is the last day on which the entry counts, "" for no end.
	Expires Date
	// Reason says why, for the next reader; may be empty.
	Reason string
	// Line is the line of the file that the entry was read from, 0 for none.
	Line int
}

// maxLinkBytes bounds Link: it is for people, and a data: URL may have
// megabytes.
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

// Expired tells whether the entry no longer counts on the day today.
func (e *Entry) Expired(today Date) bool { return e.Expires != "" && e.Expires < today }

// String describes the entry in a few words, without its date and reason.
func (e *Entry) String() string {
	return strings.TrimRight(e.Page+": "+string(e.Code)+" "+e.Link, " ")
}

// compareEntries is the order of a file: that of a report, as far as an entry
// knows it, so that a page's entries stand together in a diff.
func compareEntries(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.Page, b.Page), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Link, b.Link), cmp.Compare(a.ID, b.ID))
}

// lasting returns the one of two entries for the same finding that counts: the
// one that accepts it longer. Which of them was read first does not matter.
func lasting(a, b Entry) Entry {
	end := func(e Entry) Date { return cmp.Or(e.Expires, "~") } // sorts behind every date
	if cmp.Or(cmp.Compare(end(a), end(b)), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Page, b.Page), cmp.Compare(b.Line, a.Line)) >= 0 {
		return a
	}
	return b
}
