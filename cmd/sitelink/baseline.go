package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/check/baseline"
	"github.com/sitelink/sitelink/internal/config"
)

const baselineLong = `baseline keeps a list of findings that a site has today and that its owners accept, so
that check --baseline FILE reports only what is new. A finding stays accepted when its
line moves or the rest of its page changes; a second link to the same missing file on the
same page is new. docs/guide/baseline.md describes the file.

FILE is what --baseline or the configuration names, else sitelink-baseline.jsonl.
`

const baselineExample = `  # accept what there is today, until the end of January
  sitelink baseline write public --expires 2027-01-31 --reason 'before the move'

  # report only what is new
  sitelink check public --baseline sitelink-baseline.jsonl

  # after a repair: drop the entries that serve no more
  sitelink baseline update public`

func (a *app) baselineCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "baseline",
		Short:   "keep a list of accepted findings",
		Long:    baselineLong,
		Example: baselineExample,
		Args: func(cmd *cobra.Command, args []string) error {
			hint := "write one of write, update and show"
			if len(args) == 0 {
				return &usageError{"baseline needs a command", hint}
			}
			if near, ok := config.Nearest(args[0], []string{"write", "update", "show"}); ok {
				hint = fmt.Sprintf("did you mean %q?", "baseline "+near)
			}
			return &usageError{fmt.Sprintf("unknown command %q", "baseline "+args[0]), hint}
		},
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.AddCommand(a.baselineWriteCommand(), a.baselineUpdateCommand(), a.baselineShowCommand())
	return cmd
}

// notForBaseline are the keys of check that say how a report looks.
var notForBaseline = []string{"fail-on", "format", "group-by", "show", "output", "color", "baseline-ref", "baseline-docroot"}

// termFlags are --expires and --reason.
type termFlags struct{ expires, reason string }

func (t *termFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.expires, "expires", "", "last `DAY` on which new entries count, such as 2027-01-31")
	cmd.Flags().StringVar(&t.reason, "reason", "", "why new entries are accepted, `TEXT` for the next reader")
}

func (t *termFlags) terms() (baseline.Terms, error) {
	terms := baseline.Terms{Reason: t.reason}
	if len(t.reason) > baseline.MaxReasonBytes {
		return terms, &usageError{fmt.Sprintf("--reason: %d bytes, want %d at most", len(t.reason), baseline.MaxReasonBytes), ""}
	}
	if t.expires == "" {
		return terms, nil
	}
	var err error
	if terms.Expires, err = baseline.ParseDate(t.expires); err != nil {
		return terms, &usageError{"--expires: " + err.Error(), ""}
	}
	return terms, nil
}

func (a *app) baselineWriteCommand() *cobra.Command {
	var file string
	var force bool
	var flags termFlags
	cmd := &cobra.Command{
		Use:   "write [DIR]",
		Short: "accept all findings of today",
		Long: "write checks the site and writes a baseline that accepts all its findings. A file that\n" +
			"is there already stays: update keeps the dates and reasons in it, write does not.",
		Args:              oneDirectory,
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := a.configure(cmd, args, file)
			if err != nil {
				return err
			}
			terms, err := flags.terms()
			if err != nil {
				return err
			}
			return a.baselineWrite(cmd.Context(), cfg, terms, force)
		},
	}
	addKeyFlags(cmd, notForBaseline...)
	cmd.Flags().StringVar(&file, "config", "", "read `FILE` instead of looking for sitelink.toml")
	cmd.Flags().BoolVar(&force, "force", false, "replace a baseline that is there already")
	flags.add(cmd)
	return cmd
}

func (a *app) baselineUpdateCommand() *cobra.Command {
	var file string
	var add bool
	var flags termFlags
	cmd := &cobra.Command{
		Use:   "update [DIR]",
		Short: "drop the entries that serve no more",
		Long: "update checks the site and drops the entries that no finding needs any more. Nothing\n" +
			"is added, unless --add accepts the new findings too. With --add and --expires entries\n" +
			"that have expired get the new day; without --expires they stay as they are.",
		Args:              oneDirectory,
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := a.configure(cmd, args, file)
			if err != nil {
				return err
			}
			terms, err := flags.terms()
			switch {
			case err != nil:
				return err
			case !add && terms != (baseline.Terms{}):
				return &usageError{"--expires and --reason are for the entries that --add makes", "add --add, or leave them out"}
			}
			return a.baselineUpdate(cmd.Context(), cfg, add, terms)
		},
	}
	addKeyFlags(cmd, notForBaseline...)
	cmd.Flags().StringVar(&file, "config", "", "read `FILE` instead of looking for sitelink.toml")
	cmd.Flags().BoolVar(&add, "add", false, "accept the new findings too")
	flags.add(cmd)
	return cmd
}

func (a *app) baselineShowCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "show",
		Short: "print the entries, and which have expired",
		Long: "show prints the entries of the baseline, one a line, with their last day and reason,\n" +
			"and counts them. It checks no site.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := a.configure(cmd, args, file)
			if err != nil {
				return err
			}
			return a.baselineShow(cfg)
		},
	}
	addOnlyKeyFlags(cmd, "baseline")
	cmd.Flags().StringVar(&file, "config", "", "read `FILE` instead of looking for sitelink.toml")
	return cmd
}

// oneDirectory takes DIR or nothing.
func oneDirectory(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return &usageError{fmt.Sprintf("%s takes one directory, got %d", cmd.Name(), len(args)), "run it once for each docroot"}
	}
	return nil
}
