//go:build integration

package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sitelink/sitelink/incoming"
)

// bin has the programs of the Debian package postgresql-15.
const bin = "/usr/lib/postgresql/15/bin"

// postgres is a PostgreSQL on its own socket. It runs as the user postgres if the test
// runs as root.
type postgres struct {
	t          testing.TB
	dir        string
	attributes *syscall.SysProcAttr
	cmd        *exec.Cmd
}

func newServer(t testing.TB) *postgres {
	t.Helper()
	if _, err := os.Stat(filepath.Join(bin, "initdb")); err != nil {
		t.Skip("postgresql-15 is not installed")
	}
	dir, err := os.MkdirTemp("", "sitelink-store") // t.TempDir's names are too long for a socket
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := &postgres{t: t, dir: dir, attributes: &syscall.SysProcAttr{}}
	if os.Geteuid() == 0 {
		owner, err := user.Lookup("postgres")
		if err != nil {
			t.Skip(err)
		}
		uid, _ := strconv.Atoi(owner.Uid)
		gid, _ := strconv.Atoi(owner.Gid)
		check(t, os.Chown(dir, uid, gid))
		p.attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	if out, err := p.command("initdb", "-D", p.data(), "-U", "sitelink", "-A", "trust", "--no-sync", "--no-locale", "-E", "UTF8").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	p.start()
	t.Cleanup(p.stop)
	return p
}

func (p *postgres) data() string { return filepath.Join(p.dir, "data") }

func (p *postgres) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(bin, name), args...)
	cmd.Dir, cmd.SysProcAttr = p.dir, p.attributes
	return cmd
}

func (p *postgres) start() {
	p.t.Helper()
	p.cmd = p.command("postgres", "-D", p.data(), "-k", p.dir, "-c", "listen_addresses=")
	check(p.t, p.cmd.Start())
	wait(p.t, "for PostgreSQL", func() bool {
		c, err := pgx.Connect(context.Background(), p.address("public"))
		if err == nil {
			c.Close(context.Background())
		}
		return err == nil
	})
}

// stop is a fast shutdown.
func (p *postgres) stop() {
	if p.cmd != nil {
		p.cmd.Process.Signal(syscall.SIGINT)
		p.cmd.Wait()
		p.cmd = nil
	}
}

func (p *postgres) address(schema string) string {
	return "postgres://sitelink:s3cret@/postgres?host=" + p.dir + "&search_path=" + schema
}

var schemas atomic.Int64

// fresh returns an opener of a new schema.
func (p *postgres) fresh(t *testing.T) opener {
	t.Helper()
	return fileOpener(p.address(p.schema(t)))
}

// schema creates a schema.
func (p *postgres) schema(t testing.TB) string {
	t.Helper()
	c, err := pgx.Connect(t.Context(), p.address("public"))
	check(t, err)
	defer c.Close(t.Context())
	schema := fmt.Sprintf("s%d", schemas.Add(1))
	_, err = c.Exec(t.Context(), "CREATE SCHEMA "+schema)
	check(t, err)
	return schema
}

func TestPostgres(t *testing.T) {
	p := newServer(t)
	conformance(t, p.fresh)
	t.Run("killed", func(t *testing.T) { killed(t, p.address(p.schema(t)), filepath.Join(t.TempDir(), "log")) })
	t.Run("taken over", func(t *testing.T) { takenOver(t, p.address(p.schema(t))) })
	t.Run("newer", func(t *testing.T) {
		address := p.address(p.schema(t))
		s := fileOpener(address)(t, Options{})
		_, err := s.writer.Exec("UPDATE sitelink_store SET version = 99")
		check(t, err)
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
			if check(t, err); counts[incoming.Queued] == 0 {
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
		check(t, os.Remove(log))
	}
}

// A store whose server is down answers with an error that names the host, and goes
// on when the server is there again.
func restarted(t *testing.T, p *postgres) {
	address := p.address(p.schema(t))
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
	check(t, record(1))
	verified(1)
	p.stop()
	wait(t, "for the connections to be given up", func() bool {
		err := record(2) // its connection may be an old one
		if err == nil || !strings.Contains(err.Error(), "postgres://sitelink@"+p.dir) {
			t.Errorf("while the server is down: %v", err)
		}
		return err == nil || strings.Contains(err.Error(), "the server cannot be reached")
	})
	if _, err := Open(t.Context(), address, Options{}); err == nil || !strings.Contains(err.Error(), "the server cannot be reached") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("while the server is down, Open: %v", err)
	}
	p.start()
	wait(t, "for a notice to be recorded", func() bool { return record(3) == nil })
	verified(2)
	stop()
	// A worker that starts while the server is down begins when it is up.
	other := fileOpener(address)(t, Options{Worker: true, Log: slog.New(slog.DiscardHandler)})
	p.stop()
	working(t, other, verify)
	time.Sleep(5 * other.tick) // some tries; the test does not depend on their number
	p.start()
	wait(t, "for a notice to be recorded", func() bool { return record(4) == nil })
	verified(3)
}

func BenchmarkRecordPostgres(b *testing.B) {
	p := newServer(b)
	benchmarkRecord(b, 2000, openFor(b, p.address(p.schema(b))))
}

func BenchmarkServePostgres(b *testing.B) {
	p := newServer(b)
	benchmarkServe(b, 2000, openFor(b, p.address(p.schema(b))))
}
