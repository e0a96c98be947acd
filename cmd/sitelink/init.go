package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/run/setup"
	"github.com/sitelink/sitelink/internal/text"
)

// initFlags are the flags of init.
type initFlags struct {
	ci                                          []string
	hook, baseline, mentions, yes, dryRun, undo bool
}

func initCommand(c *cli) *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:               "init",
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			if f.undo {
				ctx := cmd.Context()
				r, err := newInit(ctx, c, f)
				if err != nil {
					return err
				}
				left, err := r.Undo(ctx)
				if err == nil && left {
					err = errFindings
				}
				return err
			}
			return runInit(cmd.Context(), c, f, func() (*config.Config, error) { return c.configure(cmd, nil) })
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.hook, "hook", false, "install a git hook that checks each push, through your hook manager if you use one")
	flags.BoolVar(&f.baseline, "baseline", false, "accept the findings of the built site in a baseline, so that only new ones are reported")
	flags.StringSliceVar(&f.ci, "ci", nil, "write the file that makes the CI `SERVER` check the site, or print what to add: "+config.OneOf(serverNames())+"; repeatable")
	flags.BoolVar(&f.mentions, "mentions", false, "write the Hugo partial that shows links from other sites, and print what else to do to receive and show them")
	flags.BoolVar(&f.yes, "yes", false, "ask nothing; do what the flags say")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print what init would do, and change nothing")
	flags.BoolVar(&f.undo, "undo", false, "remove what init wrote")
	flags.SetAnnotation("ci", wordsAnnotation, serverNames())
	return cmd
}

// check refuses flags that contradict each other, and unknown servers.
func (f *initFlags) check(cmd *cobra.Command) error {
	if f.undo {
		for _, name := range []string{"hook", "baseline", "ci", "mentions", "yes"} {
			if cmd.Flags().Changed(name) {
				return text.Usage("--undo and --"+name+" contradict each other", "--undo removes everything that init wrote")
			}
		}
	}
	for _, name := range f.ci {
		if _, err := serverNamed(name); err != nil {
			return err
		}
	}
	return nil
}

func serverNames() (names []string) {
	for _, s := range setup.Servers() {
		names = append(names, s.Name)
	}
	return names
}

func serverNamed(name string) (setup.Server, error) {
	if s, ok := setup.ServerNamed(name); ok {
		return s, nil
	}
	return setup.Server{}, text.Usage(fmt.Sprintf("--ci: must be %s, not %q", config.OneOf(serverNames()), name),
		cmp.Or(config.DidYouMean(name, serverNames()), "sitelink help ci explains how to check on other servers"))
}

// runInit does the work of `sitelink init`.
func runInit(ctx context.Context, c *cli, flags initFlags, configure func() (*config.Config, error)) error {
	r, err := newInit(ctx, c, flags)
	if err != nil {
		return err
	}
	r.Configure = configure
	if !flags.yes && !flags.dryRun && c.env.StdinTTY && c.env.StderrTTY {
		r.Ask = newAsker(c)
	}
	return r.Run(ctx)
}

func newInit(ctx context.Context, c *cli, flags initFlags) (*setup.Init, error) {
	dir, err := workingDir()
	if err != nil {
		return nil, err
	}
	survey, err := setup.Look(ctx, dir, setup.Options{Env: os.Environ(), Untrusted: true, Version: versionNumber()})
	if err != nil {
		return nil, err
	}
	r := &setup.Init{Survey: survey, Hook: flags.hook, Baseline: flags.baseline, Mentions: flags.mentions, DryRun: flags.dryRun, Path: c.env.Getenv("PATH"), Print: c.print}
	r.Findings = func(ctx context.Context, cfg *config.Config) ([]check.Finding, error) {
		if survey.Generator == nil && cfg.Docroot == "" {
			cfg.Docroot = survey.Site
		}
		return c.builtFindings(ctx, dir, cfg)
	}
	for _, name := range flags.ci {
		s, err := serverNamed(name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(r.Servers, func(w setup.Server) bool { return w.Name == s.Name }) {
			r.Servers = append(r.Servers, s)
		}
	}
	return r, nil
}

// errNoAnswer means that standard input ended at a question.
var errNoAnswer = errors.New("no answer")

// newAsker returns a function that puts a question to the terminal.
func newAsker(c *cli) func(ctx context.Context, question string) (bool, error) {
	in := bufio.NewReader(c.env.Stdin)
	return func(ctx context.Context, question string) (bool, error) {
		for range 3 {
			fmt.Fprintf(c.env.Stderr, "%s [y/N] ", visible(question))
			text, err := readLine(ctx, in)
			if err != nil {
				if errors.Is(err, errNoAnswer) {
					fmt.Fprintln(c.env.Stderr)
				}
				return false, err
			}
			switch strings.ToLower(strings.TrimSpace(text)) {
			case "y", "yes":
				return true, nil
			case "", "n", "no":
				return false, nil
			}
		}
		return false, nil
	}
}

// readLine reads what the user types. Reading cannot be interrupted, but waiting
// for it can.
func readLine(ctx context.Context, in *bufio.Reader) (string, error) {
	type typed struct {
		text string
		err  error
	}
	got := make(chan typed, 1)
	go func() {
		text, err := in.ReadString('\n')
		got <- typed{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case t := <-got:
		if t.err != nil && t.text == "" {
			return "", text.WithHint(errNoAnswer, "nothing was written; use sitelink init --yes to answer yes to all questions")
		}
		return t.text, nil
	}
}
