//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// manyRows is the number of links of manyLinks.
const manyRows = 150 * 200

// manyLinks makes a docroot with a list of links that is far larger than what a
// pipe holds, so that sitelink waits for its reader in the middle of its work.
func manyLinks(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	page := "<title>t</title>" + strings.Repeat(`<a href="gone.html">x</a>`, 200)
	for i := range 40 {
		name := filepath.Join(dir, "page"+strings.Repeat("a", i%7)+thousands(i)+".html")
		testkit.Check(t, os.WriteFile(name, []byte(page), 0o644))
	}
	return dir
}

// TestInterrupt: the first Ctrl-C ends the work with 130, says so at once, and
// leaves neither half a report nor a temporary file.
func TestInterrupt(t *testing.T) {
	dir := manyLinks(t)
	cmd := exec.Command("sitelink", "check", dir, "--format", "jsonl", "--show", "all")
	stdout := testkit.Must(cmd.StdoutPipe())(t)
	stderr := testkit.Must(cmd.StderrPipe())(t)
	testkit.Check(t, cmd.Start())
	stop := time.AfterFunc(5*time.Minute, func() { cmd.Process.Kill() })
	defer stop.Stop()

	testkit.Must(io.ReadFull(stdout, make([]byte, 1)))(t)
	// The process now waits in a write: 5 MB of rows do not fit into a pipe.
	testkit.Check(t, cmd.Process.Signal(os.Interrupt))
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if line != "sitelink: interrupted\n" {
		t.Errorf("stderr %q, %v", line, err)
	}
	rest, _ := io.Copy(io.Discard, stdout)
	if rest > 4<<20 {
		t.Errorf("%d bytes were written after the interrupt", rest)
	}
	checkExit(t, cmd.Wait(), exitInterrupted)
}

// TestInterruptOutput: the file that --output names stays as it was.
func TestInterruptOutput(t *testing.T) {
	dir, out := manyLinks(t), t.TempDir()
	report := filepath.Join(out, "report.jsonl")
	testkit.Check(t, os.WriteFile(report, []byte("old\n"), 0o644))
	cmd := exec.Command("sitelink", "check", dir, "--format", "jsonl", "--show", "all", "--output", report)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	testkit.Check(t, cmd.Start())
	stop := time.AfterFunc(5*time.Minute, func() { cmd.Process.Kill() })
	defer stop.Stop()
	// The temporary file appears when the writing begins. On a fast machine
	// the work may end before the signal arrives: then the report is whole.
	for deadline := time.Now().Add(time.Minute); ; {
		if time.Now().After(deadline) {
			t.Fatal("sitelink neither writes nor ends")
		}
		if entries, _ := os.ReadDir(out); len(entries) > 1 {
			break
		}
		if text, _ := os.ReadFile(report); string(text) != "old\n" {
			break
		}
		time.Sleep(100 * time.Microsecond)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	err := cmd.Wait()
	text, readErr := os.ReadFile(report)
	if readErr != nil {
		t.Fatal(readErr)
	}
	switch string(text) {
	case "old\n":
		checkExit(t, err, exitInterrupted)
	default:
		if rows := bytes.Count(text, []byte("\n")); rows != manyRows {
			t.Errorf("the report has %d rows of %d", rows, manyRows)
		}
	}
	entries, readErr := os.ReadDir(out)
	if readErr != nil || len(entries) != 1 {
		t.Errorf("files left behind: %v, %v", entries, readErr)
	}
}

// TestBrokenPipe: a reader that stops reading causes no error, and the exit
// code still reports the findings.
func TestBrokenPipe(t *testing.T) {
	dir := manyLinks(t)
	for _, args := range [][]string{
		{"check", dir},
		{"check", dir, "--format", "jsonl", "--show", "all"},
		{"check", dir, "--output", "/dev/stdout"},
	} {
		cmd := exec.Command("sitelink", args...)
		stdout := testkit.Must(cmd.StdoutPipe())(t)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		testkit.Check(t, cmd.Start())
		testkit.Must(io.ReadFull(stdout, make([]byte, 1)))(t)
		stdout.Close()
		checkExit(t, cmd.Wait(), exitFindings)
		if stderr.Len() > 0 {
			t.Errorf("%q: stderr %q", args, stderr.String())
		}
	}
}

// TestOutputPipe: a named pipe is written, not replaced.
func TestOutputPipe(t *testing.T) {
	dir := t.TempDir()
	docroot, pipe := filepath.Join(dir, "site"), filepath.Join(dir, "pipe")
	testkit.Check(t, os.Mkdir(docroot, 0o755))
	testkit.Check(t, os.WriteFile(filepath.Join(docroot, "index.html"), []byte("<title>t</title>"), 0o644))
	testkit.Check(t, syscall.Mkfifo(pipe, 0o644))
	cmd := exec.Command("sitelink", "check", docroot, "--output", pipe)
	testkit.Check(t, cmd.Start())
	stop := time.AfterFunc(5*time.Minute, func() { cmd.Process.Kill() })
	defer stop.Stop()
	text, err := os.ReadFile(pipe)
	if err != nil || !strings.HasPrefix(string(text), "ok: ") {
		t.Errorf("read %q, %v", text, err)
	}
	checkExit(t, cmd.Wait(), exitClean)
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe has gone: %v, %v", info, err)
	}
}

func checkExit(t *testing.T, err error, want int) {
	t.Helper()
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("exit code %d, want %d", got, want)
	}
}
