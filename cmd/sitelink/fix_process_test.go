//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/testkit"
)

// fixPage is a page with a link that fix repairs.
const fixPage = "<!doctype html><title>p</title>\n<p><a href=\"/Guide/\">guide</a>\n"

// newFixPages makes a docroot with a number of pages to repair, and returns the project.
func newFixPages(t *testing.T, pages int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	text := map[string]string{"guide/index.html": "<!doctype html><title>Guide</title>", "index.html": "<!doctype html><title>Home</title>"}
	for i := range pages {
		text[fmt.Sprintf("p%d.html", i)] = fixPage
	}
	for name, text := range text {
		name = filepath.Join(dir, "site", name)
		testkit.Write(t, name, text)
	}
	return dir
}

// runFixIn runs sitelink fix and returns its exit code and what it printed.
func runFixIn(t *testing.T, dir string, args ...string) (code int, output string) {
	t.Helper()
	cmd := exec.Command("sitelink", append([]string{"fix"}, args...)...)
	cmd.Dir = dir
	out, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(out)
}

// TestFixInterrupted: after a signal while files change, each file is whole, and fix --undo
// restores all of them.
func TestFixInterrupted(t *testing.T) {
	testkit.Long(t)
	const pages = 200
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGKILL} {
		dir := newFixPages(t, pages)
		cmd := exec.Command("sitelink", "fix", "--write", "site")
		var out bytes.Buffer
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
		testkit.Check(t, cmd.Start())
		journal := filepath.Join(dir, ".sitelink", "edit.journal")
		for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(time.Millisecond) {
			if _, err := os.Lstat(journal); err == nil {
				break
			}
		}
		cmd.Process.Signal(signal)
		cmd.Wait()
		changed := 0
		for i := range pages {
			switch text, err := os.ReadFile(filepath.Join(dir, "site", fmt.Sprintf("p%d.html", i))); {
			case err != nil:
				t.Fatal(err)
			case string(text) == strings.Replace(fixPage, "/Guide/", "/guide/", 1):
				changed++
			case string(text) != fixPage:
				t.Fatalf("%v: p%d.html is neither old nor new: %q", signal, i, text)
			}
		}
		_, err := os.Lstat(journal)
		if changed > 0 && err != nil {
			t.Fatalf("%v: %d files changed, and no journal: %s", signal, changed, out.String())
		}
		if err == nil {
			if code, out := runFixIn(t, dir, "--undo"); code != exitClean {
				t.Fatalf("%v: undo: exit code %d, %s", signal, code, out)
			}
		}
		for i := range pages {
			if text, err := os.ReadFile(filepath.Join(dir, "site", fmt.Sprintf("p%d.html", i))); err != nil || string(text) != fixPage {
				t.Fatalf("%v: p%d.html is not restored: %v, %q", signal, i, err, text)
			}
		}
	}
}

// TestFixAfterKill: a run that was killed between two files is named, with the command
// that takes it back, and nothing else changes before that.
func TestFixAfterKill(t *testing.T) {
	dir := newFixPages(t, 2)
	if code, out := runFixIn(t, dir, "--write", "site"); code != exitClean {
		t.Fatalf("exit code %d, %s", code, out)
	}
	journal := filepath.Join(dir, ".sitelink", "edit.journal")
	text := testkit.Read(t, journal)
	// Killed before the second file: the journal has no end.
	write := func(name, text string) {
		testkit.Check(t, os.WriteFile(name, []byte(text), 0o644))
	}
	write(journal, strings.TrimSuffix(string(text), "complete\n"))
	write(filepath.Join(dir, "site", "p1.html"), fixPage)
	code, out := runFixIn(t, dir, "--write", "site")
	if code != exitFailed || !strings.Contains(out, `"sitelink fix --write" was interrupted`) || !strings.Contains(out, "to restore them: sitelink fix --undo") {
		t.Errorf("the next run: exit code %d, %s", code, out)
	}
	if code, out := runFixIn(t, dir, "--undo"); code != exitClean {
		t.Errorf("undo: exit code %d, %s", code, out)
	}
	for _, name := range []string{"p0.html", "p1.html"} {
		if text, err := os.ReadFile(filepath.Join(dir, "site", name)); err != nil || string(text) != fixPage {
			t.Errorf("%s: %v, %q", name, err, text)
		}
	}
	if code, out := runFixIn(t, dir, "--write", "site"); code != exitClean {
		t.Errorf("after undo: exit code %d, %s", code, out)
	}
}

// TestFixTwice: while one run changes files, another one changes nothing.
func TestFixTwice(t *testing.T) {
	dir := newFixPages(t, 1)
	testkit.Check(t, os.Mkdir(filepath.Join(dir, ".sitelink"), 0o755))
	f := testkit.Must(os.OpenFile(filepath.Join(dir, ".sitelink", "edit.lock"), os.O_RDWR|os.O_CREATE, 0o644))(t)
	defer f.Close()
	testkit.Check(t, system.TryLock(f))
	for _, args := range [][]string{{"--write", "site"}, {"--undo"}} {
		if code, out := runFixIn(t, dir, args...); code != exitFailed || !strings.Contains(out, "another sitelink is changing files of this project") {
			t.Errorf("%v: exit code %d, %s", args, code, out)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "site", "p0.html")); err != nil || string(text) != fixPage {
		t.Errorf("%v, %q", err, text)
	}
}

// TestFixStale: a file that changes while fix asks is refused by name, and keeps what it
// has.
func TestFixStale(t *testing.T) {
	dir := newFixPages(t, 1)
	cmd := exec.Command("sitelink", "fix", "--interactive", "site")
	cmd.Dir = dir
	in := testkit.Must(cmd.StdinPipe())(t)
	errs := testkit.Must(cmd.StderrPipe())(t)
	testkit.Check(t, cmd.Start())
	stop := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	defer stop.Stop()
	var shown []byte
	for !bytes.Contains(shown, []byte("/Guide/ -> /guide/")) { // the question
		var part [256]byte
		n, err := errs.Read(part[:])
		if shown = append(shown, part[:n]...); err != nil {
			t.Fatalf("%v: %s", err, shown)
		}
	}
	page := filepath.Join(dir, "site", "p0.html")
	testkit.Check(t, os.WriteFile(page, []byte("<p>edited\n"+fixPage), 0o644))
	testkit.Must(io.WriteString(in, "y\n"))(t)
	in.Close()
	rest, _ := io.ReadAll(errs)
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(string(rest), "site/p0.html: changed since sitelink read it") || !strings.Contains(string(rest), "run the command again") {
		t.Errorf("exit code %d, %s", code, rest)
	}
	if text, err := os.ReadFile(page); err != nil || string(text) != "<p>edited\n"+fixPage {
		t.Errorf("%v, %q", err, text)
	}
}
