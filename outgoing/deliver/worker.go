package deliver

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/send"
)

// jobResult is the result of a job.
type jobResult struct {
	job  *job
	done Outcome
	// notTried is set if the run ended first. The notice is unchanged.
	notTried bool
	// pause is how long the host must not get another notice.
	pause time.Duration
	// namedTime is set if the target said when to try again.
	namedTime bool
	// noResponse is set if the host could not be reached.
	noResponse bool
	// additional are new notices for the additional senders.
	additional []ledger.Notice
	err        error // of the store
}

// work delivers one notice. The end of ctx stops the discovery and the wait for a
// gate; a notice that is begun is finished and recorded.
func (d *delivery) work(ctx context.Context, j *job) jobResult {
	n := j.notice
	r := jobResult{job: j, done: Outcome{Notice: n}}
	page := outgoing.NewTarget(d.opt.Targets, n.Target)
	var err error
	if r.additional, err = d.addNotices(ctx, n, page); err != nil {
		r.err = err
		return r
	}
	sender, endpoint, o := d.endpoint(ctx, n, page)
	if ctx.Err() != nil {
		r.notTried = true
		return r
	}
	if sender == nil {
		return d.finish(ctx, r, n, o, false)
	}
	r.done.Via = endpoint.Via
	if d.alreadyDelivered(n, sender) {
		n.Protocol = sender.Protocol()
		return d.finish(ctx, r, n, outgoing.Outcome{State: ledger.Done, Endpoint: endpoint.URL,
			Message: fmt.Sprintf("the target already has the link, and a %s cannot announce that the page changed", sender.Protocol())}, false)
	}
	if n.State == ledger.InFlight {
		if !sender.Idempotent() {
			r.done.NotRepeated = true
			return d.finish(ctx, r, n, outgoing.Outcome{State: ledger.Permanent, Endpoint: endpoint.URL,
				Message: fmt.Sprintf("an earlier run stopped while sending this notice by %s; it may have arrived, so it is not sent again", sender.Protocol())}, false)
		}
		r.done.Repeated = true
	}
	leave, err := d.gates.enter(ctx, hostOf(endpoint.URL), sender.Spacing())
	if err != nil {
		r.notTried = true
		return r
	}
	if err := d.store.Begin(ctx, n.Key); err != nil {
		leave()
		r.notTried = ctx.Err() != nil
		if !r.notTried {
			r.err = err
		}
		return r
	}
	// From here on the target may receive the notice, so an interrupt must not
	// stop it.
	ctx = context.WithoutCancel(ctx)
	o = sender.Send(ctx, n, endpoint)
	leave()
	if o.Endpoint == "" && !o.NotSent {
		o.Endpoint = endpoint.URL
	}
	n.Protocol = sender.Protocol()
	r = d.finish(ctx, r, n, o, true)
	if o.State == ledger.Retry {
		r.namedTime = o.After > 0
		if o.Status == 429 || o.Status == 503 || o.Fault != nil && *o.Fault == 429 {
			r.pause = max(o.After, sender.Spacing())
		}
	}
	r.pause = max(r.pause, sender.Spacing())
	return r
}

// finish records an outcome. sent is set if the notice was sent, and not if a step
// before that failed.
func (d *delivery) finish(ctx context.Context, r jobResult, n ledger.Notice, o outgoing.Outcome, sent bool) jobResult {
	before := n.State
	n = applyOutcome(n, o, time.Now().UTC(), d.opt.Attempts)
	if before == ledger.InFlight && n.State == ledger.Retry && !sent {
		n.State = ledger.InFlight // it is still unknown whether the earlier run sent it
	}
	r.done.Notice = n
	r.noResponse = o.State == ledger.Retry && o.Status == 0 && o.Fault == nil
	r.err = d.store.Record(context.WithoutCancel(ctx), r.job.notice.Key, n)
	return r
}

