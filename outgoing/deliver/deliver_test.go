package deliver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// scripted is a sender with scripted results.
type scripted struct {
	protocol   ledger.Protocol
	mayRepeat  bool
	takes      func(ledger.Event) bool
	spacing    time.Duration
	discover   func(target string) (string, error)
	send       func(n ledger.Notice) outgoing.Outcome
	mu         sync.Mutex
	sent       []string // "SOURCE TARGET EVENT"
	at         []time.Time
	now, most  int            // deliveries at once
	perHost    map[string]int // at once
	mostAtHost int
}

func (s *scripted) Protocol() ledger.Protocol { return s.protocol }
func (s *scripted) Idempotent() bool          { return s.mayRepeat }
func (s *scripted) Takes(e ledger.Event) bool { return s.takes == nil || s.takes(e) }
func (s *scripted) Spacing() time.Duration    { return s.spacing }

func (s *scripted) Discover(_ context.Context, t *outgoing.Target) (outgoing.Endpoint, error) {
	if s.discover == nil {
		return outgoing.Endpoint{URL: t.URL() + "endpoint", Via: "test"}, nil
	}
	url, err := s.discover(t.URL())
	return outgoing.Endpoint{URL: url}, err
}

func (s *scripted) Send(_ context.Context, n ledger.Notice, e outgoing.Endpoint) outgoing.Outcome {
	s.mu.Lock()
	s.sent, s.at = append(s.sent, n.Source+" "+n.Target+" "+string(n.Event)), append(s.at, time.Now())
	if s.perHost == nil {
		s.perHost = map[string]int{}
	}
	host := hostOf(e.URL)
	s.now++
	s.perHost[host]++
	s.most, s.mostAtHost = max(s.most, s.now), max(s.mostAtHost, s.perHost[host])
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.now--
		s.perHost[host]--
		s.mu.Unlock()
	}()
	if s.send == nil {
		return outgoing.Outcome{State: ledger.Done, Status: 200}
	}
	return s.send(n)
}

// pages is a Doer that serves pages.
type pages struct {
	mu      sync.Mutex
	body    func(url string) (int, string)
	fetched []string
}

func (p *pages) Do(_ context.Context, r outgoing.Request) (*outgoing.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fetched = append(p.fetched, r.URL)
	status, body := p.body(r.URL)
	if status == 0 {
		return nil, &fetch.Error{URL: r.URL, Kind: fetch.Connect, Err: errors.New("connection refused")}
	}
	return &outgoing.Response{Status: status, URL: r.URL, Header: http.Header{}, Body: []byte(body)}, nil
}

const site = "https://blog.example/"

func notice(source, target string, event ledger.Event) ledger.Notice {
	return ledger.Notice{Key: ledger.Key{Source: site + source, Target: target}, Event: event, State: ledger.Pending, Hash: "1"}
}

func store(t *testing.T, notices ...ledger.Notice) *ledger.File {
	t.Helper()
	s := testkit.Must(ledger.OpenFile(filepath.Join(t.TempDir(), "l.jsonl"), ledger.FileOptions{}))(t)
	t.Cleanup(func() { s.Close() })
	testkit.Check(t, s.Plan(t.Context(), site, ledger.Change{Notices: notices}))
	return s
}

func run(t *testing.T, s ledger.Store, opt Options) *Report {
	t.Helper()
	r := testkit.Must(Run(t.Context(), s, opt))(t)
	return r
}

