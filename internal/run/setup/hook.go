package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/text"
)

// HookStatus says in one line how git runs sitelink. It names the sites unless the
// root is the only one.
func HookStatus(s githook.Status) string {
	text := ""
	switch s.Method {
	case githook.ByConfig:
		text = "pre-push: installed in git's configuration (hook.sitelink.pre-push)"
	case githook.ByFile:
		text = "pre-push: installed as " + s.File
	case githook.ByChain:
		text = "pre-push: installed as " + s.File + ", which then runs the previous hook"
	case githook.ByManager:
		text = fmt.Sprintf("pre-push: run by %s, see %s", s.Manager, s.ManagerFile)
	default:
		return "pre-push: not installed"
	}
	if len(s.Sites) == 1 && s.Sites[0] == "." {
		return text
	}
	return text + "; checks " + strings.Join(s.Sites, ", ")
}

// CommittedDocroot returns the docroot of a project, as [project.Project.Show] has it,
// if the generator writes it and it is committed nevertheless: a commit can change the
// sources and leave an old copy there. It returns "" if there is no such docroot, if it
// is a repository of its own, and for docs, from where GitHub Pages publishes.
func CommittedDocroot(ctx context.Context, repo *githook.Repo, p *project.Project) string {
	if repo == nil || p.Generator == nil || !p.Generator.Builds() {
		return ""
	}
	docroot := p.Abs(p.Docroot)
	if _, err := os.Lstat(filepath.Join(docroot, ".git")); err == nil || filepath.Base(docroot) == "docs" || !repo.Tracks(ctx, docroot) {
		return ""
	}
	return filepath.ToSlash(p.Show(docroot))
}

// Uncommit returns the command that takes a docroot out of git, and leaves the files.
func Uncommit(docroot string) string { return "git rm -r --cached " + shellWord(docroot) }

// UncommitAdvice says why, and what else to do.
const UncommitAdvice = "a copy in git gets old; add it to .gitignore too, unless your host publishes it from git"

// AcceptFindings says how to accept the findings that a site has, in a baseline
// that may be configured already.
func AcceptFindings(configured bool) string {
	if configured {
		return "sitelink baseline update --add accepts what the site has now"
	}
	return "sitelink init --baseline accepts what the site has now"
}

// ExplainHook adds a hint to an error of the git hooks; nil stays nil.
func ExplainHook(err error) error {
	var managed *githook.ManagedError
	var shared *githook.SharedHooksError
	var module *githook.SubmoduleError
	var unknown *githook.UnknownCommitError
	var late *githook.TimeoutError
	var full *githook.DiskFullError
	hint := ""
	switch {
	case err == nil:
		return nil
	case errors.Is(err, githook.ErrNoWorkTree):
		hint = "change to the site's repository, or create one with git init"
	case errors.Is(err, githook.ErrNoGit):
		hint = "install git and put it on PATH"
	case errors.As(err, &unknown):
		hint = "git log lists the commits; a new repository has none before the first git commit"
	case errors.As(err, &managed):
		hint = fmt.Sprintf("put the lines above into %s", managed.File)
		if managed.Manager == "core.hooksPath" {
			hint = fmt.Sprintf("put the line above into %s, after #!/bin/sh; for hooks of this machine alone, keep them in a directory that git ignores", managed.File)
		}
	case errors.As(err, &shared):
		hint = "run git config --local core.hooksPath \"$(git rev-parse --path-format=absolute --git-common-dir)/hooks\" to give this repository its own hooks, or install git 2.54 or newer"
	case errors.As(err, &module):
		hint = "fetch it with git submodule update --init --recursive"
	case errors.As(err, &full):
		hint = "free some space there, or commit or stash your changes: a working tree that is exactly what you push needs no copy"
	case errors.As(err, &late):
		hint = "run sitelink hook run before the push, because results are remembered; or raise timeout in [hook], and " +
			"ServerAliveInterval of ssh, because servers close idle connections"
	default:
		return err
	}
	return text.WithHint(err, hint)
}
