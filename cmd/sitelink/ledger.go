package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/notify"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

func ledgerCommand(c *cli) *cobra.Command {
	return withCommands(&cobra.Command{
		Use: "ledger",
	}, ledgerShowCommand(c), ledgerVerifyCommand(c), ledgerCompactCommand(c), ledgerExportCommand(c), ledgerMergeCommand(c))
}

// ledgerSub makes a subcommand that works on the ledger of the configuration.
func ledgerSub(c *cli, use string, work func(ctx context.Context, c *cli, p *project.Project) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Args: noArguments,
		RunE: c.onProject(func(ctx context.Context, p *project.Project, _ []string) error { return work(ctx, c, p) }),
	}
	addFlags(cmd, config.TableKeys("outgoing", "ledger"))
	addConfigFlag(cmd)
	return cmd
}

func ledgerShowCommand(c *cli) *cobra.Command {
	var all, failed bool
	cmd := ledgerSub(c, "show", func(ctx context.Context, c *cli, p *project.Project) error {
		if failed {
			return showFailed(ctx, c, p)
		}
		return showLedger(ctx, c, p, all)
	})
	cmd.Flags().BoolVar(&failed, "failed", false, "list failed notices with cause and cure")
	cmd.Flags().BoolVar(&all, "all", false, "list every notice")
	return cmd
}

func ledgerVerifyCommand(c *cli) *cobra.Command {
	var repair bool
	cmd := ledgerSub(c, "verify", func(ctx context.Context, c *cli, p *project.Project) error {
		if repair {
			return repairLedger(ctx, c, p)
		}
		return verifyLedger(ctx, c, p)
	})
	cmd.Flags().BoolVar(&repair, "repair", false, "restore missing rows from the history of the git repository")
	return cmd
}

func ledgerCompactCommand(c *cli) *cobra.Command {
	return ledgerSub(c, "compact", compactLedger)
}

func ledgerExportCommand(c *cli) *cobra.Command {
	var output string
	cmd := ledgerSub(c, "export", func(ctx context.Context, c *cli, p *project.Project) error { return exportLedger(ctx, c, p, output) })
	cmd.Flags().StringVar(&output, "output", "-", "write the ledger to `FILE`; - means standard output")
	return cmd
}

func ledgerMergeCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "merge BASE OURS THEIRS",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 3 {
				return text.Usage(fmt.Sprintf("merge takes three files, got %d", len(args)), "git calls it: sitelink ledger merge %O %A %B")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return mergeLedgers(c, args[0], args[1], args[2]) },
	}
}

// showLedger does the work of `sitelink ledger show`.
func showLedger(ctx context.Context, c *cli, p *project.Project, all bool) error {
	snap, err := c.readLedger(ctx, p)
	if err != nil {
		return err
	}
	out := c.stdout()
	states := map[ledger.State]int{}
	for i := range snap.Notices {
		n := &snap.Notices[i]
		states[n.State]++
		if !all && !n.Open() && n.State != ledger.Permanent {
			continue
		}
		line := fmt.Sprintf("%s  %s -> %s", strings.Join(nonEmpty(string(n.State), string(n.Protocol), string(n.Event)), " "), n.Source, n.Target)
		if n.Attempts > 0 {
			line += "  " + count(n.Attempts, "attempt")
		}
		if !n.Next.IsZero() {
			line += ", again from " + n.Next.UTC().Format(time.RFC3339)
		}
		if n.Message != "" {
			line += ": " + n.Message
		}
		if _, err := fmt.Fprintln(&out, visible(line)); err != nil {
			return err
		}
	}
	summary := fmt.Sprintf("%s: %s", snap.Base, ledgerCounts(snap))
	var parts []string
	for _, s := range []ledger.State{ledger.Pending, ledger.InFlight, ledger.Retry, ledger.Done, ledger.Accepted, ledger.Permanent, ledger.NoService, ledger.Skipped} {
		if states[s] > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", thousands(states[s]), s))
		}
	}
	if len(parts) > 0 {
		summary += " (" + strings.Join(parts, ", ") + ")"
	}
	_, err = fmt.Fprintln(&out, visible(summary))
	return err
}

// showFailed does the work of `sitelink ledger show --failed`.
func showFailed(ctx context.Context, c *cli, p *project.Project) error {
	snap, err := c.readLedger(ctx, p)
	if err != nil {
		return err
	}
	type reason struct{ cause, cure string }
	var reasons []reason
	notices := map[reason][]string{}
	failed := snap.Failed()
	for i := range failed {
		n := &failed[i]
		why := reason{n.Message, c.ui.commands(notify.Cure(n))}
		if notices[why] == nil {
			reasons = append(reasons, why)
		}
		notices[why] = append(notices[why], fmt.Sprintf("  %s  %s -> %s", strings.Join(nonEmpty(string(n.Protocol), string(n.Event)), " "), n.Source, n.Target))
	}
	out := c.stdout()
	for _, why := range reasons {
		lines := append([]string{"cause: " + why.cause, "cure: " + why.cure}, notices[why]...)
		for _, line := range append(lines, "") {
			if _, err := fmt.Fprintln(&out, visible(line)); err != nil {
				return err
			}
		}
	}
	summary := "no failed notices"
	if len(failed) > 0 {
		summary = fmt.Sprintf("%s, %s", count(len(failed), "failed notice"), count(len(reasons), "cause"))
	}
	_, err = fmt.Fprintln(&out, summary)
	return err
}

