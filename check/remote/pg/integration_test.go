//go:build integration

package pg

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitelink/sitelink/check/remote"
	"github.com/sitelink/sitelink/internal/testkit"
)

// work is what a process of a test does.
type work struct {
	Address string
	URLs    []string
	Pace    time.Duration
	PerHost int
	Lease   time.Duration
}

// TestMain runs a process of a test: it asks for URLs with a shared cache, and prints
// how many requests it sent.
func TestMain(m *testing.M) {
	text := os.Getenv("SITELINK_TEST_WORK")
	if text == "" {
		os.Exit(m.Run())
	}
	var w work
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		panic(err)
	}
	report, err := w.do(context.Background())
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(report.Requests)
}

func (w *work) do(ctx context.Context) (*remote.Report, error) {
	store, err := Open(ctx, w.Address, Options{Lease: w.Lease})
	if err != nil {
		return nil, err
	}
	cache := remote.OpenStore(store, func(s string) { fmt.Fprintln(os.Stderr, s) })
	var links []remote.Target
	for _, u := range w.URLs {
		links = append(links, remote.Target{URL: u})
	}
	report, err := remote.Ask(ctx, links, cache, remote.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Pace: w.Pace, PerHost: w.PerHost})
	if err == nil {
		err = cache.Close()
	}
	return report, err
}

func (w *work) start(t *testing.T) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	text := testkit.Must(json.Marshal(w))(t)
	var out bytes.Buffer
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SITELINK_TEST_WORK="+string(text))
	cmd.Stdout, cmd.Stderr = &out, &out
	testkit.Check(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, &out
}

// site is a host on loopback that logs its requests.
type site struct {
	url  string
	mu   sync.Mutex
	at   []time.Time
	path []string
	// active requests now, and the most there ever were.
	active, most int
}

// newSite starts a server on an address of its own, because the address is the host.
func newSite(t *testing.T, ip string) *site {
	t.Helper()
	listener := testkit.Must(net.Listen("tcp", ip+":0"))(t)
	s := &site{url: "http://" + listener.Addr().String()}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.at = append(s.at, time.Now())
		s.path = append(s.path, r.URL.Path)
		s.active++
		s.most = max(s.most, s.active)
		s.mu.Unlock()
		select { // long enough for other requests to come
		case <-time.After(10 * time.Millisecond):
		case <-r.Context().Done():
		}
		s.mu.Lock()
		s.active--
		s.mu.Unlock()
		w.Header().Set("ETag", `"1"`)
	}))
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	return s
}

func (s *site) urls(n int, prefix string) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("%s/%s%d", s.url, prefix, i))
	}
	return all
}

// requests returns the number of requests so far.
func (s *site) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.at)
}

// inspect checks the log: never more than perHost requests at once, and the n-th
// request not before n paces after begin, which holds however late requests arrive.
func (s *site) inspect(t *testing.T, begin time.Time, pace time.Duration, perHost int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.most > perHost {
		t.Errorf("%s: %d requests at once", s.url, s.most)
	}
	for n, at := range s.at {
		if earliest := begin.Add(time.Duration(n) * pace); at.Before(earliest) {
			t.Errorf("%s: request %d came %v too early", s.url, n, earliest.Sub(at))
		}
	}
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no end of waiting for " + what)
		}
	}
}

