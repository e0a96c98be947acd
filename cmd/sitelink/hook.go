package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/setup"
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

// hookName accepts pre-push, post-build or nothing, which means pre-push.
func hookName(cmd *cobra.Command, args []string) error {
	if len(args) > 1 || len(args) == 1 && args[0] != "pre-push" && args[0] != "post-build" {
		return fault.Usage(fmt.Sprintf("%s: the hook must be pre-push or post-build, not %q", cmd.Name(), strings.Join(args, " ")), "")
	}
	return nil
}

func postBuild(args []string) bool { return len(args) == 1 && args[0] == "post-build" }

// openHere finds the repository of the working directory, and the path of the
// directory in it.
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

// pushRequest is the command line of `sitelink hook run`.
type pushRequest struct {
	dir    string // of the site
	commit string // instead of standard input
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
	if !filepath.IsLocal(req.dir) {
		return fault.Usage(fmt.Sprintf("--dir: must be a directory below the root of the repository, not %q", req.dir), "")
	}
	ctx := cmd.Context()
	refs, err := pushRefs(c, req)
	if err != nil {
		return err
	}
	if len(refs) == 0 {
		return nil // nothing new is pushed
	}
	repo, refs, err := githook.OpenPush(ctx, githook.Git{Env: os.Environ()}, refs)
	if err != nil {
		return setup.ExplainHook(err)
	}
	push, err := newPush(c, cmd, repo, req)
	if err != nil {
		return explainPush(c, err)
	}
	if req.commit != "" {
		push.Branches = nil // a named commit is checked on any branch
	}
	all, notes, err := repo.CheckPush(ctx, refs, *push)
	for _, note := range notes {
		c.ui.warning(note)
	}
	if err != nil {
		return explainPush(c, err)
	}
	return reportPush(c, all)
}

// pushRefs finds out what is pushed. A commit named by hand stands for a branch.
func pushRefs(c *cli, req pushRequest) (refs []githook.Ref, err error) {
	named := func(commit string) []githook.Ref {
		return []githook.Ref{{Local: commit, Commit: commit, Remote: "refs/heads/" + pushedBranch(c, commit)}}
	}
	switch to := c.env.Getenv("PRE_COMMIT_TO_REF"); {
	case req.commit != "":
		if strings.HasPrefix(req.commit, "-") {
			return nil, fault.Usage(fmt.Sprintf("--commit: must be a commit, not %q", req.commit), "")
		}
		return named(req.commit), nil
	case to != "": // pre-commit has read standard input, and runs no hook for deletions
		// PRE_COMMIT_FROM_REF is not needed: the history shows the same commit.
		branch := c.env.Getenv("PRE_COMMIT_REMOTE_BRANCH")
		refs, err = githook.ReadRefs(strings.NewReader(fmt.Sprintf("%s %s %s %s", to, to, branch, strings.Repeat("0", len(to)))))
		if err != nil || branch == "" {
			return named(to), nil // run by hand: --to-ref may be any name
		}
		return refs, nil
	case c.env.Stdin == nil || c.env.StdinTTY || c.env.Getenv("PRE_COMMIT") != "":
		return named("HEAD"), nil
	}
	refs, err = githook.ReadRefs(c.env.Stdin)
	if err != nil {
		return nil, fault.Usage(err.Error(), "git gives a pre-push hook: LOCAL-REF LOCAL-ID REMOTE-REF REMOTE-ID")
	}
	return refs, nil
}

// pushedBranch returns the branch that a commit named by hand stands for.
func pushedBranch(c *cli, named string) string {
	if name, ok := strings.CutPrefix(c.env.Getenv("PRE_COMMIT_REMOTE_BRANCH"), "refs/heads/"); ok && name != "" {
		return name
	}
	return named
}

// newPush returns how to check the push, by the configuration of the working tree.
// The table [hook] of a commit that is not checked out does not count: its
// build command has not been reviewed on this machine.
func newPush(c *cli, cmd *cobra.Command, repo *githook.Repo, req pushRequest) (*githook.Push, error) {
	p := &githook.Push{Site: filepath.Clean(req.dir), Remote: req.remote, Env: os.Environ()}
	if from := c.env.Getenv("PRE_COMMIT_REMOTE_NAME"); p.Remote == "" {
		p.Remote = from
	}
	quiet := c.silent()
	err := inDirectory(filepath.Join(repo.Top, p.Site), func() error {
		cfg, err := quiet.configure(cmd, nil, "")
		if err != nil {
			return err
		}
		p.Build, p.Branches, p.OnlyNew = cfg.Hook.Build, cfg.Hook.Branches, cfg.Hook.Baseline == "remote"
		p.Timeout = cfg.Hook.Timeout
		if p.Build == "" {
			if err := pushSite(repo, cfg, p); err != nil {
				return err
			}
		}
		key, err := pushCacheKey(c, cfg.File)
		p.CacheKey += key
		return err
	})
	if err != nil {
		return nil, err
	}
	today, err := c.today()
	p.Today, p.Check = string(today), commitChecker(c, cmd, p)
	return p, err
}

