package store

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/testkit"
)

// sqliteFile returns an opener of a new file.
func sqliteFile(t *testing.T) opener {
	return fileOpener(filepath.Join(t.TempDir(), "a b#?%20.db"))
}

func fileOpener(name string) opener {
	return func(t testing.TB, opt Options) *Store {
		t.Helper()
		s := testkit.Must(Open(t.Context(), name, opt))(t)
		t.Cleanup(func() { testkit.Check(t, s.Close()) })
		return s
	}
}

func TestSQLite(t *testing.T) { conformance(t, sqliteFile) }

// Mentions are deleted when their time is over, and others stay.
func testRetention(t *testing.T, open opener) {
	c := newClock()
	s := open(t, Options{Worker: true, Now: c.now, Retain: 30 * 24 * time.Hour})
	now := start.AddDate(0, 0, 60)
	for n := range 250 {
		key, m := notice(n, "https://our.example/")
		m.State, m.Due = incoming.Rejected, time.Time{}
		switch {
		case n == 0:
			m.State = incoming.Approved
		case n == 1:
			m.Fetched = now
		case n == 2:
			m.Received = now
		case n%2 == 0:
			m.State = incoming.Gone
		}
		add(t, s, key, m)
	}
	working(t, s, func(context.Context, incoming.Mention) (func(*incoming.Mention), error) { return nil, nil })
	total := func() (n int64) {
		counts := testkit.Must(s.Counts(t.Context()))(t)
		for _, some := range counts {
			n += some
		}
		return n
	}
	if n := total(); n != 250 {
		t.Errorf("%d before their time", n)
	}
	c.set(now)
	wait(t, "for the deletion", func() bool { return total() == 3 })
}

func TestBackup(t *testing.T) {
	dir := t.TempDir()
	name, backup := filepath.Join(dir, "m.db"), filepath.Join(dir, "backup.db")
	s := fileOpener(name)(t, Options{Worker: true})
	var recorded, stop atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; stop.Load() == 0; n++ {
			key, m := notice(n, "https://our.example/")
			add(t, s, key, m)
			recorded.Add(1)
		}
	})
	var before int64
	for range 3 { // the last one is used
		more := recorded.Load() + 20
		wait(t, "for some mentions", func() bool { return recorded.Load() > more })
		before = recorded.Load()
		testkit.Check(t, s.Backup(t.Context(), backup))
	}
	stop.Store(1)
	wg.Wait()
	if info, err := os.Stat(backup); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := s.Backup(t.Context(), name); err == nil {
		t.Error("the backup replaces the store")
	}
	testkit.Check(t, s.Close())
	again := fileOpener(backup)(t, Options{Worker: true})
	counts, err := again.Counts(t.Context())
	if testkit.Check(t, err); counts[incoming.Queued] < before || counts[incoming.Queued] > recorded.Load() {
		t.Errorf("%d mentions, recorded before the backup %d, in all %d", counts[incoming.Queued], before, recorded.Load())
	}
	var n atomic.Int64
	working(t, again, func(context.Context, incoming.Mention) (func(*incoming.Mention), error) {
		n.Add(1)
		return func(m *incoming.Mention) { m.State = incoming.Held }, nil
	})
	wait(t, "for the verification", func() bool {
		now := testkit.Must(again.Counts(t.Context()))(t)
		return now[incoming.Held] == counts[incoming.Queued]
	})
	if n.Load() != counts[incoming.Queued] {
		t.Errorf("%d verified", n.Load())
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(files) > 0 {
		t.Errorf("left behind: %v", files)
	}
}

// damage copies a file and overwrites all its pages but the first ones.
func damage(t *testing.T, from, to string) {
	t.Helper()
	data := testkit.Read(t, from)
	for i := 40 << 10; i < len(data); i++ {
		data[i] = byte(i * 7)
	}
	testkit.Check(t, os.WriteFile(to, data, 0o600))
}

