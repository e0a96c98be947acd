package report

import (
	"io"

	"github.com/sitelink/sitelink/check"
)

// Checkstyle writes the XML of Checkstyle 8, which Jenkins, reviewdog and many
// editors read: a file element for each file with findings, in it an error
// element for each finding. The source attribute is "sitelink." and the code.
// A finding without line stands at line 1.
func Checkstyle(w io.Writer, r *check.Result, opt Options) error {
	s := sink{w: w}
	s.buf = append(s.buf, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+`<checkstyle version="8.0">`+"\n"...)
	for _, part := range byFile(r.Findings, &opt) {
		s.buf = append(s.buf, "<file"...)
		s.buf = appendAttribute(s.buf, "name", part.label)
		s.buf = append(s.buf, ">\n"...)
		for _, i := range part.findings {
			f := &r.Findings[i]
			_, line, column := opt.place(f)
			s.buf = append(s.buf, "<error"...)
			s.buf = appendIntAttribute(s.buf, "line", max(line, 1))
			if line > 0 && column > 0 {
				s.buf = appendIntAttribute(s.buf, "column", column)
			}
			s.buf = appendAttribute(s.buf, "severity", f.Verdict.String())
			s.buf = appendAttributeBytes(s.buf, "message", appendSentence(nil, f))
			s.buf = appendAttribute(s.buf, "source", "sitelink."+string(f.Code))
			s.buf = append(s.buf, "/>\n"...)
			if err := s.drain(); err != nil {
				return err
			}
		}
		s.buf = append(s.buf, "</file>\n"...)
	}
	s.buf = append(s.buf, "</checkstyle>\n"...)
	return s.flush()
}

// byFile returns the findings by the file that a server shows them in, in the
// order of the first: two pages can come from one source file.
func byFile(findings []check.Finding, opt *Options) []*group {
	files := map[string]*group{}
	var parts []*group
	for i := range findings {
		f := &findings[i]
		file, _, _ := opt.place(f)
		g := files[file]
		if g == nil {
			g = &group{label: file}
			files[file] = g
			parts = append(parts, g)
		}
		g.add(int32(i), f)
	}
	return parts
}
