package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/announce"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/deliver"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/precheck"
)

const notifyLong = `notify tells other sites what changed on this one since the last deploy: by webmention or pingback,
whichever the target supports, and by LINK and UNLINK to hosts that support them. Run it when the
site is live. Before it sends a notice, notify fetches the page and verifies that it contains the
link, or no longer contains it.

notify is a dry run unless you give --send or set enabled = true in [outgoing]: it prints the plan, as
sitelink diff does, and changes nothing. The first run, without a ledger, records the current links
and sends nothing, so that an archive never floods other sites.

The ledger records what was sent, and what the targets answered. If a run is stopped or killed, the
next one continues it: no notice is lost, and only notices that were being sent at that moment may be
sent twice. The next notify retries notices that failed for now; notify --due does so without reading
a docroot, for example from a timer.

notify prints nothing if all went well; -v lists every outcome. docs/guide/notifications.md has more.
`

const notifyExitCodes = `Exit codes:
  0    all notices were sent, or there was nothing to send
  2    wrong usage or configuration
  3    the work could not be done
  4    some notices failed; with --explain, some would fail
  130  interrupted; notices that were being sent were finished and recorded
`

const notifyExample = `  # show what would be sent
  sitelink notify public --base-url https://example.org/

  # send it
  sitelink notify public --send

  # show why targets refuse a page, or would refuse it
  sitelink notify public --explain https://example.org/post/

  # from a timer: retry what failed for now
  sitelink notify --due --send

  # start over: mark all current links as already notified
  sitelink notify public --baseline --send`

// planFormats are the formats of a plan of notices.
var planFormats = []string{"text", "json", "markdown"}

// notifyFlags are the flags of notify alone, and of deploy.
type notifyFlags struct {
	ledger, config, format, explain     string
	send, dryRun, due, status, baseline bool
	verbose, bust, tombstones           bool
	pace, live, deadline                time.Duration
	maxNotices                          int
	allow                               []string
}

func (f *notifyFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.send, "send", false, "send notices; without this flag or enabled = true in [outgoing], only print what would be sent")
	flags.BoolVar(&f.dryRun, "dry-run", false, "only print what would be sent, even with enabled = true")
	flags.StringVar(&f.ledger, "ledger", "", "record notices in `LEDGER`: a file, git:REF or postgres://... (default: ledger in [outgoing])")
	flags.DurationVar(&f.pace, "pace", time.Second, "wait at least `TIME` between two requests to one host, such as 500ms (default: pace in [outgoing])")
	flags.DurationVar(&f.live, "live", 0, "wait at most `TIME` for a page to be live (default: live in [outgoing])")
	flags.DurationVar(&f.deadline, "deadline", 0, "start no new notice after `TIME`; 0 means no limit (default: deadline in [outgoing])")
	flags.BoolVar(&f.bust, "bust-cache", false, "bypass caches when fetching the site's pages, by adding a query to their URLs")
	flags.IntVar(&f.maxNotices, "max-notices", 0, "ask before sending more than `N` notices; 0 means no limit (default: max-notices in [outgoing])")
	flags.StringArrayVar(&f.allow, "allow-address", nil, "allow connections to the network `CIDR` although it is not public; repeatable")
	addWordFlag(cmd, &f.format, "format", "text", "print the plan or report as `FORMAT`: text, json or markdown", planFormats...)
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "list successful notices too")
	flags.StringVar(&f.config, "config", "", "read `FILE` instead of searching for sitelink.toml")
}

func notifyCommand(c *cli) *cobra.Command {
	var f notifyFlags
	cmd := &cobra.Command{
		Use:               "notify [DIR]",
		Short:             "notify other sites of new, changed and removed links",
		Long:              notifyLong + "\n" + notifyExitCodes,
		Example:           notifyExample,
		Args:              oneDirectory,
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := configureNotify(c, cmd, args, &f)
			if err != nil {
				return err
			}
			if err := f.check(args); err != nil {
				return err
			}
			return runNotify(cmd.Context(), c, cfg, &f)
		},
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.due, "due", false, "retry due notices from the ledger, without reading a docroot")
	flags.BoolVar(&f.status, "status", false, "ask targets that accepted a notice for later processing what became of it")
	flags.BoolVar(&f.baseline, "baseline", false, "mark all current links as already notified, without sending anything")
	flags.StringVar(&f.explain, "explain", "", "send nothing; show how targets would judge the page at `URL`, or all pages that link to it")
	addSiteKeyFlags(cmd, "color")
	return cmd
}

// check refuses flags that cannot mean anything together.
func (f *notifyFlags) check(args []string) error {
	var modes []string
	for _, m := range []struct {
		on   bool
		name string
	}{{f.due, "--due"}, {f.status, "--status"}, {f.baseline, "--baseline"}, {f.explain != "", "--explain"}} {
		if m.on {
			modes = append(modes, m.name)
		}
	}
	switch {
	case len(modes) > 1:
		return fault.Usage(strings.Join(modes, " and ")+" are different runs", "give one of them")
	case f.send && f.explain != "":
		return fault.Usage("--explain sends nothing", "leave --send out")
	case f.send && f.dryRun:
		return fault.Usage("--send and --dry-run contradict each other", "give one of them")
	case (f.due || f.status) && len(args) > 0:
		return fault.Usage(modes[0]+" looks at no docroot", "leave "+args[0]+" out")
	}
	return nil
}

// configureNotify finds out what the user wants; flags come before the table
// [outgoing].
func configureNotify(c *cli, cmd *cobra.Command, args []string, f *notifyFlags) (*config.Config, error) {
	cfg, err := c.configure(cmd, args, f.config)
	if err != nil {
		return nil, err
	}
	if f.ledger != "" {
		if cfg.Outgoing.Ledger, err = ledgerFlag(f.ledger); err != nil {
			return nil, err
		}
	}
	for _, d := range []struct {
		name  string
		value time.Duration
		field *time.Duration
	}{{"pace", f.pace, &cfg.Outgoing.Pace}, {"live", f.live, &cfg.Outgoing.Live}, {"deadline", f.deadline, &cfg.Outgoing.Deadline}} {
		if !cmd.Flags().Changed(d.name) {
			continue
		}
		if d.value < 0 {
			return nil, fault.Usage(fmt.Sprintf("--%s: must not be negative, but is %v", d.name, d.value), "")
		}
		*d.field = d.value
	}
	if cmd.Flags().Changed("max-notices") {
		if f.maxNotices < 0 {
			return nil, fault.Usage(fmt.Sprintf("--max-notices: must not be negative, but is %d", f.maxNotices), "")
		}
		cfg.Outgoing.MaxNotices = f.maxNotices
	}
	if len(f.allow) > 0 {
		var networks []netip.Prefix
		for _, text := range f.allow {
			network, err := config.ParseNetwork(text)
			if err != nil {
				return nil, fault.Usage("--allow-address: "+err.Error(), "")
			}
			networks = append(networks, network)
		}
		cfg.Fetch.AllowAddress = append(networks, cfg.Fetch.AllowAddress...)
	}
	return cfg, nil
}

// sends tells whether the run sends, or only says what it would send.
func (f *notifyFlags) sends(cfg *config.Config) bool {
	return f.send || cfg.Outgoing.Enabled && !f.dryRun
}

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
