package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/run/notify"
	"github.com/sitelink/sitelink/internal/run/receive"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/deliver"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/send"
)

// planFormats are the formats of a plan of notices.
var planFormats = []string{"text", "json", "markdown"}

// notifyFlags are the flags of notify alone, and of deploy.
type notifyFlags struct {
	format, by, explain, retry        string
	send, dryRun, due, status, record bool
	verbose, tombstones, wait         bool
}

func (f *notifyFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.send, "send", false, "send notices; without this flag or enabled = true in [outgoing], only print what would be sent")
	flags.BoolVar(&f.dryRun, "dry-run", false, "only print what would be sent, even with --send or enabled = true; SITELINK_DRY_RUN=true does the same")
	flags.BoolVar(&f.wait, "wait", false, "wait for notices that other runs have claimed, and send what those runs leave")
	flags.BoolVar(&f.tombstones, "tombstones", false, "write a page that answers 410 for each deleted page that nothing else answers for")
	addWordFlag(cmd, &f.format, "format", "print the plan or report as `FORMAT`: text, json or markdown", planFormats...)
	addWordFlag(cmd, &f.by, "group-by", "group the links of the plan by `WHAT`: page or target", "page", "target")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "list successful notices too")
	addConfigFlag(cmd)
	addFlags(cmd, config.TableKeys("outgoing"))
	addFlags(cmd, config.TableKeys("fetch"))
}

func notifyCommand(c *cli) *cobra.Command {
	var f notifyFlags
	cmd := &cobra.Command{
		Use:  "notify [DIR]",
		Args: oneDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(args); err != nil {
				return err
			}
			cfg, err := configureNotify(c, cmd, args, &f)
			if err != nil {
				return err
			}
			f.due = f.due || f.retry != "" && len(args) == 0
			return runNotify(cmd.Context(), c, cfg, &f)
		},
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.due, "due", false, "retry due notices from the ledger, without reading a docroot")
	flags.StringVar(&f.retry, "retry", "", "retry failed notices: all, or with --retry=`URL` those with this source or target; reads no docroot unless DIR is given")
	flags.Lookup("retry").NoOptDefVal = notify.AllFailed
	flags.BoolVar(&f.status, "status", false, "ask targets that accepted a notice for later processing whether they processed it")
	flags.BoolVar(&f.record, "record", false, "mark all current links as already notified, without sending anything")
	flags.StringVar(&f.explain, "explain", "", "send nothing; show whether targets would accept the page at `URL`, or the pages that link to it")
	addSiteKeyFlags(cmd, "color")
	return cmd
}

// check refuses flags that cannot mean anything together.
func (f *notifyFlags) check(args []string) error {
	var modes []string
	for _, m := range []struct {
		on   bool
		name string
	}{{f.due, "--due"}, {f.status, "--status"}, {f.record, "--record"}, {f.explain != "", "--explain"}} {
		if m.on {
			modes = append(modes, m.name)
		}
	}
	switch {
	case len(modes) > 1:
		return text.Usage(strings.Join(modes, " and ")+" cannot be combined", "use only one of them")
	case f.retry == notify.AllFailed && len(args) == 1 && strings.Contains(args[0], "://"):
		return text.Usage(args[0]+" is not a directory", "write it with an equals sign: --retry="+args[0])
	case f.retry != "" && (f.status || f.record || f.explain != ""):
		return text.Usage("--retry and "+modes[0]+" cannot be combined", "use only one of them")
	case f.send && f.explain != "":
		return text.Usage("--explain sends nothing", "remove --send")
	case (f.due || f.status) && len(args) > 0:
		return text.Usage(modes[0]+" reads no docroot", "remove "+args[0])
	}
	return nil
}

