package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/announce"
	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// showLedger does the work of `sitelink ledger show`.
func showLedger(ctx context.Context, c *cli, p *project.Project, all bool) error {
	snap, err := announce.ReadLedger(ctx, p, c.ui.warning)
	if err != nil {
		return err
	}
	if snap.New {
		return errNoLedger(c, p)
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

func nonEmpty(words ...string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

func ledgerCounts(s *ledger.Snapshot) string {
	return count(len(s.Pages), "page") + ", " + count(len(s.Links), "link") + ", " + count(len(s.Notices), "notice")
}

// errNoLedger is the error of a ledger that does not exist.
func errNoLedger(c *cli, p *project.Project) error {
	return fault.New(fmt.Errorf("there is no ledger %s", announce.ShowLedger(p)), "sitelink notify --send begins one; --ledger names another")
}

// faulty is a store that knows what was odd about its files.
type warner interface{ Warnings() []ledger.Warning }

// verifyLedger does the work of `sitelink ledger verify`.
func verifyLedger(ctx context.Context, c *cli, p *project.Project) error {
	store, err := announce.OpenLedger(ctx, p, true, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	snap, err := store.Load(ctx)
	if err != nil {
		return err
	}
	if snap.New {
		return errNoLedger(c, p)
	}
	var faults []ledger.Warning
	if s, ok := store.(warner); ok {
		faults = s.Warnings()
	}
	out := c.stdout()
	for _, f := range faults {
		if _, err := fmt.Fprintln(&out, visible(f.String())); err != nil {
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

// compacter is a store that can be written anew.
type compacter interface{ Compact() error }

// compactLedger does the work of `sitelink ledger compact`.
func compactLedger(ctx context.Context, c *cli, p *project.Project) error {
	if snap, err := announce.ReadLedger(ctx, p, nil); err != nil {
		return err
	} else if snap.New {
		return errNoLedger(c, p)
	}
	store, err := announce.OpenLedger(ctx, p, false, c.ui.warning)
	if err != nil {
		return err
	}
	return closing(store, func() error {
		file, ok := store.(compacter)
		if !ok {
			return fault.Usage("this ledger has no file to compact: "+announce.ShowLedger(p), "")
		}
		return file.Compact()
	})
}

// exportLedger does the work of `sitelink ledger export`.
func exportLedger(ctx context.Context, c *cli, p *project.Project, output string) error {
	snap, err := announce.ReadLedger(ctx, p, c.ui.warning)
	if err != nil {
		return err
	}
	if snap.New {
		return errNoLedger(c, p)
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

// mergeLedgers does the work of `sitelink ledger merge`. What cannot be read of
// a side is said, and does not stop the merge: git would leave the file as it
// is.
func mergeLedgers(c *cli, base, ours, theirs string) error {
	var texts [3][]byte
	for i, name := range []string{base, ours, theirs} {
		text, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read ledger %s: %w", name, disk.Cause(err))
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
		return announce.ExplainLedger(err)
	}
	for _, f := range faults {
		if f.Lost {
			return fault.New(fmt.Errorf("%s", f), "repair the line by hand; nothing was merged")
		}
		c.ui.warning(f.String())
	}
	return out.Commit()
}
