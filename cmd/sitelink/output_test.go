package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/report"
)

func testApp(stdout, stderr io.Writer) *cli {
	e := env{Stdout: stdout, Stderr: stderr, Getenv: func(string) string { return "" }}
	return &cli{env: e, ui: newUI(e)}
}

// A report that ends in the middle, by a full disk or a crash, leaves the old
// file and nothing else.
func TestOutputFailsMidway(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "report.txt")
	if err := os.WriteFile(name, []byte("old\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left on device")
	for _, c := range []struct {
		name string
		work func(output) error
	}{
		{"in the report", func(out output) error {
			return report.Text(&failingWriter{out: out, room: 100, err: full}, longResult(), report.TextOptions{})
		}},
		{"in the file", func(out output) error {
			out.(*replacement).File.Close() // every write from now on fails
			return report.Text(out, longResult(), report.TextOptions{})
		}},
		{"at the end", func(out output) error {
			if err := report.Text(out, longResult(), report.TextOptions{}); err != nil {
				t.Fatal(err)
			}
			out.(*replacement).File.Close()
			return out.Commit()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := testApp(io.Discard, io.Discard).openOutput(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.work(out); err == nil {
				t.Error("no error")
			} else if strings.Contains(err.Error(), ".sitelink-") {
				t.Errorf("the message names the temporary file: %v", err)
			}
			out.Discard()
			if text, err := os.ReadFile(name); string(text) != "old\n" {
				t.Errorf("the old file is now %q, %v", text, err)
			}
			if entries, _ := os.ReadDir(dir); len(entries) != 1 {
				t.Errorf("files left behind: %v", entries)
			}
		})
	}
}

func longResult() *check.Result {
	r := &check.Result{}
	for i := range 1000 {
		r.Findings = append(r.Findings, check.Finding{Page: "a.html", Line: 1 + i, Column: 1, Verdict: check.Error,
			Code: check.MissingFile, Message: strings.Repeat("x", 100), Count: 1})
	}
	return r
}

// failingWriter has room for some bytes.
type failingWriter struct {
	out  io.Writer
	room int
	err  error
}

func (w *failingWriter) Write(p []byte) (int, error) {
	if len(p) > w.room {
		n, _ := w.out.Write(p[:w.room])
		w.room = 0
		return n, w.err
	}
	w.room -= len(p)
	return w.out.Write(p)
}

func TestOutputReplaces(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "report.txt")
	write := func(text string) {
		t.Helper()
		out, err := testApp(io.Discard, io.Discard).openOutput(name)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Discard()
		if _, err := io.WriteString(out, text); err != nil {
			t.Fatal(err)
		}
		if err := out.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	// A file that a crash left behind does no harm.
	stale := filepath.Join(dir, fmt.Sprintf(".report.txt.sitelink-%d-0.tmp", os.Getpid()))
	if err := os.WriteFile(stale, []byte("half\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	write("first\n")
	plain := filepath.Join(dir, "plain.txt")
	if err := os.WriteFile(plain, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if got, want := mode(t, name), mode(t, plain); got != want {
		t.Errorf("a new report has mode %v, another new file %v", got, want)
	}
	if runtime.GOOS != "windows" {
		if err := os.Chmod(name, 0o604); err != nil {
			t.Fatal(err)
		}
	}
	before := mode(t, name)
	write("second\n")
	if text, err := os.ReadFile(name); string(text) != "second\n" {
		t.Errorf("got %q, %v", text, err)
	}
	if got := mode(t, name); got != before {
		t.Errorf("the mode was %v and is %v", before, got)
	}
}

func mode(t *testing.T, name string) os.FileMode {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

func TestStream(t *testing.T) {
	gone := &stream{name: "standard output", w: &failingWriter{out: io.Discard, room: 3, err: &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}}}
	for range 3 {
		if n, err := io.WriteString(gone, "ab"); n != 2 || err != nil {
			t.Errorf("wrote %d, %v", n, err)
		}
	}
	if !gone.gone {
		t.Error("the broken pipe was not seen")
	}
	full := &stream{name: "standard output", w: &failingWriter{out: io.Discard, err: &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}}}
	_, err := io.WriteString(full, "ab")
	if !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), "standard output: no space") {
		t.Errorf("got %v", err)
	}
}
