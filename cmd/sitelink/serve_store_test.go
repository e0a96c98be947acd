//go:build linux

package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestServeStores: a store that serve cannot use ends it with an error that names the
// file, before it listens, and stays as it was.
func TestServeStores(t *testing.T) {
	r := startServe(t)
	r.webmention(r.sources.URL+"/links/x", servedBase+"post/")
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.cmd.Wait()
	file := func(name string) string { return filepath.Join(r.dir, name) }
	copyFile(t, file("mentions.db"), file("newer.db"), 0o600)
	db := testkit.Must(sql.Open("sqlite", file("newer.db")))(t)
	testkit.Must(db.Exec("UPDATE sitelink_store SET version = 99"))(t)
	testkit.Check(t, db.Close())
	r.write("text.db", strings.Repeat("This is a text. ", 100))
	r.write("dir.db/x", "")
	for name, want := range map[string]string{
		"newer.db":   "a newer version of sitelink has written it; update sitelink",
		"text.db":    "the file is not an SQLite database",
		"dir.db":     "it is a directory",
		"none/it.db": "there is no directory " + file("none"),
	} {
		before, _ := os.ReadFile(file(name))
		r.refused(exec.Command("sitelink", "serve", "public", "--base-url", servedBase, "--listen", "127.0.0.1:0", "--store", name), file(name), want)
		if after, _ := os.ReadFile(file(name)); !bytes.Equal(before, after) {
			t.Errorf("%s was changed", name)
		}
	}
}

// TestServeReadOnlyStore: a store that the user of the service cannot write, in a
// directory that the user can write or not.
func TestServeReadOnlyStore(t *testing.T) {
	r := startServe(t)
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.cmd.Wait()
	// Another user must get here, in case we are root, who may write everything.
	dir := testkit.Must(os.MkdirTemp("/var/tmp", "sitelink"))(t)
	defer os.RemoveAll(dir)
	program := testkit.Must(exec.LookPath("sitelink"))(t)
	copyFile(t, program, filepath.Join(dir, "sitelink"), 0o755)
	testkit.Write(t, filepath.Join(dir, "public", "index.html"), "<!doctype html><title>Home</title>")
	for name, mode := range map[string]os.FileMode{"open": 0o777, "closed": 0o555} {
		store := filepath.Join(dir, name, "mentions.db")
		testkit.Write(t, store, "")
		copyFile(t, filepath.Join(r.dir, "mentions.db"), store, 0)
		for name, mode := range map[string]os.FileMode{dir: 0o755, store: 0o444, filepath.Dir(store): mode} {
			testkit.Check(t, os.Chmod(name, mode))
		}
		defer os.Chmod(filepath.Dir(store), 0o755)
		cmd := exec.Command(filepath.Join(dir, "sitelink"), "serve", filepath.Join(dir, "public"), "--base-url", servedBase, "--listen", "127.0.0.1:0", "--store", store)
		if os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CACHE_HOME="+dir)
		r.refused(cmd, store, "the file or its directory is read-only for this user; change their owner or mode")
	}
}

