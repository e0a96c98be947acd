package githook

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/git"
)

// Git runs the git program found on PATH. The zero value runs it in the working
// directory with an empty environment; [Git.In] selects another directory.
type Git struct {
	// Env is the environment of git and of what it starts, in the form of
	// os.Environ.
	Env []string
	// Dir is the directory to run in, "" for the working directory.
	Dir string
	// Untrusted means that the repository may be hostile. git then
	// only reads: it starts no program that the repository names and connects
	// nowhere, and everything that writes fails.
	Untrusted bool
}

// ErrNoGit means that git is not installed.
var ErrNoGit = errors.New("git is not installed")

// GitError means that a git command failed.
type GitError struct {
	Command  string // the subcommand, for example "worktree add"
	Message  string // the decisive line of its standard error, "" for none
	ExitCode int    // -1 when it was killed
}

func (e *GitError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("git %s: exit code %d", e.Command, e.ExitCode)
	}
	return "git " + e.Command + ": " + e.Message
}

// In returns a Git that runs in dir and finds the repository from there, even if
// the environment comes from a hook of another repository.
func (g Git) In(dir string) Git { return Git{git.WithoutLocal(g.Env), dir, g.Untrusted} }

// run returns the standard output of one git command. The errors are a
// [*GitError] for a command that fails, [ErrNoGit], and the cause of ctx.
func (g Git) run(ctx context.Context, args ...string) ([]byte, error) {
	out, err := git.Command{Dir: g.Dir, Env: g.Env, Untrusted: g.Untrusted}.Run(ctx, args...)
	var failed *git.Error
	switch {
	case errors.Is(err, git.ErrNotInstalled):
		return nil, ErrNoGit
	case errors.As(err, &failed):
		return nil, &GitError{failed.Command, failed.Message(), failed.ExitCode}
	}
	return out, err
}

// Version returns the first two numbers of git's version, such as 2 and 39.
func (g Git) Version(ctx context.Context) (major, minor int, err error) {
	out, err := g.run(ctx, "version")
	if err != nil {
		return 0, 0, err
	}
	text := strings.TrimPrefix(strings.TrimSpace(string(out)), "git version ")
	parts := strings.SplitN(text, ".", 3)
	if len(parts) > 1 {
		if major, err = strconv.Atoi(parts[0]); err == nil {
			minor, err = strconv.Atoi(parts[1])
		}
	}
	if err != nil || len(parts) < 2 {
		return 0, 0, fmt.Errorf("git version: cannot read the version number in %q", text)
	}
	return major, minor, nil
}
