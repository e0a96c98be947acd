// Package report turns what [check.Run] found into bytes: text for a person,
// JSON and JSON Lines for programs. docs/reference/formats.md describes every format,
// field and code.
//
// A [check.Result] enters, bytes on an [io.Writer] leave. The package sorts
// nothing and reads no clock: the same result gives the same bytes. It opens
// no file and decides no exit code. Nothing that a page contains reaches a
// terminal unquoted.
package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/sitelink/sitelink/check"
)

// Format is one form in which a report leaves.
//
// Every format is a row of the table below and a file of its own, named for
// it. A new one joins with a function of the type of Write, a row
// here, its name among the values of the key format (internal/config/format.go),
// its place in docs/reference/formats.md, and its own golden tests;
// what it needs beside the result is a field of [Options] that the command
// fills. Tests hold the lists together.
type Format struct {
	// Name is what --format takes.
	Name string
	// For says who reads it, for the manual: lower case, no full stop.
	For string
	// Groups tells whether the format obeys Options.GroupBy. Its order is that
	// of the findings where it does not.
	Groups bool
	// Lists tells whether `check --show all` can list every link in it.
	Lists bool
	// Summary tells whether the report has the summary, and so what is worth
	// saying of the run as a whole.
	Summary bool
	// Extras tells whether the report shows Options.Extras, which cost the
	// command some work.
	Extras bool
	// Write writes the whole report of r to w. It neither changes nor keeps r.
	// The only errors are those of w, wrapped. The same r and options give the
	// same bytes.
	Write func(w io.Writer, r *check.Result, opt Options) error
}

// Options are what a format may want to know beside the result. The zero value
// is good for every format. No format looks at all of them.
type Options struct {
	// TextOptions say how places and colours look in text.
	TextOptions
	// Base is the docroot as seen from the root of the project, a slash path
	// such as public: a page is the file Base/page there. GitHub, GitLab and
	// SARIF want paths relative to that root. Empty or "." when they are the
	// same directory.
	Base string
	// GroupBy arranges the formats that group; the zero value is GroupPage.
	GroupBy GroupBy
	// Owners returns who answers for a file, a path relative to the root of the
	// project: "@docs-team", several with ", " between them, "" for nobody. Nil
	// when nobody is named for anything.
	Owners func(path string) string
	// WarningsFail tells whether a warning fails the run, for formats that know
	// only passed and failed.
	WarningsFail bool
	// Version is the version of sitelink, such as v1.2.3; empty when unknown.
	Version string
	// Extras is what only some formats show.
	Extras Extras
}

// GroupBy says what the findings of a report are gathered under.
type GroupBy uint8

const (
	// GroupPage: the page that holds the link, as the findings are sorted.
	GroupPage GroupBy = iota
	// GroupTarget: what the link leads to, most pages first.
	GroupTarget
	// GroupCode: the code, errors first, then most findings first.
	GroupCode
	// GroupOwner: who answers for the source file, or for the page where that
	// is not known; most findings first, those without owner last.
	GroupOwner
)

var groupNames = [...]string{"page", "target", "code", "owner"}

// String returns the word that --group-by takes.
func (g GroupBy) String() string { return groupNames[g] }

// GroupNamed returns the grouping of that name, GroupPage for any other.
func GroupNamed(name string) GroupBy { return GroupBy(max(0, slices.Index(groupNames[:], name))) }

// formats is the table of formats, in the order of the manual.
var formats = []Format{
	{Name: "text", For: "people, editors", Groups: true, Lists: true, Summary: true,
		Write: func(w io.Writer, r *check.Result, opt Options) error {
			if opt.GroupBy == GroupPage {
				return Text(w, r, opt.TextOptions)
			}
			return TextGroups(w, r, opt)
		}},
	{Name: "json", For: "programs that want everything", Summary: true,
		Write: func(w io.Writer, r *check.Result, _ Options) error { return JSON(w, r) }},
	{Name: "jsonl", For: "programs that read as they go", Lists: true,
		Write: func(w io.Writer, r *check.Result, _ Options) error { return JSONL(w, r) }},
	{Name: "markdown", For: "comments on pull requests, job summaries", Groups: true, Summary: true, Write: Markdown},
	{Name: "github", For: "annotations of GitHub Actions", Write: GitHub},
	{Name: "sarif", For: "GitHub code scanning, editors", Write: SARIF},
	{Name: "junit", For: "test reports of Jenkins, GitLab, Azure", Summary: true, Write: JUnit},
	{Name: "gitlab", For: "code quality of GitLab merge requests", Write: GitLab},
	{Name: "checkstyle", For: "Jenkins, reviewdog, older tools", Write: Checkstyle},
	{Name: "html", For: "people who search and sort; one file to keep or send", Summary: true, Extras: true, Write: HTML},
}

// Formats returns all formats in the order of the manual.
func Formats() []Format { return slices.Clone(formats) }

// ByName returns the format of that name.
func ByName(name string) (Format, bool) {
	i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return formats[i], true
}

// flushBytes is the size at which buffered output goes to the writer.
const flushBytes = 64 << 10

// sink collects appended bytes and hands them to w in large pieces. The first
// error sticks and ends all writing.
type sink struct {
	w   io.Writer
	buf []byte
	err error
}

// drain writes the buffer once it is large, so that memory stays bounded by
// the largest finding.
func (s *sink) drain() error {
	if len(s.buf) >= flushBytes {
		return s.flush()
	}
	return s.err
}

func (s *sink) flush() error {
	if s.err == nil && len(s.buf) > 0 {
		if _, err := s.w.Write(s.buf); err != nil {
			s.err = fmt.Errorf("write report: %w", err)
		}
	}
	if cap(s.buf) > 16*flushBytes {
		s.buf = nil // one giant attribute must not stay allocated for the rest
	}
	s.buf = s.buf[:0]
	return s.err
}