// configureNotify finds out what the user wants.
func configureNotify(c *cli, cmd *cobra.Command, args []string, f *notifyFlags) (*config.Config, error) {
	cfg, err := c.configure(cmd, args)
	if err != nil {
		return nil, err
	}
	switch dry := c.env.Getenv("SITELINK_DRY_RUN"); dry {
	case "", "false":
	case "true":
		f.dryRun = f.dryRun || !f.send // a flag comes before a variable
	default:
		return nil, text.Usage(fmt.Sprintf("SITELINK_DRY_RUN: must be true or false, not %q", dry), "")
	}
	return cfg, nil
}

// notifier is one run of notify, or of deploy.
type notifier struct {
	*cli
	flags   *notifyFlags
	project *project.Project
	recheck []ledger.Notice // failed notices that may be cured
}

// sends reports whether the run sends, and does not only print what it would send. The
// build of a preview sends only with --send, and only if its base URL is the address
// of the ledger. why says why this is a preview, or is "".
func (n *notifier) sends(ctx context.Context) (sends bool, why string, err error) {
	why = notify.PreviewBuild(ctx, n.project, n.env.Getenv)
	asked := (n.flags.send || n.project.Config.Outgoing.Enabled) && !n.flags.dryRun
	if !asked || why == "" {
		return asked, why, nil
	}
	note := fmt.Sprintf("nothing is sent, because this build is a preview: %s", why)
	if n.flags.send {
		snap, err := notify.ReadLedger(ctx, n.project, n.ui.warning)
		if err != nil {
			return false, why, err
		}
		base := "that is not known"
		if len(n.project.BaseURLs) > 0 {
			base = n.project.BaseURLs[0]
		}
		switch {
		case snap.New:
			note += ", and there is no ledger yet"
		case ledger.SameSite(base, snap.Base):
			return true, why, nil
		default:
			note += fmt.Sprintf("; --send needs the base URL of the ledger, %s, and this one is %s", snap.Base, base)
		}
	}
	n.ui.note(note)
	return false, why, nil
}

// lostInCI reports whether a ledger that does not exist was lost with the machine of an
// earlier build.
func (n *notifier) lostInCI(snap *ledger.Snapshot) bool {
	return snap.New && !n.flags.record && notify.IsFile(notify.LedgerName(n.project)) && notify.InCI(n.env.Getenv)
}

// sayLost says what to do about a ledger that was lost in CI.
func (n *notifier) sayLost() error {
	n.ui.report(text.WithHint(fmt.Errorf("there is no ledger %s: in CI, a file is lost with the machine, so nothing was recorded or sent", notify.ShowLedger(n.project)),
		"keep it in git: --ledger "+notify.GitLedger+". Or keep the file, and make it once: sitelink notify --record --send"))
	return errNotices
}

// runNotify does the work of `sitelink notify`.
func runNotify(ctx context.Context, c *cli, cfg *config.Config, f *notifyFlags) error {
	n := &notifier{cli: c, flags: f}
	find := c.find
	if f.status || f.due {
		find = c.findRoot // they read no docroot
	}
	var err error
	if n.project, err = find(ctx, cfg); err != nil {
		return err
	}
	switch {
	case f.explain != "":
		return n.explain(ctx)
	case !f.status:
		sends, why, err := n.sends(ctx)
		if err != nil {
			return err
		}
		if !sends {
			if err := n.preview(ctx); err != nil || why != "" {
				return err
			}
			n.ui.note("dry run: nothing was sent or recorded; add --send to send")
			return nil
		}
	}
	store, err := notify.OpenLedger(ctx, n.project, notify.LedgerOptions{AcceptLoss: f.record, Warn: c.ui.warning})
	if err != nil {
		return err
	}
	return closing(store, func() error { return n.run(ctx, store) })
}

// closing closes the store after work. The error of work comes first.
func closing(store ledger.Store, work func() error) error {
	err := work()
	closed := store.Close()
	if err == nil || errors.Is(err, errNotices) {
		return errors.Join(closed, err)
	}
	return err
}

