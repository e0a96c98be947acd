// Package webmention tells targets by Webmention, the W3C Recommendation of
// 2017: a page that holds, held or changed a link and its target enter, one POST
// leaves, and what the endpoint answered comes back as an outcome.
//
// https://www.w3.org/TR/webmention/, section 3.1.
package webmention

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/answer"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// maxAnswer bounds the body of an answer, of which one line is shown.
const maxAnswer = 64 << 10

// Sender is the [outgoing.Sender] of Webmention.
type Sender struct{ client fetch.Doer }

var _ outgoing.Sender = (*Sender)(nil)

// New returns a sender that makes its requests by client.
func New(client fetch.Doer) *Sender { return &Sender{client} }

// Protocol returns [ledger.Webmention].
func (s *Sender) Protocol() ledger.Protocol { return ledger.Webmention }

// Idempotent is true: a repeat updates what the receiver has (section 3.2.4).
func (s *Sender) Idempotent() bool { return true }

// Takes is true for every event: whatever happened to the link, the receiver
// looks at the source again (sections 3.1.3 to 3.1.5). A page that moved is told
// by its old address, which redirects or is gone.
func (s *Sender) Takes(ledger.Event) bool { return true }

// Spacing is 0: the pace of the client will do.
func (s *Sender) Spacing() time.Duration { return 0 }

// Send posts source and target, both as written, to the endpoint, whose query
// stays in its address. Any status of success counts (section 3.1.3). 200 says
// that the receiver is done with it; after others it looks at the page later,
// and after 201 it tells at Location how that went ([Sender.Status]).
func (s *Sender) Send(ctx context.Context, n outgoing.Notice, e outgoing.Endpoint) outgoing.Outcome {
	form := url.Values{"source": {n.Source}, "target": {n.Target}}
	resp, err := s.client.Do(ctx, fetch.Request{
		Method: http.MethodPost,
		URL:    e.URL,
		Header: http.Header{
			"Content-Type": {"application/x-www-form-urlencoded"},
			"Accept":       {"application/json, text/plain;q=0.9, text/html;q=0.8, */*;q=0.5"},
		},
		Body:    []byte(form.Encode()),
		MaxBody: maxAnswer,
	})
	if err != nil {
		o := answer.Failed(err)
		o.Endpoint = e.URL
		return o
	}
	o := outgoing.Outcome{Endpoint: e.URL, Status: resp.Status}
	said := says(resp)
	switch {
	case resp.Status == http.StatusOK:
		o.State, o.Message = ledger.Done, said
	case resp.Status >= 200 && resp.Status < 300:
		o.State, o.Message = ledger.Accepted, said
		if resp.Status == http.StatusCreated {
			o.Location = location(resp)
		}
	default:
		o.State, o.After = answer.Class(resp.Status, resp.Header, time.Now())
		o.Message = fmt.Sprintf("the endpoint answers %s", answer.StatusText(resp.Status))
		if said != "" {
			o.Message += ": " + said
		}
	}
	return o
}

// location returns the absolute address of a Location field, "" if it is none of
// HTTP.
func location(resp *fetch.Response) string {
	base, err := weburl.Parse(resp.URL)
	if err != nil {
		return ""
	}
	ref := resp.Header.Get("Location")
	if ref == "" {
		return ""
	}
	return usable(base, ref, "").URL
}
