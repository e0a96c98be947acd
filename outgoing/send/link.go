package send

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// maxLinkResponse limits the body of a response. The draft does not define one.
const maxLinkResponse = 16 << 10

// LinkOptions select the hosts that get calls.
type LinkOptions struct {
	// Peers are hosts that are known to take calls.
	Peers []LinkPeer
	// Probe asks the hosts of all other targets with OPTIONS.
	Probe bool
	// Unsupported remembers the hosts that do not support LINK. If nil, they
	// are remembered for the life of the sender.
	Unsupported *UnsupportedHosts
	// Now is the clock: [time.Now] if nil.
	Now func() time.Time
}

// LinkSender is the [outgoing.Sender] of LINK and UNLINK.
type LinkSender struct {
	client outgoing.Doer
	opt    LinkOptions
}

var _ outgoing.Sender = (*LinkSender)(nil)

// NewLink returns a sender that makes its requests with client.
func NewLink(client outgoing.Doer, o LinkOptions) *LinkSender {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Unsupported == nil {
		o.Unsupported = NewUnsupportedHosts(nil, nil)
	}
	return &LinkSender{client: client, opt: o}
}

// Protocol returns [ledger.LinkMethod].
func (s *LinkSender) Protocol() ledger.Protocol { return ledger.LinkMethod }

// Idempotent returns true: a repeated call has the same result as one (LK-43).
func (s *LinkSender) Idempotent() bool { return true }

// Takes returns true for every event that changes which pages link to which
// (LK-13). The methods cannot express that the text around a link changed.
func (s *LinkSender) Takes(e ledger.Event) bool { return e != ledger.Updated }

// Spacing returns 0: the pace of the client is enough (LK-52).
func (s *LinkSender) Spacing() time.Duration { return 0 }

// Send calls the host of the target: LINK for a new link, UNLINK for a removed one. For a
// page that moved, it sends UNLINK with the new URL, and LINK from there, because a host
// may do no more than remove the link. If it is not known which form a peer speaks, the
// peer gets a second request if it does not understand the first.
func (s *LinkSender) Send(ctx context.Context, n ledger.Notice, e outgoing.Endpoint) outgoing.Outcome {
	c := LinkCall{Method: Unlink, Source: n.Source, Target: n.Target, Replacement: n.Replacement}
	switch n.Event {
	case ledger.Added:
		c.Method, c.Replacement = Link, ""
	case ledger.Removed, ledger.Deleted:
		// The host of the target got LINK from the new URL when the page moved.
		c.Source, c.Replacement = cmp.Or(n.Replacement, n.Source), ""
	}
	o := s.call(ctx, c, e)
	if n.Event == ledger.Moved && (o.State == ledger.Done || o.State == ledger.Accepted) {
		return s.call(ctx, LinkCall{Method: Link, Source: n.Replacement, Target: n.Target}, e)
	}
	return o
}

// Notify makes a call of any method to the host that receives it, if that host
// takes calls (LK-61): UNLINKR and LINKMOD go to the host of the source (LK-12).
func (s *LinkSender) Notify(ctx context.Context, c LinkCall) outgoing.Outcome {
	e, err := s.Discover(ctx, outgoing.NewTarget(s.client, c.Receiver()))
	switch {
	case err != nil:
		return outgoing.RequestFailed(err)
	case e.URL == "":
		return outgoing.Outcome{State: ledger.NoService, Message: cmp.Or(e.Via, "the host does not take calls")}
	}
	if e.Form == string(Header) && (c.Method == UnlinkR || c.Method == LinkMod) {
		return outgoing.Outcome{State: ledger.NoService, Message: fmt.Sprintf("the host takes LINK and UNLINK only, not %s", c.Method)}
	}
	return s.call(ctx, c, e)
}

// call makes a call to an endpoint, and remembers a host that does not support
// it.
func (s *LinkSender) call(ctx context.Context, c LinkCall, e outgoing.Endpoint) outgoing.Outcome {
	form := LinkForm(e.Form)
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
		if err := s.remember(ctx, e.URL); err != nil {
			o.Message += "; " + err.Error()
		}
	}
	return o
}

// Call makes a call in the given form to the host of the URL to. The header form
// has no place for a replacement and drops it.
func (s *LinkSender) Call(ctx context.Context, c LinkCall, form LinkForm, to string) outgoing.Outcome {
	if form == Header {
		c.Replacement = ""
	}
	r, err := c.request(form, to)
	if err != nil {
		return outgoing.Outcome{State: ledger.Permanent, Message: err.Error()}
	}
	r.MaxBody = maxLinkResponse
	resp, err := s.client.Do(ctx, r)
	if resp != nil {
		// The status is enough, even if the body is incomplete.
		return c.outcome(form, resp, s.opt.Now())
	}
	o := outgoing.RequestFailed(err)
	var failure *fetch.Error
	if errors.As(err, &failure) && (failure.Kind == fetch.Closed || failure.Kind == fetch.Header) {
		// A server that does not understand the request line does this (LK-57).
		o.State = ledger.NoService
		o.Message = fmt.Sprintf("the host does not support %s: %v", c.Method, outgoing.OneLine(failure.Err.Error()))
	}
	return o
}

// remember notes that the host of a URL does not support LINK.
func (s *LinkSender) remember(ctx context.Context, address string) error {
	u, err := weburl.Parse(address)
	if err != nil {
		return err
	}
	return s.opt.Unsupported.add(ctx, origin(u), s.opt.Now())
}
