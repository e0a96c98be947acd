package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/announce"
	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/receive"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

const diffLong = `diff compares the site's links to other sites with those of the last deploy, as recorded in the
ledger. It prints who will be notified of what: new links (+), links on a page that changed (~),
removed links (-) and pages that moved (>). It sends nothing and changes nothing; sitelink notify
does. Where the store of sitelink serve is, diff also lists the UNLINKR and LINKMOD calls that it makes
after a deploy of this docroot.

Without a ledger, no deploy is known: diff then counts the links that notify would record.
docs/guide/notifications.md explains which pages and links count.
`

const diffExample = `  # what notify would send after a deploy of public
  sitelink diff public --base-url https://example.org/

  # the same by target, or for programs
  sitelink diff public --by target
  sitelink diff public --format json

  # write pages for the addresses of deleted posts, for hosts that cannot answer 410
  sitelink diff public --tombstones`

// diffFlags are the flags of diff alone.
type diffFlags struct {
	by, format, output   string
	internal, tombstones bool
}

func diffCommand(c *cli) *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:     "diff [DIR]",
		Short:   "show which links to other sites changed since the last deploy",
		Long:    diffLong + "\n" + linksExitCodes,
		Example: diffExample,
		Args:    oneDirectory,
		RunE:    c.onSite(func(ctx context.Context, cfg *config.Config) error { return runDiff(ctx, c, cfg, f) }),
	}
	flags := cmd.Flags()
	addWordFlag(cmd, &f.by, "by", "group links by `WHAT`: page or target", "page", "target")
	addWordFlag(cmd, &f.format, "format", "print the answer as `FORMAT`: text, json or markdown", planFormats...)
	flags.StringVar(&f.output, "output", "-", "write the answer to `FILE`, replacing it atomically; - means standard output")
	addFlags(cmd, config.TableKeys("outgoing", "ledger"))
	flags.BoolVar(&f.internal, "internal", false, "list links between the site's own pages too (format json)")
	flags.BoolVar(&f.tombstones, "tombstones", false, "write a page that answers 410 for each deleted page that nothing else answers for")
	addConfigFlag(cmd)
	addSiteKeyFlags(cmd)
	return cmd
}

// runDiff does the work of `sitelink diff`.
func runDiff(ctx context.Context, c *cli, cfg *config.Config, f diffFlags) error {
	p, err := c.find(ctx, cfg)
	if err != nil {
		return err
	}
	snap, err := announce.ReadLedger(ctx, p, c.ui.warning)
	if err != nil {
		return err
	}
	load, done := c.loading(p)
	compared, err := announce.Compare(ctx, p, snap, announce.Options{Internal: f.internal, Load: load})
	done()
	if err != nil {
		return err
	}
	if f.tombstones {
		if err := writeTombstones(c, compared); err != nil {
			return err
		}
	}
	calls, err := c.plannedCalls(ctx, p, compared.Site)
	if err != nil {
		return err
	}
	out, err := c.openOutput(f.output)
	if err != nil {
		return err
	}
	defer out.Discard()
	switch f.format {
	case "json":
		var internal []ledger.Link
		if f.internal {
			internal = announce.Backlinks(compared.Entries)
		}
		err = report.PlanJSON(out, compared.Plan, internal, calls)
	case "markdown":
		err = report.PlanMarkdown(out, compared.Plan, calls)
	default:
		err = report.Plan(out, compared.Plan, report.PlanOptions{ByTarget: f.by == "target", Color: c.colorsReport(cfg.Color, f.output), Calls: calls})
		if hint := announce.GoneRule(compared.Site.Profile().Name, compared.Plan.Unanswered); err == nil && hint != "" {
			c.ui.note(hint)
		}
	}
	if err != nil {
		return err
	}
	return out.Commit()
}

// plannedCalls returns the calls that sitelink serve makes after a deploy of a site.
func (c *cli) plannedCalls(ctx context.Context, p *project.Project, s *site.Site) (calls []report.PlannedCall, err error) {
	planned, err := receive.PlannedCalls(ctx, p, audit.Handle(s), versionNumber())
	if err != nil {
		return nil, err
	}
	for _, call := range planned {
		calls = append(calls, report.PlannedCall{Method: string(call.Method), Source: call.Source, Target: call.Target, Replacement: call.Replacement})
	}
	if most := p.Config.Outgoing.MaxNotices; most > 0 && len(calls) > most {
		c.ui.warning(fmt.Sprintf("sitelink serve would have %s to make, more than max-notices in [outgoing], %s: it would send none", count(len(calls), "call"), thousands(most)))
	}
	return calls, nil
}

// writeTombstones writes a page for each deleted page, and prints how many.
func writeTombstones(c *cli, compared *announce.Comparison) error {
	n, err := announce.WriteTombstones(compared.Site, compared.Plan)
	if n > 0 && err == nil {
		c.ui.note(count(n, "tombstone") + " written")
	}
	return err
}
