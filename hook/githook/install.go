package githook

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/internal/disk"
)

// InstallOptions say what the hook runs.
type InstallOptions struct {
	// Program is the absolute path of sitelink. Programs that start git without
	// the user's PATH need it.
	Program string
	// Site is the directory of the site relative to the root of the working
	// tree; "" or "." for the root.
	Site string
}

// ManagedError means that another program manages the hooks and replaces what it
// finds in the hooks directory. Add [Snippet] to its configuration instead.
type ManagedError struct {
	Manager string // husky, lefthook or pre-commit
	File    string // its configuration, relative to the root
}

func (e *ManagedError) Error() string {
	return fmt.Sprintf("%s manages the hooks of this repository", e.Manager)
}

// SharedHooksError means that several repositories share the hooks directory.
type SharedHooksError struct {
	Scope string // of the configuration that sets core.hooksPath
	Dir   string
}

func (e *SharedHooksError) Error() string {
	return fmt.Sprintf("core.hooksPath in the %s configuration makes all repositories share the hooks in %s", e.Scope, e.Dir)
}

// Install makes git run sitelink before a push and returns the status
// afterwards. An existing hook keeps running. You can call Install again to
// change the options. When it fails, nothing has changed.
//
// For git 2.54 and newer it adds an entry to the repository's configuration, for
// older versions it writes a hook file. With an older version it returns a
// [*ManagedError] if another program manages the hooks, and a
// [*SharedHooksError] if several repositories share the hooks directory.
func (r *Repo) Install(ctx context.Context, opt InstallOptions) (Status, error) {
	s, err := r.Status(ctx)
	if err != nil || s.Method == ByManager {
		return s, err
	}
	switch {
	case s.ConfigHooks:
		err = r.installConfig(ctx, opt)
		if err == nil && (s.Method == ByFile || s.Method == ByChain) { // from an older git
			err = removeHookFile(s)
		}
	case s.Manager != "":
		return s, &ManagedError{s.Manager, s.ManagerFile}
	case s.HooksScope != "" && s.HooksScope != "local" && s.HooksScope != "worktree":
		return s, &SharedHooksError{s.HooksScope, filepath.Dir(s.File)}
	default:
		err = installFile(s, opt)
	}
	if err != nil {
		return s, err
	}
	return r.Status(ctx)
}

// Uninstall removes what [Repo.Install] added and returns the status before. A
// hook file that was there before Install is restored byte for byte.
func (r *Repo) Uninstall(ctx context.Context) (Status, error) {
	s, err := r.Status(ctx)
	if err != nil {
		return s, err
	}
	if _, command, err := r.config(ctx, configSection+".command"); err != nil || command != "" {
		if err == nil {
			_, err = r.git.run(ctx, "config", "--local", "--remove-section", configSection)
		}
		if err != nil {
			return s, err
		}
	}
	if text, err := readHook(s.File); err != nil || !strings.Contains(text, hookMark) {
		return s, err
	}
	return s, removeHookFile(s)
}

// RemoveData removes what sitelink keeps in the repository: what was found in
// which trees, how long a check takes, and the temporary working trees of killed
// runs.
func (r *Repo) RemoveData(ctx context.Context) error {
	if err := r.RemoveStaleTrees(ctx); err != nil {
		return err
	}
	for _, name := range []string{passedFile, foundDir, durationsFile} {
		if err := os.RemoveAll(r.dataPath(name)); err != nil {
			return fmt.Errorf("remove %s: %w", r.dataPath(name), disk.Cause(err))
		}
	}
	_ = os.Remove(r.dataPath(treesDir)) // fails while another run uses it
	_ = os.Remove(r.dataPath(""))
	return nil
}

// installConfig sets the command first: git refuses every push if a hook has an
// event without a command, and ignores a command without an event.
func (r *Repo) installConfig(ctx context.Context, opt InstallOptions) error {
	if _, err := r.git.run(ctx, "config", "--local", configSection+".command", opt.command("")); err != nil {
		return err
	}
	_, err := r.git.run(ctx, "config", "--local", configSection+".event", "pre-push")
	return err
}

// installFile writes the hook file. A foreign hook is kept beside it, and the
// new file runs it. At any time the file is either the old one or the new one.
func installFile(s Status, opt InstallOptions) error {
	original := filepath.Join(filepath.Dir(s.File), originalHook)
	chain := s.Method == ByChain
	if s.Foreign {
		if _, err := os.Lstat(original); err == nil {
			return fmt.Errorf("%s exists, and %s was not written by sitelink: keep one of them", original, s.File)
		}
		if err := os.Link(s.File, original); err != nil {
			if err := os.Rename(s.File, original); err != nil {
				return fmt.Errorf("keep %s: %w", s.File, disk.Cause(err))
			}
		}
		chain = true
	}
	err := disk.WriteFile(s.File, []byte(hookFile(opt, chain)), 0o755)
	if err != nil && s.Foreign {
		_ = os.Rename(original, s.File) // report the first error
	}
	return err
}

// removeHookFile removes the hook file that sitelink wrote and restores the one
// before.
func removeHookFile(s Status) error {
	original := filepath.Join(filepath.Dir(s.File), originalHook)
	if _, err := os.Lstat(original); err == nil {
		if err := os.Rename(original, s.File); err != nil {
			return fmt.Errorf("restore %s: %w", s.File, disk.Cause(err))
		}
		return nil
	}
	if err := os.Remove(s.File); err != nil {
		return fmt.Errorf("remove %s: %w", s.File, disk.Cause(err))
	}
	return nil
}

// hookFile returns the text of the hook file, for any POSIX shell. The hook
// prefers the sitelink on PATH to the path at installation, so that an update
// takes effect.
//
// A chained hook runs after sitelink has found nothing. Its exit code is then
// that of the whole hook, and git-lfs uploads nothing for a push that is
// blocked. Both get what git writes to standard input.
func hookFile(opt InstallOptions, chain bool) string {
	program := shellQuote(filepath.ToSlash(opt.Program))
	lines := []string{
		"#!/bin/sh",
		hookMark + "; to remove it, run sitelink hook uninstall.",
		"sitelink=$(command -v sitelink) || sitelink=" + program,
		`if ! [ -x "$sitelink" ]; then`,
		`  echo >&2 "sitelink: error: sitelink is neither on PATH nor at $sitelink"`,
		`  echo >&2 "sitelink: hint: install it, or delete $0; git push --no-verify skips all hooks"`,
		"  exit 3",
		"fi",
	}
	run := opt.command(`"$sitelink"`) + ` "$@"`
	if !chain {
		return strings.Join(append(lines, "exec "+run), "\n") + "\n"
	}
	return strings.Join(append(lines,
		"# The dot keeps the newlines at the end, which $(...) would remove.",
		"refs=$(cat; echo .)",
		"refs=${refs%.}",
		`printf %s "$refs" | `+run+" || exit $?",
		`before=$(git rev-parse --git-path hooks)/`+originalHook,
		"# Like git, ignore a hook that is not executable.",
		`[ -x "$before" ] || exit 0`,
		`printf %s "$refs" | "$before" "$@"`,
	), "\n") + "\n"
}

// command returns the shell command that runs sitelink. program is how it names
// the program, "" for its path.
func (opt InstallOptions) command(program string) string {
	if program == "" {
		program = shellQuote(filepath.ToSlash(opt.Program))
	}
	text := program + " hook run pre-push"
	if opt.Site != "" && opt.Site != "." {
		text += " --dir " + shellQuote(filepath.ToSlash(opt.Site))
	}
	return text
}

// shellQuote quotes any text as one word of the shell.
func shellQuote(text string) string {
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
