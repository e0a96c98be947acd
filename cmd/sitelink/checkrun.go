package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/owners"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/report"
)

// runCheck finds the project and checks its site.
func runCheck(ctx context.Context, c *cli, cfg *config.Config) error {
	p, err := c.find(ctx, cfg)
	if err != nil {
		return err
	}
	return checkProject(ctx, c, p)
}

// checkProject does the work of `sitelink check`. It returns [errFindings] when
// there are findings that fail the run.
func checkProject(ctx context.Context, c *cli, p *project.Project) error {
	cfg := p.Config
	if err := audit.WaitForBuild(ctx, p, c.ui.note); err != nil {
		return err
	}
	timer := newTimer(c.ui)
	progress := newProgress(c.ui, cfg.Progress, time.Now)
	defer progress.done()
	opt := c.auditOptions(progress)
	opt.Baseline, opt.Sources, opt.Hints, opt.Stage = true, true, true, timer.stage
	run, err := c.open(ctx, p, opt)
	if err != nil {
		return err
	}
	if err := traceLinks(ctx, c, run); err != nil {
		return err
	}
	// Opened after the site is loaded: a new file inside the docroot is not one of
	// the site's files.
	reports, err := openReports(c, p)
	if err != nil {
		return err
	}
	defer reports.discard()

	var result *check.Result
	if cfg.Show == "all" {
		progress.done()
		result, err = showAll(ctx, c, run, reports)
	} else {
		result, err = run.Check(ctx)
		progress.done()
		if err == nil {
			err = reports.addExtras(ctx, run, result)
		}
		if err == nil {
			err = reports.write(result)
		}
	}
	if err == nil {
		err = reports.commit()
	}
	if err != nil {
		return err
	}
	timer.stage("report")
	if !reports.summarised() {
		printSummary(c, &result.Summary)
	}
	if audit.Fails(cfg.FailOn, result) {
		return errFindings
	}
	return nil
}

// printSummary prints what the user should know for reports that have no summary.
func printSummary(c *cli, sum *check.Summary) {
	for _, note := range sum.Notes {
		c.ui.note(note)
	}
	for _, rule := range sum.UnusedIgnores {
		c.ui.warning("ignore rule matches nothing: " + rule)
	}
	if b := sum.Baseline; b != nil {
		for _, entry := range b.Unneeded[:min(len(b.Unneeded), report.MaxUnneeded)] {
			c.ui.warning("baseline entry no longer needed: " + entry)
		}
		if rest := len(b.Unneeded) - report.MaxUnneeded; rest > 0 {
			c.ui.warning(fmt.Sprintf("and %s more; sitelink baseline update drops them", thousands(rest)))
		}
	}
}

// reportOptions returns what every report of a run may need to know.
func reportOptions(c *cli, p *project.Project) (report.Options, error) {
	opt := report.Options{
		TextOptions:  report.TextOptions{Prefix: p.Docroot},
		Base:         p.FromRoot(p.Docroot),
		GroupBy:      report.GroupNamed(p.Config.GroupBy),
		WarningsFail: p.Config.FailOn == "warning",
		Version:      versionNumber(),
	}
	var err error
	if opt.GroupBy == report.GroupOwner {
		opt.Owners, err = ownersOf(c, p.Root)
	}
	return opt, err
}

// maxOwnerFaults is how many wrong lines of CODEOWNERS are reported.
const maxOwnerFaults = 5

// ownersOf reads the CODEOWNERS file of the project.
func ownersOf(c *cli, root string) (func(path string) string, error) {
	o, err := owners.Load(os.DirFS(root))
	if err != nil {
		return nil, fault.New(err, "--group-by owner needs it")
	}
	if o == nil {
		c.ui.warning("no owner is known: " + root + " has none of " + strings.Join(owners.Places, ", "))
		return nil, nil
	}
	for i, fault := range o.Faults {
		if i == maxOwnerFaults {
			c.ui.warning(fmt.Sprintf("%s: %d more lines are skipped", o.Name, len(o.Faults)-i))
			break
		}
		c.ui.warning(fmt.Sprintf("%s:%d: skipped: %s", o.Name, fault.Line, fault.Msg))
	}
	return func(path string) string { return strings.Join(o.Of(path), ", ") }, nil
}

// find finds the project of the working directory for this configuration, prints
// what was found, and makes sure that the docroot can be read.
func (c *cli) find(ctx context.Context, cfg *config.Config) (*project.Project, error) {
	p, err := c.findRoot(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := p.CheckDocroot(); err != nil {
		return nil, err
	}
	c.printNotes(p)
	return p, nil
}

// findRoot finds the project for commands that read no docroot, and prints nothing.
func (c *cli) findRoot(ctx context.Context, cfg *config.Config) (*project.Project, error) {
	dir, err := workingDir()
	if err != nil {
		return nil, err
	}
	return project.Find(ctx, dir, project.Options{Config: cfg, Env: os.Environ()})
}

// findFor is find for runs that read the docroot, and findRoot for others.
func (c *cli) findFor(ctx context.Context, cfg *config.Config, docroot bool) (*project.Project, error) {
	if docroot {
		return c.find(ctx, cfg)
	}
	return c.findRoot(ctx, cfg)
}

// printNotes prints what was found out about a project.
func (c *cli) printNotes(p *project.Project) {
	for _, n := range p.Notes {
		if n.Warning {
			c.ui.warning(n.Text)
		} else {
			c.noteOnce(n.Text)
		}
	}
}

// noteOnce prints a note unless this run has printed it already.
func (c *cli) noteOnce(text string) {
	if !c.printed[text] {
		c.printed[text] = true
		c.ui.note(text)
	}
}

func workingDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the working directory: %w", disk.Cause(err))
	}
	return dir, nil
}

// auditOptions returns the options that print to the user; progress may be nil.
func (c *cli) auditOptions(progress *progress) audit.Options {
	opt := audit.Options{Warn: c.ui.warning, Note: c.ui.note, Today: c.today}
	if progress != nil {
		opt.Progress = progress.pages
	}
	return opt
}

// open loads the site of a project, with the heap prepared for it.
func (c *cli) open(ctx context.Context, p *project.Project, opt audit.Options) (*audit.Audit, error) {
	readyHeap()
	return audit.Open(ctx, p, opt)
}

// load finds the project and loads its site, with progress drawn meanwhile.
func (c *cli) load(ctx context.Context, cfg *config.Config) (*audit.Audit, error) {
	p, err := c.find(ctx, cfg)
	if err != nil {
		return nil, err
	}
	progress := newProgress(c.ui, cfg.Progress, time.Now)
	defer progress.done()
	return c.open(ctx, p, c.auditOptions(progress))
}

// loading returns the options for loading a site with progress and timing; done
// ends the progress.
func (c *cli) loading(p *project.Project) (opt audit.Options, done func()) {
	readyHeap()
	progress := newProgress(c.ui, p.Config.Progress, time.Now)
	opt = c.auditOptions(progress)
	opt.Stage = newTimer(c.ui).stage
	return opt, progress.done
}
