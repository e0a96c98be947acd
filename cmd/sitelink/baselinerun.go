package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/check/baseline"
	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/project"
)

// checkForBaseline checks the site without a baseline.
func checkForBaseline(ctx context.Context, c *cli, cfg *config.Config) ([]check.Finding, *project.Project, error) {
	run, err := c.load(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	result, err := run.Check(ctx)
	if err != nil {
		return nil, nil, err
	}
	return result.Findings, run.Project, nil
}

func writeBaseline(ctx context.Context, c *cli, cfg *config.Config, terms baseline.Terms, force bool) error {
	name := audit.BaselineFile(cfg)
	if _, err := os.Stat(name); !force && !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fs.ErrExist
		}
		return fault.New(writeFailure(name, disk.Cause(err)), "sitelink baseline update keeps its dates and reasons; --force replaces it")
	}
	findings, _, err := checkForBaseline(ctx, c, cfg)
	if err != nil {
		return err
	}
	b := baseline.New(findings, terms)
	if err := saveBaseline(c, name, b); err != nil {
		return err
	}
	if cfg.Baseline == "" {
		c.ui.note(fmt.Sprintf("check uses it with --baseline %s, or baseline = %q in [check] of sitelink.toml", name, name))
	}
	return c.print(fmt.Sprintf("%s: %s accepted\n", visible(name), count(b.Len(), "finding")))
}

func updateBaseline(ctx context.Context, c *cli, cfg *config.Config, add bool, terms baseline.Terms) error {
	name := audit.BaselineFile(cfg)
	today, err := c.today()
	if err != nil {
		return err
	}
	old, err := audit.ReadBaseline(name)
	if err != nil {
		return err
	}
	findings, p, err := checkForBaseline(ctx, c, cfg)
	if err != nil {
		return err
	}
	u := old.Update(findings, old.Match(findings, today, audit.CouldFind(p)), add, terms)
	if err := saveBaseline(c, name, u.Baseline); err != nil {
		return err
	}
	text := fmt.Sprintf("%s: %s", visible(name), count(u.Baseline.Len(), "entry"))
	for _, change := range []struct {
		n    int
		what string
	}{{u.Dropped, "dropped"}, {u.Added, "added"}, {u.Renewed, "renewed"}, {u.Expired, "expired"}} {
		if change.n > 0 {
			text += fmt.Sprintf(", %s %s", thousands(change.n), change.what)
		}
	}
	if add && u.Expired > 0 {
		c.ui.note("entries that have expired are renewed by --add --expires DAY")
	}
	return c.print(text + "\n")
}

// saveBaseline replaces the file as a whole, or leaves it as it was.
func saveBaseline(c *cli, name string, b *baseline.Baseline) error {
	out, err := c.openOutput(name)
	if err != nil {
		return err
	}
	defer out.Discard()
	if err := b.Write(out); err != nil {
		return err
	}
	return out.Commit()
}

// showBaseline prints what a baseline accepts. Entries that have expired come
// first: they are what somebody has to decide on.
func showBaseline(c *cli, cfg *config.Config) error {
	name := audit.BaselineFile(cfg)
	today, err := c.today()
	if err != nil {
		return err
	}
	b, err := audit.ReadBaseline(name)
	if err != nil {
		return err
	}
	var expired, active, text strings.Builder
	n, dated := 0, 0
	for _, e := range b.Entries() {
		list, until := &active, "until"
		if e.Expired(today) {
			list, until = &expired, "expired after"
			n++
		} else if e.Expires != "" {
			dated++
		}
		list.WriteString(visible(e.String()))
		var terms []string
		if e.Expires != "" {
			terms = append(terms, until+" "+string(e.Expires))
		}
		if e.Reason != "" {
			terms = append(terms, visible(e.Reason))
		}
		if len(terms) > 0 {
			list.WriteString(" (" + strings.Join(terms, ": ") + ")")
		}
		list.WriteByte('\n')
	}
	text.WriteString(expired.String() + active.String())
	if text.Len() > 0 {
		text.WriteByte('\n')
	}
	fmt.Fprintf(&text, "%s: %s, %s with a last day, %s expired\n", visible(name), count(b.Len(), "entry"), thousands(dated), thousands(n))
	return c.print(text.String())
}
