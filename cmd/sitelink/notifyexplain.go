package main

import (
	"context"
	"fmt"
	"os"

	"github.com/sitelink/sitelink/internal/announce"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/precheck"
)

// explainNotices says how targets would see pages of the site, by requests that
// change nothing.
func explainNotices(ctx context.Context, c *cli, cfg *config.Config, f *notifyFlags) error {
	p, err := c.find(ctx, cfg)
	if err != nil {
		return err
	}
	snap, err := announce.ReadLedger(ctx, p, c.ui.warning)
	if err != nil {
		return err
	}
	// What the ledger knows of pages does not matter: they are read.
	load, done := c.loading(p)
	compared, err := announce.Compare(ctx, p, &ledger.Snapshot{Base: snap.Base, New: true}, announce.Options{Load: load})
	done()
	if err != nil {
		return err
	}
	wanted, err := announce.Explained(compared.Entries, f.explain)
	if err != nil {
		return err
	}
	opt, err := announce.DeliverOptions(ctx, cfg, f.delivery(nil, compared.Entries.Base))
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(p.Docroot)
	if err != nil {
		return err
	}
	defer root.Close()
	client := outgoing.NewClient(announce.FetchOptions(cfg, versionNumber(), compared.Entries.Base))
	var reports []*precheck.Report
	failing := false
	for _, e := range wanted {
		built, err := root.ReadFile(e.Page)
		if err != nil {
			return fmt.Errorf("read page: %w", err)
		}
		r, err := precheck.Previewer{Client: client, Senders: opt.Senders}.Page(ctx, e.URL, e.Targets, built)
		if err != nil {
			return err
		}
		reports, failing = append(reports, r), failing || r.Failing()
	}
	out, err := c.openOutput("-")
	if err != nil {
		return err
	}
	switch f.format {
	case "json":
		err = report.ExplainedJSON(out, reports)
	case "markdown":
		err = report.ExplainedMarkdown(out, reports)
	default:
		err = report.Explained(out, reports, c.colorsReport(cfg.Color, "-"))
	}
	if err == nil {
		err = out.Commit()
	}
	if err == nil && failing {
		err = errNotices
	}
	return err
}
