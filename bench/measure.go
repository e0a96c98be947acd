package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// usage is what one run of a program took.
type usage struct {
	Wall      time.Duration
	User, Sys time.Duration // of the program and the children it waited for
	// PeakRSS is in bytes. Linux starts the count of a new program with the
	// peak of the one that started it (a parent of 300 MiB makes it 300 MiB for
	// /bin/true), so a value close to the bench's own means "no more than that".
	PeakRSS int64
}

func usageOf(wall time.Duration, ru *syscall.Rusage) usage {
	return usage{
		Wall: wall,
		User: time.Duration(ru.Utime.Nano()),
		Sys:  time.Duration(ru.Stime.Nano()),
		// ru_maxrss is in KiB, getrusage(2).
		PeakRSS: ru.Maxrss * 1024,
	}
}

// sample is the result of one run. Failure says in a few words why the
// figures cannot be used; it is empty for a valid run.
type sample struct {
	usage
	Failure  string
	TimedOut bool
}

// program is one command line to measure.
type program struct {
	argv    []string
	dir     string // working directory, away from any configuration
	okExits []int  // exits that mean "did its work"
	// out names the file that takes standard output and error together; empty
	// for the null device.
	out string
}

// measure runs p once, at most limit long. The error is for a machine that
// cannot run p at all, or for ctx; a program that fails gives a sample.
func (p program) measure(ctx context.Context, limit time.Duration) (sample, error) {
	runCtx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(runCtx, p.argv[0], p.argv[1:]...)
	cmd.Dir = p.dir
	// A group of its own, so that a stop reaches the program's children too.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

	var s sample
	if p.out != "" {
		f, err := os.Create(p.out)
		if err != nil {
			return s, fmt.Errorf("keep output: %w", err)
		}
		defer f.Close()
		cmd.Stdout, cmd.Stderr = f, f
	}

	start := time.Now()
	if err := cmd.Start(); err != nil {
		return s, fmt.Errorf("start %s: %w", p.argv[0], err)
	}
	err := cmd.Wait()
	wall := time.Since(start)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && runCtx.Err() == nil {
		return s, fmt.Errorf("run %s: %w", p.argv[0], err)
	}
	if ctx.Err() != nil {
		return s, ctx.Err()
	}
	if ru, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.usage = usageOf(wall, ru)
	}
	switch {
	case runCtx.Err() != nil:
		s.TimedOut = true
		s.Failure = fmt.Sprintf("stopped after %v", limit)
	case !slices.Contains(p.okExits, cmd.ProcessState.ExitCode()):
		s.Failure = cmd.ProcessState.String()
	}
	return s, nil
}

// entry is one row of a comparison and the samples taken for it.
type entry struct {
	label   string
	program program
	samples []sample
	failure string
}

// rounds runs the entries A B C A B C ..., so that whatever else the machine
// does falls on all of them. An entry that fails or exceeds limit is not run
// again.
func rounds(ctx context.Context, entries []*entry, runs int, limit time.Duration, progress io.Writer) error {
	for round := range runs {
		for _, e := range entries {
			if e.failure != "" {
				continue
			}
			s, err := e.program.measure(ctx, limit)
			if err != nil {
				return err
			}
			fmt.Fprintf(progress, "round %d/%d: %-34s %8.3fs %s\n", round+1, runs, e.label, s.Wall.Seconds(), s.Failure)
			e.failure = s.Failure
			e.samples = append(e.samples, s)
		}
	}
	return nil
}

// median returns the middle value of the samples, the lower one of two.
func (e *entry) median(of func(sample) time.Duration) time.Duration {
	list := make([]time.Duration, len(e.samples))
	for i, s := range e.samples {
		list[i] = of(s)
	}
	slices.Sort(list)
	return list[(len(list)-1)/2]
}

func (e *entry) wall() time.Duration { return e.median(func(s sample) time.Duration { return s.Wall }) }
func (e *entry) cpu() time.Duration {
	return e.median(func(s sample) time.Duration { return s.User + s.Sys })
}

func (e *entry) peakMiB() float64 {
	peak := int64(0)
	for _, s := range e.samples {
		peak = max(peak, s.PeakRSS)
	}
	return float64(peak) / (1 << 20)
}
