//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// killShared kills notify --send with a ledger that runs can share, at random
// moments, and runs it again. The next run must finish the work at once: no notice
// is lost, and only those in flight at the kill are repeated. fresh makes the
// ledger empty, and inFlight lists the notices in flight.
func killShared(t *testing.T, work, ledger string, fresh func(), inFlight func() []string) {
	runs, pages, hosts := 1, 2, 15
	if text := os.Getenv("SITELINK_KILL_RUNS"); text != "" {
		var err error
		if runs, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
		pages, hosts = 12, 50
	}
	empty, docroot := filepath.Join(work, "empty"), filepath.Join(work, "public")
	for _, dir := range []string{empty, docroot} {
		testkit.Check(t, os.MkdirAll(dir, 0o755))
		testkit.Check(t, os.WriteFile(filepath.Join(dir, "index.html"), []byte("<!doctype html><title>home</title>"), 0o644))
	}
	s := newScriptedHosts(t, hosts, docroot)
	s.slow = 20 * time.Millisecond
	linkingSite(t, docroot, s, pages, hosts)
	notify := func(dir string) *exec.Cmd {
		cmd := exec.Command("sitelink", "notify", dir, "--base-url", s.site, "--ledger", ledger, "--pace", "0",
			"--max-notices", "0", "--allow-address", "127.0.0.0/8", "--send", "--format", "json")
		cmd.Dir = work
		return cmd
	}
	start := func() {
		t.Helper()
		fresh()
		testkit.Run(t, notify(empty))
		s.mu.Lock()
		clear(s.got)
		s.mu.Unlock()
	}
	start()
	began := time.Now()
	testkit.Run(t, notify(docroot))
	whole := time.Since(began)
	kills, inFlightAll, twice := 0, 0, 0
	for kills < runs {
		start()
		cmd := notify(docroot)
		testkit.Check(t, cmd.Start())
		timer := time.AfterFunc(whole/8+rand.N(whole), func() { cmd.Process.Kill() })
		err := cmd.Wait()
		if timer.Stop() || err == nil {
			continue // it ended before
		}
		kills++
		mayRepeat := map[string]bool{}
		for _, k := range inFlight() {
			mayRepeat[k] = true
		}
		inFlightAll += len(mayRepeat)
		out, err := notify(docroot).Output()
		if err != nil {
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				out = append(out, exit.Stderr...)
			}
			t.Fatalf("the run after kill %d: %v\n%s", kills, err, out)
		}
		var report struct{ Failed, Left, Repeated int }
		if err := json.Unmarshal(out, &report); err != nil || report.Failed+report.Left > 0 || report.Repeated != len(mayRepeat) {
			t.Fatalf("%v, %d were in flight, %s", err, len(mayRepeat), out)
		}
		s.mu.Lock()
		if len(s.got) != pages*hosts {
			t.Errorf("%d notices arrived, want %d", len(s.got), pages*hosts)
		}
		for k, n := range s.got {
			if n > 1 {
				twice++
				if n > 2 || !mayRepeat[k] {
					t.Errorf("%s arrived %d times, in flight: %t", k, n, mayRepeat[k])
				}
			}
		}
		s.mu.Unlock()
	}
	t.Logf("%d kills of runs of %d notices (%v undisturbed): none lost, each next run finished the work; %d were in flight at a kill, %d of them arrived twice",
		kills, pages*hosts, whole.Round(time.Millisecond), inFlightAll, twice)
}

// The full form is SITELINK_KILL_RUNS=200.
func TestNotifyKilledGit(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	work := t.TempDir()
	remote := filepath.Join(t.TempDir(), "remote.git")
	git := func(args ...string) { testkit.Git(t, work, args...) }
	git("init", "--quiet", "--bare", remote)
	git("init", "--quiet", ".")
	git("remote", "add", "origin", remote)
	state := filepath.Join(work, ".git", "sitelink")
	killShared(t, work, "git:refs/sitelink/ledger", func() {
		testkit.Check(t, os.RemoveAll(state))
		git("--git-dir", remote, "update-ref", "-d", "refs/sitelink/ledger")
	}, func() []string {
		files, err := filepath.Glob(filepath.Join(state, "*", "ledger.jsonl"))
		if err != nil || len(files) != 1 {
			return nil // killed before it was written
		}
		return stillInFlight(t, files[0])
	})
}

// A run leaves the notices that another run holds: it names the run, and exits 4.
// With --wait it sends them once that run has ended.
func TestNotifyHeld(t *testing.T) {
	testkit.Long(t)
	t.Parallel() // it waits most of the time
	work := t.TempDir()
	remote := filepath.Join(t.TempDir(), "remote.git")
	for _, args := range [][]string{{"init", "--quiet", "--bare", remote}, {"init", "--quiet", "."}, {"remote", "add", "origin", remote}} {
		testkit.Git(t, work, args...)
	}
	docroot := filepath.Join(work, "public")
	testkit.Check(t, os.MkdirAll(docroot, 0o755))
	s := newScriptedHosts(t, 1, docroot)
	linkingSite(t, docroot, s, 1, 1)
	// hold records in the ledger that another run holds the notice until then.
	hold := func(until time.Time) {
		t.Helper()
		text := `{"sitelink":"ledger","version":1,"base":"` + s.site + `"}` + "\n" +
			`{"source":"` + s.site + `p000/","target":"http://` + hostAddress(0) + ":" + s.port + `/post/0","event":"added","state":"pending","runner":"elsewhere:7 X","lease":"` +
			until.Format(time.RFC3339) + `"}` + "\n"
		script := `blob=$(git hash-object -w --stdin) && tree=$(printf '100644 blob %s\tledger.jsonl\n' $blob | git mktree) &&
			git push --quiet --force origin $(git -c user.name=a -c user.email=a@b.example commit-tree $tree -m x):refs/sitelink/ledger`
		cmd := exec.Command("sh", "-c", script)
		cmd.Dir, cmd.Stdin = work, strings.NewReader(text)
		testkit.Run(t, cmd)
	}
	lease := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	hold(lease)
	notify := func(flags ...string) *exec.Cmd {
		cmd := exec.Command("sitelink", append([]string{"notify", "--due", "--send", "--ledger", "git:refs/sitelink/ledger", "--allow-address", "127.0.0.0/8"}, flags...)...)
		cmd.Dir = work
		return cmd
	}
	out, err := notify().CombinedOutput()
	checkExit(t, err, exitNotices)
	if want := "sitelink: warning: 1 notice held by elsewhere:7 until " + lease.Format(time.RFC3339) + "; up to 1 of them may be sent already\nsitelink: note: --wait waits for other runs\n"; string(out) != want {
		t.Errorf("got  %s\nwant %s", out, want)
	}
	if len(s.got) > 0 {
		t.Errorf("sent %v", s.got)
	}
	waiting := notify("--wait")
	stderr := testkit.Must(waiting.StderrPipe())(t)
	testkit.Check(t, waiting.Start())
	said := bufio.NewReader(stderr)
	if line, err := said.ReadString('\n'); line != "sitelink: note: waiting for 1 notice held by elsewhere:7\n" {
		t.Errorf("%v: %s", err, line)
	}
	hold(time.Now().Add(-time.Second).UTC()) // the other run has ended
	rest, _ := io.ReadAll(said)
	if err := waiting.Wait(); err != nil {
		t.Errorf("%v: %s", err, rest)
	}
	if len(s.got) != 1 {
		t.Errorf("sent %v", s.got)
	}
}