// pushCacheKey returns what a result depends on besides the tree: the version of
// sitelink, the configuration file, which may be uncommitted, and variables.
func pushCacheKey(c *cli, file string) (string, error) {
	var key strings.Builder
	key.WriteString(versionLine())
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("read config %s: %w", file, disk.Cause(err))
		}
		fmt.Fprintf(&key, "\x00%s\x00%s", filepath.Base(file), text)
	}
	for _, k := range config.Keys() {
		if v := c.env.Getenv(k.Env()); v != "" {
			fmt.Fprintf(&key, "\x00%s=%s", k.Env(), v)
		}
	}
	return key.String(), nil
}

// inDirectory runs do with another working directory, to which the names in a
// configuration are relative. No other goroutine of the command may run meanwhile.
func inDirectory(dir string, do func() error) (err error) {
	back, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the working directory: %w", disk.Cause(err))
	}
	if err := os.Chdir(dir); err != nil {
		return fault.New(fmt.Errorf("enter %s: %w", dir, disk.Cause(err)), "the site is not in this commit; --dir says where it is")
	}
	defer func() {
		if backErr := os.Chdir(back); err == nil && backErr != nil {
			err = fmt.Errorf("return to %s: %w", back, disk.Cause(backErr))
		}
	}()
	return do()
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
		return fault.New(fmt.Errorf("the build command failed: %w", failed.Cause), "the command was: "+failed.Command+"; build in [hook] of sitelink.toml names another")
	}
	const most = 4 // faults, two lines each
	if faults := fault.Flatten(err); len(faults) > most {
		err = errors.Join(append(faults[:most:most], fmt.Errorf("%d more faults; sitelink check shows them", len(faults)-most))...)
	}
	return setup.ExplainHook(err)
}

// bypass says how to push anyway.
const bypass = skipVariable + "=1 git push skips this check, git push --no-verify skips all hooks"

// pushSite finds out how a commit becomes a site when no command is configured: the
// docroot is committed, or the generator of the working directory builds it.
//
// Detecting a generator only reads the names of files. Its configuration, which
// can take the generator a while to print, is read only for a tree that has to be
// checked.
func pushSite(repo *githook.Repo, cfg *config.Config, push *githook.Push) error {
	dir, err := workingDir()
	if err != nil {
		return err
	}
	find := func(ctx context.Context) (*project.Project, error) {
		return project.Find(ctx, dir, project.Options{Config: cfg, Env: os.Environ()})
	}
	g, ok := project.DetectGenerator(dir)
	if !ok {
		p, err := find(context.Background())
		if err != nil {
			return err
		}
		push.Docroot, err = committedDocroot(push.Site, p.Docroot)
		return err
	}
	push.CacheKey = "generator " + string(g.Generator) + "\x00" + cfg.Docroot + "\x00"
	push.Configure = func(ctx context.Context, commit string) (build, docroot string, err error) {
		p, err := find(ctx)
		if err != nil {
			return "", "", err
		}
		if p.Generator != nil && p.Generator.Builds() && !repo.CommitContains(ctx, commit, p.Abs(p.Docroot)) {
			build = setup.BuildCommand(p.Generator)
			if rel, err := filepath.Rel(dir, p.Generator.Dir); err == nil && rel != "." {
				build = "cd " + (generator.Command{Args: []string{filepath.ToSlash(rel)}}).String() + " && " + build
			}
			return build, "", nil
		}
		docroot, err = committedDocroot(push.Site, p.Docroot)
		return "", docroot, err
	}
	return nil
}

// committedDocroot refuses a docroot outside the repository.
func committedDocroot(site, docroot string) (string, error) {
	if filepath.IsAbs(docroot) || !filepath.IsLocal(filepath.Join(site, docroot)) {
		return "", fault.Usage(fmt.Sprintf("docroot %s is not in the repository", docroot), "a hook checks what a commit holds, or what [hook] build makes of it")
	}
	return docroot, nil
}

// silent returns c without notes and warnings: a hook prints at most 15 lines.
func (c *cli) silent() *cli {
	quiet := *c
	quiet.env.Stderr = io.Discard
	quiet.ui = newUI(quiet.env)
	return &quiet
}

