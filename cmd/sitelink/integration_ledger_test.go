//go:build integration && linux

package main

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/ledger/pg"
)

// postgresServer starts the PostgreSQL of Debian on a socket and returns the
// address of its database.
func postgresServer(t *testing.T) string {
	t.Helper()
	const bin = "/usr/lib/postgresql/15/bin"
	dir, err := os.MkdirTemp("", "sitelink-pg") // t.TempDir's names are too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	attributes := &syscall.SysProcAttr{}
	if os.Geteuid() == 0 { // the server does not run as root
		owner, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(owner.Uid)
		gid, _ := strconv.Atoi(owner.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	program := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir, cmd.SysProcAttr = dir, attributes
		return cmd
	}
	data := filepath.Join(dir, "data")
	if out, err := program("initdb", "-D", data, "-U", "sitelink", "-A", "trust", "--no-sync", "--no-locale", "-E", "UTF8").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	server := program("postgres", "-D", data, "-k", dir, "-c", "listen_addresses=")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Signal(syscall.SIGINT) // a fast shutdown
		server.Wait()
	})
	address := "postgres://sitelink@/postgres?host=" + dir
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		store, err := pg.Open(t.Context(), address, pg.Options{ReadOnly: true})
		if err == nil {
			store.Close()
			return address
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// The full form is SITELINK_KILL_RUNS=200.
func TestNotifyKilledPostgres(t *testing.T) {
	address := postgresServer(t)
	work := ownProject(t, t.TempDir())
	killShared(t, work, address, func() {
		out, err := exec.Command("psql", "-q", address+"&user=sitelink", "-c", "SET client_min_messages = warning; DROP SCHEMA public CASCADE; CREATE SCHEMA public").CombinedOutput()
		if err != nil {
			t.Fatalf("psql: %v\n%s", err, out)
		}
	}, func() (all []string) {
		// The server may still carry out the last statement of the killed run.
		for waited := 0; ; waited++ {
			out, err := exec.Command("psql", "-qAt", address+"&user=sitelink", "-c",
				"SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()").CombinedOutput()
			if err != nil || waited > 600 {
				t.Fatalf("psql: %v\n%s", err, out)
			}
			if strings.TrimSpace(string(out)) == "0" {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		store, err := pg.Open(t.Context(), address, pg.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		snap, err := store.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range snap.Notices {
			if n.State == ledger.InFlight {
				all = append(all, n.Source+" "+n.Target)
			}
		}
		return all
	})
}
