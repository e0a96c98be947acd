package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// A shared cache is one that several machines use at once, of several sites. Its Store
// also decides who may send requests to a host: one run at a time, the one that has
// claimed it. With the claim the run gets the host's pace so far, and the records
// that others have written meanwhile. It gives the claim back when it has nothing to ask,
// or when others have waited for it. The lease of a run limits its claims: if it is not
// renewed, because the process died or lost its connection, others take over.

// Store keeps the records of a shared cache, and the claims of runs to hosts. One
// goroutine at a time calls the methods. Their errors name the store, without a password.
type Store interface {
	// Rows returns the rows of URLs in any order; those of all URLs for nil.
	Rows(ctx context.Context, urls []string) ([]Row, error)
	// Save writes a change in one transaction. A row replaces one of an earlier request
	// only. Hosts that this run has not claimed stay as they are.
	Save(ctx context.Context, c *Change) error
	// Renew extends the lease of this run, and returns the claimed hosts that others wait
	// for. If the lease has ended, all claims are lost: Renew then begins a new lease,
	// and the error is [ErrLeaseLost].
	Renew(ctx context.Context) (wanted []string, err error)
	// Claim claims hosts, and returns those of them that no other run has.
	Claim(ctx context.Context, hosts []string) ([]Host, error)
	// Lease is how long claims last after Renew began.
	Lease() time.Duration
	// Close gives up all claims.
	Close() error
}

// Row is a record as a store keeps it.
type Row struct {
	URL   string
	Asked time.Time
	Text  string // a line of the file that [Open] describes
}

// Host is what the runs share about a host.
type Host struct {
	Name string
	// Ready is the time until the next request may start, and Interval the time between
	// two.
	Ready, Interval time.Duration
	// Until is the time before which the host wants no requests, if it is not zero.
	Until time.Time
	// Released gives up the claim.
	Released bool
}

// Change is what one call of Save writes.
type Change struct {
	Rows    []Row
	Removed []string
	Hosts   []Host
}

// ErrLeaseLost means that other runs may have taken over the hosts of this one.
var ErrLeaseLost = errors.New("the lease has ended")

const (
	// patience is how long a run waits for a store that cannot be reached.
	patience = time.Minute
	// callTime limits a call of the store.
	callTime = 20 * time.Second
	// askAgain is the wait before this run tries again to claim a host that another run
	// has. restTime is how long a run leaves a host to the runs that waited for it.
	askAgain = time.Second
	restTime = 3 * time.Second
)

// shared is the part of a Cache that is about its store. Fields are protected by the
// mutex of the cache, unless they say otherwise.
type shared struct {
	store Store
	wake  chan struct{}

	hosts   map[string]hostState // to be saved
	claims  []claim
	granted chan grant // has room for the only one that is under way
	wanted  []string
	// term counts the leases, and leased is the end of the current one by the
	// clock of this process.
	term   int
	leased time.Time
	// renewed and failing are of the goroutine: the last Renew, and the time since
	// which the store fails.
	renewed, failing time.Time
	lost             error // the store failed for too long
}

// hostState is a Host by the clock of this process.
type hostState struct {
	ready    time.Time
	interval time.Duration
	until    time.Time
	released bool
}

// claim asks for a host. The records of its URLs are read again.
type claim struct {
	host string
	urls []string
}

// grant answers claims.
type grant struct {
	term  int
	hosts map[string]Host
	at    time.Time // of the hosts' Ready
	err   error
}

// OpenStore opens a cache that other machines use too. Close closes the store.
// Warnings go to warn as in [Open].
func OpenStore(store Store, warn func(string)) *Cache {
	c := &Cache{rows: map[string]string{}, own: map[string]string{}, warn: warn, stopped: make(chan struct{}), finished: make(chan struct{})}
	if warn == nil {
		c.warn = func(string) {}
	}
	c.shared = &shared{store: store, wake: make(chan struct{}, 1), granted: make(chan grant, 1), hosts: map[string]hostState{}}
	go c.sharing()
	return c
}

// ReadStore returns all records of a store, sorted by URL. See [Open] for warn.
func ReadStore(ctx context.Context, store Store, warn func(string)) ([]Record, error) {
	c := &Cache{rows: map[string]string{}, shared: &shared{store: store}}
	if err := c.fetch(ctx, nil, warn); err != nil {
		return nil, err
	}
	return records(c.rows), nil
}

// fetch reads the rows of URLs from the store, of all for nil. warn, if not nil, is called
// with a sentence about each that cannot be read.
func (c *Cache) fetch(ctx context.Context, urls []string, warn func(string)) error {
	const most = 10_000
	for part := range chunks(urls, most) {
		call, cancel := context.WithTimeout(ctx, callTime)
		rows, err := c.shared.store.Rows(call, part)
		cancel()
		if err != nil {
			return err
		}
		c.mu.Lock()
		for _, row := range rows {
			r, err := parseRow(row.Text)
			if err == nil && r.URL != row.URL {
				err = fmt.Errorf("it is about %s", r.URL)
			}
			if err != nil {
				if warn != nil {
					warn(fmt.Sprintf("status cache: the row of %s: %v; it is dropped, and its link is asked for again", row.URL, err))
				}
				continue
			}
			c.rows[r.URL] = preferLine(c.rows[r.URL], row.Text, row.Text)
		}
		c.mu.Unlock()
	}
	return nil
}

