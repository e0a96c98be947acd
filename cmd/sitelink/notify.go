package main

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/config"
)

const notifyLong = `notify tells other sites what changed on this one since the last deploy: by webmention or
pingback, whichever the target takes, by LINK and UNLINK where it speaks them. Run it when
the site is live. Each page is fetched first and must hold its link, or no longer hold it.

Without --send, or enabled = true in [outgoing], it is a dry run: it prints the plan, as
'sitelink diff' does, and changes nothing. The first run with neither a ledger nor --due
records the links that are there and tells nobody, so that an archive is never flooded.

What was told, and what the targets answered, is kept in the ledger. A run that is stopped
or killed is continued by the next one; no notice is lost, and none is sent twice but those
that were on their way in that moment. What failed for now is tried again later: by the
next notify, or by notify --due, which looks at no docroot and may run from a timer.

Nothing is printed when all went well; -v lists every outcome. docs/guide/notifications.md says more.
`

const notifyExitCodes = `Exit codes:
  0    everybody was told, or nobody had to be
  2    wrong usage or configuration
  3    the work could not be done
  4    some notices failed; with --explain, some would fail
  130  interrupted; what was on its way was finished and recorded
`

const notifyExample = `  # what would be told
  sitelink notify public --base-url https://example.org/

  # tell it
  sitelink notify public --send

  # why a page is refused, or would be
  sitelink notify public --explain https://example.org/post/

  # from a timer: what failed for now
  sitelink notify --due --send

  # begin anew: all links of today count as told
  sitelink notify public --baseline --send`

// notifyFlags are the flags of notify alone, and of deploy.
type notifyFlags struct {
	ledger, config, format, explain     string
	send, dryRun, due, status, baseline bool
	verbose, bust, tombstones           bool
	pace, live, deadline                time.Duration
	maxNotices                          int
	allow                               []string
}

func (f *notifyFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.send, "send", false, "send; without it, and without enabled = true in [outgoing], print what would be sent")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print what would be sent, even with enabled = true")
	flags.StringVar(&f.ledger, "ledger", "", "remember in `LEDGER`: a file, git:REF or postgres://... (default: ledger in [outgoing])")
	flags.DurationVar(&f.pace, "pace", time.Second, "least `TIME` between two requests to one host, such as 500ms")
	flags.DurationVar(&f.live, "live", 0, "wait at most this `TIME` for a page to be live (default: live in [outgoing])")
	flags.DurationVar(&f.deadline, "deadline", 0, "begin nothing after this `TIME`; 0 is no limit (default: deadline in [outgoing])")
	flags.BoolVar(&f.bust, "bust-cache", false, "look at the site's pages past its caches, by a query of their own")
	flags.IntVar(&f.maxNotices, "max-notices", 0, "send no more than `N` notices without asking; 0 is no limit (default: max-notices in [outgoing])")
	flags.StringArrayVar(&f.allow, "allow-address", nil, "let `CIDR` be dialled although it is not public; repeatable")
	flags.StringVar(&f.format, "format", "text", "format of the plan or report, `NAME`: text, json or markdown")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "list what went well, too")
	flags.StringVar(&f.config, "config", "", "read `FILE` instead of looking for sitelink.toml")
	if err := cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(planFormats, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was defined above
	}
}

func (a *app) notifyCommand() *cobra.Command {
	var f notifyFlags
	cmd := &cobra.Command{
		Use:               "notify [DIR]",
		Short:             "tell other sites what changed",
		Long:              notifyLong + "\n" + notifyExitCodes,
		Example:           notifyExample,
		Args:              oneDirectory,
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := a.configureNotify(cmd, args, &f)
			if err != nil {
				return err
			}
			if err := f.check(args); err != nil {
				return err
			}
			return a.notify(cmd.Context(), cfg, &f)
		},
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.due, "due", false, "look at no docroot: only what the ledger says is due")
	flags.BoolVar(&f.status, "status", false, "ask the targets that accepted a notice for later how it went")
	flags.BoolVar(&f.baseline, "baseline", false, "record the links of today as told, also those that are not, and tell nobody")
	flags.StringVar(&f.explain, "explain", "", "send nothing; say how the targets would see the page at `URL`, or all pages that link to it")
	addNotifyKeys(cmd)
	return cmd
}

// addNotifyKeys adds the flags of the keys that say what the site is.
func addNotifyKeys(cmd *cobra.Command) {
	addFlags(cmd, slices.DeleteFunc(config.Keys(), func(k config.Key) bool {
		return k.Table != "" && k.Name != "jobs" && k.Name != "progress" && k.Name != "color" || k.Kind == config.Rules || cmd.Flags().Lookup(k.Name) != nil
	}))
}

// check refuses flags that cannot mean anything together.
func (f *notifyFlags) check(args []string) error {
	var modes []string
	for _, m := range []struct {
		on   bool
		name string
	}{{f.due, "--due"}, {f.status, "--status"}, {f.baseline, "--baseline"}, {f.explain != "", "--explain"}} {
		if m.on {
			modes = append(modes, m.name)
		}
	}
	switch {
	case len(modes) > 1:
		return &usageError{strings.Join(modes, " and ") + " are different runs", "give one of them"}
	case f.send && f.explain != "":
		return &usageError{"--explain sends nothing", "leave --send out"}
	case f.send && f.dryRun:
		return &usageError{"--send and --dry-run contradict each other", "give one of them"}
	case (f.due || f.status) && len(args) > 0:
		return &usageError{modes[0] + " looks at no docroot", "leave " + args[0] + " out"}
	}
	return nil
}

// configureNotify finds out what the user wants; flags come before the table
// [outgoing].
func (a *app) configureNotify(cmd *cobra.Command, args []string, f *notifyFlags) (*config.Config, error) {
	if err := oneOfWords("format", f.format, planFormats); err != nil {
		return nil, err
	}
	cfg, err := a.configure(cmd, args, f.config)
	if err != nil {
		return nil, err
	}
	if f.ledger != "" {
		if cfg.Outgoing.Ledger, err = ledgerFlag(f.ledger); err != nil {
			return nil, err
		}
	}
	for _, d := range []struct {
		name  string
		value time.Duration
		field *time.Duration
	}{{"pace", f.pace, &cfg.Outgoing.Pace}, {"live", f.live, &cfg.Outgoing.Live}, {"deadline", f.deadline, &cfg.Outgoing.Deadline}} {
		if !cmd.Flags().Changed(d.name) {
			continue
		}
		if d.value < 0 {
			return nil, &usageError{fmt.Sprintf("--%s: want a time from 0, got %v", d.name, d.value), ""}
		}
		*d.field = d.value
	}
	if cmd.Flags().Changed("max-notices") {
		if f.maxNotices < 0 {
			return nil, &usageError{fmt.Sprintf("--max-notices: want a number from 0, got %d", f.maxNotices), ""}
		}
		cfg.Outgoing.MaxNotices = f.maxNotices
	}
	if len(f.allow) > 0 {
		var networks []netip.Prefix
		for _, text := range f.allow {
			network, err := config.ParseNetwork(text)
			if err != nil {
				return nil, &usageError{"--allow-address: " + err.Error(), ""}
			}
			networks = append(networks, network)
		}
		cfg.Fetch.AllowAddress = append(networks, cfg.Fetch.AllowAddress...)
	}
	return cfg, nil
}

// sends tells whether the run sends, or only says what it would send.
func (f *notifyFlags) sends(cfg *config.Config) bool {
	return f.send || cfg.Outgoing.Enabled && !f.dryRun
}
