package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/netip"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/testkit"
)

// opener opens the database of a test. Two calls open the same.
type opener func(t testing.TB, opt Options) *Store

// conformance is what a store does, whichever database it has. fresh returns an
// opener of a new database.
func conformance(t *testing.T, fresh func(t *testing.T) opener) {
	for name, test := range map[string]func(*testing.T, opener){
		"round trip": testRoundTrip, "record": testRecord, "concurrent": testConcurrent, "list": testList,
		"rules": testRules, "work": testWork, "schedule": testSchedule, "failures": testFailures, "long URLs": testLong,
		"crashes": testCrashes, "two stores": testTwoStores, "migration": testMigration, "retention": testRetention,
	} {
		t.Run(name, func(t *testing.T) { test(t, fresh(t)) })
	}
}

// wait waits until a condition holds.
func wait(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited too long: %s", what)
		}
	}
}

var start = time.Date(2026, 11, 22, 10, 0, 0, 123456000, time.UTC)

// clock is a clock that a test sets.
type clock struct{ t atomic.Pointer[time.Time] }

func newClock() *clock {
	c := &clock{}
	c.set(start)
	return c
}
func (c *clock) set(t time.Time) { c.t.Store(&t) }
func (c *clock) now() time.Time  { return *c.t.Load() }

