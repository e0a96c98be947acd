package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/run/audit/record"
	"github.com/sitelink/sitelink/internal/run/live"
	"github.com/sitelink/sitelink/internal/run/notify"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

func deployCommand(c *cli) *cobra.Command {
	var f notifyFlags
	var noCheck, build, verify bool
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
			rehearsal := f.dryRun // not SITELINK_DRY_RUN, with which previews deploy
			cfg, err := configureNotify(c, cmd, dir, &f)
			if err != nil {
				return err
			}
			if err := f.check(nil); err != nil {
				return err
			}
			for _, name := range []string{"since", "gone", "anchors", "log"} {
				if noCheck && cmd.Flags().Changed(name) {
					return text.Usage(fmt.Sprintf("--%s has no effect with --no-check", name), "only the check compares with what was there before")
				}
			}
			if build {
				if err := buildDocroot(cmd.Context(), c, cfg); err != nil {
					return err
				}
			}
			p, err := c.find(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			d := deployment{notifier: notifier{cli: c, flags: &f, project: p}, command: command, noCheck: noCheck, verify: verify, rehearsal: rehearsal}
			return d.run(cmd.Context())
		},
	}
	f.add(cmd)
	cmd.Flags().Lookup("dry-run").Usage = "check, and print what would be sent; neither run the command nor send, even with --send or enabled = true"
	cmd.Flags().BoolVar(&build, "build", false, "run the site's generator first, which writes the docroot that the command publishes")
	cmd.Flags().BoolVar(&noCheck, "no-check", false, "deploy without checking the docroot first")
	cmd.Flags().BoolVar(&verify, "verify", false, "then ask the live site for every file, and send no notices if it lacks some, see sitelink verify")
	addSiteKeyFlags(cmd, "color", "since", "gone", "anchors", "log")
	return cmd
}

// buildDocroot runs the generator of the working directory, which writes its usual docroot.
func buildDocroot(ctx context.Context, c *cli, cfg *config.Config) error {
	b, err := openBuild(ctx, c, cfg, false, nil)
	if err != nil {
		return err
	}
	defer b.Close()
	p, usual := b.Project, b.Project.Generator.Docroot
	if name := cfg.Docroot; name != "" && p.Abs(name) != usual {
		return text.Usage(fmt.Sprintf("--build writes to %s, but the docroot is %s", p.Show(usual), name), "build the site first, then run deploy without --build")
	}
	return b.Into(ctx, usual, c.env.Stderr)
}

// deployment is one run of deploy.
type deployment struct {
	notifier
	// command is what the user runs to publish the site; noCheck skips the check
	// before it.
	command []string
	noCheck bool
	// verify asks the live site for all files before notices are sent.
	verify bool
	// rehearsal: the command does not run.
	rehearsal bool
	// preview says why the build is a preview's; "" if it is not.
	preview string
	// checked are the files of the docroot when the check began, and those that the run
	// itself added.
	checked map[string]fs.FileInfo
	// record is what the site answers, for the next run.
	record *record.Record
}

// run does the work of `sitelink deploy`. It plans before the command runs, so that the
// user can still say no, and again if the command changed the docroot.
func (d *deployment) run(ctx context.Context) error {
	d.checked = filesOf(d.project.Abs(d.project.Docroot))
	if !d.noCheck {
		if err := d.check(ctx, "not deployed: the check found errors; --no-check deploys anyway"); err != nil {
			return err
		}
	}
	sends, why, err := d.sends(ctx)
	if err != nil {
		return err
	}
	d.preview = why
	if sends {
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
	if other := (*ledger.OtherSiteError)(nil); errors.As(err, &other) {
		d.preview = cmp.Or(d.preview, other.Error())
		d.ui.note(other.Error() + ": there is nothing to compare")
	} else if err != nil {
		return err
	}
	if compared, err = d.publish(ctx, snap, compared); err != nil {
		return err
	}
	if compared != nil {
		calls, err := d.plannedCalls(ctx, d.project, compared.Site)
		if err != nil {
			return err
		}
		if err := d.printPlan(compared, calls); err != nil {
			return err
		}
	}
	switch {
	case d.rehearsal:
		d.ui.note("dry run: did not run " + strings.Join(d.command, " ") + "; nothing was sent or recorded")
	case d.preview == "":
		d.ui.note("deployed without sending notices; to send them, use --send or set enabled = true in [outgoing]")
	}
	return nil
}

// check checks the docroot. If it has errors, the findings go to standard output, and
// otherwise says what that means. If not, the report goes to standard error, because
// standard output is for the outcomes of the notices.
func (d *deployment) check(ctx context.Context, otherwise string) error {
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
		d.ui.line(otherwise)
	}
	return err
}

func (d *deployment) deployAndNotify(ctx context.Context, store ledger.Store) error {
	snap, err := store.Load(ctx)
	if err != nil {
		return err
	}
	before, err := d.plan(ctx, snap)
	if err != nil {
		return err
	}
	if live := d.project.Config.Outgoing.Live; live > 0 && len(before.Plan.Due())+len(d.recheck) > 0 {
		if err := notify.OwnAddress(ctx, d.project.Config, versionNumber(), before.Plan.Base); err != nil {
			return fmt.Errorf("not deployed: %w", err)
		}
	}
	// The user confirms before the command runs; afterwards it is too late to say
	// no.
	if err := d.confirm(ctx, len(before.Plan.Due())+len(d.recheck)); err != nil {
		return err
	}
	compared, err := d.publish(ctx, snap, before)
	switch {
	case err != nil:
		return err
	case d.lostInCI(snap):
		return d.sayLost()
	case compared != before:
		err = d.confirm(ctx, len(compared.Plan.Due())+len(d.recheck))
	}
	if err == nil {
		err = d.carryOut(ctx, store, compared.Plan)
	}
	if err == nil || errors.Is(err, errNotices) || ctx.Err() != nil {
		return err
	}
	// The site is deployed, whatever happened to the notices.
	d.ui.report(err)
	d.ui.note("the site is deployed; fix the problem above, then run sitelink notify")
	return errNotices
}