// run does what the flags choose, with an open ledger.
func (n *notifier) run(ctx context.Context, store ledger.Store) error {
	snap, err := store.Load(ctx)
	if err != nil {
		return err
	}
	switch {
	case n.lostInCI(snap):
		return n.sayLost()
	case n.flags.status:
		return n.status(ctx, store, snap)
	case n.flags.due:
		retried, err := n.addFailed(snap, nil)
		if err == nil && len(retried) > 0 {
			if err = n.confirm(ctx, len(retried)); err == nil {
				err = store.Plan(ctx, snap.Base, ledger.Change{Notices: retried})
			}
		}
		if err != nil {
			return err
		}
		return n.send(ctx, store, snap.Base)
	}
	compared, err := n.compare(ctx, snap)
	if err != nil {
		return err
	}
	retried, err := n.addFailed(snap, compared)
	if err != nil {
		return err
	}
	if err := n.confirm(ctx, len(compared.Plan.Due())+len(retried)+len(n.recheck)); err != nil {
		return err
	}
	return n.carryOut(ctx, store, compared.Plan)
}

// addFailed adds the failed notices that --retry names to a plan, and keeps those that
// may be cured for the delivery. Notices of the plan take their place. compared is
// nil if no docroot is read.
func (n *notifier) addFailed(snap *ledger.Snapshot, compared *notify.Comparison) (retried []ledger.Notice, err error) {
	if n.flags.record {
		return nil, nil
	}
	taken := map[ledger.Link]bool{}
	var entries *outgoing.Entries
	if compared != nil {
		entries = compared.Entries
		for _, c := range compared.Plan.Change.Notices {
			taken[ledger.Link{Source: c.Source, Target: c.Target}] = true
		}
	}
	left := func(failed []ledger.Notice) []ledger.Notice {
		return slices.DeleteFunc(failed, func(f ledger.Notice) bool { return taken[ledger.Link{Source: f.Source, Target: f.Target}] })
	}
	if n.flags.retry != "" {
		if retried, err = notify.Failed(snap, n.flags.retry); err != nil {
			return nil, err
		}
		if len(retried) == 0 {
			n.ui.note("no notice has failed, so --retry sends none again")
		}
		retried = left(retried)
		for i := range retried {
			retried[i] = retried[i].Again()
			taken[ledger.Link{Source: retried[i].Source, Target: retried[i].Target}] = true
		}
		if compared != nil {
			compared.Plan.Change.Notices = append(compared.Plan.Change.Notices, retried...)
		}
	}
	n.recheck = left(notify.Cured(n.project, snap, entries))
	return retried, nil
}

// compare compares the docroot with the ledger.
func (n *notifier) compare(ctx context.Context, snap *ledger.Snapshot) (*notify.Comparison, error) {
	load, done := n.loading(n.project)
	defer done()
	return notify.CompareForSending(ctx, n.project, snap, n.flags.record, load)
}

// confirm asks the user, if there is a terminal, whether to send that many
// notices. Notices that earlier runs left open were confirmed then.
func (n *notifier) confirm(ctx context.Context, notices int) error {
	most := n.project.Config.Outgoing.MaxNotices
	if most == 0 || notices <= most {
		return nil
	}
	hint := fmt.Sprintf("--max-notices %d sends them", notices)
	if !n.flags.record {
		hint += "; --record records the links and sends nothing"
	}
	refused := text.WithHint(fmt.Errorf("%s are due, more than max-notices, %s: nothing was sent", count(notices, "notice"), thousands(most)), hint)
	if !n.env.StdinTTY || !n.env.StderrTTY || n.env.Stdin == nil {
		return refused
	}
	yes, err := newAsker(n.cli)(ctx, fmt.Sprintf("sitelink: %s are due, more than max-notices, %s. Send them?", count(notices, "notice"), thousands(most)))
	if err != nil || !yes {
		return cmp.Or(context.Cause(ctx), refused)
	}
	return nil
}

