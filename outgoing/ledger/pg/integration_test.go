//go:build integration

package pg

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

func open(t *testing.T, address, runner string, lease time.Duration) *Store {
	t.Helper()
	s := testkit.Must(Open(t.Context(), address, Options{Runner: runner, Lease: lease, Warn: func(text string) { t.Log(text) }}))(t)
	t.Cleanup(func() { s.Close() })
	return s
}

const site = "https://example.org/"

func pending(n int) (all []ledger.Notice) {
	for i := range n {
		all = append(all, ledger.Notice{Key: ledger.Key{Source: fmt.Sprintf("https://example.org/%04d", i), Target: "https://x.example/"},
			Event: ledger.Added, Hash: "1", State: ledger.Pending})
	}
	return all
}

func TestPostgres(t *testing.T) {
	address := testkit.StartPostgres(t).Address("")
	ctx := t.Context()
	t.Run("round trip", func(t *testing.T) {
		s := open(t, address, "one", 0)
		snap, err := s.Load(ctx)
		if testkit.Check(t, err); !snap.New {
			t.Error("an empty database is not new")
		}
		fault := 48
		at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
		long := "https://x.example/" + fmt.Sprintf("%05000d", 1) // longer than an index takes
		want := &ledger.Snapshot{
			Base:  site,
			Pages: []ledger.Page{{URL: site + "A", Hash: "h"}, {URL: site + "b", Gone: true, Replacement: site + "A"}},
			Links: []ledger.Link{{Source: site + "A", Target: long}, {Source: site + "A", Target: "https://y.example/"}},
			Notices: []ledger.Notice{{Key: ledger.Key{Source: site + "A", Target: long, Protocol: ledger.Pingback}, Event: ledger.Updated, Replacement: "r", Hash: "h",
				State: ledger.Retry, Endpoint: "e", Status: 200, Fault: &fault, Message: "ö \ufffd", Problems: "no-title link-late", Cure: "ö", Location: "l", Attempts: 3, Tried: at, Next: at.AddDate(100, 0, 0)}},
			Unsupported: []ledger.UnsupportedHost{{Origin: "https://x.example", Protocol: ledger.LinkMethod, Until: at}},
		}
		c := ledger.Change{Pages: want.Pages, Links: append(want.Links, ledger.Link{Source: "gone", Target: "gone"}), Notices: []ledger.Notice{want.Notices[0]}}
		c.Notices[0].Message = "ö \x00"
		testkit.Check(t, s.Plan(ctx, site, c))
		testkit.Check(t, s.Plan(ctx, site, ledger.Change{Dropped: []ledger.Link{{Source: "gone", Target: "gone"}}}))
		testkit.Check(t, s.RecordUnsupported(ctx, want.Unsupported[0]))
		want.Notices[0].Message = "ö \ufffd"
		got, err := s.Load(ctx)
		if testkit.Check(t, err); !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		testkit.Check(t, s.Close())
		testkit.Check(t, s.Close())
		reader := testkit.Must(Open(ctx, address, Options{ReadOnly: true}))(t)
		defer reader.Close()
		if got, _ := reader.Load(ctx); got.New || len(got.Notices) != 1 {
			t.Errorf("for reading: %+v", got)
		}
	})
	t.Run("two ledgers", func(t *testing.T) {
		c, err := pgx.Connect(ctx, address)
		testkit.Check(t, err)
		_, err = c.Exec(ctx, "CREATE SCHEMA blog")
		testkit.Check(t, err)
		c.Close(ctx)
		reader := testkit.Must(Open(ctx, address+"&search_path=blog", Options{ReadOnly: true}))(t)
		if snap, err := reader.Load(ctx); err != nil || !snap.New {
			t.Errorf("without tables: %+v, %v", snap, err)
		}
		testkit.Check(t, reader.Close())
		s := open(t, address+"&search_path=blog", "one", 0)
		if snap, err := s.Load(ctx); err != nil || !snap.New {
			t.Errorf("another schema: %+v, %v", snap, err)
		}
	})
	t.Run("one site", func(t *testing.T) {
		c, err := pgx.Connect(ctx, address)
		testkit.Check(t, err)
		_, err = c.Exec(ctx, "CREATE SCHEMA moved")
		testkit.Check(t, err)
		c.Close(ctx)
		s := open(t, address+"&search_path=moved", "one", 0)
		testkit.Check(t, s.Plan(ctx, "https://example.org", ledger.Change{}))
		testkit.Check(t, s.Plan(ctx, site, ledger.Change{})) // the same, but for the slash
		for _, step := range []struct {
			base     string
			baseline bool
			want     string // "" if it is refused
		}{{"https://new.example/", false, ""}, {"https://new.example/", true, "https://new.example/"}, {site, false, ""}} {
			err := s.Plan(ctx, step.base, ledger.Change{Pages: []ledger.Page{{URL: step.base}}, Baseline: step.baseline})
			snap := testkit.Must(s.Load(ctx))(t)
			if errors.As(err, new(*ledger.OtherSiteError)) != (step.want == "") || step.want != "" && (err != nil || snap.Base != step.want) {
				t.Errorf("%+v: %v, %s", step, err, snap.Base)
			}
		}
		if snap := testkit.Must(s.Load(ctx))(t); len(snap.Pages) != 1 {
			t.Errorf("a refused plan was applied: %+v", snap.Pages)
		}
	})
	t.Run("new database", func(t *testing.T) { newDatabase(t, address) })
	t.Run("runners", func(t *testing.T) { runners(t, address) })
	t.Run("crash", func(t *testing.T) { crash(t, address) })
	t.Run("again", func(t *testing.T) {
		c, err := pgx.Connect(ctx, address)
		testkit.Check(t, err)
		defer c.Close(ctx)
		// The tables of version 1 are read as they are, and migrated for writing.
		_, err = c.Exec(ctx, "CREATE SCHEMA again; SET search_path = again; "+migrations[0]+`
			INSERT INTO sitelink_notice VALUES ('1', 's', 't', 'pingback', 'added', '', 'h', 'permanent', '', 0, NULL, 'm', '', 8)`)
		testkit.Check(t, err)
		address := address + "&search_path=again"
		reader := testkit.Must(Open(ctx, address, Options{ReadOnly: true}))(t)
		snap, err := reader.Load(ctx)
		if testkit.Check(t, err); len(snap.Notices) != 1 || snap.Notices[0].Message != "m" || snap.Notices[0].Problems != "" {
			t.Errorf("version 1: %+v", snap)
		}
		testkit.Check(t, reader.Close())
		s := open(t, address, "one", 0)
		_, err = c.Exec(ctx, "DELETE FROM sitelink_notice")
		testkit.Check(t, err)
		// A failed notice is planned again, unless another runner was faster.
		failed := ledger.Notice{Key: ledger.Key{Source: "s", Target: "t", Protocol: ledger.Pingback}, Event: ledger.Added, Hash: "h", State: ledger.Permanent, Attempts: 8}
		done := failed
		done.Target, done.State = "u", ledger.Done
		testkit.Check(t, s.Plan(ctx, site, ledger.Change{Notices: []ledger.Notice{failed, done}}))
		testkit.Check(t, s.Plan(ctx, site, ledger.Change{Notices: []ledger.Notice{failed.Again(), done.Again()}}))
		claimed, err := s.Claim(ctx, time.Now(), 9)
		if testkit.Check(t, err); len(claimed) != 1 || claimed[0].Target != "t" || claimed[0].Attempts != 0 {
			t.Errorf("claimed %+v", claimed)
		}
		testkit.Check(t, s.Close())
	})
	t.Run("newer", func(t *testing.T) {
		c, err := pgx.Connect(ctx, address)
		testkit.Check(t, err)
		defer c.Close(ctx)
		_, err = c.Exec(ctx, "UPDATE sitelink_ledger SET version = 3")
		testkit.Check(t, err)
		if _, err := Open(ctx, address, Options{}); !errors.Is(err, ledger.ErrNewer) {
			t.Errorf("%v", err)
		}
	})
}

