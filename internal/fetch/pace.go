package fetch

import (
	"context"
	"maps"
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
	next  time.Time     // when the next request may begin; set by the request that has the turn
}

const firstSweep = 1024

func newPacer(pace time.Duration) *pacer {
	return &pacer{pace: pace, hosts: make(map[string]*hostQueue), sweep: firstSweep}
}

// wait waits for the turn of a request. The caller calls done when the connection
// is closed. The error is that of the context.
func (p *pacer) wait(ctx context.Context, host string) (done func(), err error) {
	p.mu.Lock()
	q := p.hosts[host]
	if q == nil {
		if len(p.hosts) >= p.sweep {
			now := time.Now()
			maps.DeleteFunc(p.hosts, func(_ string, q *hostQueue) bool { return q.users == 0 && !now.Before(q.next) })
			p.sweep = max(firstSweep, 2*len(p.hosts))
		}
		q = &hostQueue{turn: make(chan struct{}, 1)}
		p.hosts[host] = q
	}
	q.users++
	p.mu.Unlock()
	leave := func() {
		p.mu.Lock()
		q.users--
		p.mu.Unlock()
	}
	select {
	case q.turn <- struct{}{}:
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
	if left := time.Until(q.next); left > 0 {
		timer := time.NewTimer(left)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			<-q.turn
			leave()
			return nil, ctx.Err()
		}
	}
	q.next = time.Now().Add(p.pace)
	return func() {
		<-q.turn
		leave()
	}, nil
}

// maxRetryAfter is the longest time that a host can delay the next attempt.
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
