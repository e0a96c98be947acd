package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/announce"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/deliver"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// runNotify does the work of `sitelink notify`.
func runNotify(ctx context.Context, c *cli, cfg *config.Config, f *notifyFlags) error {
	if f.explain != "" {
		return explainNotices(ctx, c, cfg, f)
	}
	if !f.sends(cfg) && !f.status {
		return previewNotices(ctx, c, cfg, f)
	}
	p, err := c.findFor(ctx, cfg, !f.status && !f.due)
	if err != nil {
		return err
	}
	store, err := announce.OpenLedger(ctx, p, false, c.ui.warning)
	if err != nil {
		return err
	}
	return closing(store, func() error {
		snap, err := store.Load(ctx)
		if err != nil {
			return err
		}
		switch {
		case f.status:
			return askStatus(ctx, c, cfg, f, store, snap)
		case f.due:
			return sendNotices(ctx, c, cfg, f, store, snap.Base)
		}
		compared, err := compareWithLedger(ctx, c, p, snap, f.baseline)
		if err != nil {
			return err
		}
		return carryOutPlan(ctx, c, cfg, f, store, compared.Plan)
	})
}

// closing closes the store after work, whose error comes first.
func closing(store ledger.Store, work func() error) error {
	err := work()
	closed := store.Close()
	if err == nil || errors.Is(err, errNotices) {
		return errors.Join(closed, err)
	}
	return err
}

// carryOutPlan puts a plan into the ledger and delivers what is due.
func carryOutPlan(ctx context.Context, c *cli, cfg *config.Config, f *notifyFlags, store ledger.Store, plan *outgoing.Plan) error {
	if err := confirmNotices(c, cfg, len(plan.Due())); err != nil {
		return err
	}
	if err := store.Plan(ctx, plan.Base, plan.Change); err != nil {
		return err
	}
	if plan.First {
		why := "there was no ledger"
		if f.baseline {
			why = "--baseline"
		}
		c.ui.note(fmt.Sprintf("%s: recorded %s with %s as known, nobody is told; from now on changes are", why,
			count(len(plan.Change.Pages), "page"), count(len(plan.Change.Links), "link")))
		if f.format == "text" {
			return nil
		}
		return reportOutcomes(c, cfg, f, plan.Base, &deliver.Report{})
	}
	return sendNotices(ctx, c, cfg, f, store, plan.Base)
}

// confirmNotices asks the user, where there is one, whether a plan of so many notices may
// be carried out. What earlier runs left open was allowed then.
func confirmNotices(c *cli, cfg *config.Config, notices int) error {
	most := cfg.Outgoing.MaxNotices
	if most == 0 || notices <= most {
		return nil
	}
	refused := fault.New(fmt.Errorf("%s are due, more than max-notices, %s: nothing was sent", count(notices, "notice"), thousands(most)),
		fmt.Sprintf("--max-notices %d sends them; --baseline records the links and tells nobody", notices))
	if !c.env.StdinTTY || !c.env.StderrTTY || c.env.Stdin == nil {
		return refused
	}
	c.ui.ask(fmt.Sprintf("%s are due, more than max-notices, %s. Send them? [y/N] ", count(notices, "notice"), thousands(most)))
	line, err := bufio.NewReader(io.LimitReader(c.env.Stdin, 64)).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); err != nil || answer != "y" && answer != "yes" {
		return refused
	}
	return nil
}

// sendNotices tells the targets of all notices that are due, and reports.
func sendNotices(ctx context.Context, c *cli, cfg *config.Config, f *notifyFlags, store ledger.Store, base string) error {
	opt, err := announce.DeliverOptions(ctx, cfg, f.delivery(store, base))
	if err != nil {
		return err
	}
	bounded, stop := ctx, context.CancelFunc(func() {})
	if cfg.Outgoing.Deadline > 0 {
		bounded, stop = context.WithTimeout(ctx, cfg.Outgoing.Deadline)
	}
	defer stop()
	progress := newProgress(c.ui, cfg.Progress, time.Now)
	if progress != nil {
		opt.Progress = progress.notices
	}
	result, err := deliver.Run(bounded, store, opt)
	progress.done()
	// What was done until an error is reported as well.
	if written := reportOutcomes(c, cfg, f, base, result); err == nil {
		err = written
	}
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case result.Stopped != "":
		c.ui.warning(fmt.Sprintf("the deadline of %v is over: %s left for the next run", cfg.Outgoing.Deadline, count(result.NotTried, "notice")))
		return errNotices
	case result.Failed() > 0:
		return errNotices
	}
	return nil
}

func reportOutcomes(c *cli, cfg *config.Config, f *notifyFlags, base string, r *deliver.Report) error {
	out, err := c.openOutput("-")
	if err != nil {
		return err
	}
	switch f.format {
	case "json":
		err = report.OutcomesJSON(out, base, r)
	case "markdown":
		err = report.OutcomesMarkdown(out, r)
	default:
		err = report.Outcomes(out, r, report.OutcomesOptions{All: f.verbose, Color: c.colorsReport(cfg.Color, "-")})
	}
	if err != nil {
		return err
	}
	return out.Commit()
}

// notices draws how far the delivery is.
func (p *progress) notices(d deliver.Progress) {
	if p == nil {
		return
	}
	now := p.now()
	if now.Before(p.after) {
		return
	}
	p.after = now.Add(progressEvery)
	text := fmt.Sprintf("telling targets: %s of %s", thousands(d.Finished), thousands(d.Claimed))
	if d.Failed > 0 {
		text += fmt.Sprintf(", %s failed", thousands(d.Failed))
	}
	if d.Waiting > 0 {
		text += fmt.Sprintf("; waiting for %s to be live", count(d.Waiting, "page"))
	}
	p.ui.draw(text)
}

// compareWithLedger compares the docroot with the ledger for a run that sends.
func compareWithLedger(ctx context.Context, c *cli, p *project.Project, snap *ledger.Snapshot, baseline bool) (*announce.Comparison, error) {
	load, done := c.loading(p)
	defer done()
	return announce.CompareForSending(ctx, p, snap, baseline, load)
}

func (f *notifyFlags) delivery(store ledger.Store, base string) announce.Delivery {
	return announce.Delivery{Version: versionNumber(), Base: base, Store: store, BustCache: f.bust}
}

// askStatus asks what became of notices that were accepted for later, and
// lists all of them.
func askStatus(ctx context.Context, c *cli, cfg *config.Config, f *notifyFlags, store ledger.Store, snap *ledger.Snapshot) error {
	result, err := announce.Status(ctx, outgoing.NewClient(announce.FetchOptions(cfg, versionNumber(), snap.Base)), store, snap)
	if err != nil {
		return err
	}
	if len(result.Results) == 0 {
		c.ui.note("no target told where to ask how a notice went")
		return nil
	}
	every := *f
	every.verbose = true
	if err := reportOutcomes(c, cfg, &every, snap.Base, result); err != nil {
		return err
	}
	if result.Failed() > 0 {
		return errNotices
	}
	return nil
}
