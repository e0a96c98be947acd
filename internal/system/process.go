package system

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// endTime is how long a command may take to end after SIGTERM before it is
// killed. An interrupted sitelink ends within a second, and removes what the command
// left behind before that.
const endTime = 400 * time.Millisecond

// OutVariable is the environment variable that names the directory of a build that
// sitelink started. It tells a plugin of sitelink in the generator to leave the check
// to sitelink: the site may have old findings, which must not fail this build.
const OutVariable = "SITELINK_OUT"

// Command is a program to run, together with everything that it starts. It gets no standard input.
//
// It runs in a process group of its own. When its context ends, the whole group receives SIGTERM; when it has ended,
// whatever it left running is killed. On systems without process groups only the command itself is ended. On Linux, the
// command is also killed when sitelink itself is.
type Command struct {
	// Args are the program and its arguments.
	Args []string
	// Name names the command in error messages; "" means the words of Args.
	Name string
	// Dir is the directory to run in, "" for the working directory.
	Dir string
	// Env is the environment, in the form of os.Environ.
	Env []string
	// Stdout and Stderr receive what the command writes; nil discards it.
	Stdout, Stderr io.Writer
}

// CommandError means that a command failed.
type CommandError struct {
	// Command is the command's name.
	Command string
	// Cause is how it ended, for example "exit status 1".
	Cause error
	// Output holds the last lines that it wrote to standard error and, if both
	// go to the same writer, to standard output. It has at most 20 lines.
	Output []string
}

func (e *CommandError) Error() string { return fmt.Sprintf("%s: %v", e.Command, e.Cause) }

func (e *CommandError) Unwrap() error { return e.Cause }

// Run runs the command. When it returns, everything that the command started
// has ended. The error is the cause of ctx, or a [*CommandError].
func (c Command) Run(ctx context.Context) error {
	output := Tail{Limit: 64 << 10}
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	cmd.Stdout, cmd.Stderr = c.Stdout, io.Writer(&output)
	if c.Stderr != nil {
		cmd.Stderr = io.MultiWriter(c.Stderr, &output)
	}
	if c.Stdout == c.Stderr {
		cmd.Stdout = cmd.Stderr // one pipe keeps the lines in their order
	}
	ProcessGroup(cmd)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	endWithParent(cmd)
	err := Run(cmd)
	KillGroup(cmd)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// A background process that keeps the output open causes ErrWaitDelay. It
	// has been killed by now, and the command itself succeeded.
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		name := c.Name
		if name == "" {
			name = strings.Join(c.Args, " ")
		}
		const lines = 20
		return &CommandError{name, err, output.Lines(lines)}
	}
	return nil
}

// ProcessGroup prepares a command, made with [exec.CommandContext], to run in a process
// group of its own. When the context ends, the group receives SIGTERM, and the command is
// killed after 400 ms. What the command leaves running is not touched.
func ProcessGroup(cmd *exec.Cmd) {
	cmd.WaitDelay = endTime
	setGroup(cmd)
}

// running are the commands that have not ended yet.
var running = struct {
	sync.Mutex
	commands map[*exec.Cmd]bool
}{commands: map[*exec.Cmd]bool{}}

// Run starts a command and waits for its end, like [exec.Cmd.Run]. [EndCommands] knows it.
func Run(cmd *exec.Cmd) error {
	running.Lock()
	err := cmd.Start()
	if err == nil {
		running.commands[cmd] = true
	}
	running.Unlock()
	if err != nil {
		return err
	}
	defer func() {
		running.Lock()
		delete(running.commands, cmd)
		running.Unlock()
	}()
	return cmd.Wait()
}

// EndCommands ends all commands that [Run] waits for, before the process exits: a SIGTERM,
// at which git removes its locks, and SIGKILL for what is left of them after wait. No command can
// start or finish afterwards.
func EndCommands(wait time.Duration) {
	running.Lock() // until the process exits
	if len(running.commands) == 0 {
		return
	}
	for cmd := range running.commands {
		terminate(cmd)
	}
	time.Sleep(wait)
	for cmd := range running.commands {
		KillGroup(cmd)
		_ = cmd.Process.Kill()
	}
}

// Tail is a writer that keeps the last bytes written to it.
type Tail struct {
	// Limit is how many bytes to keep.
	Limit int
	kept  []byte
}

func (t *Tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - t.Limit; over > 0 {
		t.kept = t.kept[over:]
	}
	return len(p), nil
}

// Lines returns the last n lines that are not blank.
func (t *Tail) Lines(n int) []string {
	all := slices.DeleteFunc(bytes.Split(t.kept, []byte("\n")), func(l []byte) bool { return len(bytes.TrimSpace(l)) == 0 })
	var last []string
	for _, l := range all[max(0, len(all)-n):] {
		last = append(last, strings.TrimRight(string(l), "\r"))
	}
	return last
}