func testLog(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// notice returns the key and a new mention of source number n of a target.
func notice(n int, target string) (incoming.Key, *incoming.Mention) {
	source := fmt.Sprintf("https://s%d.example/%d", n%7, n)
	return incoming.Key{Action: incoming.Link, Source: source, Target: target},
		&incoming.Mention{Protocol: incoming.Webmention, Source: source, Target: target, State: incoming.Queued, Received: start, Due: start}
}

// add records a mention unless one exists, and returns its ID.
func add(t *testing.T, s *Store, key incoming.Key, m *incoming.Mention) string {
	t.Helper()
	testkit.Check(t, s.Record(t.Context(), []incoming.Key{key}, func([]*incoming.Mention) ([]*incoming.Mention, error) {
		return []*incoming.Mention{m}, nil
	}))
	return m.ID
}

func testRoundTrip(t *testing.T, open opener) {
	s := open(t, Options{})
	want := incoming.Mention{
		Action: incoming.UnlinkR, Protocol: incoming.LinkMethod, Source: "http://OUR.example:80/a b", Target: "https://x.example/ä#f",
		Replacement: "https://x.example/new", State: incoming.Held, Title: "T'\"\u2028", Excerpt: "<b>", Lang: "de",
		Author: incoming.Author{Name: "Å", URL: "https://å.example/"}, Fault: 17, Reason: "no link",
		Received: start, Verified: start.Add(time.Microsecond), Subscribed: true, Peer: netip.MustParseAddr("2001:db8::1"),
		Due: start.AddDate(0, 0, 1), Fetched: start.Add(2), Failures: 3,
	}
	key := testkit.Must(incoming.KeyOf(incoming.Notice{Action: want.Action, Source: want.Source, Target: want.Target}))(t)
	m := want
	want.ID = add(t, s, key, &m)
	want.Fetched = start
	if len(want.ID) != 32 {
		t.Errorf("the ID is %q", want.ID)
	}
	for _, s := range []*Store{s, open(t, Options{Existing: true})} {
		got, err := s.Mention(t.Context(), want.ID)
		if testkit.Check(t, err); !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		testkit.Check(t, s.Record(t.Context(), []incoming.Key{key, {Action: incoming.Link, Source: key.Source, Target: key.Target}}, func(all []*incoming.Mention) ([]*incoming.Mention, error) {
			if !reflect.DeepEqual(*all[0], want) || all[1] != nil {
				t.Errorf("decide got %+v", all)
			}
			return nil, nil
		}))
	}
	got, err := s.Update(t.Context(), want.ID, func(m *incoming.Mention) error {
		m.Title, m.Reason, m.State, m.Peer = "nul \x00, not UTF-8 \xff", "", incoming.Approved, netip.Addr{}
		return nil
	})
	testkit.Check(t, err)
	again, err := s.Mention(t.Context(), want.ID)
	if testkit.Check(t, err); again.Title != "nul \ufffd, not UTF-8 \ufffd" || again.Peer.IsValid() || again.State != incoming.Approved || got.State != incoming.Approved {
		t.Errorf("updated: %+v", again)
	}
	own := errors.New("own")
	if _, err := s.Update(t.Context(), want.ID, func(m *incoming.Mention) error { m.Title = "x"; return own }); err != own {
		t.Errorf("Update returns %v", err)
	}
	if again, _ := s.Mention(t.Context(), want.ID); again.Title == "x" {
		t.Error("a failed Update was written")
	}
	for _, unknown := range []string{"", "x", "00000000000000000000000000000000"} {
		if _, err := s.Mention(t.Context(), unknown); err != incoming.ErrNotFound {
			t.Errorf("Mention(%q): %v", unknown, err)
		}
		if _, err := s.Update(t.Context(), unknown, func(*incoming.Mention) error { return nil }); err != incoming.ErrNotFound {
			t.Errorf("Update(%q): %v", unknown, err)
		}
	}
}

func testRecord(t *testing.T, open opener) {
	s := open(t, Options{})
	ctx := t.Context()
	own := errors.New("own")
	one, first := notice(1, "https://our.example/")
	two, second := notice(2, "https://our.example/")
	if err := s.Record(ctx, []incoming.Key{one, two}, func([]*incoming.Mention) ([]*incoming.Mention, error) {
		return []*incoming.Mention{first, second}, own
	}); err != own {
		t.Errorf("Record returns %v", err)
	}
	if err := s.Record(ctx, []incoming.Key{one, two}, func([]*incoming.Mention) ([]*incoming.Mention, error) {
		return []*incoming.Mention{first}, nil
	}); err == nil {
		t.Error("one mention for two keys is written")
	}
	if counts, _ := s.Counts(ctx); len(counts) != 0 {
		t.Errorf("counts %v", counts)
	}
	testkit.Check(t, s.Record(ctx, []incoming.Key{one, two}, func(all []*incoming.Mention) ([]*incoming.Mention, error) {
		if len(all) != 2 || all[0] != nil || all[1] != nil {
			t.Errorf("decide got %v", all)
		}
		return []*incoming.Mention{nil, second}, nil
	}))
	if first.ID != "" || second.ID == "" {
		t.Errorf("IDs %q and %q", first.ID, second.ID)
	}
	if err := s.Record(ctx, []incoming.Key{one}, func([]*incoming.Mention) ([]*incoming.Mention, error) {
		return []*incoming.Mention{second}, nil
	}); err == nil {
		t.Error("the mention of another key is written")
	}
	// decide changes its copies only.
	testkit.Check(t, s.Record(ctx, []incoming.Key{two}, func(all []*incoming.Mention) ([]*incoming.Mention, error) {
		all[0].Title = "changed"
		return nil, nil
	}))
	if m, _ := s.Mention(ctx, second.ID); m.Title != "" {
		t.Error("a copy was written")
	}
	func() {
		defer func() {
			if recover() != "mine" {
				t.Error("the panic was not passed on")
			}
		}()
		s.Record(ctx, []incoming.Key{one}, func([]*incoming.Mention) ([]*incoming.Mention, error) { panic("mine") })
	}()
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.Record(ended, []incoming.Key{one}, func([]*incoming.Mention) ([]*incoming.Mention, error) {
		return []*incoming.Mention{first}, nil
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context has ended: %v", err)
	}
	add(t, s, one, first)
	if counts, err := s.Counts(ctx); err != nil || !reflect.DeepEqual(counts, map[incoming.State]int64{incoming.Queued: 2}) {
		t.Errorf("counts %v, %v", counts, err)
	}
	testkit.Check(t, s.Close())
	testkit.Check(t, s.Close())
	if err := s.Record(ctx, []incoming.Key{one}, nil); err == nil {
		t.Error("a closed store records")
	}
}

// Concurrent calls for the same keys see what the others have written, and a failing
// one does not harm the others.
func testConcurrent(t *testing.T, open opener) {
	stores := []*Store{open(t, Options{}), open(t, Options{})}
	const callers, keys, each = 16, 5, 12
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := range each {
				key, m := notice((c+i)%keys, "https://our.example/")
				err := stores[c%2].Record(t.Context(), []incoming.Key{key}, func(all []*incoming.Mention) ([]*incoming.Mention, error) {
					if c == 0 {
						return nil, errors.New("no")
					}
					if all[0] == nil {
						fresh := *m // decide may be called again
						all[0] = &fresh
					}
					all[0].Failures++
					return all, nil
				})
				if (err == nil) == (c == 0) {
					t.Errorf("caller %d: %v", c, err)
				}
			}
		})
	}
	wg.Wait()
	total := 0
	for m, err := range stores[0].List(t.Context(), incoming.Filter{}) {
		testkit.Check(t, err)
		total += m.Failures
	}
	if want := (callers - 1) * each; total != want {
		t.Errorf("%d of %d changes were written", total, want)
	}
}

