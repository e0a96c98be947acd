package report

import (
	"io"
	"strings"

	"github.com/sitelink/sitelink/check"
)

// githubShown is the number of annotations of one kind that GitHub shows for a
// step; it drops the rest without a word.
const githubShown = 10

// GitHub writes workflow commands, which GitHub Actions shows as annotations at
// the file and line: the ten best errors and the ten best warnings (best: one
// for each target, those that break on most pages first), and a notice that
// says how many more there are. A clean site gives nothing.
//
// Paths are relative to the root of the project, as GitHub wants them.
func GitHub(w io.Writer, r *check.Result, opt Options) error {
	s := sink{w: w}
	shown := map[check.Verdict]int{}
	for _, v := range []check.Verdict{check.Error, check.Warning} {
		for _, p := range best(r.Findings, v, githubShown) {
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

func appendAnnotation(dst []byte, p *pick, opt *Options) []byte {
	f := p.finding
	dst = append(dst, "::"...)
	dst = append(dst, f.Verdict.String()...)
	dst = append(dst, " file="...)
	file, line, column := opt.place(f)
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

// What the runner takes apart at, escaped as its own toolkit does: in the
// message, and in the properties before it.
var (
	githubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// appendVerdictCounts appends "12 errors, 3 warnings", without what is none.
// between stands between number and noun.
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
// ("Code Quality report format"): an array with an object for each finding, an
// empty one for a clean site. Errors are major, warnings minor. The fingerprint
// is that of [check.Fingerprints]: GitLab tells new from old by it, and drops
// all but one of those that share it.
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
		s.buf = appendString(s.buf, string(appendSentence(nil, f)))
		s.buf = append(s.buf, `,"check_name":`...)
		s.buf = appendString(s.buf, string(f.Code))
		s.buf = append(s.buf, `,"fingerprint":"`...)
		s.buf = append(s.buf, fingerprints[i]...)
		severity := "minor"
		if f.Verdict == check.Error {
			severity = "major"
		}
		file, line, _ := opt.place(f)
		s.buf = append(s.buf, `","severity":"`+severity+`","location":{"path":`...)
		s.buf = appendString(s.buf, file)
		s.buf = appendIntField(s.buf, `,"lines":{"begin":`, max(line, 1))
		s.buf = append(s.buf, "}}}"...)
		if err := s.drain(); err != nil {
			return err
		}
	}
	s.buf = append(s.buf, "\n]\n"...)
	return s.flush()
}
