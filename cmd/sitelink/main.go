// Command sitelink keeps a static site's links alive.
//
// This package is the only place that reads flags and the environment, prints
// and exits. The work is done by the packages it wires together; the rules of
// what is printed where stand in ui.go.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/fault"
)

// env is the environment of the process. Tests provide their own.
type env struct {
	// Stdin is nil if there is no standard input.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// StdinTTY, StdoutTTY and StderrTTY report whether these are terminals.
	StdinTTY, StdoutTTY, StderrTTY bool

	Getenv func(string) string
}

// Exit codes. Scripts depend on them; see exitCodes in check.go.
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
	// Confirm a signal at once: the work may need a moment to notice it.
	confirmed := make(chan struct{})
	release := context.AfterFunc(ctx, func() {
		defer close(confirmed)
		u.line("interrupted")
	})

	err := execute(ctx, args, &cli{env: e, ui: u, printed: map[string]bool{}})
	if !release() {
		<-confirmed
		return exitInterrupted
	}
	return u.report(err)
}

func execute(ctx context.Context, args []string, c *cli) error {
	root := rootCommand(c)
	root.SetArgs(args)
	c.shortHelp = asksForShortHelp(args)
	// Look up the command before parsing flags: otherwise the flags of a
	// misspelled command would be reported as unknown instead of its name.
	if len(args) == 0 || !strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		if err := findCommand(root, args); err != nil {
			return err
		}
	}
	return root.ExecuteContext(ctx)
}

// findCommand returns an error if args name a command that does not exist.
func findCommand(root *cobra.Command, args []string) error {
	found, rest, err := root.Find(args)
	if err == nil && found.Name() == "help" && len(rest) > 0 {
		return findCommand(root, rest)
	}
	if err != nil {
		found, rest = root, args
	}
	name := commandName(rest)
	if name == "" || !found.HasSubCommands() {
		return nil
	}
	prefix := strings.TrimPrefix(found.CommandPath()+" ", root.Name()+" ")
	var names []string
	for _, c := range found.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, prefix+c.Name())
		}
	}
	return fault.Usage(fmt.Sprintf("unknown command %q", prefix+name),
		cmp.Or(config.DidYouMean(prefix+name, names), found.CommandPath()+" --help lists the commands"))
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
		return fault.Usage(cmd.Name()+" needs a command", "write one of "+config.OneOf(names))
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
		Use:   "sitelink",
		Short: "keep the links of a static site alive",
		Long: "sitelink checks the links of a static site before you publish it: every page, file,\n" +
			"fragment and image map that a link names, answered as your host will answer. After a\n" +
			"deploy it notifies the sites that you link to.",
		Example: "  # check the site that your generator has built, or build and check it\n" +
			"  sitelink check\n  sitelink build\n\n" +
			"  # check while you write\n  sitelink watch\n\n" +
			"  # set up a project: configuration, git hook, CI\n  sitelink init",
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
		checkCommand(c), buildCommand(c), watchCommand(c), initCommand(c), doctorCommand(c),
		explainCommand(c), linksCommand(c),
		diffCommand(c), notifyCommand(c), deployCommand(c), ledgerCommand(c),
		baselineCommand(c), profileCommand(c), hookCommand(c), injectCommand(c),
		versionCommand(c), completionCommand(c), manCommand(c),
	)
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Short = "describe a command"
	}
	c.setHelp(root)
	return root
}

// noArguments refuses all arguments.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fault.Usage(fmt.Sprintf("%s takes no arguments, but got %q", cmd.Name(), args[0]), cmd.CommandPath()+" -h shows how to call it")
	}
	return nil
}

func main() {
	os.Exit(mainCode())
}

// mainCode is main with an exit code, so that what it defers runs.
func mainCode() int {
	// A reader that goes away (sitelink check | head) shall not kill the
	// process: the write fails with EPIPE, which [stream] knows, and the exit
	// code still tells about the findings.
	signal.Ignore(syscall.SIGPIPE)

	// The first signal cancels the work. Then the default is restored, so that
	// a second one ends the process at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

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

// version is set by the linker in releases: -ldflags "-X main.version=1.2.3".
var version string

func versionCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print the version, the commit and the Go version",
		Example: "  sitelink version",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			return c.print("sitelink " + versionLine() + "\n")
		},
	}
}

// versionNumber returns the version alone, or "" if the binary does not know it.
func versionNumber() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return ""
}

// versionLine returns "1.2.3 (commit 0123456789ab, go1.26.0 linux/amd64)",
// without the parts that the binary does not know.
func versionLine() string {
	v, commit := versionNumber(), ""
	if info, ok := debug.ReadBuildInfo(); ok {
		commit = commitOf(info)
	}
	if v == "" {
		v = "devel"
	}
	if commit != "" {
		commit = "commit " + commit + ", "
	}
	return fmt.Sprintf("%s (%s%s %s/%s)", v, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// commitOf returns the revision that the binary was built from, with a + if the
// working tree had changes.
func commitOf(info *debug.BuildInfo) string {
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + modified
}
