package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/setup"
)

// pushRequest is the command line of `sitelink hook run`.
type pushRequest struct {
	dir    string // of the site
	commit string // instead of standard input
	remote string
}

// skipVariable lets one push go on without a check.
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
		push.Branches = nil // who names a commit means it
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
	case to != "": // pre-commit has read standard input; it knows no deletions here
		// Where its PRE_COMMIT_FROM_REF is the remote's commit, the history
		// tells the same.
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

// pushedBranch names the branch that a commit named by hand stands for.
func pushedBranch(c *cli, named string) string {
	if name, ok := strings.CutPrefix(c.env.Getenv("PRE_COMMIT_REMOTE_BRANCH"), "refs/heads/"); ok && name != "" {
		return name
	}
	return named
}

// newPush turns the configuration of the working tree into the way of checking.
// The table [hook] of a commit that is not checked out is not obeyed: its
// build command is somebody's program until its reader has seen it.
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
		salt, err := pushCacheKey(c, cfg.File)
		p.CacheKey += salt
		return err
	})
	if err != nil {
		return nil, err
	}
	today, err := c.today()
	p.Today, p.Check = string(today), commitChecker(c, cmd, p)
	return p, err
}

// pushCacheKey is what a verdict hangs on besides the tree: the version of sitelink,
// the configuration file, which may be changed or lie outside, and variables.
func pushCacheKey(c *cli, file string) (string, error) {
	var salt strings.Builder
	salt.WriteString(versionLine())
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("read config %s: %w", file, disk.Cause(err))
		}
		fmt.Fprintf(&salt, "\x00%s\x00%s", filepath.Base(file), text)
	}
	for _, k := range config.Keys() {
		if v := c.env.Getenv(k.Env()); v != "" {
			fmt.Fprintf(&salt, "\x00%s=%s", k.Env(), v)
		}
	}
	return salt.String(), nil
}

// inDirectory runs do in another working directory: names in a configuration
// are relative to it. No other goroutine of the command runs then.
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
			err = fmt.Errorf("go back to %s: %w", back, disk.Cause(backErr))
		}
	}()
	return do()
}

// explainPush adds what a user needs when a push could not be checked: at most
// a few faults, the end of a build's output, and the way round.
func explainPush(c *cli, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	c.ui.note("the push was not checked, and is stopped; " + bypass)
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

// bypass says how to push all the same.
const bypass = skipVariable + "=1 git push skips this check, git push --no-verify all hooks"

// pushSite finds out how a commit becomes a site where no command is configured:
// by a docroot that is committed, else by the generator's project of the working
// directory.
//
// Detecting a generator reads names only. Its configuration, which may take the
// generator a while to print, is read only for a tree that has to be checked.
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

// committedDocroot refuses a docroot that no commit of the repository can hold.
func committedDocroot(site, docroot string) (string, error) {
	if filepath.IsAbs(docroot) || !filepath.IsLocal(filepath.Join(site, docroot)) {
		return "", fault.Usage(fmt.Sprintf("docroot %s is not in the repository", docroot), "a hook checks what a commit holds, or what [hook] build makes of it")
	}
	return docroot, nil
}
