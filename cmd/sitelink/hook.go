package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/run/commits"
	"github.com/sitelink/sitelink/internal/run/setup"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

func hookCommand(c *cli) *cobra.Command {
	return withCommands(&cobra.Command{
		Use: "hook",
	}, hookInstallCommand(c), hookUninstallCommand(c), hookStatusCommand(c), hookRunCommand(c))
}

func hookRunCommand(c *cli) *cobra.Command {
	var req pushRequest
	cmd := &cobra.Command{
		Use: "run [pre-push] [REMOTE [URL]]",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] == "pre-push" {
				args = args[1:]
			}
			if len(args) > 2 {
				return text.Usage(fmt.Sprintf("run takes a remote and its URL, got %d arguments", len(args)), "")
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
	cmd.Flags().StringArrayVar(&req.dirs, "dir", []string{"."}, "check the site in `DIR`, below the root of the repository; repeatable")
	cmd.Flags().StringVar(&req.commit, "commit", "", "check `COMMIT` instead of the pushed commits")
	cmd.Flags().BoolVar(&req.stdin, "stdin", false, "check what standard input says is pushed, and nothing if it is empty")
	return cmd
}

func hookInstallCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:       "install [pre-push]",
		Args:      hookName,
		ValidArgs: []string{"pre-push"},
		RunE: inRepo(func(ctx context.Context, repo *githook.Repo, site string) error {
			program, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find the path of sitelink: %w", system.Cause(err))
			}
			state, err := repo.Install(ctx, githook.InstallOptions{Program: program, Path: c.env.Getenv("PATH"), Site: site})
			var managed *githook.ManagedError
			if errors.As(err, &managed) {
				if err := c.print(c.ui.commands(githook.Snippet(managed.Manager, managed.Sites...))); err != nil {
					return err
				}
			}
			if err != nil {
				return err
			}
			if err := c.print(setup.HookStatus(state) + "\n"); err != nil {
				return err
			}
			return offerBaseline(ctx, c, repo)
		}),
	}
}

// offerBaseline says how to accept the findings of the built site in the working
// directory, if it has any, and what a committed docroot means. That there is no site,
// or that it cannot be checked, does not matter here.
func offerBaseline(ctx context.Context, c *cli, repo *githook.Repo) error {
	dir, err := workingDir()
	if err != nil {
		return err
	}
	cfg, err := c.loadConfig(config.Input{Dir: dir})
	if err != nil {
		return nil
	}
	if p, err := c.findRoot(ctx, cfg); err == nil {
		if docroot := setup.CommittedDocroot(ctx, repo, p); docroot != "" {
			c.ui.note(fmt.Sprintf("%s is committed, although %s writes it, so a push checks both; run %s: %s",
				docroot, p.Generator.Title(), setup.Uncommit(docroot), setup.UncommitAdvice))
		}
	}
	if cfg.Baseline != "" {
		return nil
	}
	if findings, err := c.builtFindings(ctx, dir, cfg); err == nil && len(findings) > 0 {
		blocks := "a push is blocked only by new ones, as soon as the remote has a commit to compare with"
		if cfg.Hook.Baseline == "none" {
			blocks = "they block every push"
		}
		c.ui.note(fmt.Sprintf("the built site has %s: %s; %s", count(len(findings), "finding"), blocks, setup.AcceptFindings(false)))
	}
	return ctx.Err()
}

func hookUninstallCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:       "uninstall [pre-push]",
		Args:      hookName,
		ValidArgs: []string{"pre-push"},
		RunE: inRepo(func(ctx context.Context, repo *githook.Repo, site string) error {
			before, err := repo.Status(ctx)
			if err != nil {
				return err
			}
			var sites []string // none means all
			switch site = filepath.ToSlash(site); {
			case slices.Contains(before.Sites, site):
				sites = []string{site}
			case len(before.Sites) > 1 && site != ".":
				return text.Usage(fmt.Sprintf("no hook checks %s: it checks %s", site, strings.Join(before.Sites, ", ")),
					"run sitelink hook uninstall in one of these directories, or in the root of the repository to remove all")
			}
			if before, err = repo.Uninstall(ctx, sites...); err == nil {
				err = repo.RemoveData(ctx)
			}
			if err != nil {
				return err
			}
			switch {
			case before.Method == githook.ByManager:
				return c.print(fmt.Sprintf("%s runs sitelink: remove it from %s\n", before.Manager, before.ManagerFile))
			case before.Method == githook.NotInstalled:
				return c.print("no hook was installed\n")
			case len(sites) > 0 && len(before.Sites) > 1:
				return c.print("removed " + site + "; the other sites are still checked\n")
			case before.Method == githook.ByChain:
				return c.print("removed; the previous hook is restored\n")
			}
			return c.print("removed\n")
		}),
	}
}

func hookStatusCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:  "status",
		Args: noArguments,
		RunE: inRepo(func(ctx context.Context, repo *githook.Repo, _ string) error {
			state, err := repo.Status(ctx)
			if err != nil {
				return err
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
				text += "interrupted runs left temporary trees behind; the next push removes them\n"
			}
			return c.print(text + "git " + state.Git + "\n")
		}),
	}
}

// hookName accepts pre-push, or nothing, which means the same.
func hookName(cmd *cobra.Command, args []string) error {
	if len(args) > 1 || len(args) == 1 && args[0] != "pre-push" {
		return text.Usage(fmt.Sprintf("%s: the hook must be pre-push, not %q", cmd.Name(), strings.Join(args, " ")), "")
	}
	return nil
}

// inRepo is a command on the repository of the working directory; site is the path of that
// directory in it.
func inRepo(work func(ctx context.Context, repo *githook.Repo, site string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		repo, err := githook.Open(cmd.Context(), githook.Git{Env: os.Environ()})
		if err != nil {
			return setup.ExplainHook(err)
		}
		here, err := os.Getwd()
		if err == nil {
			here, err = filepath.EvalSymlinks(here)
		}
		if err != nil {
			return fmt.Errorf("find the working directory: %w", system.Cause(err))
		}
		site, err := filepath.Rel(repo.Top, here)
		if err != nil || !filepath.IsLocal(site) {
			site = "."
		}
		return setup.ExplainHook(work(cmd.Context(), repo, site))
	}
}

// pushRequest is the command line of `sitelink hook run`.
type pushRequest struct {
	dirs   []string // of the sites
	commit string   // instead of standard input
	stdin  bool     // standard input is that of git's hook: if it is empty, nothing is pushed
	remote string
}

// skipVariable skips the check of one push.
const skipVariable = "SITELINK_SKIP"

// runHook checks a push. It returns [errFindings] to block it.
func runHook(c *cli, cmd *cobra.Command, req pushRequest) error {
	if v := c.env.Getenv(skipVariable); v != "" && v != "0" {
		c.ui.note("not checked: " + skipVariable + " is set")
		return nil
	}
	for i, dir := range req.dirs {
		if !filepath.IsLocal(dir) {
			return text.Usage(fmt.Sprintf("--dir: must be a directory below the root of the repository, not %q", dir), "")
		}
		req.dirs[i] = filepath.ToSlash(filepath.Clean(dir))
	}
	ctx := cmd.Context()
	refs, byHand, err := pushRefs(c, req)
	if err != nil {
		return err
	}
	repo, refs, err := githook.OpenPush(ctx, githook.Git{Env: os.Environ()}, refs)
	if err != nil {
		return setup.ExplainHook(err)
	}
	refs = slices.DeleteFunc(refs, func(ref githook.Ref) bool { return ref.Tree == "" }) // tags, deletions
	var push *commits.Push
	var all []githook.TreeResult
	for _, dir := range req.dirs {
		wanted := refs
		if len(req.dirs) > 1 && len(refs) > 0 { // not every branch has every site
			wanted = slices.DeleteFunc(slices.Clone(refs), func(ref githook.Ref) bool {
				return !repo.CommitContains(ctx, ref.Commit, filepath.Join(repo.Top, dir))
			})
			if len(wanted) < len(refs) {
				c.ui.note(fmt.Sprintf("not every commit of this push contains %s; its site is not checked there", dir))
			}
			if len(wanted) == 0 {
				continue
			}
		}
		opt := c.commitOptions()
		opt.Site, opt.Others, opt.ByHand = dir, req.dirs, byHand
		opt.Remote = cmp.Or(req.remote, c.env.Getenv("PRE_COMMIT_REMOTE_NAME"))
		if push, err = commits.New(repo, opt); err != nil {
			return explainPush(c, err)
		}
		push.Building = c.building(push.Progress)
		results, notes, err := repo.CheckPush(ctx, wanted, *push.Push)
		for _, note := range notes {
			c.ui.warning(note)
		}
		if err != nil {
			return explainPush(c, err)
		}
		all = append(all, results...)
	}
	// Not to standard output, which belongs to git push --porcelain.
	if push != nil && push.Report(all, c.ui.line, c.env.Stderr) {
		c.ui.line("hint: " + bypass)
		return errFindings
	}
	return nil
}

