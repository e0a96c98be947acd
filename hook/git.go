package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Git runs the git of the machine. The zero value runs it in the working
// directory with an empty environment; [Git.In] names another directory.
type Git struct {
	// Env is the environment of git and of what it starts, as of os.Environ.
	Env []string
	// Dir is where git runs, "" for the working directory.
	Dir string
}

// ErrNoGit means that there is no git on the machine.
var ErrNoGit = errors.New("git is not installed")

// GitError is what git said when it failed.
type GitError struct {
	Command string // the subcommand, such as "worktree add"
	Said    string // the last line of its standard error, "" when it said none
	Code    int    // its exit code, -1 when it was killed
}

func (e *GitError) Error() string {
	if e.Said == "" {
		return fmt.Sprintf("git %s left with %d", e.Command, e.Code)
	}
	return "git " + e.Command + ": " + e.Said
}

// localVariables tie git to one repository: what `git rev-parse
// --local-env-vars` prints. git sets some of them for its hooks. They must go
// before git, or a build that asks git, turns to another working tree.
var localVariables = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
	"GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE",
	"GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE",
	"GIT_COMMON_DIR", "GIT_INTERNAL_SUPER_PREFIX", "GIT_REF_FORMAT",
}

// In returns a Git that runs in dir and looks for the repository from there,
// whatever a hook's environment says.
func (g Git) In(dir string) Git { return Git{withoutGit(g.Env), dir} }

func withoutGit(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(localVariables, name)
	})
}

// maxGitOutput bounds what is kept of one command's output: names of 100,000
// files and more.
const maxGitOutput = 64 << 20

// gitPatience is how long git may take to end after it was told to.
const gitPatience = 5 * time.Second

// run returns the standard output of one command. A command that fails gives a
// [*GitError], a missing git [ErrNoGit], a cancelled ctx its cause.
func (g Git) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.WaitDelay = g.Dir, gitPatience
	cmd.Env = append(slices.Clone(g.Env), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0")
	detach(cmd)
	stdout, stderr := tail{most: maxGitOutput, refuse: true}, tail{most: 64 << 10}
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
		lines := strings.Split(strings.TrimSpace(string(stderr.kept)), "\n")
		said := lines[len(lines)-1]
		for _, line := range lines { // advice may follow the line that counts
			if strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ") {
				said = line
				break
			}
		}
		said = strings.TrimPrefix(strings.TrimPrefix(said, "fatal: "), "error: ")
		return nil, &GitError{subcommand(args), said, exit.ExitCode()}
	case err != nil:
		return nil, fmt.Errorf("git %s: %w", subcommand(args), err)
	}
	return stdout.kept, nil
}

// subcommand is the part of the arguments that a message needs.
func subcommand(args []string) string {
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	if len(args) > 1 && args[0] == "worktree" {
		return args[0] + " " + args[1]
	}
	return args[0]
}

// Version is the version of git as its first two numbers: 2 and 39.
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
		return 0, 0, fmt.Errorf("git version: %q is no version", text)
	}
	return major, minor, nil
}

// tail is a writer that keeps the last bytes it gets, or refuses more.
type tail struct {
	kept   []byte
	most   int
	refuse bool
}

func (t *tail) Write(p []byte) (int, error) {
	if t.refuse && len(t.kept)+len(p) > t.most {
		return 0, fmt.Errorf("the output is larger than %d MiB", t.most>>20)
	}
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - t.most; over > 0 {
		t.kept = t.kept[over:]
	}
	return len(p), nil
}

// lines returns the last n lines that were kept, without blank ones.
func (t *tail) lines(n int) []string {
	all := slices.DeleteFunc(bytes.Split(t.kept, []byte("\n")), func(l []byte) bool { return len(bytes.TrimSpace(l)) == 0 })
	var last []string
	for _, l := range all[max(0, len(all)-n):] {
		last = append(last, strings.TrimRight(string(l), "\r"))
	}
	return last
}
