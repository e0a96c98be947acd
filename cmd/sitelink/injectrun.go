package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/inject"
	"github.com/sitelink/sitelink/templates"
)

// errNoEndpoints: nothing is configured that could be injected.
var errNoEndpoints = &usageError{"no endpoint is configured",
	`write [templates] and below it webmention = "https://example.org/webmention" into sitelink.toml`}

// inject works on the templates of the project in dir, "" for the one around
// the working directory.
func (a *app) inject(cfg *config.Config, dir string, flags injectFlags) error {
	project, err := findProject(dir)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(project.Dir)
	if err != nil {
		return fmt.Errorf("open project %s: %w", project.Dir, disk.Cause(err))
	}
	defer root.Close()
	var plan *inject.Plan
	if flags.undo {
		plan, err = inject.Undo(root)
	} else {
		if endpointsOf(cfg).IsZero() {
			return errNoEndpoints
		}
		plan, err = inject.Find(root, a.injectOptions(cfg, project))
	}
	if err != nil {
		return err
	}
	for _, note := range plan.Notes {
		a.ui.note(note)
	}
	if err := a.refused(cfg, project, plan); err != nil {
		return err
	}
	switch {
	case flags.dryRun:
		err = a.print(string(plan.Diff()))
	case flags.check && plan.Clean():
		return nil
	case flags.check:
		err = a.print(differing(plan, project.Dir))
	default:
		err = plan.Apply()
		if err == nil {
			err = a.print(injected(plan, project.Dir, flags.undo))
		}
	}
	if err == nil && flags.check && !plan.Clean() {
		return errFindings
	}
	return err
}

// findProject returns the generator's project in dir, or around the working
// directory when dir is "". A directory without one is a project of no
// generator, whose marks --undo can still find.
func findProject(dir string) (generator.Project, error) {
	if dir != "" {
		info, err := os.Stat(dir)
		switch {
		case err != nil:
			return generator.Project{}, fmt.Errorf("open project %s: %w", dir, disk.Cause(err))
		case !info.IsDir():
			return generator.Project{}, fmt.Errorf("open project %s: not a directory", dir)
		}
		p, ok := generator.Detect(dir)
		if !ok {
			p = generator.Project{Dir: dir}
		}
		return p, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return generator.Project{}, fmt.Errorf("find the working directory: %w", disk.Cause(err))
	}
	for _, above := range projectDirs(filepath.Join(here, "docroot")) {
		if p, ok := generator.Detect(above); ok {
			if rel, err := filepath.Rel(here, above); err == nil {
				p.Dir = rel
			}
			return p, nil
		}
	}
	return generator.Project{Dir: "."}, nil
}

func (a *app) injectOptions(cfg *config.Config, p generator.Project) inject.Options {
	opt := inject.Options{
		Generator: p.Generator,
		Endpoints: endpointsOf(cfg),
		Choice:    choiceOf(cfg),
		Modules:   moduleCaches(a.env.Getenv),
	}
	profile := cfg.Profile
	if cfg.Place("profile") == "" {
		profile, _ = detectHost([]string{p.Dir}, filepath.Join(p.Dir, filepath.FromSlash(p.Docroot)))
	}
	opt.Headers = templates.HeaderRules(profile, opt.Endpoints)
	for _, theme := range cfg.Templates.Themes {
		opt.Themes = append(opt.Themes, inject.Theme{Name: theme.Name, Stub: theme.Stub})
	}
	return opt
}

// moduleCaches lists where Hugo keeps the modules that it has fetched.
func moduleCaches(getenv func(string) string) []string {
	const below = "modules/filecache/modules/pkg/mod"
	var dirs []string
	if dir := getenv("HUGO_CACHEDIR"); dir != "" {
		dirs = append(dirs, path.Join(filepath.ToSlash(dir), below))
	}
	if dir, err := os.UserCacheDir(); err == nil {
		dirs = append(dirs, path.Join(filepath.ToSlash(dir), "hugo_cache", below))
	}
	dirs = append(dirs, path.Join(filepath.ToSlash(os.TempDir()), "hugo_cache", below))
	if dir := getenv("GOMODCACHE"); dir != "" {
		dirs = append(dirs, filepath.ToSlash(dir))
	}
	if dir, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, path.Join(filepath.ToSlash(dir), "go/pkg/mod"))
	}
	return dirs
}

// refused turns refusals into errors with what to paste where. Where the host's
// server has a configuration of its own, it prints what makes it send the
// endpoints in headers.
func (a *app) refused(cfg *config.Config, p generator.Project, plan *inject.Plan) error {
	var all []error
	for _, r := range plan.Refusals {
		hint := ""
		switch {
		case r.Paste != "" && r.Where != "":
			hint = fmt.Sprintf("paste %s: %s", r.Where, r.Paste)
		case r.Where != "":
			hint = "use " + r.Where
		}
		all = append(all, &failure{r, hint})
	}
	if len(all) == 0 {
		return nil
	}
	for _, rule := range a.injectOptions(cfg, p).Headers {
		if rule.File == "" {
			all = append(all, a.print("# or headers, "+rule.Where+":\n"+rule.Text))
		}
	}
	return errors.Join(all...)
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

// injectDocroot works on built pages.
func (a *app) injectDocroot(ctx context.Context, cfg *config.Config, flags injectFlags) error {
	if endpointsOf(cfg).IsZero() && !flags.undo {
		return errNoEndpoints
	}
	if err := lookAt(flags.docroot); err != nil {
		return err
	}
	var most int64 // a page to be edited lies in memory twice: the check's own bound is too large
	if cfg.Place("max-page-size") != "" {
		most = cfg.MaxPageBytes
	}
	result, err := templates.Docroot(ctx, flags.docroot, templates.DocrootOptions{
		Endpoints: endpointsOf(cfg),
		Choice:    choiceOf(cfg),
		Undo:      flags.undo, DryRun: flags.dryRun || flags.check,
		Extensions: cfg.PageExtensions, MaxPageBytes: most,
	})
	if err != nil {
		return err
	}
	for _, n := range result.Notes {
		a.ui.warning(fmt.Sprintf("%s: %s", n.Page, n.Text))
	}
	for _, name := range result.Compressed {
		a.ui.warning(name + " holds the page without the change: compress it again")
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
	if err := a.print(b.String()); err != nil {
		return err
	}
	if flags.check && len(result.Changed) > 0 {
		return errFindings
	}
	return nil
}
