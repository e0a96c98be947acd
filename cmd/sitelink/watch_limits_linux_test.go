package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestWatchOverflow: while the watch is stopped, more happens than the system's
// queue of events holds. What it lists then is what a fresh check finds.
func TestWatchOverflow(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Skip(err)
	}
	queue, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || queue > 1<<18 {
		t.Skipf("a queue of %s events is not to be filled here", text)
	}
	w := startWatch(t, map[string]string{"a.html": "<a href=b.html>x</a>", "b.html": "<p id=one>"}, "--format", "jsonl", "--all")
	w.check()
	testkit.Check(t, w.cmd.Process.Signal(syscall.SIGSTOP))
	for range queue/2 + 4096 { // equal events in a row are one: two files in turn
		for _, name := range []string{"a.html", "b.html"} {
			testkit.Check(t, os.Chmod(filepath.Join(w.root, name), 0o644))
		}
	}
	w.write("a.html", "<a href=b.html#two>x</a><a href=unseen/>y</a>")
	w.write("unseen/index.html", "<a href=gone>x</a><a href=away>y</a>") // one finding more than before the directory is seen
	testkit.Check(t, w.cmd.Process.Signal(syscall.SIGCONT))
	w.sameAsCheck(3)
	w.write("unseen/index.html", "<a href=gone>x</a><a href=/gone/too>y</a><a href=away>z</a>")
	w.sameAsCheck(4)
	w.interrupt()
}

// TestWatchNoWatches: the system's limit of watches is reached, at first or by a
// directory that comes later. Then watch lists the files instead, and prints the
// command that raises the limit. The findings equal those of a fresh check.
func TestWatchNoWatches(t *testing.T) {
	for _, test := range []struct{ name, limit, value, hint string }{
		{"at first", "max_inotify_watches", "2", "max_user_watches=524288"},
		{"later", "max_inotify_watches", "40", "max_user_watches=524288"},
		{"no watcher", "max_inotify_instances", "0", "max_user_instances=1024"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel() // each waits for the next listing
			inOwnNamespace := func(cmd *exec.Cmd) {
				sh, err := exec.LookPath("sh")
				if err != nil {
					t.Skip(err)
				}
				cmd.Args = append([]string{"sh", "-c", `echo "$1" >/proc/sys/user/"$2"; shift 2; exec "$@"`, "sh", test.value, test.limit, cmd.Path}, cmd.Args[1:]...)
				cmd.Path = sh
				cmd.SysProcAttr = &syscall.SysProcAttr{
					Cloneflags:  syscall.CLONE_NEWUSER,
					UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
					GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
				}
				probe := exec.Command("sh", "-c", `echo 1000 >/proc/sys/user/"$1"`, "sh", test.limit)
				probe.SysProcAttr = cmd.SysProcAttr
				if out, err := probe.CombinedOutput(); err != nil {
					t.Skipf("no limits of a user namespace's own: %v %s", err, out)
				}
			}
			w := startWatchAs(t, inOwnNamespace, map[string]string{"a.html": "<a href=s/b.html>x</a>", "s/b.html": "<p id=one>"}, "--format", "jsonl", "--all")
			w.check()
			for i := range 60 {
				w.write(fmt.Sprintf("s/%d/p.html", i), "<a href=../b.html#two>x</a>")
			}
			w.sameAsCheck(60)
			w.write("s/b.html", "<p id=two><a href=59/q.html>")
			w.sameAsCheck(1)
			testkit.Check(t, w.cmd.Process.Signal(os.Interrupt))
			for w.lines.Scan() {
			}
			checkExit(t, w.cmd.Wait(), exitInterrupted)
			for _, want := range []string{"sitelink: warning: no file events: ", ": checking for changes every 1s instead\n", "sitelink: hint: ", test.hint} {
				if n := strings.Count(w.stderr.String(), want); n != 1 {
					t.Errorf("%d times %q in\n%s", n, want, &w.stderr)
				}
			}
		})
	}
}

// sameAsCheck reads the checks of a watch that lists all, as JSON lines, until
// one has so many findings. They must be those of a fresh check.
func (w *watched) sameAsCheck(findings int) {
	w.t.Helper()
	for range 100 {
		lines := w.check()
		if len(lines)-1 != findings {
			continue
		}
		type finding struct {
			Page, Target, Code string
			Line, Column       int
		}
		told, found := map[finding]int{}, map[finding]int{}
		for _, line := range lines[:findings] {
			var event struct{ Finding finding }
			if err := json.Unmarshal([]byte(line), &event); err != nil {
				w.t.Fatalf("%s: %v", line, err)
			}
			told[event.Finding]++
		}
		out, err := exec.Command("sitelink", "check", w.root, "--format", "jsonl").Output()
		checkExit(w.t, err, exitFindings)
		for line := range strings.Lines(string(out)) {
			var f finding
			if err := json.Unmarshal([]byte(line), &f); err != nil {
				w.t.Fatalf("%s: %v", line, err)
			}
			found[f]++
		}
		if !maps.Equal(told, found) {
			w.t.Errorf("reported %v\na check finds %v", slices.Collect(maps.Keys(told)), slices.Collect(maps.Keys(found)))
		}
		return
	}
	w.t.Fatalf("never %d findings", findings)
}
