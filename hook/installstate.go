package hook

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

	"github.com/sitelink/sitelink/internal/disk"
)

// Way is how git comes to run sitelink before a push.
type Way uint8

const (
	// NotInstalled: it does not.
	NotInstalled Way = iota
	// ByConfig: by git's configuration, hook.sitelink.pre-push.command, which
	// git 2.54 and newer read. Hooks of others are left alone.
	ByConfig
	// ByFile: by the file pre-push in the directory of hooks.
	ByFile
	// ByChain: by that file, which then runs the one that was there before.
	ByChain
	// ByManager: by the configuration of a program that manages hooks.
	ByManager
)

// State is what is set up before a push.
type State struct {
	Way Way
	// File is the hook file that git looks for, absolute.
	File string
	// Manager is the program that the hooks belong to: husky, lefthook or
	// pre-commit; "" when there is none.
	Manager string
	// ManagerFile is where its hooks are configured, relative to the root.
	ManagerFile string
	// LFS: the hook file is, or chains, the one of git-lfs.
	LFS bool
	// Foreign: there is a hook file that is not ours.
	Foreign bool
	// HooksScope is the scope that sets core.hooksPath: local, worktree,
	// global, system or command; "" when nobody does.
	HooksScope string
	// ConfigHooks: this git runs hooks by configuration.
	ConfigHooks bool
	// Git is the version of git: 2.54.
	Git string
}

const (
	// configSection is what `git config` calls the hook. The form tool.event
	// is what other tools use as well.
	configSection = "hook.sitelink.pre-push"
	// madeBy marks a hook file as ours.
	madeBy = "# Made by sitelink hook install; sitelink hook uninstall takes it away."
	// original is what a hook is called that was there before ours.
	original = "pre-push.sitelink-orig"
	// maxHookFile is how much of a hook file is read.
	maxHookFile = 1 << 20
)

// State looks how git comes to run sitelink.
func (r *Repo) State(ctx context.Context) (State, error) {
	var s State
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
	before, err := readHook(filepath.Join(filepath.Dir(s.File), original))
	if err != nil {
		return s, err
	}
	ours := strings.Contains(text, madeBy)
	s.Foreign = text != "" && !ours
	s.LFS = strings.Contains(text+before, "git lfs pre-push")
	s.Manager, s.ManagerFile = r.manager(hooksPath, text+before)
	_, command, err := r.config(ctx, configSection+".command")
	switch {
	case err != nil:
		return s, err
	case command != "" && s.ConfigHooks:
		s.Way = ByConfig
	case ours && before != "":
		s.Way = ByChain
	case ours:
		s.Way = ByFile
	case s.Manager != "":
		if text, err := readHook(filepath.Join(r.Top, filepath.FromSlash(s.ManagerFile))); err == nil && strings.Contains(text, "sitelink hook run") || strings.Contains(text, "id: sitelink") {
			s.Way = ByManager
		}
	}
	return s, nil
}

// readHook returns the beginning of a file, "" when there is none.
func readHook(name string) (string, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, disk.Cause(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxHookFile))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, disk.Cause(err))
	}
	return string(text), nil
}

// lefthookFiles are the names of lefthook's configuration.
var lefthookFiles = []string{"lefthook.yml", ".lefthook.yml", "lefthook.yaml", ".lefthook.yaml", "lefthook.toml", "lefthook.json"}

// manager tells which program the hooks belong to, and where it is configured:
// husky by core.hooksPath, lefthook by its configuration, since it puts its
// hook files back at every installation, pre-commit by the hook file.
func (r *Repo) manager(hooksPath, text string) (name, file string) {
	if parts := strings.Split(filepath.ToSlash(hooksPath), "/"); slices.Contains(parts, ".husky") {
		return "husky", ".husky/pre-push"
	}
	for _, f := range lefthookFiles {
		if _, err := os.Stat(filepath.Join(r.Top, f)); err == nil {
			return "lefthook", f
		}
	}
	switch {
	case strings.Contains(text, "lefthook"):
		return "lefthook", lefthookFiles[0]
	case strings.Contains(text, "hook-impl"), strings.Contains(text, "pre-commit.com"):
		return "pre-commit", ".pre-commit-config.yaml"
	}
	return "", ""
}

// Release is the version of sitelink that snippets of configuration name: the
// newest that is released, before the first one that.
const Release = "v0.1.0"

// Snippets are what the managers' configuration must say, by their names.
var Snippets = map[string]string{
	"husky": "sitelink hook run pre-push \"$@\"\n",
	"lefthook": `pre-push:
  commands:
    sitelink:
      run: sitelink hook run pre-push {1} {2}
      use_stdin: true
`,
	"pre-commit": `repos:
  - repo: https://github.com/sitelink/sitelink
    rev: ` + Release + `
    hooks:
      - id: sitelink
`,
}