// idsOf returns the IDs of a list.
func idsOf(t *testing.T, list iter.Seq2[incoming.Mention, error]) (ids []string) {
	t.Helper()
	for m, err := range list {
		testkit.Check(t, err)
		ids = append(ids, m.ID)
	}
	return ids
}

func testList(t *testing.T, open opener) {
	s := open(t, Options{})
	ctx := t.Context()
	var want []incoming.Mention
	var keys []incoming.Key
	var mentions []*incoming.Mention
	states := []incoming.State{incoming.Held, incoming.Approved, incoming.Rejected}
	for n := range 3 * page {
		key, m := notice(n, fmt.Sprintf("https://our%d.example/%d", n%2, n%5))
		m.State, m.Due, m.Received = states[n%3], time.Time{}, start.Add(time.Duration(n)*time.Second)
		if n%10 == 0 {
			m.Action, key.Action = incoming.LinkMod, incoming.LinkMod
		}
		keys, mentions = append(keys, key), append(mentions, m)
	}
	testkit.Check(t, s.Record(ctx, keys, func([]*incoming.Mention) ([]*incoming.Mention, error) { return mentions, nil }))
	for _, m := range mentions {
		want = append(want, *m)
	}
	slices.SortFunc(want, func(a, b incoming.Mention) int {
		if a.Target != b.Target {
			return compareText(a.Target, b.Target)
		}
		return compareText(a.Source, b.Source)
	})
	for name, c := range map[string]struct {
		filter incoming.Filter
		keep   func(incoming.Mention) bool
	}{
		"all":         {incoming.Filter{}, func(incoming.Mention) bool { return true }},
		"states":      {incoming.Filter{States: []incoming.State{incoming.Held, incoming.Rejected}}, func(m incoming.Mention) bool { return m.State != incoming.Approved }},
		"action":      {incoming.Filter{Action: []incoming.Action{incoming.LinkMod}}, func(m incoming.Mention) bool { return m.Action == incoming.LinkMod }},
		"links":       {incoming.Filter{Action: []incoming.Action{incoming.Link}}, func(m incoming.Mention) bool { return m.Action == "" }},
		"target":      {incoming.Filter{Target: "HTTPS://our1.example:443/./3"}, func(m incoming.Mention) bool { return m.Target == "https://our1.example/3" }},
		"target host": {incoming.Filter{Target: "Our1.example"}, func(m incoming.Mention) bool { return m.Target < "https://our1.f" && m.Target > "https://our1" }},
		"source":      {incoming.Filter{Source: "https://s1.example/8"}, func(m incoming.Mention) bool { return m.Source == "https://s1.example/8" }},
		"source host": {incoming.Filter{Source: "s1.example", States: []incoming.State{incoming.Held}}, func(m incoming.Mention) bool {
			return m.Source[:18] == "https://s1.example" && m.State == incoming.Held
		}},
		"since": {incoming.Filter{Since: start.Add(40 * time.Second)}, func(m incoming.Mention) bool { return m.Received.Sub(start) >= 40*time.Second }},
		"none":  {incoming.Filter{Source: "example"}, func(incoming.Mention) bool { return false }},
		"two sides": {incoming.Filter{Source: "s1.example", Target: "https://our0.example/0"}, func(m incoming.Mention) bool {
			return m.Source[:18] == "https://s1.example" && m.Target == "https://our0.example/0"
		}},
	} {
		for _, limit := range []int{0, 1, page, page + 1} {
			f := c.filter
			f.Limit = limit
			var some []string
			got := idsOf(t, s.List(ctx, f))
			for _, m := range want {
				if c.keep(m) && (limit == 0 || len(some) < limit) {
					some = append(some, m.ID)
				}
			}
			if !slices.Equal(got, some) {
				t.Errorf("%s, at most %d: %d mentions, want %d, or in another order", name, limit, len(got), len(some))
			}
		}
	}
	// The caller changes mentions meanwhile, and may stop.
	seen := 0
	for m, err := range s.List(ctx, incoming.Filter{States: []incoming.State{incoming.Held}}) {
		testkit.Check(t, err)
		_, err = s.Update(ctx, m.ID, func(m *incoming.Mention) error { m.State = incoming.Approved; return nil })
		testkit.Check(t, err)
		if seen++; seen == 30 {
			break
		}
	}
	counts, err := s.Counts(ctx)
	if testkit.Check(t, err); counts[incoming.Held] != page-30 || counts[incoming.Approved] != page+30 {
		t.Errorf("counts %v", counts)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for _, err := range s.List(ended, incoming.Filter{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after the context has ended: %v", err)
		}
	}
}

func compareText(a, b string) int {
	if a < b {
		return -1
	}
	return 1
}

func testRules(t *testing.T, open opener) {
	s, other := open(t, Options{}), open(t, Options{})
	ctx := t.Context()
	get := func(s *Store) []incoming.Rule {
		t.Helper()
		all := testkit.Must(s.Rules(ctx))(t)
		return all
	}
	version := ""
	changed := func() bool {
		t.Helper()
		v := testkit.Must(other.RulesVersion(ctx))(t)
		defer func() { version = v }()
		return v != version
	}
	if !changed() || changed() {
		t.Error("the version of the rules changes by itself")
	}
	if len(get(other)) != 0 {
		t.Error("a new store has rules")
	}
	testkit.Check(t, s.SetRules(ctx, []incoming.Rule{{Pattern: "b.example", Verdict: incoming.Block, Note: "spam"}, {Pattern: "a.example", Verdict: incoming.Trust}, {Pattern: "c", Verdict: ""}}))
	want := []incoming.Rule{{Pattern: "a.example", Verdict: incoming.Trust}, {Pattern: "b.example", Verdict: incoming.Block, Note: "spam"}}
	if got := get(other); !reflect.DeepEqual(got, want) {
		t.Errorf("the other sees %v", got)
	}
	if !changed() || changed() {
		t.Error("the version of the rules has not changed once")
	}
	var many []incoming.Rule
	for n := range 1000 {
		many = append(many, incoming.Rule{Pattern: fmt.Sprintf("h%d.example", n), Verdict: incoming.Block})
	}
	many = append(many, incoming.Rule{Pattern: "a.example"}, incoming.Rule{Pattern: "b.example", Verdict: incoming.Hold}, incoming.Rule{Pattern: "b.example", Verdict: incoming.Trust})
	testkit.Check(t, other.SetRules(ctx, many))
	if got := get(s); len(got) != 1001 || got[0] != (incoming.Rule{Pattern: "b.example", Verdict: incoming.Trust}) {
		t.Errorf("%d rules, the first is %v", len(got), got[0])
	}
}

// working runs Work until the test ends or stop is called.
func working(t *testing.T, s *Store, verify func(context.Context, incoming.Mention) (func(*incoming.Mention), error)) (stop func()) {
	t.Helper()
	s.tick = 20 * time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Work(ctx, verify) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Work: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func testWork(t *testing.T, open opener) {
	c := newClock()
	s := open(t, Options{Worker: true, Now: c.now, Log: testLog(t)})
	const mentions = 100
	var mu sync.Mutex
	seen := map[string]int{}
	stop := working(t, s, func(ctx context.Context, m incoming.Mention) (func(*incoming.Mention), error) {
		if _, ok := ctx.Deadline(); !ok {
			t.Error("verify has no deadline")
		}
		mu.Lock()
		seen[m.ID]++
		mu.Unlock()
		return func(now *incoming.Mention) {
			if !now.Due.IsZero() {
				t.Errorf("Due is %v", now.Due)
			}
			now.State, now.Title, now.Verified = incoming.Held, m.Source, start
		}, nil
	})
	var wg sync.WaitGroup
	for n := range mentions {
		wg.Go(func() {
			key, m := notice(n, "https://our.example/")
			add(t, s, key, m)
		})
	}
	wg.Wait()
	wait(t, "for the verification", func() bool {
		counts := testkit.Must(s.Counts(t.Context()))(t)
		return counts[incoming.Held] == mentions
	})
	stop()
	for m, err := range s.List(t.Context(), incoming.Filter{}) {
		if testkit.Check(t, err); m.Title != m.Source || seen[m.ID] != 1 || !m.Verified.Equal(start) || !m.Due.IsZero() {
			t.Errorf("verified %d times: %+v", seen[m.ID], m)
		}
	}
}

// A mention is looked at when it is due: not before, and not if Due is taken back.
func testSchedule(t *testing.T, open opener) {
	c := newClock()
	s := open(t, Options{Worker: true, Now: c.now, Log: testLog(t)})
	var looks atomic.Int64
	working(t, s, func(ctx context.Context, m incoming.Mention) (func(*incoming.Mention), error) {
		looks.Add(1)
		at := c.now()
		return func(m *incoming.Mention) { m.Fetched, m.Due, m.State = at, at.Add(24*time.Hour), incoming.Held }, nil
	})
	const mentions = 40
	var ids []string
	for n := range mentions {
		key, m := notice(n, "https://our.example/")
		m.Due = start.Add(time.Hour)
		ids = append(ids, add(t, s, key, m))
	}
	key, m := notice(mentions, "https://our.example/")
	now := add(t, s, key, m)
	fetched := func(id string, at time.Time) bool {
		m := testkit.Must(s.Mention(t.Context(), id))(t)
		return m.Fetched.Equal(at)
	}
	wait(t, "for the mention that is due at once", func() bool { return fetched(now, start) })
	if looks.Load() != 1 {
		t.Fatalf("%d looks before they are due", looks.Load())
	}
	_, err := s.Update(t.Context(), ids[0], func(m *incoming.Mention) error { m.Due = time.Time{}; return nil })
	testkit.Check(t, err)
	_, err = s.Update(t.Context(), ids[1], func(m *incoming.Mention) error { m.Due = start.Add(3 * time.Hour); return nil })
	testkit.Check(t, err)
	late := start.Add(2 * time.Hour)
	c.set(late)
	for _, id := range ids[2:] {
		wait(t, "for a mention that is due", func() bool { return fetched(id, late) })
	}
	if got := looks.Load(); got != mentions-1 || fetched(ids[0], late) || fetched(ids[1], late) {
		t.Errorf("%d looks", got)
	}
	c.set(start.Add(3 * time.Hour))
	wait(t, "for the one that was postponed", func() bool { return fetched(ids[1], c.now()) })
}

// If the verification of a mention fails or panics, it is repeated later. A
// change that another call made meanwhile stays.
func testFailures(t *testing.T, open opener) {
	c := newClock()
	s := open(t, Options{Worker: true, Now: c.now, Log: slog.New(slog.DiscardHandler)})
	var calls atomic.Int64
	working(t, s, func(ctx context.Context, m incoming.Mention) (func(*incoming.Mention), error) {
		switch calls.Add(1) {
		case 1:
			return nil, errors.New("not now")
		case 2:
			panic("bad page")
		}
		_, err := s.Update(ctx, m.ID, func(m *incoming.Mention) error { m.State = incoming.Refused; return nil })
		if err != nil {
			return nil, err
		}
		return func(m *incoming.Mention) { m.Title = "verified" }, nil
	})
	key, m := notice(1, "https://our.example/")
	i := add(t, s, key, m)
	due := func() time.Time {
		m := testkit.Must(s.Mention(t.Context(), i))(t)
		return m.Due
	}
	wait(t, "for the first try", func() bool { return due().Equal(start.Add(backoffs[0])) })
	c.set(start.Add(backoffs[0]))
	wait(t, "for the second try", func() bool { return due().Equal(c.now().Add(backoffs[1])) })
	if calls.Load() != 2 {
		t.Errorf("%d calls", calls.Load())
	}
	c.set(start.Add(time.Hour))
	wait(t, "for the third try", func() bool { return due().IsZero() })
	if m, _ := s.Mention(t.Context(), i); m.State != incoming.Refused || m.Title != "verified" {
		t.Errorf("%+v", m)
	}
}

// URLs that are too long for an index are kept apart.
func testLong(t *testing.T, open opener) {
	s := open(t, Options{})
	long := fmt.Sprintf("https://our.example/%08000d", 1)
	var ids []string
	for n := range 3 {
		key, m := notice(n, fmt.Sprintf("%s%d", long, n%2))
		m.Source, key.Source = long, long
		ids = append(ids, add(t, s, key, m))
	}
	if ids[0] == ids[1] || ids[0] != ids[2] {
		t.Errorf("IDs %v", ids)
	}
	if m, err := s.Mention(t.Context(), ids[1]); err != nil || m.Target != long+"1" || m.Source != long {
		t.Errorf("%v, %+v", err, m)
	}
	n := 0
	for m, err := range s.List(t.Context(), incoming.Filter{Target: long + "1"}) {
		if testkit.Check(t, err); m.ID != ids[1] {
			t.Errorf("listed %s", m.ID)
		}
		n++
	}
	if n != 1 {
		t.Errorf("%d mentions of one target", n)
	}
}

// One store verifies what another one has recorded. Processes may start at the same
// time.
func testTwoStores(t *testing.T, open opener) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { open(t, Options{}) })
	}
	wg.Wait()
	s := open(t, Options{Worker: true, Log: testLog(t)})
	var n atomic.Int64
	working(t, s, func(ctx context.Context, m incoming.Mention) (func(*incoming.Mention), error) {
		n.Add(1)
		return func(m *incoming.Mention) { m.State = incoming.Held }, nil
	})
	command := open(t, Options{Existing: true})
	key, m := notice(1, "https://our.example/")
	add(t, command, key, m)
	wait(t, "for the verification", func() bool {
		m := testkit.Must(command.Mention(t.Context(), m.ID))(t)
		return m.State == incoming.Held
	})
	if n.Load() != 1 {
		t.Errorf("verified %d times", n.Load())
	}
	if err := command.Work(t.Context(), nil); err == nil {
		t.Error("a store without Options.Worker works")
	}
}