// Two processes share one politeness budget: the log of each host shows one pace, and
// each URL is asked for once. When one of them is killed, the other goes on with its
// hosts after the lease.
func TestTwoProcesses(t *testing.T) {
	server := testkit.StartPostgres(t)
	t.Run("together", func(t *testing.T) {
		sites := []*site{newSite(t, "127.0.0.2"), newSite(t, "127.0.0.3"), newSite(t, "127.0.0.4")}
		const pace, each = 50 * time.Millisecond, 10
		one := work{Address: server.Schema(), Pace: pace, PerHost: 1, Lease: 10 * time.Second}
		two := one
		for _, s := range sites {
			one.URLs = append(append(one.URLs, s.urls(each, "both")...), s.urls(each, "one")...)
			two.URLs = append(append(two.URLs, s.urls(each, "both")...), s.urls(each, "two")...)
		}
		begin := time.Now()
		first, firstOut := one.start(t)
		second, secondOut := two.start(t)
		if err := errors.Join(first.Wait(), second.Wait()); err != nil {
			t.Fatalf("%v\n%s%s", err, firstOut, secondOut)
		}
		for _, s := range sites {
			s.inspect(t, begin, pace, 1)
			if n := s.requests(); n != 3*each {
				t.Errorf("%s got %d requests for %d URLs", s.url, n, 3*each)
			}
		}
		t.Logf("requests: %s and %s", strings.TrimSpace(firstOut.String()), strings.TrimSpace(secondOut.String()))
	})
	t.Run("killed", func(t *testing.T) {
		s := newSite(t, "127.0.0.5")
		const pace, perHost = 20 * time.Millisecond, 2
		one := work{Address: server.Schema(), Pace: pace, PerHost: perHost, Lease: 3 * time.Second, URLs: s.urls(2000, "")}
		begin := time.Now()
		killed, _ := one.start(t)
		waitFor(t, "results in the database", func() bool { return server.Number(one.Address, "SELECT count(*) FROM sitelink_status_row") > 5 })
		other := one
		other.URLs = append(s.urls(12, ""), s.urls(12, "other")...)
		second, out := other.start(t)
		// The second one waits for the host of the first, and gets it by the end of the lease.
		waitFor(t, "the second process", func() bool { return server.Number(one.Address, "SELECT count(*) FROM sitelink_status_run") == 2 })
		testkit.Check(t, killed.Process.Kill())
		killed.Wait()
		if err := second.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		s.inspect(t, begin, pace, perHost)
		again := map[string]int{}
		for _, path := range s.path {
			again[path]++
		}
		repeated := 0
		for _, n := range again {
			repeated += n - 1
		}
		// At most what the killed process learned within the last second.
		if repeated > int(2*time.Second/pace) {
			t.Errorf("%d requests were repeated", repeated)
		}
		t.Logf("%d requests, %d repeated", s.requests(), repeated)
	})
}

// A connection that breaks during a run is made again, and nothing is lost.
func TestReconnects(t *testing.T) {
	server := testkit.StartPostgres(t)
	s := newSite(t, "127.0.0.6")
	w := work{Address: server.Schema(), Pace: 10 * time.Millisecond, PerHost: 1, Lease: 20 * time.Second, URLs: s.urls(150, "")}
	done := make(chan error, 1)
	go func() {
		_, err := w.do(t.Context())
		done <- err
	}()
	waitFor(t, "requests", func() bool { return s.requests() > 10 })
	server.Stop()
	server.Start()
	testkit.Check(t, <-done)
	if n := server.Number(w.Address, "SELECT count(*) FROM sitelink_status_row"); n != 150 {
		t.Errorf("%d of 150 rows", n)
	}
	server.Stop()
	_, err := w.do(t.Context())
	if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "open status cache postgres://sitelink:xxxxx@/postgres: ") {
		t.Errorf("error %v", err)
	}
}

