package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/build"
	"github.com/sitelink/sitelink/internal/run/setup"
	"github.com/sitelink/sitelink/internal/text"
)

// runBuild does the work of `sitelink check --build`: it runs the generator, and then the
// check. It returns [errFindings] when there are findings that fail the run.
func runBuild(ctx context.Context, c *cli, cfg *config.Config, strict bool, args []string) error {
	b, err := openBuild(ctx, c, cfg, strict, args)
	if err != nil {
		return err
	}
	defer b.Close()
	p, err := b.Run(ctx, c.env.Stderr)
	if err != nil {
		return err
	}
	if note := b.StaleNote(); note != "" {
		c.ui.note(note)
	}
	c.printNotes(p)
	return checkProject(ctx, c, p, nil)
}

var (
	errNoGenerator  = text.WithHint(errors.New("no known generator in this directory"), "build the site as usual, and name its directory instead of --build")
	errBuildDocroot = text.Usage("--build and --docroot contradict each other: the build chooses the docroot", "leave one of them out")
)

// refuseBuildArgs refuses a directory where build is set, and arguments of the generator where
// it is not.
func refuseBuildArgs(command string, build bool, own, forGenerator []string) error {
	switch {
	case build && len(own) > 0:
		return text.Usage(fmt.Sprintf("--build takes no directory, got %q", own[0]),
			"arguments of the generator follow --: sitelink "+command+" --build -- "+strings.Join(own, " "))
	case !build && len(forGenerator) > 0:
		return text.Usage("only --build runs a generator, with --strict or arguments after --", "add --build")
	}
	return nil
}

// openBuild finds the generator of the working directory and returns its build.
func openBuild(ctx context.Context, c *cli, cfg *config.Config, strict bool, args []string) (*build.Build, error) {
	unnamed := *cfg
	unnamed.Docroot = ""
	p, err := c.findRoot(ctx, &unnamed)
	if err != nil {
		return nil, err
	}
	g := p.Generator
	if g == nil {
		return nil, errNoGenerator
	}
	if flag := g.OutputFlag(args); flag != "" {
		return nil, text.Usage(fmt.Sprintf("%s: --build chooses the output directory itself", flag),
			"to check another: "+g.UsualCommand()+" "+strings.Join(args, " ")+", then sitelink check DIR")
	}
	if flag := g.QuietFlag(args); flag != "" && strict {
		return nil, text.Usage(fmt.Sprintf("%s hides the warnings that --strict needs", flag), "remove one of them")
	}
	if len(args) > 0 { // they may name another address, or another configuration
		g.Configure(args...)
	}
	if warning := g.Title() + ": "; g.Err != nil && ctx.Err() == nil && !c.printed[warning] {
		c.printed[warning] = true // a watch builds often
		c.ui.warning(warning + g.Err.Error())
	}
	return lockedBuild(ctx, c, p, strict, args)
}

// lockedBuild returns the build of a project, once no other runs.
func lockedBuild(ctx context.Context, c *cli, p *project.Project, strict bool, args []string) (*build.Build, error) {
	b, err := build.Open(ctx, p, strict, args, c.ui.note)
	if err == nil {
		b.Install = setup.Install(p)
	}
	return b, err
}
