// Package linkmethod tells targets by the HTTP methods LINK and UNLINK: a page
// that holds, or no longer holds, a link and its target enter, one request
// leaves, and what the target's host answered comes back as an outcome.
//
// The methods are experimental: draft-pritchard-http-links-00 of 1996 was never
// adopted, and no server speaks it unless somebody made it. So nothing is sent
// but to hosts that opt in (LK-61), by [Options.Peers] or by their answer to
// OPTIONS, and a host that turns out not to understand is left alone for 30
// days.
package linkmethod

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/answer"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// maxAnswer bounds the body of an answer; the draft defines none.
const maxAnswer = 16 << 10

// Options say who is called.
type Options struct {
	// Peers are hosts that are called without asking them first.
	Peers []Peer
	// Ask makes every other host of a target be asked by OPTIONS.
	Ask bool
	// Memory must not be nil.
	Memory *Memory
	// Now is the clock, [time.Now] if nil.
	Now func() time.Time
}

// Sender is the [outgoing.Sender] of LINK and UNLINK.
type Sender struct {
	client fetch.Doer
	opt    Options
}

var _ outgoing.Sender = (*Sender)(nil)

// New returns a sender that makes its requests by client.
func New(client fetch.Doer, o Options) *Sender {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Sender{client: client, opt: o}
}

// Protocol returns [ledger.LinkMethod].
func (s *Sender) Protocol() ledger.Protocol { return ledger.LinkMethod }

// Idempotent is true: a repeat leaves a receiver with what one call would
// (LK-43).
func (s *Sender) Idempotent() bool { return true }

// Takes is true for all that changes which pages link to which (LK-13). That a
// page changed around its link is no matter of these methods.
func (s *Sender) Takes(e ledger.Event) bool { return e != ledger.Updated }

// Spacing is 0: the pace of the client will do (LK-52).
func (s *Sender) Spacing() time.Duration { return 0 }

// Send makes one call to the target's host: LINK for a new link, UNLINK for
// one that is gone, with the page's new address if it moved. A peer of whom no
// form is known gets a second request if it does not understand the first.
func (s *Sender) Send(ctx context.Context, n outgoing.Notice, e outgoing.Endpoint) outgoing.Outcome {
	c := Call{Method: Unlink, Source: n.Source, Target: n.Target, Replacement: n.Replacement}
	if n.Event == ledger.Added {
		c.Method, c.Replacement = Link, ""
	}
	form := Form(e.Form)
	if form == "" {
		form = Raw
	}
	o := s.Call(ctx, c, form, e.URL)
	if o.State == ledger.NoService && e.Form == "" {
		form = Header
		o = s.Call(ctx, c, form, e.URL)
	}
	o.Endpoint = e.URL
	if o.State == ledger.NoService {
		if err := s.learn(ctx, e.URL); err != nil {
			o.Message += "; " + err.Error()
		}
	}
	return o
}

// Call makes a call in the form given to the host of the address to.
func (s *Sender) Call(ctx context.Context, c Call, form Form, to string) outgoing.Outcome {
	if form == Header {
		c.Replacement = "" // that form knows none
	}
	r, err := c.request(form, to)
	if err != nil {
		return outgoing.Outcome{State: ledger.Permanent, Message: err.Error()}
	}
	r.MaxBody = maxAnswer
	resp, err := s.client.Do(ctx, r)
	if resp != nil {
		// The answer's head tells all, even if its body broke off.
		return c.judge(form, resp, s.opt.Now())
	}
	o := answer.Failed(err)
	var failure *fetch.Error
	if errors.As(err, &failure) && (failure.Kind == fetch.Closed || failure.Kind == fetch.Header) {
		// What a server does that does not understand the request line (LK-57).
		o.State = ledger.NoService
		o.Message = fmt.Sprintf("the host does not speak %s: %v", c.Method, answer.Line(failure.Err.Error()))
	}
	return o
}

// learn remembers that the host of an address does not speak LINK.
func (s *Sender) learn(ctx context.Context, address string) error {
	u, err := weburl.Parse(address)
	if err != nil {
		return err
	}
	return s.opt.Memory.learn(ctx, origin(u), s.opt.Now())
}
