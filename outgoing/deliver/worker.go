package deliver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// result is what a worker made of a job.
type result struct {
	job  *job
	done Delivered
	// untried: the run ended first, and the notice is as it was.
	untried bool
	// pause is how long the host shall get nothing else.
	pause time.Duration
	// named: the target said when to come again.
	named bool
	// noAnswer: the host could not be reached.
	noAnswer bool
	// more are notices that were found to be due besides.
	more []ledger.Notice
	err  error // of the store
}

// work delivers one notice. ctx ends the search for an endpoint and the wait
// for a turn; what is begun is finished and recorded.
func (d *delivery) work(ctx context.Context, j *job) result {
	n := j.notice
	r := result{job: j, done: Delivered{Notice: n}}
	page := &target{url: n.Target, fetcher: d.opt.Targets}
	var err error
	if r.more, err = d.besides(ctx, n, page); err != nil {
		r.err = err
		return r
	}
	sender, endpoint, o := d.endpoint(ctx, n, page)
	if ctx.Err() != nil {
		r.untried = true
		return r
	}
	if sender == nil {
		return d.finish(ctx, r, n, o, false)
	}
	r.done.Via = endpoint.Via
	if d.told(n, sender) {
		n.Protocol = sender.Protocol()
		return d.finish(ctx, r, n, outgoing.Outcome{State: ledger.Done, Endpoint: endpoint.URL,
			Message: fmt.Sprintf("the target has the link; a %s does not say that the page changed", sender.Protocol())}, false)
	}
	if n.State == ledger.InFlight {
		if !sender.Idempotent() {
			r.done.Unsettled = true
			return d.finish(ctx, r, n, outgoing.Outcome{State: ledger.Permanent, Endpoint: endpoint.URL,
				Message: fmt.Sprintf("an earlier run ended while it was sent by %s; whether it arrived is not known, and it is not sent twice", sender.Protocol())}, false)
		}
		r.done.Repeated = true
	}
	leave, err := d.gates.enter(ctx, hostOf(endpoint.URL), sender.Spacing())
	if err != nil {
		r.untried = true
		return r
	}
	if err := d.store.Begin(ctx, n.Key); err != nil {
		leave()
		r.untried = ctx.Err() != nil
		if !r.untried {
			r.err = err
		}
		return r
	}
	// From here on the target may get it: an interrupt does not cut it off.
	ctx = context.WithoutCancel(ctx)
	o = sender.Send(ctx, outgoing.Notice{Source: n.Source, Target: n.Target, Event: n.Event, Replacement: n.Replacement, Attempts: n.Attempts}, endpoint)
	leave()
	if o.Endpoint == "" {
		o.Endpoint = endpoint.URL
	}
	n.Protocol = sender.Protocol()
	r = d.finish(ctx, r, n, o, true)
	if o.State == ledger.Retry {
		r.named = o.After > 0
		if o.Status == 429 || o.Status == 503 || o.Fault != nil && *o.Fault == 429 {
			r.pause = max(o.After, sender.Spacing())
		}
	}
	r.pause = max(r.pause, sender.Spacing())
	return r
}

// finish records an outcome. sent: it is one of sending, not of what comes
// before.
func (d *delivery) finish(ctx context.Context, r result, n ledger.Notice, o outgoing.Outcome, sent bool) result {
	before := n.State
	n = settle(n, o, time.Now().UTC(), d.opt.Attempts)
	if before == ledger.InFlight && n.State == ledger.Retry && !sent {
		n.State = ledger.InFlight // of an earlier run: nobody knows more now
	}
	r.done.Notice = n
	r.noAnswer = o.State == ledger.Retry && o.Status == 0 && o.Fault == nil
	r.err = d.store.Record(context.WithoutCancel(ctx), r.job.notice.Key, n)
	return r
}