// states returns "TARGET PROTOCOL STATE" of all notices, sorted.
func states(t *testing.T, s ledger.Store) []string {
	t.Helper()
	snap := testkit.Must(s.Load(t.Context()))(t)
	var all []string
	for _, n := range snap.Notices {
		all = append(all, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s", n.Target, n.Protocol, n.State)), " "))
	}
	slices.Sort(all)
	return all
}

func want(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The first sender that finds an endpoint sends the notice, which is recorded with
// its protocol. A target without endpoint is not a failure.
func TestPreference(t *testing.T) {
	wm := &scripted{protocol: ledger.Webmention, mayRepeat: true, discover: func(u string) (string, error) {
		if strings.Contains(u, "wm") {
			return u, nil
		}
		return "", nil
	}}
	pb := &scripted{protocol: ledger.Pingback, mayRepeat: true, takes: func(e ledger.Event) bool { return e == ledger.Added || e == ledger.Updated },
		discover: func(u string) (string, error) {
			if strings.Contains(u, "pb") {
				return u, nil
			}
			return "", nil
		}}
	s := store(t, notice("a", "https://wm-pb.example/", ledger.Added), notice("a", "https://pb.example/", ledger.Added),
		notice("a", "https://none.example/", ledger.Added), notice("b", "https://pb2.example/", ledger.Removed))
	r := run(t, s, Options{Senders: []outgoing.Sender{wm, pb}})
	want(t, states(t, s), []string{"https://none.example/ unsupported", "https://pb.example/ pingback done", "https://pb2.example/ unsupported", "https://wm-pb.example/ webmention done"})
	if r.Failed() != 0 || r.Count(ledger.Done) != 2 || len(r.Results) != 4 {
		t.Errorf("%+v", r)
	}
	s = store(t, notice("b", "https://pb2.example/", ledger.Removed))
	r = run(t, s, Options{Senders: []outgoing.Sender{pb}})
	if n := r.Results[0]; n.State != ledger.Skipped || n.Message != "no enabled protocol can announce that a link was removed" {
		t.Errorf("%+v", n)
	}
}

// LK-2: LINK is sent in addition to the others, once, with a key of its own.
func TestAdditional(t *testing.T) {
	wm := &scripted{protocol: ledger.Webmention, mayRepeat: true}
	link := &scripted{protocol: ledger.LinkMethod}
	s := store(t, notice("a", "https://x.example/", ledger.Added))
	r := run(t, s, Options{Senders: []outgoing.Sender{wm}, Additional: []outgoing.Sender{link}})
	want(t, states(t, s), []string{"https://x.example/ link done", "https://x.example/ webmention done"})
	if len(r.Results) != 2 || len(wm.sent) != 1 || len(link.sent) != 1 {
		t.Errorf("%+v", r)
	}
	// The same event of the same content is planned again: LINK was sent already.
	testkit.Check(t, s.Plan(t.Context(), site, ledger.Change{Notices: []ledger.Notice{notice("a", "https://x.example/", ledger.Added)}}))
	run(t, s, Options{Senders: []outgoing.Sender{wm}, Additional: []outgoing.Sender{link}})
	if len(wm.sent) != 2 || len(link.sent) != 1 {
		t.Errorf("webmention %d times, link %d times", len(wm.sent), len(link.sent))
	}
}

// Each host gets one notice at a time, with the spacing of the sender. Hosts are
// served in parallel.
func TestPoliteness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []ledger.Notice
		for i := range 5 {
			for h := range 3 {
				all = append(all, notice(fmt.Sprint(i), fmt.Sprintf("https://h%d.example/", h), ledger.Added))
			}
		}
		pb := &scripted{protocol: ledger.Pingback, spacing: 16 * time.Second, send: func(ledger.Notice) outgoing.Outcome {
			time.Sleep(time.Second)
			return outgoing.Outcome{State: ledger.Done}
		}}
		s := store(t, all...)
		began := time.Now()
		r := run(t, s, Options{Senders: []outgoing.Sender{pb}})
		if r.Count(ledger.Done) != 15 || pb.most != 3 || pb.mostAtHost != 1 {
			t.Errorf("%d done, %d at once, %d at one host", r.Count(ledger.Done), pb.most, pb.mostAtHost)
		}
		if took := time.Since(began).Round(time.Second); took != 4*17*time.Second+time.Second {
			t.Errorf("took %v", took)
		}
		// Targets on several hosts that share one endpoint.
		pb.discover, pb.mostAtHost, pb.at = func(string) (string, error) { return "https://one.example/xmlrpc", nil }, 0, nil
		s = store(t, all...)
		run(t, s, Options{Senders: []outgoing.Sender{pb}})
		for i := 1; i < len(pb.at); i++ {
			if gap := pb.at[i].Sub(pb.at[i-1]); gap < 17*time.Second {
				t.Errorf("%v between two pingbacks to one host", gap)
			}
		}
	})
}

