package check

import (
	"github.com/sitelink/sitelink/internal/redirect"
	isite "github.com/sitelink/sitelink/internal/site"
)

// ruleFindings reports what is wrong with the host's redirect rules, each with
// file and line.
func ruleFindings(s *isite.Site) []Finding {
	var out []Finding
	for _, f := range s.RuleFaults() {
		v := Error
		if f.Severity == redirect.Warning {
			v = Warning
		}
		message := f.Message
		if f.Text != "" {
			message += ": " + f.Text
		}
		out = append(out, Finding{Page: f.File, Line: f.Line, Column: min(f.Line, 1), Verdict: v, Code: Code(f.Code), Count: 1, Message: message, about: f.Text})
	}
	return out
}
