package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/text"
)

// Limits of the text report, so that a person reads it to the end: entries, and
// lines with the summary. If more causes exist, the list ends once it explains
// this share of the errors, but has at least fewEntries.
const (
	maxEntries       = 60
	maxLines         = 200
	fewEntries       = 20
	enoughPercent    = 90
	linesOfTheClause = 2 // an empty line, and the one that counts the rest
)

// Text writes the findings of r for people: an entry for each [Family] of
// causes, the worst first, and the summary at the end. If there are many
// entries, it lists the worst, which explain most errors, and counts the rest;
// opt.All lists every cause as an entry.
//
// The first line of an entry has the form of the GNU Coding Standards
// ("Formatting Error Messages"), which Vim, Emacs and the $gcc matcher of VS
// Code can read. The lines that explain it are indented.
//
// Bytes of the site that are not printable are quoted (\n, \x1b, \u202e), and
// long values are cut; JSON has the exact values. The only errors are those of
// w, wrapped.
func Text(w io.Writer, r *check.Result, opt TextOptions) error {
	s := sink{w: w}
	causes := check.Causes(r.Findings)
	if lead := r.Summary.Lead; lead != "" && len(r.Findings) > 0 {
		s.buf = append(s.buf, "note: "+sentence(lead)+"\n"...)
		rest := *r
		rest.Summary.Notes = slices.DeleteFunc(slices.Clone(r.Summary.Notes), func(note string) bool { return note == lead })
		r = &rest
	}
	summary := appendTextSummary(nil, r, len(causes), opt)
	listed, rest := Worst(r.Findings, causes, bytes.Count(summary, []byte{'\n'}), opt)
	for _, family := range listed {
		s.buf = family.Append(s.buf, r.Findings, opt)
		if err := s.drain(); err != nil {
			return err
		}
	}
	if len(r.Findings) > 0 {
		s.buf = append(s.buf, '\n')
	}
	s.buf = AppendUnlisted(s.buf, rest, &r.Summary)
	s.buf = append(s.buf, summary...)
	return s.flush()
}

// Family is an entry of the text report: a cause, or several of one code with the same
// [check.Cause.Family]. A missing file, directory and index file count as one code.
type Family struct {
	causes []check.Cause // the worst first
	shown  int           // causes that have a line of their own, besides the first
	accept string        // the ignore rule of links that a script reads, see scriptRule
}

const (
	fewMembers  = 3   // fewer causes with something in common are entries of their own
	maxExamples = 5   // lines of a family if the report is long
	manyScript  = 100 // so many links to ids that a page lacks are no slip
	maxScript   = 5   // entries of such links
)

// counts returns the findings and links of causes.
func counts(causes []check.Cause) (errors, warnings, links int) {
	for i := range causes {
		errors, warnings, links = errors+causes[i].Errors, warnings+causes[i].Warnings, links+causes[i].Links
	}
	return errors, warnings, links
}

// Worst returns the entries to list when the rest of the report has that many
// lines, and the causes of the others. It lists all if there is room, or if
// opt.All is set.
func Worst(findings []check.Finding, causes []check.Cause, lines int, opt TextOptions) (listed []Family, rest []check.Cause) {
	if opt.All {
		for i := range causes {
			listed = append(listed, Family{causes: causes[i : i+1]})
		}
		return listed, nil
	}
	for _, shown := range []int{maxLines, maxExamples} {
		all, forScripts := families(findings, causes, shown)
		n := len(fitting(findings, all, lines+linesOfTheClause+len(forScripts), opt))
		// Copied, because the rest of all follows what is listed.
		listed = slices.Concat(all[:n], forScripts)
		if n == len(all) {
			return listed, nil
		}
		rest = rest[:0]
		for _, m := range all[n:] {
			rest = append(rest, m.causes...)
		}
	}
	return listed, rest
}

