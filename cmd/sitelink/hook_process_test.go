//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// pushed is a repository with a commit to push and a dirty working tree, so
// that a temporary tree is made. It returns its directory and what git gives
// the hook.
func pushed(t *testing.T, build string) (dir, stdin string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir = t.TempDir()
	for _, v := range [][2]string{{"HOME", dir}, {"GIT_CONFIG_NOSYSTEM", "1"}, {"GIT_AUTHOR_NAME", "a"}, {"GIT_AUTHOR_EMAIL", "a@example.org"},
		{"GIT_COMMITTER_NAME", "a"}, {"GIT_COMMITTER_EMAIL", "a@example.org"}} {
		t.Setenv(v[0], v[1])
	}
	dir = filepath.Join(dir, "repo")
	testkit.Write(t, filepath.Join(dir, "public", "a.html"), `<title>t</title><a href="a.html">t</a>`)
	if build != "" {
		testkit.Write(t, filepath.Join(dir, "sitelink.toml"), "[hook]\nbuild = '"+build+"'\ntimeout = \"1m\"\n")
	}
	testkit.Git(t, dir, "init", "-q", "-b", "main", ".")
	testkit.Git(t, dir, "add", "-A")
	testkit.Git(t, dir, "commit", "-q", "-m", "a site")
	id := strings.TrimSpace(testkit.Git(t, dir, "rev-parse", "HEAD"))
	testkit.Write(t, filepath.Join(dir, "dirty.html"), "dirty")
	return dir, "refs/heads/main " + id + " refs/heads/main " + strings.Repeat("0", len(id)) + "\n"
}

// command runs a program that must succeed, and returns its output.
func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// startHook runs the hook until its build has begun, and returns the process id
// of the build as well.
func startHook(t *testing.T, dir, stdin string) (cmd *exec.Cmd, stderr *strings.Builder, build int) {
	t.Helper()
	mark := filepath.Join(dir, ".git", "mark")
	t.Setenv("MARK", mark)
	cmd = exec.Command("sitelink", "hook", "run", "pre-push", "origin")
	stderr = &strings.Builder{}
	cmd.Dir, cmd.Stdin, cmd.Stderr = dir, strings.NewReader(stdin), stderr
	testkit.Check(t, cmd.Start())
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		text, _ := os.ReadFile(mark)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			return cmd, stderr, pid
		}
	}
	cmd.Process.Kill()
	t.Fatalf("the build did not begin: %s", stderr)
	return nil, nil, 0
}

// listing names the files below a directory and their sizes.
func listing(t *testing.T, dir string) string {
	t.Helper()
	cmd := exec.Command("find", ".", "-printf", "%p %y %s\n")
	cmd.Dir = dir
	out := testkit.Must(cmd.Output())(t)
	lines := strings.Split(string(out), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

const endlessBuild = `sleep 300 & echo $! >"$MARK.new"; mv "$MARK.new" "$MARK"; wait`

// trees are the temporary trees, by the disk and by git.
func trees(t *testing.T, dir string) (onDisk int, known bool) {
	t.Helper()
	entries := testkit.Must(os.ReadDir(filepath.Join(dir, ".git", "sitelink", "trees")))(t)
	return len(entries), strings.Contains(testkit.Git(t, dir, "worktree", "list"), "trees")
}

// TestHookInterrupted: Ctrl-C and TERM end the build with all its children, and
// leave no tree behind.
func TestHookInterrupted(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			dir, stdin := pushed(t, endlessBuild)
			cmd, stderr, build := startHook(t, dir, stdin)
			testkit.Check(t, cmd.Process.Signal(sig))
			checkExit(t, cmd.Wait(), exitInterrupted)
			if stderr.String() != "sitelink: interrupted\n" {
				t.Errorf("stderr %q", stderr)
			}
			if n, known := trees(t, dir); n > 0 || known {
				t.Errorf("%d trees are left, known to git: %v", n, known)
			}
			gone(t, build)
		})
	}
}

// gone fails the test unless the process has ended. A zombie has ended, too:
// only its parent has not waited for it.
func gone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if syscall.Kill(pid, 0) != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Errorf("process %d still runs", pid)
}

// TestHookKilled: what a killed run left is seen by status, and gone after the
// next run, even one that has nothing to check.
func TestHookKilled(t *testing.T) {
	dir, stdin := pushed(t, endlessBuild)
	cmd, _, build := startHook(t, dir, stdin)
	cmd.Process.Kill()
	cmd.Wait()
	defer gone(t, build)
	defer syscall.Kill(build, syscall.SIGKILL) // its parent was killed
	if n, known := trees(t, dir); n == 0 || !known {
		t.Fatalf("%d trees after kill -9, known to git: %v", n, known)
	}
	status := exec.Command("sitelink", "hook", "status")
	status.Dir = dir
	if out, err := status.CombinedOutput(); err != nil || !strings.Contains(string(out), "interrupted runs left temporary trees behind") {
		t.Errorf("status %v: %s", err, out)
	}
	next := exec.Command("sitelink", "hook", "run", "pre-push", "origin")
	next.Dir, next.Stdin = dir, strings.NewReader(strings.Replace(stdin, " refs/heads/main 0", " refs/tags/v1 0", 1))
	if out, err := next.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("the next run: %v: %s", err, out)
	}
	if n, known := trees(t, dir); n > 0 || known {
		t.Errorf("%d trees are left, known to git: %v", n, known)
	}
}

