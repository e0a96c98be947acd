// Command bench measures sitelink beside other link checkers, in one run, and
// prints a table. It runs on Linux: processor time and peak memory come from wait4.
//
//	go run . compare -runs 5 DOCROOT     internal links, beside the bare reading of the files
//	go run . external                    links to a loopback web of known truth
//	go run . document                    writes docs/design/measurements.md from the results
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

var errUsage = errors.New("wrong usage")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0, 2 for wrong usage, 3 when the work could not be
// done, 130 when interrupted.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var name string
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	err := fmt.Errorf("%w: go run . compare [flags] DOCROOT, go run . external [flags], or go run . document [-check]; -h lists the flags", errUsage)
	switch name {
	case "compare":
		err = runCompare(ctx, args, stdout, stderr)
	case "external":
		err = runExternal(ctx, args, stdout, stderr)
	case "document":
		err = runDocument(args, stdout)
	case "read": // what compare starts as a process of its own
		err = runRead(args, stdout)
	}
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "bench: interrupted")
		return 130
	}
	fmt.Fprintf(stderr, "bench: error: %v\n", err)
	if errors.Is(err, errUsage) {
		return 2
	}
	return 3
}

// settings are the flags that both commands have.
type settings struct {
	*flag.FlagSet
	sitelink string        // a built sitelink; empty means build it from the checkout
	runs     int           // rounds; in each, every program runs once
	limit    time.Duration // a program that runs longer is stopped and left out
}

func newSettings(name string, stderr io.Writer) *settings {
	s := &settings{FlagSet: flag.NewFlagSet("bench "+name, flag.ContinueOnError)}
	s.SetOutput(stderr)
	s.StringVar(&s.sitelink, "sitelink", "", "sitelink `binary` to measure instead of building one")
	s.IntVar(&s.runs, "runs", 3, "rounds; in each, every program runs once")
	s.DurationVar(&s.limit, "limit", 3*time.Minute, "stop a program after this time and leave it out")
	return s
}

// parse parses the flags, and wants as many other arguments.
func (s *settings) parse(args []string, want int) error {
	if err := s.Parse(args); errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil || s.NArg() != want || s.runs < 1 {
		return fmt.Errorf("%w: want %d arguments, and -runs of at least 1", errUsage, want)
	}
	return nil
}

// begin makes a directory for the run, finds or builds sitelink, and prints what the
// figures depend on besides the programs.
func (s *settings) begin(ctx context.Context, out io.Writer) (dir, sitelink string, err error) {
	if dir, err = os.MkdirTemp("", "sitelink-bench-"); err != nil {
		return "", "", fmt.Errorf("make a scratch directory: %w", err)
	}
	commit := ""
	if sitelink = s.sitelink; sitelink == "" {
		sitelink = filepath.Join(dir, "sitelink")
		if text, err := exec.CommandContext(ctx, "go", "build", "-C", "..", "-trimpath", "-o", sitelink, "./cmd/sitelink").CombinedOutput(); err != nil {
			return dir, "", fmt.Errorf("build sitelink: %w\n%s", err, text)
		}
		commit = ", commit " + firstLine(ctx, "git", "describe", "--always", "--dirty")
	}
	if sitelink, err = filepath.Abs(sitelink); err != nil {
		return dir, "", err
	}
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Fprintf(out, "date      %s\nmachine   %d processors, %s, bench built with %s\nload      %s at the start (1, 5, 15 minutes)\nsitelink  %s%s\n",
		time.Now().Format(time.DateOnly), runtime.NumCPU(), firstLine(ctx, "uname", "-sr"), runtime.Version(),
		strings.Join(strings.Fields(string(load))[:3], " "), firstLine(ctx, sitelink, "version"), commit)
	return dir, sitelink, nil
}

// firstLine returns what a program says about itself, or why it does not.
func firstLine(ctx context.Context, argv ...string) string {
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).Output()
	if err != nil && len(out) == 0 {
		return err.Error()
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}

// table prints rows below a title; cells are separated by tabs.
func table(out io.Writer, title string, rows []string) {
	fmt.Fprintf(out, "\n%s\n%s\n", title, strings.Repeat("=", len(title)))
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(t, row)
	}
	t.Flush()
}