// The tables of the first version are kept as they are, newer ones are refused, and
// several processes may create them at once.
func TestTables(t *testing.T) {
	server := testkit.StartPostgres(t)
	address := server.Schema()
	reader := testkit.Must(Open(t.Context(), address, Options{ReadOnly: true}))(t)
	if all, err := remote.ReadStore(t.Context(), reader, nil); err != nil || len(all) != 0 {
		t.Errorf("without tables: %v, %v", all, err)
	}
	testkit.Check(t, reader.Close())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if s, err := Open(t.Context(), address, Options{}); err != nil {
				t.Error(err)
			} else {
				s.Close()
			}
		})
	}
	wg.Wait()
	s := testkit.Must(Open(t.Context(), address, Options{}))(t)
	long := "https://x.example/" + strings.Repeat("1", 5000) // longer than an index takes
	at := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	row := func(status string, asked time.Time) *remote.Change {
		return &remote.Change{Rows: []remote.Row{{URL: long, Asked: asked, Text: `{"url":"` + long + `","v":2,"verdict":"ok","status":` + status +
			`,"asked":"` + asked.Format(time.RFC3339) + `","missing":["\u0000"]}`}}}
	}
	testkit.Check(t, s.Save(t.Context(), row("299", time.Now().AddDate(1, 0, 0)))) // by a clock that was wrong
	testkit.Check(t, s.Save(t.Context(), row("200", at)))
	testkit.Check(t, s.Save(t.Context(), row("201", at.Add(-time.Hour))))
	all, err := remote.ReadStore(t.Context(), s, nil)
	if err != nil || len(all) != 1 || all[0].Status != 200 || !all[0].Lacks("\x00") {
		t.Errorf("%+v, %v", all, err)
	}
	testkit.Check(t, s.Save(t.Context(), &remote.Change{Removed: []string{long}}))
	if n := server.Number(address, "SELECT count(*) FROM sitelink_status_row"); n != 0 {
		t.Errorf("%d rows", n)
	}
	testkit.Check(t, s.Close())
	server.At(address, "UPDATE sitelink_status SET version = 3; CREATE TABLE sitelink_status_new (x text)")
	for _, readOnly := range []bool{false, true} {
		if _, err := Open(t.Context(), address, Options{ReadOnly: readOnly}); !errors.Is(err, remote.ErrNewer) {
			t.Errorf("newer tables: %v", err)
		}
	}
	if n := server.Number(address, "SELECT version FROM sitelink_status"); n != 3 {
		t.Errorf("version %d", n)
	}
	for _, bad := range []string{"postgres://me:s3cret@[::1/x", "postgres://me:s3cret@h:port/x"} {
		if _, err := Open(t.Context(), bad, Options{}); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// A claim lasts until it is released or its lease ends, and shares pace and dates.
func TestClaims(t *testing.T) {
	address := testkit.StartPostgres(t).Schema()
	ctx := t.Context()
	open := func() *Store {
		s, err := Open(ctx, address, Options{Lease: time.Minute})
		testkit.Check(t, err)
		t.Cleanup(func() { s.Close() })
		_, err = s.Renew(ctx)
		testkit.Check(t, err)
		return s
	}
	names := func(hosts []remote.Host, err error) string {
		t.Helper()
		testkit.Check(t, err)
		var all []string
		for _, h := range hosts {
			all = append(all, h.Name)
		}
		return strings.Join(all, " ")
	}
	a, b := open(), open()
	if got := names(a.Claim(ctx, []string{"one"})); got != "one" {
		t.Errorf("free: %q", got)
	}
	if got := names(b.Claim(ctx, []string{"one", "two"})); got != "two" {
		t.Errorf("claimed by another: %q", got)
	}
	wanted, err := a.Renew(ctx)
	if err != nil || strings.Join(wanted, " ") != "one" {
		t.Errorf("wanted: %q, %v", wanted, err)
	}
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	testkit.Check(t, a.Save(ctx, &remote.Change{Hosts: []remote.Host{{Name: "one", Ready: time.Hour, Interval: 2 * time.Second, Until: until, Released: true},
		{Name: "two", Released: true}}})) // two is not a's
	if got := names(a.Claim(ctx, []string{"two"})); got != "" {
		t.Errorf("released by a run that has not claimed it: %q", got)
	}
	got, err := b.Claim(ctx, []string{"one"})
	if err != nil || len(got) != 1 || got[0].Interval != 2*time.Second || !got[0].Until.Equal(until) || got[0].Ready < 50*time.Minute {
		t.Errorf("after release: %+v, %v", got, err)
	}
	// b's lease ends.
	_, err = a.pool.Exec(ctx, "UPDATE sitelink_status_run SET lease = now() WHERE run = $1", b.run)
	testkit.Check(t, err)
	if got := names(a.Claim(ctx, []string{"one", "two"})); got != "one two" && got != "two one" {
		t.Errorf("after the lease: %q", got)
	}
	testkit.Check(t, b.Save(ctx, &remote.Change{Hosts: []remote.Host{{Name: "one", Released: true}}}))
	if _, err := b.Renew(ctx); !errors.Is(err, remote.ErrLeaseLost) {
		t.Errorf("renewed: %v", err)
	}
	if got := names(b.Claim(ctx, []string{"one"})); got != "" {
		t.Errorf("a has it: %q", got)
	}
	testkit.Check(t, a.Close())
	if got := names(b.Claim(ctx, []string{"one"})); got != "one" {
		t.Errorf("after Close: %q", got)
	}
}
