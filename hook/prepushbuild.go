package hook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// BuildError means that the site's own build command failed.
type BuildError struct {
	Command string
	// Cause is how it ended: "exit status 1".
	Cause error
	// Said are the last lines that it wrote.
	Said []string
}

func (e *BuildError) Error() string {
	text := fmt.Sprintf("build with %q: %v", e.Command, e.Cause)
	if len(e.Said) > 0 {
		text += ": " + e.Said[len(e.Said)-1]
	}
	return text
}

func (e *BuildError) Unwrap() error { return e.Cause }

// buildLines is how many of a failed build's last lines are kept.
const buildLines = 8

// OutVariable names an empty directory to a build command. If the command
// writes the site there, that is what is checked, and nothing that an earlier
// build left can hide a missing file.
const OutVariable = "SITELINK_OUT"

// build runs a command of the shell in dir. The docroot it returns is out if
// the command wrote something there, else "". When it returns, all that the
// command started has ended.
func build(ctx context.Context, env []string, command, dir, out string) (docroot string, err error) {
	if err := os.MkdirAll(out, 0o777); err != nil {
		return "", fmt.Errorf("make %s: %w", out, osCause(err))
	}
	said := tail{most: 64 << 10}
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, &said, &said, gitPatience
	cmd.Env = append(slices.DeleteFunc(withoutGit(env), func(v string) bool {
		return strings.HasPrefix(v, OutVariable+"=")
	}), OutVariable+"="+filepath.ToSlash(out))
	detach(cmd)
	err = cmd.Run()
	killGroup(cmd)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	// What a command leaves in the background holds its output open: it was
	// ended above, and the command itself did its work.
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return "", &BuildError{command, err, said.lines(buildLines)}
	}
	entries, err := os.ReadDir(out)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", out, osCause(err))
	}
	if len(entries) == 0 {
		return "", nil
	}
	return out, nil
}
