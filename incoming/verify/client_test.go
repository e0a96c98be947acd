package verify

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// site is a site of another person that counts its requests.
type site struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
}

func newSite(t *testing.T, h http.HandlerFunc) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r)
		s.mu.Unlock()
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) seen() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

func newTestClient(o Options) *Client {
	o.AllowAddresses, o.Pace = loopback, -1
	return NewClient(o)
}

func link(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, `<a href="%s">x</a><img src="/portrait.png"><script src="/s.js"></script><link rel=stylesheet href="/s.css"><a class="u-author" href="/about">me</a>`, ours)
}

// TestOneFetch: one GET, which names the address that asked for it, and nothing
// else (PB-59; second-order requests as in CVE-2026-0686).
func TestOneFetch(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) { link(w) })
	p := newTestClient(Options{}).Fetch(t.Context(), s.URL+"/post?a=b", netip.MustParseAddr("192.0.2.7"))
	if e := p.Find(ours); e.Result != Linked {
		t.Fatalf("%+v", e)
	}
	got := s.seen()
	if len(got) != 1 || got[0].Method != "GET" || got[0].URL.RequestURI() != "/post?a=b" {
		t.Fatalf("requests: %v", got)
	}
	if agent := got[0].Header.Get("User-Agent"); !strings.Contains(agent, "192.0.2.7") || !strings.HasPrefix(agent, "sitelink (+https://") {
		t.Errorf("User-Agent %q", agent)
	}
	for _, name := range []string{"Cookie", "Authorization", "Referer"} {
		if got[0].Header.Get(name) != "" {
			t.Errorf("%s was sent", name)
		}
	}
}

// TestStatus: which fault code follows from a response (PB-43, PB-49).
func TestStatus(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		fmt.Sscanf(r.URL.Path, "/%d", &status)
		w.Header().Set("Retry-After", "120")
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		if status != 204 {
			fmt.Fprintf(w, `<a href="%s">x</a>`, ours) // an error page that repeats the link
		}
	})
	c := newTestClient(Options{})
	for status, want := range map[int]Evidence{
		200: {Result: Linked}, 203: {Result: Linked}, 204: {Result: NotLinked, Fault: 17},
		404: {Result: Gone, Fault: 16}, 410: {Result: Gone, Fault: 16},
		401: {Result: Unavailable, Fault: 50}, 403: {Result: Unavailable, Fault: 50}, 429: {Result: Unavailable, Fault: 50},
		500: {Result: Unavailable, Fault: 50}, 503: {Result: Unavailable, Fault: 50}, 304: {Result: Unavailable, Fault: 50},
	} {
		p := c.Fetch(t.Context(), fmt.Sprintf("%s/%d", s.URL, status), netip.Addr{})
		if e := p.Find(ours); e.Result != want.Result || e.Fault != want.Fault {
			t.Errorf("%d: %+v, want %+v", status, e, want)
		}
		if want.Result == Unavailable && p.RetryAfter != 2*time.Minute {
			t.Errorf("%d: Retry-After %s", status, p.RetryAfter)
		}
	}
}

// TestRedirects: at most three redirects are followed, and links are relative to
// the last page (PB-59, A-PB-7).
func TestRedirects(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		var left int
		if n, _ := fmt.Sscanf(r.URL.Path, "/hop/%d", &left); n == 1 && left > 0 {
			http.Redirect(w, r, fmt.Sprintf("/hop/%d", left-1), map[bool]int{true: 301, false: 302}[r.URL.RawQuery == "" && left%2 == 0])
			return
		}
		link(w)
	})
	c := newTestClient(Options{})
	p := c.Fetch(t.Context(), s.URL+"/hop/3", netip.Addr{})
	if e := p.Find(ours); e.Result != Linked || p.URL != s.URL+"/hop/0" || p.Moved {
		t.Errorf("3 redirects: %+v, %s, %v", e, p.URL, p.Moved)
	}
	p = c.Fetch(t.Context(), s.URL+"/hop/4", netip.Addr{})
	if e := p.Find(ours); e.Result != Unavailable || e.Fault != 50 {
		t.Errorf("4 redirects: %+v", e)
	}
}

