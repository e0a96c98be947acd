package remote

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/fetch"
)

// Twenty redirects are followed and recorded, and the next is one too many.
func TestChainLength(t *testing.T) {
	pages := map[string]string{"https://a.example/0": "page"}
	for i := range 21 {
		pages[fmt.Sprintf("https://a.example/%d", i+1)] = fmt.Sprintf("-> https://a.example/%d", i)
	}
	s := &sim{pages: pages}
	opt := s.quick()
	report := ask(t, memory(t), opt, links("https://a.example/20", "https://a.example/21"))
	r, _ := report.Of("https://a.example/20")
	if brief(r) != "warning moved" || r.Final != "https://a.example/0" || len(r.Hops) != 20 || r.Hops[0] != (Hop{301, "https://a.example/19"}) {
		t.Errorf("%+v", r)
	}
	if r, _ := report.Of("https://a.example/21"); r.Reason != RedirectLoop || len(r.Hops) != 20 {
		t.Errorf("%+v", r)
	}
	// An address that is too long to keep ends the record of the chain.
	long := "https://a.example/" + strings.Repeat("x", maxHop)
	if got := recorded([]Hop{{301, "a"}, {302, long}, {301, "b"}}); !slices.Equal(got, []Hop{{301, "a"}}) {
		t.Errorf("recorded %d hops", len(got))
	}
}

// Each kind of failure has its own reason.
func TestFaults(t *testing.T) {
	for kind, want := range faults {
		if kind == fetch.TLS {
			continue
		}
		if got := faultOf(&fetch.Error{Kind: kind}); got != want {
			t.Errorf("kind %v: %q, want %q", kind, got, want)
		}
	}
	for want, err := range map[Reason]error{
		TLSName: x509.HostnameError{Certificate: &x509.Certificate{}}, TLSAuthority: x509.UnknownAuthorityError{},
		TLSExpired: x509.CertificateInvalidError{Reason: x509.Expired}, TLS: x509.CertificateInvalidError{Reason: x509.NotAuthorizedToSign},
	} {
		if got := faultOf(&fetch.Error{Kind: fetch.TLS, Err: err}); got != want {
			t.Errorf("%T: %q, want %q", err, got, want)
		}
	}
	if NoSuchHost == DNS || faultOf(context.Canceled) != Garbage {
		t.Error("an unknown error is not garbage")
	}
}

// A cookie lives as long as the chain of redirects that set it, and every request says
// who asks.
func TestChainCookies(t *testing.T) {
	var mu sync.Mutex
	agents := map[string]bool{}
	w := newWeb(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		agents[r.UserAgent()] = true
		mu.Unlock()
		if r.URL.Path == "/set" {
			http.SetCookie(w, &http.Cookie{Name: "a", Value: "1", Path: "/"})
			http.Redirect(w, r, "/read", http.StatusFound)
		}
	})
	c, opt := memory(t), quick()
	opt.PerHost = 1
	ask(t, c, opt, links(w.URL+"/set"))
	ask(t, c, opt, links(w.URL+"/other"))
	if log := w.take(); !slices.Equal(log, []string{"GET /other", "GET /read Cookie=a=1", "GET /set"}) {
		t.Errorf("log %q", log)
	}
	if len(agents) != 1 || !agents["sitelink-test"] {
		t.Errorf("User-Agent %v", agents)
	}
}

// Concurrency limits the requests to all hosts together.
func TestAskConcurrency(t *testing.T) {
	var mu sync.Mutex
	active, most := 0, 0
	opt := quick()
	opt.Concurrency = 3
	opt.exchange = func(context.Context, fetch.Request) (*fetch.Response, error) {
		mu.Lock()
		active++
		most = max(most, active)
		mu.Unlock()
		time.Sleep(time.Millisecond)
		mu.Lock()
		active--
		mu.Unlock()
		return &fetch.Response{Status: 200, Header: http.Header{}}, nil
	}
	var urls []string
	for i := range 60 {
		urls = append(urls, fmt.Sprintf("https://h%d.example/", i))
	}
	if ask(t, memory(t), opt, links(urls...)); most > 3 {
		t.Errorf("%d requests at once", most)
	}
}

// A small budget goes to new links, then to what has been due for the longest time: a
// doubtful link is due after a day, a good one after a week.
func TestAskBudgetOrder(t *testing.T) {
	s := &sim{pages: map[string]string{}}
	c, opt := memory(t), s.quick()
	opt.PerHost = 1
	opt.Policy = func(string) Policy { return Policy{MaxAge: -1} }
	put := func(path string, status, days int) {
		url := "https://a.example/" + path
		s.pages[url] = "x"
		c.Put(Judge(Record{URL: url}, Answer{Status: status}, time.Now().Add(-time.Duration(days)*24*time.Hour), Policy{}))
	}
	put("good-8", 200, 8)   // due for 1 day
	put("doubtful", 404, 4) // 3 days
	put("good-12", 200, 12) // 5 days
	s.pages["https://a.example/new"] = "x"
	all := links("https://a.example/good-8", "https://a.example/doubtful", "https://a.example/good-12", "https://a.example/new")
	for n, want := range []string{"new", "good-12", "doubtful", "good-8"} {
		opt.MaxRequests = n + 1
		cache := memory(t)
		for _, url := range c.URLs() {
			cache.Put(c.Get(url))
		}
		report := ask(t, cache, opt, all)
		if log := s.take(); len(log) != n+1 || !slices.Contains(log, "GET https://a.example/"+want) {
			t.Errorf("%d requests: %q, want %s among them", n+1, log, want)
		}
		if _, code := report.Of("https://a.example/new"); code != "" {
			t.Errorf("new: %q", code)
		}
	}
}

// A strike limit of one counts for missing pages too.
func TestJudgeOneStrike(t *testing.T) {
	if r := Judge(Record{}, Answer{Status: 404}, day0, Policy{Strikes: 1}); r.Code != check.DeadLink {
		t.Errorf("%+v", r)
	}
}

// The estimate of the end knows that one host has many URLs, and that its pace is slow.
func TestProgress(t *testing.T) {
	s := &sim{pages: map[string]string{}}
	opt := s.quick()
	var all []Progress
	opt.Progress = func(p Progress) { all = append(all, p) }
	var urls []string
	for i := range 40 {
		url := fmt.Sprintf("https://h%d.example/", i)
		s.pages[url] = "x"
		urls = append(urls, url)
	}
	ask(t, memory(t), opt, links(urls...))
	if n := len(all); n == 0 || all[n-1] != (Progress{Done: 40, Total: 40}) {
		t.Errorf("%d calls, the last %+v", n, all[max(n-1, 0):])
	}
	opt.Policy = func(string) Policy { return Policy{} }
	d := newDispatcher(memory(t), opt)
	d.begin, d.total, d.left = day0, 100, 50
	h := d.host("slow.example")
	h.interval = 2 * time.Second
	for range 30 {
		h.queue.push(&job{})
	}
	if got := d.estimate(day0.Add(10 * time.Second)); got != time.Minute {
		t.Errorf("%v, want 30 requests at a pace of 2 s", got)
	}
	if got := d.estimate(day0.Add(5 * time.Minute)); got != 5*time.Minute {
		t.Errorf("%v, want as long as the first half took", got)
	}
}
