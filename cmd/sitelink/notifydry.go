package main

import (
	"context"
	"fmt"
	"time"

	"github.com/sitelink/sitelink/internal/announce"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// notifyDry says what notify would do, and does nothing.
func (a *app) notifyDry(ctx context.Context, cfg *config.Config, f *notifyFlags) error {
	p, err := a.findFor(ctx, cfg, !f.due)
	if err != nil {
		return err
	}
	snap, err := announce.ReadLedger(ctx, p, a.ui.warning)
	if err != nil {
		return err
	}
	if f.due {
		err = a.reportOutcomes(cfg, &notifyFlags{format: f.format, verbose: true}, snap.Base, announce.DueReport(snap, time.Now()))
	} else {
		err = a.notifyPlan(ctx, p, f, snap)
	}
	if err != nil {
		return err
	}
	a.ui.note("dry run: nothing was sent or recorded; --send does it")
	return nil
}

// notifyPlan prints the plan, and how many notices of earlier runs are due
// besides.
func (a *app) notifyPlan(ctx context.Context, p *project.Project, f *notifyFlags, snap *ledger.Snapshot) error {
	c, err := a.compare(ctx, p, snap, f.baseline)
	if err != nil {
		return err
	}
	if err := a.showPlan(p.Config, f, c.Plan); err != nil {
		return err
	}
	if due := announce.DueBesides(snap, c.Plan, time.Now()); due > 0 {
		a.ui.note(counted(due, "notice") + " of earlier runs due as well; --due lists them")
	}
	return nil
}

func (a *app) showPlan(cfg *config.Config, f *notifyFlags, plan *outgoing.Plan) error {
	out, err := a.openOutput("-")
	if err != nil {
		return err
	}
	switch f.format {
	case "json":
		err = report.PlanJSON(out, plan, nil)
	case "markdown":
		err = report.PlanMarkdown(out, plan)
	default:
		err = report.Plan(out, plan, report.PlanOptions{Color: a.colorsReport(cfg.Color, "-")})
	}
	if err != nil {
		return fmt.Errorf("show plan: %w", err)
	}
	return out.Commit()
}