// carryOut records a plan in the ledger and sends what is due.
func (n *notifier) carryOut(ctx context.Context, store ledger.Store, plan *outgoing.Plan) error {
	if err := store.Plan(ctx, plan.Base, plan.Change); err != nil {
		return err
	}
	if !plan.First {
		return n.send(ctx, store, plan.Base)
	}
	if due := len(plan.Due()); due > 0 {
		learn := "learn"
		if due == 1 {
			learn = "learns"
		}
		n.ui.note(fmt.Sprintf("--record: the site has a new address; %s of the old address %s the new one", count(due, "target"), learn))
		return n.send(ctx, store, plan.Base)
	}
	why := "there was no ledger"
	if n.flags.record {
		why = "--record"
	}
	n.ui.note(fmt.Sprintf("%s: recorded %s with %s without sending anything; later runs send what changed", why,
		count(len(plan.Change.Pages), "page"), count(len(plan.Change.Links), "link")))
	if n.flags.format == "text" {
		return nil
	}
	return n.printOutcomes(plan.Base, &deliver.Report{})
}

// longestRun is the time after which a run sends no further notice, because hosts may be
// slow and a CI job must end.
const longestRun = time.Hour

// send sends all notices that are due, and prints their outcomes.
func (n *notifier) send(ctx context.Context, store ledger.Store, base string) error {
	cfg := n.project.Config
	opt, err := notify.DeliverOptions(ctx, cfg, n.delivery(store, base))
	if err != nil {
		return err
	}
	bounded, stop := context.WithTimeout(ctx, longestRun)
	defer stop()
	opt.Recheck = n.recheck
	progress := newProgress(n.ui, cfg.Progress, time.Now)
	waiting := false // it is reported
	opt.Progress = func(d deliver.Progress) {
		if progress == nil && d.WaitingFor != "" && !waiting {
			waiting = true
			n.ui.note(fmt.Sprintf("waiting up to %v for %s to be live, such as %s", cfg.Outgoing.Live, count(d.Waiting, "page"), visible(d.WaitingFor)))
		}
		progress.notices(d)
	}
	began := time.Now()
	result, held, err := n.deliver(bounded, store, opt)
	progress.done()
	// The outcomes before an error are printed too.
	if printErr := n.printOutcomes(base, result); err == nil {
		err = printErr
	}
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case result.Stopped != "":
		n.ui.warning(fmt.Sprintf("the run took %v and stopped: the next run sends the other %s", longestRun, count(result.NotTried, "notice")))
		return errNotices
	case len(held) > 0:
		for _, h := range held {
			sent := ""
			if h.Sent > 0 {
				sent = fmt.Sprintf("; up to %d of them may be sent already", h.Sent)
			}
			n.ui.warning(fmt.Sprintf("%s held by %s until %s%s", count(h.Notices, "notice"), notify.RunnerShown(h.Runner), h.Until.Format(time.RFC3339), sent))
		}
		n.ui.note("--wait waits for other runs")
		return errNotices
	}
	// What another run holds was reported above. --due asks for what is due, often
	// from a timer, so it does not repeat what is not. --retry is from a person.
	if !n.flags.due || n.flags.retry != "" {
		snap, err := store.Load(ctx)
		if err != nil {
			return err
		}
		if waiting := notify.Waiting(snap, began, result.Results); waiting != "" {
			n.ui.warning(waiting)
			return errNotices
		}
	}
	if result.Failed() > 0 {
		return errNotices
	}
	return nil
}

// heldStore is a store with notices that several runs can share.
type heldStore interface {
	Held(ctx context.Context, now time.Time) ([]ledger.Held, error)
}

// waitEvery is how often --wait looks at the claims of other runs.
const waitEvery = 5 * time.Second