// pushRefs finds out what is pushed, nothing if the remote has it all. byHand means that
// a commit was named instead, or nothing at all: then HEAD stands for a branch, because a
// program between git and sitelink may have read the refs.
func pushRefs(c *cli, req pushRequest) (refs []githook.Ref, byHand bool, err error) {
	named := func(commit string) ([]githook.Ref, bool, error) {
		return []githook.Ref{{Local: commit, Commit: commit, Remote: "refs/heads/" + commit}}, true, nil
	}
	switch to := c.env.Getenv("PRE_COMMIT_TO_REF"); {
	case req.commit != "":
		if strings.HasPrefix(req.commit, "-") {
			return nil, false, text.Usage(fmt.Sprintf("--commit: must be a commit, not %q", req.commit), "")
		}
		return named(req.commit)
	case to != "": // pre-commit has read standard input, and runs no hook for deletions
		// PRE_COMMIT_FROM_REF is not needed: the history shows the same commit.
		branch := c.env.Getenv("PRE_COMMIT_REMOTE_BRANCH")
		refs, err = githook.ReadRefs(strings.NewReader(fmt.Sprintf("%s %s %s %s", to, to, branch, strings.Repeat("0", len(to)))))
		if err != nil || branch == "" {
			return named(to) // run by hand: --to-ref may be any name
		}
		return refs, false, nil
	case !req.stdin && (c.env.Stdin == nil || c.env.StdinTTY || c.env.Getenv("PRE_COMMIT") != ""):
		return named("HEAD")
	}
	refs, err = githook.ReadRefs(c.env.Stdin)
	if err != nil {
		return nil, false, text.Usage(err.Error(), "git passes each ref to a pre-push hook as LOCAL-REF LOCAL-ID REMOTE-REF REMOTE-ID")
	}
	if len(refs) == 0 && !req.stdin {
		return named("HEAD")
	}
	return refs, false, nil
}

// building returns a function that shows that a commit is being built, and for how long.
func (c *cli) building(when string) func(commit, command string, last time.Duration) (done func()) {
	return func(commit, command string, last time.Duration) (done func()) {
		progress := newProgress(c.ui, when, time.Now)
		if progress == nil {
			return func() {}
		}
		began, ended := time.Now(), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for tick := time.NewTicker(progressAfter); ; {
				progress.draw(func() string {
					const most = 40 // characters of a command, so that the line fits
					if r := []rune(command); len(r) > most {
						command = string(r[:most-3]) + "..."
					}
					line := fmt.Sprintf("sitelink: building %.7s with %s: %v", commit, command, time.Since(began).Round(time.Second))
					if last > 0 {
						line += fmt.Sprintf(", last time %v", last.Round(100*time.Millisecond))
					}
					return line
				})
				select {
				case <-ended:
					tick.Stop()
					return
				case <-tick.C:
				}
			}
		})
		return func() {
			close(ended)
			wg.Wait()
			progress.done()
		}
	}
}

// explainPush completes the error of a push that could not be checked: with at
// most a few faults, the end of the build's output, and how to push anyway.
func explainPush(c *cli, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	c.ui.note("the push could not be checked, so it was stopped; " + bypass)
	var failed *githook.BuildError
	if errors.As(err, &failed) {
		for _, line := range failed.Output {
			c.ui.line("build: " + line)
		}
		hint := "the command was: " + failed.Command + "; to change it, set build in [hook] of sitelink.toml"
		var exit *exec.ExitError
		if errors.As(failed.Cause, &exit) && exit.ExitCode() == 127 { // as the shell says that it found no program
			hint = "PATH is " + c.env.Getenv("PATH") + ": if a terminal finds the program, run sitelink hook install there, which keeps its PATH for programs that start git with a shorter one; " + hint
		}
		return text.WithHint(fmt.Errorf("the build command failed: %w", failed.Cause), hint)
	}
	const most = 4 // faults, two lines each
	if faults := text.Flatten(err); len(faults) > most {
		err = errors.Join(append(faults[:most:most], fmt.Errorf("%d more faults; sitelink check shows them", len(faults)-most))...)
	}
	return setup.ExplainHook(err)
}

// bypass says how to push anyway.
const bypass = skipVariable + "=1 git push skips this check, git push --no-verify skips all hooks"
