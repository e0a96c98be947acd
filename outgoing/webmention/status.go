package webmention

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/answer"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// Status asks a receiver how a notice went on that it accepted with that
// location (section 3.1.3: what is there is for people). Receivers that answer
// in JSON are understood: a state of success is Done, one of failure Permanent.
// Everything else leaves the notice Accepted, with a line of what the page says;
// a receiver that fails for now is Retry.
func (s *Sender) Status(ctx context.Context, location string) outgoing.Outcome {
	resp, err := s.client.Do(ctx, fetch.Request{
		URL:     location,
		Header:  http.Header{"Accept": {"application/json, text/plain;q=0.9, text/html;q=0.8, */*;q=0.5"}},
		MaxBody: maxAnswer,
	})
	if err != nil {
		o := answer.Failed(err)
		// The notice itself did not fail.
		if o.State != ledger.Retry {
			o.State = ledger.Accepted
		}
		o.Location = location
		return o
	}
	o := outgoing.Outcome{State: ledger.Accepted, Status: resp.Status, Location: location, Message: says(resp)}
	if answer.Temporary(resp.Status) {
		o.State, o.After = answer.Class(resp.Status, resp.Header, time.Now())
	} else if state, known := progress(resp); known {
		o.State = state
	}
	if resp.Status >= 300 {
		o.Message = strings.TrimSuffix(fmt.Sprintf("the status page answers %s: %s", answer.StatusText(resp.Status), o.Message), ": ")
	}
	return o
}

// report is what receivers tell in JSON: webmention.io, Telegraph, brid.gy and
// others, each some of it.
type report struct {
	Status      json.RawMessage `json:"status"`
	Error       json.RawMessage `json:"error"`
	Description string          `json:"error_description"`
	Summary     string          `json:"summary"`
	Message     string          `json:"message"`
	Result      json.RawMessage `json:"result"`
}

// readReport reads the JSON of an answer; ok is false if it is none.
func readReport(resp *fetch.Response) (r report, ok bool) {
	body := strings.TrimSpace(string(resp.Body))
	if !strings.HasPrefix(body, "{") {
		return r, false
	}
	return r, json.Unmarshal([]byte(body), &r) == nil
}

// text is a member that is a string; "" for all others.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// progress reads the state of a notice from a report.
func progress(resp *fetch.Response) (ledger.State, bool) {
	r, ok := readReport(resp)
	if !ok {
		return "", false
	}
	if text(r.Error) != "" {
		return ledger.Permanent, true
	}
	switch strings.ToLower(text(r.Status)) {
	case "success", "accepted", "complete", "completed", "done", "ok", "verified", "approved", "published":
		return ledger.Done, true
	case "error", "failed", "failure", "rejected", "invalid", "no_link_found", "invalid_source", "invalid_target",
		"source_not_found", "target_not_found", "target_not_supported", "not_supported", "blocked", "deleted":
		return ledger.Permanent, true
	}
	return "", false
}

// says is one line of what an answer tells the author.
func says(resp *fetch.Response) string {
	r, ok := readReport(resp)
	if !ok {
		return answer.Excerpt(resp.Body, resp.Header.Get("Content-Type"))
	}
	var parts []string
	for _, part := range []string{text(r.Status), text(r.Error), r.Description, r.Summary, r.Message, text(r.Result)} {
		if part = answer.Line(part); part != "" {
			parts = append(parts, part)
		}
	}
	return answer.Line(strings.Join(parts, ": "))
}
