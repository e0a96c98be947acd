package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/check/remote"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/internal/text"
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
	testkit.Check(t, os.WriteFile(name, []byte("old\n"), 0o640))
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
			testkit.Check(t, report.Text(out, longResult(), report.TextOptions{}))
			out.(*replacement).File.Close()
			return out.Commit()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := testkit.Must(testApp(io.Discard, io.Discard).openOutput(name))(t)
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
		out := testkit.Must(testApp(io.Discard, io.Discard).openOutput(name))(t)
		defer out.Discard()
		testkit.Must(io.WriteString(out, text))(t)
		testkit.Check(t, out.Commit())
	}
	// A file that a crash left behind does no harm.
	stale := filepath.Join(dir, fmt.Sprintf(".report.txt.sitelink-%d-0.tmp", os.Getpid()))
	testkit.Check(t, os.WriteFile(stale, []byte("half\n"), 0o644))
	write("first\n")
	plain := filepath.Join(dir, "plain.txt")
	testkit.Check(t, os.WriteFile(plain, nil, 0o666))
	if got, want := mode(t, name), mode(t, plain); got != want {
		t.Errorf("a new report has mode %v, another new file %v", got, want)
	}
	if runtime.GOOS != "windows" {
		testkit.Check(t, os.Chmod(name, 0o604))
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
	info := testkit.Must(os.Stat(name))(t)
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

func TestReportErrors(t *testing.T) {
	invalid := &config.Error{Name: "sitelink.toml", Line: 2, Column: 1, Msg: "unknown key", Hint: "look"}
	for _, c := range []struct {
		err  error
		code int
		want string
	}{
		{nil, exitClean, ""},
		{errFindings, exitFindings, ""},
		{text.Usage("bad flag", ""), exitUsage, "sitelink: error: bad flag\n"},
		{errors.Join(invalid, invalid), exitUsage, strings.Repeat("sitelink: error: sitelink.toml:2:1: unknown key\nsitelink: hint: look\n", 2)},
		{text.WithHint(errors.New("read docroot x: gone"), "build it"), exitFailed, "sitelink: error: read docroot x: gone\nsitelink: hint: build it\n"},
		{errors.New("disk on fire"), exitFailed, "sitelink: error: disk on fire\n"},
		{fmt.Errorf("load: %w", context.Canceled), exitInterrupted, "sitelink: interrupted\n"},
		{errors.New("read \x1b[2J\n\xff\u202e: no"), exitFailed, `sitelink: error: read \x1b[2J\n\xff\u202e: no` + "\n"},
	} {
		var stderr bytes.Buffer
		code := testApp(nil, &stderr).ui.report(c.err)
		if code != c.code || stderr.String() != c.want {
			t.Errorf("%v\n got %d %q\nwant %d %q", c.err, code, stderr.String(), c.code, c.want)
		}
	}
}

// A context that was cancelled before or during the work is 130, also where
// the work ended all the same.
func TestRunCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{"check", t.TempDir()}, env{Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }})
	if code != exitInterrupted || stdout.Len() > 0 || stderr.String() != "sitelink: interrupted\n" {
		t.Errorf("got %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
	}
}

func TestWantsColor(t *testing.T) {
	for _, c := range []struct {
		when string
		tty  bool
		env  string
		want bool
	}{
		{"auto", false, "", false},
		{"auto", true, "", true},
		{"auto", true, "NO_COLOR=1", false},
		{"auto", true, "NO_COLOR=", true},
		{"auto", true, "TERM=dumb", false},
		{"auto", false, "CLICOLOR_FORCE=1", true},
		{"auto", false, "CLICOLOR_FORCE=0", false},
		{"auto", true, "NO_COLOR=1 CLICOLOR_FORCE=1", false},
		{"always", false, "NO_COLOR=1 TERM=dumb", true},
		{"never", true, "CLICOLOR_FORCE=1", false},
	} {
		vars := map[string]string{}
		for _, v := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(v, "=")
			vars[name] = value
		}
		if got := wantsColor(c.when, c.tty, func(name string) string { return vars[name] }); got != c.want {
			t.Errorf("--color %s, terminal %v, %q: %v", c.when, c.tty, c.env, got)
		}
	}
}

// Progress waits a second, is drawn ten times a second at most, and is erased
// before anything else is printed.
func TestProgress(t *testing.T) {
	var stderr bytes.Buffer
	a := testApp(nil, &stderr)
	a.ui.env.StderrTTY = true
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := newProgress(a.ui, "auto", func() time.Time { return clock })
	for i := range 1000 { // 2.5 seconds of work
		p.pages(i, 32101)
		clock = clock.Add(2500 * time.Microsecond)
	}
	drawn := strings.Count(stderr.String(), "reading pages")
	if drawn != 15 {
		t.Errorf("drawn %d times in 1.5 seconds", drawn)
	}
	if !strings.HasPrefix(stderr.String(), "\r\x1b[Kreading pages: 400 of 32,101\r\x1b[K") {
		t.Errorf("got %.80q", stderr.String())
	}
	p.sites(remote.Progress{Done: 1234, Total: 5678, Hosts: 12, Left: 95 * time.Second})
	if !strings.HasSuffix(stderr.String(), "asking other sites: 1,234 of 5,678, 12 hosts in flight, about 1m35s left") {
		t.Errorf("got %q", stderr.String()[max(0, stderr.Len()-90):])
	}
	clock = clock.Add(time.Second)
	p.pages(1000, 32101)
	a.ui.note("hello")
	p.done()
	p.done()
	if !strings.HasSuffix(stderr.String(), "of 32,101\r\x1b[Ksitelink: note: hello\n") {
		t.Errorf("got the end %q", stderr.String()[stderr.Len()-60:])
	}
	for _, c := range []struct {
		when string
		tty  bool
		want bool
	}{{"auto", false, false}, {"auto", true, true}, {"false", true, false}, {"true", false, true}} {
		a.ui.env.StderrTTY = c.tty
		got := newProgress(a.ui, c.when, time.Now)
		if (got != nil) != c.want {
			t.Errorf("--progress=%s, terminal %v: %v", c.when, c.tty, got)
		}
		if got == nil { // a nil progress is callable
			got.pages(1, 2)
			got.done()
		}
	}
}

// Each key of the configuration is a flag of check with the same name.
func TestFlagsAreKeys(t *testing.T) {
	cmd := checkCommand(testApp(nil, nil))
	for _, k := range config.Keys() {
		f := cmd.Flags().Lookup(k.Name)
		if f == nil {
			t.Errorf("no flag --%s", k.Name)
			continue
		}
		if !strings.HasPrefix(f.Usage, k.Help) {
			t.Errorf("--%s says %q", k.Name, f.Usage)
		}
	}
}
