package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

const injectLong = `inject puts the link elements by which others find the site's pingback and webmention
servers into the templates of the site. The table [templates] of sitelink.toml names the
servers and chooses the pages.

DIR is the project; without it, the one that the working directory lies in. It finds the
right place for the generator and its theme, and writes as little as possible: a file or
a line, between two marks. Never inside of a theme or a module. A second run changes
nothing, and so is safe; --undo takes everything out again, to the byte.

--docroot writes the elements into built pages instead, for any generator; it has to be
repeated after each build. docs/guide/link-elements.md has the generators and themes.
`

const injectExitCodes = `Exit codes:
  0    done, or nothing to do
  1    --check: the templates differ from the configuration
  2    wrong usage or configuration
  3    the work could not be done; what to paste where is said
  130  interrupted
`

const injectExample = `  # what would be written
  sitelink inject --dry-run

  # write it, and take it out again
  sitelink inject
  sitelink inject --undo

  # in CI: do the templates have what the configuration says?
  sitelink inject --check

  # a generator whose templates are out of reach
  hugo && sitelink inject --docroot public`

// injectFlags are what inject is asked to do.
type injectFlags struct {
	file, docroot       string
	dryRun, undo, check bool
}

func (a *app) injectCommand() *cobra.Command {
	var flags injectFlags
	cmd := &cobra.Command{
		Use:     "inject [DIR]",
		Short:   "put the link elements of pingback and webmention into the templates",
		Long:    injectLong + "\n" + injectExitCodes,
		Example: injectExample,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return &usageError{fmt.Sprintf("inject takes one directory, got %d", len(args)), "run it once for each project"}
			case len(args) == 1 && flags.docroot != "":
				return &usageError{"inject works on the templates in DIR or on the pages of --docroot, not both", "leave out one of them"}
			case flags.undo && flags.check:
				return &usageError{"--undo and --check contradict each other", "--undo --dry-run shows what is written"}
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := a.configure(cmd, nil, flags.file)
			if err != nil {
				return err
			}
			if flags.docroot != "" {
				return a.injectDocroot(cmd.Context(), cfg, flags)
			}
			dir := ""
			if len(args) == 1 {
				dir = args[0]
			}
			return a.inject(cfg, dir, flags)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&flags.dryRun, "dry-run", false, "change nothing, print what would change as a diff")
	f.BoolVar(&flags.check, "check", false, "change nothing, exit 1 if something would change")
	f.BoolVar(&flags.undo, "undo", false, "take out what earlier runs wrote")
	f.StringVar(&flags.docroot, "docroot", "", "write into the built pages in `DIR`, not into templates")
	f.StringVar(&flags.file, "config", "", "read `FILE` instead of looking for sitelink.toml")
	return cmd
}
