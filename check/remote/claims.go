package remote

import (
	"container/heap"
	"context"
	"time"
)

// claimer is what a dispatcher needs for a shared cache. It claims a host before the
// first request. It releases the host when nothing is left to ask, or when other runs
// wait for it. Without a shared cache it is nil, and all hosts are ours.
type claimer struct {
	d *dispatcher
	s *shared
	// claims are hosts to claim, and claimed those whose claims are under way.
	claims, claimed []*host
}

// mine reports whether requests may go to a host.
func (c *claimer) mine(h *host, now time.Time) bool {
	if c == nil {
		return true
	}
	c.d.cache.mu.Lock()
	defer c.d.cache.mu.Unlock()
	return h.term != 0 && h.term == c.s.term && now.Before(c.s.leased)
}

// waits reports whether claims are under way.
func (c *claimer) waits() bool { return c != nil && c.claimed != nil }

// claim asks for a host that has a job, unless it is to be left to others.
func (c *claimer) claim(h *host, now time.Time) {
	h.listed = true
	h.term = 0
	if h.rest.After(now) {
		heap.Push(&c.d.waiting, waitingFor[*host]{h.rest, h})
		return
	}
	c.claims = append(c.claims, h)
}

// send sends the claims, one batch at a time.
func (c *claimer) send() {
	if c == nil || len(c.claims) == 0 || c.claimed != nil {
		return
	}
	c.claimed, c.claims = c.claims, nil
	all := make([]claim, len(c.claimed))
	for i, h := range c.claimed {
		all[i].host = h.name
		for j := h.queue.first; j != nil; j = j.next {
			all[i].urls = append(all[i].urls, j.url)
		}
	}
	c.d.cache.mu.Lock()
	for _, h := range c.claimed {
		if state, ok := c.s.hosts[h.name]; ok {
			state.released = false // it stays ours
			c.s.hosts[h.name] = state
		}
	}
	c.s.claims = all
	c.d.cache.mu.Unlock()
	c.s.hurry()
}

// grants is the channel for the answer to the claims; nil if the cache is not shared.
func (c *claimer) grants() <-chan grant {
	if c == nil {
		return nil
	}
	return c.s.granted
}

// grant starts with the hosts that were granted. Another run has the others.
func (c *claimer) grant(g grant) {
	now, d := time.Now(), c.d
	claimed := c.claimed
	c.claimed = nil
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
		c.skipKnown(h)
		d.list(h, now)
		c.settle(h)
	}
}

// skipKnown removes the jobs of a host if another run has asked for their URLs since
// they were planned.
func (c *claimer) skipKnown(h *host) {
	d, all := c.d, h.queue
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

// settle shares the state of a host, and releases one that has nothing to do, or that
// others wait for.
func (c *claimer) settle(h *host) {
	if c == nil || h.term == 0 {
		return
	}
	idle := h.active == 0 && (h.queue.first == nil || h.yields)
	c.d.cache.mu.Lock()
	if h.term == c.s.term {
		c.s.hosts[h.name] = hostState{ready: h.ready, interval: h.interval, until: h.until, released: idle}
	}
	c.d.cache.mu.Unlock()
	if !idle {
		return
	}
	h.term = 0
	if now := time.Now(); h.yields {
		h.yields, h.rest = false, now.Add(restTime)
		c.d.list(h, now)
	}
}

// tend leaves hosts to others that wait for them, once no request is in flight. It
// returns the time at which the lease ends by itself, and the error of a store that
// cannot be reached.
func (c *claimer) tend() (leased time.Time, err error) {
	if c == nil {
		return time.Time{}, nil
	}
	c.d.cache.mu.Lock()
	wanted := c.s.wanted
	c.s.wanted = nil
	leased, err = c.s.leased, c.s.lost
	c.d.cache.mu.Unlock()
	for _, name := range wanted {
		if h := c.d.hosts[name]; h != nil && h.term != 0 {
			h.yields = true
			c.settle(h)
		}
	}
	return leased, err
}

// release gives up all hosts at the end of a run.
func (c *claimer) release() {
	if c == nil {
		return
	}
	if c.claimed != nil {
		c.grant(<-c.s.granted)
	}
	for _, h := range c.d.hosts {
		h.queue = queue{}
		c.settle(h)
	}
}

// prefetch reads the records of the links from a shared cache.
func (c *Cache) prefetch(ctx context.Context, links []Target) error {
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
