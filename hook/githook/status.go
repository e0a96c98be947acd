package githook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/system"
)

// Method is how git runs sitelink before a push.
type Method uint8

const (
	// NotInstalled: git does not run sitelink.
	NotInstalled Method = iota
	// ByConfig: the key hook.sitelink.pre-push.command of git's configuration,
	// which git 2.54 and newer read. Other hooks are not affected.
	ByConfig
	// ByFile: the file pre-push in the hooks directory.
	ByFile
	// ByChain: the file pre-push, which then runs the hook that was there
	// before.
	ByChain
	// ByManager: the configuration of a program that manages hooks.
	ByManager
)

// Status is what is set up in a repository.
type Status struct {
	Method Method
	// Sites are the directories of the sites that are checked, slash paths relative
	// to the root of the working tree, sorted; "." is the root.
	Sites []string
	// File is the hook file that git looks for, absolute.
	File string
	// Manager is the program that manages the hooks: husky, lefthook, pre-commit or
	// overcommit; core.hooksPath for hooks that are files of the working tree, and ""
	// for none.
	Manager string
	// ManagerFile is the file that configures the manager's hooks, relative to
	// the root of the working tree.
	ManagerFile string
	// LFS reports that the hook of git-lfs is the hook file or runs after it.
	LFS bool
	// Foreign reports that there is a hook file that sitelink did not write.
	Foreign bool
	// HooksScope is the scope of git's configuration that sets core.hooksPath:
	// local, worktree, global, system or command; "" when it is not set.
	HooksScope string
	// ConfigHooks reports that this version of git supports [ByConfig].
	ConfigHooks bool
	// Git is the version of git, for example 2.54.
	Git string
}

const (
	// configSection is the name of the hook in git's configuration. Other tools
	// also use the form TOOL.EVENT.
	configSection = "hook.sitelink.pre-push"
	// hookMark is in every hook file that sitelink writes.
	hookMark = "# Made by sitelink hook install"
	// originalHook is the new name of the hook that was there before.
	originalHook = "pre-push.sitelink-orig"
	// inWorkTree is the name of [Status.Manager] for hooks that git tracks, or may track.
	inWorkTree = "core.hooksPath"
	// maxHookFile is how much of a hook file is read.
	maxHookFile = 1 << 20
)

// Status reports how git runs sitelink before a push.
func (r *Repo) Status(ctx context.Context) (Status, error) {
	var s Status
	major, minor, err := r.git.Version(ctx)
	if err != nil {
		return s, err
	}
	s.Git, s.ConfigHooks = fmt.Sprintf("%d.%d", major, minor), major > 2 || major == 2 && minor >= 54
	out, err := r.git.run(ctx, "rev-parse", "--path-format=absolute", "--git-path", "hooks")
	if err != nil {
		return s, err
	}
	s.File = filepath.Join(filepath.FromSlash(strings.TrimSuffix(string(out), "\n")), "pre-push")
	scope, hooksPath, err := r.config(ctx, "core.hooksPath")
	if err != nil {
		return s, err
	}
	s.HooksScope = scope
	text, err := readHook(s.File)
	if err != nil {
		return s, err
	}
	original, err := readHook(filepath.Join(filepath.Dir(s.File), originalHook))
	if err != nil {
		return s, err
	}
	ours := strings.Contains(text, hookMark)
	s.Foreign = text != "" && !ours
	s.LFS = strings.Contains(text+original, "git lfs pre-push")
	s.Manager, s.ManagerFile = r.manager(hooksPath, text+original)
	if rel, inside := r.relative(s.File); s.Manager == "" && hooksPath != "" && inside {
		_, err := r.git.run(ctx, "check-ignore", "-q", "--no-index", "--", rel)
		inGit := strings.HasPrefix(s.File, r.Common+string(filepath.Separator))
		if failed := (*GitError)(nil); !inGit && errors.As(err, &failed) && failed.ExitCode == 1 {
			s.Manager, s.ManagerFile = inWorkTree, rel
		}
	}
	_, command, err := r.config(ctx, configSection+".command")
	switch {
	case err != nil:
		return s, err
	case command != "" && s.ConfigHooks:
		s.Method, s.Sites = ByConfig, sitesOf(command)
	case ours && original != "":
		s.Method, s.Sites = ByChain, sitesOf(text)
	case ours:
		s.Method, s.Sites = ByFile, sitesOf(text)
	case s.Manager != "":
		if text, err := readHook(filepath.Join(r.Top, filepath.FromSlash(s.ManagerFile))); err == nil && strings.Contains(text, "sitelink hook run") || strings.Contains(text, "id: sitelink") {
			s.Method, s.Sites = ByManager, sitesOf(text)
		}
	}
	return s, nil
}

// readHook returns the beginning of a file, "" when it does not exist.
func readHook(name string) (string, error) {
	if info, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return "", nil
	}
	f, err := system.Open(name)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, system.Cause(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxHookFile))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, system.Cause(err))
	}
	return string(text), nil
}

// lefthookFiles are the names of lefthook's configuration.
var lefthookFiles = []string{"lefthook.yml", ".lefthook.yml", "lefthook.yaml", ".lefthook.yaml", "lefthook.toml", "lefthook.json"}

// manager returns the program that manages the hooks and the file that
// configures it. husky is recognised by core.hooksPath; lefthook by its
// configuration, because it writes its hook files again at every installation;
// pre-commit by the hook file.
func (r *Repo) manager(hooksPath, hookText string) (name, file string) {
	if parts := strings.Split(filepath.ToSlash(hooksPath), "/"); slices.Contains(parts, ".husky") {
		return "husky", ".husky/pre-push"
	}
	for _, f := range lefthookFiles {
		if _, err := os.Stat(filepath.Join(r.Top, f)); err == nil {
			return "lefthook", f
		}
	}
	switch {
	case strings.Contains(hookText, "lefthook"):
		return "lefthook", lefthookFiles[0]
	case strings.Contains(hookText, "hook-impl"), strings.Contains(hookText, "pre-commit.com"):
		return "pre-commit", ".pre-commit-config.yaml"
	case strings.Contains(hookText, "overcommit"):
		return "overcommit", ".overcommit.yml"
	}
	return "", ""
}

// Release is the version of sitelink that configuration snippets name: the
// newest release, or v0.1.0 before the first one.
const Release = "v0.1.0"

var snippets = map[string]string{
	"husky": "sitelink hook run pre-push --stdin \"$@\"\n",
	"lefthook": `pre-push:
  commands:
    sitelink:
      run: sitelink hook run pre-push --stdin {1} {2}
      use_stdin: true
`,
	inWorkTree: "sitelink hook run pre-push --stdin \"$@\" || exit\n",
	"overcommit": `PrePush:
  Sitelink:
    enabled: true
    required_executable: sitelink
    command: [sh, -c, 'sitelink hook run pre-push --stdin "$@"', sitelink]
`,
	"pre-commit": `repos:
  - repo: https://github.com/sitelink/sitelink
    rev: ` + Release + `
    hooks:
      - id: sitelink
`,
}

// Snippet returns the lines that make a program that manages hooks run sitelink for
// these sites, see [Status.Manager]; "" for a program it does not know. No site
// means the root.
func Snippet(manager string, sites ...string) string {
	text := strings.Replace(snippets[manager], runs(nil), runs(sites), 1)
	if flags := named(sites); flags != nil {
		const id = "- id: sitelink\n"
		text = strings.Replace(text, id, id+"        args: ["+strings.Join(flags, ", ")+"]\n", 1)
	}
	return text
}