func nonEmpty(words ...string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

func ledgerCounts(s *ledger.Snapshot) string {
	return count(len(s.Pages), "page") + ", " + count(len(s.Links), "link") + ", " + count(len(s.Notices), "notice")
}

// readLedger returns what the ledger holds. One that does not exist is an error.
func (c *cli) readLedger(ctx context.Context, p *project.Project) (*ledger.Snapshot, error) {
	snap, err := notify.ReadLedger(ctx, p, c.ui.warning)
	if err == nil && snap.New {
		err = errNoLedger(p)
	}
	return snap, err
}

// errNoLedger is the error of a ledger that does not exist.
func errNoLedger(p *project.Project) error {
	return text.WithHint(fmt.Errorf("there is no ledger %s", notify.ShowLedger(p)), "sitelink notify --send creates one; --ledger names another")
}

// warner is a store that can report damage of its files.
type warner interface {
	Warnings() []ledger.Warning
	Lost() error
}

// verifyLedger does the work of `sitelink ledger verify`.
func verifyLedger(ctx context.Context, c *cli, p *project.Project) error {
	store, err := notify.OpenLedger(ctx, p, notify.LedgerOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer store.Close()
	snap, err := store.Load(ctx)
	if err != nil {
		return err
	}
	if snap.New {
		return errNoLedger(p)
	}
	var faults []string
	if s, ok := store.(warner); ok {
		for _, w := range s.Warnings() {
			faults = append(faults, w.String())
		}
		if err := s.Lost(); err != nil {
			faults = append(faults, err.Error()+"; sitelink ledger verify --repair restores rows from the git history")
		}
	}
	out := c.stdout()
	for _, f := range faults {
		if _, err := fmt.Fprintln(&out, visible(f)); err != nil {
			return err
		}
	}
	verdict := "ok: "
	if len(faults) > 0 {
		verdict = count(len(faults), "fault") + ": "
	}
	if _, err := fmt.Fprintln(&out, verdict+ledgerCounts(snap)); err != nil {
		return err
	}
	if len(faults) > 0 {
		return errFindings
	}
	return nil
}

// repairLedger does the work of `sitelink ledger verify --repair`.
func repairLedger(ctx context.Context, c *cli, p *project.Project) error {
	name := notify.LedgerName(p)
	if !notify.IsFile(name) {
		return text.Usage("only a ledger in a file can be repaired: "+notify.ShowLedger(p), "sitelink notify --record --send records all links again without sending anything")
	}
	if err := notify.CheckLedger(p, false); err != nil {
		return err
	}
	if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) {
		return errNoLedger(p)
	}
	earlier, err := ledger.Earlier(ctx, name, p.Env())
	if err != nil {
		c.ui.warning(fmt.Sprintf("no earlier version of the ledger: %v", err))
	}
	used, restored, err := ledger.Repair(name, earlier, nil)
	switch {
	case errors.As(err, new(*ledger.LostError)):
		return text.WithHint(fmt.Errorf("%w; no version in the git history has them, and nothing was changed", err),
			"record all links again without sending anything: sitelink notify --record --send")
	case err != nil:
		return notify.ExplainLedger(err)
	case used < 0:
		c.ui.note("the ledger has all its rows")
	default:
		c.ui.note(fmt.Sprintf("restored %s from the ledger of the commit HEAD~%d; sitelink notify prints what would be sent now", count(restored, "row"), used))
	}
	return verifyLedger(ctx, c, p)
}

// compacter is a store with a file that can be rewritten.
type compacter interface{ Compact() error }

// compactLedger does the work of `sitelink ledger compact`.
func compactLedger(ctx context.Context, c *cli, p *project.Project) error {
	if _, err := c.readLedger(ctx, p); err != nil {
		return err
	}
	store, err := notify.OpenLedger(ctx, p, notify.LedgerOptions{Warn: c.ui.warning})
	if err != nil {
		return err
	}
	return closing(store, func() error {
		file, ok := store.(compacter)
		if !ok {
			return text.Usage("this ledger has no file to compact: "+notify.ShowLedger(p), "")
		}
		return file.Compact()
	})
}

// exportLedger does the work of `sitelink ledger export`.
func exportLedger(ctx context.Context, c *cli, p *project.Project, output string) error {
	snap, err := c.readLedger(ctx, p)
	if err != nil {
		return err
	}
	out, err := c.openOutput(output)
	if err != nil {
		return err
	}
	defer out.Discard()
	if err := ledger.Write(out, snap); err != nil {
		return err
	}
	return out.Commit()
}

// mergeLedgers does the work of `sitelink ledger merge`. Damaged
// lines of a side are warnings and do not stop the merge: otherwise git would leave
// the file unmerged.
func mergeLedgers(c *cli, base, ours, theirs string) error {
	var texts [3][]byte
	for i, name := range []string{base, ours, theirs} {
		text, err := system.Read(name, 4<<30)
		if err != nil {
			return fmt.Errorf("read ledger %s: %w", name, err)
		}
		texts[i] = text
	}
	out, err := c.openOutput(ours)
	if err != nil {
		return err
	}
	defer out.Discard()
	faults, err := ledger.Merge(out, texts[0], texts[1], texts[2], [3]string{base, ours, theirs})
	if err != nil {
		return notify.ExplainLedger(err)
	}
	for _, f := range faults {
		if f.Lost {
			return text.WithHint(fmt.Errorf("%s", f), "repair the line by hand; nothing was merged")
		}
		c.ui.warning(f.String())
	}
	return out.Commit()
}
