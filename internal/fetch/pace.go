package fetch

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"
)

// pacer lets one request at a time go to a host, with the pace as the minimum time
// between two of them. Hosts are identified by name, not by port.
type pacer struct {
	pace time.Duration

	mu    sync.Mutex
	hosts map[string]*hostQueue
	sweep int // the number of hosts at which idle ones are removed
}

// hostQueue is the queue of one host.
type hostQueue struct {
	turn  chan struct{} // holds a value during a request
	users int           // requests that wait or are being made; guarded by pacer.mu

	// Set by the request that has the turn, and guarded by pacer.mu.
	last, spaced time.Time // start of the last request, and of the last with a spacing
	free         time.Time // when the next request need not wait
}

const firstSweep = 1024

func newPacer(pace time.Duration) *pacer {
	return &pacer{pace: pace, hosts: make(map[string]*hostQueue), sweep: firstSweep}
}

// wait waits for the turn of a request. The caller calls done when the connection
// is closed. The error is that of the context.
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

func (p *pacer) enter(host string) *hostQueue {
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
		t = &hostQueue{turn: make(chan struct{}, 1)}
		p.hosts[host] = t
	}
	t.users++
	return t
}

func (p *pacer) leave(t *hostQueue) {
	p.mu.Lock()
	t.users--
	p.mu.Unlock()
}

// maxRetryAfter is the longest time by which a host can delay the next attempt.
const maxRetryAfter = 30 * 24 * time.Hour

// RetryAfter returns how long a host asks clients to wait, between 0 and 30 days.
// It returns false if there is no valid Retry-After field. Of several fields, the
// first counts.
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
