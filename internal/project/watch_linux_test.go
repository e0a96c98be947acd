package project

import (
	"errors"
	"fmt"
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

// TestOverflow lets the system's queue of events overflow: more events happen
// than the queue holds while the program does not read them. After that, every
// file may have changed, and a directory that was created unnoticed must be
// watched.
func TestOverflow(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Skip(err)
	}
	queue, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || queue > 1<<18 {
		t.Skipf("a queue of %s events is too long to fill in a test", text)
	}
	root := t.TempDir()
	one, two := filepath.Join(root, "one.html"), filepath.Join(root, "two.html")
	testkit.Write(t, one, "1")
	testkit.Write(t, two, "2")
	w := open(t, root, WatchOptions{})
	// fsnotify has read some events that it cannot deliver yet; they come in
	// addition to the queue. Two files take turns, because the system merges
	// equal events in a row.
	for range queue/2 + 4096 {
		for _, name := range []string{one, two} {
			testkit.Check(t, os.Chmod(name, 0o644))
		}
	}
	testkit.Write(t, filepath.Join(root, "unseen/p.html"), "p")
	b := next(t, w)
	for !b.All { // on a busy machine a batch can end before the end of the queue is read
		if slices.Contains(b.Paths, "unseen") || slices.Contains(b.Paths, "unseen/p.html") {
			t.Fatalf("%d events in a queue of %d: batch %+v, want all", queue+8192, queue, b)
		}
		b = next(t, w)
	}
	if w.Polls() != nil {
		t.Errorf("polls after an overflow: %v", w.Polls())
	}
	testkit.Write(t, filepath.Join(root, "unseen/p.html"), "longer")
	if b := next(t, w); !slices.Contains(b.Paths, "unseen/p.html") {
		t.Errorf("in a directory created unnoticed: %+v", b)
	}
}

// limited runs the test again in a user namespace with limits of its own, so
// that nothing else on the machine is affected. It returns true in that run.
func limited(t *testing.T, limit string, value int) bool {
	t.Helper()
	if os.Getenv("SITELINK_TEST_LIMITED") == t.Name() {
		return true
	}
	cmd := exec.Command("sh", "-c", `echo "$1" >/proc/sys/user/"$2" && exec "$3" -test.run="$4" -test.count=1`,
		"sh", strconv.Itoa(value), limit, os.Args[0], "^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$")
	cmd.Env = append(os.Environ(), "SITELINK_TEST_LIMITED="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &exit):
		t.Skipf("no user namespace available: %v", err)
	case err != nil && strings.Contains(string(out), "/proc/sys/user/"):
		t.Skipf("the limit cannot be set: %s", out)
	case err != nil || !strings.Contains(string(out), "PASS"), strings.Contains(string(out), "no tests to run"):
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// TestNoWatchLeft: when the system refuses to watch a directory, at the start
// or later, the watcher polls the tree, loses no change, and keeps the reason.
func TestNoWatchLeft(t *testing.T) {
	testkit.Long(t)
	wantPolling := func(t *testing.T, w *Watcher, cause error) {
		t.Helper()
		if !errors.Is(w.Polls(), ErrNoEvents) || !errors.Is(w.Polls(), cause) {
			t.Fatalf("polls because of %v, want %v", w.Polls(), cause)
		}
		testkit.Write(t, filepath.Join(w.root, "d9/p.html"), "longer")
		if b := next(t, w); !b.All && !slices.Contains(b.Paths, "d9/p.html") {
			t.Errorf("while polling: %+v", b)
		}
	}
	fill := func(t *testing.T, root string) {
		for i := range 10 {
			testkit.Write(t, filepath.Join(root, fmt.Sprintf("d%d/p.html", i)), "p")
		}
	}
	t.Run("at first", func(t *testing.T) {
		t.Parallel()
		if limited(t, "max_inotify_watches", 5) {
			root := t.TempDir()
			fill(t, root)
			wantPolling(t, open(t, root, WatchOptions{}), syscall.ENOSPC)
		}
	})
	t.Run("later", func(t *testing.T) {
		t.Parallel()
		if limited(t, "max_inotify_watches", 5) {
			root := t.TempDir()
			testkit.Write(t, filepath.Join(root, "p.html"), "p")
			w := open(t, root, WatchOptions{})
			if w.Polls() != nil {
				t.Fatalf("polls from the start: %v", w.Polls())
			}
			fill(t, root)
			if b := next(t, w); !b.All {
				t.Errorf("batch %+v, want all", b)
			}
			wantPolling(t, w, syscall.ENOSPC)
		}
	})
	t.Run("no watcher", func(t *testing.T) {
		t.Parallel()
		if limited(t, "max_inotify_instances", 0) {
			root := t.TempDir()
			fill(t, root)
			wantPolling(t, open(t, root, WatchOptions{}), syscall.EMFILE)
		}
	})
}
