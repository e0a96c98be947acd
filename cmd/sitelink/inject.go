package main

import (
	"fmt"
	"github.com/sitelink/sitelink/internal/fault"

	"github.com/spf13/cobra"
)

const injectLong = `inject inserts link elements into the templates of the site, so that other sites find its pingback and
webmention endpoints. The table [templates] of sitelink.toml names the endpoints and selects the pages.

DIR is the project; without DIR, inject uses the project that contains the working directory. It finds
the right place for the generator and its theme and writes as little as possible: one file or one
line, between two marks, never inside a theme or a module. You can run it again safely: a second run
changes nothing. --undo removes everything, to the byte.

--docroot inserts the elements into built pages instead, for any generator; repeat it after each
build. docs/guide/link-elements.md lists generators and themes.
`

const injectExitCodes = `Exit codes:
  0    done, or nothing to do
  1    --check: the templates differ from the configuration
  2    wrong usage or configuration
  3    the work could not be done; inject prints what to paste where
  130  interrupted
`

const injectExample = `  # show what would be written
  sitelink inject --dry-run

  # write it, and remove it again
  sitelink inject
  sitelink inject --undo

  # in CI: fail if the templates differ from the configuration
  sitelink inject --check

  # for a generator whose templates inject cannot change
  hugo && sitelink inject --docroot public`

// injectFlags are what inject is asked to do.
type injectFlags struct {
	file, docroot       string
	dryRun, undo, check bool
}

func injectCommand(c *cli) *cobra.Command {
	var flags injectFlags
	cmd := &cobra.Command{
		Use:     "inject [DIR]",
		Short:   "insert link elements for pingback and webmention into the templates",
		Long:    injectLong + "\n" + injectExitCodes,
		Example: injectExample,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return fault.Usage(fmt.Sprintf("inject takes one directory, got %d", len(args)), "run it once for each project")
			case len(args) == 1 && flags.docroot != "":
				return fault.Usage("inject works on the templates in DIR or on the pages of --docroot, not both", "leave out one of them")
			case flags.undo && flags.check:
				return fault.Usage("--undo and --check contradict each other", "--undo --dry-run shows what is written")
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := c.configure(cmd, nil, flags.file)
			if err != nil {
				return err
			}
			if flags.docroot != "" {
				return injectPages(cmd.Context(), c, cfg, flags)
			}
			dir := ""
			if len(args) == 1 {
				dir = args[0]
			}
			return injectTemplates(c, cfg, dir, flags)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&flags.dryRun, "dry-run", false, "change nothing; print what would change as a diff")
	f.BoolVar(&flags.check, "check", false, "change nothing; exit 1 if something would change")
	f.BoolVar(&flags.undo, "undo", false, "remove what earlier runs wrote")
	f.StringVar(&flags.docroot, "docroot", "", "change the built pages in `DIR` instead of the templates")
	f.StringVar(&flags.file, "config", "", "read `FILE` instead of searching for sitelink.toml")
	return cmd
}