// Each error names the file and says what to do.
func TestFileErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	ctx := t.Context()
	good := fileOpener(file("good.db"))(t, Options{})
	for n := range 500 {
		key, m := notice(n, "https://our.example/")
		m.Excerpt = strings.Repeat("x", 300)
		add(t, good, key, m)
	}
	testkit.Check(t, good.Backup(ctx, file("newer.db")))
	db, err := openFile(file("newer.db"), false, 100)
	testkit.Check(t, err)
	_, err = db.Exec("UPDATE sitelink_store SET version = 99")
	testkit.Check(t, err)
	testkit.Check(t, db.Close())
	newer := testkit.Read(t, file("newer.db"))
	testkit.Check(t, good.Backup(ctx, file("ok.db")))
	damage(t, file("ok.db"), file("damaged.db"))
	testkit.Check(t, os.WriteFile(file("text.db"), []byte(strings.Repeat("This is a text. ", 100)), 0o600))
	testkit.Check(t, os.Mkdir(file("dir.db"), 0o700))
	list := func(s *Store) (err error) {
		for _, err = range s.List(ctx, incoming.Filter{}) {
		}
		return err
	}
	for _, c := range []struct {
		name string
		opt  Options
		want string
	}{
		{"newer.db", Options{Worker: true}, "a newer version of sitelink has written it; update sitelink"},
		{"damaged.db", Options{}, "the file is damaged; restore a backup"},
		{"text.db", Options{}, "the file is not an SQLite database"},
		{"dir.db", Options{}, "it is a directory"},
		{"no/such.db", Options{}, "there is no directory " + file("no")},
		{"none.db", Options{Existing: true}, "there is no such file"},
		{"none.db", Options{ReadOnly: true}, "there is no such file"},
	} {
		s, err := Open(ctx, file(c.name), c.opt)
		if err == nil {
			err = list(s)
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), file(c.name)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if now, _ := os.ReadFile(file("newer.db")); !bytes.Equal(now, newer) {
		t.Error("the newer database was changed")
	}
	if _, err := Open(ctx, "mysql://db", Options{}); err == nil || !strings.Contains(err.Error(), "mysql://db") {
		t.Errorf("another database: %v", err)
	}
	if info, err := os.Stat(file("good.db")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	t.Run("read-only", func(t *testing.T) {
		s := fileOpener(file("ok.db"))(t, Options{ReadOnly: true})
		testkit.Check(t, list(s))
		key, m := notice(1000, "https://our.example/")
		err := s.Record(ctx, []incoming.Key{key}, func([]*incoming.Mention) ([]*incoming.Mention, error) { return []*incoming.Mention{m}, nil })
		if err == nil || !strings.Contains(err.Error(), file("ok.db")) || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("%v", err)
		}
	})
	t.Run("full disk", func(t *testing.T) {
		var pages int
		testkit.Check(t, good.writer.QueryRow("PRAGMA page_count").Scan(&pages))
		_, err := good.writer.Exec("PRAGMA max_page_count = " + strconv.Itoa(pages+5))
		testkit.Check(t, err)
		record := func(n int) error {
			key, m := notice(n, "https://our.example/")
			m.Excerpt = strings.Repeat("x", 3000)
			return good.Record(ctx, []incoming.Key{key}, func([]*incoming.Mention) ([]*incoming.Mention, error) { return []*incoming.Mention{m}, nil })
		}
		n := 2000
		for err = nil; err == nil && n < 2100; n++ {
			err = record(n)
		}
		if err == nil || !strings.Contains(err.Error(), file("good.db")) || !strings.Contains(err.Error(), "the disk is full") {
			t.Errorf("%v", err)
		}
		_, err = good.writer.Exec("PRAGMA max_page_count = 1000000")
		testkit.Check(t, err)
		testkit.Check(t, record(n))
	})
	t.Run("second worker", func(t *testing.T) {
		first := fileOpener(file("ok.db"))(t, Options{Worker: true})
		if _, err := Open(ctx, file("ok.db"), Options{Worker: true}); err == nil || !strings.Contains(err.Error(), file("ok.db")) || !strings.Contains(err.Error(), "another sitelink serve is using it") {
			t.Errorf("%v", err)
		}
		testkit.Check(t, first.Close())
		fileOpener(file("ok.db"))(t, Options{Worker: true})
	})
}