// endpoint finds the sender for a notice, and its endpoint. If there is none, the
// outcome says why.
func (d *delivery) endpoint(ctx context.Context, n ledger.Notice, page *outgoing.Target) (outgoing.Sender, outgoing.Endpoint, outgoing.Outcome) {
	var able []outgoing.Sender
	known := false
	for _, s := range d.candidates(n) {
		known = true
		if s.Takes(n.Event) {
			able = append(able, s)
		}
	}
	switch {
	case !known && n.Protocol == ledger.AnyProtocol:
		return nil, outgoing.Endpoint{}, outgoing.Outcome{State: ledger.Skipped, Message: "no protocol that notifies linked pages is enabled"}
	case !known:
		return nil, outgoing.Endpoint{}, outgoing.Outcome{State: ledger.Skipped, Message: fmt.Sprintf("the protocol %s is not enabled", n.Protocol)}
	case len(able) == 0:
		return nil, outgoing.Endpoint{}, outgoing.Outcome{State: ledger.Skipped, Message: fmt.Sprintf("no enabled protocol can announce that a link was %s", n.Event)}
	}
	var failure error
	none := outgoing.Outcome{State: ledger.NoService, Message: "the target does not accept notices"}
	for _, s := range able {
		e, err := s.Discover(ctx, page)
		if err == nil && e.URL != "" {
			return s, e, outgoing.Outcome{}
		}
		if failure == nil {
			failure = err
		}
		if e.Via != "" {
			none.Message = "the target does not accept notices: " + e.Via
		}
	}
	if failure != nil {
		return nil, outgoing.Endpoint{}, outgoing.RequestFailed(failure)
	}
	return nil, outgoing.Endpoint{}, none
}

// candidates returns the senders that may deliver a notice.
func (d *delivery) candidates(n ledger.Notice) []outgoing.Sender {
	if n.Protocol == ledger.AnyProtocol {
		return d.opt.Senders
	}
	for _, list := range [][]outgoing.Sender{d.opt.Senders, d.opt.Additional, d.opt.Named} {
		for _, s := range list {
			if s.Protocol() == n.Protocol {
				return []outgoing.Sender{s}
			}
		}
	}
	return nil
}

// addNotices returns notices for the additional senders that find an endpoint at
// the target. They are in the store before the first one is sent, so that a crash
// does not lose them.
func (d *delivery) addNotices(ctx context.Context, n ledger.Notice, page *outgoing.Target) (added []ledger.Notice, err error) {
	if n.Protocol != ledger.AnyProtocol {
		return nil, nil
	}
	for _, s := range d.opt.Additional {
		key := ledger.Key{Source: n.Source, Target: n.Target, Protocol: s.Protocol()}
		if old, ok := d.earlier[key]; !s.Takes(n.Event) || ok && old.Event == n.Event && old.Hash == n.Hash {
			continue // an earlier run has added it
		}
		e, err := s.Discover(ctx, page)
		if err != nil || e.URL == "" {
			continue // the outcome of n says what is wrong with the target
		}
		extra := ledger.Notice{Key: key, Event: n.Event, Replacement: n.Replacement, Hash: n.Hash, State: ledger.Pending}
		if err := d.store.Record(ctx, key, extra); err != nil {
			if ctx.Err() != nil {
				return nil, nil
			}
			return nil, err
		}
		added = append(added, extra)
	}
	return added, nil
}

// sourceNotLive records that the source page did not become live. That counts as
// an attempt, because the author may never publish the page.
func (d *delivery) sourceNotLive(n ledger.Notice, now time.Time, why error) (Outcome, error) {
	before := n.State
	o := outgoing.Outcome{State: ledger.Retry, Message: why.Error(), Problems: string(send.NotLive), Cure: "publish the page as it was built"}
	if cure := outgoing.RequestFailed(why).Cure; cure != "" {
		o.Cure, o.After = cure, 1 // the user may permit the address for the next run
	}
	late := applyOutcome(n, o, now.UTC(), d.opt.Attempts)
	if before == ledger.InFlight && late.State == ledger.Retry {
		late.State = ledger.InFlight
	}
	return Outcome{Notice: late}, d.store.Record(context.Background(), n.Key, late)
}

// postpone records that a notice waits for its host. That does not count as an
// attempt.
func (d *delivery) postpone(n ledger.Notice, until time.Time, why string) (Outcome, error) {
	if n.State != ledger.InFlight {
		n.State = ledger.Retry
	}
	n.Next, n.Message = ceilSecond(until.UTC()), why
	return Outcome{Notice: n}, d.store.Record(context.Background(), n.Key, n)
}

// hostOf returns the host of a URL, with its port.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return strings.ToLower(u.Host)
}

// onceSender is implemented by senders of protocols that can announce a link,
// but not a change of its page. Their Takes still returns true for updates,
// because a target may have refused the page as it was.
type onceSender interface {
	Once() bool
}

func sendsOnce(s outgoing.Sender) bool {
	o, ok := s.(onceSender)
	return ok && o.Once()
}

// alreadyDelivered reports whether n is an update about a link that the target
// already has, with a protocol that cannot announce updates.
func (d *delivery) alreadyDelivered(n ledger.Notice, s outgoing.Sender) bool {
	return n.Event == ledger.Updated && sendsOnce(s) &&
		d.earlier[ledger.Key{Source: n.Source, Target: n.Target, Protocol: s.Protocol()}].State == ledger.Done
}