// families returns the entries for causes, first the entry that explains most errors. At
// most shown members of an entry have their own line. forScripts are the entries for links
// that a script reads.
func families(findings []check.Finding, causes []check.Cause, shown int) (all, forScripts []Family) {
	// Links to /old/a/, /old/b/ and /old/c/ are one entry if the docroot has no old/, and two
	// of them are two.
	type key struct {
		family string
		code   check.Code
	}
	keyOf := func(c *check.Cause) key {
		code := findings[c.First].Code
		if code == check.MissingDirectory || code == check.MissingIndex {
			code = check.MissingFile
		}
		return key{c.Family, code}
	}
	members := map[key][]check.Cause{}
	for i := range causes {
		k := keyOf(&causes[i])
		members[k] = append(members[k], causes[i])
	}
	for i, c := range causes {
		if len(forScripts) < maxScript {
			if rule := scriptRule(findings, &c); rule != "" {
				forScripts = append(forScripts, Family{causes: causes[i : i+1], accept: rule})
				continue
			}
		}
		switch m := members[keyOf(&c)]; {
		case c.Family == "" || len(m) < fewMembers:
			all = append(all, Family{causes: causes[i : i+1]})
		case m[0].ID == c.ID:
			all = append(all, Family{causes: m, shown: min(shown, len(m)-1)})
		}
	}
	slices.SortStableFunc(all, func(a, b Family) int {
		aErrors, _, aLinks := counts(a.causes)
		bErrors, _, bLinks := counts(b.causes)
		return cmp.Or(bErrors-aErrors, bLinks-aLinks)
	})
	return all, forScripts
}

// fitting returns the entries that a report has room for, which has that many
// other lines.
func fitting(findings []check.Finding, all []Family, lines int, opt TextOptions) []Family {
	errors, explained, enough := 0, 0, 0
	for _, m := range all {
		n, _, _ := counts(m.causes)
		errors += n
	}
	var entry []byte
	for i, m := range all {
		entry = m.Append(entry[:0], findings, opt)
		lines += bytes.Count(entry, []byte{'\n'})
		if i == maxEntries || lines > maxLines {
			return all[:cmp.Or(enough, i)]
		}
		n, _, _ := counts(m.causes)
		explained += n
		if enough == 0 && i+1 >= fewEntries && explained*100 >= errors*enoughPercent {
			enough = i + 1
		}
	}
	return all
}

// deployable matches the address of a directory that another deployment may
// serve. Others are left of a typo or a template: /https:/, /{filename}/.
var deployable = text.Regexp(`^(?:/[\w~@+-]+)+/$`)

// Append appends the entry of a family: that of its first cause, what the others
// have in common with it, and some of them. findings are those that the causes
// were made of.
func (m Family) Append(dst []byte, findings []check.Finding, opt TextOptions) []byte {
	first, p := &m.causes[0], painter(opt.Color)
	if m.accept != "" {
		f := commonFinding(findings, first)
		dst = appendFirstLine(dst, &f, opt)
		return append(dst[:len(dst)-1], ": "+m.common(findings, p)+"\n"...)
	}
	dst = AppendCause(dst, findings, first, opt)
	if len(m.causes) == 1 {
		return dst
	}
	dst = append(dst, indent+m.common(findings, p)+"\n"...)
	for i := range m.causes[1 : 1+m.shown] {
		other := commonFinding(findings, &m.causes[1+i])
		dst = appendReferrer(dst, &other, opt)
		if other.Code != findings[first.First].Code {
			dst = append(appendCode(dst[:len(dst)-1], other.Code, p), '\n')
		}
	}
	return dst
}

