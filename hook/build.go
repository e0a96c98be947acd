package hook

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
)

// Build is a command that builds a site.
type Build struct {
	// Args are the program and its arguments.
	Args []string
	// Name is the command as a person knows it, for messages; "" for its words.
	Name string
	Dir  string
	// Env is the environment, as of os.Environ.
	Env []string
	// Stdout and Stderr take what it writes; nil drops it.
	Stdout, Stderr io.Writer
}

// Run runs the command, without standard input. When it returns, all that the
// command started has ended. The error is the cause of ctx, or a [*BuildError].
func (b Build) Run(ctx context.Context) error {
	name := b.Name
	if name == "" {
		name = strings.Join(b.Args, " ")
	}
	said := tail{most: 64 << 10}
	cmd := exec.CommandContext(ctx, b.Args[0], b.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.Dir, b.Env, gitPatience
	cmd.Stdout, cmd.Stderr = b.Stdout, io.Writer(&said)
	if b.Stderr != nil {
		cmd.Stderr = io.MultiWriter(b.Stderr, &said)
	}
	if b.Stdout == b.Stderr {
		cmd.Stdout = cmd.Stderr // one pipe: lines stay in their order
	}
	detach(cmd)
	err := cmd.Run()
	killGroup(cmd)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// What a command leaves in the background holds its output open: it was
	// ended above, and the command itself did its work.
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return &BuildError{name, err, said.lines(buildLines)}
	}
	return nil
}
