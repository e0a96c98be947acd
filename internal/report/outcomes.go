package report

import (
	"io"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/outgoing/deliver"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// OutcomesOptions say how outcomes are shown.
type OutcomesOptions struct {
	// All also lists the notices that went well. They are not listed by default
	// (PB-52).
	All   bool
	Color bool
}

// outcomeWords are the states of a notice for people.
var outcomeWords = map[ledger.State]string{
	ledger.Done: "notified", ledger.Accepted: "accepted", ledger.Permanent: "failed", ledger.Retry: "failed for now",
	ledger.InFlight: "unknown", ledger.NoService: "no endpoint", ledger.Skipped: "skipped", ledger.Pending: "pending",
}

// Outcomes writes for people what became of the notices of a run: below each
// page the targets that could not be notified, and why, then the counts. If all
// went well, some target was notified, and opt does not ask for more, it writes nothing.
//
// The only errors are those of w, wrapped.
func Outcomes(w io.Writer, r *deliver.Report, opt OutcomesOptions) error {
	s, p := sink{w: w}, painter(opt.Color)
	source := ""
	for i := range r.Results {
		n := &r.Results[i]
		if !opt.All && !n.Failed() && !n.Repeated && n.Cure == "" {
			continue
		}
		if n.Source != source {
			source = n.Source
			s.say("%s\n", p.paint(sgrBold, quoted(source)))
		}
		color := ""
		switch {
		case n.State == ledger.Permanent:
			color = sgrRed
		case n.Failed():
			color = sgrYellow
		}
		s.say("  %s: %s  %s\n", p.paint(color, outcomeWords[n.State]), quoted(n.Target), p.paint(sgrDim, quoted(outcomeDetail(n))))
		if err := s.drain(); err != nil {
			return err
		}
	}
	notified := len(r.Results) == 0 || r.Count(ledger.Done)+r.Count(ledger.Accepted) > 0
	if len(s.buf) == 0 && !opt.All && r.Failed() == 0 && r.Stopped == "" && notified {
		return s.flush()
	}
	if source != "" {
		s.buf = append(s.buf, '\n')
	}
	s.say("%s\n", OutcomesSummary(r))
	return s.flush()
}

// outcomeDetail returns the protocol and the event, what the target answered,
// and what comes next.
func outcomeDetail(n *deliver.Outcome) string {
	text := string(n.Event)
	if n.Protocol != ledger.AnyProtocol {
		text = string(n.Protocol) + ", " + text
	}
	if n.Message != "" {
		text += ": " + n.Message
	}
	if n.Cure != "" {
		text += ": " + n.Cure
	}
	if n.Repeated {
		text += " (sent again: an earlier run was interrupted while sending it)"
	}
	if !n.Next.IsZero() {
		text += "; next attempt after " + n.Next.UTC().Format(time.RFC3339)
	}
	return text
}

// OutcomesSummary returns one line with the counts of a run.
func OutcomesSummary(r *deliver.Report) string {
	var parts []string
	part := func(n int, words string) {
		if n > 0 {
			parts = append(parts, text.Thousands(n)+" "+words)
		}
	}
	part(r.Count(ledger.Done), "notified")
	part(r.Count(ledger.Accepted), "accepted for later")
	part(r.Count(ledger.Permanent), "failed")
	part(r.Count(ledger.Retry)+r.Count(ledger.InFlight), "failed for now")
	part(r.Count(ledger.NoService), "to targets that take no notices")
	part(r.Count(ledger.Skipped), "skipped")
	part(r.NotTried, "not tried")
	if len(parts) == 0 {
		parts = []string{"nothing was due"}
	}
	words := strings.Join(parts, ", ")
	repeated, unsettled := r.Repeated()
	if repeated > 0 {
		words += "; " + text.Count(repeated, "notice") + " of an interrupted run sent again"
	}
	if unsettled > 0 {
		words += "; " + text.Count(unsettled, "notice") + " of an interrupted run not sent again, because a repeat could do harm"
	}
	return words
}

// outcomesSchema is the version of the JSON document of outcomes, see schema.
const outcomesSchema = 1

type outcomesDocument struct {
	Schema    int              `json:"schema"`
	Base      string           `json:"base"`
	Counts    map[string]int   `json:"counts"`
	Failed    int              `json:"failed"`
	Left      int              `json:"left"`
	Repeated  int              `json:"repeated"`
	Unsettled int              `json:"unsettled"`
	Stopped   string           `json:"stopped,omitempty"`
	Notices   []outcomesNotice `json:"notices"`
}

type outcomesNotice struct {
	ledger.Notice
	Via       string `json:"via,omitempty"`
	Repeated  bool   `json:"repeated,omitempty"`
	Unsettled bool   `json:"unsettled,omitempty"`
}

// OutcomesJSON writes all outcomes as one object; docs/reference/formats.md
// lists its fields.
//
// The only errors are those of w, wrapped.
func OutcomesJSON(w io.Writer, base string, r *deliver.Report) error {
	d := outcomesDocument{Schema: outcomesSchema, Base: base, Counts: map[string]int{}, Failed: r.Failed(), Left: r.NotTried, Stopped: r.Stopped, Notices: []outcomesNotice{}}
	d.Repeated, d.Unsettled = r.Repeated()
	for i := range r.Results {
		n := &r.Results[i]
		d.Counts[string(n.State)]++
		d.Notices = append(d.Notices, outcomesNotice{n.Notice, n.Via, n.Repeated, n.NotRepeated})
	}
	return JSONDocument(w, d)
}

// OutcomesMarkdown writes the counts and the targets that could not be
// notified, for a comment or a job summary. It stays below 65,000 bytes like
// [Markdown].
//
// The only errors are those of w, wrapped.
func OutcomesMarkdown(w io.Writer, r *deliver.Report) error {
	s := sink{w: w}
	s.say("### sitelink: %s\n", OutcomesSummary(r))
	source, shown, failed := "", 0, r.Failed()
	for i := range r.Results {
		n := &r.Results[i]
		if !n.Failed() {
			continue
		}
		if len(s.buf) > markdownMaxBytes-markdownTail-4*maxValueBytes {
			s.say("\n... and %s\n", text.Count(failed-shown, "more failure"))
			break
		}
		shown++
		if n.Source != source {
			source = n.Source
			s.say("\n%s\n\n", codeSpan(source))
		}
		s.say("- %s: %s %s\n", outcomeWords[n.State], codeSpan(n.Target), codeSpan(outcomeDetail(n)))
	}
	return s.flush()
}
