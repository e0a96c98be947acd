package remote

import (
	"container/heap"
	"context"
	"time"
)

// This is what a dispatcher does for a cache that is shared: it claims a host before
// the first request, and releases it when nothing is left to ask, or when other runs
// wait for it. Without a shared cache, all hosts are ours.

// mine reports whether requests may go to a host.
func (d *dispatcher) mine(h *host, now time.Time) bool {
	s := d.cache.shared
	if s == nil {
		return true
	}
	d.cache.mu.Lock()
	defer d.cache.mu.Unlock()
	return h.term != 0 && h.term == s.term && now.Before(s.leased)
}

// claim asks for a host that has a job, unless it is to be left to others.
func (d *dispatcher) claim(h *host, now time.Time) {
	h.listed = true
	h.term = 0
	if h.rest.After(now) {
		heap.Push(&d.waiting, waitingFor[*host]{h.rest, h})
		return
	}
	d.claims = append(d.claims, h)
}

// sendClaims sends the claims, one batch at a time.
func (d *dispatcher) sendClaims() {
	if len(d.claims) == 0 || d.claimed != nil {
		return
	}
	s := d.cache.shared
	d.claimed, d.claims = d.claims, nil
	all := make([]claim, len(d.claimed))
	for i, h := range d.claimed {
		all[i].host = h.name
		for j := h.queue.first; j != nil; j = j.next {
			all[i].urls = append(all[i].urls, j.url)
		}
	}
	d.cache.mu.Lock()
	for _, h := range d.claimed {
		if state, ok := s.hosts[h.name]; ok {
			state.released = false // it stays ours
			s.hosts[h.name] = state
		}
	}
	s.claims = all
	d.cache.mu.Unlock()
	s.hurry()
}

// grants is the channel for the answer to the claims; nil if the cache is not shared.
func (d *dispatcher) grants() <-chan grant {
	if d.cache.shared == nil {
		return nil
	}
	return d.cache.shared.granted
}

// grant starts with the hosts that were granted. Another run has the others.
func (d *dispatcher) grant(g grant) {
	now := time.Now()
	claimed := d.claimed
	d.claimed = nil
	for _, h := range claimed {
		h.listed = false
		state, ok := g.hosts[h.name]
		if !ok || g.err != nil {
			h.listed = true
			heap.Push(&d.waiting, waitingFor[*host]{now.Add(askAgain), h})
			continue
		}
		h.term, h.yields = g.term, false
		h.interval = max(h.interval, min(state.Interval, slowest))
		if ready := g.at.Add(min(state.Ready, slowest)); ready.After(h.ready) {
			h.ready = ready
		}
		if state.Until.After(h.until) && state.Until.Sub(now) <= maxNext {
			h.until = state.Until
		}
		d.skipKnown(h)
		d.list(h, now)
		d.settle(h)
	}
}

// skipKnown removes the jobs of a host whose URLs another run has asked for since they
// were planned.
func (d *dispatcher) skipKnown(h *host) {
	all := h.queue
	h.queue = queue{}
	for j := all.pop(); j != nil; j = all.pop() {
		record := d.cache.Get(j.url)
		same := !record.Known() || !j.isNew && dueSince(&record, h.policy, d.started) == j.due
		if j.chain != nil || same || record.Reason == "" && !record.knows(j.fragments) {
			h.queue.push(j)
			continue
		}
		d.report.Fresh++
		d.count(h.name, &record)
		d.left--
	}
}

// yield leaves hosts to others that wait for them, once no request is in flight.
func (d *dispatcher) yield() {
	s := d.cache.shared
	d.cache.mu.Lock()
	wanted := s.wanted
	s.wanted = nil
	d.cache.mu.Unlock()
	for _, name := range wanted {
		if h := d.hosts[name]; h != nil && h.term != 0 {
			h.yields = true
			d.settle(h)
		}
	}
}

// settle shares the state of a host, and releases one that has nothing to do, or that
// others wait for.
func (d *dispatcher) settle(h *host) {
	s := d.cache.shared
	if s == nil || h.term == 0 {
		return
	}
	idle := h.active == 0 && (h.queue.first == nil || h.yields)
	d.cache.mu.Lock()
	if h.term == s.term {
		s.hosts[h.name] = hostState{ready: h.ready, interval: h.interval, until: h.until, released: idle}
	}
	d.cache.mu.Unlock()
	if !idle {
		return
	}
	h.term = 0
	if now := time.Now(); h.yields {
		h.yields, h.rest = false, now.Add(restTime)
		d.list(h, now)
	}
}

// tend does what a shared cache needs from time to time. It returns the time at which
// the lease ends by itself, and the error of a store that cannot be reached.
func (d *dispatcher) tend() (leased time.Time, err error) {
	s := d.cache.shared
	if s == nil {
		return time.Time{}, nil
	}
	d.yield()
	d.cache.mu.Lock()
	defer d.cache.mu.Unlock()
	return s.leased, s.lost
}

// release gives up all hosts at the end of a run.
func (d *dispatcher) release() {
	if d.cache.shared == nil {
		return
	}
	if d.claimed != nil {
		d.grant(<-d.cache.shared.granted)
	}
	for _, h := range d.hosts {
		h.queue = queue{}
		d.settle(h)
	}
}

// prefetch reads the records of the links from a shared cache.
func (c *Cache) prefetch(ctx context.Context, links []Link) error {
	if c.shared == nil {
		return nil
	}
	urls := make([]string, 0, len(links))
	for _, l := range links {
		if key, err := Key(l.URL); err == nil {
			urls = append(urls, key)
		}
	}
	return c.fetch(ctx, urls, c.warn)
}