// deliver sends all notices that are due, and returns those that other runs hold.
// With --wait it waits until there are none.
func (n *notifier) deliver(ctx context.Context, store ledger.Store, opt deliver.Options) (*deliver.Report, []ledger.Held, error) {
	total := &deliver.Report{}
	shared, isShared := store.(heldStore)
	waiting := false
	for {
		var held []ledger.Held
		var err error
		if isShared && n.flags.wait {
			// Before sending: a claim that ends in between is free for this run.
			if held, err = shared.Held(ctx, time.Now()); err != nil {
				return total, nil, err
			}
		}
		result, err := deliver.Run(ctx, store, opt)
		total.Add(result)
		switch {
		case err != nil || ctx.Err() != nil || !isShared:
			return total, nil, err
		case !n.flags.wait:
			held, err = shared.Held(ctx, time.Now())
			return total, held, err
		case len(held) == 0:
			return total, nil, nil
		}
		if !waiting {
			waiting = true
			for _, h := range held {
				n.ui.note(fmt.Sprintf("waiting for %s held by %s", count(h.Notices, "notice"), notify.RunnerShown(h.Runner)))
			}
		}
		select {
		case <-ctx.Done():
			total.Stopped = ctx.Err().Error()
			return total, held, nil
		case <-time.After(waitEvery):
		}
	}
}

// delivery returns what sending needs beside the configuration; store may be nil.
func (n *notifier) delivery(store ledger.Store, base string) notify.Delivery {
	return notify.Delivery{Version: versionNumber(), Base: base, Store: store}
}

// notices draws the progress of sending.
func (p *progress) notices(d deliver.Progress) {
	p.draw(func() string {
		text := fmt.Sprintf("sending notices: %s of %s", thousands(d.Finished), thousands(d.Claimed))
		if d.Failed > 0 {
			text += fmt.Sprintf(", %s failed", thousands(d.Failed))
		}
		if d.Waiting > 0 {
			text += fmt.Sprintf("; waiting for %s to be live", count(d.Waiting, "page"))
			if d.WaitingFor != "" {
				text += ", such as " + visible(d.WaitingFor)
			}
		}
		return text
	})
}

// status asks what became of notices that targets accepted for later, and prints
// all of them.
func (n *notifier) status(ctx context.Context, store ledger.Store, snap *ledger.Snapshot) error {
	options, err := notify.FetchOptions(n.project.Config, versionNumber(), snap.Base)
	if err != nil {
		return err
	}
	result, err := notify.Status(ctx, outgoing.NewClient(options), store, snap)
	if err != nil {
		return err
	}
	if len(result.Results) == 0 {
		n.ui.note("no target returned a status URL")
		return nil
	}
	n.flags.verbose = true
	if err := n.printOutcomes(snap.Base, result); err != nil {
		return err
	}
	if result.Failed() > 0 {
		return errNotices
	}
	return nil
}

// preview prints what a run would send, and changes nothing.
func (n *notifier) preview(ctx context.Context) error {
	snap, err := notify.ReadLedger(ctx, n.project, n.ui.warning)
	if err != nil {
		return err
	}
	if n.flags.due {
		var retried []ledger.Notice
		if retried, err = n.addFailed(snap, nil); err != nil {
			return err
		}
		n.flags.verbose = true
		err = n.printOutcomes(snap.Base, notify.DueReport(snap, retried, time.Now()))
	} else {
		err = n.previewPlan(ctx, snap)
	}
	if other := (*ledger.OtherSiteError)(nil); errors.As(err, &other) {
		n.ui.note(other.Error() + ": there is nothing to compare")
		err = nil
	}
	return err
}

