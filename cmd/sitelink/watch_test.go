//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// watched is a `sitelink watch` that runs, and the lines it prints.
type watched struct {
	t      *testing.T
	cmd    *exec.Cmd
	lines  *bufio.Scanner
	stderr lockedBuffer
	root   string
}

// lockedBuffer is written by a process while a test reads it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// startWatch watches a docroot of these files.
func startWatch(t *testing.T, files map[string]string, args ...string) *watched {
	t.Helper()
	return startWatchAs(t, func(*exec.Cmd) {}, files, args...)
}

// startWatchAs does the same with a command that change may change.
func startWatchAs(t *testing.T, change func(*exec.Cmd), files map[string]string, args ...string) *watched {
	t.Helper()
	dir := t.TempDir()
	w := &watched{t: t, root: filepath.Join(dir, "public")}
	testkit.Check(t, os.Mkdir(filepath.Join(dir, ".git"), 0o755))
	for name, text := range files {
		w.write(name, text)
	}
	w.start(change, args...)
	return w
}

// start begins to watch the directory w.root.
func (w *watched) start(change func(*exec.Cmd), args ...string) {
	w.t.Helper()
	w.cmd = exec.Command("sitelink", append([]string{"watch", filepath.Base(w.root), "--delay", "60ms", "--color", "never"}, args...)...)
	w.cmd.Dir, w.cmd.Stderr = filepath.Dir(w.root), &w.stderr
	stdout := testkit.Must(w.cmd.StdoutPipe())(w.t)
	change(w.cmd)
	testkit.Check(w.t, w.cmd.Start())
	stop := time.AfterFunc(5*time.Minute, func() { w.cmd.Process.Kill() })
	w.t.Cleanup(func() { stop.Stop(); w.cmd.Process.Kill() })
	w.lines = bufio.NewScanner(stdout)
}

// write puts a complete file in its place, as many editors do: a watch on a busy machine
// would see the empty file between the truncation and the text.
func (w *watched) write(name, text string) {
	w.t.Helper()
	complete := filepath.Join(w.t.TempDir(), "x")
	testkit.Write(w.t, complete, text)
	name = filepath.Join(w.root, name)
	testkit.Check(w.t, os.MkdirAll(filepath.Dir(name), 0o755))
	testkit.Check(w.t, os.Rename(complete, name))
}

// check returns the lines of the next check, without its first.
func (w *watched) check() []string {
	w.t.Helper()
	var out []string
	for w.lines.Scan() {
		switch line := w.lines.Text(); {
		case line == watchBegins || line == `{"event":"begin"}`:
		case strings.HasPrefix(line, watchEnds), strings.HasPrefix(line, `{"event":"end"`):
			return append(out, strings.TrimPrefix(line, watchEnds))
		default:
			out = append(out, line)
		}
	}
	w.t.Fatalf("the watch ended: %v, stderr %s", w.lines.Err(), &w.stderr)
	return nil
}

// until returns the lines of the checks up to the one that ends so.
func (w *watched) until(end string) []string {
	w.t.Helper()
	var out []string
	for {
		lines := w.check()
		out = append(out, lines[:len(lines)-1]...)
		if lines[len(lines)-1] == end {
			return out
		}
		if len(out) > 1000 {
			w.t.Fatalf("never %q, but %q", end, out)
		}
	}
}

func (w *watched) interrupt() {
	w.t.Helper()
	testkit.Check(w.t, w.cmd.Process.Signal(os.Interrupt))
	for w.lines.Scan() {
	}
	checkExit(w.t, w.cmd.Wait(), exitInterrupted)
	if got := w.stderr.String(); got != "sitelink: interrupted\n" {
		w.t.Errorf("stderr %q", got)
	}
}

// TestWatch: what is new and what was fixed, across all that happens to a
// docroot while one works, and the end by Ctrl-C.
func TestWatch(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--poll", "30ms"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			w := startWatch(t, map[string]string{"index.html": "<a href=b.html>x</a>", "b.html": "<p id=one>"}, args...)
			if got := w.check(); !slices.Equal(got, []string{"0 new, 0 fixed; 0 errors, 0 warnings"}) {
				t.Errorf("at first: %q", got)
			}
			w.write("index.html", "<a href=b.html#two>x</a>\n<a href=new/>y</a>")
			got := w.until("2 new, 0 fixed; 2 errors, 0 warnings")
			if len(got) < 2 || !strings.HasPrefix(got[0], "public/index.html:1:9: error: ") {
				t.Errorf("broken: %q", got)
			}
			w.write("b.html", "<p id=one><p id=two>")
			if got := w.until("0 new, 1 fixed; 1 error, 0 warnings"); len(got) != 1 ||
				got[0] != `public/index.html:1:9: fixed: b.html has no element with id "two" [missing-fragment]` {
				t.Errorf("fragment: %q", got)
			}
			w.write("new/index.html", "<a href=/gone>")
			w.untilCount("1 error, 0 warnings")
			testkit.Check(t, os.Rename(filepath.Join(w.root, "new"), filepath.Join(w.root, "old")))
			w.untilCount("2 errors, 0 warnings")
			testkit.Check(t, os.RemoveAll(w.root))
			w.write("index.html", "<a href=nowhere>")
			w.write("c.html", "<a href=index.html>")
			w.untilCount("1 error, 0 warnings")
			w.interrupt()
		})
	}
}

