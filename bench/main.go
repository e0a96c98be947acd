// Command bench measures sitelink against its peers and against the bare
// reading of the same files, and keeps the results in results/.
//
// It runs on Linux: the corpora are Debian packages, and CPU time and peak
// memory come from wait4. It writes only to the cache directory (-cache), the
// temporary directory and the results directory.
//
//	go run . all              corpora, peers, compare
//	go run . compare -corpus rust-doc -runs 3
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// command is one subcommand. run gets the arguments after its name.
type command struct {
	name, short string
	run         func(ctx context.Context, args []string, out io.Writer) error
}

func commands() []command {
	return []command{
		{"corpora", "fetch and unpack the Debian packages that serve as sites", runCorpora},
		{"peers", "install the other checkers and say their versions", runPeers},
		{"compare", "sitelink, peers and bare reading in one run, with ratios", runCompare},
		{"positions", "break links of a Hugo site and score the places that are reported", runPositions},
		{"external", "links to a loopback web of known truth, against the peers", runExternal},
		{"all", "everything but positions and external, for the corpora with figures to reach", runAll},
		{"read", "only read the files of a docroot (run by compare)", runRead},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0, 2 for wrong usage, 3 when the work could not
// be done, 130 when interrupted.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		for _, c := range commands() {
			if c.name != args[0] {
				continue
			}
			err := c.run(ctx, args[1:], stdout)
			switch {
			case err == nil || errors.Is(err, flag.ErrHelp):
				return 0
			case ctx.Err() != nil:
				fmt.Fprintln(stderr, "bench: interrupted")
				return 130
			case errors.Is(err, errUsage):
				fmt.Fprintf(stderr, "bench: error: %v\n", err)
				return 2
			}
			fmt.Fprintf(stderr, "bench: error: %v\n", err)
			return 3
		}
		fmt.Fprintf(stderr, "bench: error: unknown command %q\n", args[0])
	}
	fmt.Fprintln(stderr, "usage: go run . COMMAND [flags]   (-h after a command lists its flags)")
	for _, c := range commands() {
		fmt.Fprintf(stderr, "  %-10s %s\n", c.name, c.short)
	}
	return 2
}

var errUsage = errors.New("wrong usage")

// settings are the flags that several commands share.
type settings struct {
	cache    string        // corpora and built binaries
	repo     string        // the checkout whose sitelink is measured
	sitelink string        // a built sitelink; empty means build it from repo
	results  string        // where results are kept; empty means print only
	date     string        // names the result files
	runs     int           // rounds of the interleaved runs
	limit    time.Duration // a program that runs longer is stopped and left out
	corpora  string        // comma-separated names
}

// parse reads the flags of command name into s. more adds the command's own.
func (s *settings) parse(name string, args []string, more func(*flag.FlagSet)) error {
	fs := flag.NewFlagSet("bench "+name, flag.ContinueOnError)
	fs.StringVar(&s.cache, "cache", defaultCache(), "`directory` for corpora and built binaries")
	fs.StringVar(&s.repo, "repo", "..", "sitelink checkout to build")
	fs.StringVar(&s.sitelink, "sitelink", "", "sitelink `binary` to measure instead of building one")
	fs.StringVar(&s.results, "results", "results", "`directory` of the result files; empty: print only")
	fs.StringVar(&s.date, "date", time.Now().Format(time.DateOnly), "date in the names of result files")
	fs.IntVar(&s.runs, "runs", 3, "rounds; in each, every program runs once")
	fs.DurationVar(&s.limit, "limit", 3*time.Minute, "stop a program after this time and leave it out")
	fs.StringVar(&s.corpora, "corpus", "rust-doc,openjdk-17-doc,python3.11-doc", "corpora, comma-separated")
	if more != nil {
		more(fs)
	}
	fs.SetOutput(io.Discard) // errors are printed once, by run
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fs.SetOutput(os.Stdout)
			fmt.Printf("usage: go run . %s [flags]\n", name)
			fs.PrintDefaults()
			return err
		}
		return fmt.Errorf("%w: %v", errUsage, err)
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("%w: unexpected argument %q", errUsage, fs.Arg(0))
	}
	if s.runs < 1 {
		return fmt.Errorf("%w: -runs must be at least 1", errUsage)
	}
	var err error
	if s.cache, err = filepath.Abs(s.cache); err != nil {
		return fmt.Errorf("find cache directory: %w", err)
	}
	return nil
}

func (s *settings) chosen() ([]corpus, error) {
	var list []corpus
	for name := range strings.SplitSeq(s.corpora, ",") {
		c, ok := corpusByName(strings.TrimSpace(name))
		if !ok {
			return nil, fmt.Errorf("%w: no corpus %q", errUsage, name)
		}
		list = append(list, c)
	}
	return list, nil
}

func defaultCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "sitelink-bench")
}

// runAll does what a release needs: one command, all results.
func runAll(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	if err := s.parse("all", args, nil); err != nil {
		return err
	}
	for _, name := range []string{"corpora", "peers", "compare"} {
		fmt.Fprintf(out, "== %s\n", name)
		for _, c := range commands() {
			if c.name == name {
				if err := c.run(ctx, args, out); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