// TestSizeLimit: only the first bytes are read, also of what a gzip bomb unpacks
// to (PB-57).
func TestSizeLimit(t *testing.T) {
	filler := bytes.Repeat([]byte("<p>filler "), 2<<20/10)
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		to := io.Writer(w)
		if r.URL.Path == "/bomb" {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			to = z
		}
		for range 2 {
			if _, err := to.Write(filler); err != nil {
				return
			}
		}
		fmt.Fprintf(to, `<a href="%s">x</a>`, ours)
	})
	c := newTestClient(Options{MaxRate: 1 << 30})
	for _, path := range []string{"/large", "/bomb"} {
		p := c.Fetch(t.Context(), s.URL+path, netip.Addr{})
		if e := p.Find(ours); e.Result != NotLinked || e.Fault != 17 || !strings.Contains(e.Reason, "first 1048576 bytes") || p.Size() != 1<<20 {
			t.Errorf("%s: %d bytes, %+v", path, p.Size(), e)
		}
	}
}

// TestSlowSource: a source that sends hardly anything is given up (PB-58, slow
// loris), and one that sends fast is not read faster than allowed.
func TestSlowSource(t *testing.T) {
	testkit.Long(t)
	stop := make(chan struct{})
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/fast" {
			w.Write(make([]byte, 100<<10))
			return
		}
		for {
			w.Write([]byte("x"))
			w.(http.Flusher).Flush()
			select {
			case <-stop:
				return
			case <-r.Context().Done():
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	defer close(stop)
	c := newTestClient(Options{Timeout: 300 * time.Millisecond})
	if e := c.Fetch(t.Context(), s.URL+"/slow", netip.Addr{}).Find(ours); e.Result != Unavailable || e.Fault != 50 {
		t.Errorf("slow: %+v", e)
	}
	begin := time.Now()
	newTestClient(Options{MaxRate: 200 << 10}).Fetch(t.Context(), s.URL+"/fast", netip.Addr{})
	if took := time.Since(begin); took < 400*time.Millisecond {
		t.Errorf("100 KiB at 200 KiB/s took %s", took)
	}
}

// TestRefused: addresses that are not public, and other ports than those of the
// web, are never connected to, and the answer does not tell what is there (PB-59,
// CVE-2013-0235).
func TestRefused(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) { link(w) })
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	c := NewClient(Options{Pace: -1, Timeout: 2 * time.Second})
	closed := httptest.NewServer(nil)
	closed.Close()
	reasons := map[string]bool{}
	for _, url := range []string{
		s.URL, closed.URL, "http://localhost:" + port + "/", "http://0.0.0.0:" + port + "/", "http://[::1]:" + port + "/", "http://[::ffff:127.0.0.1]/",
		"http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "http://192.168.1.1/", "http://172.16.0.1/", "http://100.64.0.1/",
		"http://[fe80::1]/", "http://[fc00::1]/", "http://[64:ff9b::7f00:1]/", "http://0x7f000001/", "http://2130706433/", "http://127.1/",
		"http://1.1.1.1:22/", "http://1.1.1.1:8080/", "http://1.1.1.1:6379/",
	} {
		e := c.Fetch(t.Context(), url, netip.Addr{}).Find(ours)
		if e.Result != Refused || e.Fault != 16 {
			t.Errorf("%s: %+v", url, e)
		}
		reasons[e.Reason] = true
	}
	if len(reasons) != 1 {
		t.Errorf("the reasons tell what is there: %v", reasons)
	}
	if n := len(s.seen()); n != 0 {
		t.Errorf("%d connections", n)
	}
	for _, url := range []string{"ftp://a.example/", "file:///etc/passwd", "gopher://127.0.0.1:6379/_x", "http://u:p@a.example/", "//a.example/", "x"} {
		if e := c.Fetch(t.Context(), url, netip.Addr{}).Find(ours); e.Result != Refused {
			t.Errorf("%s: %+v", url, e)
		}
	}
}

// TestRedirectInside: a redirect to an address that is not public is not followed.
func TestRedirectInside(t *testing.T) {
	inside := newSite(t, func(w http.ResponseWriter, r *http.Request) { link(w) })
	outside := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(inside.URL, "127.0.0.1", "127.0.0.2", 1), http.StatusFound)
	})
	c := NewClient(Options{Pace: -1, AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	if e := c.Fetch(t.Context(), outside.URL, netip.Addr{}).Find(ours); e.Result != Refused {
		t.Errorf("%+v", e)
	}
	if len(inside.seen()) != 0 {
		t.Error("the redirect was followed")
	}
}

// TestCanceled: a stop of the receiver says nothing about the source.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if e := newTestClient(Options{}).Fetch(ctx, "http://127.0.0.1:9/", netip.Addr{}).Find(ours); e.Result != Canceled {
		t.Errorf("%+v", e)
	}
}
