package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/check"
)

const (
	// markdownMaxBytes keeps the report below GitHub's limit for a comment
	// (65,536 characters), with room for what an action adds.
	markdownMaxBytes = 65_000
	// markdownTail is room for the line that counts what is missing.
	markdownTail = 300
	// markdownOpen is the number of findings above which they are folded.
	markdownOpen = 20
)

// Markdown writes r as GitHub Flavored Markdown for a comment or a job summary:
// the counts, then an item for each cause, the worst first, or the findings below
// headings as opt.GroupBy selects, pages with an error first. It is never longer
// than 65,000 bytes; if there is no room for all items, the last line counts the
// rest.
//
// Text of the site is in a code span unless it is plain text: a page cannot
// write links, images, mentions or HTML into the comment.
func Markdown(w io.Writer, r *check.Result, opt Options) error {
	m := markdown{opt: &opt, findings: r.Findings, causes: check.Causes(r.Findings)}
	m.summary(r)
	m.groups(capped(&r.Summary))
	s := sink{w: w, buf: m.buf}
	return s.flush()
}

// markdown is a report under construction. It is built in memory, because its
// size is bounded.
type markdown struct {
	buf      []byte
	opt      *Options
	findings []check.Finding
	causes   []check.Cause
}

func (m *markdown) summary(r *check.Result) {
	s := &r.Summary
	m.buf = append(m.buf, "### sitelink: "...)
	if len(r.Findings) == 0 && !r.HasErrors() && !r.HasWarnings() {
		m.buf = append(m.buf, "all links are fine"...)
	} else {
		m.buf = appendVerdicts(m.buf, r, len(m.causes), false)
	}
	m.buf = append(m.buf, "\n\nChecked "...)
	m.buf = appendCount(m.buf, s.Pages, "page")
	m.buf = append(m.buf, ", "...)
	m.buf = appendCount(m.buf, s.Links, "link")
	m.buf = append(m.buf, " and "...)
	m.buf = appendCount(m.buf, s.Anchors, "anchor")
	if s.Docroot != "" {
		m.buf = append(m.buf, " in "...)
		m.buf = appendCodeSpan(m.buf, s.Docroot)
	}
	if s.Profile != "" {
		m.buf = append(m.buf, " with the profile "...)
		m.buf = appendCodeSpan(m.buf, s.Profile)
		if s.ProfileFrom != "" {
			m.buf = append(m.buf, ", detected from "...)
			m.buf = appendCodeSpan(m.buf, s.ProfileFrom)
		}
	}
	m.buf = append(m.buf, '.')
	for i, reason := range s.Reasons {
		m.buf = append(m.buf, []string{" Not checked: ", ", "}[min(i, 1)]...)
		m.buf = appendThousands(m.buf, reason.Count)
		m.buf = append(m.buf, ' ')
		m.buf = appendPlain(m.buf, string(reason.Code))
	}
	if len(s.Reasons) > 0 {
		m.buf = append(m.buf, '.')
	}
	if len(s.Skipped) > 0 {
		m.buf = append(m.buf, " Left out: "...)
		m.buf = appendCount(m.buf, len(s.Skipped), "page")
		m.buf = append(m.buf, '.')
	}
	if s.Ignored > 0 {
		m.buf = append(m.buf, " Ignored by rule: "...)
		m.buf = appendCount(m.buf, s.Ignored, "link")
		m.buf = append(m.buf, '.')
	}
	m.baseline(s.Baseline)
	m.buf = append(m.buf, '\n')
	m.notes(s.Notes)
	m.unused("Ignore rules that match nothing", s.UnusedIgnores)
	if s.Baseline != nil {
		m.unused("Entries of the baseline that no finding needs", s.Baseline.Unneeded)
	}
}

// maxNotes is how many notes are listed.
const maxNotes = 30

func (m *markdown) notes(notes []string) {
	for i, note := range notes[:min(len(notes), maxNotes)] {
		if i == 0 {
			m.buf = append(m.buf, "\nNotes:\n\n"...)
		}
		m.buf = append(m.buf, "- "...)
		m.buf = appendPlain(m.buf, note)
		m.buf = append(m.buf, '\n')
	}
	if rest := len(notes) - maxNotes; rest > 0 {
		m.buf = fmt.Appendf(m.buf, "- and %d more\n", rest)
	}
}