// common says what the causes of a family have in common, and the ignore rule that accepts
// them if there is one: "14 more causes with links to /guides/ or below; in all 15 errors".
// It returns "" for one cause, unless a script reads its links.
func (m Family) common(findings []check.Finding, p painter) string {
	first := &m.causes[0]
	f := &findings[first.First]
	if m.accept != "" {
		return fmt.Sprintf("%s like %s; if a script reads them, accept them with --ignore '%s'",
			text.Count(first.Links, "link"), p.paint(sgrDim, string(appendWritten(nil, f))), m.accept)
	}
	if len(m.causes) == 1 {
		return ""
	}
	common, what := first.Family, "links to "
	if page, lacksIDs := strings.CutSuffix(common, "#"); lacksIDs {
		common, what = page, "links to ids missing on "
		if strings.Contains(page, "*") {
			what += "pages like "
		}
	}
	if f.Code == check.ViaRedirect && !strings.HasPrefix(common, "/") {
		what = "links that are redirected by "
	}
	words := text.Count(len(m.causes)-1, "more cause") + " with " + what + value(common)
	below := strings.HasSuffix(common, "/") && (f.Code == check.MissingFile || f.Code == check.MissingDirectory)
	if below {
		words += " or below"
	}
	errors, warnings, _ := counts(m.causes)
	words += "; in all " + verdictCounts(errors, warnings, " ")
	if below && deployable().MatchString(common) {
		words += "; if another deployment serves it, accept them with --ignore 'url=" + common + "**'"
	}
	return words
}

// scriptRule returns the ignore rule that accepts the links of a cause, if a template or
// component writes hundreds of them to ids that their own page lacks. A script reads such
// fragments, like #_ or the tags of a filter. It returns "" for all other causes.
func scriptRule(findings []check.Finding, c *check.Cause) string {
	f := &findings[c.First]
	if c.Links < manyScript || f.Code != check.MissingFragment || !strings.HasPrefix(f.Raw, "#") || strings.ContainsAny(f.Raw, `',*?[{\`) {
		return ""
	}
	sameValue, near := true, 0
	for _, i := range c.Findings {
		g := &findings[i]
		if !strings.HasPrefix(g.Raw, "#") {
			return ""
		}
		if sameValue = sameValue && g.Raw == f.Raw; g.Suggestion != "" {
			near++
		}
	}
	switch {
	case near*2 > len(c.Findings): // some tags are like an id by chance
	case sameValue:
		return "url=" + f.Raw
	case c.Pages == 1 && !strings.ContainsAny(f.Page, `',*?[{\`):
		return "page=" + f.Page + ",url=#**"
	}
	return ""
}

// AppendUnlisted appends the line that counts the causes without an entry, if
// there are any, and the findings of s without a known cause.
func AppendUnlisted(dst []byte, causes []check.Cause, s *check.Summary) []byte {
	if len(causes) == 0 {
		return dst
	}
	most := 0
	for i := range causes {
		most = max(most, causes[i].Links)
	}
	errors, warnings, _ := counts(causes)
	dst = fmt.Appendf(dst, "not listed: %s of %s, at most %s each", text.Count(len(causes), "cause"), verdictCounts(errors, warnings, " "), text.Count(most, "link"))
	if capped(s) {
		return fmt.Appendf(dst, ", and %s whose causes are not known; list all with --format jsonl\n", text.Count(s.UnlistedErrors+s.UnlistedWarnings, "finding"))
	}
	return append(dst, "; list them with --all, or search them with --format html\n"...)
}

// AppendCause appends the entry of a cause as in [Text]: its first finding, with
// what the others have in common with it, and how many there are. findings are
// those that the cause was made of.
func AppendCause(dst []byte, findings []check.Finding, c *check.Cause, opt TextOptions) []byte {
	f := commonFinding(findings, c)
	if len(c.Findings) == 1 {
		return AppendText(dst, &f, opt)
	}
	p := painter(opt.Color)
	dst = appendFirstLine(dst, &f, opt)
	dst = appendDetails(dst, &f, opt)
	for _, line := range others(findings, c, opt) {
		dst = append(dst, indent+line+"\n"...)
	}
	return append(dst, indent+p.paint(sgrDim, where(&f, c, &opt))+"\n"...)
}

// maxTargets is how many targets of a cause text names besides the first.
const maxTargets = 5

// others returns lines about the links of a cause besides the first: "the same link is in 2
// more source files, such as b.md:3:4", "other targets: /a/, /b/ and 3 more".
func others(findings []check.Finding, c *check.Cause, opt TextOptions) (lines []string) {
	if c.Files > 1 {
		lines = append(lines, fmt.Sprintf("the same link is in %s%s", text.Count(c.Files-1, "more source file"), otherFiles(findings, c, opt)))
	}
	var names []string
	for _, i := range c.Targets[1:] {
		names = append(names, value(targetOf(&findings[i])))
	}
	if rest := len(names) - maxTargets; rest > 0 && !opt.All {
		names = names[:maxTargets]
		names[maxTargets-1] += " and " + text.Thousands(rest) + " more"
	}
	if len(names) > 0 {
		lines = append(lines, "other targets: "+strings.Join(names, ", "))
	}
	return lines
}

