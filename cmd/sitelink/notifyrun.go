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
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/deliver"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// notify does the work of `sitelink notify`.
func (a *app) notify(ctx context.Context, cfg *config.Config, f *notifyFlags) error {
	if f.explain != "" {
		return a.notifyExplain(ctx, cfg, f)
	}
	if !f.sends(cfg) && !f.status {
		return a.notifyDry(ctx, cfg, f)
	}
	p, err := a.findFor(ctx, cfg, !f.status && !f.due)
	if err != nil {
		return err
	}
	store, err := announce.OpenLedger(ctx, p, false, a.ui.warning)
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
			return a.notifyStatus(ctx, cfg, f, store, snap)
		case f.due:
			return a.deliver(ctx, cfg, f, store, snap.Base)
		}
		c, err := a.compare(ctx, p, snap, f.baseline)
		if err != nil {
			return err
		}
		return a.carryOut(ctx, cfg, f, store, c.Plan)
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

// carryOut puts a plan into the ledger and delivers what is due.
func (a *app) carryOut(ctx context.Context, cfg *config.Config, f *notifyFlags, store ledger.Store, plan *outgoing.Plan) error {
	if err := a.allow(cfg, len(plan.Due())); err != nil {
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
		a.ui.note(fmt.Sprintf("%s: recorded %s with %s as known, nobody is told; from now on changes are", why,
			counted(len(plan.Change.Pages), "page"), counted(len(plan.Change.Links), "link")))
		if f.format == "text" {
			return nil
		}
		return a.reportOutcomes(cfg, f, plan.Base, &deliver.Report{})
	}
	return a.deliver(ctx, cfg, f, store, plan.Base)
}

// allow asks the user, where there is one, whether a plan of so many notices may
// be carried out. What earlier runs left open was allowed then.
func (a *app) allow(cfg *config.Config, notices int) error {
	most := cfg.Outgoing.MaxNotices
	if most == 0 || notices <= most {
		return nil
	}
	refused := &failure{fmt.Errorf("%s are due, more than max-notices, %s: nothing was sent", counted(notices, "notice"), thousands(most)),
		fmt.Sprintf("--max-notices %d sends them; --baseline records the links and tells nobody", notices)}
	if !a.env.StdinTTY || !a.env.StderrTTY || a.env.Stdin == nil {
		return refused
	}
	a.ui.ask(fmt.Sprintf("%s are due, more than max-notices, %s. Send them? [y/N] ", counted(notices, "notice"), thousands(most)))
	line, err := bufio.NewReader(io.LimitReader(a.env.Stdin, 64)).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); err != nil || answer != "y" && answer != "yes" {
		return refused
	}
	return nil
}

// deliver tells the targets of all notices that are due, and reports.
func (a *app) deliver(ctx context.Context, cfg *config.Config, f *notifyFlags, store ledger.Store, base string) error {
	opt, err := announce.DeliverOptions(ctx, cfg, f.delivery(store, base))
	if err != nil {
		return err
	}
	bounded, stop := ctx, context.CancelFunc(func() {})
	if cfg.Outgoing.Deadline > 0 {
		bounded, stop = context.WithTimeout(ctx, cfg.Outgoing.Deadline)
	}
	defer stop()
	progress := newProgress(a.ui, cfg.Progress, time.Now)
	if progress != nil {
		opt.Progress = progress.notices
	}
	result, err := deliver.Run(bounded, store, opt)
	progress.done()
	// What was done until an error is reported as well.
	if written := a.reportOutcomes(cfg, f, base, result); err == nil {
		err = written
	}
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case result.Stopped != "":
		a.ui.warning(fmt.Sprintf("the deadline of %v is over: %s left for the next run", cfg.Outgoing.Deadline, counted(result.NotTried, "notice")))
		return errNotices
	case result.Failed() > 0:
		return errNotices
	}
	return nil
}

func (a *app) reportOutcomes(cfg *config.Config, f *notifyFlags, base string, r *deliver.Report) error {
	out, err := a.openOutput("-")
	if err != nil {
		return err
	}
	switch f.format {
	case "json":
		err = report.OutcomesJSON(out, base, r)
	case "markdown":
		err = report.OutcomesMarkdown(out, r)
	default:
		err = report.Outcomes(out, r, report.OutcomesOptions{All: f.verbose, Color: a.colorsReport(cfg.Color, "-")})
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
		text += fmt.Sprintf("; waiting for %s to be live", counted(d.Waiting, "page"))
	}
	p.ui.draw(text)
}

// compare compares the docroot with the ledger for a run that sends.
func (a *app) compare(ctx context.Context, p *project.Project, snap *ledger.Snapshot, baseline bool) (*announce.Comparison, error) {
	load, done := a.loading(p)
	defer done()
	return announce.CompareForSending(ctx, p, snap, baseline, load)
}

func (f *notifyFlags) delivery(store ledger.Store, base string) announce.Delivery {
	return announce.Delivery{Version: versionNumber(), Base: base, Store: store, BustCache: f.bust}
}

// notifyStatus asks what became of notices that were accepted for later, and
// lists all of them.
func (a *app) notifyStatus(ctx context.Context, cfg *config.Config, f *notifyFlags, store ledger.Store, snap *ledger.Snapshot) error {
	result, err := announce.Status(ctx, outgoing.NewClient(announce.FetchOptions(cfg, versionNumber(), snap.Base)), store, snap)
	if err != nil {
		return err
	}
	if len(result.Results) == 0 {
		a.ui.note("no target told where to ask how a notice went")
		return nil
	}
	every := *f
	every.verbose = true
	if err := a.reportOutcomes(cfg, &every, snap.Base, result); err != nil {
		return err
	}
	if result.Failed() > 0 {
		return errNotices
	}
	return nil
}
