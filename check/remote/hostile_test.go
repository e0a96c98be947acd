package remote

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/fetch"
)

// hostile is a server on loopback that does something else than answer. It counts what
// it could send.
type hostile struct {
	url  string
	sent atomic.Int64
}

func newHostile(t *testing.T, scheme string, serve func(h *hostile, c net.Conn)) *hostile {
	t.Helper()
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	h := &hostile{url: scheme + "://" + l.Addr().String() + "/"}
	var wait sync.WaitGroup
	stop := make(chan struct{})
	wait.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wait.Go(func() {
				done := make(chan struct{})
				wait.Go(func() {
					select {
					case <-stop:
					case <-done:
					}
					c.Close()
				})
				defer close(done)
				if scheme == "http" {
					if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
						return
					}
				}
				serve(h, c)
			})
		}
	})
	t.Cleanup(func() {
		close(stop)
		l.Close()
		wait.Wait()
	})
	return h
}

// send sends head, and then part until the other side has had enough or there were most
// bytes.
func (h *hostile) send(c net.Conn, head string, part []byte, most int64) {
	io.WriteString(c, head)
	for h.sent.Load() < most {
		n, err := c.Write(part)
		h.sent.Add(int64(n))
		if err != nil {
			return
		}
	}
}

// hang keeps the connection open without a byte.
func hang(_ *hostile, c net.Conn) { io.Copy(io.Discard, c) }

// TestAskHostile: servers that want memory or time get little of both, and the link gets
// a verdict. No server may send more than enough.
func TestAskHostile(t *testing.T) {
	testkit.Long(t)
	const ok, html = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n", "Connection: close\r\n\r\n"
	const endless, enough = 64 << 20, 16 << 20 // buffers of the kernel take some
	text := bytes.Repeat([]byte("<p>text"), 4096)
	var bomb bytes.Buffer // 32 MiB in 32 KiB
	z := gzip.NewWriter(&bomb)
	z.Write(make([]byte, 32<<20))
	z.Close()
	second := func(head string, part []byte) func(*hostile, net.Conn) {
		return func(h *hostile, c net.Conn) { h.send(c, head, part, endless) }
	}
	for _, x := range []struct {
		name, scheme string
		serve        func(*hostile, net.Conn)
		want         string
	}{
		{"an endless body", "http", second(ok+html, text), "ok "},
		{"an endless chunk", "http", second(ok+"Transfer-Encoding: chunked\r\n\r\nfffffff\r\n", text), "ok "},
		{"a body of 2^62 bytes", "http", second(ok+"Content-Length: 4611686018427387904\r\n\r\n", text), "ok "},
		{"a compressed bomb", "http", second(ok+"Content-Encoding: gzip\r\n"+html, bomb.Bytes()), "ok "},
		{"compressed twice", "http", second(ok+"Content-Encoding: gzip, gzip\r\n"+html, bomb.Bytes()), "warning doubtful* garbage"},
		{"broken compression", "http", second(ok+"Content-Encoding: gzip\r\n"+html, text), "warning doubtful* garbage"},
		// Browsers read these, so the link works.
		{"brotli without request", "http", second(ok+"Content-Encoding: br\r\n"+html, text), "ok "},
		{"zstd without request", "http", second(ok+"Content-Encoding: zstd\r\n"+html, text), "ok "},
		{"an endless header", "http", second(ok, []byte("X-More: "+strings.Repeat("x", 900)+"\r\n")), "warning doubtful* garbage"},
		{"an endless line", "http", second("HTTP/1.1 200 ", text), "warning doubtful* garbage"},
		{"endless early hints", "http", second("", []byte("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")), "warning doubtful* garbage"},
		{"no HTTP", "http", second("220 mail.example ESMTP\r\n", nil), "warning doubtful* garbage"},
		{"an empty answer", "http", func(*hostile, net.Conn) {}, "warning doubtful* reset"},
		{"accepts and hangs", "http", hang, "warning doubtful* timeout"},
		{"hangs in the header", "http", func(h *hostile, c net.Conn) { io.WriteString(c, ok); hang(h, c) }, "warning doubtful* timeout"},
		{"hangs in the TLS handshake", "https", hang, "warning doubtful* timeout"},
		{"TLS that never ends", "https", second("", []byte("\x16\x03\x03\x3f\xff"+strings.Repeat("\x00", 0x3fff))), "warning doubtful* tls"},
		{"no TLS", "https", second("HTTP/1.1 400 Bad Request\r\n\r\n", nil), "warning doubtful* tls"},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			h := newHostile(t, x.scheme, x.serve)
			opt := quick()
			if strings.Contains(x.want, "timeout") {
				opt.Timeout = 100 * time.Millisecond
			}
			report := ask(t, memory(t), opt, links(h.url))
			r, _ := report.Of(h.url)
			if got := brief(r) + " " + string(r.Reason); got != x.want {
				t.Errorf("%q, want %q", got, x.want)
			}
			if n := h.sent.Load(); n > enough {
				t.Errorf("%d bytes were taken", n)
			}
		})
	}
}