// maxUnused is how many unused rules are listed.
const maxUnused = 20

func (m *markdown) unused(title string, rules []string) {
	for i, rule := range rules[:min(len(rules), maxUnused)] {
		if i == 0 {
			m.buf = append(m.buf, "\n"+title+":\n\n"...)
		}
		m.buf = append(m.buf, "- "...)
		m.buf = appendCodeSpan(m.buf, rule)
		m.buf = append(m.buf, '\n')
	}
	if rest := len(rules) - maxUnused; rest > 0 {
		m.buf = fmt.Appendf(m.buf, "- and %d more\n", rest)
	}
}

// groups writes findings, or causes, while there is room. capped: there are more.
func (m *markdown) groups(capped bool) {
	n, noun, list := len(m.findings), "finding", m.list
	if m.opt.GroupBy == GroupCause {
		n, noun, list = len(m.causes), "cause", m.listCauses
	}
	all := "the formats text and html have all"
	if capped {
		noun, all = "listed "+noun, "the format jsonl has all findings"
	}
	if n == 0 {
		return
	}
	folded := n > markdownOpen
	if folded {
		m.buf = append(m.buf, "\n<details><summary>"...)
		m.buf = appendCount(m.buf, n, noun)
		m.buf = append(m.buf, "</summary>\n"...)
	}
	written := list()
	if rest := n - written; rest > 0 {
		m.buf = append(m.buf, "\n**"...)
		m.buf = appendThousands(m.buf, rest)
		m.buf = append(m.buf, " more** of "...)
		m.buf = appendCount(m.buf, n, noun)
		m.buf = append(m.buf, " did not fit; "+all+".\n"...)
	}
	if folded {
		m.buf = append(m.buf, "\n</details>\n"...)
	}
}

// listCauses writes an item for each cause and returns how many it wrote.
func (m *markdown) listCauses() (written int) {
	m.buf = append(m.buf, '\n')
	var item []byte
	for i := range m.causes {
		c := &m.causes[i]
		f := commonFinding(m.findings, c)
		item = m.item(item[:0], &f, &group{})
		if len(c.Findings) > 1 {
			item = append(item[:len(item)-1], ", "...)
			item = appendCount(item, c.Links, "link")
			item = append(item, " on "...)
			item = append(appendFiles(item, c), '\n')
		}
		if len(m.buf)+len(item)+markdownTail > markdownMaxBytes {
			return written
		}
		m.buf = append(m.buf, item...)
		written++
	}
	return written
}

// list writes the findings below headings and returns how many it wrote.
func (m *markdown) list() (written int) {
	var item []byte
	groups := groupFindings(m.findings, m.opt)
	if m.opt.GroupBy == GroupPage { // the other groups are sorted
		slices.SortStableFunc(groups, bySeverity)
	}
	for _, g := range groups {
		item = m.heading(item[:0], g)
		for _, i := range g.findings {
			item = m.item(item, &m.findings[i], g)
			if len(m.buf)+len(item)+markdownTail > markdownMaxBytes {
				return written
			}
			m.buf = append(m.buf, item...)
			item = item[:0]
			written++
		}
	}
	return written
}

func (m *markdown) heading(dst []byte, g *group) []byte {
	dst = append(dst, "\n#### "...)
	switch {
	case g.label == "":
		dst = append(dst, headingOf(g, m.opt.GroupBy)...)
	case m.opt.GroupBy == GroupPage:
		dst = appendCodeSpan(dst, m.opt.page(g.label))
	default:
		dst = appendCodeSpan(dst, g.label)
	}
	dst = append(dst, ": "...)
	if m.opt.GroupBy == GroupTarget && g.label != "" {
		f := &m.findings[g.findings[0]]
		dst = append(dst, f.Verdict.String()...)
		dst = append(dst, ", "...)
		dst = appendPlain(dst, f.Message)
		dst = append(dst, ", "...)
		dst = appendCodeSpan(dst, string(f.Code))
		dst = append(dst, ", "...)
		dst = appendCount(dst, g.links, "link")
	} else {
		dst = appendVerdictCounts(dst, g.errors, g.warnings, " ")
	}
	if m.opt.GroupBy != GroupPage {
		dst = append(dst, " on "...)
		dst = appendCount(dst, g.pages, "page")
	}
	return append(dst, "\n\n"...)
}