// A newer version adds its tables step by step, also if two processes do so at once.
// The older version then refuses them.
func testMigration(t *testing.T, open opener) {
	s := open(t, Options{})
	key, m := notice(1, "https://our.example/")
	add(t, s, key, m)
	old := migrations
	defer func() { migrations = old }()
	migrations = slices.Concat(old, []string{
		"ALTER TABLE sitelink_mention ADD COLUMN added TEXT NOT NULL DEFAULT 'x';\nCREATE TABLE sitelink_added (n INTEGER NOT NULL);\n",
		"INSERT INTO sitelink_added (n) SELECT count(*) FROM sitelink_mention WHERE added = 'x'",
	})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { open(t, Options{}) })
	}
	wg.Wait()
	s = open(t, Options{ReadOnly: true})
	var n int
	testkit.Check(t, s.queryRow(t.Context(), s.readers, "SELECT sum(n) FROM sitelink_added").Scan(&n))
	if got, err := s.Mention(t.Context(), m.ID); err != nil || got.Source != m.Source || n != 1 {
		t.Errorf("after the migration: %+v, %v, %d", got, err, n)
	}
	migrations = old
	if _, err := Open(t.Context(), s.address, Options{}); !errors.Is(err, ErrNewer) {
		t.Errorf("the older version: %v", err)
	}
}