// If a target names a short time, the notice is sent again in the same run; with a
// long time, in a later run. The host gets nothing else until then.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := map[string]int{}
		var mu sync.Mutex
		wm := &scripted{protocol: ledger.Webmention, send: func(n ledger.Notice) outgoing.Outcome {
			mu.Lock()
			defer mu.Unlock()
			calls[n.Target]++
			switch {
			case strings.Contains(n.Target, "short") && calls[n.Target] == 1:
				return outgoing.Outcome{State: ledger.Retry, Status: 429, After: 20 * time.Second, Message: "slow down"}
			case strings.Contains(n.Target, "long"):
				return outgoing.Outcome{State: ledger.Retry, Status: 503, After: 2 * time.Hour, Message: "closed"}
			}
			return outgoing.Outcome{State: ledger.Done}
		}}
		s := store(t, notice("a", "https://short.example/1", ledger.Added), notice("b", "https://short.example/2", ledger.Added),
			notice("a", "https://long.example/1", ledger.Added), notice("b", "https://long.example/2", ledger.Added))
		began := time.Now()
		r := run(t, s, Options{Senders: []outgoing.Sender{wm}})
		want(t, states(t, s), []string{"https://long.example/1 webmention retry", "https://long.example/2 retry",
			"https://short.example/1 webmention done", "https://short.example/2 webmention done"})
		if took := time.Since(began); took < 20*time.Second || took > 42*time.Second {
			t.Errorf("took %v", took)
		}
		if calls["https://long.example/2"] != 0 || calls["https://short.example/1"] != 2 || r.Failed() != 2 || len(r.Results) != 4 {
			t.Errorf("calls %v, %d failed of %d", calls, r.Failed(), len(r.Results))
		}
		snap, _ := s.Load(t.Context())
		for _, n := range snap.Notices {
			if n.State == ledger.Retry && n.Next.Before(began.Add(2*time.Hour)) {
				t.Errorf("%s is due at %v", n.Target, n.Next.Sub(began))
			}
		}
	})
}

// The delays between attempts, and when a notice has failed.
func TestSchedule(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 500, time.UTC)
	for name, c := range map[string]struct {
		o    outgoing.Outcome
		want []time.Duration
	}{
		"no answer": {outgoing.Outcome{}, []time.Duration{time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour, 24 * time.Hour, 24 * time.Hour, 0}},
		"503":       {outgoing.Outcome{Status: 503}, []time.Duration{10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour, 24 * time.Hour, 24 * time.Hour, 24 * time.Hour, 0}},
		"429 with a time": {outgoing.Outcome{Status: 429, After: 16 * time.Second},
			[]time.Duration{16 * time.Second, 16 * time.Second, 16 * time.Second, 6 * time.Hour, 24 * time.Hour, 24 * time.Hour, 24 * time.Hour, 0}},
		"a time beyond the schedule": {outgoing.Outcome{Status: 429, After: 48 * time.Hour},
			[]time.Duration{48 * time.Hour, 48 * time.Hour, 48 * time.Hour, 48 * time.Hour, 48 * time.Hour, 48 * time.Hour, 48 * time.Hour, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.State, c.o.Message = ledger.Retry, "no"
			n := notice("a", "https://x.example/", ledger.Added)
			for i, wait := range c.want {
				n = applyOutcome(n, c.o, at, len(c.want))
				if wait == 0 {
					if n.State != ledger.Permanent || n.Message != "gave up after 8 attempts: no" || !n.Next.IsZero() {
						t.Errorf("at the end %+v", n)
					}
					continue
				}
				if got := n.Next.Sub(at); got < wait || got >= wait+time.Second {
					t.Errorf("after attempt %d: %v, want %v", i+1, got, wait)
				}
			}
		})
	}
}

// Notices are sent only after the page is live and has the link.
func TestLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		own := &pages{body: func(url string) (int, string) {
			switch {
			case strings.HasSuffix(url, "/soon") && time.Since(began) < 10*time.Second:
				return 404, ""
			case strings.HasSuffix(url, "/gone"):
				return 410, ""
			case strings.HasSuffix(url, "/old"):
				return 200, `<a href="https://other.example/">`
			}
			return 200, `<!doctype html><p><a href="https://x.example/?a=1&amp;b=2">x</a> <a href=//y.example/>y</a>`
		}}
		wm := &scripted{protocol: ledger.Webmention}
		const x, y = "https://x.example/?a=1&b=2", "https://y.example/"
		s := store(t, notice("soon", x, ledger.Added), notice("now", x, ledger.Added), notice("now", y, ledger.Updated), notice("old", x, ledger.Added),
			notice("gone", x, ledger.Deleted), notice("gone", y, ledger.Added), notice("removed", x, ledger.Removed), notice("old", y, ledger.Removed))
		r := run(t, s, Options{Senders: []outgoing.Sender{wm}, Sources: own, Live: LiveOptions{Deadline: time.Minute}})
		got := map[string]string{}
		for _, n := range r.Results {
			got[strings.TrimPrefix(n.Source, site)+" "+hostOf(n.Target)] = strings.TrimSpace(string(n.State) + " " + n.Message)
		}
		for k, v := range map[string]string{
			"soon x.example": "done", "now x.example": "done", "now y.example": "done", "old x.example": "retry the source page does not link to the target",
			"gone x.example": "done", "gone y.example": "retry the source page answered 410", "removed x.example": "retry the source page still links to the target", "old y.example": "done",
		} {
			if got[k] != v {
				t.Errorf("%s: %q, want %q", k, got[k], v)
			}
		}
		if len(wm.sent) != 5 {
			t.Errorf("sent %q", wm.sent)
		}
		if took := time.Since(began).Round(time.Second); took != time.Minute {
			t.Errorf("took %v", took)
		}
	})
}

