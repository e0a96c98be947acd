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
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/fetch"
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
	runtime.GC()
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
// writes the cache. The time without Open and Close is that of scheduling and judging.
func BenchmarkAskMillion(b *testing.B) {
	const urls, hosts = 1_000_000, 50_000
	for b.Loop() {
		all := manyLinks(urls, hosts)
		p := newProgress(hosts)
		opt := quick()
		opt.exchange = func(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
			p.add(hostOf(r.URL))
			return simulated(ctx, r)
		}
		var schedule usage
		whole := measure(func() {
			c, err := Open(filepath.Join(b.TempDir(), "status.jsonl"), nil)
			if err != nil {
				b.Fatal(err)
			}
			schedule = measure(func() {
				if _, err := Ask(context.Background(), all, c, opt); err != nil {
					b.Fatal(err)
				}
			})
			if err := c.Close(); err != nil {
				b.Fatal(err)
			}
		})
		b.ReportMetric(float64(schedule.cpu.Nanoseconds())/urls, "cpu-ns/URL")
		b.ReportMetric(float64(schedule.wall.Nanoseconds())/urls, "wall-ns/URL")
		b.ReportMetric(float64(max(whole.peak, schedule.peak))/1e6, "MB")
		b.ReportMetric(float64(p.spread), "requests-ahead")
	}
}

// pages is a server for all addresses of 127.0.0.0/8 whose pages have 16 KiB.
type pages struct {
	port                int
	connections, bodies atomic.Int64
}

func newPages(b testing.TB) *pages {
	p := &pages{}
	listener, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		b.Fatal(err)
	}
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

// BenchmarkAskLoopback asks for 10,000 URLs on 1,000 hosts on loopback, first with a
// bare loop of net/http with the same number of requests at a time and of
// connections, then with Ask, then again with what the cache knows.
func BenchmarkAskLoopback(b *testing.B) {
	const at, count, hosts = 64, 10_000, 1_000
	p := newPages(b)
	urls := p.urls(count, hosts)
	for b.Loop() {
		loop := measure(func() { bare(urls, at) })
		c, err := Open(filepath.Join(b.TempDir(), "status.jsonl"), nil)
		if err != nil {
			b.Fatal(err)
		}
		opt := quick()
		opt.Concurrency = at
		opt.Policy = func(string) Policy { return Policy{MaxAge: -1} }
		var report *Report
		run := func() {
			if report, err = Ask(context.Background(), links(urls...), c, opt); err != nil || report.Requests != count {
				b.Fatal(report.Requests, err)
			}
		}
		p.connections.Store(0)
		first := measure(run)
		connections := p.connections.Load()
		p.bodies.Store(0)
		again := measure(run)
		if report.Unchanged != count || p.bodies.Load() != 0 {
			b.Fatal(report.Unchanged, p.bodies.Load())
		}
		b.ReportMetric(loop.wall.Seconds(), "s-bare")
		b.ReportMetric(first.wall.Seconds(), "s-ask")
		b.ReportMetric(again.wall.Seconds(), "s-again")
		b.ReportMetric(loop.cpu.Seconds(), "cpu-s-bare")
		b.ReportMetric(first.cpu.Seconds(), "cpu-s-ask")
		b.ReportMetric(again.cpu.Seconds(), "cpu-s-again")
		b.ReportMetric(float64(connections), "connections")
		b.ReportMetric(float64(max(first.peak, again.peak))/1e6, "MB")
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAskPaced asks for 2,000 URLs on 200 hosts on loopback, a second apart on
// each host. That takes nine seconds at least.
func BenchmarkAskPaced(b *testing.B) {
	const count, hosts = 2_000, 200
	p := newPages(b)
	urls := p.urls(count, hosts)
	for b.Loop() {
		c, err := Open(filepath.Join(b.TempDir(), "status.jsonl"), nil)
		if err != nil {
			b.Fatal(err)
		}
		opt := quick()
		opt.Pace = time.Second
		took := measure(func() {
			if report, err := Ask(context.Background(), links(urls...), c, opt); err != nil || report.Requests != count {
				b.Fatal(report.Requests, err)
			}
		})
		b.ReportMetric(took.wall.Seconds(), "s-ask")
		b.ReportMetric(took.wall.Seconds()/float64(count/hosts-1), "of-bound")
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