// endpoint finds the sender that delivers, and where. Without one, the outcome
// says why.
func (d *delivery) endpoint(ctx context.Context, n ledger.Notice, page outgoing.Target) (outgoing.Sender, outgoing.Endpoint, outgoing.Outcome) {
	var able []outgoing.Sender
	known := false
	for _, s := range d.candidates(n) {
		known = true
		if s.Takes(n.Event) {
			able = append(able, s)
		}
	}
	switch {
	case !known:
		return nil, outgoing.Endpoint{}, outgoing.Outcome{State: ledger.Skipped, Message: fmt.Sprintf("the protocol %s is switched off", n.Protocol)}
	case len(able) == 0:
		return nil, outgoing.Endpoint{}, outgoing.Outcome{State: ledger.Skipped, Message: fmt.Sprintf("no protocol in use can say that a link was %s", n.Event)}
	}
	var failure error
	none := outgoing.Outcome{State: ledger.NoService, Message: "the target takes no notices"}
	for _, s := range able {
		e, err := s.Discover(ctx, page)
		if err == nil && e.URL != "" {
			return s, e, outgoing.Outcome{}
		}
		if failure == nil {
			failure = err
		}
		if e.Via != "" {
			none.Message = "the target takes no notices: " + e.Via
		}
	}
	if failure != nil {
		return nil, outgoing.Endpoint{}, unreachable(failure)
	}
	return nil, outgoing.Endpoint{}, none
}

// candidates returns the senders that may deliver a notice.
func (d *delivery) candidates(n ledger.Notice) []outgoing.Sender {
	if n.Protocol == ledger.AnyProtocol {
		return d.opt.Senders
	}
	for _, list := range [][]outgoing.Sender{d.opt.Senders, d.opt.Besides, d.opt.Named} {
		for _, s := range list {
			if s.Protocol() == n.Protocol {
				return []outgoing.Sender{s}
			}
		}
	}
	return nil
}

// unreachable is the outcome of a target that could not be asked.
func unreachable(err error) outgoing.Outcome {
	o := outgoing.Outcome{State: ledger.Retry, Message: err.Error()}
	var failure *fetch.Error
	if errors.As(err, &failure) {
		switch {
		case failure.Kind == fetch.RefusedAddress:
			o.State = ledger.Skipped // PB-61: never asked, so it has not failed
		case !failure.Kind.Retry():
			o.State = ledger.Permanent
		}
	}
	// A target that answered, but not with its page, says when to come again.
	var later interface {
		Wait() (status int, after time.Duration)
	}
	if errors.As(err, &later) {
		o.Status, o.After = later.Wait()
	}
	return o
}

// besides makes notices for the protocols that are used beside others, where
// the target speaks them. They are in the store before the first one is sent,
// so that a crash does not lose them.
func (d *delivery) besides(ctx context.Context, n ledger.Notice, page outgoing.Target) (more []ledger.Notice, err error) {
	if n.Protocol != ledger.AnyProtocol {
		return nil, nil
	}
	for _, s := range d.opt.Besides {
		key := ledger.Key{Source: n.Source, Target: n.Target, Protocol: s.Protocol()}
		if old, ok := d.known[key]; !s.Takes(n.Event) || ok && old.Event == n.Event && old.Hash == n.Hash {
			continue // an earlier run came as far as this
		}
		e, err := s.Discover(ctx, page)
		if err != nil || e.URL == "" {
			continue // the notice itself says what is wrong with the target
		}
		twin := ledger.Notice{Key: key, Event: n.Event, Replacement: n.Replacement, Hash: n.Hash, State: ledger.Pending}
		if err := d.store.Record(ctx, key, twin); err != nil {
			if ctx.Err() != nil {
				return nil, nil
			}
			return nil, err
		}
		more = append(more, twin)
	}
	return more, nil
}

// postpone records that the source page did not come alive: an attempt, as the
// author may never publish it.
func (d *delivery) postpone(n ledger.Notice, now time.Time, why string) (Delivered, error) {
	before := n.State
	late := settle(n, outgoing.Outcome{State: ledger.Retry, Message: why}, now.UTC(), d.opt.Attempts)
	if before == ledger.InFlight && late.State == ledger.Retry {
		late.State = ledger.InFlight
	}
	return Delivered{Notice: late}, d.store.Record(context.Background(), n.Key, late)
}

// leave records that a notice is to wait for its host, without an attempt.
func (d *delivery) leave(n ledger.Notice, until time.Time, why string) (Delivered, error) {
	if n.State != ledger.InFlight {
		n.State = ledger.Retry
	}
	n.Next, n.Message = ceil(until.UTC()), why
	return Delivered{Notice: n}, d.store.Record(context.Background(), n.Key, n)
}

// hostOf returns the host of an address, with its port.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return strings.ToLower(u.Host)
}
