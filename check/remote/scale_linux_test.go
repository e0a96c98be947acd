package remote

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/testkit"
)

// usage is what a part of a benchmark takes. Processor time depends less than wall time
// on what else the machine does.
type usage struct {
	wall, cpu time.Duration
	peak      uint64 // memory from the system, in bytes
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func measure(work func()) (u usage) {
	debug.FreeOSMemory()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		var m runtime.MemStats
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for running := true; running; {
			select {
			case <-stop:
				running = false
			case <-tick.C:
			}
			runtime.ReadMemStats(&m)
			u.peak = max(u.peak, m.Sys-m.HeapReleased)
		}
	}()
	begin, cpu := time.Now(), cpuTime()
	work()
	u.wall, u.cpu = time.Since(begin), cpuTime()-cpu
	close(stop)
	<-stopped
	return u
}

// BenchmarkAskMillion asks a simulated network for a million URLs on 50,000 hosts, and
// writes the cache. What Ask takes above a loop that makes the same requests, judges the
// answers and puts them into a cache is the cost of scheduling.
func BenchmarkAskMillion(b *testing.B) {
	const urls, hosts, at = 1_000_000, 50_000, 64
	for b.Loop() {
		all := manyLinks(urls, hosts)
		p := newProgress(hosts)
		opt := quick()
		opt.Concurrency = at
		opt.exchange = func(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
			p.add(hostOf(r.URL))
			return simulated(ctx, r)
		}
		loop := unscheduled(b, all, at, opt.exchange)
		p = newProgress(hosts)
		var ask usage
		whole := measure(func() {
			c := testkit.Must(Open(filepath.Join(b.TempDir(), "status.jsonl"), nil))(b)
			ask = measure(func() {
				testkit.Must(Ask(context.Background(), all, c, opt))(b)
			})
			testkit.Check(b, c.Close())
		})
		perURL := func(d time.Duration) float64 { return d.Seconds() * 1e6 / urls }
		b.ReportMetric(perURL(ask.cpu-loop.cpu), "scheduling-cpu-µs/URL")
		b.ReportMetric(perURL(ask.cpu), "ask-cpu-µs/URL")
		b.ReportMetric(perURL(loop.cpu), "loop-cpu-µs/URL")
		b.ReportMetric(perURL(ask.wall), "ask-wall-µs/URL")
		b.ReportMetric(float64(max(whole.peak, ask.peak))/1e6, "MB")
		b.ReportMetric(float64(p.spread), "requests-ahead")
	}
}

// unscheduled does what Ask does with a million URLs, except for scheduling: so many
// goroutines make the requests in the order of the links, and one judges the answers and
// puts them into a cache.
func unscheduled(b *testing.B, all []Target, at int, exchange func(context.Context, fetch.Request) (*fetch.Response, error)) usage {
	type reply struct {
		url      string
		response *fetch.Response
	}
	c := testkit.Must(Open(filepath.Join(b.TempDir(), "status.jsonl"), nil))(b)
	defer c.Close()
	return measure(func() {
		next, replies := make(chan string, at), make(chan reply, at)
		var wait sync.WaitGroup
		for range at {
			wait.Go(func() {
				for url := range next {
					resp, _ := exchange(context.Background(), fetch.Request{Method: http.MethodGet, URL: url, Header: usual})
					replies <- reply{url, resp}
				}
			})
		}
		go func() {
			for i := range all {
				next <- all[i].URL
			}
			close(next)
			wait.Wait()
			close(replies)
		}()
		for r := range replies {
			a := Answer{Status: r.response.Status, ETag: r.response.Header.Get("ETag")}
			c.Put(Judge(Record{URL: r.url}, a, time.Now(), Policy{}))
		}
	})
}

// pages is a server for all addresses of 127.0.0.0/8, with pages of 16 KiB.
type pages struct {
	port                             int
	connections, bodies, conditional atomic.Int64
}

