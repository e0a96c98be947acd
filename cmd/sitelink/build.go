package main

import (
	"fmt"
	"github.com/sitelink/sitelink/internal/fault"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

const buildLong = `build runs the site's generator into a new directory and checks what it wrote. Files from earlier
builds cannot hide a missing file. The directory is .sitelink/public in the project; it stays until
the next build.

build finds the generator by its configuration file, in the working directory or above it, up to the
root of the repository: Hugo, Jekyll, Eleventy, Zola, MkDocs, Astro or Docusaurus. Arguments after --
go to the generator. If they set the address of the site (-b URL for Hugo), the check uses it too.

build accepts all flags of check except --docroot. docs/guide/getting-started-other.md lists the
commands that it runs.
`

const buildExample = `  # build and check
  sitelink build

  # build as for the deploy, for a preview at another address
  sitelink build -- --minify -b https://preview.example.org/

  # fail if the generator prints warnings
  sitelink build --strict`

const buildExitCodes = `Exit codes:
  0    no findings at or above the level of --fail-on
  1    findings
  2    wrong usage or configuration
  3    the work could not be done: the generator is missing or failed
  130  interrupted; the generator and the check were stopped
`

func buildCommand(c *cli) *cobra.Command {
	var file string
	var strict bool
	cmd := &cobra.Command{
		Use:     "build [-- GENERATOR-ARGS]",
		Short:   "build the site into a new directory and check it",
		Long:    buildLong + "\n" + buildExitCodes,
		Example: buildExample,
		Args: func(cmd *cobra.Command, args []string) error {
			own := args
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				own = args[:dash]
			}
			own = slices.DeleteFunc(slices.Clone(own), func(arg string) bool { return strings.HasPrefix(arg, "@") })
			if len(own) > 0 {
				return fault.Usage(fmt.Sprintf("build takes no directory, got %q", own[0]),
					"arguments of the generator follow --: sitelink build -- "+strings.Join(own, " "))
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			var forGenerator []string
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				args, forGenerator = args[:dash], args[dash:]
			}
			cfg, err := c.configure(cmd, args, file)
			if err != nil {
				return err
			}
			return runBuild(cmd.Context(), c, cfg, strict, forGenerator)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&strict, "strict", false, "fail if the generator prints warnings, such as two pages with the same address")
	addKeyFlags(cmd, "docroot")
	flags.StringVar(&file, "config", "", "read `FILE` instead of searching for sitelink.toml")
	return cmd
}