// targetsOf returns the targets of a cause, none if all its links are about one.
func targetsOf(findings []check.Finding, c *check.Cause) (names []string) {
	if len(c.Targets) > 1 {
		for _, i := range c.Targets {
			names = append(names, targetOf(&findings[i]))
		}
	}
	return names
}

// otherFiles returns ", such as data/v1-toc.yml:7:15": the place in a file other
// than that of the first finding.
func otherFiles(findings []check.Finding, c *check.Cause, opt TextOptions) []byte {
	for _, i := range c.Findings {
		if s := findings[i].Source; s != nil && s.File != findings[c.First].Source.File {
			return appendLineColumn(appendQuoted([]byte(", such as "), opt.Source(s.File)), s.Line, s.Column)
		}
	}
	return nil
}

// commonFinding returns the first finding of a cause without what does not hold
// for the others. Its Count says how many links there are that differ.
func commonFinding(findings []check.Finding, c *check.Cause) check.Finding {
	f := findings[c.First]
	if len(c.Findings) == 1 {
		return f
	}
	f.Count = 1
	if c.SameLink {
		return f
	}
	f.Count = c.Links
	if f.Code == check.AddressGone {
		return f // the others moved to the same directory
	}
	for _, i := range c.Findings {
		if findings[i].Suggestion != f.Suggestion {
			f.Suggestion, f.Related = "", nil
		}
	}
	return f
}

// where says where a cause shows in the docroot: "from a template, on 194 pages and 2
// feeds, first on public/a.html, line 3, column 9".
func where(f *check.Finding, c *check.Cause, opt *TextOptions) string {
	words, onlyFile := from(f), c.Pages+c.Feeds == 1
	switch {
	case onlyFile:
		words += text.Thousands(c.Links) + " times in "
	case c.Links > c.Pages+c.Feeds && c.SameLink:
		words += text.Count(c.Links, "link") + " on " + files(c) + ", first on "
	default:
		words += "on " + files(c) + ", first on "
	}
	switch {
	case f.Source != nil:
		words += built(f, opt)
	case onlyFile:
		words += "this file"
	default:
		words += "this one"
	}
	if c.Errors > 0 && c.Warnings > 0 {
		words += "; " + verdictCounts(c.Errors, c.Warnings, " ")
	}
	return words
}

// files returns "194 pages and 2 feeds".
func files(c *check.Cause) string {
	pages, feeds := text.Count(c.Pages, "page"), text.Count(c.Feeds, "feed")
	switch {
	case c.Feeds == 0:
		return pages
	case c.Pages == 0:
		return feeds
	}
	return pages + " and " + feeds
}

// from says what kind of source a finding is in, if it is not content.
func from(f *check.Finding) string {
	if words := DescribeSource(f.Source); words != "" {
		return "from " + words + ", "
	}
	return ""
}

// built returns the position in the built page. It does not have the form
// page:30:9, which would be a second position to jump to in an editor, in a file
// that the next build overwrites.
func built(f *check.Finding, opt *TextOptions) string {
	at := string(appendPath(nil, f.Page, opt))
	if f.Line > 0 {
		at += fmt.Sprintf(", line %d", f.Line)
		if f.Column > 0 {
			at += fmt.Sprintf(", column %d", f.Column)
		}
	}
	return at
}

// CauseIDs returns the ID of the cause of each finding.
func CauseIDs(findings []check.Finding) []string { return causeIDs(findings, check.Causes(findings)) }

func causeIDs(findings []check.Finding, causes []check.Cause) []string {
	ids := make([]string, len(findings))
	for i := range causes {
		for _, n := range causes[i].Findings {
			ids[n] = causes[i].ID
		}
	}
	return ids
}