// previewPlan prints the plan, and how many notices of earlier runs are due too.
func (n *notifier) previewPlan(ctx context.Context, snap *ledger.Snapshot) error {
	compared, err := n.compare(ctx, snap)
	if err != nil {
		return err
	}
	if n.flags.tombstones {
		if _, err := writeTombstones(n.cli, compared); err != nil {
			return err
		}
	}
	calls, err := n.plannedCalls(ctx, n.project, compared.Site)
	if err != nil {
		return err
	}
	if err := n.printPlan(compared, calls); err != nil {
		return err
	}
	if hint := notify.GoneRule(compared.Site.Profile().Name, compared.Plan.Unanswered); hint != "" {
		n.ui.note(hint)
	}
	retried, err := n.addFailed(snap, compared)
	if err != nil {
		return err
	}
	if len(retried) > 0 {
		n.ui.note(count(len(retried), "failed notice") + " will be sent again; sitelink ledger show --failed lists them")
	}
	if len(n.recheck) > 0 {
		n.ui.note(count(len(n.recheck), "failed notice") + " will be sent again if the cause is gone from the live page; sitelink ledger show --failed lists them")
	}
	if due := notify.DueBesides(snap, compared.Plan, time.Now()); due > 0 {
		n.ui.note(count(due, "notice") + " of earlier runs also due; sitelink notify --due lists them")
	}
	if waiting := notify.Waiting(snap, time.Now(), nil); waiting != "" {
		n.ui.note(waiting)
	}
	return nil
}

// explain prints how targets would see pages of the site, by requests that
// change nothing.
func (n *notifier) explain(ctx context.Context) error {
	snap, err := notify.ReadLedger(ctx, n.project, n.ui.warning)
	if err != nil {
		return err
	}
	// The pages are read: what the ledger knows about them does not matter.
	load, done := n.loading(n.project)
	compared, err := notify.Compare(ctx, n.project, &ledger.Snapshot{Base: snap.Base, New: true}, load)
	done()
	if err != nil {
		return err
	}
	reports, err := notify.Preview(ctx, n.project, compared.Entries, n.flags.explain, n.delivery(nil, compared.Entries.Base))
	if err != nil {
		return err
	}
	err = n.printTo(func(out io.Writer, color bool) error {
		switch n.flags.format {
		case "json":
			return report.ExplainedJSON(out, reports)
		case "markdown":
			return report.ExplainedMarkdown(out, reports)
		}
		return report.Explained(out, reports, color)
	})
	if err == nil && slices.ContainsFunc(reports, (*send.Preview).Failing) {
		err = errNotices
	}
	return err
}

func (n *notifier) printOutcomes(base string, r *deliver.Report) error {
	return n.printTo(func(out io.Writer, color bool) error {
		switch n.flags.format {
		case "json":
			return report.OutcomesJSON(out, base, r)
		case "markdown":
			return report.OutcomesMarkdown(out, r)
		}
		return report.Outcomes(out, r, report.OutcomesOptions{All: n.flags.verbose, Color: color})
	})
}

func (n *notifier) printPlan(compared *notify.Comparison, calls []report.PlannedCall) error {
	return n.printTo(func(out io.Writer, color bool) error {
		switch n.flags.format {
		case "json":
			return report.PlanJSON(out, compared.Plan, calls)
		case "markdown":
			return report.PlanMarkdown(out, compared.Plan, calls)
		}
		return report.Plan(out, compared.Plan, report.PlanOptions{ByTarget: n.flags.by == "target", Color: color, Calls: calls})
	})
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

// writeTombstones writes a page for each deleted page, prints how many, and returns their
// paths in the docroot.
func writeTombstones(c *cli, compared *notify.Comparison) (written []string, err error) {
	written, err = notify.WriteTombstones(compared.Site, compared.Plan)
	if len(written) > 0 && err == nil {
		c.ui.note(count(len(written), "tombstone") + " written")
	}
	return written, err
}

// printTo writes a report to standard output.
func (n *notifier) printTo(write func(out io.Writer, color bool) error) error {
	out, err := n.openOutput("-")
	if err != nil {
		return err
	}
	if err := write(out, n.colorsReport(n.project.Config.Color, "-")); err != nil {
		return err
	}
	return out.Commit()
}
