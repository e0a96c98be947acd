package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/precheck"
)

// notifyExplain says how targets would see pages of the site, by requests that
// change nothing.
func (a *app) notifyExplain(ctx context.Context, cfg *config.Config, f *notifyFlags) error {
	snap, err := a.readLedger(ctx, cfg)
	if err != nil {
		return err
	}
	// What the ledger knows of pages does not matter: they are read.
	_, entries, _, err := a.plan(ctx, cfg, &ledger.Snapshot{Base: snap.Base, New: true}, outgoingOptions(cfg))
	if err != nil {
		return err
	}
	wanted, err := explained(entries, f.explain)
	if err != nil {
		return err
	}
	opt, err := a.deliverOptions(ctx, cfg, f, nil, entries.Base)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(a.docroot(cfg.Docroot))
	if err != nil {
		return err
	}
	defer root.Close()
	client := outgoing.NewClient(fetchOptions(cfg, entries.Base))
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
	out, err := a.openOutput("-")
	if err != nil {
		return err
	}
	switch f.format {
	case "json":
		err = report.ExplainedJSON(out, reports)
	case "markdown":
		err = report.ExplainedMarkdown(out, reports)
	default:
		err = report.Explained(out, reports, a.colorsReport(cfg.Color, "-"))
	}
	if err == nil {
		err = out.Commit()
	}
	if err == nil && failing {
		err = errNotices
	}
	return err
}

// explained are the entries to be explained: the page of that address, or all
// pages that link to it, with that target alone.
func explained(entries *outgoing.Entries, raw string) ([]outgoing.Entry, error) {
	base, err := weburl.Parse(entries.Base)
	if err != nil {
		return nil, err // never: the site was loaded with it
	}
	u, err := base.Resolve(raw)
	if err != nil {
		return nil, &usageError{"--explain: " + err.Error(), ""}
	}
	page := strings.TrimSuffix(u.WithoutFragment(), "/")
	var found []outgoing.Entry
	for _, e := range entries.List {
		if strings.TrimSuffix(e.URL, "/") == page {
			return []outgoing.Entry{e}, nil
		}
		if at := slices.IndexFunc(e.Targets, func(target string) bool { return target == raw || target == u.String() }); at >= 0 {
			e.Targets = e.Targets[at : at+1]
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return nil, &failure{fmt.Errorf("%s is neither a page of the site that links to others, nor linked to", raw),
			"sitelink diff lists what the site's pages link to; docs/guide/notifications.md says which links count"}
	}
	return found, nil
}
