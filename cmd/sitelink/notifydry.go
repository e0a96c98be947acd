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

// previewNotices says what notify would do, and does nothing.
func previewNotices(ctx context.Context, c *cli, cfg *config.Config, f *notifyFlags) error {
	p, err := c.findFor(ctx, cfg, !f.due)
	if err != nil {
		return err
	}
	snap, err := announce.ReadLedger(ctx, p, c.ui.warning)
	if err != nil {
		return err
	}
	if f.due {
		err = reportOutcomes(c, cfg, &notifyFlags{format: f.format, verbose: true}, snap.Base, announce.DueReport(snap, time.Now()))
	} else {
		err = previewPlan(ctx, c, p, f, snap)
	}
	if err != nil {
		return err
	}
	c.ui.note("dry run: nothing was sent or recorded; --send does it")
	return nil
}

// previewPlan prints the plan, and how many notices of earlier runs are due
// besides.
func previewPlan(ctx context.Context, c *cli, p *project.Project, f *notifyFlags, snap *ledger.Snapshot) error {
	compared, err := compareWithLedger(ctx, c, p, snap, f.baseline)
	if err != nil {
		return err
	}
	if err := showPlan(c, p.Config, f, compared.Plan); err != nil {
		return err
	}
	if due := announce.DueBesides(snap, compared.Plan, time.Now()); due > 0 {
		c.ui.note(count(due, "notice") + " of earlier runs due as well; --due lists them")
	}
	return nil
}

func showPlan(c *cli, cfg *config.Config, f *notifyFlags, plan *outgoing.Plan) error {
	out, err := c.openOutput("-")
	if err != nil {
		return err
	}
	switch f.format {
	case "json":
		err = report.PlanJSON(out, plan, nil)
	case "markdown":
		err = report.PlanMarkdown(out, plan)
	default:
		err = report.Plan(out, plan, report.PlanOptions{Color: c.colorsReport(cfg.Color, "-")})
	}
	if err != nil {
		return fmt.Errorf("show plan: %w", err)
	}
	return out.Commit()
}
