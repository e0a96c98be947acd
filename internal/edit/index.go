package edit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/git"
)

// runGit runs a command that must not start programs which the repository names.
func runGit(ctx context.Context, root string, env []string, input string, args ...string) ([]byte, error) {
	args = append([]string{"-c", "core.quotePath=false"}, args...)
	// git must not take a repository above root if .git is damaged.
	env = append(git.UntrustedEnv(env, true), "GIT_CEILING_DIRECTORIES="+filepath.Dir(root))
	return git.Command{Dir: root, Env: env, Input: []byte(input)}.Run(ctx, args...)
}

// Committed reports whether a file or directory is in the last commit of the repository.
func (s *Set) Committed(ctx context.Context, name string) bool {
	if _, err := os.Lstat(filepath.Join(s.Root, ".git")); err != nil {
		return false
	}
	out, err := runGit(ctx, s.Root, s.Env, "", "ls-tree", "--name-only", "HEAD", "--", name)
	return err == nil && len(out) > 0
}

// explainGit says which repository cannot be read, and what to do.
func explainGit(root string, err error) error {
	failed := (*git.Error)(nil)
	if !errors.As(err, &failed) {
		return err
	}
	name := filepath.Join(root, ".git")
	return fault.New(fmt.Errorf("the git repository %s cannot be read: %w", name, err),
		"repair it; if the project is in no repository, remove "+name)
}

// renames returns the new name of each renamed file by its old name.
func renames(records []record) map[string]string {
	names := map[string]string{}
	for _, r := range records {
		if r.Old != "" && r.Old != r.New {
			names[r.Old] = r.New
		}
	}
	return names
}

// renamedEntries returns what `git update-index --index-info` reads to give tracked files
// their new names, as `git mv` does, or with back their old ones; "" if none is tracked.
func renamedEntries(ctx context.Context, root string, env []string, records []record, back bool) (input string, err error) {
	names := renames(records)
	if back {
		reversed := map[string]string{}
		for old, name := range names {
			reversed[name] = old
		}
		names = reversed
	}
	if _, err := os.Lstat(filepath.Join(root, ".git")); err != nil || len(names) == 0 {
		return "", nil // not a repository, or nothing to do
	}
	out, err := runGit(ctx, root, env, "", "ls-files", "-s", "-z")
	if errors.Is(err, git.ErrNotInstalled) {
		return "", nil
	} else if err != nil {
		return "", explainGit(root, err)
	}
	var removed, added strings.Builder
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") { // mode hash stage\tname
		info, name, _ := strings.Cut(line, "\t")
		to, ok := names[name]
		fields := strings.Fields(info)
		if !ok || len(fields) != 3 {
			continue
		}
		if fields[2] != "0" && !back {
			return "", &Error{name, ErrUnmerged}
		}
		removed.WriteString("0 " + strings.Repeat("0", len(fields[1])) + "\t" + name + "\x00")
		added.WriteString(info + "\t" + to + "\x00")
	}
	return removed.String() + added.String(), nil
}

// mayMoveIndex returns why the entries of git's index cannot be renamed, before a file
// changes.
func mayMoveIndex(ctx context.Context, root string, env []string, records []record) error {
	input, err := renamedEntries(ctx, root, env, records, false)
	if err != nil || input == "" {
		return err
	}
	return waitForGit(ctx, root, env)
}

// moveIndex renames the entries of git's index, and changes nothing else there.
func moveIndex(ctx context.Context, root string, env []string, records []record, back bool) error {
	if back && len(renames(records)) > 0 {
		if err := waitForGit(ctx, root, env); err != nil {
			return err
		}
	}
	input, err := renamedEntries(ctx, root, env, records, back)
	if err != nil || input == "" {
		return err
	}
	if _, err := runGit(ctx, root, env, input, "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	// So that git need not read the files again. It fails for files that are edited.
	runGit(ctx, root, env, "", "update-index", "-q", "--refresh")
	return nil
}

// waitForGit waits while a git program holds the lock of the index: one that a killed
// run has started may still work.
func waitForGit(ctx context.Context, root string, env []string) error {
	if _, err := os.Lstat(filepath.Join(root, ".git")); err != nil {
		return nil // not a repository
	}
	out, err := runGit(ctx, root, env, "", "rev-parse", "--path-format=absolute", "--git-path", "index")
	if errors.Is(err, git.ErrNotInstalled) {
		return nil
	} else if err != nil {
		return explainGit(root, err)
	}
	file := filepath.FromSlash(strings.TrimSuffix(string(out), "\n"))
	const most, step = 5 * time.Second, 20 * time.Millisecond
	for waited := time.Duration(0); ; waited += step {
		if _, err := os.Lstat(file + ".lock"); err != nil {
			return nil
		}
		if waited >= most {
			return fault.New(fmt.Errorf("git's index is locked by %s.lock", file), "wait until the other git has finished; if none runs, remove that file")
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(step):
		}
	}
}
