package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/inject"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/setup"
	"github.com/sitelink/sitelink/templates"
)

// injectTemplates works on the templates of the project in dir, "" for the one that holds
// the working directory.
func injectTemplates(c *cli, cfg *config.Config, dir string, flags injectFlags) error {
	g, err := templatesOf(dir)
	if err != nil {
		return err
	}
	plan, err := setup.PlanTemplates(g, cfg, c.env.Getenv, flags.undo)
	if err != nil {
		return err
	}
	defer plan.Close()
	for _, note := range plan.Notes {
		c.ui.note(note)
	}
	if err := plan.Refused(); err != nil {
		for _, rule := range plan.ServerRules {
			err = errors.Join(err, c.print("# or headers, "+rule.Where+":\n"+rule.Text))
		}
		return err
	}
	switch {
	case flags.dryRun:
		err = c.print(string(plan.Diff()))
	case flags.check && plan.Clean():
		return nil
	case flags.check:
		err = c.print(differing(plan.Plan, plan.Dir))
	default:
		err = plan.Apply()
		if err == nil {
			err = c.print(injected(plan.Plan, plan.Dir, flags.undo))
		}
	}
	if err == nil && flags.check && !plan.Clean() {
		return errFindings
	}
	return err
}

// templatesOf returns the generator's project in dir, or the one that holds the
// working directory when dir is "".
func templatesOf(dir string) (generator.Project, error) {
	if dir != "" {
		return setup.TemplatesOf(dir)
	}
	here, err := workingDir()
	if err != nil {
		return generator.Project{}, err
	}
	if g, ok := project.DetectGenerator(here); ok {
		if rel, err := filepath.Rel(here, g.Dir); err == nil {
			g.Dir = rel
		}
		return g, nil
	}
	return generator.Project{Dir: "."}, nil
}

// injected says what was done, a line a file.
func injected(plan *inject.Plan, dir string, undo bool) string {
	var b strings.Builder
	for _, c := range plan.Changes {
		verb := "changed"
		switch {
		case c.Before == nil:
			verb = "created"
		case c.After == nil:
			verb = "removed"
		}
		fmt.Fprintf(&b, "%s %s", verb, filepath.Join(dir, filepath.FromSlash(c.Path)))
		for _, p := range plan.Places {
			if p.Path == c.Path {
				fmt.Fprintf(&b, ":%d: %s", p.Line, p.How)
			}
		}
		b.WriteByte('\n')
	}
	switch {
	case len(plan.Changes) > 0 && !undo:
		b.WriteString("build the site, and sitelink check tells whether its pages have the elements\n")
	case len(plan.Changes) == 0 && undo:
		b.WriteString("nothing is written in the templates\n")
	case len(plan.Changes) == 0:
		b.WriteString("the templates have the elements already\n")
	}
	return b.String()
}

// differing lists the files that are not as the configuration wants them.
func differing(plan *inject.Plan, dir string) string {
	var b strings.Builder
	for _, c := range plan.Changes {
		what := "differs from the configuration"
		if c.Before == nil {
			what = "is missing"
		} else if c.After == nil {
			what = "is no longer needed"
		}
		fmt.Fprintf(&b, "%s: %s\n", filepath.Join(dir, filepath.FromSlash(c.Path)), what)
	}
	b.WriteString("sitelink inject writes what is missing\n")
	return b.String()
}

// injectPages works on built pages.
func injectPages(ctx context.Context, c *cli, cfg *config.Config, flags injectFlags) error {
	if audit.Endpoints(cfg).IsZero() && !flags.undo {
		return setup.ErrNoEndpoints
	}
	here, err := workingDir()
	if err != nil {
		return err
	}
	if err := project.CheckDocroot(here, flags.docroot); err != nil {
		return err
	}
	var most int64 // a page to be edited lies in memory twice: the check's own bound is too large
	if cfg.Place("max-page-size") != "" {
		most = cfg.MaxPageBytes
	}
	result, err := templates.Docroot(ctx, flags.docroot, templates.DocrootOptions{
		Endpoints: audit.Endpoints(cfg),
		Choice:    audit.EndpointPages(cfg),
		Undo:      flags.undo, DryRun: flags.dryRun || flags.check,
		Extensions: cfg.PageExtensions, MaxPageBytes: most,
	})
	if err != nil {
		return err
	}
	for _, n := range result.Notes {
		c.ui.warning(fmt.Sprintf("%s: %s", n.Page, n.Text))
	}
	for _, name := range result.Compressed {
		c.ui.warning(name + " holds the page without the change: compress it again")
	}
	var b strings.Builder
	if flags.dryRun || flags.check {
		for _, name := range result.Changed {
			fmt.Fprintln(&b, filepath.Join(flags.docroot, filepath.FromSlash(name)))
		}
	}
	verb := "changed"
	if flags.dryRun || flags.check {
		verb = "to change"
	}
	fmt.Fprintf(&b, "%d pages, %d chosen, %d %s\n", result.Pages, result.Chosen, len(result.Changed), verb)
	if err := c.print(b.String()); err != nil {
		return err
	}
	if flags.check && len(result.Changed) > 0 {
		return errFindings
	}
	return nil
}
