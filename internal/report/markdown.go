package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/text"
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

// Markdown writes r as GitHub Flavored Markdown for a comment or a job summary.
// The counts come first, then an item for each cause, the worst first, or the
// findings below headings as opt.GroupBy selects, pages with an error first. It
// is never longer than 65,000 bytes; if not all items fit, the last line counts
// the rest.
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
	state := "all links are fine"
	if len(r.Findings) > 0 || r.HasErrors() || r.HasWarnings() {
		state = verdicts(r, len(m.causes), false)
	}
	m.buf = fmt.Appendf(m.buf, "### sitelink: %s\n\nChecked %s, %s and %s", state, text.Count(s.Pages, "page"), text.Count(s.Links, "link"), text.Count(s.Anchors, "anchor"))
	if s.Docroot != "" {
		m.buf = append(m.buf, " in "+codeSpan(s.Docroot)...)
	}
	if s.Profile != "" {
		m.buf = append(m.buf, " with the profile "+codeSpan(s.Profile)...)
		if s.ProfileFrom != "" {
			m.buf = append(m.buf, ", detected from "+codeSpan(s.ProfileFrom)...)
		}
	}
	sentences := func(title string, items []string) {
		if len(items) > 0 {
			m.buf = append(m.buf, title+strings.Join(items, ", ")+"."...)
		}
	}
	m.buf = append(m.buf, '.')
	sentences(" Not checked: ", reasons(s, plain))
	if len(s.Skipped) > 0 {
		sentences(" Left out: ", []string{text.Count(len(s.Skipped), "page")})
	}
	for _, part := range ignored(s) {
		sentences(" "+strings.ToUpper(part[:1]), []string{part[1:]})
	}
	var unneeded []string
	if b := s.Baseline; b != nil {
		unneeded = b.Unneeded
		sentences(" Accepted by the baseline: ", accepted(b))
		if b.Expired > 0 {
			sentences(" Expired in the baseline: ", []string{text.Count(b.Expired, "finding")})
		}
	}
	m.buf = append(m.buf, '\n')
	m.list("Notes", s.Notes, 30, plain)
	m.list("Ignore rules that match nothing", s.UnusedIgnores, 20, codeSpan)
	m.list("Entries of the baseline that no finding needs", unneeded, 20, codeSpan)
}

// list writes the first items of a list below a title.
func (m *markdown) list(title string, items []string, most int, show func(string) string) {
	if len(items) > 0 {
		m.buf = append(m.buf, "\n"+title+":\n\n"...)
	}
	for _, item := range items[:min(len(items), most)] {
		m.buf = append(m.buf, "- "+show(item)+"\n"...)
	}
	if rest := len(items) - most; rest > 0 {
		m.buf = fmt.Appendf(m.buf, "- and %d more\n", rest)
	}
}

// groups writes findings, or causes, while there is room. capped: there are more.
func (m *markdown) groups(capped bool) {
	n, noun, list := len(m.findings), "finding", m.listFindings
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
		m.buf = append(m.buf, "\n<details><summary>"+text.Count(n, noun)+"</summary>\n"...)
	}
	written := list()
	if rest := n - written; rest > 0 {
		m.buf = fmt.Appendf(m.buf, "\n**%s more** of %s did not fit; %s.\n", text.Thousands(rest), text.Count(n, noun), all)
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
			item = fmt.Appendf(item[:len(item)-1], ", %s on %s\n", text.Count(c.Links, "link"), files(c))
		}
		if len(m.buf)+len(item)+markdownTail > markdownMaxBytes {
			return written
		}
		m.buf = append(m.buf, item...)
		written++
	}
	return written
}

// listFindings writes the findings below headings and returns how many it wrote.
func (m *markdown) listFindings() (written int) {
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
		dst = append(dst, codeSpan(pageFile(m.opt.Base, g.label))...)
	default:
		dst = append(dst, codeSpan(g.label)...)
	}
	if m.opt.GroupBy == GroupTarget && g.label != "" {
		f := &m.findings[g.findings[0]]
		dst = fmt.Appendf(dst, ": %s, %s, %s, %s", f.Verdict, plain(f.Message), codeSpan(string(f.Code)), text.Count(g.links, "link"))
	} else {
		dst = append(dst, ": "+verdictCounts(g.errors, g.warnings, " ")...)
	}
	if m.opt.GroupBy != GroupPage {
		dst = append(dst, " on "+text.Count(g.pages, "page")...)
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
		dst = append(dst, codeSpan(string(appendLineColumn([]byte(file), line, column)))...)
		if words := DescribeSource(f.Source); words != "" {
			dst = append(dst, " ("+plain(words)+")"...)
		}
		dst = append(dst, ": "...)
	case line > 0:
		dst = fmt.Appendf(dst, "line %d: ", line)
	}
	separator := ""
	if m.opt.GroupBy != GroupTarget || g.label == "" {
		dst, separator = fmt.Appendf(dst, "**%s** %s", f.Verdict, plain(f.Message)), ", "
		if m.opt.GroupBy != GroupCode {
			dst = append(dst, " ("+codeSpan(string(f.Code))+")"...)
		}
	}
	if f.Element != "" || f.Raw != "" {
		dst = append(dst, separator+span(string(appendWritten(nil, f)))...)
	}
	if f.Suggestion != "" {
		before, after := suggestionWords(f)
		dst = append(dst, ", "+before+codeSpan(f.Suggestion)+after...)
	}
	if r := f.Related; r != nil {
		dst = append(dst, ", "+plain(r.Text)+" at "+codeSpan(string(appendLineColumn([]byte(r.File), r.Line, r.Column)))...)
	}
	return append(dst, '\n')
}

// codeSpan returns s, quoted and cut, as a code span.
func codeSpan(s string) string { return span(value(s)) }

// span returns s as a code span (CommonMark 6.1), between runs of
// backticks of a length that s does not contain. Nothing inside is Markdown,
// HTML or, on GitHub and GitLab, a mention or a reference. s contains no line
// end.
func span(s string) string {
	if s == "" {
		return "(empty)"
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	// Markdown removes one space at either end, unless there are only spaces.
	if s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' && s[len(s)-1] == ' ' && strings.Trim(s, " ") != "" {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

// plain returns s, quoted and cut, as text if it contains nothing that Markdown or a
// forge interprets, otherwise as a code span.
func plain(s string) string {
	s = sentence(s)
	if isPlainMarkdown(s) {
		return s
	}
	return span(s)
}

// isPlainMarkdown reports whether s is the same text with and without Markdown,
// anywhere except at the start of a line: words, and punctuation without a
// meaning. It excludes above all @, # and GH- (mentions, references), a colon
// before anything but a space and www. (automatic links), and everything that
// emphasises, quotes or escapes.
func isPlainMarkdown(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c >= 0x80:
		case strings.IndexByte(" /.,;()%-=\"'?", c) >= 0:
		case c == ':' && i+1 < len(s) && s[i+1] == ' ':
		default:
			return false
		}
	}
	lower := strings.ToLower(s)
	return s != "" && !strings.Contains(lower, "www.") && !strings.Contains(lower, "gh-")
}
