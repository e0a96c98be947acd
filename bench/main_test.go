package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

// heldBytes is the memory that the stand-in program touches.
const heldBytes = 96 << 20

// TestMain lets the test binary stand in for a measured program.
func TestMain(m *testing.M) {
	if os.Getenv("BENCH_TEST_MAIN") != "" && len(os.Args) > 1 && os.Args[1] == "read" {
		main()
	}
	if os.Getenv("BENCH_TEST_HOLD") != "" {
		hold := bytes.Repeat([]byte{1}, heldBytes)
		os.Exit(int(hold[len(hold)-1]) - 1)
	}
	os.Exit(m.Run())
}

func TestExitCodes(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		args []string
		want int
		says string
	}{
		{"no command", context.Background(), nil, 2, "wrong usage"},
		{"unknown command", context.Background(), []string{"fly"}, 2, "go run . compare"},
		{"unknown flag", context.Background(), []string{"compare", "-fly"}, 2, "wrong usage"},
		{"stray argument", context.Background(), []string{"external", "rust-doc"}, 2, "want 0 arguments"},
		{"unknown tool", context.Background(), []string{"compare", "-sitelink", "/bin/true", "-tools", "muffet", t.TempDir()}, 2, "no program of -tools muffet"},
		{"no rounds", context.Background(), []string{"compare", "-runs", "0", "."}, 2, "-runs"},
		{"missing docroot", context.Background(), []string{"compare", t.TempDir() + "/none"}, 3, "no such file"},
		{"interrupted", cancelled, []string{"compare", "-sitelink", "/bin/true", "-tools", "bench", t.TempDir()}, 130, "interrupted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if got := run(c.ctx, c.args, &stdout, &stderr); got != c.want {
				t.Errorf("exit %d, want %d; stderr: %s", got, c.want, &stderr)
			}
			if !strings.Contains(stderr.String(), c.says) {
				t.Errorf("stderr %q does not say %q", stderr.String(), c.says)
			}
		})
	}
}

// TestCompare: each program has its row; the time of one that is stopped is a bound.
func TestCompare(t *testing.T) {
	programs, docroot := t.TempDir(), t.TempDir()
	for name, script := range map[string]string{
		"sitelink": "sleep 0.05; echo checked 2 pages, 5 links", "hyperlink": "sleep 60", "lychee": "exit 9", "linklint": "echo 3 errors",
	} {
		if err := os.WriteFile(programs+"/"+name, []byte("#!/bin/sh\n"+`case "$1" in --version|version) echo 1.0; exit;; esac`+"\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.html", "b.htm", "c.css"} {
		if err := os.WriteFile(docroot+"/"+name, []byte("0123456789"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", programs+":"+os.Getenv("PATH"))
	t.Setenv("BENCH_TEST_MAIN", "1")
	var out, progress bytes.Buffer
	if got := run(t.Context(), []string{"compare", "-sitelink", programs + "/sitelink", "-runs", "2", "-limit", "1s", "-tools", "bench,sitelink,hyperlink,lychee,linklint", docroot}, &out, &progress); got != 0 {
		t.Fatalf("exit %d: %s", got, &progress)
	}
	for _, want := range []string{"read 3 files, 30 bytes", "read 2 files, 20 bytes", "checked 2 pages, 5 links", "3 errors", "linklint -root $DOCROOT",
		"hyperlink > 1.", "stopped after 1s", "lychee --offline failed: exit status 9", "sitelink check 0."} {
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), docroot) {
		t.Errorf("a path of this machine:\n%s", &out)
	}
}

func TestMeasurePeakMemory(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("BENCH_TEST_HOLD", "1")
	s, err := program{argv: []string{self}, okExits: []int{0}}.measure(context.Background(), time.Minute)
	if err != nil || s.Failure != "" {
		t.Fatal(err, s.Failure)
	}
	if s.PeakRSS < heldBytes || s.PeakRSS > 8*heldBytes { // the race detector takes several times as much
		t.Errorf("peak %d bytes, want %d or a little more", s.PeakRSS, heldBytes)
	}
	if s.Wall <= 0 || s.User+s.Sys <= 0 {
		t.Errorf("no time measured: %+v", s.usage)
	}
}
