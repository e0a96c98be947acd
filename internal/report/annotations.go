package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/text"
)

// githubShown is how many annotations of a kind GitHub shows for a step. It
// drops the rest silently.
const githubShown = 10

// GitHub writes workflow commands, which GitHub Actions shows as annotations at
// the file and line, one for each cause: the ten worst errors, the ten worst
// warnings, and a notice that counts the rest. A clean site gives no output.
//
// Paths are relative to the root of the project, as GitHub expects.
func GitHub(w io.Writer, r *check.Result, opt Options) error {
	s := sink{w: w}
	causes := check.Causes(r.Findings)
	errors, warnings, hidden := 0, 0, 0 // not shown
	for _, v := range []check.Verdict{check.Error, check.Warning} {
		shown := 0
		for i := range causes {
			c := &causes[i]
			switch f := &r.Findings[c.First]; {
			case f.Verdict != v:
			case shown < githubShown:
				s.buf = appendAnnotation(s.buf, f, c, &opt)
				shown++
			default:
				errors, warnings, hidden = errors+c.Errors, warnings+c.Warnings, hidden+1
			}
		}
	}
	if hidden > 0 {
		with, all := " with "+text.Count(hidden, "cause"), "formats text and html have"
		if capped(&r.Summary) {
			with, all = "", "format jsonl has"
		}
		s.buf = fmt.Appendf(s.buf, "::notice title=sitelink::%s%s, not shown here: GitHub shows 10 of a kind for a step; the %s all\n",
			verdictCounts(errors+r.Summary.UnlistedErrors, warnings+r.Summary.UnlistedWarnings, " more "), with, all)
	}
	return s.flush()
}

func appendAnnotation(dst []byte, f *check.Finding, c *check.Cause, opt *Options) []byte {
	file, line, column := opt.filePosition(f)
	dst = fmt.Appendf(dst, "::%s file=%s", f.Verdict, githubProperty.Replace(quoted(file)))
	if line > 0 {
		dst = fmt.Appendf(dst, ",line=%d", line)
		if column > 0 {
			dst = fmt.Appendf(dst, ",col=%d", column)
		}
	}
	return fmt.Appendf(dst, ",title=%s::%s\n", githubProperty.Replace(string(f.Code)), githubData.Replace(string(appendCauseSentence(nil, f, c))))
}

// Escapes for the characters that the runner interprets in the message and in
// the properties before it, as in its own toolkit.
var (
	githubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// verdictCounts returns "12 errors, 3 warnings", without what is zero. between
// separates number and noun.
func verdictCounts(errors, warnings int, between string) string {
	var parts []string
	if errors > 0 {
		parts = append(parts, strings.Replace(text.Count(errors, "error"), " ", between, 1))
	}
	if warnings > 0 {
		parts = append(parts, strings.Replace(text.Count(warnings, "warning"), " ", between, 1))
	}
	return strings.Join(parts, ", ")
}

// GitLab writes a code quality report, which GitLab shows in merge requests
// ("Code Quality report format"): an array with one object for each cause, the
// worst first, empty for a clean site. Errors are major, warnings minor. The
// fingerprint is that of the first finding ([check.Fingerprints]): GitLab uses it
// to tell new issues from old ones. The fields cause, links, pages and targets
// are ours.
func GitLab(w io.Writer, r *check.Result, opt Options) error {
	s := sink{w: w}
	s.buf = append(s.buf, '[')
	fingerprints := check.Fingerprints(r.Findings)
	causes := check.Causes(r.Findings)
	for i := range causes {
		c := &causes[i]
		f := &r.Findings[c.First]
		if i > 0 {
			s.buf = append(s.buf, ',')
		}
		severity := "minor"
		if f.Verdict == check.Error {
			severity = "major"
		}
		file, line, _ := opt.filePosition(f)
		issue := object{
			"description": string(appendCauseSentence(nil, f, c)), "check_name": f.Code, "fingerprint": fingerprints[c.First], "severity": severity,
			"location": object{"path": file, "lines": object{"begin": max(line, 1)}},
			"cause":    c.ID, "links": c.Links, "pages": c.Pages + c.Feeds,
		}
		if targets := targetsOf(r.Findings, c); len(targets) > 0 {
			issue["targets"] = targets
		}
		s.buf = append(append(s.buf, '\n'), jsonOf(issue)...)
		if err := s.drain(); err != nil {
			return err
		}
	}
	s.buf = append(s.buf, "\n]\n"...)
	return s.flush()
}
