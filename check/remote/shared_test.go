package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sitelink/sitelink/internal/fetch"
)

// board is what the stores of several runs share, in memory.
type board struct {
	mu    sync.Mutex
	rows  map[string]Row
	hosts map[string]*boardHost
	runs  map[string]time.Time // ends of leases
	names int
}

type boardHost struct {
	run      string
	wanted   bool
	ready    time.Time
	interval time.Duration
	until    time.Time
}

func newBoard() *board {
	return &board{rows: map[string]Row{}, hosts: map[string]*boardHost{}, runs: map[string]time.Time{}}
}

// boardStore is the store of one run.
type boardStore struct {
	*board
	run  string
	fail error
}

const boardLease = 30 * time.Second

func (s *boardStore) Lease() time.Duration { return boardLease }

func (s *boardStore) breaks(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

func (s *boardStore) Rows(_ context.Context, urls []string) (all []Row, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if urls == nil {
		for _, row := range s.rows {
			all = append(all, row)
		}
	}
	for _, url := range urls {
		if row, ok := s.rows[url]; ok {
			all = append(all, row)
		}
	}
	return all, s.fail
}

func (s *boardStore) Save(_ context.Context, c *Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	for _, url := range c.Removed {
		delete(s.rows, url)
	}
	for _, row := range c.Rows {
		s.rows[row.URL] = row
	}
	for _, h := range c.Hosts {
		if host := s.hosts[h.Name]; host != nil && host.run == s.run {
			host.ready, host.interval, host.until = time.Now().Add(h.Ready), h.Interval, h.Until
			if h.Released {
				host.run = ""
			}
		}
	}
	return nil
}

func (s *boardStore) Renew(context.Context) (wanted []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return nil, s.fail
	}
	if s.run != "" && !s.runs[s.run].After(time.Now()) {
		s.run, err = "", ErrLeaseLost
	}
	if s.run == "" {
		s.names++
		s.run = fmt.Sprint("run", s.names)
	}
	s.runs[s.run] = time.Now().Add(boardLease)
	for name, h := range s.hosts {
		if h.run == s.run && h.wanted {
			wanted = append(wanted, name)
		}
	}
	return wanted, err
}

func (s *boardStore) Claim(_ context.Context, hosts []string) (all []Host, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return nil, s.fail
	}
	now := time.Now()
	for _, name := range hosts {
		h := s.hosts[name]
		if h == nil {
			h = &boardHost{}
			s.hosts[name] = h
		}
		if h.run != "" && h.run != s.run && s.runs[h.run].After(now) {
			h.wanted = true
			continue
		}
		h.run, h.wanted = s.run, false
		all = append(all, Host{Name: name, Ready: h.ready.Sub(now), Interval: h.interval, Until: h.until})
	}
	return all, nil
}

func (s *boardStore) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.hosts {
		if h.run == s.run {
			h.run = ""
		}
	}
	return s.fail
}

// hostLog checks the requests of all runs to one host.
type hostLog struct {
	mu     sync.Mutex
	active map[string]int    // by host
	by     map[string]string // host: the run whose requests are active
	last   map[string]time.Time
	asked  map[string]int // by URL
}

func newHostLog() *hostLog {
	return &hostLog{active: map[string]int{}, by: map[string]string{}, last: map[string]time.Time{}, asked: map[string]int{}}
}

// exchange answers after took, and checks that no other run asks the same host, and
// that requests are pace apart.
func (l *hostLog) exchange(t *testing.T, run string, took, pace time.Duration) func(context.Context, fetch.Request) (*fetch.Response, error) {
	return func(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
		host := strings.Split(r.URL, "/")[2]
		l.mu.Lock()
		if l.active[host] > 0 && l.by[host] != run {
			t.Errorf("%s and %s ask %s at once", l.by[host], run, host)
		}
		if since := time.Since(l.last[host]); since < pace {
			t.Errorf("%s asks %s after %v", run, host, since)
		}
		l.by[host], l.last[host] = run, time.Now()
		l.active[host]++
		l.asked[r.URL]++
		l.mu.Unlock()
		defer func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.active[host]--
		}()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(took):
			return simulated(ctx, r)
		}
	}
}

func (l *hostLog) total() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, asked := range l.asked {
		n += asked
	}
	return n
}

