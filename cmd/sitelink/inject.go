package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/run/inject"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/templates"
)

// injectFlags are the flags of inject.
type injectFlags struct {
	docroot             string
	dryRun, undo, check bool
}

func injectCommand(c *cli) *cobra.Command {
	var flags injectFlags
	cmd := &cobra.Command{
		Use: "inject [DIR]",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return text.Usage(fmt.Sprintf("inject takes one directory, got %d", len(args)), "run it once for each project")
			case len(args) == 1 && flags.docroot != "":
				return text.Usage("inject works on the templates in DIR or on the pages of --docroot, not both", "remove one of them")
			case flags.undo && flags.check:
				return text.Usage("--undo and --check contradict each other", "--undo --dry-run shows the change")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := c.configure(cmd, nil)
			if err != nil {
				return err
			}
			if flags.docroot != "" {
				return injectPages(cmd.Context(), c, cfg, flags)
			}
			dir := ""
			if len(args) == 1 {
				dir = args[0]
			}
			return injectTemplates(cmd.Context(), c, cfg, dir, flags)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&flags.dryRun, "dry-run", false, "change nothing; print what would change as a diff")
	f.BoolVar(&flags.check, "check", false, "change nothing; exit 1 if something would change")
	f.BoolVar(&flags.undo, "undo", false, "remove what earlier runs wrote")
	f.StringVar(&flags.docroot, "docroot", "", "change the built pages in `DIR` instead of the templates")
	addConfigFlag(cmd)
	return cmd
}

// injectTemplates changes the templates of the project in dir, "" for the one that
// holds the working directory.
func injectTemplates(ctx context.Context, c *cli, cfg *config.Config, dir string, flags injectFlags) error {
	p, shown, err := c.templatesOf(ctx, cfg, dir)
	if err != nil {
		return err
	}
	var plan *inject.Plan
	switch {
	case flags.undo:
		plan, err = inject.Undo(p)
	case flags.check:
		plan, err = inject.Refresh(p)
	default:
		plan, err = inject.Find(ctx, p)
		if err != nil && !audit.Endpoints(cfg).IsZero() && ctx.Err() == nil {
			for _, rule := range templates.HeaderRules(p.Profile, audit.Endpoints(cfg)) {
				err = errors.Join(err, c.print("# alternatively, these headers "+rule.Where+":\n"+rule.Text))
			}
		}
	}
	if err != nil {
		return err
	}
	defer plan.Close()
	for _, note := range plan.Notes {
		c.ui.note(note)
	}
	switch {
	case flags.dryRun:
		return c.print(string(plan.Diff()))
	case flags.check && plan.Clean():
		return nil
	case flags.check:
		// One line for each file that is not as the configuration wants it.
		var b strings.Builder
		for _, c := range plan.Changes {
			what := "differs from the configuration"
			if c.Before == nil {
				what = "is missing"
			} else if c.After == nil {
				what = "is no longer needed"
			}
			fmt.Fprintf(&b, "%s: %s\n", path.Join(filepath.ToSlash(shown), c.Path), what)
		}
		if plan.Missing {
			b.WriteString("the templates do not have the elements\n")
		}
		b.WriteString(c.ui.commands("sitelink inject writes what is missing\n"))
		return cmp.Or(c.print(b.String()), errFindings)
	}
	if err := plan.Apply(); err != nil {
		return err
	}
	// One line says what was done to a file.
	var b strings.Builder
	for _, c := range plan.Changes {
		verb := "changed"
		switch {
		case c.Before == nil:
			verb = "created"
		case c.After == nil:
			verb = "removed"
		}
		fmt.Fprintf(&b, "%s %s", verb, filepath.Join(shown, filepath.FromSlash(c.Path)))
		for _, p := range plan.Places {
			if p.Path == c.Path {
				fmt.Fprintf(&b, ":%d: %s", p.Line, p.How)
			}
		}
		b.WriteByte('\n')
	}
	switch {
	case len(plan.Changes) > 0 && !flags.undo:
		b.WriteString("a build of a copy proved it; now build the site\n")
	case len(plan.Changes) == 0 && flags.undo:
		b.WriteString("nothing is written in the templates\n")
	case len(plan.Changes) == 0:
		b.WriteString("nothing to change: no page lacks the elements\n")
	}
	return c.print(b.String())
}

// templatesOf finds the project in dir, or the one that holds the working directory when
// dir is "". shown is the directory of its templates as the user would write it.
func (c *cli) templatesOf(ctx context.Context, cfg *config.Config, dir string) (p *project.Project, shown string, err error) {
	here, err := workingDir()
	if err != nil {
		return nil, "", err
	}
	whole := here
	if dir != "" {
		if whole = dir; !filepath.IsAbs(dir) {
			whole = filepath.Join(here, dir)
		}
		switch info, err := os.Stat(whole); {
		case err != nil:
			return nil, "", fmt.Errorf("open project %s: %w", dir, system.Cause(err))
		case !info.IsDir():
			return nil, "", fmt.Errorf("open project %s: not a directory", dir)
		}
	}
	unnamed := *cfg
	unnamed.Docroot = "" // it is built
	if p, err = c.findIn(ctx, whole, &unnamed); err != nil {
		return nil, "", err
	}
	if p.Generator != nil {
		whole = p.Generator.Dir
	}
	if shown, err = filepath.Rel(here, whole); err != nil {
		shown = whole
	}
	return p, shown, nil
}

// injectPages changes built pages.
func injectPages(ctx context.Context, c *cli, cfg *config.Config, flags injectFlags) error {
	if audit.Endpoints(cfg).IsZero() && !flags.undo {
		return inject.ErrNoEndpoints
	}
	here, err := workingDir()
	if err != nil {
		return err
	}
	if err := project.CheckDocroot(here, flags.docroot); err != nil {
		return err
	}
	var most int64 // smaller than for a check, since an edited page is in memory twice
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
		c.ui.warning(name + " contains the unchanged page: compress it again")
	}
	var b strings.Builder
	if flags.dryRun || flags.check {
		for _, name := range result.Changed {
			fmt.Fprintln(&b, path.Join(filepath.ToSlash(flags.docroot), name))
		}
	}
	verb := "changed"
	if flags.dryRun || flags.check {
		verb = "to change"
	}
	fmt.Fprintf(&b, "%s, %d chosen, %d %s\n", text.Count(result.Pages, "page"), result.Chosen, len(result.Changed), verb)
	if err := c.print(b.String()); err != nil {
		return err
	}
	if flags.check && len(result.Changed) > 0 {
		return errFindings
	}
	return nil
}