// untilCount reads checks until so much is left.
func (w *watched) untilCount(left string) {
	w.t.Helper()
	for range 100 {
		lines := w.check()
		if strings.HasSuffix(lines[len(lines)-1], "; "+left) {
			return
		}
	}
	w.t.Fatalf("never %q", left)
}

// TestWatchJSON: a tool that adds what is new and takes out what is fixed knows
// what a check of its own would find, whatever is edited.
func TestWatchJSON(t *testing.T) {
	w := startWatch(t, map[string]string{"keep.html": "<a href=a.html>"}, "--format", "jsonl")
	type event struct {
		Event, Fingerprint string
		Finding            struct{ Page, Target, Code string }
	}
	found := map[string]string{} // by fingerprint
	apply := func() {
		for _, line := range w.check() {
			var e event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			switch known := found[e.Fingerprint]; {
			case e.Event == "new" && known == "":
				found[e.Fingerprint] = fmt.Sprint(e.Finding)
			case e.Event == "fixed" && known == fmt.Sprint(e.Finding):
				delete(found, e.Fingerprint)
			case e.Event == "new" || e.Event == "fixed":
				t.Errorf("%s, but before: %s", line, known)
			}
		}
	}
	apply()
	rng := rand.New(rand.NewPCG(3, 4))
	some := func() string { return pickOne(rng, "a", "s/a", "s/b", "t/c") + ".html" }
	rounds := testkit.Longer(8, 25)
	for range rounds {
		for range 4 {
			switch rng.IntN(4) {
			case 0:
				_ = os.Remove(filepath.Join(w.root, some()))
			case 1:
				_ = os.RemoveAll(filepath.Join(w.root, pickOne(rng, "s", "t")))
			default:
				w.write(some(), fmt.Sprintf("<a href=/%s>x</a><a href=%s>", some(), some()))
			}
		}
		w.write("keep.html", fmt.Sprintf("<a href=a.html>%d", rng.Int())) // so that a check follows for sure
		apply()
	}
	// What changed after the last check was read must still be reported.
	var want []string
	deadline := time.Now().Add(time.Minute)
	for {
		want = nil
		out, err := exec.Command("sitelink", "check", w.root, "--format", "jsonl").Output()
		if err != nil && len(out) == 0 {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			var f struct{ Page, Target, Code string }
			testkit.Check(t, json.Unmarshal([]byte(line), &f))
			want = append(want, fmt.Sprint(f))
		}
		slices.Sort(want)
		if slices.Equal(slices.Sorted(maps.Values(found)), want) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("reported %v\na check finds %v", found, want)
		}
		w.write("keep.html", fmt.Sprintf("<a href=a.html>%d", rng.Int()))
		apply()
	}
	w.interrupt()
}

// TestWatchList: --all repeats what is broken, for editors, and a changed
// configuration is read again.
func TestWatchList(t *testing.T) {
	w := startWatch(t, map[string]string{"index.html": "<a href=gone>"}, "--all")
	if got := w.check(); len(got) < 2 || got[len(got)-1] != "1 new, 0 fixed; 1 error, 0 warnings" {
		t.Errorf("at first: %q", got)
	}
	w.write("b.html", "x")
	if got := w.check(); len(got) < 2 || got[len(got)-1] != "0 new, 0 fixed; 1 error, 0 warnings" {
		t.Errorf("again: %q", got)
	}
	config := filepath.Join(filepath.Dir(w.root), "sitelink.toml")
	testkit.Check(t, os.WriteFile(config, []byte("[[ignore]]\nurl = \"gone\"\nreason = \"it is\"\n"), 0o644))
	w.untilCount("0 errors, 0 warnings")
	w.interrupt()
}