// TestHookReadOnly: without a place for the temporary tree the push stops, and
// says why and what to do.
func TestHookReadOnly(t *testing.T) {
	dir, stdin := pushed(t, "")
	testkit.Write(t, filepath.Join(dir, ".git", "sitelink"), "a file where the directory should be")
	cmd := exec.Command("sitelink", "hook", "run", "pre-push", "origin")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	checkExit(t, err, exitFailed)
	if !strings.Contains(string(out), "sitelink: error: make ") || !strings.Contains(string(out), "SITELINK_SKIP=1") {
		t.Errorf("%s", out)
	}
	// In place it needs none, and a memo that cannot be written is no reason
	// to stop.
	os.Remove(filepath.Join(dir, "dirty.html"))
	cmd = exec.Command("sitelink", "hook", "run", "pre-push", "origin")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	out, err = cmd.CombinedOutput()
	checkExit(t, err, exitClean)
	if !strings.Contains(string(out), "sitelink: warning: the result is not remembered: ") || !strings.Contains(string(out), "main: links are fine") {
		t.Errorf("%s", out)
	}
}

// TestHookFull: a temporary tree that cannot be written as a whole is removed,
// and the push stops. A limit on the size of files takes the place of a disk
// that is full.
func TestHookFull(t *testing.T) {
	dir, _ := pushed(t, "")
	testkit.Write(t, filepath.Join(dir, "public", "large.bin"), strings.Repeat("large", 100<<10))
	testkit.Git(t, dir, "add", "public")
	testkit.Git(t, dir, "commit", "-q", "-m", "large")
	cmd := exec.Command("sh", "-c", "ulimit -f 200; exec sitelink hook run --commit HEAD")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	checkExit(t, err, exitFailed)
	if !strings.Contains(string(out), "sitelink: error: check out ") || !strings.Contains(string(out), "SITELINK_SKIP=1") {
		t.Errorf("%s", out)
	}
	if n, known := trees(t, dir); n > 0 || known {
		t.Errorf("%d trees are left, known to git: %v", n, known)
	}
}

// TestHookRemembered: a push of a known tree starts a handful of git's processes and
// neither the generator nor a checkout (issue 5: three times git rev-parse HEAD plus the
// start of a process). bench measures the time.
func TestHookRemembered(t *testing.T) {
	for _, generator := range []string{"", "hugo.toml"} {
		t.Run(generator, func(t *testing.T) {
			dir, stdin := pushed(t, "")
			if generator != "" {
				before := strings.TrimSpace(testkit.Git(t, dir, "rev-parse", "HEAD"))
				bin := t.TempDir()
				testkit.Write(t, filepath.Join(bin, "hugo"), "#!/bin/sh\ntest \"$1\" = --destination && cp -r public/. \"$2\" && echo hugo >>"+filepath.Join(bin, "calls")+"\n")
				testkit.Check(t, os.Chmod(filepath.Join(bin, "hugo"), 0o755))
				t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
				testkit.Write(t, filepath.Join(dir, generator), "title = 't'\n")
				testkit.Git(t, dir, "add", generator)
				testkit.Git(t, dir, "commit", "-q", "-m", generator)
				stdin = strings.Replace(stdin, before, strings.TrimSpace(testkit.Git(t, dir, "rev-parse", "HEAD")), 1)
			}
			// push pushes, and returns the commands of git that this starts.
			push := func() []string {
				trace := filepath.Join(t.TempDir(), "trace")
				cmd := exec.Command("sitelink", "hook", "run", "pre-push", "origin")
				cmd.Dir, cmd.Stdin, cmd.Env = dir, strings.NewReader(stdin), append(os.Environ(), "GIT_TRACE="+trace)
				testkit.Run(t, cmd)
				var started []string
				for line := range strings.Lines(readFile(t, trace)) {
					if _, command, ok := strings.Cut(line, "trace: built-in: "); ok {
						started = append(started, strings.TrimSpace(command))
					}
				}
				return started
			}
			first, second := push(), push()
			if len(first) <= len(second) || len(second) > 4 {
				t.Errorf("the first push started\n%s\nthe second\n%s", strings.Join(first, "\n"), strings.Join(second, "\n"))
			}
			if generator != "" {
				calls := filepath.Join(filepath.Dir(lookPath(t, "hugo")), "calls")
				if got := readFile(t, calls); got != "hugo\n" {
					t.Errorf("two pushes built with %q", got)
				}
			}
		})
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text := testkit.Read(t, name)
	return string(text)
}
