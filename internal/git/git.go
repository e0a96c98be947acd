// Package git runs the git program found on PATH. No other package starts git.
//
// A [Command] runs git for a person who wants the repository to be used: a hook,
// or a ledger in a ref. With Untrusted, the repository and its configuration may
// be hostile: git then starts no other program, connects nowhere and writes
// nothing. [Open] also makes sure that git reads the repository that was found,
// and no other one.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// Command is how to run git.
type Command struct {
	// Dir is the directory to run in, "" for the working directory.
	Dir string
	// Env is the environment, in the form of os.Environ.
	Env []string
	// Input is the standard input.
	Input []byte
	// Limit is the most that git may print; 0 means 64 MiB, which the names of
	// 100,000 files stay below.
	Limit int
	// Untrusted means that the repository may be hostile. Only the
	// commands in reading can run.
	Untrusted bool
	// Foreground leaves git in the process group of the caller, so that ssh can ask
	// for a password.
	Foreground bool
}

// ErrNotInstalled means that there is no git program.
var ErrNotInstalled = errors.New("git is not installed")

// Error means that a git command failed.
type Error struct {
	Command  string   // the subcommand, for example "worktree add"
	Lines    []string // the last lines of its standard error
	ExitCode int      // -1 when it was killed
}

// Message returns the first line that git marks as fatal or as an error, which
// advice may follow, or else the last line, "" for none.
func (e *Error) Message() string {
	for _, line := range e.Lines {
		for _, mark := range []string{"fatal: ", "error: "} {
			if message, ok := strings.CutPrefix(line, mark); ok {
				return message
			}
		}
	}
	if len(e.Lines) == 0 {
		return ""
	}
	return e.Lines[len(e.Lines)-1]
}

func (e *Error) Error() string {
	if message := e.Message(); message != "" {
		return "git " + e.Command + ": " + message
	}
	return fmt.Sprintf("git %s: exit code %d", e.Command, e.ExitCode)
}

// reading are the commands that may run in an untrusted repository. They read
// objects, the index, references and the configuration.
var reading = []string{"cat-file", "check-ignore", "config", "for-each-ref", "log", "ls-files", "ls-tree", "rev-parse", "version"}

// What a repository is and its configuration take git milliseconds, lists of files longer.
var quick, slow = 5 * time.Second, 20 * time.Second

// limit returns how long a command may take, 0 for any time.
func limit(name string) time.Duration {
	switch {
	case name == "rev-parse" || name == "config" || name == "version":
		return quick
	case slices.Contains(reading, name):
		return slow
	}
	return 0
}

// StuckError means that git would wait, or has waited, for what a pipe or a device of a
// repository never says.
type StuckError struct{ why string }

func (e *StuckError) Error() string { return e.why }

// waits returns a file of the repository of a directory that git would wait for, or "". git
// opens the file itself, or the configuration includes it.
func waits(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	odd := func(name string) bool {
		info, err := os.Stat(name)
		return err == nil && !info.IsDir() && !info.Mode().IsRegular() && name != os.DevNull
	}
	store := filepath.Join(dir, ".git")
	for {
		if _, err := os.Lstat(store); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir, store = up, filepath.Join(up, ".git")
	}
	files := []string{store, filepath.Join(dir, ".gitignore"), filepath.Join(dir, ".gitattributes")}
	for _, name := range []string{"HEAD", "config", "config.worktree", "index", "packed-refs", "commondir", "shallow", "info/exclude", "info/attributes", "objects/info/alternates"} {
		files = append(files, filepath.Join(store, filepath.FromSlash(name)))
	}
	for _, name := range files {
		if odd(name) {
			return name
		}
	}
	// What includes more files takes git longer than its limit.
	const mostFiles, most = 1000, 1 << 20
	read := map[string]bool{}
	var includes func(name string) string
	includes = func(name string) string {
		switch {
		case read[name] || len(read) == mostFiles:
			return ""
		case odd(name):
			return name
		}
		read[name] = true
		config, _ := system.Read(name, most) // git says why it cannot be read
		for _, m := range included().FindAllSubmatch(config, -1) {
			file := filepath.FromSlash(string(m[1]))
			if !filepath.IsAbs(file) {
				file = filepath.Join(filepath.Dir(name), file)
			}
			if found := includes(file); found != "" {
				return found
			}
		}
		return ""
	}
	return includes(filepath.Join(store, "config"))
}

