package hook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/internal/disk"
)

// Installation says what the hook runs.
type Installation struct {
	// Program is the absolute path of sitelink, for programs that start git
	// without the user's search path.
	Program string
	// Site is the directory of the site relative to the root, "" or "." for
	// the root.
	Site string
}

// ManagedError means that the hooks belong to a program that must run sitelink
// itself: what it finds in the directory of hooks it replaces.
type ManagedError struct{ Manager, File string }

func (e *ManagedError) Error() string {
	return fmt.Sprintf("the hooks of this repository belong to %s", e.Manager)
}

// SharedHooksError means that the hook files of this repository are those of
// others too.
type SharedHooksError struct{ Scope, Dir string }

func (e *SharedHooksError) Error() string {
	return fmt.Sprintf("core.hooksPath of the %s configuration shares %s with other repositories", e.Scope, e.Dir)
}

// Install makes git run sitelink before a push, and returns the state after.
// It may be repeated. A hook that is there keeps running. It changes nothing
// when it fails.
//
// git 2.54 and newer get an entry in the repository's configuration, older ones
// a hook file. A program that manages the hooks of an older git is a
// [*ManagedError], a directory of hooks shared by repositories a
// [*SharedHooksError].
func (r *Repo) Install(ctx context.Context, in Installation) (State, error) {
	s, err := r.State(ctx)
	if err != nil || s.Way == ByManager {
		return s, err
	}
	switch {
	case s.ConfigHooks:
		err = r.installConfig(ctx, in)
		if err == nil && (s.Way == ByFile || s.Way == ByChain) { // of an older git
			err = removeFile(s)
		}
	case s.Manager != "":
		return s, &ManagedError{s.Manager, s.ManagerFile}
	case s.HooksScope != "" && s.HooksScope != "local" && s.HooksScope != "worktree":
		return s, &SharedHooksError{s.HooksScope, filepath.Dir(s.File)}
	default:
		err = installFile(s, in)
	}
	if err != nil {
		return s, err
	}
	return r.State(ctx)
}

// Uninstall takes away what [Repo.Install] made: a hook that was there before
// is again what it was, to the byte. It returns the state before.
func (r *Repo) Uninstall(ctx context.Context) (State, error) {
	s, err := r.State(ctx)
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
	if text, err := readHook(s.File); err != nil || !strings.Contains(text, madeBy) {
		return s, err
	}
	return s, removeFile(s)
}

// Forget removes what sitelink keeps in the repository: the memo, and temporary
// trees of killed runs.
func (r *Repo) Forget(ctx context.Context) error {
	if err := r.Prune(ctx); err != nil {
		return err
	}
	if err := os.Remove(r.own("passed")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", r.own("passed"), disk.Cause(err))
	}
	_ = os.Remove(r.own(treesDir)) // another run may be using them
	_ = os.Remove(r.own(""))
	return nil
}

// installConfig writes the command last: an event without command is refused
// by git at every push, a command without event only never runs.
func (r *Repo) installConfig(ctx context.Context, in Installation) error {
	if _, err := r.git.run(ctx, "config", "--local", configSection+".command", in.command("")); err != nil {
		return err
	}
	_, err := r.git.run(ctx, "config", "--local", configSection+".event", "pre-push")
	return err
}

// removeFile takes our hook file away, and puts back the one before.
func removeFile(s State) error {
	old := filepath.Join(filepath.Dir(s.File), original)
	if _, err := os.Lstat(old); err == nil {
		if err := os.Rename(old, s.File); err != nil {
			return fmt.Errorf("put back %s: %w", s.File, disk.Cause(err))
		}
		return nil
	}
	if err := os.Remove(s.File); err != nil {
		return fmt.Errorf("remove %s: %w", s.File, disk.Cause(err))
	}
	return nil
}

// command is the line that runs sitelink, with program in place of its path
// unless that is "".
func (in Installation) command(program string) string {
	if program == "" {
		program = shellQuote(filepath.ToSlash(in.Program))
	}
	text := program + " hook run pre-push"
	if in.Site != "" && in.Site != "." {
		text += " --dir " + shellQuote(filepath.ToSlash(in.Site))
	}
	return text
}

// shellQuote makes one word of the shell of any text.
func shellQuote(text string) string {
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