// chunks returns parts of a list, at most n long; nil as it is.
func chunks(all []string, n int) func(yield func([]string) bool) {
	if all == nil {
		return func(yield func([]string) bool) { yield(nil) }
	}
	return slices.Chunk(all, n)
}

// hurry makes sharing work at once.
func (s *shared) hurry() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// sharing writes what is pending, renews the lease and claims hosts, until Close.
func (c *Cache) sharing() {
	defer close(c.finished)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		stopped := false
		select {
		case <-tick.C:
		case <-c.shared.wake:
		case <-c.stopped:
			stopped = true
		}
		err := c.save()
		if !stopped {
			if err == nil {
				err = c.renew()
			}
			c.claimHosts(err)
			c.judgeStore(err)
			continue
		}
		// The end of a run waits for the store too, unless the run has given it up.
		s := c.shared
		for err != nil && s.lost == nil && (s.failing.IsZero() || time.Since(s.failing) < patience) {
			c.judgeStore(err)
			time.Sleep(askAgain)
			err = c.save()
		}
		if c.failed = err; err == nil {
			c.judgeStore(nil)
		}
		return
	}
}

// judgeStore gives up a store that fails for too long.
func (c *Cache) judgeStore(err error) {
	s := c.shared
	switch now := time.Now(); {
	case err == nil:
		if !s.failing.IsZero() {
			c.warn("the status cache answers again")
		}
		s.failing = time.Time{}
	case s.failing.IsZero():
		s.failing = now
		c.warn(fmt.Sprintf("%v; the run waits up to %v for it", err, patience))
	case now.Sub(s.failing) > patience:
		c.mu.Lock()
		s.lost = err
		c.mu.Unlock()
	}
}

// save writes what is pending to the store. What cannot be written stays pending.
func (c *Cache) save() error {
	s := c.shared
	c.mu.Lock()
	own, hosts := c.own, s.hosts
	c.own, s.hosts = map[string]string{}, map[string]hostState{}
	c.mu.Unlock()
	if len(own) == 0 && len(hosts) == 0 {
		return nil
	}
	change := &Change{}
	for _, url := range slices.Sorted(maps.Keys(own)) {
		if line := own[url]; line == "" {
			change.Removed = append(change.Removed, url)
		} else if r, err := parseRow(line); err == nil {
			change.Rows = append(change.Rows, Row{URL: url, Asked: r.Asked, Text: line})
		}
	}
	now := time.Now()
	for _, name := range slices.Sorted(maps.Keys(hosts)) {
		h := hosts[name]
		change.Hosts = append(change.Hosts, Host{Name: name, Ready: max(h.ready.Sub(now), 0), Interval: h.interval, Until: h.until, Released: h.released})
	}
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	err := s.store.Save(ctx, change)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		return nil
	}
	maps.Copy(own, c.own) // what came meanwhile is newer
	maps.Copy(hosts, s.hosts)
	c.own, s.hosts = own, hosts
	return err
}

// renew renews the lease when a quarter of it has passed.
func (c *Cache) renew() error {
	s := c.shared
	now := time.Now()
	if !s.renewed.IsZero() && now.Sub(s.renewed) < s.store.Lease()/4 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	wanted, err := s.store.Renew(ctx)
	ended := errors.Is(err, ErrLeaseLost)
	if err != nil && !ended {
		return err
	}
	s.renewed = now
	c.mu.Lock()
	defer c.mu.Unlock()
	if ended || s.term == 0 {
		s.term++
		clear(s.hosts)
	}
	s.leased, s.wanted = now.Add(s.store.Lease()), wanted
	return nil
}

// claimHosts answers the claims, with err if the store has just failed.
func (c *Cache) claimHosts(err error) {
	s := c.shared
	c.mu.Lock()
	claims := s.claims
	s.claims = nil
	g := grant{term: s.term, err: err, hosts: map[string]Host{}}
	c.mu.Unlock()
	if len(claims) == 0 {
		return
	}
	names := make([]string, len(claims))
	for i, c := range claims {
		names[i] = c.host
	}
	var got []Host
	if g.err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), callTime)
		got, g.err = s.store.Claim(ctx, names)
		cancel()
	}
	g.at = time.Now()
	for _, h := range got {
		g.hosts[h.Name] = h
	}
	var urls []string
	for _, c := range claims {
		if _, ok := g.hosts[c.host]; ok {
			urls = append(urls, c.urls...)
		}
	}
	if g.err == nil && len(urls) > 0 {
		g.err = c.fetch(context.Background(), urls, nil)
	}
	s.granted <- g
}
