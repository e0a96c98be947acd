package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/fault"
)

const watchLong = `watch checks a built site, and checks it again whenever its files change. Run it beside hugo server,
or any other generator that writes the docroot to disk. It reads only the files that changed, and
prints only new and fixed findings.

DIR is the docroot, as for check. watch reads a changed configuration again. Press Ctrl-C to stop.

docs/guide/watch.md describes the output, also for editors.
`

const watchExample = `  # beside a generator that writes public (Hugo before 0.123: hugo server --renderToDisk)
  hugo server &
  sitelink watch public

  # print all findings each time, for an editor that collects them
  sitelink watch public --list all

  # for a program: one JSON object per line
  sitelink watch public --format jsonl`

const watchExitCodes = `Exit codes:
  2    wrong usage or configuration
  3    the work could not be done: no docroot, a full disk
  130  interrupted; this is how a watch ends
`

// watchFlags are the flags that only watch has.
type watchFlags struct {
	format, list, config string
	quiet, poll          time.Duration
}

func watchCommand(c *cli) *cobra.Command {
	var f watchFlags
	cmd := &cobra.Command{
		Use:               "watch [DIR]",
		Short:             "check a built site again whenever its files change",
		Long:              watchLong + "\n" + watchExitCodes,
		Example:           watchExample,
		Args:              oneDirectory,
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			configure := func() (*config.Config, error) { return c.configure(cmd, args, f.config) }
			cfg, err := configure()
			if err != nil {
				return err
			}
			return runWatch(cmd.Context(), c, cfg, f, configure)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	addWordFlag(cmd, &f.format, "format", "text", "print the output as `FORMAT`: text or jsonl", "text", "jsonl")
	addWordFlag(cmd, &f.list, "list", "changes", "print `WHAT` after each check: changes or all findings", "changes", "all")
	flags.DurationVar(&f.quiet, "quiet", 200*time.Millisecond, "wait until no file has changed for `TIME` before checking")
	flags.DurationVar(&f.poll, "poll", 0, "list the files every `TIME` instead of waiting for events, for network file systems; 0 turns this off")
	flags.StringVar(&f.config, "config", "", "read `FILE` instead of searching for sitelink.toml")
	addKeyFlags(cmd, "format", "output", "show", "group-by", "fail-on")
	return cmd
}

// check refuses values that mean nothing.
func (f *watchFlags) check() error {
	const shortest, longest = 10 * time.Millisecond, time.Minute
	if f.quiet < shortest || f.quiet > longest {
		return fault.Usage(fmt.Sprintf("--quiet: must be a time from %v to %v, not %v", shortest, longest, f.quiet), "")
	}
	if f.poll != 0 && (f.poll < shortest || f.poll > time.Hour) {
		return fault.Usage(fmt.Sprintf("--poll: must be 0 or a time from %v to %v, not %v", shortest, time.Hour, f.poll), "")
	}
	return nil
}