// included matches a line of git's configuration that may include a file.
var included = text.Regexp(`(?im)^(?:[^#;\n]*\])?[ \t]*path[ \t]*=[ \t]*"?([^"\r\n]+?)"?[ \t]*$`)

// Run returns the standard output of one git command. The errors are an [*Error]
// for a command that fails, a [*StuckError], [ErrNotInstalled], and the cause of ctx.
func (c Command) Run(ctx context.Context, args ...string) ([]byte, error) {
	name := subcommand(args)
	if c.Untrusted && !slices.Contains(reading, name) {
		return nil, fmt.Errorf("git %s does not only read", name)
	}
	if file := waits(c.Dir); file != "" {
		return nil, &StuckError{fmt.Sprintf("git %s is not started: %s is not a regular file", name, file)}
	}
	if limit := limit(name); limit > 0 && !c.Foreground {
		dir, _ := filepath.Abs(c.Dir)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, &StuckError{fmt.Sprintf("git %s did not end within %v in %s", name, limit, dir)})
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Stdin = c.Dir, bytes.NewReader(c.Input)
	cmd.Env = append(slices.Clone(c.Env), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0")
	if c.Untrusted {
		cmd.Env = append(UntrustedEnv(c.Env, name != "config" && name != "rev-parse"), "LC_ALL=C")
	}
	if !c.Foreground {
		system.ProcessGroup(cmd)
	}
	stdout := output{limit: c.Limit}
	if stdout.limit == 0 {
		stdout.limit = 64 << 20
	}
	stderr := system.Tail{Limit: 64 << 10}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := system.Run(cmd)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, ErrNotInstalled
	case stdout.over:
		return nil, fmt.Errorf("git %s: the output is larger than %d MiB", name, stdout.limit>>20)
	case errors.As(err, &exit):
		return nil, &Error{name, stderr.Lines(100), exit.ExitCode()}
	case err != nil:
		return nil, fmt.Errorf("git %s: %w", name, err)
	}
	return stdout.Bytes(), nil
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

// output collects the standard output of git, up to a limit.
type output struct {
	bytes.Buffer
	limit int
	over  bool
}

func (o *output) Write(p []byte) (int, error) {
	if o.Len()+len(p) > o.limit {
		o.over = true
		return 0, errors.New("too large")
	}
	return o.Buffer.Write(p)
}

// localVariables tie git to one repository. They are what `git rev-parse
// --local-env-vars` prints, and git sets some of them for its hooks.
var localVariables = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
	"GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE",
	"GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE",
	"GIT_COMMON_DIR", "GIT_INTERNAL_SUPER_PREFIX", "GIT_REF_FORMAT",
}

// WithoutLocal removes the variables that tie git to one repository. They must be
// removed before git, or a build that runs git, works in another working tree.
func WithoutLocal(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(localVariables, name)
	})
}

// kept are the variables of git that an untrusted repository may be read with:
// they name the configuration of the person and of the system.
var kept = []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES"}

// safe are keys of git's configuration that take effect instead of those of the
// repository. Each of the programs that they could name runs nothing.
var safe = [][2]string{
	{"safe.bareRepository", "explicit"}, // a bare repository among the files is not one
	{"core.fsmonitor", "false"},
	{"core.sshCommand", "false"},
	{"core.gitProxy", ""},
	{"core.pager", "cat"},
	{"core.editor", "false"},
	{"core.askPass", ""},
	{"core.attributesFile", "/dev/null"},
	{"credential.helper", ""},
	{"diff.external", ""},
	{"gpg.program", "false"},
	{"gpg.ssh.program", "false"},
	{"log.showSignature", "false"},
	{"submodule.recurse", "false"},
	{"protocol.allow", "never"},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
}

// UntrustedEnv returns the environment for a program that may run git in a hostile
// repository. It goes beyond the configuration because
// other variables and protocols of git name programs too, and the configuration
// of a repository overrides protocol.allow. With noHooks, core.hooksPath leads
// nowhere.
func UntrustedEnv(env []string, noHooks bool) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "GIT_") && !slices.Contains(kept, name) || name == "SSH_ASKPASS"
	})
	env = append(env, "GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=", "GIT_PAGER=cat", "GIT_NO_REPLACE_OBJECTS=1", "GIT_ATTR_NOSYSTEM=1")
	keys := safe
	if noHooks {
		keys = append(slices.Clone(safe), [2]string{"core.hooksPath", "/dev/null"})
	}
	for i, k := range keys {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+k[0], "GIT_CONFIG_VALUE_"+n+"="+k[1])
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(keys)))
}