// PB-61: an endpoint or target on a private network is skipped, which is not a
// failure. A host that does not answer is tried later; after three times in a row,
// its other notices are left for later as well.
func TestUnreachable(t *testing.T) {
	asked := map[string]int{}
	var mu sync.Mutex
	wm := &scripted{protocol: ledger.Webmention, discover: func(u string) (string, error) {
		mu.Lock()
		asked[hostOf(u)]++
		mu.Unlock()
		switch {
		case strings.Contains(u, "private"):
			return "", &fetch.Error{URL: u, Kind: fetch.RefusedAddress, Err: errors.New("10.0.0.1 is private")}
		case strings.Contains(u, "nohost"):
			return "", &fetch.Error{URL: u, Kind: fetch.NoSuchHost, Err: errors.New("no such host")}
		}
		return "", &fetch.Error{URL: u, Kind: fetch.Timeout, Err: errors.New("no byte for 10s")}
	}}
	all := []ledger.Notice{notice("a", "https://private.example/", ledger.Added), notice("a", "https://nohost.example/", ledger.Added)}
	for i := range 10 {
		all = append(all, notice(fmt.Sprint(i), "https://dead.example/", ledger.Added))
	}
	s := store(t, all...)
	r := run(t, s, Options{Senders: []outgoing.Sender{wm}})
	if asked["dead.example"] != 3 || r.Count(ledger.Retry) != 11 || r.Count(ledger.Skipped) != 1 || r.Count(ledger.Permanent) != 0 {
		t.Errorf("requests %v; %d retry, %d skipped, %d permanent", asked, r.Count(ledger.Retry), r.Count(ledger.Skipped), r.Count(ledger.Permanent))
	}
	attempts := 0
	for _, n := range r.Results {
		if n.State == ledger.Retry {
			attempts += n.Attempts
		}
	}
	if attempts != 4 {
		t.Errorf("%d attempts", attempts)
	}
}

// A notice that an earlier run left in flight is repeated if that is harmless, and
// reported otherwise. It stays in flight if the endpoint cannot be discovered.
func TestInFlight(t *testing.T) {
	wm := &scripted{protocol: ledger.Webmention, mayRepeat: true}
	link := &scripted{protocol: ledger.LinkMethod, discover: func(u string) (string, error) { return strings.TrimPrefix(u, "https://z.example/"), nil }}
	one, two, three := notice("a", "https://x.example/", ledger.Added), notice("a", "https://y.example/", ledger.Removed), notice("a", "https://z.example/", ledger.Added)
	one.State, two.State, three.State = ledger.InFlight, ledger.InFlight, ledger.InFlight
	one.Protocol, two.Protocol = ledger.Webmention, ledger.LinkMethod
	wm.discover = func(u string) (string, error) {
		if strings.Contains(u, "z.") {
			return "", errors.New("no")
		}
		return u, nil
	}
	s := store(t, one, two, three)
	r := run(t, s, Options{Senders: []outgoing.Sender{wm, link}})
	want(t, states(t, s), []string{"https://x.example/ webmention done", "https://y.example/ link permanent", "https://z.example/ in-flight"})
	repeated, unsettled := r.Repeated()
	if repeated != 1 || unsettled != 1 || len(wm.sent) != 1 || len(link.sent) != 0 || r.Failed() != 2 {
		t.Errorf("%d repeated, %d unsettled, sent %q %q", repeated, unsettled, wm.sent, link.sent)
	}
}

