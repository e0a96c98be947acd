package fetch

import (
	"context"
	"sync"
	"time"
)

// pacer lets one request at a time go to a host, and no two sooner after each
// other than the pace. Hosts are told apart by name, not by port.
type pacer struct {
	pace time.Duration

	mu    sync.Mutex
	hosts map[string]*turns
	sweep int // the number of hosts at which those are forgotten that wait for nothing
}

// turns is the queue of one host.
type turns struct {
	turn  chan struct{} // holds a value while a request is on its way
	users int           // of the queue and the turn, guarded by pacer.mu

	// Of whoever has the turn; guarded by pacer.mu as well, for the sweep.
	last, spaced time.Time // begin of the last request, and of the last that had a spacing
	free         time.Time // from when on nobody would have to wait
}

const firstSweep = 1024

func newPacer(pace time.Duration) *pacer {
	return &pacer{pace: pace, hosts: make(map[string]*turns), sweep: firstSweep}
}

// wait returns when it is this request's turn. The caller calls done when the
// connection is closed. The error is that of the context.
func (p *pacer) wait(ctx context.Context, host string, spacing time.Duration) (done func(), err error) {
	t := p.enter(host)
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		p.leave(t)
		return nil, ctx.Err()
	}
	p.mu.Lock()
	due := t.last.Add(p.pace)
	if spaced := t.spaced.Add(spacing); spacing > 0 && !t.spaced.IsZero() && spaced.After(due) {
		due = spaced
	}
	first := t.last.IsZero()
	p.mu.Unlock()
	if left := time.Until(due); !first && left > 0 {
		timer := time.NewTimer(left)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			<-t.turn
			p.leave(t)
			return nil, ctx.Err()
		}
	}
	p.mu.Lock()
	t.last = time.Now()
	if spacing > 0 {
		t.spaced = t.last
	}
	if free := t.last.Add(max(spacing, p.pace)); free.After(t.free) {
		t.free = free
	}
	p.mu.Unlock()
	return func() {
		<-t.turn
		p.leave(t)
	}, nil
}

func (p *pacer) enter(host string) *turns {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.hosts[host]
	if t == nil {
		if len(p.hosts) >= p.sweep {
			now := time.Now()
			for host, t := range p.hosts {
				if t.users == 0 && !now.Before(t.free) {
					delete(p.hosts, host)
				}
			}
			p.sweep = max(firstSweep, 2*len(p.hosts))
		}
		t = &turns{turn: make(chan struct{}, 1)}
		p.hosts[host] = t
	}
	t.users++
	return t
}

func (p *pacer) leave(t *turns) {
	p.mu.Lock()
	t.users--
	p.mu.Unlock()
}