// item appends one finding: its position, what is wrong unless the heading says
// so, the link as written, and the suggestion.
func (m *markdown) item(dst []byte, f *check.Finding, g *group) []byte {
	dst = append(dst, "- "...)
	file, line, column := m.opt.filePosition(f)
	if f.Source != nil {
		file, line, column = f.Source.File, f.Source.Line, f.Source.Column
	}
	switch inHeading := m.opt.GroupBy == GroupPage && f.Source == nil; {
	case !inHeading:
		dst = appendCodeSpan(dst, string(appendLineColumn([]byte(file), line, column)))
		if words := sourceDescription(f); words != "" {
			dst = append(dst, " ("...)
			dst = appendPlain(dst, words)
			dst = append(dst, ')')
		}
		dst = append(dst, ": "...)
	case line > 0:
		dst = append(dst, "line "...)
		dst = strconv.AppendInt(dst, int64(line), 10)
		dst = append(dst, ": "...)
	}
	byTarget := m.opt.GroupBy == GroupTarget && g.label != ""
	if !byTarget {
		dst = append(dst, "**"...)
		dst = append(dst, f.Verdict.String()...)
		dst = append(dst, "** "...)
		dst = appendPlain(dst, f.Message)
		if m.opt.GroupBy != GroupCode {
			dst = append(dst, " ("...)
			dst = appendCodeSpan(dst, string(f.Code))
			dst = append(dst, ')')
		}
	}
	if f.Element != "" || f.Raw != "" {
		if !byTarget {
			dst = append(dst, ", "...)
		}
		dst = appendSpan(dst, appendWritten(nil, f))
	}
	if f.Suggestion != "" {
		before, after := suggestionWords(f)
		dst = append(dst, ", "+before...)
		dst = appendCodeSpan(dst, f.Suggestion)
		dst = append(dst, after...)
	}
	if r := f.Related; r != nil {
		dst = append(dst, ", "...)
		dst = appendPlain(dst, r.Text)
		dst = append(dst, " at "...)
		dst = appendCodeSpan(dst, string(appendLineColumn([]byte(r.File), r.Line, r.Column)))
	}
	return append(dst, '\n')
}

// appendCodeSpan appends s, quoted and cut, as a code span.
func appendCodeSpan(dst []byte, s string) []byte {
	return appendSpan(dst, appendCut(nil, s, maxValueBytes))
}

// appendSpan appends s as a code span (CommonMark 6.1), between runs of
// backticks of a length that s does not contain. Nothing inside is Markdown,
// HTML or, on GitHub and GitLab, a mention or a reference. s contains no line
// end.
func appendSpan(dst, s []byte) []byte {
	if len(s) == 0 {
		return append(dst, "(empty)"...)
	}
	longest, run := 0, 0
	for _, c := range s {
		if c == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	fence := bytes.Repeat([]byte{'`'}, longest+1)
	// Markdown removes one space at either end, unless there are only spaces.
	pad := s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' && s[len(s)-1] == ' ' && len(bytes.Trim(s, " ")) > 0
	dst = append(dst, fence...)
	if pad {
		dst = append(dst, ' ')
	}
	dst = append(dst, s...)
	if pad {
		dst = append(dst, ' ')
	}
	return append(dst, fence...)
}

// appendPlain appends s as text if it contains nothing that Markdown or a forge
// interprets, otherwise as a code span.
func appendPlain(dst []byte, s string) []byte {
	quoted := appendCut(nil, s, maxMessageBytes)
	if isPlainMarkdown(quoted) {
		return append(dst, quoted...)
	}
	return appendSpan(dst, quoted)
}

// isPlainMarkdown reports whether s is the same text with and without Markdown,
// anywhere except at the start of a line: words, and punctuation without a
// meaning. It excludes above all @, # and GH- (mentions, references), a colon
// before anything but a space and www. (automatic links), and everything that
// emphasises, quotes or escapes.
func isPlainMarkdown(s []byte) bool {
	for i, c := range s {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c >= 0x80:
		case strings.IndexByte(" /.,;()%-=\"'?", c) >= 0:
		case c == ':' && i+1 < len(s) && s[i+1] == ' ':
		default:
			return false
		}
	}
	lower := bytes.ToLower(s)
	return len(s) > 0 && !bytes.Contains(lower, []byte("www.")) && !bytes.Contains(lower, []byte("gh-"))
}
