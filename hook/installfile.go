package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/internal/disk"
)

// installFile writes the hook file. A foreign one is kept beside it and called
// by it: the file of that name is at any time either the old one or ours.
func installFile(s State, in Installation) error {
	old := filepath.Join(filepath.Dir(s.File), original)
	chain := s.Way == ByChain
	if s.Foreign {
		if _, err := os.Lstat(old); err == nil {
			return fmt.Errorf("%s exists, and %s is not ours", old, s.File)
		}
		if err := os.Link(s.File, old); err != nil {
			if err := os.Rename(s.File, old); err != nil {
				return fmt.Errorf("keep %s: %w", s.File, disk.Cause(err))
			}
		}
		chain = true
	}
	err := disk.WriteFile(s.File, []byte(hookFile(in, chain)), 0o755)
	if err != nil && s.Foreign {
		_ = os.Rename(old, s.File) // the error above counts
	}
	return err
}

// hookFile returns the text of the hook, for any POSIX shell. The path at
// which sitelink was installed is the second choice, so that an update counts.
//
// The chained hook runs when sitelink found nothing: its exit code then is
// that of the whole, and git-lfs uploads nothing for a push that is blocked.
// Both read what git wrote to standard input.
func hookFile(in Installation, chain bool) string {
	program := shellQuote(filepath.ToSlash(in.Program))
	lines := []string{
		"#!/bin/sh",
		madeBy,
		"sitelink=$(command -v sitelink) || sitelink=" + program,
		`if ! [ -x "$sitelink" ]; then`,
		`  echo >&2 "sitelink: error: not found, neither on PATH nor at $sitelink"`,
		`  echo >&2 "sitelink: hint: install it, or delete $0; git push --no-verify goes on without hooks"`,
		"  exit 3",
		"fi",
	}
	run := in.command(`"$sitelink"`) + ` "$@"`
	if !chain {
		return strings.Join(append(lines, "exec "+run), "\n") + "\n"
	}
	return strings.Join(append(lines,
		"# The dot keeps the line ends at the end, which $(...) would strip.",
		"refs=$(cat; echo .)",
		"refs=${refs%.}",
		`printf %s "$refs" | `+run+" || exit $?",
		`before=$(git rev-parse --git-path hooks)/`+original,
		"# git runs no hook that is not executable, and so does this.",
		`[ -x "$before" ] || exit 0`,
		`printf %s "$refs" | "$before" "$@"`,
	), "\n") + "\n"
}
