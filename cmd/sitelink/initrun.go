package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/setup"
)

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

// undoInit does the work of `sitelink init --undo`.
func undoInit(ctx context.Context, c *cli, flags initFlags) error {
	r, err := newInit(ctx, c, flags)
	if err != nil {
		return err
	}
	left, err := r.Undo(ctx)
	if err == nil && left {
		err = errFindings
	}
	return err
}

func newInit(ctx context.Context, c *cli, flags initFlags) (*setup.Init, error) {
	dir, err := workingDir()
	if err != nil {
		return nil, err
	}
	survey, err := setup.Look(ctx, dir, setup.Options{Env: os.Environ(), Version: versionNumber()})
	if err != nil {
		return nil, err
	}
	r := &setup.Init{Survey: survey, Hook: flags.hook, Inject: flags.inject, DryRun: flags.dryRun, Print: c.print}
	for _, name := range flags.ci {
		s, err := serverNamed(name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(r.Servers, func(w setup.Server) bool { return w.Name == s.Name }) {
			r.Servers = append(r.Servers, s)
		}
	}
	r.InjectTemplates = func(cfg *config.Config, dir string, undo, dryRun bool) error {
		return injectTemplates(c, cfg, dir, injectFlags{undo: undo, dryRun: dryRun})
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
			return "", fault.New(errNoAnswer, "nothing was written; sitelink init --yes asks nothing")
		}
		return t.text, nil
	}
}