// A mention is postponed if looks at it began often and never ended: looking at it may end
// the process.
func testCrashes(t *testing.T, open opener) {
	c := newClock()
	s := open(t, Options{Worker: true, Now: c.now})
	var ids []string
	var keys []incoming.Key
	var mentions []*incoming.Mention
	for n := range 4 {
		key, m := notice(n, "https://our.example/")
		keys, mentions = append(keys, key), append(mentions, m)
	}
	testkit.Check(t, s.Record(t.Context(), keys, func([]*incoming.Mention) ([]*incoming.Mention, error) { return mentions, nil }))
	for _, m := range mentions {
		ids = append(ids, m.ID)
	}
	_, err := s.exec(t.Context(), s.writer, "UPDATE sitelink_mention SET begun = ?", maxBegun)
	testkit.Check(t, err)
	var calls atomic.Int64
	working(t, s, func(context.Context, incoming.Mention) (func(*incoming.Mention), error) {
		calls.Add(1)
		return func(m *incoming.Mention) { m.State = incoming.Held }, nil
	})
	all := func(holds func(incoming.Mention) bool) func() bool {
		return func() bool {
			for _, i := range ids {
				m, err := s.Mention(t.Context(), i)
				if testkit.Check(t, err); !holds(m) {
					return false
				}
			}
			return true
		}
	}
	wait(t, "for the mentions to be postponed", all(func(m incoming.Mention) bool { return m.Due.Equal(start.Add(backoffs[0])) }))
	if calls.Load() != 0 {
		t.Errorf("%d looks", calls.Load())
	}
	c.set(start.Add(time.Hour))
	wait(t, "for the results", all(func(m incoming.Mention) bool { return m.State == incoming.Held }))
	if calls.Load() != int64(len(ids)) {
		t.Errorf("%d looks", calls.Load())
	}
}
