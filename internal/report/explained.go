package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/send"
)

// Explained writes for people how receivers will see pages: below each page
// what is wrong with it, then each target with its endpoint and what is wrong
// with the link.
//
// The only errors are those of w, wrapped.
func Explained(w io.Writer, reports []*send.Preview, color bool) error {
	s, p := sink{w: w}, painter(color)
	for _, r := range reports {
		s.say("%s\n", p.paint(sgrBold, quoted(r.Source)))
		for _, problem := range r.Problems {
			s.problem(p, "  ", problem)
		}
		if r.Built {
			s.say("  checked the built page instead\n")
		}
		for _, row := range r.Rows {
			s.say("  %s\n    %s\n", quoted(row.Target), endpoint(p, row))
			for _, problem := range row.Problems {
				s.problem(p, "    ", problem)
			}
			if err := s.drain(); err != nil {
				return err
			}
		}
		s.say("\n")
	}
	s.say("%s\n", ExplainedSummary(reports))
	return s.flush()
}

// endpoint says where a target accepts notices.
func endpoint(p painter, row send.PreviewRow) string {
	switch {
	case row.Err != nil:
		return p.paint(sgrYellow, "could not be reached") + ": " + quoted(row.Err.Error())
	case row.Endpoint != "":
		return string(row.Protocol) + " to " + quoted(row.Endpoint) + "  " + p.paint(sgrDim, row.Via)
	case row.Via != "":
		return "has no endpoint: " + quoted(row.Via)
	}
	return "has no endpoint"
}

// problem writes a problem and, on the next line, how to solve it.
func (s *sink) problem(p painter, indent string, problem send.Problem) {
	line := ""
	if problem.Line > 0 {
		line = fmt.Sprintf(", line %d", problem.Line)
	}
	s.say("%s%s: %s [%s]%s\n%s    %s\n", indent, p.paint(sgrRed, "error"), quoted(problem.Message), problem.Code, line, indent, quoted(problem.Cure))
}

// ExplainedSummary returns one line with the counts.
func ExplainedSummary(reports []*send.Preview) string {
	targets, telling, refused, failed := 0, 0, 0, 0
	for _, r := range reports {
		for _, row := range r.Rows {
			targets++
			switch {
			case row.Err != nil:
				failed++
			case row.Endpoint == "":
			case len(row.Problems) > 0 || slices.ContainsFunc(r.Problems, func(p send.Problem) bool {
				return p.Protocol == ledger.AnyProtocol || p.Protocol == row.Protocol
			}):
				refused++
			default:
				telling++
			}
		}
	}
	return fmt.Sprintf("%s: %d can be notified, %d would reject the page, %d have no endpoint, %d could not be reached; nothing was sent",
		text.Count(targets, "target"), telling, refused, targets-telling-refused-failed, failed)
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
	Code    send.ProblemCode `json:"code"`
	Message string           `json:"message"`
	Cure    string           `json:"cure"`
	Line    int              `json:"line,omitempty"`
}

// ExplainedJSON writes the explanations as one object;
// docs/reference/formats.md lists its fields.
//
// The only errors are those of w, wrapped.
func ExplainedJSON(w io.Writer, reports []*send.Preview) error {
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
func ExplainedMarkdown(w io.Writer, reports []*send.Preview) error {
	s := sink{w: w}
	s.say("### sitelink: %s\n", ExplainedSummary(reports))
	problem := func(indent string, p send.Problem) {
		s.say("%s- error: %s: %s\n", indent, codeSpan(p.Message), codeSpan(p.Cure))
	}
	for _, r := range reports {
		s.say("\n%s\n\n", codeSpan(r.Source))
		for _, p := range r.Problems {
			problem("", p)
		}
		for _, row := range r.Rows {
			s.say("- %s %s\n", codeSpan(row.Target), codeSpan(strings.TrimSpace(endpoint(false, row))))
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

func explainedProblems(problems []send.Problem) []explainedProblem {
	all := []explainedProblem{}
	for _, p := range problems {
		all = append(all, explainedProblem{p.Code, p.Message, p.Cure, p.Line})
	}
	return all
}
