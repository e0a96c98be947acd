// Package pingback tells targets by Pingback 1.0: a page that holds a link and
// its target enter, one XML-RPC call leaves, and what the server answered comes
// back as an outcome.
//
// Discovery and call follow https://www.hixie.ch/specs/pingback/pingback to the
// byte. Reading the answer is lenient, for servers are not.
package pingback

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/answer"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/precheck"
)

// maxAnswer bounds the body of an answer. A fault has some 400 bytes.
const maxAnswer = 64 << 10

// Options say how to send.
type Options struct {
	// Spacing is the least time between two notices to one host: 16 s if 0, as
	// WordPress wants it, none if negative.
	Spacing time.Duration
}

// Sender is the [outgoing.Sender] of Pingback.
type Sender struct {
	client  fetch.Doer
	spacing time.Duration
}

var _ outgoing.Sender = (*Sender)(nil)

// New returns a sender that makes its requests by client.
func New(client fetch.Doer, o Options) *Sender {
	s := &Sender{client: client, spacing: o.Spacing}
	if s.spacing == 0 {
		s.spacing = flood
	}
	return s
}

// Protocol returns [ledger.Pingback].
func (s *Sender) Protocol() ledger.Protocol { return ledger.Pingback }

// Idempotent is true: a server that has the pair answers so (PB-47).
func (s *Sender) Idempotent() bool { return true }

// Takes is true for a new link and for one on a changed page, since a server may
// have refused the page as it was. A pingback cannot be taken back.
func (s *Sender) Takes(e ledger.Event) bool { return e == ledger.Added || e == ledger.Updated }

// Once is true: a server that has the link has nothing to learn of an update.
func (s *Sender) Once() bool { return true }

// Spacing returns the least time between two notices to one host.
func (s *Sender) Spacing() time.Duration { return max(s.spacing, 0) }

// Send calls pingback.ping once. When the server refuses for a reason that it
// keeps to itself, the page is fetched and looked at (package precheck), so that
// the outcome can say what the reason is likely to be.
func (s *Sender) Send(ctx context.Context, n outgoing.Notice, e outgoing.Endpoint) outgoing.Outcome {
	body, err := encode(n.Source, n.Target)
	if err != nil {
		return outgoing.Outcome{State: ledger.Permanent, Endpoint: e.URL, Message: err.Error()}
	}
	resp, err := s.client.Do(ctx, fetch.Request{
		Method:  http.MethodPost,
		URL:     e.URL,
		Header:  http.Header{"Content-Type": {"text/xml"}, "Accept": {"text/xml"}},
		Body:    body,
		MaxBody: maxAnswer,
	})
	if err != nil {
		o := answer.Failed(err)
		o.Endpoint = e.URL
		return o
	}
	o := s.judge(ctx, n, resp)
	o.Endpoint, o.Status = e.URL, resp.Status
	return o
}

// judge reads an answer.
func (s *Sender) judge(ctx context.Context, n outgoing.Notice, resp *fetch.Response) outgoing.Outcome {
	ok := resp.Status >= 200 && resp.Status < 300
	r, err := decode(resp.Body, resp.Header.Get("Content-Type"))
	switch {
	case err == nil && r.fault != nil && (ok || r.fault.known && r.fault.code != faultGeneric):
		return s.faulted(ctx, n, r.fault)
	case err == nil && ok:
		return outgoing.Outcome{State: ledger.Done, Message: answer.Line(r.text)}
	case !ok:
		return refused(resp, r)
	case errors.Is(err, errNoXML) && len(resp.Body) > 0:
		return outgoing.Outcome{State: ledger.Permanent, Message: fmt.Sprintf(
			"the server does not answer in XML-RPC: %s", answer.Excerpt(resp.Body, resp.Header.Get("Content-Type")))}
	}
	// Nobody knows whether it arrived. A repeat will tell: the server answers
	// that it has the pair already.
	return outgoing.Outcome{State: ledger.Retry, Message: err.Error()}
}

// refused is the outcome of an answer whose status is no success, with the
// fault that it may hold besides.
func refused(resp *fetch.Response, r reply) outgoing.Outcome {
	var o outgoing.Outcome
	o.State, o.After = answer.Class(resp.Status, resp.Header, time.Now())
	if resp.Status == http.StatusTooManyRequests {
		o.After = max(o.After, flood)
	}
	o.Message = "the server answers " + answer.StatusText(resp.Status)
	if r.fault == nil {
		return o
	}
	if r.fault.known {
		o.Fault = &r.fault.code
	}
	if r.fault.text != "" {
		o.Message += ": " + answer.Line(r.fault.text)
	}
	return o
}

// faulted is the outcome of a fault.
func (s *Sender) faulted(ctx context.Context, n outgoing.Notice, f *fault) outgoing.Outcome {
	c := classify(f, n.Attempts)
	o := outgoing.Outcome{State: c.state, After: c.after, Message: c.message(f)}
	if f.known {
		o.Fault = &f.code
	}
	if !c.explain {
		return o
	}
	problems, err := precheck.Fetch(ctx, s.client, n.Source, n.Target)
	if err != nil {
		o.Message += "; the page itself cannot be read: " + answer.Line(err.Error())
		return o
	}
	problems = precheck.For(ledger.Pingback, problems)
	if len(problems) == 0 {
		if o.State == ledger.Permanent {
			o.Message += "; nothing is wrong with the page"
		}
		return o
	}
	for _, p := range problems {
		o.Message += "; " + p.Message + ": " + p.Cure
	}
	if !problems[0].Passing() {
		// The page will not mend itself: its next change makes a new notice.
		o.State, o.After = ledger.Permanent, 0
	}
	return o
}
