package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/site"
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
	store, err := a.openLedger(ctx, cfg, false)
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
		_, plan, err := a.notifyPlan(ctx, cfg, f, snap)
		if err != nil {
			return err
		}
		return a.carryOut(ctx, cfg, f, store, plan)
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

// notifyPlan compares the docroot with the ledger.
func (a *app) notifyPlan(ctx context.Context, cfg *config.Config, f *notifyFlags, snap *ledger.Snapshot) (*site.Site, *outgoing.Plan, error) {
	compared := *snap
	compared.New = snap.New || f.baseline // a plan that tells nobody
	s, _, plan, err := a.plan(ctx, cfg, &compared, outgoingOptions(cfg))
	if err != nil {
		return nil, nil, err
	}
	if !f.baseline && snap.Base != "" && snap.Base != plan.Base {
		return nil, nil, &failure{fmt.Errorf("the ledger belongs to %s, the site is %s", snap.Base, plan.Base),
			"name another ledger, or record this site in it: sitelink notify --baseline --send"}
	}
	if f.baseline {
		plan.Change.Notices = append(plan.Change.Notices, withdrawn(snap)...)
	}
	return s, plan, nil
}

// withdrawn are the open notices of a ledger, as no longer to be sent.
func withdrawn(snap *ledger.Snapshot) []ledger.Notice {
	var all []ledger.Notice
	for _, n := range snap.Notices {
		if n.Open() {
			n.State, n.Next, n.Message = ledger.Skipped, time.Time{}, "left out by --baseline"
			all = append(all, n)
		}
	}
	return all
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

// dueBesides counts the notices of earlier runs that are due now and that the
// plan leaves alone.
func dueBesides(snap *ledger.Snapshot, plan *outgoing.Plan, now time.Time) int {
	planned := map[ledger.Key]bool{}
	if plan != nil {
		for _, n := range plan.Change.Notices {
			planned[n.Key] = true
		}
	}
	due := 0
	for i := range snap.Notices {
		if n := &snap.Notices[i]; n.Open() && !n.Next.After(now) && !planned[n.Key] {
			due++
		}
	}
	return due
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
	opt, err := a.deliverOptions(ctx, cfg, f, store, base)
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
