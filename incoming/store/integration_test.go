//go:build integration

package store

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/testkit"
)

func TestPostgres(t *testing.T) {
	p := testkit.StartPostgres(t)
	conformance(t, func(*testing.T) opener { return fileOpener(p.Schema()) })
	t.Run("killed", func(t *testing.T) { killed(t, p.Schema(), filepath.Join(t.TempDir(), "log")) })
	t.Run("taken over", func(t *testing.T) { takenOver(t, p.Schema()) })
	t.Run("newer", func(t *testing.T) {
		address := p.Schema()
		s := fileOpener(address)(t, Options{})
		_, err := s.writer.Exec("UPDATE sitelink_store SET version = 99")
		testkit.Check(t, err)
		if _, err := Open(t.Context(), address, Options{}); !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "postgres://sitelink@") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v", err)
		}
		if err := s.Backup(t.Context(), "x"); !errors.Is(err, ErrUsePgDump) {
			t.Errorf("Backup: %v", err)
		}
	})
	t.Run("restarted", func(t *testing.T) { restarted(t, p) })
}

// Two processes share the work. When one is killed, the other takes its work over
// within a minute, and nothing is verified twice.
func takenOver(t *testing.T, address string) {
	log := filepath.Join(t.TempDir(), "log")
	for run := range killRuns()/3 + 1 {
		// Looks take half of the second that a kill may cost at most: then the result
		// has to be written.
		dies := startChild(t, address, log, strconv.Itoa(run*1_000_000), "500ms")
		lives := startChild(t, address, log, "none", "20ms")
		wait(t, "for the other process", func() bool { return lives.count.Load() > 0 })
		wait(t, "for some answers", func() bool { return dies.count.Load() > 200 })
		answered, end := dies.kill()
		killed := end.to
		s := fileOpener(address)(t, Options{})
		for {
			counts, err := s.Counts(t.Context())
			if testkit.Check(t, err); counts[incoming.Queued] == 0 {
				if counts[incoming.Held] < int64(len(answered)) {
					t.Errorf("%d of %d answered notices", counts[incoming.Held], len(answered))
				}
				break
			}
			if time.Since(killed) > time.Minute {
				t.Fatalf("%d mentions were not taken over within a minute", counts[incoming.Queued])
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Logf("taken over after %v", time.Since(killed))
		lives.kill()
		checkOnce(t, log, []interval{end})
		testkit.Check(t, os.Remove(log))
	}
}

// When its server is down, a store returns an error that names the host. It works
// again when the server is back.
func restarted(t *testing.T, p *testkit.Postgres) {
	address := p.Schema()
	s := fileOpener(address)(t, Options{Worker: true, Log: slog.New(slog.DiscardHandler)})
	verify := func(context.Context, incoming.Mention) (func(*incoming.Mention), error) {
		return func(m *incoming.Mention) { m.State = incoming.Held }, nil
	}
	verified := func(n int64) {
		t.Helper()
		wait(t, "for the verification", func() bool {
			counts, err := s.Counts(t.Context())
			return err == nil && counts[incoming.Held] == n
		})
	}
	stop := working(t, s, verify)
	record := func(n int) error {
		key, m := notice(n, "https://our.example/")
		return s.Record(t.Context(), []incoming.Key{key}, func([]*incoming.Mention) ([]*incoming.Mention, error) { return []*incoming.Mention{m}, nil })
	}
	testkit.Check(t, record(1))
	verified(1)
	p.Stop()
	wait(t, "for the connections to be given up", func() bool {
		err := record(2) // its connection may be an old one
		if err == nil || !strings.Contains(err.Error(), "postgres://sitelink@"+p.Dir()) {
			t.Errorf("while the server is down: %v", err)
		}
		return err == nil || strings.Contains(err.Error(), "the server cannot be reached")
	})
	if _, err := Open(t.Context(), address, Options{}); err == nil || !strings.Contains(err.Error(), "the server cannot be reached") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("while the server is down, Open: %v", err)
	}
	p.Start()
	wait(t, "for a notice to be recorded", func() bool { return record(3) == nil })
	verified(2)
	stop()
	// A worker that starts while the server is down begins when it is up.
	other := fileOpener(address)(t, Options{Worker: true, Log: slog.New(slog.DiscardHandler)})
	p.Stop()
	working(t, other, verify)
	time.Sleep(5 * other.tick) // some tries; the test does not depend on their number
	p.Start()
	wait(t, "for a notice to be recorded", func() bool { return record(4) == nil })
	verified(3)
}

func BenchmarkRecordPostgres(b *testing.B) {
	p := testkit.StartPostgres(b)
	benchmarkRecord(b, fileOpener(p.Schema()))
}
