package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/project"
)

// HookStatus says in one line how git comes to run sitelink, and for which sites if
// these are not the root alone.
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
	case errors.As(err, &managed):
		hint = fmt.Sprintf("put the lines above into %s", managed.File)
	case errors.As(err, &shared):
		hint = "run git config --local core.hooksPath .githooks to give this repository its own hooks, or install git 2.54 or newer"
	case errors.As(err, &module):
		hint = "fetch it with git submodule update --init --recursive"
	case errors.As(err, &full):
		hint = "free some space there, or commit or stash your changes: a working tree that is exactly what you push needs no copy"
	case errors.As(err, &late) && late.Adapted:
		hint = "the next push gets more time; run sitelink hook run before the push, because results are remembered and " +
			"servers close idle connections (ServerAliveInterval of ssh keeps them open)"
	case errors.As(err, &late):
		hint = "run sitelink hook run before the push, because results are remembered; or raise timeout in [hook], and " +
			"ServerAliveInterval of ssh, because servers close idle connections"
	default:
		return err
	}
	return fault.New(err, hint)
}

// scriptsHead matches the start of the scripts in a package.json.
var scriptsHead = regexp.MustCompile(`"scripts"\s*:\s*\{(\s*)`)

// postBuildEntry is inserted at the start of the scripts. npm runs a script
// with that name after each `npm run build` (docs.npmjs.com, "Pre & Post
// Scripts").
const postBuildEntry = `"postbuild": "sitelink check",`

// InstallPostBuild makes `npm run build` end with a check: it adds the script
// postbuild to a package.json with a script build, and changes no other byte.
// You can call it again.
func InstallPostBuild(file string) error {
	text, scripts, err := readScripts(file)
	switch {
	case err != nil:
		return err
	case scripts["postbuild"] == "sitelink check":
		return nil
	case scripts["postbuild"] != "":
		return fmt.Errorf("%s already has a postbuild script: %q", file, scripts["postbuild"])
	case scripts["build"] == "":
		return fmt.Errorf("%s has no build script to add a check to", file)
	}
	at := scriptsHead.FindSubmatchIndex(text)
	if at == nil {
		return fmt.Errorf("%s: cannot find the scripts; add the script \"postbuild\": \"sitelink check\" yourself", file)
	}
	space := text[at[2]:at[3]]
	changed := append(bytes.Clone(text[:at[3]]), postBuildEntry...)
	return writeScripts(file, append(append(changed, space...), text[at[3]:]...), "sitelink check")
}

// UninstallPostBuild removes the script that [InstallPostBuild] added, if it is
// still there.
func UninstallPostBuild(file string) error {
	text, scripts, err := readScripts(file)
	if err != nil || scripts["postbuild"] != "sitelink check" {
		return err
	}
	at := bytes.Index(text, []byte(postBuildEntry))
	if at < 0 {
		return fmt.Errorf("%s: the postbuild script was moved; remove it yourself", file)
	}
	rest := text[at+len(postBuildEntry):]
	return writeScripts(file, append(bytes.Clone(text[:at]), bytes.TrimLeft(rest, " \t\r\n")...), "")
}

func readScripts(file string) (text []byte, scripts map[string]string, err error) {
	if text, err = disk.Read(file, maxFileBytes); err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", file, disk.Cause(err))
	}
	var document struct{ Scripts map[string]string }
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", file, err)
	}
	return text, document.Scripts, nil
}

// writeScripts writes the file only if the result has the script as intended,
// because the file may contain another object with the key scripts.
func writeScripts(file string, text []byte, want string) error {
	var document struct{ Scripts map[string]string }
	if err := json.Unmarshal(text, &document); err != nil || document.Scripts["postbuild"] != want {
		return errors.New(file + ": cannot edit this file safely; add the script \"postbuild\": \"sitelink check\" yourself")
	}
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("read %s: %w", file, disk.Cause(err))
	}
	return disk.WriteFile(file, text, info.Mode().Perm())
}
