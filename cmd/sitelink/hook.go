package main

import (
	"fmt"
	"github.com/sitelink/sitelink/internal/fault"

	"github.com/spf13/cobra"
)

const hookLong = `hook checks what you push before it leaves your machine. It checks the pushed commits, not the files
in the working tree. docs/guide/git-hooks.md explains how it works, and how to combine it with husky,
lefthook, pre-commit and git-lfs. The table [hook] of sitelink.toml tells it how to build the site.
`

func hookCommand(c *cli) *cobra.Command {
	return withCommands(&cobra.Command{
		Use:   "hook",
		Short: "check commits before you push them",
		Long:  hookLong + "\n" + exitCodes,
		Example: "  # check every push from now on\n  sitelink hook install\n\n" +
			"  # show whether git runs sitelink\n  sitelink hook status\n\n" +
			"  # push without a check\n  SITELINK_SKIP=1 git push",
	}, hookInstallCommand(c), hookUninstallCommand(c), hookStatusCommand(c), hookRunCommand(c))
}

func hookRunCommand(c *cli) *cobra.Command {
	var req pushRequest
	cmd := &cobra.Command{
		Use:   "run [pre-push] [REMOTE [URL]]",
		Short: "check a push, as git's pre-push hook does",
		Long: "run is what the installed hook runs. It reads the refs of the push from standard input, as\n" +
			"git provides them (githooks(5)), or from the variables of pre-commit. On a terminal, it checks\n" +
			"HEAD. SITELINK_SKIP=1 skips the check.\n\n" + exitCodes,
		Example: "  # check the current commit\n  sitelink hook run\n\n" +
			"  # check another commit, of a site in a subdirectory\n  sitelink hook run --commit main --dir docs",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] == "pre-push" {
				args = args[1:]
			}
			if len(args) > 2 {
				return fault.Usage(fmt.Sprintf("run takes a remote and its URL, got %d arguments", len(args)), "")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] == "pre-push" {
				args = args[1:]
			}
			if len(args) > 0 {
				req.remote = args[0]
			}
			return runHook(c, cmd, req)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&req.dir, "dir", ".", "check the site in `DIR`, below the root of the repository")
	cmd.Flags().StringVar(&req.commit, "commit", "", "check `COMMIT` instead of the pushed commits")
	return cmd
}
