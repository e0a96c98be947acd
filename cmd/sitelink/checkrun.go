package main

import (
	"context"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
)

// check does the work of `sitelink check`. It returns [errFindings] when there
// are findings that fail the run.
func (a *app) check(ctx context.Context, cfg *config.Config) error {
	docroot := a.docroot(cfg.Docroot)
	if err := lookAt(docroot); err != nil {
		return err
	}
	if err := a.waitForBuild(ctx, docroot); err != nil {
		return err
	}
	accepted, err := a.acceptance(ctx, cfg)
	if err != nil {
		return err
	}
	timer := newTimer(a.ui)
	progress := newProgress(a.ui, cfg.Progress, time.Now)
	defer progress.done()

	siteOpt := a.siteOf(cfg, docroot)
	if progress != nil {
		siteOpt.Progress = progress.pages
	}
	s, err := loadSite(ctx, docroot, siteOpt)
	if err != nil {
		return explain(err)
	}
	timer.stage("load")
	if err := a.trace(ctx, s, cfg); err != nil {
		return err
	}

	// Opened after loading: inside the docroot, a new file is none of the
	// site's files.
	opt, err := a.reportOptions(cfg, docroot)
	if err != nil {
		return err
	}
	reports, err := a.openReports(cfg, opt)
	if err != nil {
		return err
	}
	defer reports.discard()

	var result *check.Result
	if cfg.Show == "all" {
		progress.done()
		result, err = a.showAll(ctx, s, cfg, docroot, accepted, reports)
	} else {
		result, err = check.Run(ctx, handle(s), checkOptions(cfg))
		timer.stage("check")
		progress.done()
		if err == nil {
			accepted.apply(result)
			err = a.addSources(ctx, s, cfg, docroot, result)
			timer.stage("source")
		}
		if err == nil {
			err = a.hugoHints(ctx, s, cfg, docroot, result)
		}
		if err == nil {
			err = reports.addExtras(ctx, s, cfg, result)
		}
		if err == nil {
			err = reports.write(result)
		}
	}
	if err != nil {
		return err
	}
	if err := reports.commit(); err != nil {
		return err
	}
	timer.stage("report")
	if !reports.summarised() {
		for _, note := range result.Summary.Notes {
			a.ui.note(note)
		}
		for _, rule := range result.Summary.UnusedIgnores {
			a.ui.warning("ignore rule matches nothing: " + rule)
		}
		a.warnUnneeded(result.Summary.Baseline)
	}
	if fails(cfg.FailOn, result) {
		return errFindings
	}
	return nil
}

// fails tells whether the findings fail the run (LL-108).
func fails(failOn string, r *check.Result) bool {
	switch failOn {
	case "never":
		return false
	case "warning":
		return r.HasErrors() || r.HasWarnings()
	}
	return r.HasErrors()
}
