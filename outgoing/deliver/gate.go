package deliver

import (
	"context"
	"sync"
	"time"
)

// gates let one notice at a time through to the host of an endpoint, spaced as
// its sender asks: targets of several hosts may have their endpoint at one.
type gates struct {
	mu    sync.Mutex
	hosts map[string]*gate
}

// gate is a lock with the time when it may be passed again.
type gate struct {
	pass chan struct{} // holds one value while the gate is free
	open time.Time
}

func newGates() *gates { return &gates{hosts: map[string]*gate{}} }

// enter waits until host may get a notice, and returns what to call when it has
// got it. A spacing of 0 needs no gate.
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