// After an interrupt, notices in flight are finished and no others are begun.
func TestInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		wm := &scripted{protocol: ledger.Webmention, send: func(n ledger.Notice) outgoing.Outcome {
			time.Sleep(10 * time.Second)
			return outgoing.Outcome{State: ledger.Done}
		}}
		var all []ledger.Notice
		for i := range 30 {
			all = append(all, notice("a", fmt.Sprintf("https://h%02d.example/", i), ledger.Added))
		}
		s := store(t, all...)
		time.AfterFunc(15*time.Second, stop)
		r, err := Run(ctx, s, Options{Senders: []outgoing.Sender{wm}, Hosts: 4})
		if err != nil || r.Stopped != "context canceled" {
			t.Errorf("%v, stopped %q", err, r.Stopped)
		}
		if r.Count(ledger.Done) != 8 || r.NotTried != 22 || len(wm.sent) != 8 {
			t.Errorf("%d done, %d left, %d sent", r.Count(ledger.Done), r.NotTried, len(wm.sent))
		}
		count := map[string]int{}
		for _, line := range states(t, s) {
			count[line[strings.LastIndex(line, " ")+1:]]++
		}
		if !maps.Equal(count, map[string]int{"done": 8, "pending": 22}) {
			t.Errorf("in the ledger %v", count)
		}
	})
}

// failing is a store that fails after some writes.
type failing struct {
	*ledger.File
	mu   sync.Mutex
	left int
}

var errFull = errors.New("the disk is full")

func (f *failing) Begin(ctx context.Context, k ledger.Key) error {
	f.mu.Lock()
	f.left--
	left := f.left
	f.mu.Unlock()
	if left < 0 {
		return errFull
	}
	return f.File.Begin(ctx, k)
}

// A failing store ends the run. Only notices that are begun on disk are sent.
func TestStoreFails(t *testing.T) {
	wm := &scripted{protocol: ledger.Webmention}
	var all []ledger.Notice
	for i := range 50 {
		all = append(all, notice("a", fmt.Sprintf("https://h%02d.example/", i), ledger.Added))
	}
	r, err := Run(t.Context(), &failing{File: store(t, all...), left: 10}, Options{Senders: []outgoing.Sender{wm}})
	if !errors.Is(err, errFull) || len(wm.sent) != 10 || r.Count(ledger.Done) != 10 || r.NotTried != 40 {
		t.Errorf("%v, %d sent, %d done, %d left", err, len(wm.sent), r.Count(ledger.Done), r.NotTried)
	}
}

// pinger is a sender that cannot announce that a page changed.
type pinger struct{ *scripted }

func (pinger) Once() bool { return true }

// TestOnce: an update is not sent with such a protocol to a target that has
// the link, but to one that refused the page. A link that was removed and added
// again is sent again (PB-51, PB-1).
func TestOnce(t *testing.T) {
	refuse := true
	pb := pinger{&scripted{protocol: ledger.Pingback, mayRepeat: true}}
	pb.send = func(n ledger.Notice) outgoing.Outcome {
		if refuse && n.Target == "https://refuses.example/" {
			return outgoing.Outcome{State: ledger.Permanent}
		}
		return outgoing.Outcome{State: ledger.Done}
	}
	wm := &scripted{protocol: ledger.Webmention, mayRepeat: true, discover: func(u string) (string, error) {
		if u == "https://wm.example/" {
			return u, nil
		}
		return "", nil
	}}
	targets := []string{"https://has.example/", "https://refuses.example/", "https://wm.example/"}
	s := store(t)
	deliver := func(event ledger.Event, done ...string) {
		t.Helper()
		pb.sent, wm.sent = nil, nil
		var all []ledger.Notice
		for _, target := range targets {
			all = append(all, notice("a", target, event))
		}
		testkit.Check(t, s.Plan(t.Context(), site, ledger.Change{Notices: all}))
		run(t, s, Options{Senders: []outgoing.Sender{wm, pb}})
		want(t, states(t, s), done)
	}
	deliver(ledger.Added, "https://has.example/ pingback done", "https://refuses.example/ pingback permanent", "https://wm.example/ webmention done")
	if len(pb.sent) != 2 || len(wm.sent) != 1 {
		t.Fatalf("%q, %q", pb.sent, wm.sent)
	}
	refuse = false
	deliver(ledger.Updated, "https://has.example/ pingback done", "https://refuses.example/ pingback done", "https://wm.example/ webmention done")
	want(t, pb.sent, []string{site + "a https://refuses.example/ updated"})
	want(t, wm.sent, []string{site + "a https://wm.example/ updated"})
	deliver(ledger.Updated, "https://has.example/ pingback done", "https://refuses.example/ pingback done", "https://wm.example/ webmention done")
	if len(pb.sent) != 0 || len(wm.sent) != 1 {
		t.Errorf("%q, %q", pb.sent, wm.sent)
	}
	deliver(ledger.Added, "https://has.example/ pingback done", "https://refuses.example/ pingback done", "https://wm.example/ webmention done")
	if len(pb.sent) != 2 {
		t.Errorf("%q", pb.sent)
	}
}

