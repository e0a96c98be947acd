package main

import (
	"context"
	"fmt"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/site"
)

// check does the work of `sitelink check`. It returns [errFindings] when there
// are findings that fail the run.
func (a *app) check(ctx context.Context, cfg *config.Config) error {
	docroot := a.docroot(cfg.Docroot)
	if err := lookAt(docroot); err != nil {
		return err
	}
	timer := newTimer(a.ui)
	progress := newProgress(a.ui, cfg.Progress, time.Now)
	defer progress.done()

	siteOpt := siteOptions(cfg)
	if progress != nil {
		siteOpt.Progress = progress.pages
	}
	s, err := site.Load(ctx, docroot, siteOpt)
	if err != nil {
		return explain(err)
	}
	timer.stage("load")

	// Opened after loading: inside the docroot, the new file is none of the
	// site's files.
	out, err := a.openOutput(cfg.Output)
	if err != nil {
		return err
	}
	defer out.Discard()

	text := report.TextOptions{Prefix: docroot, Color: a.colorsReport(cfg)}
	var result *check.Result
	if cfg.Show == "all" {
		progress.done()
		result, err = a.showAll(ctx, s, cfg, out, text)
	} else {
		result, err = check.Run(ctx, s, checkOptions(cfg))
		timer.stage("check")
		progress.done()
		if err == nil {
			err = writeReport(cfg.Format, result, out, text)
		}
	}
	if err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	timer.stage("report")
	if cfg.Format == "jsonl" { // the other formats have a summary that says so
		for _, note := range result.Summary.Notes {
			a.ui.note(note)
		}
		for _, rule := range result.Summary.UnusedIgnores {
			a.ui.warning("ignore rule matches nothing: " + rule)
		}
	}
	if fails(cfg.FailOn, result) {
		return errFindings
	}
	return nil
}

// colorsReport decides on colour for the report: the terminal's, or that of a
// file, which has none unless asked for.
func (a *app) colorsReport(cfg *config.Config) bool {
	toStdout := cfg.Output == "" || cfg.Output == "-" || cfg.Output == "/dev/stdout"
	if !toStdout && cfg.Color == "auto" {
		return false
	}
	return wantsColor(cfg.Color, a.env.StdoutTTY, a.env.Getenv)
}

func writeReport(format string, r *check.Result, out output, opt report.TextOptions) error {
	switch format {
	case "json":
		return report.JSON(out, r)
	case "jsonl":
		return report.JSONL(out, r)
	}
	return report.Text(out, r, opt)
}

// showAll writes every link as it is judged. Faults of files are no links:
// text lists them behind the links and ends with the summary, jsonl has one row
// a link and nothing else.
func (a *app) showAll(ctx context.Context, s *site.Site, cfg *config.Config, out output, opt report.TextOptions) (*check.Result, error) {
	if cfg.Format == "jsonl" {
		result, err := check.Links(ctx, s, checkOptions(cfg), report.AppendLink, out)
		if err == nil && len(result.Findings) > 0 {
			a.ui.warning(fmt.Sprintf("faults of files not listed (leave out --show all to see them): %s", thousands(len(result.Findings))))
		}
		return result, err
	}
	row := func(dst []byte, f *check.Finding) []byte { return report.AppendText(dst, f, opt) }
	result, err := check.Links(ctx, s, checkOptions(cfg), row, out)
	if err != nil {
		return nil, err
	}
	var rest []byte
	for i := range result.Findings {
		rest = report.AppendText(rest, &result.Findings[i], opt)
	}
	if _, err := out.Write(append(rest, '\n')); err != nil {
		return nil, fmt.Errorf("write report: %w", err)
	}
	counts := check.Result{Summary: result.Summary} // the findings are a part of what it counts
	return result, report.TextSummary(out, &counts, opt)
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
