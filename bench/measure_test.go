package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// heldBytes is the memory that the stand-in program touches.
const heldBytes = 96 << 20

func TestUsageOf(t *testing.T) {
	ru := syscall.Rusage{
		Utime:  syscall.Timeval{Sec: 1, Usec: 250_000},
		Stime:  syscall.Timeval{Sec: 0, Usec: 31},
		Maxrss: 305 * 1024,
	}
	got := usageOf(2*time.Second, &ru)
	want := usage{Wall: 2 * time.Second, User: 1250 * time.Millisecond, Sys: 31 * time.Microsecond, PeakRSS: 305 << 20}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
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

func shell(script string) []string { return []string{"/bin/sh", "-c", script} }

func TestMeasureExit(t *testing.T) {
	for _, c := range []struct {
		name, script string
		want         string
	}{
		{"clean", "exit 0", ""},
		{"findings", "exit 1", ""},
		{"cannot work", "exit 3", "exit status 3"},
		{"killed", "kill -9 $$", "signal: killed"},
	} {
		s, err := program{argv: shell(c.script), okExits: []int{0, 1}}.measure(context.Background(), time.Minute)
		if err != nil || s.Failure != c.want || s.TimedOut {
			t.Errorf("%s: failure %q (timed out %v, error %v), want %q", c.name, s.Failure, s.TimedOut, err, c.want)
		}
	}
}

func TestMeasureLimitStopsTheWholeGroup(t *testing.T) {
	// The shell waits for a child; a kill of the shell alone would leave it.
	start := time.Now()
	s, err := program{argv: shell("sleep 60; true"), okExits: []int{0}}.measure(context.Background(), 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if !s.TimedOut || s.Failure != "stopped after 50ms" {
		t.Errorf("got %+v", s)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("stopped after %v only", took)
	}
}

func TestMeasureOutput(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	script := "echo one; echo two >&2"
	if _, err := (program{argv: shell(script), okExits: []int{0}, out: out}).measure(context.Background(), time.Minute); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(out); err != nil || string(got) != "one\ntwo\n" {
		t.Errorf("file holds %q, error %v", got, err)
	}
}

func TestMeasureErrors(t *testing.T) {
	if _, err := (program{argv: []string{"/nowhere/tool"}}).measure(context.Background(), time.Minute); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing program: error %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := (program{argv: shell("sleep 60")}).measure(ctx, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: error %v", err)
	}
}

func TestRoundsInterleave(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	shellEntry := func(name, script string) *entry {
		return &entry{label: name, program: program{argv: shell("printf " + name + " >>" + log + ";" + script), okExits: []int{0}}}
	}
	a, slow, bad, b := shellEntry("a", ""), shellEntry("s", "exec sleep 60"), shellEntry("x", "exit 9"), shellEntry("b", "")
	if err := rounds(context.Background(), []*entry{a, slow, bad, b}, 3, 300*time.Millisecond, io.Discard); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(log); err != nil || string(got) != "asxbabab" {
		t.Errorf("order %q, error %v, want asxbabab: what fails or is too slow is not run again", got, err)
	}
	if a.failure != "" || len(a.samples) != 3 {
		t.Errorf("a: %+v", a)
	}
	if !slow.samples[0].TimedOut {
		t.Errorf("slow: %+v", slow)
	}
	if bad.samples[0].TimedOut || !strings.Contains(bad.failure, "exit status 9") {
		t.Errorf("bad: %+v", bad)
	}
}