// If several runners open a new database at the same time, one of them creates the
// tables, and none fails.
func newDatabase(t *testing.T, address string) {
	c := testkit.Must(pgx.Connect(t.Context(), address))(t)
	defer c.Close(t.Context())
	for i := range 10 {
		schema := fmt.Sprintf("new%d", i)
		_, err := c.Exec(t.Context(), "CREATE SCHEMA "+schema)
		testkit.Check(t, err)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				s, err := Open(t.Context(), address+"&search_path="+schema, Options{})
				if err != nil {
					t.Error(err)
					return
				}
				s.Close()
			})
		}
		wg.Wait()
	}
}

// If several runners deploy the same site at the same time, each notice is
// delivered once.
func runners(t *testing.T, address string) {
	ctx := t.Context()
	const notices, each = 500, 4
	var mu sync.Mutex
	sent := map[string]int{}
	by := map[string]int{}
	var wg sync.WaitGroup
	for i := range each {
		name := fmt.Sprintf("runner%d", i)
		s := open(t, address, name, 0)
		wg.Go(func() {
			fail := func(err error) bool {
				if err != nil {
					t.Error(err)
				}
				return err != nil
			}
			if fail(s.Plan(ctx, site, ledger.Change{Notices: pending(notices)})) {
				return
			}
			for {
				claimed, err := s.Claim(ctx, time.Now(), 20)
				if fail(err) || len(claimed) == 0 {
					return
				}
				for _, n := range claimed {
					if fail(s.Begin(ctx, n.Key)) {
						return
					}
					mu.Lock()
					sent[n.Source]++
					by[name]++
					mu.Unlock()
					from := n.Key
					n.Protocol, n.State = ledger.Webmention, ledger.Done
					if fail(s.Record(ctx, from, n)) {
						return
					}
				}
			}
		})
	}
	wg.Wait()
	if len(sent) != notices {
		t.Errorf("%d of %d were sent", len(sent), notices)
	}
	for source, n := range sent {
		if n != 1 {
			t.Errorf("%s was sent %d times", source, n)
		}
	}
	t.Logf("sent by %v", by)
	snap := testkit.Must(open(t, address, "reader", 0).Load(ctx))(t)
	done := 0
	for _, n := range snap.Notices {
		if n.State == ledger.Done && n.Protocol == ledger.Webmention {
			done++
		}
	}
	if done != notices {
		t.Errorf("%d are done", done)
	}
}

