package hook

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/disk"
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
		return "", fmt.Errorf("make %s: %w", out, disk.Cause(err))
	}
	env = append(slices.DeleteFunc(withoutGit(env), func(v string) bool {
		return strings.HasPrefix(v, OutVariable+"=")
	}), OutVariable+"="+filepath.ToSlash(out))
	if err := (Build{Args: []string{"sh", "-c", command}, Name: command, Dir: dir, Env: env}).Run(ctx); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(out)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", out, disk.Cause(err))
	}
	if len(entries) == 0 {
		return "", nil
	}
	return out, nil
}
