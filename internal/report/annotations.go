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
// the file and line: the ten best errors, the ten best warnings, and a notice
// that counts the rest. Best are one for each target, most pages first. A clean
// site gives no output.
//
// Paths are relative to the root of the project, as GitHub expects.
func GitHub(w io.Writer, r *check.Result, opt Options) error {
	s := sink{w: w}
	shown := map[check.Verdict]int{}
	for _, v := range []check.Verdict{check.Error, check.Warning} {
		for _, p := range bestFindings(r.Findings, v, githubShown) {
			s.buf = appendAnnotation(s.buf, &p, &opt)
			shown[v]++
		}
	}
	errors := count(r.Findings, check.Error) - shown[check.Error]
	warnings := count(r.Findings, check.Warning) - shown[check.Warning]
	if errors+warnings > 0 {
		s.buf = append(s.buf, "::notice title=sitelink::"...)
		s.buf = appendVerdictCounts(s.buf, errors, warnings, " more ")
		s.buf = append(s.buf, ", not shown here: GitHub shows 10 of a kind for a step; the formats text and html have all\n"...)
	}
	return s.flush()
}

func appendAnnotation(dst []byte, p *bestFinding, opt *Options) []byte {
	f := p.finding
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
	message := appendSentence(nil, f)
	if p.pages > 1 {
		message = append(message, " ("...)
		message = appendCount(message, p.pages, "page")
		message = append(message, " link there)"...)
	}
	dst = append(dst, githubData.Replace(string(message))...)
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
// ("Code Quality report format"): an array with one object for each finding,
// empty for a clean site. Errors are major, warnings minor. The fingerprint is
// that of [check.Fingerprints]: GitLab uses it to tell new findings from old
// ones, and drops all but one with the same fingerprint.
func GitLab(w io.Writer, r *check.Result, opt Options) error {
	s := sink{w: w}
	s.buf = append(s.buf, '[')
	fingerprints := check.Fingerprints(r.Findings)
	for i := range r.Findings {
		f := &r.Findings[i]
		if i > 0 {
			s.buf = append(s.buf, ',')
		}
		s.buf = append(s.buf, "\n"+`{"description":`...)
		s.buf = AppendString(s.buf, string(appendSentence(nil, f)))
		s.buf = append(s.buf, `,"check_name":`...)
		s.buf = AppendString(s.buf, string(f.Code))
		s.buf = append(s.buf, `,"fingerprint":"`...)
		s.buf = append(s.buf, fingerprints[i]...)
		severity := "minor"
		if f.Verdict == check.Error {
			severity = "major"
		}
		file, line, _ := opt.filePosition(f)
		s.buf = append(s.buf, `","severity":"`+severity+`","location":{"path":`...)
		s.buf = AppendString(s.buf, file)
		s.buf = appendIntField(s.buf, `,"lines":{"begin":`, max(line, 1))
		s.buf = append(s.buf, "}}}"...)
		if err := s.drain(); err != nil {
			return err
		}
	}
	s.buf = append(s.buf, "\n]\n"...)
	return s.flush()
}
