// Package report writes what sitelink found: the findings of a check, the plan
// and the outcomes of notices, and lists of links. A function for each format
// writes to an io.Writer; [ByName] finds the formats of a check's result by the
// name that --format takes. docs/reference/formats.md describes every format,
// field and code.
//
// The package sorts nothing and reads no clock: the same result gives the same
// bytes. It opens no file but those below [Options].Root, and decides no exit code. Text of the site reaches a
// terminal quoted, without control characters.
package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/sitelink/sitelink/check"
)

// Format is one format for the result of a check.
//
// Each format is a row of the table below. To add one, write a function of the
// type of Write, and add a row here, its name to the values of the key format
// (internal/config/format.go), its section in docs/reference/formats.md, and
// its golden tests. What it needs besides the result is a field of [Options]
// that the command sets. Tests compare the lists.
type Format struct {
	// Name is the value of --format.
	Name string
	// For says who reads the format, for the manual: lower case, no full stop.
	For string
	// Groups reports whether the format uses Options.GroupBy. Otherwise it has
	// the order of the findings.
	Groups bool
	// Lists reports whether `check --show all` can list every link in this
	// format.
	Lists bool
	// Summary reports whether the report contains the summary and the notes
	// about the whole run.
	Summary bool
	// Extras reports whether the report shows Options.Extras, which take time
	// to collect.
	Extras bool
	// Write writes the report of r to w. It neither changes r nor keeps it. The
	// only errors are those of w, wrapped. The same r and options give the same
	// bytes.
	Write func(w io.Writer, r *check.Result, opt Options) error
}

// Options are what formats need besides the result. The zero value works for
// every format. No format uses all of them.
type Options struct {
	// TextOptions say how positions and colours look in text.
	TextOptions
	// Base is the docroot relative to the root of the project, a slash path
	// such as public: the file of a page is Base/page. GitHub, GitLab and SARIF
	// need paths relative to that root. "" or "." if both are the same
	// directory.
	Base string
	// GroupBy is the grouping for formats that group.
	GroupBy GroupBy
	// Owners returns the owners of a file, a path relative to the root of the
	// project: "@docs-team", several separated by ", ", "" for none. nil if
	// there are no owners at all.
	Owners func(path string) string
	// WarningsFail reports whether a warning fails the run, for formats that
	// only know passed and failed.
	WarningsFail bool
	// Version is the version of sitelink, such as v1.2.3; "" if unknown.
	Version string
	// BaseURL is the address of the site, and Date the day of the report as
	// YYYY-MM-DD. "" leaves them out.
	BaseURL, Date string
	// SourceLinks is the address of a line of a source file of the project, with
	// {file}, {line} and {column} in it; "" for none. {file} is a slash path
	// relative to the root of the project.
	SourceLinks string
	// Root is the root of the project. The format html shows lines of files below it; "" shows
	// none.
	Root string
	// IsLinked reports whether SourceLinks leads to what a file is now; nil means
	// that it does for each.
	IsLinked func(file string) bool
	// Extras are shown by some formats only.
	Extras Extras
}

// GroupBy says how the findings of a report are grouped.
type GroupBy uint8

const (
	// GroupCause gives one entry to each cause, the worst first.
	GroupCause GroupBy = iota
	// GroupPage groups by the page with the link, in the order of the findings.
	GroupPage
	// GroupTarget groups by what the link leads to, most pages first.
	GroupTarget
	// GroupCode groups by code, errors first, then most findings first.
	GroupCode
	// GroupOwner groups by the owner of the source file, or of the page if the
	// source is not known: most findings first, findings without owner last.
	GroupOwner
)

var groupNames = [...]string{"cause", "page", "target", "code", "owner"}

// GroupNamed returns the grouping with that name, GroupCause for any other name.
func GroupNamed(name string) GroupBy { return GroupBy(max(0, slices.Index(groupNames[:], name))) }

// Formats lists the formats in the order of the manual.
var Formats = []Format{
	{Name: "text", For: "people, editors", Groups: true, Lists: true, Summary: true,
		Write: func(w io.Writer, r *check.Result, opt Options) error {
			if opt.GroupBy == GroupCause {
				return Text(w, r, opt.TextOptions)
			}
			return TextGroups(w, r, opt)
		}},
	{Name: "json", For: "programs that want everything", Summary: true,
		Write: JSON},
	{Name: "jsonl", For: "programs that read as they go", Lists: true,
		Write: JSONL},
	{Name: "markdown", For: "comments on pull requests, job summaries", Groups: true, Summary: true, Write: Markdown},
	{Name: "github", For: "annotations of GitHub Actions", Write: GitHub},
	{Name: "sarif", For: "GitHub code scanning, editors", Write: SARIF},
	{Name: "junit", For: "test reports of Jenkins, GitLab, Azure", Summary: true, Write: JUnit},
	{Name: "gitlab", For: "code quality of GitLab merge requests", Write: GitLab},
	{Name: "checkstyle", For: "Jenkins, reviewdog, older tools", Write: Checkstyle},
	{Name: "html", For: "people who search and sort; one file to keep or send", Summary: true, Extras: true, Write: HTML},
}

// ByName returns the format with that name.
func ByName(name string) (Format, bool) {
	i := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return Formats[i], true
}

// flushBytes is the buffer size at which output is written.
const flushBytes = 64 << 10

// sink collects output and writes it to w in large pieces. It keeps the first
// error and writes nothing after it.
type sink struct {
	w   io.Writer
	buf []byte
	err error
}

// say appends formatted text.
func (s *sink) say(format string, args ...any) { s.buf = fmt.Appendf(s.buf, format, args...) }

// drain writes the buffer once it is large, so that the largest finding bounds
// the memory.
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
		s.buf = nil // free the space of one huge attribute
	}
	s.buf = s.buf[:0]
	return s.err
}
