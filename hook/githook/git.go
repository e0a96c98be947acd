package githook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/process"
)

// Git runs the git program found on PATH. The zero value runs it in the working
// directory with an empty environment; [Git.In] selects another directory.
type Git struct {
	// Env is the environment of git and of what it starts, in the form of
	// os.Environ.
	Env []string
	// Dir is the directory to run in, "" for the working directory.
	Dir string
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

// localVariables tie git to one repository. They are what `git rev-parse
// --local-env-vars` prints, and git sets some of them for its hooks. They must
// be removed before git, or a build that runs git, works in another working
// tree.
var localVariables = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
	"GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE",
	"GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE",
	"GIT_COMMON_DIR", "GIT_INTERNAL_SUPER_PREFIX", "GIT_REF_FORMAT",
}

// In returns a Git that runs in dir and finds the repository from there, even if
// the environment comes from a hook of another repository.
func (g Git) In(dir string) Git { return Git{withoutLocalVariables(g.Env), dir} }

func withoutLocalVariables(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(localVariables, name)
	})
}

// run returns the standard output of one git command. The errors are a
// [*GitError] for a command that fails, [ErrNoGit], and the cause of ctx.
func (g Git) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = g.Dir
	cmd.Env = append(slices.Clone(g.Env), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0")
	process.Group(cmd)
	var stdout output
	stderr := process.Tail{Limit: 64 << 10}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, ErrNoGit
	case errors.As(err, &exit):
		return nil, &GitError{subcommand(args), decisiveLine(stderr.Lines(100)), exit.ExitCode()}
	case err != nil:
		return nil, fmt.Errorf("git %s: %w", subcommand(args), err)
	}
	return stdout.Bytes(), nil
}

// decisiveLine returns the first line that git marks as fatal or as an error,
// which advice may follow, or else the last line.
func decisiveLine(lines []string) string {
	for _, line := range lines {
		for _, mark := range []string{"fatal: ", "error: "} {
			if message, ok := strings.CutPrefix(line, mark); ok {
				return message
			}
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

// output collects the standard output of git, up to a limit that the names of
// 100,000 files stay below.
type output struct{ bytes.Buffer }

func (o *output) Write(p []byte) (int, error) {
	const limit = 64 << 20
	if o.Len()+len(p) > limit {
		return 0, fmt.Errorf("the output is larger than %d MiB", limit>>20)
	}
	return o.Buffer.Write(p)
}

// subcommand returns the part of the arguments that names the command in an
// error message.
func subcommand(args []string) string {
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	if len(args) > 1 && args[0] == "worktree" {
		return args[0] + " " + args[1]
	}
	return args[0]
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
