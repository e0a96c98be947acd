package deliver_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/deliver"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/send"
)

// atOnce is the number of hosts to send to in parallel.
const atOnce = 256

// perPage is the number of targets of a source.
const perPage = 100

// TestManyHosts: notices to many loopback hosts at pace 0 take at most 1.5 times
// as long as a bare loop of net/http, and less than 200 MB. The loop makes the
// same requests with the same bodies in as many goroutines. SITELINK_HOSTS=10000
// is the full test. Only the full test checks the time, which means little for
// few hosts on a busy machine.
func TestManyHosts(t *testing.T) {
	hosts, full := 100, false
	if text := os.Getenv("SITELINK_HOSTS"); text != "" {
		var err error
		if hosts, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
		full = true
	}
	server := newLoopbackServer(t, hosts)
	var notices []ledger.Notice
	for i := range hosts {
		source := fmt.Sprintf("http://127.0.0.1:%s/source/%d", server.port, i/perPage)
		notices = append(notices, ledger.Notice{Key: ledger.Key{Source: source, Target: server.target(i)}, Event: ledger.Added, Hash: "1", State: ledger.Pending})
	}
	allow := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	ours := func() (took, cpu time.Duration) {
		server.posts.Store(0)
		store := testkit.Must(ledger.OpenFile(filepath.Join(t.TempDir(), "l.jsonl"), ledger.FileOptions{}))(t)
		defer store.Close()
		testkit.Check(t, store.Plan(t.Context(), "http://127.0.0.1/", ledger.Change{Notices: notices}))
		client := outgoing.NewClient(outgoing.ClientOptions{AllowAddresses: allow, Pace: -1})
		began, used := time.Now(), processor(t)
		r, err := deliver.Run(t.Context(), store, deliver.Options{
			Senders: []outgoing.Sender{send.NewWebmention(client)}, Targets: client, Sources: client, Hosts: atOnce,
		})
		took, cpu = time.Since(began), processor(t)-used
		if err != nil || r.Count(ledger.Accepted) != hosts || int(server.posts.Load()) != hosts {
			t.Fatalf("%v, %d accepted, %d arrived, %d failed", err, r.Count(ledger.Accepted), server.posts.Load(), r.Failed())
		}
		return took, cpu
	}
	peak := watchMemory(t)
	bestOurs, bestBare := time.Hour, time.Hour
	var bestCPU, bareCPU time.Duration = time.Hour, time.Hour
	for range 3 {
		took, cpu := ours()
		bestOurs, bestCPU = min(bestOurs, took), min(bestCPU, cpu)
		runtime.GC()
		server.posts.Store(0)
		began, used := time.Now(), processor(t)
		server.bare(t, notices)
		bestBare, bareCPU = min(bestBare, time.Since(began)), min(bareCPU, processor(t)-used)
		if int(server.posts.Load()) != hosts {
			t.Fatalf("the bare loop posted %d", server.posts.Load())
		}
		runtime.GC()
	}
	ratio := bestOurs.Seconds() / bestBare.Seconds()
	t.Logf("%d hosts: %v (%v of processor time), a bare loop %v (%v): %.2f times; peak memory %d MB, with the server",
		hosts, bestOurs.Round(time.Millisecond), bestCPU.Round(time.Millisecond), bestBare.Round(time.Millisecond), bareCPU.Round(time.Millisecond), ratio, peak()>>20)
	if mb := peak() >> 20; mb > 200 {
		t.Errorf("%d MB of memory", mb)
	}
	if full && ratio > 1.5 {
		t.Errorf("%.2f times as long as a bare loop", ratio)
	}
}

func processor(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	testkit.Check(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// watchMemory returns a function that returns the maximum memory taken from the
// system so far.
func watchMemory(t *testing.T) func() uint64 {
	var peak atomic.Uint64
	look := func() {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak.Store(max(peak.Load(), m.Sys-m.HeapReleased))
	}
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	go func() {
		for ctx.Err() == nil {
			look()
			time.Sleep(50 * time.Millisecond)
		}
	}()
	return func() uint64 { look(); return peak.Load() }
}

// loopbackServer is a server on all addresses of 127.0.0.0/8.
type loopbackServer struct {
	port  string
	hosts int
	posts atomic.Int64
}

func newLoopbackServer(t *testing.T, hosts int) *loopbackServer {
	t.Helper()
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		ctlErr := c.Control(func(fd uintptr) { err = unix.BindToDevice(int(fd), "lo") })
		if err == nil {
			err = ctlErr
		}
		return err
	}}
	l, err := config.Listen(t.Context(), "tcp4", "0.0.0.0:0")
	if err != nil {
		t.Skipf("no server at all loopback addresses: %v", err)
	}
	s := &loopbackServer{hosts: hosts}
	_, s.port, _ = net.SplitHostPort(l.Addr().String())
	server := &http.Server{Handler: s}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return s
}

func (s *loopbackServer) target(i int) string {
	return fmt.Sprintf("http://127.%d.%d.%d:%s/", 1+i/62500, i/250%250, i%250+1, s.port)
}

func (s *loopbackServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost:
		io.Copy(io.Discard, r.Body)
		s.posts.Add(1)
		w.WriteHeader(http.StatusAccepted)
	case strings.HasPrefix(r.URL.Path, "/source/"):
		w.Write(s.source(strings.TrimPrefix(r.URL.Path, "/source/")))
	default:
		io.WriteString(w, `<!doctype html><title>t</title><link rel=webmention href=/wm>`)
	}
}

// source is a page that links to perPage targets.
func (s *loopbackServer) source(number string) []byte {
	first, _ := strconv.Atoi(number)
	var page bytes.Buffer
	page.WriteString("<!doctype html><title>s</title>")
	for i := first * perPage; i < min((first+1)*perPage, s.hosts); i++ {
		fmt.Fprintf(&page, "<a href=%q>x</a>\n", s.target(i))
	}
	return page.Bytes()
}

// bare makes the same requests with net/http: a GET and a POST for each target.
func (s *loopbackServer) bare(t *testing.T, notices []ledger.Notice) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	jobs := make(chan *ledger.Notice)
	var wg sync.WaitGroup
	read := func(resp *http.Response, err error) {
		if err != nil {
			t.Error(err)
			return
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	for range atOnce {
		wg.Go(func() {
			for n := range jobs {
				read(client.Get(n.Target))
				read(client.PostForm(n.Target+"wm", url.Values{"source": {n.Source}, "target": {n.Target}}))
			}
		})
	}
	for i := range notices {
		jobs <- &notices[i]
	}
	close(jobs)
	wg.Wait()
}
