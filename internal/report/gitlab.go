package report

import (
	"io"

	"github.com/sitelink/sitelink/check"
)

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
