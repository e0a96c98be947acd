package report

import (
	"io"

	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// PlanMarkdown writes a plan for a comment or a job summary: the counts, then a
// list for each page. Like [Markdown] it stays below 65,000 bytes, and
// whatever comes from the site stands in a code span.
//
// The only errors are those of w, wrapped.
func PlanMarkdown(w io.Writer, p *outgoing.Plan) error {
	s := sink{w: w}
	s.buf = append(append(append(s.buf, "### sitelink: "...), PlanSummary(p)...), '\n')
	source := ""
	for i := range p.Items {
		n := &p.Items[i]
		if len(s.buf) > markdownMaxBytes-markdownTail-4*maxValueBytes {
			s.buf = appendCount(append(s.buf, "\n... and "...), len(p.Items)-i, "more notice")
			s.buf = append(s.buf, '\n')
			break
		}
		if n.Source != source {
			source = n.Source
			s.buf = append(appendCodeSpan(append(s.buf, "\n"...), source), "\n\n"...)
		}
		s.buf = append(append(append(s.buf, "- "...), n.Event...), ' ')
		s.buf = appendCodeSpan(s.buf, n.Target)
		s.buf = append(s.buf, ": "...)
		if n.Event == ledger.Moved && !n.Withdrawn {
			s.buf = appendCodeSpan(append(s.buf, "the page moved to "...), n.Replacement)
		} else {
			s.buf = append(s.buf, why(n)...)
		}
		s.buf = append(s.buf, '\n')
	}
	return s.flush()
}
