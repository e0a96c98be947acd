// Command sitelink keeps the links of a static site alive.
//
// Only this package reads flags and the environment, prints, and exits. Each
// command is in a file of its own, which turns flags into options, calls the
// packages that do the work, and prints the result. The rules of what is printed
// where are at the top of output.go.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/docs"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// reserve has 16 MB as soon as a site is loaded. They count as live heap, so that the
// garbage collector does not run at two, three and four megabytes meanwhile. Nothing ever
// touches it, so it uses no memory. On rust-doc, a check takes 5 % more processor time
// without it. Commands that load no site start 3 ms sooner without it.
var reserve []byte

// The runtime would sample every large block, with its stack, for a profile of memory
// that a user cannot ask for (1 % of a check of rust-doc).
func init() { runtime.MemProfileRate = 0 }

func main() {
	os.Exit(mainCode())
}

// mainCode returns the exit code of the process, after its deferred functions.
func mainCode() int {
	// A reader that closes the pipe (sitelink check | head) must not kill the
	// process: the write fails with EPIPE, which [stream] handles, and the exit
	// code still reports findings.
	signal.Ignore(syscall.SIGPIPE)
	// net/http logs what hosts send out of turn, which says nothing to users.
	log.SetOutput(io.Discard)

	// The first signal cancels the work and restores the default behaviour, so
	// that a second one ends the process at once. Work that does not look at the context,
	// or waits for another program, is cut off within the same second. What is written
	// must bear that, as it must bear kill -9.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	release := context.AfterFunc(ctx, func() {
		stop()
		time.Sleep(700 * time.Millisecond)
		system.EndCommands(100 * time.Millisecond)
		os.Exit(exitInterrupted)
	})
	defer release() // before stop, which ends the context as a signal does

	defer func() { runtime.KeepAlive(reserve) }()
	return run(ctx, os.Args[1:], env{
		Stdin:     os.Stdin,
		Stdout:    os.Stdout,
		Stderr:    os.Stderr,
		StdinTTY:  isTerminal(os.Stdin),
		StdoutTTY: isTerminal(os.Stdout),
		StderrTTY: isTerminal(os.Stderr),
		Getenv:    os.Getenv,
	})
}

// env is the environment of the process. Tests provide their own.
type env struct {
	// Stdin is nil if there is no standard input.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// StdinTTY, StdoutTTY and StderrTTY report whether these are terminals.
	StdinTTY, StdoutTTY, StderrTTY bool

	Getenv func(string) string
}

// Exit codes. Scripts depend on them; see help.txt.
const (
	exitClean       = 0
	exitFindings    = 1
	exitUsage       = 2
	exitFailed      = 3
	exitNotices     = 4
	exitInterrupted = 130
)

// errFindings ends a run that finished and found something.
var errFindings = errors.New("findings")

// errNotices ends a run that finished, although some notices failed.
var errNotices = errors.New("notices failed")

// run executes one command line and returns the exit code. It never exits the
// process, so that deferred functions run and tests can call it repeatedly.
func run(ctx context.Context, args []string, e env) int {
	u := newUI(e)
	c := &cli{env: e, ui: u, printed: map[string]bool{}, endless: &atomic.Bool{}}
	// Confirm a signal at once: the work may need a moment to notice it.
	confirmed := make(chan struct{})
	release := context.AfterFunc(ctx, func() {
		defer close(confirmed)
		if c.endless.Load() {
			u.line("note: stopping")
			return
		}
		u.line("interrupted")
	})

	err := execute(ctx, args, c)
	for _, end := range c.atEnd {
		end()
	}
	if !release() {
		<-confirmed
		if !c.endless.Load() {
			return exitInterrupted
		}
	}
	return u.report(err)
}

func execute(ctx context.Context, args []string, c *cli) error {
	root := rootCommand(c)
	root.SetArgs(args)
	c.shortHelp = asksForShortHelp(args)
	// Look up the command before parsing flags: otherwise the flags of a
	// misspelled command would be reported as unknown instead of its name.
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		completeValues(root)
	} else if err := findCommand(root, args); err != nil {
		return err
	}
	return root.ExecuteContext(ctx)
}

