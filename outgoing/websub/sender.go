// Package websub tells the hubs of a feed that it changed, so that those who
// subscribed to it get it at once: the feed's address and a hub enter, one POST
// leaves.
//
// WebSub (https://www.w3.org/TR/websub/, section 4) leaves to publisher and hub
// how they speak with each other. All known hubs take what PubSubHubbub 0.4
// (section 7.1) had for it: hub.mode=publish and hub.url.
package websub

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/answer"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// maxAnswer bounds the body of an answer, of which one line is shown.
const maxAnswer = 16 << 10

// Sender is the [outgoing.Sender] of WebSub. The source of its notices is a
// feed, and the target a hub that [Hubs] found in it.
type Sender struct{ client fetch.Doer }

var _ outgoing.Sender = (*Sender)(nil)

// New returns a sender that makes its requests by client.
func New(client fetch.Doer) *Sender { return &Sender{client} }

// Protocol returns [ledger.WebSub].
func (s *Sender) Protocol() ledger.Protocol { return ledger.WebSub }

// Idempotent is true: the hub looks at the feed once more.
func (s *Sender) Idempotent() bool { return true }

// Takes is true for a feed that is new or changed. Of one that is gone a hub
// wants to know nothing.
func (s *Sender) Takes(e ledger.Event) bool { return e == ledger.Added || e == ledger.Updated }

// Spacing is 0: the pace of the client will do.
func (s *Sender) Spacing() time.Duration { return 0 }

// Discover returns the target itself: it is the hub.
func (s *Sender) Discover(_ context.Context, t outgoing.Target) (outgoing.Endpoint, error) {
	u, err := weburl.Parse(t.URL())
	if err != nil {
		return outgoing.Endpoint{}, err
	}
	if u.Scheme() != "http" && u.Scheme() != "https" {
		return outgoing.Endpoint{}, nil
	}
	return outgoing.Endpoint{URL: u.WithoutFragment(), Via: "hub of the feed"}, nil
}

// Send posts the feed's address, as written, to the hub. Every status of
// success counts; hubs answer 204 or 202.
func (s *Sender) Send(ctx context.Context, n outgoing.Notice, e outgoing.Endpoint) outgoing.Outcome {
	resp, err := s.client.Do(ctx, fetch.Request{
		Method:  http.MethodPost,
		URL:     e.URL,
		Header:  http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
		Body:    weburl.EncodeArgument([]byte("hub.mode=publish&hub.url="), n.Source),
		MaxBody: maxAnswer,
	})
	if resp == nil {
		o := answer.Failed(err)
		o.Endpoint = e.URL
		return o
	}
	o := outgoing.Outcome{State: ledger.Done, Endpoint: e.URL, Status: resp.Status}
	if resp.Status < 200 || resp.Status >= 300 {
		o.State, o.After = answer.Class(resp.Status, resp.Header, time.Now())
		o.Message = fmt.Sprintf("the hub answers %s", answer.StatusText(resp.Status))
		if said := answer.Excerpt(resp.Body, resp.Header.Get("Content-Type")); said != "" {
			o.Message += ": " + said
		}
	}
	return o
}
