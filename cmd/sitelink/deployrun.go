package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/announce"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// deploy does the work of `sitelink deploy`.
//
// The plan is made before the command runs: what it leaves in the docroot is
// its own business.
func (a *app) deploy(ctx context.Context, cfg *config.Config, f *notifyFlags, noCheck bool, command []string) error {
	p, err := a.find(ctx, cfg)
	if err != nil {
		return err
	}
	if !noCheck {
		if err := a.checkFirst(ctx, p); err != nil {
			return err
		}
	}
	if f.sends(cfg) {
		// Opened before the command runs: a second deploy at the same time
		// would tell the same.
		store, err := announce.OpenLedger(ctx, p, false, a.ui.warning)
		if err != nil {
			return err
		}
		return closing(store, func() error { return a.deployAndTell(ctx, p, f, store, command) })
	}
	snap, err := announce.ReadLedger(ctx, p, a.ui.warning)
	if err != nil {
		return err
	}
	plan, err := a.deployPlan(ctx, p, f, snap)
	if err != nil {
		return err
	}
	if err := a.runCommand(ctx, command); err != nil {
		return err
	}
	if err := a.showPlan(cfg, f, plan); err != nil {
		return err
	}
	a.ui.note("deployed; nobody was told: --send, or enabled = true in [outgoing], does it")
	return nil
}

// checkFirst checks the docroot. Findings are the report of a deploy that does
// not take place; else standard output is for the outcomes of the notices.
func (a *app) checkFirst(ctx context.Context, p *project.Project) error {
	var said bytes.Buffer
	checker := *a
	checker.env.Stdout = &said
	err := checker.checkProject(ctx, p)
	to := a.env.Stderr
	if errors.Is(err, errFindings) {
		to = a.env.Stdout
	}
	if _, werr := to.Write(said.Bytes()); werr != nil && err == nil {
		err = fmt.Errorf("write report: %w", werr)
	}
	if errors.Is(err, errFindings) {
		a.ui.line("not deployed: the check found errors; --no-check deploys nevertheless")
	}
	return err
}

func (a *app) deployAndTell(ctx context.Context, p *project.Project, f *notifyFlags, store ledger.Store, command []string) error {
	cfg := p.Config
	snap, err := store.Load(ctx)
	if err != nil {
		return err
	}
	plan, err := a.deployPlan(ctx, p, f, snap)
	if err != nil {
		return err
	}
	// Asked before the command runs: afterwards it would be too late to say no.
	if err := a.allow(cfg, len(plan.Due())); err != nil {
		return err
	}
	if err := a.runCommand(ctx, command); err != nil {
		return err
	}
	cfg.Outgoing.MaxNotices = 0 // just asked
	err = a.carryOut(ctx, cfg, f, store, plan)
	if err == nil || errors.Is(err, errNotices) || ctx.Err() != nil {
		return err
	}
	// The site is deployed, whatever happened to the notices.
	a.ui.report(err)
	a.ui.note("the site is deployed; run sitelink notify when that is repaired")
	return errNotices
}

// deployPlan compares the docroot with the ledger, and makes it ready to be
// published: one that is not to be is an error.
func (a *app) deployPlan(ctx context.Context, p *project.Project, f *notifyFlags, snap *ledger.Snapshot) (*outgoing.Plan, error) {
	c, err := a.compare(ctx, p, snap, f.baseline)
	if err != nil {
		return nil, err
	}
	if err := check.Deployable(&check.Summary{Docroot: c.Site.Root(), ServerPages: c.Site.ServerPages()}); err != nil {
		return nil, err
	}
	if f.tombstones {
		if err := a.writeTombstones(c); err != nil {
			return nil, err
		}
	}
	return c.Plan, nil
}

// runCommand runs the command of the user, whose output is not the report.
func (a *app) runCommand(ctx context.Context, command []string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.env.Stdin, a.env.Stderr, a.env.Stderr
	// The terminal has interrupted it as well: it gets the time to clean up.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &failure{fmt.Errorf("run %s: %w", strings.Join(command, " "), disk.Cause(err)), "the site may be deployed in part; nobody was told"}
}
