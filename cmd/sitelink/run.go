package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/config"
)

// env is what the command has of its surroundings. Tests give their own.
type env struct {
	// Stdin is nil where there is none.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// StdinTTY, StdoutTTY and StderrTTY tell whether these are terminals.
	StdinTTY, StdoutTTY, StderrTTY bool

	Getenv func(string) string
}

// Exit codes. They are a contract, see exitCodes in check.go.
const (
	exitClean       = 0
	exitFindings    = 1
	exitUsage       = 2
	exitFailed      = 3
	exitNotices     = 4
	exitInterrupted = 130
)

// errFindings ends a run that did its work and found something.
var errFindings = errors.New("findings")

// errNotices ends a run that did its work, but could not tell everybody.
var errNotices = errors.New("notices failed")

// usageError is a fault of the command line or of the environment.
type usageError struct{ msg, hint string }

func (e *usageError) Error() string { return e.msg }

// failure is work that could not be done, with advice.
type failure struct {
	err  error
	hint string
}

func (e *failure) Error() string { return e.err.Error() }
func (e *failure) Unwrap() error { return e.err }

// run carries out one command line and returns the exit code. It never exits,
// so that everything deferred runs, and may be called several times.
func run(ctx context.Context, args []string, e env) int {
	u := newUI(e)
	// Said at once, not when the work has ended: it may take a moment until
	// it notices.
	said := make(chan struct{})
	release := context.AfterFunc(ctx, func() {
		defer close(said)
		u.line("interrupted")
	})

	err := execute(ctx, args, &app{env: e, ui: u, printed: map[string]bool{}})
	if !release() {
		<-said
		return exitInterrupted
	}
	return u.report(err)
}

// app is what all commands share.
type app struct {
	env env
	ui  *ui
	// printed are the notes that were printed: each is printed once.
	printed map[string]bool
	// shortHelp is true if the help was asked for by -h, which prints less than
	// --help.
	shortHelp bool
}

func execute(ctx context.Context, args []string, a *app) error {
	root := a.rootCommand()
	root.SetArgs(args)
	a.shortHelp = asksForShortHelp(args)
	// Asked before anything is parsed: the flags of a misspelt command would
	// be called unknown before its name is.
	if len(args) == 0 || !strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		if err := findCommand(root, args); err != nil {
			return err
		}
	}
	return root.ExecuteContext(ctx)
}

func findCommand(root *cobra.Command, args []string) error {
	found, rest, err := root.Find(args)
	if err == nil {
		if found.Name() == "help" && len(rest) > 0 {
			return findCommand(root, rest)
		}
		return nil
	}
	name := commandName(args)
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	hint := "sitelink --help lists the commands"
	if near, ok := config.Nearest(name, names); ok {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return &usageError{fmt.Sprintf("unknown command %q", name), hint}
}

// commandName is the first argument that is no flag.
func commandName(args []string) string {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			return arg
		}
	}
	return ""
}

func (a *app) rootCommand() *cobra.Command {
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
		Version:       versionLine(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(*cobra.Command, []string) error {
			return &usageError{"no command given", "sitelink check DIR checks a built site; sitelink --help lists the commands"}
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetOut(a.env.Stdout)
	root.SetErr(a.env.Stderr)
	root.SetVersionTemplate("sitelink {{.Version}}\n")
	root.InitDefaultVersionFlag()
	root.Flags().Lookup("version").Usage = "print the version"
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		a.checkCommand(), a.buildCommand(), a.watchCommand(), a.initCommand(), a.doctorCommand(),
		a.explainCommand(), a.linksCommand(),
		a.diffCommand(), a.notifyCommand(), a.deployCommand(), a.ledgerCommand(),
		a.baselineCommand(), a.profileCommand(), a.hookCommand(), a.injectCommand(),
		a.versionCommand(), a.completionCommand(), a.manCommand(),
	)
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Short = "describe a command"
	}
	a.setHelp(root)
	return root
}

// noArguments refuses arguments of commands that take none.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &usageError{fmt.Sprintf("%s takes no argument, got %q", cmd.Name(), args[0]), ""}
	}
	return nil
}