// TestRobotsServers: a robots.txt that never ends, or never comes, costs little. The first
// part of an endless one counts; one that cannot be read refuses everything.
func TestRobotsServers(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n"
	const endless, enough = 64 << 20, 16 << 20
	comment, longLine := bytes.Repeat([]byte("# more\n"), 4096), bytes.Repeat([]byte("Disallow: /p/"), 4096)
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	z.Write(bytes.Repeat([]byte("\n"), 32<<20))
	z.Close()
	for _, x := range []struct {
		name, head string
		part       []byte // sent again and again; nil: the host hangs; empty: it closes the connection
		allows     bool
	}{
		{"endless, allows", ok + "\r\nUser-agent: *\nDisallow: /q\n", comment, true},
		{"endless, refuses", ok + "\r\nUser-agent: *\nDisallow: /p/\n", comment, false},
		{"an endless line", ok + "\r\nUser-agent: *\n", longLine, true},
		{"an endless header", ok, []byte("X-More: " + strings.Repeat("x", 900) + "\r\n"), false},
		{"a compressed bomb", ok + "Content-Encoding: gzip\r\n\r\n", bomb.Bytes(), true},
		{"broken compression", ok + "Content-Encoding: gzip\r\n\r\n", comment, false},
		{"hangs", "", nil, false},
		{"hangs in the header", ok, nil, false},
		{"hangs after an allowing line", ok + "Content-Length: 1000\r\n\r\nUser-agent: *\nAllow: /\n", nil, false},
		{"cut off after an allowing line", ok + "Content-Length: 1000\r\n\r\nUser-agent: *\nAllow: /\n", []byte{}, false},
		{"cut off after 404", "HTTP/1.1 404 Not Found\r\nContent-Length: 1000\r\n\r\n", []byte{}, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			h := &hostile{}
			w := newWeb(t, func(rw http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/p":
					rw.WriteHeader(http.StatusNotFound)
				case "/robots.txt":
					c, _, err := http.NewResponseController(rw).Hijack()
					if err != nil {
						t.Error(err)
						return
					}
					defer c.Close()
					io.WriteString(c, x.head)
					switch {
					case x.part == nil:
						hang(h, c)
					case len(x.part) > 0:
						h.send(c, "", x.part, endless)
					}
				}
			})
			opt := quick()
			opt.Probe = true
			opt.Policy = func(string) Policy { return Policy{Strikes: 1} }
			if x.part == nil {
				opt.Timeout = 100 * time.Millisecond
			}
			c := memory(t)
			c.Put(Judge(Record{URL: w.URL + "/p"}, Answer{Status: 404}, time.Now(), Policy{Strikes: 1}))
			report := ask(t, c, opt, links(w.URL+"/p"))
			r, _ := report.Of(w.URL + "/p")
			if found := r.Variant != ""; found != x.allows || r.Probed.IsZero() {
				t.Errorf("variant %q, probed %v, want %v", r.Variant, r.Probed, x.allows)
			}
			if asked := slices.Contains(w.take(), "GET /p/"); asked != x.allows {
				t.Errorf("the variant was asked for: %v, want %v", asked, x.allows)
			}
			if n := h.sent.Load(); n > enough {
				t.Errorf("%d bytes were taken", n)
			}
		})
	}
}