// commitChecker returns a function that checks the site of a commit for
// [githook.Push], by the configuration of the commit, which says what its authors
// accept.
func commitChecker(c *cli, cmd *cobra.Command, p *githook.Push) func(ctx context.Context, dir, docroot string) (githook.Report, error) {
	return func(ctx context.Context, dir, docroot string) (checked githook.Report, err error) {
		quiet := c.silent()
		err = inDirectory(dir, func() error {
			cfg, err := quiet.configure(cmd, nil, "")
			if err != nil {
				return err
			}
			opt := project.Options{Config: cfg, Env: os.Environ(), Docroot: docroot, BuiltElsewhere: filepath.IsAbs(docroot)}
			here, err := workingDir()
			if err != nil {
				return err
			}
			site, err := project.Find(ctx, here, opt)
			if err != nil {
				return err
			}
			if docroot == "" {
				checked.Docroot = filepath.ToSlash(filepath.Join(p.Site, site.Docroot))
			}
			if err := site.CheckDocroot(); err != nil {
				hint := "set build in [hook] of sitelink.toml, or docroot to a directory that is committed"
				if p.Build != "" {
					hint = "the build command wrote neither there nor to $" + githook.OutVariable
				}
				return fault.New(err, hint)
			}
			run, err := audit.Open(ctx, site, audit.Options{Baseline: true, Sources: true, Today: c.today})
			if err != nil {
				return err
			}
			if err := check.Deployable(&check.Summary{Docroot: run.Site.Root(), ServerPages: run.Site.ServerPages()}); err != nil {
				return fault.New(err, "commit what the generator builds, or keep the docroot out of the commit and let the hook build it")
			}
			result, err := run.Check(ctx)
			if err != nil {
				return err
			}
			checked.ValidToday = run.Baseline != nil
			checked.Findings = failing(cfg, result)
			return nil
		})
		return checked, err
	}
}

// failing returns the findings that fail the run.
func failing(cfg *config.Config, r *check.Result) []check.Finding {
	if !audit.Fails(cfg.FailOn, r) {
		return nil
	}
	return slices.DeleteFunc(r.Findings, func(f check.Finding) bool {
		return cfg.FailOn != "warning" && f.Verdict != check.Error
	})
}

// maxPushFindings is how many findings a blocked push shows.
const maxPushFindings = 10

// reportPush prints one line for a push that passes, and at most 15 lines for one
// that does not.
func reportPush(c *cli, all []githook.TreeResult) error {
	bad := slices.DeleteFunc(slices.Clone(all), func(v githook.TreeResult) bool { return len(v.Findings) == 0 })
	if len(bad) == 0 {
		if len(all) > 0 {
			c.ui.line(passed(all))
		}
		return nil
	}
	const mostTrees = 3
	left, hidden := maxPushFindings-(min(len(bad), mostTrees)-1), 0
	suggest := pushLines(bad) <= left
	for i, v := range bad {
		if i >= mostTrees {
			hidden += len(v.Findings)
			continue
		}
		c.ui.line(headline(v))
		var text []byte
		shown := min(left, len(v.Findings))
		for j := range v.Findings[:shown] {
			text = appendPushed(text, &v.Findings[j], v.Docroot, suggest)
		}
		left, hidden = left-shown, hidden+len(v.Findings)-shown
		// Not to standard output, which belongs to git push --porcelain.
		if _, err := c.env.Stderr.Write(text); err != nil {
			break // the push is blocked even if the reason cannot be printed
		}
	}
	if hidden > 0 {
		c.ui.line("and " + count(hidden, "more finding") + "; sitelink check shows all of a build")
	}
	c.ui.line("hint: " + bypass)
	return errFindings
}

// pushLines counts the lines of all findings and their suggestions.
func pushLines(bad []githook.TreeResult) (n int) {
	for _, v := range bad {
		n += len(v.Findings)
		for i := range v.Findings {
			if v.Findings[i].Suggestion != "" {
				n++
			}
		}
	}
	return n
}

// appendPushed appends the line of a finding, and with suggest the line of its
// suggestion.
func appendPushed(text []byte, f *check.Finding, docroot string, suggest bool) []byte {
	first := true
	for line := range strings.Lines(string(report.AppendText(nil, f, report.TextOptions{Prefix: docroot}))) {
		if first || suggest && strings.HasPrefix(line, "    did you mean ") {
			text = append(text, line...)
		}
		first = false
	}
	return text
}

// headline returns the line for a tree that does not pass.
func headline(v githook.TreeResult) string {
	what := "finding"
	if v.OldFindings > 0 {
		what = "new finding"
	}
	text := count(len(v.Findings), what) + " in what is pushed to " + refNames(v.Refs)
	if v.OldFindings > 0 {
		text += ", beside " + count(v.OldFindings, "old one")
	}
	return text
}

// passed returns the line for a push that passes.
func passed(all []githook.TreeResult) string {
	var refs []string
	old, remembered := 0, true
	for _, v := range all {
		refs, old, remembered = append(refs, v.Refs...), old+v.OldFindings, remembered && v.Origin == githook.FromCache
	}
	text := refNames(refs) + ": "
	switch {
	case remembered:
		return text + "passed before"
	case old > 0:
		return text + "no new finding, " + count(old, "old one")
	}
	return text + "links are fine"
}

// refNames lists the first few refs, by the names that a user knows.
func refNames(refs []string) string {
	const most = 3
	var names []string
	for _, r := range refs[:min(len(refs), most)] {
		names = append(names, strings.TrimPrefix(r, "refs/heads/"))
	}
	text := strings.Join(names, ", ")
	if len(refs) > most {
		text += " and " + count(len(refs)-most, "other")
	}
	return text
}
