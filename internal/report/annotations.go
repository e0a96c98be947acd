package report

import (
	"io"
	"strings"

	"github.com/sitelink/sitelink/check"
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
		with, all := " with "+string(appendCount(nil, hidden, "cause")), "formats text and html have"
		if capped(&r.Summary) {
			with, all = "", "format jsonl has"
		}
		s.buf = append(s.buf, "::notice title=sitelink::"...)
		s.buf = appendVerdictCounts(s.buf, errors+r.Summary.UnlistedErrors, warnings+r.Summary.UnlistedWarnings, " more ")
		s.buf = append(s.buf, with+", not shown here: GitHub shows 10 of a kind for a step; the "+all+" all\n"...)
	}
	return s.flush()
}

func appendAnnotation(dst []byte, f *check.Finding, c *check.Cause, opt *Options) []byte {
	dst = append(dst, "::"...)
	dst = append(dst, f.Verdict.String()...)
	dst = append(dst, " file="...)
	file, line, column := opt.filePosition(f)
	dst = append(dst, githubProperty.Replace(string(appendQuoted(nil, file)))...)
	if line > 0 {
		dst = appendIntField(dst, ",line=", line)
		if column > 0 {
			dst = appendIntField(dst, ",col=", column)
		}
	}
	dst = append(dst, ",title="...)
	dst = append(dst, githubProperty.Replace(string(f.Code))...)
	dst = append(dst, "::"...)
	dst = append(dst, githubData.Replace(string(appendCauseSentence(nil, f, c)))...)
	return append(dst, '\n')
}

// Escapes for the characters that the runner interprets in the message and in
// the properties before it, as in its own toolkit.
var (
	githubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// appendVerdictCounts appends "12 errors, 3 warnings", without what is zero.
// between separates number and noun.
func appendVerdictCounts(dst []byte, errors, warnings int, between string) []byte {
	one := func(n int, noun string) {
		if n > 0 {
			dst = appendThousands(dst, n)
			dst = append(dst, between...)
			dst = append(dst, noun...)
			if n != 1 {
				dst = append(dst, 's')
			}
		}
	}
	one(errors, "error")
	if errors > 0 && warnings > 0 {
		dst = append(dst, ", "...)
	}
	one(warnings, "warning")
	return dst
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
		s.buf = append(s.buf, "\n"+`{"description":`...)
		s.buf = AppendString(s.buf, string(appendCauseSentence(nil, f, c)))
		s.buf = append(s.buf, `,"check_name":`...)
		s.buf = AppendString(s.buf, string(f.Code))
		s.buf = append(s.buf, `,"fingerprint":"`...)
		s.buf = append(s.buf, fingerprints[c.First]...)
		severity := "minor"
		if f.Verdict == check.Error {
			severity = "major"
		}
		file, line, _ := opt.filePosition(f)
		s.buf = append(s.buf, `","severity":"`+severity+`","location":{"path":`...)
		s.buf = AppendString(s.buf, file)
		s.buf = appendIntField(s.buf, `,"lines":{"begin":`, max(line, 1))
		s.buf = append(s.buf, `}},"cause":"`+c.ID+`"`...)
		s.buf = appendIntField(s.buf, `,"links":`, c.Links)
		s.buf = appendIntField(s.buf, `,"pages":`, c.Pages+c.Feeds)
		s.buf = appendTargetsJSON(s.buf, r.Findings, c)
		s.buf = append(s.buf, '}')
		if err := s.drain(); err != nil {
			return err
		}
	}
	s.buf = append(s.buf, "\n]\n"...)
	return s.flush()
}