// member is a run that shares a cache.
type member struct {
	store *boardStore
	cache *Cache
	warns []string
}

func (b *board) member() *member {
	m := &member{store: &boardStore{board: b}}
	m.cache = OpenStore(m.store, func(s string) { m.warns = append(m.warns, s) })
	return m
}

func paced(exchange func(context.Context, fetch.Request) (*fetch.Response, error)) Options {
	opt := quick()
	opt.Pace, opt.exchange = time.Second, exchange
	return opt
}

// Runs that share a cache ask each URL once, each host at one pace, and never two of
// them at once.
func TestSharedBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, l := newBoard(), newHostLog()
		var wg sync.WaitGroup
		for i := range 3 {
			name := fmt.Sprint("run ", i)
			wg.Go(func() {
				m := b.member()
				report, err := Ask(t.Context(), manyLinks(60, 4), m.cache, paced(l.exchange(t, name, 100*time.Millisecond, time.Second)))
				if err != nil || report.Requests+report.Fresh != 60 || len(report.unasked) > 0 {
					t.Errorf("%s: %d requests, %d fresh, %v", name, report.Requests, report.Fresh, err)
				}
				for _, link := range manyLinks(60, 4) {
					if r, _ := report.Of(link.URL); !r.Known() {
						t.Errorf("%s does not know %s", name, link.URL)
					}
				}
				closeCache(t, m.cache)
			})
		}
		wg.Wait()
		if n := l.total(); n != 60 {
			t.Errorf("%d requests for 60 URLs", n)
		}
		m := b.member()
		defer closeCache(t, m.cache)
		if all, err := ReadStore(t.Context(), m.store, nil); err != nil || len(all) != 60 {
			t.Errorf("%d records, %v", len(all), err)
		}
	})
}

// A run with few links gets its turn on a host that a long run has claimed.
func TestSharedYields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, l := newBoard(), newHostLog()
		var wg sync.WaitGroup
		begin := time.Now()
		var took [2]time.Duration
		for i, n := range []int{300, 3} {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 5 * time.Second)
				m := b.member()
				var all []Target
				for k := range n {
					all = append(all, Target{URL: fmt.Sprintf("https://host.example/%d/%d", i, k)})
				}
				if _, err := Ask(t.Context(), all, m.cache, paced(l.exchange(t, fmt.Sprint(i), time.Second, time.Second))); err != nil {
					t.Error(err)
				}
				closeCache(t, m.cache)
				took[i] = time.Since(begin)
			})
		}
		wg.Wait()
		if took[1] > 30*time.Second || took[0] < 300*time.Second {
			t.Errorf("the short run took %v, the long one %v", took[1], took[0])
		}
	})
}

// A host that asked one run for a pause gets no request from another, nor for other
// URLs.
func TestSharedRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoard()
		requests := 0
		opt := paced(func(context.Context, fetch.Request) (*fetch.Response, error) {
			requests++
			return &fetch.Response{Status: 429, Header: map[string][]string{"Retry-After": {"3600"}}}, nil
		})
		for i := range 3 {
			m := b.member()
			url := fmt.Sprintf("https://host.example/%d", i)
			report, err := Ask(t.Context(), links(url), m.cache, opt)
			if err != nil || len(report.Blocked) != 1 {
				t.Errorf("%s: %v, %v", url, report.Blocked, err)
			}
			closeCache(t, m.cache)
		}
		if requests != 1 {
			t.Errorf("%d requests", requests)
		}
	})
}

// A store that does not answer for a while delays a run, and nothing is lost. When the
// lease has ended, no request is in flight, so that another run may take over.
func TestSharedPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, l := newBoard(), newHostLog()
		m := b.member()
		down := make(chan struct{})
		go func() {
			defer close(down)
			time.Sleep(5 * time.Second)
			m.store.breaks(errors.New("no connection"))
			time.Sleep(boardLease + flushEvery/2) // not while a save is under way
			m.cache.mu.Lock()
			asked := len(m.cache.own)
			m.cache.mu.Unlock()
			time.Sleep(time.Second)
			before := l.total()
			time.Sleep(10 * time.Second)
			if after := l.total(); after != before || asked == 0 {
				t.Errorf("%d requests without a lease; %d results wait", after-before, asked)
			}
			other := b.member() // takes over
			if _, err := Ask(t.Context(), links("https://host0.example/other"), other.cache, paced(l.exchange(t, "other", time.Second, time.Second))); err != nil {
				t.Error(err)
			}
			closeCache(t, other.cache)
			m.store.breaks(nil)
		}()
		report, err := Ask(t.Context(), manyLinks(100, 2), m.cache, paced(l.exchange(t, "run", time.Second, time.Second)))
		<-down
		closeCache(t, m.cache)
		if err != nil || len(report.unasked) > 0 || len(b.rows) != 101 {
			t.Errorf("%d rows, %d not asked, %v", len(b.rows), len(report.unasked), err)
		}
		if len(m.warns) != 2 || !strings.Contains(m.warns[0], "no connection; the run waits up to 1m0s") || !strings.Contains(m.warns[1], "again") {
			t.Errorf("warnings %q", m.warns)
		}
	})
}

