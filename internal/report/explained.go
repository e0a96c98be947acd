package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/precheck"
)

// Explained writes for people how receivers will see pages: below each page
// what is wrong with it, then each target with its endpoint and what is wrong
// with the link.
//
// The only errors are those of w, wrapped.
func Explained(w io.Writer, reports []*precheck.Report, color bool) error {
	s, p := sink{w: w}, painter(color)
	for _, r := range reports {
		s.buf = p.off(appendQuoted(p.on(s.buf, sgrBold), r.Source))
		s.buf = append(s.buf, '\n')
		for _, problem := range r.Problems {
			s.buf = appendProblem(s.buf, p, "  ", problem)
		}
		if r.Built {
			s.buf = append(s.buf, "  checked the built page instead\n"...)
		}
		for _, row := range r.Rows {
			s.buf = append(appendQuoted(append(s.buf, "  "...), row.Target), '\n')
			s.buf = appendEndpoint(s.buf, p, row)
			for _, problem := range row.Problems {
				s.buf = appendProblem(s.buf, p, "    ", problem)
			}
			if err := s.drain(); err != nil {
				return err
			}
		}
		s.buf = append(s.buf, '\n')
	}
	s.buf = append(append(s.buf, ExplainedSummary(reports)...), '\n')
	return s.flush()
}

// appendEndpoint appends where a target accepts notices.
func appendEndpoint(buf []byte, p painter, row precheck.Row) []byte {
	buf = append(buf, "    "...)
	switch {
	case row.Err != nil:
		buf = p.off(append(p.on(buf, sgrYellow), "could not be reached"...))
		buf = appendQuoted(append(buf, ": "...), row.Err.Error())
	case row.Endpoint != "":
		buf = append(append(buf, row.Protocol...), " to "...)
		buf = appendQuoted(buf, row.Endpoint)
		buf = p.off(append(p.on(append(buf, "  "...), sgrDim), row.Via...))
	default:
		buf = append(buf, "has no endpoint"...)
		if row.Via != "" {
			buf = appendQuoted(append(buf, ": "...), row.Via)
		}
	}
	return append(buf, '\n')
}

// appendProblem appends a problem and, on the next line, how to solve it.
func appendProblem(buf []byte, p painter, indent string, problem precheck.Problem) []byte {
	buf = p.off(append(p.on(append(buf, indent...), sgrRed), "error"...))
	buf = appendQuoted(append(buf, ": "...), problem.Message)
	buf = fmt.Appendf(buf, " [%s]", problem.Code)
	if problem.Line > 0 {
		buf = fmt.Appendf(buf, ", line %d", problem.Line)
	}
	buf = append(append(append(buf, '\n'), indent...), "    "...)
	return append(appendQuoted(buf, problem.Cure), '\n')
}

// ExplainedSummary returns one line with the counts.
func ExplainedSummary(reports []*precheck.Report) string {
	targets, telling, refused, failed := 0, 0, 0, 0
	for _, r := range reports {
		for _, row := range r.Rows {
			targets++
			switch {
			case row.Err != nil:
				failed++
			case row.Endpoint == "":
			case len(row.Problems) > 0 || slices.ContainsFunc(r.Problems, func(p precheck.Problem) bool {
				return p.Protocol == ledger.AnyProtocol || p.Protocol == row.Protocol
			}):
				refused++
			default:
				telling++
			}
		}
	}
	return fmt.Sprintf("%s: %d can be notified, %d would reject the page, %d have no endpoint, %d could not be reached; nothing was sent",
		appendCount(nil, targets, "target"), telling, refused, targets-telling-refused-failed, failed)
}

// explainedJSON is the document that [ExplainedJSON] writes.
type explainedJSON struct {
	Schema int             `json:"schema"`
	Pages  []explainedPage `json:"pages"`
}

type explainedPage struct {
	Source   string             `json:"source"`
	Live     bool               `json:"live"`
	Built    bool               `json:"built"`
	Problems []explainedProblem `json:"problems"`
	Targets  []explainedTarget  `json:"targets"`
}

type explainedTarget struct {
	Target   string             `json:"target"`
	Protocol string             `json:"protocol"`
	Endpoint string             `json:"endpoint"`
	Via      string             `json:"via"`
	Error    string             `json:"error,omitempty"`
	Problems []explainedProblem `json:"problems"`
}

type explainedProblem struct {
	Code    precheck.Code `json:"code"`
	Message string        `json:"message"`
	Cure    string        `json:"cure"`
	Line    int           `json:"line,omitempty"`
}

// ExplainedJSON writes the explanations as one object;
// docs/reference/formats.md lists its fields.
//
// The only errors are those of w, wrapped.
func ExplainedJSON(w io.Writer, reports []*precheck.Report) error {
	doc := explainedJSON{Schema: 1, Pages: []explainedPage{}}
	for _, r := range reports {
		page := explainedPage{r.Source, r.Live, r.Built, explainedProblems(r.Problems), []explainedTarget{}}
		for _, row := range r.Rows {
			t := explainedTarget{row.Target, string(row.Protocol), row.Endpoint, row.Via, "", explainedProblems(row.Problems)}
			if row.Err != nil {
				t.Error = row.Err.Error()
			}
			page.Targets = append(page.Targets, t)
		}
		doc.Pages = append(doc.Pages, page)
	}
	return JSONDocument(w, doc)
}

// ExplainedMarkdown writes the explanations for a comment or a job summary.
//
// The only errors are those of w, wrapped.
func ExplainedMarkdown(w io.Writer, reports []*precheck.Report) error {
	s := sink{w: w}
	s.buf = append(append(append(s.buf, "### sitelink: "...), ExplainedSummary(reports)...), '\n')
	problem := func(indent string, p precheck.Problem) {
		s.buf = appendCodeSpan(append(append(s.buf, indent...), "- error: "...), p.Message)
		s.buf = appendCodeSpan(append(s.buf, ": "...), p.Cure)
		s.buf = append(s.buf, '\n')
	}
	for _, r := range reports {
		s.buf = append(appendCodeSpan(append(s.buf, "\n"...), r.Source), "\n\n"...)
		for _, p := range r.Problems {
			problem("", p)
		}
		for _, row := range r.Rows {
			s.buf = appendCodeSpan(append(s.buf, "- "...), row.Target)
			s.buf = append(appendCodeSpan(append(s.buf, ' '), strings.TrimSpace(string(appendEndpoint(nil, false, row)))), '\n')
			for _, p := range row.Problems {
				problem("  ", p)
			}
			if err := s.drain(); err != nil {
				return err
			}
		}
	}
	return s.flush()
}

func explainedProblems(problems []precheck.Problem) []explainedProblem {
	all := []explainedProblem{}
	for _, p := range problems {
		all = append(all, explainedProblem{p.Code, p.Message, p.Cure, p.Line})
	}
	return all
}
