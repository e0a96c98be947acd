package deliver

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// retryDelays are the waits after each attempt. The last one repeats.
var retryDelays = []time.Duration{time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}

// retryDelay returns the wait after an attempt; the first attempt has number 1. A
// time that the target names is respected. A server that fails (5xx) gets ten
// times as long as one that asks for fewer requests or does not answer, because
// requests do not help to repair it.
func retryDelay(o outgoing.Outcome, attempt int) time.Duration {
	if o.After > 0 && attempt <= 3 {
		return o.After
	}
	step := attempt - 1
	if o.Status >= 500 {
		step++
	}
	return max(o.After, retryDelays[min(step, len(retryDelays)-1)])
}

// applyOutcome returns the notice with the outcome of an attempt, as the ledger
// records it. An attempt that did not reach the endpoint does not hide that an
// earlier one may have arrived, see [ledger.Notice.MayHaveArrived].
func applyOutcome(n ledger.Notice, o outgoing.Outcome, now time.Time, maxAttempts int) ledger.Notice {
	before := n
	n.State, n.Endpoint, n.Status, n.Fault, n.Message, n.Location = o.State, o.Endpoint, o.Status, o.Fault, o.Message, o.Location
	if o.Endpoint == "" && before.MayHaveArrived() {
		n.Endpoint, n.Status, n.Fault = before.Endpoint, before.Status, before.Fault
	}
	n.Problems, n.Cure = o.Problems, o.Cure
	n.Attempts++
	n.Tried, n.Next = now, time.Time{}
	if n.State != ledger.Retry {
		return n
	}
	if n.Attempts >= maxAttempts {
		n.State = ledger.Permanent
		n.Message = fmt.Sprintf("gave up after %d attempts: %s", n.Attempts, o.Message)
		return n
	}
	n.Next = ceilSecond(now.Add(retryDelay(o, n.Attempts)))
	return n
}

// ceilSecond rounds up to whole seconds, the resolution of a ledger, so that a
// notice is never due before the time that the target named.
func ceilSecond(t time.Time) time.Time {
	if whole := t.Truncate(time.Second); whole.Before(t) {
		return whole.Add(time.Second)
	}
	return t
}

// gates let one notice at a time through to the host of an endpoint, with the
// spacing of the sender. Targets on several hosts may share the host of their
// endpoint.
type gates struct {
	mu    sync.Mutex
	hosts map[string]*gate
}

// gate is a lock that opens at a time.
type gate struct {
	pass chan struct{} // holds one value while the gate is free
	open time.Time
}

func newGates() *gates { return &gates{hosts: map[string]*gate{}} }

// enter waits until the host may get a notice. The caller calls leave after
// sending it. A spacing of 0 needs no gate.
func (g *gates) enter(ctx context.Context, host string, spacing time.Duration) (leave func(), err error) {
	if spacing <= 0 {
		return func() {}, nil
	}
	g.mu.Lock()
	one := g.hosts[host]
	if one == nil {
		one = &gate{pass: make(chan struct{}, 1)}
		one.pass <- struct{}{}
		g.hosts[host] = one
	}
	g.mu.Unlock()
	select {
	case <-one.pass:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := sleep(ctx, time.Until(one.open)); err != nil {
		one.pass <- struct{}{}
		return nil, err
	}
	return func() {
		one.open = time.Now().Add(spacing)
		one.pass <- struct{}{}
	}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
