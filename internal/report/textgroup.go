package report

import (
	"io"

	"github.com/sitelink/sitelink/check"
)

// TextGroups is [Text] under headings, as opt.GroupBy says; an empty line stands
// between two groups.
//
// Under GroupTarget the heading is the target with what is wrong with it, how
// many links and pages there are, and an indented line for each link; the
// headings of the others count their findings, which follow as in [Text].
func TextGroups(w io.Writer, r *check.Result, opt Options) error {
	s, p := sink{w: w}, painter(opt.Color)
	for _, g := range gather(r.Findings, &opt) {
		first := &r.Findings[g.findings[0]]
		byTarget := opt.GroupBy == GroupTarget && g.label != ""
		if byTarget {
			s.buf = appendTargetHeading(s.buf, g, first, p)
		} else {
			s.buf = appendHeading(s.buf, g, opt.GroupBy, p)
		}
		for _, i := range g.findings {
			f := &r.Findings[i]
			if byTarget {
				s.buf = appendReferrer(s.buf, f, opt.TextOptions)
			} else {
				s.buf = AppendText(s.buf, f, opt.TextOptions)
			}
			if err := s.drain(); err != nil {
				return err
			}
		}
		s.buf = append(s.buf, '\n')
	}
	s.buf = appendTextSummary(s.buf, r, opt.TextOptions)
	return s.flush()
}

// appendTargetHeading appends "/old/: error: no file answers /old/
// [missing-file], 16 links on 8 pages" and the line end.
func appendTargetHeading(dst []byte, g *group, f *check.Finding, p painter) []byte {
	dst = p.on(dst, sgrBold)
	dst = appendCut(dst, g.label, maxValueBytes)
	dst = append(dst, ':')
	dst = p.off(dst)
	dst = append(dst, ' ')
	color := sgrYellow
	if f.Verdict == check.Error {
		color = sgrRed
	}
	dst = p.on(dst, color)
	dst = append(dst, f.Verdict.String()...)
	dst = append(dst, ':')
	dst = p.off(dst)
	if f.Message != "" {
		dst = append(dst, ' ')
		dst = appendCut(dst, f.Message, maxMessageBytes)
	}
	dst = appendCode(dst, f.Code, p)
	dst = append(dst, ", "...)
	dst = appendCount(dst, g.links, "link")
	dst = append(dst, " on "...)
	dst = appendCount(dst, g.pages, "page")
	return append(dst, '\n')
}

// appendHeading appends "@docs-team: 12 errors, 1 warning on 5 pages".
func appendHeading(dst []byte, g *group, by GroupBy, p painter) []byte {
	dst = p.on(dst, sgrBold)
	dst = appendCut(dst, headingOf(g, by), maxValueBytes)
	dst = append(dst, ':')
	dst = p.off(dst)
	dst = append(dst, ' ')
	dst = appendVerdictCounts(dst, g.errors, g.warnings, " ")
	if by != GroupPage {
		dst = append(dst, " on "...)
		dst = appendCount(dst, g.pages, "page")
	}
	return append(dst, '\n')
}

// headingOf is the label, or what to say where there is none.
func headingOf(g *group, by GroupBy) string {
	switch {
	case g.label != "":
		return g.label
	case by == GroupOwner:
		return "no owner"
	}
	return string(g.code)
}

// appendReferrer appends one link of a target: its place, first on the line so
// that editors find it, and how it is written there.
func appendReferrer(dst []byte, f *check.Finding, opt TextOptions) []byte {
	dst = append(dst, indent...)
	if f.Source != nil {
		dst = appendQuoted(dst, f.Source.File)
		dst = appendPlace(dst, f.Source.Line, f.Source.Column)
	} else {
		dst = appendPath(dst, f.Page, opt.Prefix)
		dst = appendPlace(dst, f.Line, f.Column)
	}
	dst = append(dst, ": "...)
	dst = painter(opt.Color).on(dst, sgrDim)
	dst = appendWritten(dst, f)
	dst = painter(opt.Color).off(dst)
	if f.Count > 1 {
		dst = append(dst, ", one of "...)
		dst = appendCount(dst, f.Count, "link")
	}
	if f.Suggestion != "" {
		before, after := hint(f)
		dst = append(dst, ", "+before...)
		dst = appendCut(dst, f.Suggestion, maxValueBytes)
		dst = append(dst, after...)
	}
	return append(dst, '\n')
}