// A store that does not answer any more ends the run, with an error that says what is
// not saved.
func TestSharedLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, l := newBoard(), newHostLog()
		m := b.member()
		go func() {
			time.Sleep(5 * time.Second)
			m.store.breaks(errors.New("no connection"))
		}()
		begin := time.Now()
		report, err := Ask(t.Context(), manyLinks(1000, 2), m.cache, paced(l.exchange(t, "run", time.Second, time.Second)))
		if err == nil || err.Error() != "no connection" || time.Since(begin) > 3*patience {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		saved := len(b.rows)
		if saved == 0 || len(report.unasked) == 0 {
			t.Errorf("%d rows, %d not asked", saved, len(report.unasked))
		}
		if err := m.cache.Close(); err == nil || !strings.HasPrefix(err.Error(), "status cache: the database did not take ") || !strings.HasSuffix(err.Error(), " results; later runs ask again for their links") {
			t.Errorf("Close: %v", err)
		}
	})
}

// The end of a run waits for a store as long as its middle does.
func TestSharedEnd(t *testing.T) {
	for _, away := range []time.Duration{patience / 2, 2 * patience} {
		synctest.Test(t, func(t *testing.T) {
			b := newBoard()
			m := b.member()
			m.cache.Put(okRecord("https://a.example/", 1))
			m.store.breaks(errors.New("no connection"))
			time.AfterFunc(away, func() { m.store.breaks(nil) })
			begin := time.Now()
			err := m.cache.Close()
			took := time.Since(begin)
			if saved := len(b.rows) == 1; saved != (away < patience) || saved != (err == nil) || took > patience+10*time.Second {
				t.Errorf("away for %v: Close took %v: %v; saved: %v", away, took, err, saved)
			}
			if err != nil && err.Error() != "no connection: the database did not take 1 result; later runs ask again for their links" {
				t.Error(err)
			}
			if len(m.warns) == 0 || m.warns[0] != "no connection; the run waits up to 1m0s for it" {
				t.Errorf("warnings %q", m.warns)
			}
			synctest.Wait()
			time.Sleep(2 * patience) // until the store is back
		})
	}
}

// What is learned is in the store within a second, and a row that cannot be read is
// reported and asked for again.
func TestSharedRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoard()
		b.rows["https://bad.example/"] = Row{URL: "https://bad.example/", Text: "{"}
		m := b.member()
		now := seconds(time.Now())
		m.cache.Put(Record{URL: "https://good.example/", Asked: now, Good: now})
		time.Sleep(time.Second)
		b.mu.Lock()
		saved := len(b.rows)
		b.mu.Unlock()
		if saved != 2 {
			t.Errorf("%d rows after a second", saved)
		}
		opt := quick()
		opt.exchange = simulated
		report, err := Ask(t.Context(), links("https://bad.example/", "https://good.example/"), m.cache, opt)
		if err != nil || report.Requests != 1 {
			t.Errorf("%d requests, %v", report.Requests, err)
		}
		want := "status cache: the row of https://bad.example/: not a valid JSON object; it is dropped, and its link is asked for again"
		if len(m.warns) != 1 || m.warns[0] != want {
			t.Errorf("warnings %q", m.warns)
		}
		m.cache.Remove("https://good.example/")
		closeCache(t, m.cache)
		if len(b.rows) != 1 || !strings.HasPrefix(b.rows["https://bad.example/"].Text, `{"url":"https://bad.example/"`) {
			t.Errorf("rows %v", b.rows)
		}
	})
}
