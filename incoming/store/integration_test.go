//go:build integration

package store

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

// bin has the programs of the Debian package postgresql-15.
const bin = "/usr/lib/postgresql/15/bin"

// server is a PostgreSQL on its own socket. It runs as the user postgres if the test
// runs as root.
type server struct {
	t          *testing.T
	dir        string
	attributes *syscall.SysProcAttr
	cmd        *exec.Cmd
}

func newServer(t *testing.T) *server {
	t.Helper()
	if _, err := os.Stat(filepath.Join(bin, "initdb")); err != nil {
		t.Skip("postgresql-15 is not installed")
	}
	dir, err := os.MkdirTemp("", "sitelink-store") // t.TempDir's names are too long for a socket
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := &server{t: t, dir: dir, attributes: &syscall.SysProcAttr{}}
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

func (p *server) data() string { return filepath.Join(p.dir, "data") }

func (p *server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(bin, name), args...)
	cmd.Dir, cmd.SysProcAttr = p.dir, p.attributes
	return cmd
}

func (p *server) start() {
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
func (p *server) stop() {
	if p.cmd != nil {
		p.cmd.Process.Signal(syscall.SIGINT)
		p.cmd.Wait()
		p.cmd = nil
	}
}

func (p *server) address(schema string) string {
	return "postgres://sitelink:s3cret@/postgres?host=" + p.dir + "&search_path=" + schema
}

var schemas atomic.Int64

// fresh returns an opener of a new schema.
func (p *server) fresh(t *testing.T) opener {
	t.Helper()
	c, err := pgx.Connect(t.Context(), p.address("public"))
	check(t, err)
	defer c.Close(t.Context())
	schema := fmt.Sprintf("s%d", schemas.Add(1))
	_, err = c.Exec(t.Context(), "CREATE SCHEMA "+schema)
	check(t, err)
	return fileOpener(p.address(schema))
}

func TestPostgres(t *testing.T) {
	p := newServer(t)
	conformance(t, p.fresh)
	_ = time.Now
}
