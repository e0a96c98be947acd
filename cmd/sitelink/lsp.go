package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/run/commits"
	"github.com/sitelink/sitelink/internal/run/lsp"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

func lspCommand(c *cli) *cobra.Command {
	var build, stdio bool
	cmd := &cobra.Command{
		Use:               "lsp",
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runLSP(cmd.Context(), c, cmd.Flag("config").Value.String(), build)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&build, "build", false, "build the site after each save; this runs what the project names")
	addConfigFlag(cmd)
	flags.BoolVar(&stdio, "stdio", false, "talk over standard input and output, as always")
	flags.MarkHidden("stdio") // some editors add it
	return cmd
}

// runLSP does the work of `sitelink lsp`.
func runLSP(ctx context.Context, c *cli, file string, build bool) error {
	if c.env.StdinTTY {
		c.ui.note("an editor starts this command; sitelink help editors describes how")
	}
	loading := func(bool) {}
	if c.env.Getenv("GOGC") == "" {
		loading = collectMore
	}
	c.markdown = true
	find := func(ctx context.Context, dir string) (*project.Project, error) {
		cfg, err := c.loadConfig(config.Input{Dir: dir, File: file})
		if err != nil {
			return nil, err
		}
		return c.findIn(ctx, dir, cfg)
	}
	return lsp.Serve(ctx, c.env.Stdin, c.env.Stdout, lsp.Options{
		Version: versionLine(), MayBuild: build, Log: c.ui.line, Find: find, Build: c.buildForEditor, Loading: loading,
		Replacements: c.replacements, Env: os.Environ(),
		Open: func(ctx context.Context, dir, docroot string) (*audit.Audit, error) {
			p, err := find(ctx, dir)
			if err != nil {
				return nil, err
			}
			opt := audit.Options{Baseline: true, Sources: true, Today: c.today, Warn: c.ui.warning}
			if docroot != "" {
				opt.Docroot = p.Show(docroot)
			}
			if recorded(p) {
				record, err := commits.Record(ctx, p, c.commitOptions())
				if err != nil {
					return nil, err
				}
				if record != nil {
					opt.Since = &audit.Since{Record: record}
				}
			}
			return audit.Open(ctx, p, opt)
		},
	})
}

// recorded reports whether what the site answered before is written down. The
// configuration may also name a commit, which the server does not build.
func recorded(p *project.Project) bool {
	if p.Config.Gone == "off" {
		return false
	}
	_, err := os.Stat(p.Abs(p.Config.Since))
	return p.Config.Since == "" || err == nil
}

// collectMore says how far the heap may grow before garbage is collected. While a site
// is read again, two are in memory: a tenth keeps that below twice the memory of a
// check. Otherwise, collecting less often makes answers faster.
func collectMore(loading bool) {
	if loading {
		debug.SetGCPercent(10)
		return
	}
	debug.SetGCPercent(40)
}

// buildForEditor builds a project as `sitelink check --build` does, and returns the docroot.
func (c *cli) buildForEditor(ctx context.Context, p *project.Project) (docroot string, err error) {
	b, err := lockedBuild(ctx, c, p, false, nil)
	if err != nil {
		return "", err
	}
	defer b.Close()
	return b.Docroot, inEditor(b.Generate(ctx, c.env.Stderr), p.Generator.Title())
}

// inEditor returns the error of a build for a user who does not see the output of the
// generator: with the last line of it.
func inEditor(err error, generator string) error {
	var failed *system.CommandError
	if !errors.As(err, &failed) {
		return err
	}
	hint := "run " + failed.Command + " to see why"
	for _, line := range slices.Backward(failed.Output) {
		if line = strings.TrimSpace(line); line != "" {
			hint = "fix what " + generator + " reports: " + line + " (the log of the language server has all of it)"
			break
		}
	}
	return text.WithHint(fmt.Errorf("the build failed: %w", failed), hint)
}
