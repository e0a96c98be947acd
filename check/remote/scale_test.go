package remote

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sitelink/sitelink/internal/fetch"
)

// simulated answers every request at once.
func simulated(context.Context, fetch.Request) (*fetch.Response, error) {
	return &fetch.Response{Status: 200, Header: http.Header{"Etag": {`"1"`}}}, nil
}

func manyLinks(urls, hosts int) []Link {
	all := make([]Link, urls)
	for i := range all {
		all[i].URL = fmt.Sprintf("https://host%d.example/page/%d", i%hosts, i/hosts)
	}
	return all
}

// A host with many URLs does not keep the others waiting: all make progress together.
func TestAskFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hosts, each = 50, 20
		var all []Link
		for h := range hosts { // one host after the other, as pages often list them
			for i := range each {
				all = append(all, Link{URL: fmt.Sprintf("https://host%d.example/%d", h, i)})
			}
		}
		var mu sync.Mutex
		var count [hosts]int
		opt := quick()
		opt.PerHost, opt.Concurrency = 1, 8
		opt.exchange = func(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
			var host int
			fmt.Sscanf(r.URL, "https://host%d.example/", &host)
			mu.Lock()
			count[host]++
			// Answers that arrive at once are taken in any order, so not 1.
			if least, most := slices.Min(count[:]), slices.Max(count[:]); most-least > each/4 {
				t.Errorf("one host got %d requests, another %d", most, least)
			}
			mu.Unlock()
			time.Sleep(10 * time.Millisecond)
			return simulated(ctx, r)
		}
		if report := ask(t, memory(t), opt, all); report.Requests != hosts*each {
			t.Errorf("%d requests", report.Requests)
		}
	})
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
		opt.exchange = func(context.Context, fetch.Request) (*fetch.Response, error) {
			return &fetch.Response{Status: 429}, nil
		}
		begin = time.Now()
		ask(t, memory(t), opt, manyLinks(20, 1))
		if took := time.Since(begin); took < time.Minute {
			t.Errorf("a host that answers 429 was asked 40 times in %v", took)
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

// BenchmarkAskMillion schedules a million URLs on 50,000 hosts.
func BenchmarkAskMillion(b *testing.B) {
	const urls, hosts = 1_000_000, 50_000
	all := manyLinks(urls, hosts)
	for b.Loop() {
		c, err := Open(filepath.Join(b.TempDir(), "status.jsonl"), nil)
		if err != nil {
			b.Fatal(err)
		}
		var peak atomic.Uint64
		stop := make(chan struct{})
		go func() {
			var m runtime.MemStats
			for {
				select {
				case <-stop:
					return
				case <-time.After(200 * time.Millisecond):
					runtime.ReadMemStats(&m)
					peak.Store(max(peak.Load(), m.Sys-m.HeapReleased))
				}
			}
		}()
		opt := quick()
		opt.exchange = simulated
		begin := time.Now()
		if _, err := Ask(context.Background(), all, c, opt); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(time.Since(begin).Nanoseconds())/urls, "ns/URL")
		close(stop)
		b.ReportMetric(float64(peak.Load())/1e6, "MB")
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAskLoopback asks for 10,000 URLs on 1,000 hosts on loopback, first with a
// bare loop of net/http with the same number of requests at a time, then with Ask, then
// again with what the cache knows.
func BenchmarkAskLoopback(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("needs all of 127.0.0.0/8")
	}
	listener, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		b.Fatal(err)
	}
	var bodies atomic.Int64
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(304)
			return
		}
		bodies.Add(1)
		io.WriteString(w, "<title>page</title>")
	})}
	go server.Serve(listener)
	defer server.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	var urls []string
	for i := range 10_000 {
		urls = append(urls, fmt.Sprintf("http://127.0.%d.%d:%d/%d", 1+i%1000/250, 1+i%250, port, i/1000))
	}
	const at = 64
	for b.Loop() {
		begin := time.Now()
		client := &http.Client{Transport: &http.Transport{MaxIdleConns: 256, MaxIdleConnsPerHost: 8}}
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
		bare := time.Since(begin)
		client.CloseIdleConnections()

		c, err := Open(filepath.Join(b.TempDir(), "status.jsonl"), nil)
		if err != nil {
			b.Fatal(err)
		}
		opt := quick()
		opt.Concurrency = at
		opt.Policy = func(string) Policy { return Policy{MaxAge: -1} }
		begin = time.Now()
		report, err := Ask(context.Background(), links(urls...), c, opt)
		if err != nil || report.Requests != len(urls) {
			b.Fatal(report.Requests, err)
		}
		took := time.Since(begin)
		bodies.Store(0)
		begin = time.Now()
		report, err = Ask(context.Background(), links(urls...), c, opt)
		again := time.Since(begin)
		if err != nil || report.Unchanged != len(urls) || bodies.Load() != 0 {
			b.Fatal(report.Unchanged, bodies.Load(), err)
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(bare.Seconds(), "s-bare")
		b.ReportMetric(took.Seconds(), "s-ask")
		b.ReportMetric(took.Seconds()/bare.Seconds(), "ratio")
		b.ReportMetric(again.Seconds(), "s-again")
		b.ReportMetric(float64(m.Sys-m.HeapReleased)/1e6, "MB")
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