// A dead runner keeps its claims until the lease ends. Notices that it had begun
// are then in flight.
func crash(t *testing.T, address string) {
	ctx := t.Context()
	dead := open(t, address, "dead", time.Hour)
	all := pending(2)
	for i := range all {
		all[i].Target, all[i].Hash = "https://crash.example/", "2"
	}
	testkit.Check(t, dead.Plan(ctx, site, ledger.Change{Notices: all}))
	claimed, err := dead.Claim(ctx, time.Now(), 10)
	if testkit.Check(t, err); len(claimed) != 2 {
		t.Fatalf("claimed %d", len(claimed))
	}
	testkit.Check(t, dead.Begin(ctx, claimed[0].Key))
	dead.stop() // it renews no more
	<-dead.stopped
	other := open(t, address, "other", time.Minute)
	if got, err := other.Claim(ctx, time.Now(), 10); err != nil || len(got) != 0 {
		t.Errorf("while the lease holds: %v, %v", got, err)
	}
	testkit.Must(other.pool.Exec(ctx, "UPDATE sitelink_notice SET lease = now() - interval '1 second' WHERE runner = 'dead'"))(t)
	got, err := other.Claim(ctx, time.Now(), 10)
	if testkit.Check(t, err); len(got) != 2 || got[0].State != ledger.InFlight || got[1].State != ledger.Pending {
		t.Errorf("after it: %+v", got)
	}
	if err := dead.Begin(ctx, claimed[1].Key); !errors.Is(err, errLease) {
		t.Errorf("the dead runner begins: %v", err)
	}
	// What it records late changes no outcome of the other. A success counts
	// while the other has none.
	states := func() (all []ledger.State) {
		snap := testkit.Must(other.Load(ctx))(t)
		for _, n := range snap.Notices {
			if n.Target == "https://crash.example/" {
				all = append(all, n.State)
			}
		}
		return all
	}
	outcome := func(n ledger.Notice, s ledger.State) ledger.Notice { n.State, n.Next = s, time.Now(); return n }
	testkit.Check(t, other.Record(ctx, got[0].Key, outcome(got[0], ledger.Done)))
	for _, late := range []ledger.State{ledger.Retry, ledger.Permanent} {
		testkit.Check(t, dead.Record(ctx, got[0].Key, outcome(got[0], late)))
	}
	testkit.Check(t, dead.Record(ctx, got[1].Key, outcome(got[1], ledger.Retry)))
	testkit.Check(t, dead.Record(ctx, got[1].Key, outcome(got[1], ledger.Permanent)))
	if now := states(); now[0] != ledger.Done || now[1] != ledger.Pending {
		t.Errorf("a late record changed a state: %v", now)
	}
	testkit.Check(t, dead.Record(ctx, got[1].Key, outcome(got[1], ledger.Done)))
	if now := states(); now[1] != ledger.Done {
		t.Errorf("what was delivered late is %v", now)
	}
	// A lease is renewed while its runner lives. It is long enough for a slow machine.
	long := open(t, address, "long", 9*time.Second)
	all = pending(1)
	all[0].Target, all[0].Hash = "https://long.example/", "3"
	testkit.Check(t, long.Plan(ctx, site, ledger.Change{Notices: all}))
	if got, err := long.Claim(ctx, time.Now(), 1); err != nil || len(got) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	lease := func() (end time.Time) {
		testkit.Check(t, other.pool.QueryRow(ctx, "SELECT lease FROM sitelink_notice WHERE runner = 'long'").Scan(&end))
		return end
	}
	first := lease()
	for end := time.Now().Add(time.Minute); !lease().After(first); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the lease is not renewed")
		}
	}
	testkit.Check(t, long.Begin(ctx, all[0].Key))
}
