package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/setup"
)

func hookInstallCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "install [pre-push|post-build]",
		Short: "check every push from now on",
		Long: "install makes git run sitelink before each push: through the repository's configuration with\n" +
			"git 2.54 or newer, else with a hook file. An existing hook still runs. You can run install\n" +
			"again. Run it in the directory of the site if that is not the root of the repository.\n\n" +
			"install post-build makes npm run sitelink check after each npm run build, through the script\n" +
			"postbuild of package.json in the working directory.",
		Example:   "  sitelink hook install\n\n  # with npm: check after each build\n  sitelink hook install post-build",
		Args:      hookName,
		ValidArgs: []string{"pre-push", "post-build"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if postBuild(args) {
				return changePackageJSON(c, setup.InstallPostBuild, "package.json: npm run build now ends with sitelink check")
			}
			repo, site, err := openHere(cmd)
			if err != nil {
				return setup.ExplainHook(err)
			}
			program, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find the path of sitelink: %w", disk.Cause(err))
			}
			state, err := repo.Install(cmd.Context(), githook.InstallOptions{Program: program, Site: site})
			var managed *githook.ManagedError
			if errors.As(err, &managed) {
				if err := c.print(githook.Snippet(managed.Manager)); err != nil {
					return err
				}
			}
			if err != nil {
				return setup.ExplainHook(err)
			}
			return c.print(setup.HookStatus(state) + "\n")
		},
	}
}

func hookUninstallCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "uninstall [pre-push|post-build]",
		Short: "undo sitelink hook install",
		Long: "uninstall removes what install wrote, and the remembered results. A hook file that existed\n" +
			"before is restored.",
		Example:   "  sitelink hook uninstall",
		Args:      hookName,
		ValidArgs: []string{"pre-push", "post-build"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if postBuild(args) {
				return changePackageJSON(c, setup.UninstallPostBuild, "package.json: npm run build is without sitelink check")
			}
			repo, _, err := openHere(cmd)
			if err != nil {
				return setup.ExplainHook(err)
			}
			before, err := repo.Uninstall(cmd.Context())
			if err == nil {
				err = repo.RemoveData(cmd.Context())
			}
			if err != nil {
				return setup.ExplainHook(err)
			}
			switch {
			case before.Method == githook.ByManager:
				return c.print(fmt.Sprintf("%s runs sitelink by %s: take it out there\n", before.Manager, before.ManagerFile))
			case before.Method == githook.NotInstalled:
				return c.print("no hook was installed\n")
			case before.Method == githook.ByChain:
				return c.print("removed; the hook before is back\n")
			}
			return c.print("removed\n")
		},
	}
}

func hookStatusCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "show whether and how git runs sitelink",
		Example: "  sitelink hook status",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			repo, _, err := openHere(cmd)
			if err != nil {
				return setup.ExplainHook(err)
			}
			state, err := repo.Status(cmd.Context())
			if err != nil {
				return setup.ExplainHook(err)
			}
			text := setup.HookStatus(state) + "\n"
			if state.Method != githook.ByManager && state.Manager != "" {
				text += fmt.Sprintf("hooks belong to %s, see %s\n", state.Manager, state.ManagerFile)
			}
			if state.LFS {
				text += "git-lfs: its hook runs too\n"
			}
			if state.HooksScope != "" {
				text += "core.hooksPath: set in the " + state.HooksScope + " configuration\n"
			}
			if len(repo.StaleTrees()) > 0 {
				text += "temporary trees of killed runs are left; the next push removes them\n"
			}
			return c.print(text + "git " + state.Git + "\n")
		},
	}
}

// hookName takes pre-push, post-build or nothing, which is pre-push.
func hookName(cmd *cobra.Command, args []string) error {
	if len(args) > 1 || len(args) == 1 && args[0] != "pre-push" && args[0] != "post-build" {
		return fault.Usage(fmt.Sprintf("%s: the hook must be pre-push or post-build, not %q", cmd.Name(), strings.Join(args, " ")), "")
	}
	return nil
}

func postBuild(args []string) bool { return len(args) == 1 && args[0] == "post-build" }

// openHere finds the repository of the working directory, and where in it this
// is.
func openHere(cmd *cobra.Command) (repo *githook.Repo, site string, err error) {
	if repo, err = githook.Open(cmd.Context(), githook.Git{Env: os.Environ()}); err != nil {
		return nil, "", err
	}
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if err != nil {
		return nil, "", fmt.Errorf("find the working directory: %w", disk.Cause(err))
	}
	if site, err = filepath.Rel(repo.Top, here); err != nil || !filepath.IsLocal(site) {
		site = "."
	}
	return repo, site, nil
}

// changePackageJSON changes package.json of the working directory.
func changePackageJSON(c *cli, change func(file string) error, done string) error {
	if err := change("package.json"); err != nil {
		return fault.New(err, "Hugo and others have no hook after the build: sitelink build runs both")
	}
	return c.print(done + "\n")
}
