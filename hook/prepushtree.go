package hook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/disk"
)

// Temporary working trees lie in sitelink/trees of git's directory, so that
// they are on the repository's own disk, out of everybody's way, and found
// again after a crash. The name begins with the id of the process that made it.
const treesDir = "trees"

// cleanupTime is how long the removal of a temporary tree may take. It goes on
// after the hook was interrupted.
const cleanupTime = 30 * time.Second

// reused are directories of tools that git ignores and a build cannot do
// without, or repeats at great cost. A temporary tree has links to them.
var reused = []string{"node_modules", "resources/_gen"}

// quiet keeps git's own steps from running the user's hooks.
func quiet(args ...string) []string {
	return append([]string{"-c", "core.hooksPath=" + os.DevNull}, args...)
}

// checkout makes a temporary working tree of a commit, with its submodules and
// with links to what is reused in the directory site. remove must be called,
// whatever happens; it may be called when ctx has ended.
func (r *Repo) checkout(ctx context.Context, commit, site string) (dir string, remove func() error, err error) {
	remove = func() error { return nil }
	parent := r.own(treesDir)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return "", remove, fmt.Errorf("make %s: %w", parent, disk.Cause(err))
	}
	dir, err = os.MkdirTemp(parent, strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return "", remove, fmt.Errorf("make a directory in %s: %w", parent, disk.Cause(err))
	}
	remove = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
		defer cancel()
		return r.removeTree(ctx, dir)
	}
	if _, err = r.git.run(ctx, quiet("worktree", "add", "--detach", "--force", dir, commit)...); err != nil {
		return dir, remove, full(parent, fmt.Errorf("check out %.12s: %w", commit, err))
	}
	if err = r.submodules(ctx, r.Top, commit, dir, dir+".index"); err != nil {
		return dir, remove, err
	}
	for _, at := range slices.Compact([]string{".", filepath.Clean(site)}) {
		for _, name := range reused {
			name = filepath.Join(at, filepath.FromSlash(name))
			if err = link(filepath.Join(r.Top, name), filepath.Join(dir, name)); err != nil {
				return dir, remove, fmt.Errorf("link %s: %w", name, disk.Cause(err))
			}
		}
	}
	return dir, remove, nil
}

// link makes a symbolic link to a directory, if it exists and the commit has
// nothing of that name.
func link(from, to string) error {
	if info, err := os.Stat(from); err != nil || !info.IsDir() {
		return nil
	}
	if _, err := os.Lstat(to); err == nil {
		return nil
	}
	if _, err := os.Stat(filepath.Dir(filepath.Dir(to))); err != nil {
		return nil // the site itself is not in this commit
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return os.Symlink(from, to)
}

// submodules fills the directories of submodules in dir, which holds a commit
// of the repository at top. Their files come from where they are checked out,
// so that nothing is fetched. index is a name for git's use.
func (r *Repo) submodules(ctx context.Context, top, commit, dir, index string) error {
	if _, err := os.Lstat(filepath.Join(dir, ".gitmodules")); err != nil {
		return nil
	}
	out, err := r.git.In(top).run(ctx, "ls-tree", "-r", "-z", commit)
	if err != nil {
		return err
	}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		// "160000 commit ID<tab>NAME"
		info, name, _ := strings.Cut(entry, "\t")
		fields := strings.Fields(info)
		if len(fields) != 3 || fields[1] != "commit" {
			continue
		}
		from, to, id := filepath.Join(top, filepath.FromSlash(name)), filepath.Join(dir, filepath.FromSlash(name)), fields[2]
		sub := r.git.In(from)
		sub.Env = append(slices.Clone(sub.Env), "GIT_INDEX_FILE="+index)
		if _, err = os.Lstat(filepath.Join(from, ".git")); err == nil {
			_, err = sub.run(ctx, "read-tree", id)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return &SubmoduleError{Path: name, Commit: id}
		}
		if _, err = sub.run(ctx, "checkout-index", "--all", "--force", "--prefix="+filepath.ToSlash(to)+"/"); err != nil {
			return fmt.Errorf("check out the submodule %s: %w", name, err)
		}
		if err := r.submodules(ctx, from, id, to, index); err != nil {
			return err
		}
	}
	return nil
}

// SubmoduleError means that a commit needs a submodule whose commit is not on
// the machine.
type SubmoduleError struct{ Path, Commit string }

func (e *SubmoduleError) Error() string {
	return fmt.Sprintf("the submodule %s is not here at %.12s", e.Path, e.Commit)
}

// removeTree removes a temporary tree and what git knows of it.
func (r *Repo) removeTree(ctx context.Context, dir string) error {
	_ = os.Remove(dir + ".index") // most trees have none
	// Twice the force: git locks a tree while it is being made.
	_, err := r.git.run(ctx, quiet("worktree", "remove", "--force", "--force", dir)...)
	if err == nil {
		return nil
	}
	// git refuses a tree that is not whole. Then the files go, and git forgets
	// what has none.
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove %s: %w", dir, disk.Cause(err))
	}
	_, _ = r.git.run(ctx, "worktree", "unlock", dir) // it may not have been locked
	_, err = r.git.run(ctx, "worktree", "prune")
	return err
}

// Stale returns the temporary trees whose process is gone: it was killed.
func (r *Repo) Stale() []string {
	entries, err := os.ReadDir(r.own(treesDir))
	if err != nil {
		return nil // there is none
	}
	var stale []string
	for _, e := range entries {
		number, _, _ := strings.Cut(e.Name(), "-")
		if pid, err := strconv.Atoi(number); err == nil && e.IsDir() && !alive(pid) {
			stale = append(stale, filepath.Join(r.own(treesDir), e.Name()))
		}
	}
	return stale
}

// Prune removes the temporary trees that [Repo.Stale] finds.
func (r *Repo) Prune(ctx context.Context) error {
	var errs []error
	for _, dir := range r.Stale() {
		errs = append(errs, r.removeTree(ctx, dir))
	}
	return errors.Join(errs...)
}
