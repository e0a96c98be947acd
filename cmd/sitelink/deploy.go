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

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/announce"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

const deployLong = `deploy runs the command that publishes the site, together with sitelink:

  1. check the docroot; stop if there are errors
  2. run the command; stop if it fails
  3. wait until the changed pages are live with their links
  4. notify other sites of what changed, as sitelink notify does

deploy sends no notices unless you give --send or set enabled = true in [outgoing]; it prints the plan
instead. A notice that fails does not undo the deploy: the exit code is 4, and a later notify tries
again. deploy refuses a docroot that hugo server wrote, because its pages load scripts of the
development server.
`

const deployExitCodes = `Exit codes:
  0    deployed; all notices were sent, or there was nothing to send
  1    findings; nothing was deployed
  2    wrong usage or configuration
  3    the work could not be done, or the command failed
  4    deployed, but some notices failed
  130  interrupted
`

const deployExample = `  # deploy with rsync
  sitelink deploy public --send -- rsync -a --delete public/ example.org:/var/www/

  # deploy with your own script
  sitelink deploy -- sh -c 'hugo && ./publish.sh'`

func deployCommand(c *cli) *cobra.Command {
	var f notifyFlags
	var noCheck bool
	cmd := &cobra.Command{
		Use:     "deploy [DIR] [flags] -- COMMAND [ARGUMENT...]",
		Short:   "check, deploy, and notify other sites",
		Long:    deployLong + "\n" + deployExitCodes,
		Example: deployExample,
		Args: func(cmd *cobra.Command, args []string) error {
			at := cmd.ArgsLenAtDash()
			if at < 0 || at == len(args) {
				return fault.Usage("deploy needs the command that deploys", "write it behind --: sitelink deploy public -- rsync -a public/ example.org:/var/www/")
			}
			if at > 1 {
				return fault.Usage(fmt.Sprintf("deploy takes one directory, got %d", at), "")
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
			return runDeploy(cmd.Context(), c, cfg, &f, noCheck, command)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.tombstones, "tombstones", false, "before the command, write a page that answers 410 for each deleted page that nothing else answers for")
	cmd.Flags().BoolVar(&noCheck, "no-check", false, "deploy without checking the docroot first")
	addSiteKeyFlags(cmd, "color")
	return cmd
}

// runDeploy does the work of `sitelink deploy`.
//
// The plan is made before the command runs: what it leaves in the docroot is
// its own business.
func runDeploy(ctx context.Context, c *cli, cfg *config.Config, f *notifyFlags, noCheck bool, command []string) error {
	p, err := c.find(ctx, cfg)
	if err != nil {
		return err
	}
	if !noCheck {
		if err := checkBeforeDeploy(ctx, c, p); err != nil {
			return err
		}
	}
	if f.sends(cfg) {
		// Opened before the command runs: a second deploy at the same time
		// would tell the same.
		store, err := announce.OpenLedger(ctx, p, false, c.ui.warning)
		if err != nil {
			return err
		}
		return closing(store, func() error { return deployAndNotify(ctx, c, p, f, store, command) })
	}
	snap, err := announce.ReadLedger(ctx, p, c.ui.warning)
	if err != nil {
		return err
	}
	plan, err := deployPlan(ctx, c, p, f, snap)
	if err != nil {
		return err
	}
	if err := runCommand(ctx, c, command); err != nil {
		return err
	}
	if err := showPlan(c, cfg, f, plan); err != nil {
		return err
	}
	c.ui.note("deployed; nobody was told: --send, or enabled = true in [outgoing], does it")
	return nil
}

// checkBeforeDeploy checks the docroot. Findings are the report of a deploy that does
// not take place; else standard output is for the outcomes of the notices.
func checkBeforeDeploy(ctx context.Context, c *cli, p *project.Project) error {
	var said bytes.Buffer
	checker := *c
	checker.env.Stdout = &said
	err := checkProject(ctx, &checker, p)
	to := c.env.Stderr
	if errors.Is(err, errFindings) {
		to = c.env.Stdout
	}
	if _, werr := to.Write(said.Bytes()); werr != nil && err == nil {
		err = fmt.Errorf("write report: %w", werr)
	}
	if errors.Is(err, errFindings) {
		c.ui.line("not deployed: the check found errors; --no-check deploys nevertheless")
	}
	return err
}

func deployAndNotify(ctx context.Context, c *cli, p *project.Project, f *notifyFlags, store ledger.Store, command []string) error {
	cfg := p.Config
	snap, err := store.Load(ctx)
	if err != nil {
		return err
	}
	plan, err := deployPlan(ctx, c, p, f, snap)
	if err != nil {
		return err
	}
	// Asked before the command runs: afterwards it would be too late to say no.
	if err := confirmNotices(c, cfg, len(plan.Due())); err != nil {
		return err
	}
	if err := runCommand(ctx, c, command); err != nil {
		return err
	}
	cfg.Outgoing.MaxNotices = 0 // just asked
	err = carryOutPlan(ctx, c, cfg, f, store, plan)
	if err == nil || errors.Is(err, errNotices) || ctx.Err() != nil {
		return err
	}
	// The site is deployed, whatever happened to the notices.
	c.ui.report(err)
	c.ui.note("the site is deployed; run sitelink notify when that is repaired")
	return errNotices
}

// deployPlan compares the docroot with the ledger, and makes it ready to be
// published: one that is not to be is an error.
func deployPlan(ctx context.Context, c *cli, p *project.Project, f *notifyFlags, snap *ledger.Snapshot) (*outgoing.Plan, error) {
	compared, err := compareWithLedger(ctx, c, p, snap, f.baseline)
	if err != nil {
		return nil, err
	}
	if err := check.Deployable(&check.Summary{Docroot: compared.Site.Root(), ServerPages: compared.Site.ServerPages()}); err != nil {
		return nil, err
	}
	if f.tombstones {
		if err := writeTombstones(c, compared); err != nil {
			return nil, err
		}
	}
	return compared.Plan, nil
}

// runCommand runs the command of the user, whose output is not the report.
func runCommand(ctx context.Context, c *cli, command []string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.env.Stdin, c.env.Stderr, c.env.Stderr
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
	return fault.New(fmt.Errorf("run %s: %w", strings.Join(command, " "), disk.Cause(err)), "the site may be deployed in part; nobody was told")
}
