package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/websub"
)

const diffLong = `diff compares the site's links to other sites with those of the last deploy, as recorded in the
ledger. It prints who will be notified of what: new links (+), links on a page that changed (~),
removed links (-) and pages that moved (>). It sends nothing and changes nothing; sitelink notify
does.

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
	by, format, output, ledger, config string
	internal, tombstones               bool
}

func (a *app) diffCommand() *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:               "diff [DIR]",
		Short:             "show which links to other sites changed since the last deploy",
		Long:              diffLong + "\n" + linksExitCodes,
		Example:           diffExample,
		Args:              oneDirectory,
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOfWords("format", f.format, planFormats); err != nil {
				return err
			}
			if err := oneOfWords("by", f.by, []string{"page", "target"}); err != nil {
				return err
			}
			cfg, err := a.configure(cmd, args, f.config)
			if err != nil {
				return err
			}
			if f.ledger != "" {
				if cfg.Outgoing.Ledger, err = ledgerFlag(f.ledger); err != nil {
					return err
				}
			}
			return a.diff(cmd.Context(), cfg, f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.by, "by", "page", "group links by `WHAT`: page or target")
	flags.StringVar(&f.format, "format", "text", "print the answer as `FORMAT`: text, json or markdown")
	flags.StringVar(&f.output, "output", "-", "write the answer to `FILE`, replacing it atomically; - means standard output")
	flags.StringVar(&f.ledger, "ledger", "", "compare with `LEDGER`, a file (default: ledger in [outgoing])")
	flags.BoolVar(&f.internal, "internal", false, "list links between the site's own pages too (format json)")
	flags.BoolVar(&f.tombstones, "tombstones", false, "write a page that answers 410 for each deleted page that nothing else answers for")
	flags.StringVar(&f.config, "config", "", "read `FILE` instead of searching for sitelink.toml")
	addFlags(cmd, slices.DeleteFunc(config.Keys(), func(k config.Key) bool {
		return k.Table != "" && k.Name != "jobs" && k.Name != "progress" || k.Kind == config.Rules || flags.Lookup(k.Name) != nil
	}))
	for name, words := range map[string][]string{"format": planFormats, "by": {"page", "target"}} {
		if err := cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic(err) // the flag was defined above
		}
	}
	return cmd
}

// diff does the work of `sitelink diff`.
func (a *app) diff(ctx context.Context, cfg *config.Config, f diffFlags) error {
	snap, err := a.readLedger(ctx, cfg)
	if err != nil {
		return err
	}
	opt := outgoingOptions(cfg)
	opt.Internal = f.internal
	s, entries, plan, err := a.plan(ctx, cfg, snap, opt)
	if err != nil {
		return err
	}
	if f.tombstones {
		if err := a.writeTombstones(s, plan); err != nil {
			return err
		}
	}
	out, err := a.openOutput(f.output)
	if err != nil {
		return err
	}
	defer out.Discard()
	switch f.format {
	case "json":
		var internal []ledger.Link
		if f.internal {
			internal = backlinks(entries)
		}
		err = report.PlanJSON(out, plan, internal)
	case "markdown":
		err = report.PlanMarkdown(out, plan)
	default:
		err = report.Plan(out, plan, report.PlanOptions{ByTarget: f.by == "target", Color: a.colorsReport(cfg.Color, f.output)})
		if hint := goneRules(s.Profile().Name, plan.Unanswered); err == nil && hint != "" {
			a.ui.note(hint)
		}
	}
	if err != nil {
		return err
	}
	return out.Commit()
}

// plan loads the docroot of the configuration and compares it with a ledger.
func (a *app) plan(ctx context.Context, cfg *config.Config, snap *ledger.Snapshot, opt outgoing.Options) (*site.Site, *outgoing.Entries, *outgoing.Plan, error) {
	docroot := a.docroot(cfg.Docroot)
	if err := lookAt(docroot); err != nil {
		return nil, nil, nil, err
	}
	timer := newTimer(a.ui)
	progress := newProgress(a.ui, cfg.Progress, time.Now)
	defer progress.done()
	siteOpt := a.siteOf(cfg, docroot)
	siteOpt.Sums = true
	if len(siteOpt.BaseURLs) == 0 && snap.Base != "" {
		siteOpt.BaseURLs = []string{snap.Base}
	}
	if progress != nil {
		siteOpt.Progress = progress.pages
	}
	s, err := loadSite(ctx, docroot, siteOpt)
	if err != nil {
		return nil, nil, nil, explain(err)
	}
	timer.stage("load")
	cache, err := openEntryCache()
	if err != nil {
		return nil, nil, nil, err
	}
	entries, err := outgoing.Read(ctx, s, snap, opt, cache.Cache)
	if errors.Is(err, outgoing.ErrNoBase) {
		err = &usageError{"others can only be told of pages whose address is known", "name it: --base-url https://example.org/"}
	}
	if err != nil {
		return nil, nil, nil, err
	}
	cache.keep()
	timer.stage("entries")
	plan := outgoing.Diff(entries, snap)
	timer.stage("diff")
	return s, entries, plan, nil
}

// outgoingOptions are those of the configuration.
func outgoingOptions(cfg *config.Config) outgoing.Options {
	o := cfg.Outgoing
	opt := outgoing.Options{
		Pages: o.Pages, Exclude: o.Exclude, Allow: o.Allow, Deny: o.Deny, Content: o.Content, Rel: o.Rel,
		Hubs: hubsOf(o.Protocols),
	}
	if slices.Contains(o.Protocols, string(ledger.WebSub)) {
		opt.Hubs = websub.Hubs
	}
	return opt
}

// hubsOf reads the hubs of feeds, if they are told at all.
func hubsOf(protocols []string) func(feed []byte) []string {
	if !slices.Contains(protocols, string(ledger.WebSub)) {
		return nil
	}
	return websub.Hubs
}

// backlinks are the links between the site's own pages, sorted by source and
// target, both as absolute addresses.
func backlinks(e *outgoing.Entries) []ledger.Link {
	list := []ledger.Link{}
	for i := range e.List {
		entry := &e.List[i]
		for _, path := range entry.Internal {
			list = append(list, ledger.Link{Source: entry.URL, Target: e.Origin + path})
		}
	}
	return list
}