// TestServeFullDisk: while the store cannot grow, each protocol says so, and the log names
// the file. Every notice that was accepted is kept, and the receiver goes on when there is
// space. The limit of a file's size stands for the size of the disk.
func TestServeFullDisk(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	r := startServe(t, "--rate-address", "0", "--rate-source", "0")
	var old unix.Rlimit
	limit := func(new *unix.Rlimit) {
		testkit.Check(t, unix.Prlimit(r.cmd.Process.Pid, unix.RLIMIT_FSIZE, new, &old))
	}
	size := int64(0)
	for _, name := range []string{"mentions.db", "mentions.db-wal"} {
		if info, err := os.Stat(filepath.Join(r.dir, name)); err == nil {
			size = max(size, info.Size())
		}
	}
	limit(nil)
	limit(&unix.Rlimit{Cur: uint64(size) + 128<<10, Max: old.Max})
	old.Cur = old.Max

	target, sent := servedBase+"post/", 0
	var accepted []string
	refusedBy := func(answer func(source string) (accepted, full bool)) bool {
		source := fmt.Sprintf("%s/links/%d", r.sources.URL, sent)
		sent++
		ok, full := answer(source)
		if ok {
			accepted = append(accepted, source)
		} else if !full {
			t.Fatalf("another answer to %s", source)
		}
		return full
	}
	protocols := map[string]func(source string) (accepted, full bool){
		"webmention": func(source string) (bool, bool) {
			code := r.webmention(source, target).StatusCode
			return code == http.StatusCreated, code == http.StatusInternalServerError
		},
		"pingback": func(source string) (bool, bool) {
			text := r.pingback(source, target)
			return !strings.Contains(text, "<fault>"), strings.Contains(text, "<int>-32500</int>")
		},
		"LINK": func(source string) (bool, bool) {
			line := r.link(source, target)
			return line == "HTTP/1.1 200 Ok", strings.HasPrefix(line, "HTTP/1.1 500 ")
		},
	}
	for name, answer := range protocols {
		for !refusedBy(answer) {
			if sent == 1000 {
				t.Fatalf("%s: %d notices are accepted by a full disk", name, sent)
			}
		}
	}
	limit(&old)
	for name, answer := range protocols {
		for deadline := time.Now().Add(time.Minute); refusedBy(answer); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s is refused although there is space", name)
			}
		}
	}
	t.Logf("%d of %d notices were accepted", len(accepted), sent)
	r.until(accepted[len(accepted)-1], "held")
	stored := map[string]bool{}
	for _, m := range r.list() {
		stored[m.Source] = true
	}
	for _, source := range accepted {
		if !stored[source] {
			t.Errorf("%s was accepted and is lost", source)
		}
	}
	r.cmd.Process.Signal(syscall.SIGTERM)
	<-r.ended
	if err := r.cmd.Wait(); err != nil || !strings.Contains(r.messages.String(), "mentions.db: the disk ") {
		t.Errorf("%v, messages:\n%s", err, r.messages)
	}
}

// refused runs serve with a store that cannot be used.
func (r *receiving) refused(cmd *exec.Cmd, name, want string) {
	r.t.Helper()
	if cmd.Dir == "" {
		cmd.Dir = r.dir
	}
	out, err := cmd.CombinedOutput()
	text := string(out)
	if code := cmd.ProcessState.ExitCode(); code != 3 || !strings.Contains(text, name) || !strings.Contains(text, want) || strings.Contains(text, "receiving at") || strings.Count(text, "\n") > 3 {
		r.t.Errorf("%s: exit code %d, %v, want 3 and %q:\n%s", name, code, err, want, text)
	}
}

func copyFile(t *testing.T, from, to string, mode os.FileMode) {
	t.Helper()
	in := testkit.Must(os.Open(from))(t)
	defer in.Close()
	out := testkit.Must(os.OpenFile(to, os.O_WRONLY|os.O_CREATE, mode))(t)
	testkit.Must(io.Copy(out, in))(t)
	testkit.Check(t, out.Close())
}

// TestBlockAtOnce: processes that block sites at the same time lose no decision, in the
// file of rules or in the store, while the receiver uses both.
func TestBlockAtOnce(t *testing.T) {
	const processes = 10
	r := startServe(t)
	r.write("sitelink.toml", "[incoming]\nstore = \"mentions.db\"\nrules = \"rules.toml\"\n")
	var all [processes]*exec.Cmd
	var out [processes]bytes.Buffer
	for i := range all {
		all[i] = exec.Command("sitelink", "mentions", "block", fmt.Sprintf("spam%d.example", i))
		all[i].Dir, all[i].Stderr = r.dir, &out[i]
		testkit.Check(t, all[i].Start())
	}
	for i := range all {
		if err := all[i].Wait(); err != nil {
			t.Errorf("%v: %s", err, &out[i])
		}
	}
	text, err := os.ReadFile(filepath.Join(r.dir, "rules.toml"))
	if n := bytes.Count(text, []byte("block spam")); n != processes || err != nil {
		t.Errorf("%d of %d rules are in the file, %v\n%s", n, processes, err, text)
	}
	db := testkit.Must(sql.Open("sqlite", filepath.Join(r.dir, "mentions.db")))(t)
	defer db.Close()
	n := 0
	if err := db.QueryRow("SELECT count(*) FROM sitelink_rule").Scan(&n); err != nil || n != processes {
		t.Errorf("%d of %d rules are in the store, %v", n, processes, err)
	}
}
