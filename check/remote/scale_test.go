package remote

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sitelink/sitelink/internal/fetch"
)

// simulated answers every request at once.
func simulated(context.Context, fetch.Request) (*fetch.Response, error) {
	return &fetch.Response{Status: 200, Header: http.Header{"Etag": {`"1"`}}}, nil
}

func manyLinks(urls, hosts int) []Target {
	all := make([]Target, urls)
	for i := range all {
		all[i].URL = fmt.Sprintf("https://host%d.example/page/%d", i%hosts, i/hosts)
	}
	return all
}

// progress measures how equally hosts with the same number of URLs get their requests:
// the difference between the host that got most and the one that got fewest.
type progress struct {
	mu     sync.Mutex
	got    []int
	hosts  []int // by number of requests
	least  int
	most   int
	spread int // the largest difference so far
}

func newProgress(hosts int) *progress {
	return &progress{got: make([]int, hosts), hosts: []int{hosts}}
}

// add counts a request to a host.
func (p *progress) add(host int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hosts[p.got[host]]--
	p.got[host]++
	if p.most = max(p.most, p.got[host]); p.most == len(p.hosts) {
		p.hosts = append(p.hosts, 0)
	}
	p.hosts[p.got[host]]++
	for p.hosts[p.least] == 0 {
		p.least++
	}
	p.spread = max(p.spread, p.most-p.least)
}

func hostOf(url string) int {
	name, _, _ := strings.Cut(strings.TrimPrefix(url, "https://host"), ".")
	n, _ := strconv.Atoi(name)
	return n
}

// Hosts make progress together, in whatever order pages list them. Among hosts with the
// same number of URLs, none is ever more than three requests ahead of another, although
// some answer 100 times slower.
func TestAskFair(t *testing.T) {
	t.Parallel() // it waits most of the time
	for _, perHost := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			const hosts, each, bound = 20, 150, 3
			var all []Target
			for h := range hosts { // one host after the other, as pages often list them
				for i := range each {
					all = append(all, Target{URL: fmt.Sprintf("https://host%d.example/%d", h, i)})
				}
			}
			p := newProgress(hosts)
			random := rand.New(rand.NewPCG(1, uint64(perHost)))
			opt := quick()
			opt.PerHost, opt.Concurrency = perHost, 8
			opt.exchange = func(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
				p.add(hostOf(r.URL))
				p.mu.Lock()
				took := 1 + random.IntN(100)
				p.mu.Unlock()
				time.Sleep(time.Duration(took) * time.Millisecond)
				return simulated(ctx, r)
			}
			if report := ask(t, memory(t), opt, all); report.Requests != hosts*each {
				t.Errorf("%d requests", report.Requests)
			}
			if p.spread > bound {
				t.Errorf("%d requests per host: one host was %d ahead of another", perHost, p.spread)
			}
		})
	}
}

// A host with many URLs does not keep the others waiting, not even if its URLs
// are the first and all of them redirect.
func TestAskLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const large, hosts, each = 1_000, 50, 20
		var all []Target
		for i := range large {
			all = append(all, Target{URL: fmt.Sprintf("https://large.example/%d", i)})
		}
		var mu sync.Mutex
		got, other := 0, 0
		opt := quick()
		opt.exchange = func(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
			isLarge := strings.HasPrefix(r.URL, "https://large.")
			mu.Lock()
			if isLarge {
				got++
			} else if other++; other == hosts*each && got > each+8 {
				t.Errorf("the large host got %d requests before the others had all theirs", got)
			}
			mu.Unlock()
			time.Sleep(10 * time.Millisecond)
			if isLarge && !strings.HasSuffix(r.URL, "/to") {
				return &fetch.Response{Status: 301, Header: http.Header{"Location": {r.URL + "/to"}}}, nil
			}
			return simulated(ctx, r)
		}
		report := ask(t, memory(t), opt, append(all, manyLinks(hosts*each, hosts)...))
		if report.Requests != hosts*each+2*large {
			t.Errorf("%d requests", report.Requests)
		}
	})
}

// What has begun ends before other hosts begin: a run that is killed has to ask again only for
// what was in flight, although each new host is also asked for a random address.
func TestAskEnds(t *testing.T) {
	const hosts, concurrency = 500, 8
	var mu sync.Mutex
	open, most, looks := map[string]bool{}, 0, 0
	opt := quick()
	opt.Concurrency, opt.Random = concurrency, true
	opt.exchange = func(_ context.Context, r fetch.Request) (*fetch.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL, "https://"), "/")
		if strings.Contains(r.URL, "sitelink-looks-for") {
			delete(open, name)
			looks++
			return &fetch.Response{Status: 404}, nil
		}
		if looks < hosts && !strings.HasSuffix(r.URL, "/1") {
			open[name] = true
			most = max(most, len(open))
		}
		page := "<title>x</title><p>This is a page with enough text to compare it with another one."
		return &fetch.Response{Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(page + r.URL)}, nil
	}
	ask(t, memory(t), opt, manyLinks(2*hosts, hosts))
	if looks != hosts || most > 2*concurrency {
		t.Errorf("%d random addresses; answers of %d hosts waited at a time", looks, most)
	}
}

// Pacing sets the time of a run: 100 URLs on 4 hosts, a second apart, take 24 seconds
// and no more than 5 % above.
func TestAskPaceBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opt := quick()
		opt.Pace = time.Second
		opt.exchange = func(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
			time.Sleep(100 * time.Millisecond)
			return simulated(ctx, r)
		}
		c := memory(t)
		begin := time.Now()
		ask(t, c, opt, manyLinks(100, 4))
		if took := time.Since(begin); took < 24*time.Second || took > 24*time.Second*105/100 {
			t.Errorf("took %v", took)
		}
	})
}

// A host that answers 429 gets fewer requests, and one that answers slowly sets the
// pace.
func TestAskAdapts(t *testing.T) {
	t.Parallel() // it waits most of the time
	synctest.Test(t, func(t *testing.T) {
		opt := quick()
		opt.Pace = 100 * time.Millisecond
		opt.exchange = func(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
			time.Sleep(2 * time.Second)
			return simulated(ctx, r)
		}
		begin := time.Now()
		ask(t, memory(t), opt, manyLinks(20, 1))
		if took := time.Since(begin); took < 30*time.Second {
			t.Errorf("a slow host was asked 20 times in %v", took)
		}
		for _, status := range []int{429, 503} {
			opt.exchange = func(context.Context, fetch.Request) (*fetch.Response, error) {
				return &fetch.Response{Status: status}, nil
			}
			begin = time.Now()
			ask(t, memory(t), opt, manyLinks(20, 1))
			if took := time.Since(begin); took < time.Minute {
				t.Errorf("a host that answers %d was asked 40 times in %v", status, took)
			}
		}
		asked := 0
		opt.exchange = func(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
			if asked++; asked <= 8 {
				return &fetch.Response{Status: 503}, nil
			}
			return simulated(ctx, r)
		}
		begin = time.Now()
		ask(t, memory(t), opt, manyLinks(100, 1))
		if took := time.Since(begin); took > 12*time.Minute {
			t.Errorf("a host that has recovered was asked 100 times in %v", took)
		}
		opt.exchange = func(context.Context, fetch.Request) (*fetch.Response, error) {
			return &fetch.Response{Status: 200, Header: http.Header{"Ratelimit": {`"default";r=0;t=10`}}}, nil
		}
		begin = time.Now()
		ask(t, memory(t), opt, manyLinks(3, 1))
		if took := time.Since(begin); took < 10*time.Second {
			t.Errorf("a host without requests left was asked three times in %v", took)
		}
	})
}