// Errors of an address do not show its password.
func TestPassword(t *testing.T) {
	for _, address := range []string{"postgres://u:s3cret@127.0.0.1:1/db?connect_timeout=1", "postgres://u:s3cret@[::1/db", "postgres://u:s3cret@h:port/db"} {
		_, err := Open(t.Context(), address, Options{})
		if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "PostgreSQL") && !strings.Contains(err.Error(), "postgres://u@127.0.0.1/db: the server cannot be reached") {
			t.Errorf("%v", err)
		}
	}
}

// What is recorded is synced, and what can be repeated is not.
func TestSynced(t *testing.T) {
	s := sqliteFile(t)(t, Options{})
	key, m := notice(1, "https://our.example/")
	add(t, s, key, m)
	for durable, want := range map[bool]int{true: 2, false: 1} {
		tx, end, err := s.begin(t.Context(), durable)
		testkit.Check(t, err)
		var have int
		testkit.Check(t, tx.QueryRow("PRAGMA synchronous").Scan(&have))
		end()
		if have != want {
			t.Errorf("durable %v: PRAGMA synchronous is %d", durable, have)
		}
	}
}

// TestGiveWay: a look waits while many wait for an answer, for a tenth of a second at
// most.
func TestGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{Store: &Store{}}
		takes := func(ctx context.Context, want time.Duration) {
			t.Helper()
			begin := time.Now()
			if w.giveWay(ctx); time.Since(begin) != want {
				t.Errorf("it waits for %v, want %v", time.Since(begin), want)
			}
		}
		w.waiting.Store(manyWaiting - 1)
		takes(t.Context(), 0)
		w.waiting.Store(manyWaiting)
		takes(t.Context(), giveWayTries*giveWayPause)
		go func() {
			time.Sleep(3*giveWayPause - time.Millisecond)
			w.waiting.Store(0)
		}()
		takes(t.Context(), 3*giveWayPause)
		w.waiting.Store(manyWaiting)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		takes(ctx, time.Millisecond)
	})
}

// TestWaiting: the changes that callers wait for count as waiting, and results do not.
// Looks go on, however many wait.
func TestWaiting(t *testing.T) {
	s := sqliteFile(t)(t, Options{Worker: true})
	begun, goOn := make(chan struct{}), make(chan struct{})
	record := func(n int, decided func()) {
		key, m := notice(n, "https://our.example/")
		if err := s.Record(t.Context(), []incoming.Key{key}, func([]*incoming.Mention) ([]*incoming.Mention, error) {
			decided()
			return []*incoming.Mention{m}, nil
		}); err != nil {
			t.Error(err)
		}
	}
	var callers sync.WaitGroup
	callers.Go(func() {
		record(0, sync.OnceFunc(func() {
			close(begun)
			<-goOn
		}))
	})
	<-begun
	for n := range manyWaiting {
		callers.Go(func() { record(n+1, func() {}) })
	}
	callers.Go(func() {
		if err := s.do(t.Context(), nil, false, func(*batch) error { return nil }); err != nil {
			t.Error(err)
		}
	})
	wait(t, "for the callers", func() bool { return s.waiting.Load() == manyWaiting+1 })
	close(goOn)
	callers.Wait()
	if n := s.waiting.Load(); n != 0 {
		t.Errorf("%d wait at the end", n)
	}
	s.waiting.Store(100 * manyWaiting)
	working(t, s, func(context.Context, incoming.Mention) (func(*incoming.Mention), error) {
		s.waiting.Store(0) // one look is enough, and the others need not give way
		return func(m *incoming.Mention) { m.State = incoming.Held }, nil
	})
	wait(t, "for the looks", func() bool {
		counts := testkit.Must(s.Counts(t.Context()))(t)
		return counts[incoming.Held] == manyWaiting+1
	})
}
