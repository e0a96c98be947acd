package send

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// maxResponse limits the body of a response. One line of it is shown.
const maxResponse = 64 << 10

// accept prefers the responses from which a message can be made.
const accept = "application/json, text/plain;q=0.9, text/html;q=0.8, */*;q=0.5"

// Webmention is the [outgoing.Sender] of Webmention.
type Webmention struct{ client outgoing.Doer }

var _ outgoing.Sender = (*Webmention)(nil)

// NewWebmention returns a sender that makes its requests with client.
func NewWebmention(client outgoing.Doer) *Webmention { return &Webmention{client} }

// Protocol returns [ledger.Webmention].
func (s *Webmention) Protocol() ledger.Protocol { return ledger.Webmention }

// Idempotent returns true: a repeated notice updates what the receiver has
// (section 3.2.4).
func (s *Webmention) Idempotent() bool { return true }

// Takes returns true: whatever happened to the link, the receiver fetches the
// source again (sections 3.1.3 to 3.1.5). ProblemsFor a page that moved, the source is
// its old URL, which redirects or is gone.
func (s *Webmention) Takes(ledger.Event) bool { return true }

// Spacing returns 0: the pace of the client is enough.
func (s *Webmention) Spacing() time.Duration { return 0 }

// Send posts source and target to the endpoint. Both are sent as written, and
// the endpoint keeps its query. Any 2xx status is a success (section 3.1.3):
// after 200 the receiver has processed the notice, after the others it will do
// so later, and a 201 has a Location at which [Webmention.Status] can ask.
func (s *Webmention) Send(ctx context.Context, n ledger.Notice, e outgoing.Endpoint) outgoing.Outcome {
	o := s.send(ctx, n, e)
	o.Endpoint = e.URL
	return o
}

func (s *Webmention) send(ctx context.Context, n ledger.Notice, e outgoing.Endpoint) outgoing.Outcome {
	form := url.Values{"source": {n.Source}, "target": {n.Target}}
	resp, err := s.client.Do(ctx, outgoing.Request{
		Method:  http.MethodPost,
		URL:     e.URL,
		Header:  http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Accept": {accept}},
		Body:    []byte(form.Encode()),
		MaxBody: maxResponse,
	})
	if err != nil {
		// If the body can never be read, the status is enough. That of a redirect does not
		// say why it is not followed.
		failed := outgoing.RequestFailed(err)
		if resp == nil || failed.State == ledger.Retry {
			return failed
		}
		if resp.Status/100 == 3 {
			failed.Status = resp.Status
			return failed
		}
	}
	switch {
	case !resp.Success():
		return resp.Refused("the endpoint", summary(resp), time.Now())
	}
	o := outgoing.Outcome{State: ledger.Accepted, Status: resp.Status, Message: summary(resp)}
	switch resp.Status {
	case http.StatusOK:
		o.State = ledger.Done
	case http.StatusCreated:
		o.Location = resp.Location()
	}
	return o
}

// Status asks a receiver what became of a notice that it accepted with this
// location. The specification leaves the format of that page to the receiver
// (section 3.1.3). If it is JSON with a known state, the outcome is Done or
// Permanent. Otherwise it stays Accepted, with a line of what the page says, or
// is Retry if the receiver fails temporarily.
func (s *Webmention) Status(ctx context.Context, location string) outgoing.Outcome {
	resp, err := s.client.Do(ctx, outgoing.Request{URL: location, Header: http.Header{"Accept": {accept}}, MaxBody: maxResponse})
	if err != nil {
		o := outgoing.RequestFailed(err)
		if o.State != ledger.Retry {
			o.State = ledger.Accepted // only the question failed, not the notice
		}
		o.Location = location
		return o
	}
	o := outgoing.Outcome{State: ledger.Accepted, Status: resp.Status, Location: location, Message: summary(resp)}
	if refused := resp.Refused("the status page", o.Message, time.Now()); refused.State == ledger.Retry {
		o.State, o.After = refused.State, refused.After
	} else if state, known := reportedState(resp); known {
		o.State = state
	}
	if resp.Status >= 300 {
		o.Message = strings.TrimSuffix(fmt.Sprintf("the status page answered %s: %s", outgoing.StatusText(resp.Status), o.Message), ": ")
	}
	return o
}

// statusReport has the members that receivers use in JSON. Each of
// webmention.io, Telegraph, brid.gy and others sends some of them.
type statusReport struct {
	Status      json.RawMessage `json:"status"`
	Error       json.RawMessage `json:"error"`
	Description string          `json:"error_description"`
	Summary     string          `json:"summary"`
	Message     string          `json:"message"`
	Result      json.RawMessage `json:"result"`
}

// readReport reads the JSON of a response; ok is false if it is not JSON.
func readReport(resp *outgoing.Response) (r statusReport, ok bool) {
	body := strings.TrimSpace(string(resp.Body))
	if !strings.HasPrefix(body, "{") {
		return r, false
	}
	return r, json.Unmarshal([]byte(body), &r) == nil
}

// stringOf returns a JSON string, or "" for any other value.
func stringOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// reportedState returns the state of a notice according to a JSON response.
func reportedState(resp *outgoing.Response) (ledger.State, bool) {
	r, ok := readReport(resp)
	if !ok {
		return "", false
	}
	if stringOf(r.Error) != "" {
		return ledger.Permanent, true
	}
	switch strings.ToLower(stringOf(r.Status)) {
	case "success", "accepted", "complete", "completed", "done", "ok", "verified", "approved", "published":
		return ledger.Done, true
	case "error", "failed", "failure", "rejected", "invalid", "no_link_found", "invalid_source", "invalid_target",
		"source_not_found", "target_not_found", "target_not_supported", "not_supported", "blocked", "deleted":
		return ledger.Permanent, true
	}
	return "", false
}

// summary returns one line with what a response says to the author.
func summary(resp *outgoing.Response) string {
	r, ok := readReport(resp)
	if !ok {
		return resp.Excerpt()
	}
	var parts []string
	for _, part := range []string{stringOf(r.Status), stringOf(r.Error), r.Description, r.Summary, r.Message, stringOf(r.Result)} {
		if part = outgoing.OneLine(part); part != "" {
			parts = append(parts, part)
		}
	}
	return outgoing.OneLine(strings.Join(parts, ": "))
}