// listsCommands is the end of the hint about a command that does not exist and resembles none.
const listsCommands = " --help lists the commands"

// findCommand returns an error if args name a command that does not exist.
func findCommand(root *cobra.Command, args []string) error {
	found, rest, err := root.Find(args)
	if err == nil && found.Name() == "help" && len(rest) > 0 {
		if _, ok := docs.Page(rest[0]); ok {
			return nil
		}
		err := findCommand(root, rest)
		if hint, _ := text.Hint(err); strings.HasSuffix(hint, listsCommands) {
			err = text.Usage(fmt.Sprintf("no command or page of the manual is named %q", rest[0]), hint+", sitelink help manual the pages")
		}
		return err
	}
	if err != nil {
		found, rest = root, args
	}
	name := commandName(rest)
	if name == "" || !found.HasSubCommands() || found.Args != nil || found != root && (slices.Contains(rest, "--help") || slices.Contains(rest, "-h")) {
		return nil
	}
	prefix := strings.TrimPrefix(found.CommandPath()+" ", root.Name()+" ")
	var names []string
	for _, c := range found.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, prefix+c.Name())
		}
	}
	if slices.Contains(names, name) { // cobra took it for the value of an unknown flag
		others := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == name })
		return text.Usage("flags come after the command", "write sitelink "+name+" "+strings.Join(others, " "))
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() && found == root {
		return text.Usage(fmt.Sprintf("%s is a directory, not a command", visible(name)), "sitelink check "+visible(name)+" checks the links of a built site")
	}
	return text.Usage(fmt.Sprintf("unknown command %q", prefix+name),
		cmp.Or(config.DidYouMean(prefix+name, names), found.CommandPath()+listsCommands))
}

// withCommands completes a command that does nothing by itself, only through its
// subcommands.
func withCommands(cmd *cobra.Command, subcommands ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(subcommands...)
	var names []string
	for _, c := range subcommands {
		names = append(names, c.Name())
	}
	cmd.RunE = func(*cobra.Command, []string) error {
		return text.Usage(cmd.Name()+" needs a command", "commands are "+strings.Join(names, ", "))
	}
	return cmd
}

// commandName returns the first argument that is not a flag.
func commandName(args []string) string {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			return arg
		}
	}
	return ""
}

func rootCommand(c *cli) *cobra.Command {
	root := &cobra.Command{
		Use:               "sitelink",
		Version:           versionLine(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		RunE:              func(cmd *cobra.Command, _ []string) error { return overview(c, cmd) },
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetOut(c.env.Stdout)
	root.SetErr(c.env.Stderr)
	root.SetVersionTemplate("sitelink {{.Version}}\n")
	root.InitDefaultVersionFlag()
	root.Flags().Lookup("version").Usage = "print the version"
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		checkCommand(c), watchCommand(c), lspCommand(c), fixCommand(c), initCommand(c), doctorCommand(c),
		externalCommand(c), explainCommand(c), linksCommand(c), mvCommand(c), verifyCommand(c),
		notifyCommand(c), deployCommand(c), ledgerCommand(c),
		serveCommand(c), mentionsCommand(c),
		baselineCommand(c), profileCommand(c), hookCommand(c), injectCommand(c),
		versionCommand(c), completionCommand(c), manCommand(c),
	)
	describe(root)
	completeFlags(root)
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Short = "describe a command, or print a page of the manual"
		describeCommand := help.Run
		help.Run = func(cmd *cobra.Command, args []string) {
			name := strings.Join(args, " ")
			if _, _, err := root.Find(args); err == nil && !strings.Contains(name, "/") {
				describeCommand(cmd, args)
			} else if page, ok := docs.Page(name); ok {
				fmt.Fprint(c.env.Stdout, page)
			}
		}
	}
	c.setHelp(root)
	return root
}

// noArguments refuses all arguments.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return text.Usage(fmt.Sprintf("%s takes no arguments, but got %q", cmd.Name(), args[0]), cmd.CommandPath()+" -h shows how to call it")
	}
	return nil
}
