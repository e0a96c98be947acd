//go:build integration

package testkit

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// bin has the programs of the Debian package.
const bin = "/usr/lib/postgresql/15/bin"

// Postgres is a PostgreSQL server on its own socket. It runs as the user postgres if the
// test runs as root.
type Postgres struct {
	t          testing.TB
	dir        string
	attributes *syscall.SysProcAttr
	cmd        *exec.Cmd
}

// StartPostgres starts a server that ends with the test.
func StartPostgres(t testing.TB) *Postgres {
	t.Helper()
	if _, err := os.Stat(filepath.Join(bin, "initdb")); err != nil {
		t.Fatal("postgresql-15 is not installed")
	}
	dir, err := os.MkdirTemp("", "sitelink-pg") // t.TempDir's names are too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &Postgres{t: t, dir: dir, attributes: &syscall.SysProcAttr{}}
	if os.Geteuid() == 0 {
		owner, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(owner.Uid)
		gid, _ := strconv.Atoi(owner.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		s.attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	if out, err := s.command("initdb", "-D", s.data(), "-U", "sitelink", "-A", "trust", "--no-sync", "--no-locale", "-E", "UTF8").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	s.Start()
	t.Cleanup(s.Stop)
	return s
}

// Dir returns the directory of the server's socket.
func (s *Postgres) Dir() string { return s.dir }

func (s *Postgres) data() string { return filepath.Join(s.dir, "data") }

func (s *Postgres) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(bin, name), args...)
	cmd.Dir, cmd.SysProcAttr = s.dir, s.attributes
	return cmd
}

// Start starts a server that was stopped, and waits until it accepts connections.
func (s *Postgres) Start() {
	s.t.Helper()
	s.cmd = s.command("postgres", "-D", s.data(), "-k", s.dir, "-c", "listen_addresses=")
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		c, err := pgx.Connect(context.Background(), s.Address(""))
		if err == nil {
			c.Close(context.Background())
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatal(err)
		}
	}
}

// Stop ends all connections and the server.
func (s *Postgres) Stop() {
	if s.cmd != nil {
		s.cmd.Process.Signal(syscall.SIGINT) // a fast shutdown
		s.cmd.Wait()
		s.cmd = nil
	}
}

// Address returns the address of a schema of the database, "" for the default one, with
// a password that the server does not ask for.
func (s *Postgres) Address(schema string) string {
	address := "postgres://sitelink:s3cret@/postgres?host=" + s.dir
	if schema != "" {
		address += "&search_path=" + schema
	}
	return address
}

var schemas atomic.Int64

// Schema creates a schema and returns its address.
func (s *Postgres) Schema() string {
	s.t.Helper()
	name := fmt.Sprintf("schema%d", schemas.Add(1))
	s.At(s.Address(""), "CREATE SCHEMA "+name)
	return s.Address(name)
}

// At runs statements at an address.
func (s *Postgres) At(address, sql string) {
	s.t.Helper()
	c, err := pgx.Connect(context.Background(), address)
	if err == nil {
		defer c.Close(context.Background())
		_, err = c.Exec(context.Background(), sql)
	}
	if err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

// Number returns the number that a query at an address returns, or -1 if it fails: the
// tables may not exist yet.
func (s *Postgres) Number(address, sql string) int {
	n := -1
	if c, err := pgx.Connect(context.Background(), address); err == nil {
		defer c.Close(context.Background())
		if c.QueryRow(context.Background(), sql).Scan(&n) != nil {
			n = -1
		}
	}
	return n
}
