//go:build unix

package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/incomingtest"
	"github.com/sitelink/sitelink/incoming/server"
	"github.com/sitelink/sitelink/incoming/verify"
	"github.com/sitelink/sitelink/site"
)

// The environment of a child that sends webmentions: the address of the receiver, and
// how many of them it sends from which number on, and at which rate per second.
const (
	childReceiver = "SITELINK_TEST_RECEIVER"
	childNotices  = "SITELINK_TEST_RECEIVER_NOTICES"
)

// sourceHosts is the number of loopback addresses that have sources, and ourPages that
// of the pages that they link to.
const sourceHosts, ourPages = 200, 1000

// sender sends webmentions and serves their sources. It runs in a process of its own.
func sender(receiver string) error {
	var first, notices int64
	var rate float64
	if _, err := fmt.Sscan(os.Getenv(childNotices), &first, &notices, &rate); err != nil {
		return err
	}
	hosts, fetched, err := serveSources(receiver)
	if err != nil {
		return err
	}
	var connections []net.Conn
	took, elapsed, err := load(int(notices), rate, func() (func(int64) error, error) {
		c, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(receiver, "http://"), "/"))
		if err != nil {
			return nil, err
		}
		connections = append(connections, c)
		in := bufio.NewReader(c)
		return func(i int64) error { return sendOne(c, in, receiver, hosts, first+i) }, nil
	})
	if err != nil {
		return err
	}
	for _, c := range connections {
		c.Close()
	}
	fmt.Println(float64(notices)/elapsed.Seconds(), took[len(took)/2].Seconds()*1e3, took[len(took)*99/100].Seconds()*1e3, took[len(took)-1].Seconds()*1e3, float64(fetched.Load())/elapsed.Seconds())
	_, err = io.Copy(io.Discard, os.Stdin) // the sources stay until the benchmark ends
	return err
}

// serveSources serves pages that link to the receiver's, on many addresses.
func serveSources(receiver string) (hosts []string, fetched *atomic.Int64, err error) {
	fetched = &atomic.Int64{}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fetched.Add(1)
		n, _ := strconv.ParseInt(strings.Trim(r.URL.Path, "/"), 10, 64)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!DOCTYPE html><html lang="en"><title>Post %d</title><article class="h-entry"><h1 class="p-name">A post</h1><p>%s<a href="%s">a page</a> %[2]s</article>`,
			n, strings.Repeat("Some words of the post. ", 40), targetOf(receiver, n))
	})
	for i := range sourceHosts {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.%d.%d:0", 1+i/100, 1+i%100))
		if err != nil {
			return nil, nil, err
		}
		go http.Serve(l, handler)
		hosts = append(hosts, l.Addr().String())
	}
	return hosts, fetched, nil
}

func targetOf(receiver string, n int64) string {
	return fmt.Sprintf("%sarticles/%d/", receiver, n*40503%ourPages)
}

// sendOne sends one webmention and checks the answer.
func sendOne(c net.Conn, in *bufio.Reader, receiver string, hosts []string, n int64) error {
	source := fmt.Sprintf("http://%s/%d/", hosts[n%int64(len(hosts))], n)
	body := url.Values{"source": {source}, "target": {targetOf(receiver, n)}}.Encode()
	if _, err := fmt.Fprintf(c, "POST /webmention HTTP/1.1\r\nHost: our.example\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		return err
	}
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusCreated {
		err = fmt.Errorf("%s: %s", resp.Status, text)
	}
	return err
}

// benchmarkServe measures durable notices per second over HTTP, and the slowest
// hundredth of the answers at half the target, while sources on loopback addresses are
// fetched and verified. The sender and the sources are another process on the same
// processors.
func benchmarkServe(b *testing.B, target float64, open func(Options) *Store) {
	runtime.GOMAXPROCS(2)
	s := open(Options{Worker: true})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(b, err)
	address := "http://" + l.Addr().String() + "/"
	files := map[string]string{}
	for n := range ourPages {
		files[fmt.Sprintf("articles/%d/index.html", n)] = "<!DOCTYPE html><title>An article</title><p>Text."
	}
	manifest := incomingtest.Manifest(b, b.TempDir(), files, site.Options{BaseURLs: []string{address}})
	sites := &incoming.Sites{}
	sites.Set(manifest)
	var verified atomic.Int64
	receiver := incoming.NewReceiver(incoming.ReceiverOptions{
		Store: s, Sites: sites, Observe: func(incoming.State, time.Duration) { verified.Add(1) },
		Client: verify.NewClient(verify.Options{Pace: -1, AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}),
	})
	web := server.New(server.Options{Receiver: receiver, Mentions: s, BaseURLs: []string{address}})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() { web.Serve(ctx, l) })
	wg.Go(func() { receiver.Run(ctx) })
	b.ResetTimer()
	cpu := cpuTime()
	var rate, p50, p99, most, fetched float64
	sendFrom(b, address, 0, b.N, 0, &rate, &p50, &p99, &most, &fetched)
	b.StopTimer()
	b.ReportMetric(float64(cpuTime()-cpu)/1e3/float64(b.N), "cpu-µs/notice")
	b.ReportMetric(rate, "notices/s")
	full, commits := rate, s.commits.Load()
	b.ReportMetric(peakMB(), "peak-RSS-MB")
	b.ReportMetric(fetched, "verified/s")
	before := verified.Load()
	sendFrom(b, address, b.N, b.N, target/2, &rate, &p50, &p99, &most, &fetched)
	b.ReportMetric(rate, "half-notices/s")
	b.ReportMetric(float64(verified.Load()-before)*rate/float64(b.N), "half-verified/s")
	b.ReportMetric(p50, "half-p50-ms")
	b.ReportMetric(p99, "half-p99-ms")
	b.ReportMetric(most, "half-max-ms")
	b.ReportMetric(0, "ns/op")
	stop()
	wg.Wait()
	reportInserts(b, s, commits, full)
}

// sendFrom lets another process send n webmentions, and reads its figures.
func sendFrom(b *testing.B, receiver string, first, n int, rate float64, figures ...any) {
	b.Helper()
	self, err := os.Executable()
	check(b, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childReceiver+"="+receiver, childNotices+"="+fmt.Sprint(first, n, rate))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	check(b, err)
	out, err := cmd.StdoutPipe()
	check(b, err)
	check(b, cmd.Start())
	b.Cleanup(func() { in.Close(); cmd.Wait() })
	if _, err := fmt.Fscan(out, figures...); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkServeSQLite(b *testing.B) {
	benchmarkServe(b, 5000, openFor(b, filepath.Join(b.TempDir(), "mentions.db")))
}
