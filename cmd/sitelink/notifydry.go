package main

import (
	"context"
	"fmt"
	"time"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/deliver"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// notifyDry says what notify would do, and does nothing.
func (a *app) notifyDry(ctx context.Context, cfg *config.Config, f *notifyFlags) error {
	snap, err := a.readLedger(ctx, cfg)
	if err != nil {
		return err
	}
	var plan *outgoing.Plan
	if f.due {
		err = a.reportOutcomes(cfg, &notifyFlags{format: f.format, verbose: true}, snap.Base, dueReport(snap, time.Now()))
	} else if _, plan, err = a.notifyPlan(ctx, cfg, f, snap); err == nil {
		err = a.showPlan(cfg, f, plan)
	}
	if err != nil {
		return err
	}
	if plan != nil {
		if due := dueBesides(snap, plan, time.Now()); due > 0 {
			a.ui.note(counted(due, "notice") + " of earlier runs due as well; --due lists them")
		}
	}
	a.ui.note("dry run: nothing was sent or recorded; --send does it")
	return nil
}

// dueReport lists the notices that are due, as they are.
func dueReport(snap *ledger.Snapshot, now time.Time) *deliver.Report {
	r := &deliver.Report{}
	for _, n := range snap.Notices {
		if n.Open() && !n.Next.After(now) {
			r.Results = append(r.Results, deliver.Result{Notice: n})
		}
	}
	return r
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