// A page counts as found even if its body stops early.
func TestAskHalf(t *testing.T) {
	opt := quick()
	opt.exchange = func(context.Context, fetch.Request) (*fetch.Response, error) {
		return &fetch.Response{Status: 200, Body: []byte("<p>")}, &fetch.Error{Kind: fetch.Timeout}
	}
	report := ask(t, memory(t), opt, links("https://a.example/"))
	if r, _ := report.Of("https://a.example/"); brief(r) != "ok" {
		t.Errorf("%+v", r)
	}
}

// Redirects cannot be used to send many requests to a host: each link follows ten of
// them, and all that lead to one host keep its pace.
func TestAskRedirectFan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var victim []time.Time
		var opt = quick()
		opt.Pace = time.Second
		opt.exchange = func(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			if strings.HasPrefix(r.URL, "https://victim.") {
				victim = append(victim, time.Now())
			}
			to := fmt.Sprintf("https://victim.example/%s%d", strings.Repeat("x", len(victim)%7), len(victim))
			return &fetch.Response{Status: 302, Header: http.Header{"Location": {to}}}, nil
		}
		const hosts = 40
		c := memory(t)
		report := ask(t, c, opt, manyLinks(hosts, hosts))
		if len(victim) != hosts*maxHops || report.Requests != hosts*(1+maxHops) || len(c.URLs()) != hosts {
			t.Errorf("%d requests, %d to the victim, %d results", report.Requests, len(victim), len(c.URLs()))
		}
		for i := range victim[1:] {
			if between := victim[i+1].Sub(victim[i]); between < opt.Pace {
				t.Fatalf("%v between two requests to the victim", between)
			}
		}
	})
}

// Hosts that hang cost the others only a part of the places, and no result is lost.
func TestAskHanging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []Target
		for i := range 30 {
			all = append(all, Target{URL: fmt.Sprintf("https://hang%d.example/", i%3)}, Target{URL: fmt.Sprintf("https://hang%d.example/%d", i%3, i)})
		}
		opt := quick()
		opt.Timeout = 30 * time.Second
		opt.Concurrency = 16
		var last time.Time
		var mu sync.Mutex
		opt.exchange = func(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
			if strings.HasPrefix(r.URL, "https://hang") {
				time.Sleep(opt.Timeout)
				return nil, &fetch.Error{Kind: fetch.Timeout}
			}
			mu.Lock()
			last = time.Now()
			mu.Unlock()
			time.Sleep(100 * time.Millisecond)
			return simulated(ctx, r)
		}
		begin, c := time.Now(), memory(t)
		report := ask(t, c, opt, append(all, manyLinks(400, 40)...))
		if good := last.Sub(begin); good > 15*time.Second {
			t.Errorf("the good hosts took %v", good)
		}
		if len(c.URLs()) != report.Links || report.Links != 433 {
			t.Errorf("%d results of %d links", len(c.URLs()), report.Links)
		}
	})
}

// A clock that was wrong does not stop the work: records of the future are asked for
// again, and get the time of today.
func TestAskClock(t *testing.T) {
	c := memory(t)
	future := time.Now().AddDate(50, 0, 0)
	opt := quick()
	opt.exchange = simulated
	c.Put(Record{URL: "https://a.example/", Asked: seconds(future), Good: seconds(future)})
	c.Put(Record{URL: "https://b.example/", Verdict: check.Unchecked, Code: check.Blocked, Reason: RateLimited, Asked: seconds(future), Next: seconds(future)})
	c.Put(Record{URL: "https://c.example/", Verdict: check.Warning, Code: check.Doubtful, Reason: Timeout, Strikes: 1, Since: seconds(future), Struck: seconds(future), Asked: seconds(future)})
	report := ask(t, c, opt, links("https://a.example/", "https://b.example/", "https://c.example/"))
	if report.Requests != 3 {
		t.Errorf("%d requests", report.Requests)
	}
	for _, url := range c.URLs() {
		if r := c.Get(url); r.Asked.After(time.Now()) || r.Next.After(time.Now()) || brief(r) != "ok" {
			t.Errorf("%+v", r)
		}
	}
}
