package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/run/audit/baseline"
	"github.com/sitelink/sitelink/internal/run/commits"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

func baselineCommand(c *cli) *cobra.Command {
	return withCommands(&cobra.Command{
		Use: "baseline",
	}, baselineWriteCommand(c), baselineUpdateCommand(c), baselineShowCommand(c))
}

// notForBaseline are the keys of check that say how a report looks.
var notForBaseline = []string{"fail-on", "format", "group-by", "all", "show", "output", "color", "baseline-ref", "baseline-docroot"}

// termFlags are --expires and --reason.
type termFlags struct{ expires, reason string }

func (t *termFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.expires, "expires", "", "accept the new entries only until `DATE`, such as 2027-01-31")
	cmd.Flags().StringVar(&t.reason, "reason", "", "record `TEXT` as the reason for the new entries")
}

func (t *termFlags) terms() (baseline.Terms, error) {
	terms := baseline.Terms{Reason: t.reason}
	if len(t.reason) > baseline.MaxReasonBytes {
		return terms, text.Usage(fmt.Sprintf("--reason: must be at most %d bytes long, not %d", baseline.MaxReasonBytes, len(t.reason)), "")
	}
	if t.expires == "" {
		return terms, nil
	}
	var err error
	if terms.Expires, err = baseline.ParseDate(t.expires); err != nil {
		return terms, text.Usage("--expires: "+err.Error(), "")
	}
	return terms, nil
}

func baselineWriteCommand(c *cli) *cobra.Command {
	var force bool
	var flags termFlags
	cmd := &cobra.Command{
		Use:  "write [DIR]",
		Args: oneDirectory,
		RunE: c.onSite(func(ctx context.Context, cfg *config.Config) error {
			terms, err := flags.terms()
			if err != nil {
				return err
			}
			return writeBaseline(ctx, c, cfg, terms, force)
		}),
	}
	addKeyFlags(cmd, notForBaseline...)
	addConfigFlag(cmd)
	cmd.Flags().BoolVar(&force, "force", false, "replace an existing baseline")
	flags.add(cmd)
	return cmd
}

func baselineUpdateCommand(c *cli) *cobra.Command {
	var add bool
	var flags termFlags
	cmd := &cobra.Command{
		Use:  "update [DIR]",
		Args: oneDirectory,
		RunE: c.onSite(func(ctx context.Context, cfg *config.Config) error {
			terms, err := flags.terms()
			switch {
			case err != nil:
				return err
			case !add && terms != (baseline.Terms{}):
				return text.Usage("--expires and --reason apply only to entries that --add adds", "use --add, or remove them")
			}
			return updateBaseline(ctx, c, cfg, add, terms)
		}),
	}
	addKeyFlags(cmd, notForBaseline...)
	addConfigFlag(cmd)
	cmd.Flags().BoolVar(&add, "add", false, "accept new findings too")
	flags.add(cmd)
	return cmd
}

func baselineShowCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use:  "show",
		Args: noArguments,
		RunE: c.onSite(func(_ context.Context, cfg *config.Config) error { return showBaseline(c, cfg) }),
	}
	addOnlyKeyFlags(cmd, "baseline")
	addConfigFlag(cmd)
	return cmd
}

// oneDirectory accepts DIR or nothing.
func oneDirectory(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return text.Usage(fmt.Sprintf("%s takes one directory, got %d", cmd.Name(), len(args)), "run it once for each docroot")
	}
	return nil
}

// checkForBaseline checks the site without a baseline.
func checkForBaseline(ctx context.Context, c *cli, cfg *config.Config) ([]check.Finding, *project.Project, error) {
	p, err := c.find(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	gone, err := commits.Since(ctx, p, c.commitOptions())
	if err != nil {
		return nil, nil, err
	}
	_, result, err := c.check(ctx, p, func(opt *audit.Options) { opt.Since = gone })
	if err != nil {
		return nil, nil, err
	}
	return result.Findings, p, nil
}

// builtFindings checks the site that was built in the project of dir, without a
// baseline, and prints nothing. It returns an error if there is no such site.
func (c *cli) builtFindings(ctx context.Context, dir string, cfg *config.Config) ([]check.Finding, error) {
	p, err := c.findIn(ctx, dir, cfg)
	if err != nil {
		return nil, err
	}
	run, err := audit.Open(ctx, p, audit.Options{})
	if err != nil {
		return nil, err
	}
	if err := check.Deployable(&check.Summary{Docroot: p.Docroot, ServerPages: run.Site.ServerPages()}); err != nil {
		return nil, err
	}
	result, err := run.Check(ctx)
	if err != nil {
		return nil, err
	}
	return result.Findings, nil
}

// baselineFile returns the name of the baseline. The default one must not be a
// symbolic link out of the repository.
func baselineFile(cfg *config.Config) (string, error) {
	name := audit.BaselineFile(cfg)
	if cfg.Baseline != "" {
		return name, nil
	}
	dir, err := workingDir()
	if err != nil {
		return "", err
	}
	if path, where := system.Outside(project.RootOf(dir), filepath.Join(dir, name)); where != "" {
		return "", text.Usage(fmt.Sprintf("%s leads to %s, %s", name, path, where), "name the file with --baseline")
	}
	return name, nil
}

func writeBaseline(ctx context.Context, c *cli, cfg *config.Config, terms baseline.Terms, force bool) error {
	name, err := baselineFile(cfg)
	if err != nil {
		return err
	}
	if _, err := os.Stat(name); !force && !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fs.ErrExist
		}
		return text.WithHint(writeFailure(name, system.Cause(err)), "sitelink baseline update keeps its dates and reasons; --force replaces it")
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

// readBaseline reads the baseline; today decides which entries have expired.
func readBaseline(c *cli, cfg *config.Config) (name string, b *baseline.List, today baseline.Date, err error) {
	if name, err = baselineFile(cfg); err != nil {
		return "", nil, "", err
	}
	if today, err = c.today(); err != nil {
		return "", nil, "", err
	}
	b, err = audit.ReadBaseline("", name)
	return name, b, today, err
}

func updateBaseline(ctx context.Context, c *cli, cfg *config.Config, add bool, terms baseline.Terms) error {
	name, old, today, err := readBaseline(c, cfg)
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
		c.ui.note("to renew expired entries, use --add --expires DAY")
	}
	return c.print(text + "\n")
}

// saveBaseline replaces the file atomically.
func saveBaseline(c *cli, name string, b *baseline.List) error {
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

// showBaseline prints what a baseline accepts. Expired entries come first, since
// they need a decision.
func showBaseline(c *cli, cfg *config.Config) error {
	name, b, today, err := readBaseline(c, cfg)
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