// failedAt is a notice that failed because of its page.
func failedAt(source, target string, protocol ledger.Protocol, event ledger.Event, problems string) ledger.Notice {
	n := notice(source, target, event)
	n.Protocol, n.State, n.Attempts, n.Problems, n.Message = protocol, ledger.Permanent, 3, problems, "failed"
	return n
}

// TestRecheck: a failed notice is sent again if its page is live and has other
// problems than before.
func TestRecheck(t *testing.T) {
	const to = "https://t.example/"
	link := `<a href="` + to + `">t</a>`
	bodies := map[string]string{"same": link, "cured": "<title>t</title>" + link, "other": "<title>t</title><a href=" + to + "><img></a>",
		"unlinked": "<title>t</title>", "late": link, "live": "<title>t</title>" + link, "away": "gone", "back": link}
	web := &pages{body: func(url string) (int, string) {
		name := strings.TrimPrefix(url, site)
		if name == "missing" {
			return 404, "no"
		}
		return 200, bodies[name]
	}}
	failed := []ledger.Notice{
		failedAt("same", to, ledger.Pingback, ledger.Added, "no-title"),
		failedAt("cured", to, ledger.Pingback, ledger.Added, "no-title"),
		failedAt("other", to, ledger.Pingback, ledger.Updated, "no-title"),
		failedAt("unlinked", to, ledger.Pingback, ledger.Added, "no-title"),
		failedAt("missing", to, ledger.Pingback, ledger.Added, "no-title"),
		failedAt("live", to, ledger.AnyProtocol, ledger.Added, "not-live"),
		failedAt("away", to, ledger.Webmention, ledger.Removed, "not-live"),
		failedAt("back", to, ledger.Webmention, ledger.Removed, "not-live"),
	}
	pb := &scripted{protocol: ledger.Pingback, mayRepeat: true, takes: func(e ledger.Event) bool { return e != ledger.Removed }}
	wm := &scripted{protocol: ledger.Webmention, mayRepeat: true, takes: func(e ledger.Event) bool { return e == ledger.Removed }}
	s := store(t, failed...)
	opt := Options{Senders: []outgoing.Sender{pb, wm}, Sources: web, Live: LiveOptions{Deadline: -1}, Recheck: failed}
	r := run(t, s, opt)
	sent := append(slices.Clone(pb.sent), wm.sent...)
	slices.Sort(sent)
	want(t, sent, []string{site + "away " + to + " removed", site + "cured " + to + " added", site + "live " + to + " added", site + "other " + to + " updated"})
	for _, d := range r.Results {
		if d.State != ledger.Done || d.Attempts != 1 || d.Problems != "" || d.Cure != "" {
			t.Errorf("%+v", d.Notice)
		}
	}
	if len(r.Results) != 4 {
		t.Errorf("%d results", len(r.Results))
	}
	// A library that does not say so fetches nothing, and one that has no sources
	// sends nothing.
	web.fetched = nil
	s = store(t, failed...)
	run(t, s, Options{Senders: opt.Senders, Sources: web})
	opt.Sources = nil
	if r := run(t, s, opt); len(r.Results) != 0 || len(web.fetched) != 0 {
		t.Errorf("%d results, fetched %q", len(r.Results), web.fetched)
	}
}

// If its page never becomes live, a notice fails for that reason.
func TestNotLiveIsAProblem(t *testing.T) {
	web := &pages{body: func(string) (int, string) { return 404, "" }}
	s := store(t, notice("p", "https://t.example/", ledger.Added))
	r := run(t, s, Options{Senders: []outgoing.Sender{&scripted{protocol: ledger.Webmention}}, Sources: web, Live: LiveOptions{Deadline: -1}, Attempts: 1})
	if n := r.Results[0]; n.State != ledger.Permanent || n.Problems != "not-live" || n.Cure != "publish the page as it was built" {
		t.Errorf("%+v", n)
	}
}