// plan compares the docroot with the ledger. A docroot that must not be published is an
// error.
func (d *deployment) plan(ctx context.Context, snap *ledger.Snapshot) (*notify.Comparison, error) {
	compared, err := d.compare(ctx, snap)
	if err != nil {
		return nil, err
	}
	if err := check.Deployable(&check.Summary{Docroot: compared.Site.Root(), ServerPages: compared.Site.ServerPages()}); err != nil {
		return nil, err
	}
	if _, err = d.addFailed(snap, compared); err != nil {
		return nil, err
	}
	if d.record, err = record.Of(ctx, compared.Site, ""); err != nil {
		return nil, fmt.Errorf("record the addresses of the site: %w", err)
	}
	return compared, nil
}

// publish writes tombstones and runs the user's command. The command's output goes to
// standard error, because it is not the report. publish returns the comparison of what
// was published: before, unless the command changed the docroot. Only what is published
// may be recorded and announced. If it is broken, the error is [errFindings].
func (d *deployment) publish(ctx context.Context, snap *ledger.Snapshot, before *notify.Comparison) (*notify.Comparison, error) {
	if d.rehearsal {
		return before, nil
	}
	root := d.project.Abs(d.project.Docroot)
	if before != nil && d.flags.tombstones {
		written, err := writeTombstones(d.cli, before)
		if err != nil {
			return nil, err
		}
		for _, name := range written {
			name = filepath.Join(root, filepath.FromSlash(name))
			if d.checked[name], err = os.Lstat(name); err != nil {
				return nil, fmt.Errorf("read tombstone: %w", err)
			}
		}
	}
	cmd := exec.CommandContext(ctx, d.command[0], d.command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = d.env.Stdin, d.env.Stderr, d.env.Stderr
	// An interrupt ends the command with all that it started. In the group of a terminal, where
	// ssh can ask for a password, Ctrl-C has reached them already.
	system.ProcessGroup(cmd)
	if system.HasTerminal() {
		cmd.SysProcAttr = nil
	}
	if err := system.Run(cmd); err != nil {
		if ctx.Err() != nil {
			system.KillGroup(cmd)
			return nil, ctx.Err()
		}
		return nil, text.WithHint(fmt.Errorf("run %s: %w", strings.Join(d.command, " "), system.Cause(err)), "the site may be deployed in part; no notices were sent")
	}

	compared := before
	var broken error
	switch now := filesOf(root); {
	case len(now) == 0:
		d.ui.note(fmt.Sprintf("the command left no files in %s: the notices are about those that were checked", d.project.Docroot))
	case !maps.EqualFunc(now, d.checked, sameFile):
		if d.noCheck {
			d.ui.note(fmt.Sprintf("the command changed %s: the notices are about what it published", d.project.Docroot))
		} else {
			d.ui.note(fmt.Sprintf("the command changed %s after the check: checking what it published", d.project.Docroot))
			broken = d.check(ctx, "deployed, but the check found errors; no notices were sent; deploy --build builds and checks before it deploys")
			if broken != nil && !errors.Is(broken, errFindings) {
				return nil, broken
			}
		}
		if before != nil {
			var err error
			if compared, err = d.plan(ctx, snap); err != nil {
				return nil, text.WithHint(fmt.Errorf("%s is deployed: %w", d.project.Docroot, err), "fix this, then run sitelink notify")
			}
			if d.flags.tombstones && len(compared.Plan.Unanswered) > 0 {
				d.ui.warning("the command removed tombstones, or made them necessary, and did not publish them: build first, with deploy --build")
			}
		}
	}
	// The next check can tell from the record which addresses and ids are gone. A preview
	// is not what readers rely on.
	if compared != nil && d.preview == "" {
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
	}
	if d.verify && broken == nil && compared != nil {
		broken = d.verifyLive(ctx, compared.Site)
	}
	return compared, broken
}

// verifyLive compares the live site with what was published. A file that the host lacks is
// [errFindings]; other differences are only printed.
func (d *deployment) verifyLive(ctx context.Context, s *site.Site) error {
	c := *d.cli
	c.env.Stdout = d.env.Stderr
	differ, err := c.verify(ctx, d.project, s.Host, verifyFlags{format: "text"})
	for _, g := range differ {
		if slices.ContainsFunc(g.Differences, live.Observation.Missing) {
			d.ui.line("deployed, but the host lacks files; no notices were sent")
			return errFindings
		}
	}
	if err != nil {
		return fmt.Errorf("deployed, but not verified, so no notices were sent: %w", err)
	}
	return nil
}

// filesOf lists the files below a directory. It leaves out what git and sitelink keep
// beside a site, and returns none if the directory does not exist.
func filesOf(root string) map[string]fs.FileInfo {
	files := map[string]fs.FileInfo{}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return files
	}
	// A file that disappears meanwhile, or that cannot be read, is not listed.
	_ = filepath.WalkDir(real, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || e.Name() != ".git" && e.Name() != system.StateName && e.IsDir():
			return nil
		case e.IsDir():
			return filepath.SkipDir
		}
		if info, err := e.Info(); err == nil && e.Name() != ".git" {
			rel, _ := filepath.Rel(real, path) // never fails below real
			files[filepath.Join(root, rel)] = info
		}
		return nil
	})
	return files
}

// sameFile reports whether a file was neither replaced nor written to.
func sameFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}
