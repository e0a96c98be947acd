package main

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/fault"
)

const notifyLong = `notify tells other sites what changed on this one since the last deploy: by webmention or pingback,
whichever the target supports, and by LINK and UNLINK to hosts that support them. Run it when the
site is live. Before it sends a notice, notify fetches the page and verifies that it contains the
link, or no longer contains it.

notify is a dry run unless you give --send or set enabled = true in [outgoing]: it prints the plan, as
sitelink diff does, and changes nothing. The first run, without a ledger, records the current links
and sends nothing, so that an archive never floods other sites.

The ledger records what was sent, and what the targets answered. If a run is stopped or killed, the
next one continues it: no notice is lost, and only notices that were being sent at that moment may be
sent twice. The next notify retries notices that failed for now; notify --due does so without reading
a docroot, for example from a timer.

notify prints nothing if all went well; -v lists every outcome. docs/guide/notifications.md has more.
`

const notifyExitCodes = `Exit codes:
  0    all notices were sent, or there was nothing to send
  2    wrong usage or configuration
  3    the work could not be done
  4    some notices failed; with --explain, some would fail
  130  interrupted; notices that were being sent were finished and recorded
`

const notifyExample = `  # show what would be sent
  sitelink notify public --base-url https://example.org/

  # send it
  sitelink notify public --send

  # show why targets refuse a page, or would refuse it
  sitelink notify public --explain https://example.org/post/

  # from a timer: retry what failed for now
  sitelink notify --due --send

  # start over: mark all current links as already notified
  sitelink notify public --baseline --send`

// planFormats are the formats of a plan of notices.
var planFormats = []string{"text", "json", "markdown"}

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
	flags.BoolVar(&f.send, "send", false, "send notices; without this flag or enabled = true in [outgoing], only print what would be sent")
	flags.BoolVar(&f.dryRun, "dry-run", false, "only print what would be sent, even with enabled = true")
	flags.StringVar(&f.ledger, "ledger", "", "record notices in `LEDGER`: a file, git:REF or postgres://... (default: ledger in [outgoing])")
	flags.DurationVar(&f.pace, "pace", time.Second, "wait at least `TIME` between two requests to one host, such as 500ms (default: pace in [outgoing])")
	flags.DurationVar(&f.live, "live", 0, "wait at most `TIME` for a page to be live (default: live in [outgoing])")
	flags.DurationVar(&f.deadline, "deadline", 0, "start no new notice after `TIME`; 0 means no limit (default: deadline in [outgoing])")
	flags.BoolVar(&f.bust, "bust-cache", false, "bypass caches when fetching the site's pages, by adding a query to their URLs")
	flags.IntVar(&f.maxNotices, "max-notices", 0, "ask before sending more than `N` notices; 0 means no limit (default: max-notices in [outgoing])")
	flags.StringArrayVar(&f.allow, "allow-address", nil, "allow connections to the network `CIDR` although it is not public; repeatable")
	addWordFlag(cmd, &f.format, "format", "text", "print the plan or report as `FORMAT`: text, json or markdown", planFormats...)
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "list successful notices too")
	flags.StringVar(&f.config, "config", "", "read `FILE` instead of searching for sitelink.toml")
}

func notifyCommand(c *cli) *cobra.Command {
	var f notifyFlags
	cmd := &cobra.Command{
		Use:               "notify [DIR]",
		Short:             "notify other sites of new, changed and removed links",
		Long:              notifyLong + "\n" + notifyExitCodes,
		Example:           notifyExample,
		Args:              oneDirectory,
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := configureNotify(c, cmd, args, &f)
			if err != nil {
				return err
			}
			if err := f.check(args); err != nil {
				return err
			}
			return runNotify(cmd.Context(), c, cfg, &f)
		},
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.due, "due", false, "retry due notices from the ledger, without reading a docroot")
	flags.BoolVar(&f.status, "status", false, "ask targets that accepted a notice for later processing what became of it")
	flags.BoolVar(&f.baseline, "baseline", false, "mark all current links as already notified, without sending anything")
	flags.StringVar(&f.explain, "explain", "", "send nothing; show how targets would judge the page at `URL`, or all pages that link to it")
	addSiteKeyFlags(cmd, "color")
	return cmd
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
		return fault.Usage(strings.Join(modes, " and ")+" are different runs", "give one of them")
	case f.send && f.explain != "":
		return fault.Usage("--explain sends nothing", "leave --send out")
	case f.send && f.dryRun:
		return fault.Usage("--send and --dry-run contradict each other", "give one of them")
	case (f.due || f.status) && len(args) > 0:
		return fault.Usage(modes[0]+" looks at no docroot", "leave "+args[0]+" out")
	}
	return nil
}

// configureNotify finds out what the user wants; flags come before the table
// [outgoing].
func configureNotify(c *cli, cmd *cobra.Command, args []string, f *notifyFlags) (*config.Config, error) {
	cfg, err := c.configure(cmd, args, f.config)
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
			return nil, fault.Usage(fmt.Sprintf("--%s: must not be negative, but is %v", d.name, d.value), "")
		}
		*d.field = d.value
	}
	if cmd.Flags().Changed("max-notices") {
		if f.maxNotices < 0 {
			return nil, fault.Usage(fmt.Sprintf("--max-notices: must not be negative, but is %d", f.maxNotices), "")
		}
		cfg.Outgoing.MaxNotices = f.maxNotices
	}
	if len(f.allow) > 0 {
		var networks []netip.Prefix
		for _, text := range f.allow {
			network, err := config.ParseNetwork(text)
			if err != nil {
				return nil, fault.Usage("--allow-address: "+err.Error(), "")
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
