package fetch

import (
	"context"
	"net/http"
	"strings"
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

// maxRetryAfter is as far as a host can put off the next attempt.
const maxRetryAfter = 30 * 24 * time.Hour

// RetryAfter returns how long a host wants to be left alone: never negative,
// 30 days at most. It is false without a Retry-After field that can be read;
// of several the first counts.
//
// https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
func RetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	value := strings.Trim(h.Get("Retry-After"), " \t")
	if value == "" {
		return 0, false
	}
	if strings.Trim(value, "0123456789") == "" {
		var d time.Duration
		for _, digit := range []byte(value) {
			d = min(d*10+time.Duration(digit-'0')*time.Second, maxRetryAfter)
		}
		return d, true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return min(max(at.Sub(now), 0), maxRetryAfter), true
}
