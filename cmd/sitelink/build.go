package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

const buildLong = `build runs the site's generator into a fresh directory, so that nothing an earlier build
left can hide a missing file, and checks what it wrote. The directory is .sitelink/public
in the project; it stays until the next build.

The generator is the one whose configuration lies in the working directory or above, up to
the root of the repository: Hugo, Jekyll, Eleventy, Zola, MkDocs, Astro or Docusaurus.
What stands behind -- goes to it. An address among that (-b URL for Hugo) is the site's
address for the check, too.

All flags of check hold. docs/guide/getting-started-other.md has the commands that are run.
`

const buildExample = `  # build and check
  sitelink build

  # as the deploy does it, for a preview at another address
  sitelink build -- --minify -b https://preview.example.org/

  # let warnings of the generator fail the build
  sitelink build --strict`

const buildExitCodes = `Exit codes:
  0    no finding at or above the level of --fail-on
  1    findings
  2    wrong usage or configuration
  3    the work could not be done: the generator is missing or failed
  130  interrupted: generator and check are stopped
`

func (a *app) buildCommand() *cobra.Command {
	var file string
	var strict bool
	cmd := &cobra.Command{
		Use:     "build [-- GENERATOR-ARGS]",
		Short:   "build the site afresh and check it",
		Long:    buildLong + "\n" + buildExitCodes,
		Example: buildExample,
		Args: func(cmd *cobra.Command, args []string) error {
			own := args
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				own = args[:dash]
			}
			own = slices.DeleteFunc(slices.Clone(own), func(arg string) bool { return strings.HasPrefix(arg, "@") })
			if len(own) > 0 {
				return &usageError{fmt.Sprintf("build takes no directory, got %q", own[0]),
					"arguments of the generator follow --: sitelink build -- " + strings.Join(own, " ")}
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			var forGenerator []string
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				args, forGenerator = args[:dash], args[dash:]
			}
			cfg, err := a.configure(cmd, args, file)
			if err != nil {
				return err
			}
			return a.build(cmd.Context(), cfg, strict, forGenerator)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&strict, "strict", false, "fail at the generator's own warnings, such as two pages with one address")
	addKeyFlags(cmd, "docroot")
	flags.StringVar(&file, "config", "", "read `FILE` instead of looking for sitelink.toml")
	return cmd
}
