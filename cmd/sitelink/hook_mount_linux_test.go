package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// mounted runs a shell script in dir, in a mount namespace of its own: no other
// process sees what it mounts, and the mounts end with it. It skips the test
// where such namespaces are not available.
func mounted(t *testing.T, dir, stdin, script string) (said string, err error) {
	t.Helper()
	own := &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	probe := exec.Command("mount", "-t", "tmpfs", "none", t.TempDir())
	probe.SysProcAttr = own
	if out, err := probe.CombinedOutput(); err != nil {
		t.Skipf("no mounts in a namespace of one's own: %v %s", err, out)
	}
	cmd := exec.Command("sh", "-euc", script)
	cmd.Dir, cmd.Stdin, cmd.SysProcAttr = dir, strings.NewReader(stdin), own
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// says demands that each text is in the output, which is at most 15 lines.
func says(t *testing.T, said string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(said, want) {
			t.Errorf("%s\nhas no %q", said, want)
		}
	}
	if n := strings.Count(said, "\n"); n > 15 {
		t.Errorf("%d lines:\n%s", n, said)
	}
}

// TestHookReadOnlyMount: a .git that is truly read-only, for root too. What can
// be checked in place is, anything else stops with the reason and the way round,
// and nothing is changed.
func TestHookReadOnlyMount(t *testing.T) {
	const readOnly = "mount --bind .git .git; mount -o remount,ro,bind .git; "
	dir, stdin := pushed(t, "")
	before := listing(t, filepath.Join(dir, ".git"))
	unchanged := func() {
		t.Helper()
		if after := listing(t, filepath.Join(dir, ".git")); after != before {
			t.Errorf(".git was\n%sand is\n%s", before, after)
		}
	}

	said, err := mounted(t, dir, stdin, readOnly+"exec sitelink hook run pre-push origin")
	checkExit(t, err, exitFailed)
	says(t, said, "the push could not be checked, so it was stopped; SITELINK_SKIP=1 git push", "sitelink: error: make ", "read-only file system")

	said, err = mounted(t, dir, "", readOnly+"exec sitelink hook install")
	checkExit(t, err, exitFailed)
	says(t, said, "ead-only file system")

	os.Remove(filepath.Join(dir, "dirty.html"))
	said, err = mounted(t, dir, stdin, readOnly+"exec sitelink hook run pre-push origin")
	checkExit(t, err, exitClean)
	says(t, said, "sitelink: warning: the result is not remembered: ", "read-only file system", "sitelink: main: links are fine")

	unchanged()
	testkit.Write(t, filepath.Join(dir, "public", "a.html"), `<title>t</title><a href="gone.html">t</a>`)
	testkit.Git(t, dir, "commit", "-q", "-a", "-m", "bad")
	before = listing(t, filepath.Join(dir, ".git"))
	said, err = mounted(t, dir, "", readOnly+"exec sitelink hook run --commit HEAD")
	checkExit(t, err, exitFindings)
	says(t, said, "public/a.html:1:26: error: ")
	unchanged()
}

// TestHookDiskFull: the disk that holds the temporary trees is full while the
// tree is made, while it is built, and when the verdict is noted down.
func TestHookDiskFull(t *testing.T) {
	testkit.Long(t)
	small := func(size string) string {
		return "mkdir -p .git/sitelink; mount -t tmpfs -o size=" + size + " none .git/sitelink; "
	}
	const left = `; code=$?; find .git/sitelink -mindepth 1 -name '[0-9]*' | sed 's/^/left: /'; git worktree list | grep trees | sed 's/^/known: /'; exit $code`
	nothingLeft := func(t *testing.T, said string) {
		t.Helper()
		if strings.Contains(said, "left: ") || strings.Contains(said, "known: ") {
			t.Errorf("a temporary tree is left:\n%s", said)
		}
	}
	t.Run("tree", func(t *testing.T) {
		dir, _ := pushed(t, "")
		testkit.Write(t, filepath.Join(dir, "public", "large.bin"), strings.Repeat("large", 100<<10))
		testkit.Git(t, dir, "add", "public")
		testkit.Git(t, dir, "commit", "-q", "-m", "large")
		said, err := mounted(t, dir, "", small("200k")+"set +e; sitelink hook run --commit HEAD"+left)
		checkExit(t, err, exitFailed)
		says(t, said, "sitelink: error: check out ", ": git worktree add: unable to write file public/large.bin: ", ": the disk of ", " KiB left",
			"sitelink: hint: free some space there, or commit or stash", "SITELINK_SKIP=1")
		nothingLeft(t, said)
	})
	t.Run("build", func(t *testing.T) {
		dir, stdin := pushed(t, `head -c 900000 /dev/zero >"$SITELINK_OUT/a.html"`)
		said, err := mounted(t, dir, stdin, small("200k")+"set +e; sitelink hook run pre-push origin"+left)
		checkExit(t, err, exitFailed)
		says(t, said, "sitelink: build: head: ", "No space left on device", "sitelink: error: the build command failed", "SITELINK_SKIP=1")
		nothingLeft(t, said)
	})
	t.Run("memo", func(t *testing.T) {
		dir, stdin := pushed(t, "")
		os.Remove(filepath.Join(dir, "dirty.html"))
		said, err := mounted(t, dir, stdin, small("16k")+"set +e; head -c 100000 /dev/zero >.git/sitelink/full 2>/dev/null; sitelink hook run pre-push origin; code=$?; ls -A .git/sitelink; exit $code")
		checkExit(t, err, exitClean)
		says(t, said, "sitelink: warning: the result is not remembered: ", "no space left on device", "sitelink: main: links are fine")
		if strings.Contains(said, ".sitelink-") || strings.Contains(said, "passed\n") {
			t.Errorf("a piece of the memo is left:\n%s", said)
		}
	})
}