// TestWatchWaits: before the first build, and while a build has removed or emptied the
// docroot, a watch waits and says for what, once. Ctrl-C ends it then too.
func TestWatchWaits(t *testing.T) {
	t.Parallel()
	w := &watched{t: t, root: filepath.Join(t.TempDir(), "public")}
	testkit.Write(t, filepath.Join(filepath.Dir(w.root), "hugo.toml"), "title = 't'\n")
	w.start(func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Environ(), "PATH="+filepath.Dir(testkit.Must(exec.LookPath("sitelink"))(t))) // no Hugo
	})
	waits := func(when string) {
		t.Helper()
		if !w.lines.Scan() || w.lines.Text() != "sitelink: waiting for public to be built; run hugo, or sitelink watch --build, which builds at each change" {
			t.Fatalf("%s: %q", when, w.lines.Text())
		}
	}
	files := func() {
		for i := range 10 {
			w.write(fmt.Sprintf("%d.html", i), fmt.Sprintf("<a href=%d.html>x</a>", (i+1)%10))
		}
	}
	waits("before the first build")
	w.write("_redirects", "/old /gone.html\n") // another host
	files()
	if got := w.check(); !strings.HasSuffix(got[len(got)-1], "; 1 error, 0 warnings") || !strings.Contains(got[0], "_redirects:1:1: error") {
		t.Errorf("at first: %q", got)
	}
	testkit.Check(t, os.RemoveAll(w.root))
	waits("removed")
	files()
	w.until("0 new, 1 fixed; 0 errors, 0 warnings")
	for i := range 10 {
		testkit.Check(t, os.Remove(filepath.Join(w.root, fmt.Sprintf("%d.html", i))))
	}
	waits("emptied")
	files()
	if got := w.check(); !slices.Equal(got, []string{"0 new, 0 fixed; 0 errors, 0 warnings"}) {
		t.Errorf("again: %q", got)
	}
	testkit.Check(t, os.RemoveAll(w.root))
	waits("removed again")
	time.Sleep(testkit.Longer(0, builtWithin+time.Second)) // no source is newer than what is not there
	testkit.Check(t, w.cmd.Process.Signal(os.Interrupt))
	if w.lines.Scan() {
		t.Errorf("after Ctrl-C: %q", w.lines.Text())
	}
	checkExit(t, w.cmd.Wait(), exitInterrupted)
}

// TestWatchGenerator: without DIR, a watch is about the docroot that the generator writes,
// although an earlier check --build made another; when the generator's configuration names
// another one later, it says so.
func TestWatchGenerator(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "hugo.toml")
	testkit.Write(t, file, "title = 't'\n")
	testkit.Write(t, filepath.Join(dir, ".sitelink", "public", "a.html"), "<a href=gone.html>x</a>")
	testkit.Write(t, filepath.Join(dir, "public", "a.html"), "<a href=a.html>x</a>")
	testkit.Check(t, os.Rename(filepath.Join(dir, "public"), filepath.Join(dir, "later")))
	w := &watched{t: t, root: filepath.Join(dir, "public")}
	w.start(func(cmd *exec.Cmd) {
		cmd.Args = slices.Delete(cmd.Args, 2, 3)
		cmd.Env = append(cmd.Environ(), "PATH="+filepath.Dir(testkit.Must(exec.LookPath("sitelink"))(t))) // no Hugo
	})
	if !w.lines.Scan() || w.lines.Text() != "sitelink: waiting for public to be built; run hugo, or sitelink watch --build, which builds at each change" {
		t.Errorf("at first: %q", w.lines.Text())
	}
	testkit.Check(t, os.Rename(filepath.Join(dir, "later"), filepath.Join(dir, "public")))
	w.until("0 new, 0 fixed; 0 errors, 0 warnings")
	testkit.Write(t, file, "title = 't'\npublishDir = 'out'\n")
	w.until("0 new, 0 fixed; 0 errors, 0 warnings")
	testkit.Check(t, w.cmd.Process.Signal(os.Interrupt))
	checkExit(t, w.cmd.Wait(), exitInterrupted)
	if want := "sitelink: note: Hugo builds into out now, and this watch is about public: start it again\n"; strings.Count(w.stderr.String(), want) != 1 {
		t.Errorf("stderr %s, want %s", &w.stderr, want)
	}
}

// TestWatchReaderGone: when its reader has gone, a watch ends at its next word.
func TestWatchReaderGone(t *testing.T) {
	w := startWatch(t, map[string]string{"index.html": "x"})
	w.check()
	r, wr, err := os.Pipe()
	testkit.Check(t, err)
	r.Close()
	cmd := exec.Command("sitelink", "watch", w.root)
	cmd.Stdout = wr
	testkit.Check(t, cmd.Start())
	wr.Close()
	stop := time.AfterFunc(5*time.Minute, func() { cmd.Process.Kill() })
	defer stop.Stop()
	checkExit(t, cmd.Wait(), exitClean)
	testkit.Check(t, w.cmd.Process.Signal(syscall.SIGTERM))
	checkExit(t, w.cmd.Wait(), exitInterrupted)
}
