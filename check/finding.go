package check

import (
	"fmt"

	"github.com/sitelink/sitelink/internal/docroot"
)

// Verdict is the judgement on one link.
type Verdict uint8

const (
	// OK: a visitor who follows the link gets what it asks for.
	OK Verdict = iota
	// Error: the link is broken on the site's host.
	Error
	// Warning: the link works, or may work, but somebody should look.
	Warning
	// Unchecked: nothing was decided; [Finding.Code] says why.
	Unchecked
)

var verdictNames = [...]string{"ok", "error", "warning", "unchecked"}

// String returns the verdict as it stands in reports: ok, error, warning or
// unchecked.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return fmt.Sprintf("verdict(%d)", uint8(v))
}

// Finding is one link (or one fault of a file) with its judgement. It is also
// the row of `check --show all`, where links that are fine have Verdict OK.
type Finding struct {
	// Page is the docroot-relative slash path of the file that holds the link.
	Page string
	// Line and Column count from 1; Column in Unicode code points. They name
	// the first character of the attribute's value.
	Line, Column int
	// Offset counts bytes from the start of the file.
	Offset int64
	// Element and Attribute are lower case; Attribute is empty where the
	// element's text holds the link (style, JSON-LD). Both are empty for a
	// fault of the file itself, such as unclosed-comment.
	Element, Attribute string
	// Raw is the value as the DOM has it: character references decoded, not
	// trimmed; for srcset one candidate's URL.
	Raw string
	// Target is the site path as it would be requested (/a/b.html?q), or the
	// absolute URL of an external link; empty where there is none.
	Target string
	// Fragment is what stands behind # in the resolved URL.
	Fragment string
	Verdict  Verdict
	// Code says why; empty when the link is fine.
	Code Code
	// Status is what the host would finally answer, 0 when not known.
	Status int
	// Final is the site path that answers after the host's redirects, when it
	// is not Target.
	Final string
	// File is the docroot-relative path of the file that answers for a
	// directory (LL-85), empty otherwise.
	File string
	// Source is the place in the authoring sources, where known.
	Source *Position
	// Related is a place in the authoring sources that helps to mend the link,
	// where known: the heading that Suggestion leads to.
	Related *Related
	// Suggestion is what the author most likely meant, ready to be written in
	// place of Raw; empty when nothing is near.
	Suggestion string
	// Message says in one line what is wrong, for a person.
	Message string
	// Count is the number of links this finding stands for: 1, or more for
	// those reported once per target (script-fragment).
	Count int

	// about tells faults of one file with the same code apart: the text of the
	// rule, say. See [Fingerprints].
	about string
	was   Code           // the code that an entry would have as a plain link
	node  docroot.NodeID // the file that answers or was meant
	based bool           // the page has a base element
}

// Reason is one line of the summary's "not checked" list.
type Reason struct {
	Code  Code
	Count int
}

// Summary counts what a run saw. Every link is in exactly one of OK, Errors,
// Warnings, Unchecked and Ignored, or accepted by the Baseline; faults of files
// (see [Finding.Element]) count in FileErrors and FileWarnings instead.
type Summary struct {
	Docroot string
	Profile string
	// ProfileFrom names the file that told the profile; empty when it was
	// chosen.
	ProfileFrom string
	// Files are all files of the docroot, Pages those parsed as HTML.
	Files, Pages int
	// Bytes is the size of all files read.
	Bytes int64
	// Links are all link occurrences; Anchors all names that fragments can hit.
	Links, Anchors int
	OK             int
	Errors         int
	Warnings       int
	Unchecked      int
	Ignored        int
	FileErrors     int
	FileWarnings   int
	// Canonical is the number of pages that name another page of the site as
	// their address.
	Canonical int
	// Read counts the other files that were read for links, by kind; NotRead
	// those that might hold some and were not, by reason. Both are sorted, and
	// hold no zero.
	Read, NotRead []KindCount
	// ServerPages is the number of pages that `hugo server` wrote. Such a docroot
	// is not what is to be published: whoever deploys refuses it, see [Deployable].
	ServerPages int
	// Notes say, for a person, what would make the check see more.
	Notes []string
	// Redirected is the number of OK links answered after a redirect of the
	// host itself, such as /dir to /dir/.
	Redirected int
	// Reasons splits Unchecked by code, most frequent first, then by code.
	Reasons []Reason
	// UnusedIgnores are the ignore rules that matched nothing, as written.
	UnusedIgnores []string
	// Baseline is what a list of accepted findings did, nil without one.
	Baseline *Baseline
	// Skipped are the pages and directory listings that a link leads to and
	// whose own links were left out by From, Skip or Limit: their paths, a
	// listing's with a slash at its end, sorted (LL-21). Pages left out do not
	// count in Pages, Bytes, Links and Anchors.
	Skipped []string
}

// Result is what [Run] found.
type Result struct {
	// scripts: fragments that only scripts can serve were reported.
	scripts bool
	// Findings holds errors and warnings, sorted by page, offset and code.
	Findings []Finding
	Summary  Summary
}

// HasErrors tells whether any finding is an error.
func (r *Result) HasErrors() bool { return r.Summary.Errors+r.Summary.FileErrors > 0 }

// HasWarnings tells whether any finding is a warning.
func (r *Result) HasWarnings() bool {
	return r.scripts || r.Summary.Warnings+r.Summary.FileWarnings > 0
}