func newPages(b testing.TB) *pages {
	p := &pages{}
	listener := testkit.Must(net.Listen("tcp", "0.0.0.0:0"))(b)
	page := append([]byte("<title>page</title>"), bytes.Repeat([]byte("text "), 16<<10/5)...)
	server := &http.Server{
		ConnState: func(_ net.Conn, s http.ConnState) {
			if s == http.StateNew {
				p.connections.Add(1)
			}
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"1"`)
			if r.Header.Get("If-None-Match") != "" {
				p.conditional.Add(1)
				w.WriteHeader(304)
				return
			}
			p.bodies.Add(1)
			w.Write(page)
		}),
	}
	go server.Serve(listener)
	b.Cleanup(func() { server.Close() })
	p.port = listener.Addr().(*net.TCPAddr).Port
	return p
}

// urls returns URLs on so many hosts, each host in turn.
func (p *pages) urls(urls, hosts int) (all []string) {
	for i := range urls {
		host := i % hosts
		all = append(all, fmt.Sprintf("http://127.0.%d.%d:%d/%d", 1+host/250, 1+host%250, p.port, i/hosts))
	}
	return all
}

// bare asks for URLs with nothing but net/http, so many at a time.
func bare(urls []string, at int) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConns: 1024, MaxIdleConnsPerHost: 8}}
	defer client.CloseIdleConnections()
	queue := make(chan string)
	var wait sync.WaitGroup
	for range at {
		wait.Go(func() {
			for u := range queue {
				if resp, err := client.Get(u); err == nil {
					io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			}
		})
	}
	for _, u := range urls {
		queue <- u
	}
	close(queue)
	wait.Wait()
}

// BenchmarkAskLoopback asks for 10,000 URLs on 1,000 hosts on loopback. It does so with
// a bare loop of net/http, which makes as many requests at a time and as many
// connections, then with Ask, then again with a filled cache. The median ratio of five
// rounds counts.
func BenchmarkAskLoopback(b *testing.B) {
	const at, count, hosts, rounds = 64, 10_000, 1_000, 5
	p := newPages(b)
	urls := p.urls(count, hosts)
	for b.Loop() {
		var first, again, cpu []float64
		var peak uint64
		for range rounds {
			loop := measure(func() { bare(urls, at) })
			c := testkit.Must(Open(filepath.Join(b.TempDir(), "status.jsonl"), nil))(b)
			opt := quick()
			opt.Concurrency = at
			opt.Policy = func(string) Policy { return Policy{MaxAge: -1} }
			run := func() {
				if report, err := Ask(context.Background(), links(urls...), c, opt); err != nil || report.Requests != count {
					b.Fatal(report.Requests, err)
				}
			}
			p.connections.Store(0)
			one := measure(run)
			b.ReportMetric(float64(p.connections.Load()), "connections")
			p.bodies.Store(0)
			p.conditional.Store(0)
			two := measure(run)
			first, again, cpu = append(first, one.wall.Seconds()/loop.wall.Seconds()), append(again, two.wall.Seconds()/loop.wall.Seconds()),
				append(cpu, one.cpu.Seconds()/loop.cpu.Seconds())
			peak = max(peak, one.peak, two.peak)
			b.ReportMetric(one.wall.Seconds(), "s-ask")
			b.ReportMetric(loop.wall.Seconds(), "s-bare")
			testkit.Check(b, c.Close())
		}
		b.ReportMetric(median(first), "times-bare")
		b.ReportMetric(median(cpu), "times-bare-cpu")
		b.ReportMetric(median(again), "times-bare-again")
		b.ReportMetric(float64(p.conditional.Load()), "conditional-again")
		b.ReportMetric(float64(p.bodies.Load()), "bodies-again")
		b.ReportMetric(float64(peak)/1e6, "MB")
	}
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// BenchmarkAskPaced asks for 10,000 URLs on 1,000 hosts on loopback, a second apart on
// each host. That takes nine seconds at least.
func BenchmarkAskPaced(b *testing.B) {
	const count, hosts = 10_000, 1_000
	p := newPages(b)
	urls := p.urls(count, hosts)
	for b.Loop() {
		c := testkit.Must(Open(filepath.Join(b.TempDir(), "status.jsonl"), nil))(b)
		opt := quick()
		opt.Pace = time.Second
		took := measure(func() {
			if report, err := Ask(context.Background(), links(urls...), c, opt); err != nil || report.Requests != count {
				b.Fatal(report.Requests, err)
			}
		})
		bound := float64(count/hosts - 1)
		b.ReportMetric(took.wall.Seconds(), "s-ask")
		b.ReportMetric(100*(took.wall.Seconds()/bound-1), "%-above-bound")
		b.ReportMetric(float64(took.peak)/1e6, "MB")
		testkit.Check(b, c.Close())
	}
}
