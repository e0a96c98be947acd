package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/notify"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

func deployCommand(c *cli) *cobra.Command {
	var f notifyFlags
	var noCheck bool
	cmd := &cobra.Command{
		Use: "deploy [DIR] [flags] -- COMMAND [ARGUMENT...]",
		Args: func(cmd *cobra.Command, args []string) error {
			at := cmd.ArgsLenAtDash()
			if at < 0 || at == len(args) {
				return text.Usage("deploy needs the command that deploys", "write it after --: sitelink deploy public -- rsync -a public/ example.org:/var/www/")
			}
			if at > 1 {
				return text.Usage(fmt.Sprintf("deploy takes one directory, got %d", at), "")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			at := cmd.ArgsLenAtDash()
			dir, command := args[:at], args[at:]
			cfg, err := configureNotify(c, cmd, dir, &f)
			if err != nil {
				return err
			}
			if err := f.check(nil); err != nil {
				return err
			}
			p, err := c.find(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			for _, name := range []string{"since", "gone", "anchors", "log"} {
				if noCheck && cmd.Flags().Changed(name) {
					return text.Usage(fmt.Sprintf("--%s has no effect with --no-check", name), "only the check compares with what was there before")
				}
			}
			d := deployment{notifier: notifier{cli: c, flags: &f, project: p}, command: command, noCheck: noCheck}
			return d.run(cmd.Context())
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&noCheck, "no-check", false, "deploy without checking the docroot first")
	addSiteKeyFlags(cmd, "color", "since", "gone", "anchors", "log")
	return cmd
}

// deployment is one run of deploy.
type deployment struct {
	notifier
	// command is what the user runs to publish the site; noCheck skips the check
	// before it.
	command []string
	noCheck bool
	// record is what the site answers, for the next run.
	record *audit.Record
}

// run does the work of `sitelink deploy`. It plans before the command runs, since
// the command may change the docroot.
func (d *deployment) run(ctx context.Context) error {
	if !d.noCheck {
		if err := d.check(ctx); err != nil {
			return err
		}
	}
	if d.flags.sends(d.project.Config) {
		// Opened before the command runs: two deploys at the same time would send
		// the same notices.
		store, err := notify.OpenLedger(ctx, d.project, notify.LedgerOptions{Warn: d.ui.warning})
		if err != nil {
			return err
		}
		return closing(store, func() error { return d.deployAndNotify(ctx, store) })
	}
	snap, err := notify.ReadLedger(ctx, d.project, d.ui.warning)
	if err != nil {
		return err
	}
	compared, err := d.plan(ctx, snap)
	if err != nil {
		return err
	}
	calls, err := d.plannedCalls(ctx, d.project, compared.Site)
	if err != nil {
		return err
	}
	if err := d.publish(ctx); err != nil {
		return err
	}
	if err := d.printPlan(compared, calls); err != nil {
		return err
	}
	d.ui.note("deployed without sending notices; to send them, use --send or set enabled = true in [outgoing]")
	return nil
}

// check checks the docroot. If it has errors, nothing is deployed and the findings
// go to standard output; otherwise standard output is for the outcomes of the
// notices, and the report of the check goes to standard error.
func (d *deployment) check(ctx context.Context) error {
	var report bytes.Buffer
	checker := *d.cli
	checker.env.Stdout = &report
	err := checkProject(ctx, &checker, d.project, nil)
	to := d.env.Stderr
	if errors.Is(err, errFindings) {
		to = d.env.Stdout
	}
	if _, writeErr := to.Write(report.Bytes()); writeErr != nil && err == nil {
		err = fmt.Errorf("write report: %w", writeErr)
	}
	if errors.Is(err, errFindings) {
		d.ui.line("not deployed: the check found errors; --no-check deploys anyway")
	}
	return err
}

func (d *deployment) deployAndNotify(ctx context.Context, store ledger.Store) error {
	snap, err := store.Load(ctx)
	if err != nil {
		return err
	}
	compared, err := d.plan(ctx, snap)
	if err != nil {
		return err
	}
	plan := compared.Plan
	if live := d.project.Config.Outgoing.Live; live > 0 && len(plan.Due())+len(d.recheck) > 0 {
		if err := notify.OwnAddress(ctx, d.project.Config, versionNumber(), plan.Base); err != nil {
			return fmt.Errorf("not deployed: %w", err)
		}
	}
	// The user confirms before the command runs; afterwards it is too late to say
	// no.
	if err := d.confirm(ctx, len(plan.Due())+len(d.recheck)); err != nil {
		return err
	}
	if err := d.publish(ctx); err != nil {
		return err
	}
	err = d.carryOut(ctx, store, plan)
	if err == nil || errors.Is(err, errNotices) || ctx.Err() != nil {
		return err
	}
	// The site is deployed, whatever happened to the notices.
	d.ui.report(err)
	d.ui.note("the site is deployed; fix the problem above, then run sitelink notify")
	return errNotices
}

// plan compares the docroot with the ledger and writes tombstones. A docroot that
// must not be published is an error.
func (d *deployment) plan(ctx context.Context, snap *ledger.Snapshot) (*notify.Comparison, error) {
	compared, err := d.compare(ctx, snap)
	if err != nil {
		return nil, err
	}
	if err := check.Deployable(&check.Summary{Docroot: compared.Site.Root(), ServerPages: compared.Site.ServerPages()}); err != nil {
		return nil, err
	}
	if d.flags.tombstones {
		if err := writeTombstones(d.cli, compared); err != nil {
			return nil, err
		}
	}
	if _, err := d.addFailed(snap, compared); err != nil {
		return nil, err
	}
	if d.record, err = audit.RecordOf(ctx, compared.Site, ""); err != nil {
		return nil, fmt.Errorf("record the addresses of the site: %w", err)
	}
	return compared, nil
}

// publish runs the user's command. Its output is not the report, so it goes to
// standard error.
func (d *deployment) publish(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, d.command[0], d.command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = d.env.Stdin, d.env.Stderr, d.env.Stderr
	// The terminal has interrupted the command too: give it time to clean up.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	switch {
	case err == nil:
		// The next check can tell from the record which addresses and ids are gone.
		name, err := notify.RecordName(d.project)
		if err == nil {
			err = system.MakeState(filepath.Dir(d.project.Abs(name)))
		}
		if err == nil {
			err = d.record.Write(d.project.Abs(name))
		}
		if err != nil {
			d.ui.warning(fmt.Sprintf("the addresses of the site are not recorded: %v", err))
		}
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return text.WithHint(fmt.Errorf("run %s: %w", strings.Join(d.command, " "), system.Cause(err)), "the site may be deployed in part; no notices were sent")
}
