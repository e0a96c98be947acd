package githook

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

	"github.com/sitelink/sitelink/internal/system"
)

// treesDir holds the temporary working trees, in sitelink's directory below
// git's. There they are on the repository's own disk, invisible to other
// programs, and can be found again after a crash. Each is in a directory with a name that
// starts with the id of the process that made it.
const treesDir = "trees"

// indexSuffix is added to the name of such a directory for the index that git needs to check
// out submodules.
const indexSuffix = ".index"

// removeTimeout is how long the removal of a temporary tree may take. It
// continues after the hook was interrupted.
const removeTimeout = 30 * time.Second

// reusedDirs are directories that git ignores and that a build needs or would
// take long to make again. A temporary tree links to them.
var reusedDirs = []string{"node_modules", "resources/_gen"}

// SubmoduleError means that a commit needs a commit of a submodule that is not
// on this machine.
type SubmoduleError struct {
	Path   string // of the submodule
	Commit string
}

func (e *SubmoduleError) Error() string {
	return fmt.Sprintf("the submodule %s does not have commit %.12s", e.Path, e.Commit)
}

// DiskFullError means that a temporary tree could not be written and that its
// disk has hardly any space left. git only says that it could not write a file.
type DiskFullError struct {
	// Dir is a directory on that disk.
	Dir string
	// FreeBytes is the space left there.
	FreeBytes int64
	Err       error
}

func (e *DiskFullError) Error() string {
	return fmt.Sprintf("%v: the disk of %s has %d KiB left", e.Err, e.Dir, e.FreeBytes>>10)
}

func (e *DiskFullError) Unwrap() error { return e.Err }

// nearlyFullBytes is how little space makes a full disk the likely cause. It is
// not zero: the file that did not fit may be large, and its beginning has been
// removed again.
const nearlyFullBytes = 16 << 20

// diskError turns an error of writing to dir into a [*DiskFullError] if its disk
// is full.
func diskError(dir string, err error) error {
	if free, ok := freeBytes(dir); ok && free < nearlyFullBytes {
		return &DiskFullError{dir, free, err}
	}
	return err
}

// withoutHooks keeps a git command from running the user's hooks.
func withoutHooks(args ...string) []string {
	return append([]string{"-c", "core.hooksPath=" + os.DevNull}, args...)
}

// checkout makes a temporary working tree of a commit. It has all files, even if the
// repository's own working tree is sparse, the submodules, and links to the reused
// directories in the directory site. Always call remove, even after an error; it also
// works after ctx has ended.
func (r *Repo) checkout(ctx context.Context, commit, site string) (dir string, remove func() error, err error) {
	remove = func() error { return nil }
	parent := r.dataPath(treesDir)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return "", remove, fmt.Errorf("make %s: %w", parent, system.Cause(err))
	}
	holder, err := os.MkdirTemp(parent, strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return "", remove, fmt.Errorf("make a directory in %s: %w", parent, system.Cause(err))
	}
	dir = r.treeIn(holder)
	remove = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
		defer cancel()
		return r.removeTree(ctx, holder)
	}
	add := withoutHooks("-c", "core.sparseCheckout=false", "worktree", "add", "--detach", "--force", dir, commit)
	_, err = r.git.run(ctx, add...)
	if failed := (*GitError)(nil); errors.As(err, &failed) && strings.Contains(failed.Message, "git-lfs") {
		// Files that git-lfs cannot fetch stay pointers, which are not read as pages.
		if err = r.removeTree(ctx, holder); err == nil {
			pointers := r.git
			pointers.Env = append(slices.Clone(pointers.Env), "GIT_LFS_SKIP_SMUDGE=1")
			_, err = pointers.run(ctx, add...)
		}
	}
	if err != nil {
		return dir, remove, diskError(parent, fmt.Errorf("check out %.12s: %w", commit, err))
	}
	if err = r.checkoutSubmodules(ctx, r.Top, commit, dir, holder+indexSuffix); err != nil {
		return dir, remove, err
	}
	for _, at := range slices.Compact([]string{".", filepath.Clean(site)}) {
		if _, err := os.Stat(filepath.Join(dir, at)); err != nil {
			continue // the site itself is not in this commit
		}
		for _, name := range reusedDirs {
			name = filepath.Join(at, filepath.FromSlash(name))
			if err = linkDir(filepath.Join(r.Top, name), filepath.Join(dir, name)); err != nil {
				return dir, remove, fmt.Errorf("link %s: %w", name, system.Cause(err))
			}
		}
	}
	return dir, remove, nil
}

// linkDir makes a symbolic link to a directory, if the directory exists and the
// commit has nothing with that name.
func linkDir(from, to string) error {
	if info, err := os.Stat(from); err != nil || !info.IsDir() {
		return nil
	}
	if _, err := os.Lstat(to); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return os.Symlink(from, to)
}

// checkoutSubmodules fills the directories of submodules in dir, a checkout of a
// commit of the repository at top. Nothing is fetched: the objects come from
// where the submodules are checked out below top. index is the name of a
// temporary index for git.
func (r *Repo) checkoutSubmodules(ctx context.Context, top, commit, dir, index string) error {
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
		if err := r.checkoutSubmodules(ctx, from, id, to, index); err != nil {
			return err
		}
	}
	return nil
}

// treeIn returns the tree in its temporary directory. It has the name of the repository's
// directory, by which the example site of a theme finds the theme (--themesDir ../..).
func (r *Repo) treeIn(holder string) string { return filepath.Join(holder, filepath.Base(r.Top)) }

// removeTree removes a temporary tree, its directory and its entry in git's list of trees.
func (r *Repo) removeTree(ctx context.Context, holder string) error {
	_ = os.Remove(holder + indexSuffix) // most trees have none
	dir := r.treeIn(holder)
	// Force must be given twice: git locks a tree while it makes it.
	_, refused := r.git.run(ctx, withoutHooks("worktree", "remove", "--force", "--force", dir)...)
	if err := os.RemoveAll(holder); err != nil {
		return fmt.Errorf("remove %s: %w", holder, system.Cause(err))
	}
	if refused == nil {
		return nil
	}
	// git refuses to remove an incomplete tree, and drops entries that have no files.
	_, _ = r.git.run(ctx, "worktree", "unlock", dir) // fails when it is not locked
	_, err := r.git.run(ctx, "worktree", "prune")
	return err
}

// StaleTrees returns the directories with temporary working trees of runs that were killed.
func (r *Repo) StaleTrees() []string {
	entries, err := os.ReadDir(r.dataPath(treesDir))
	if err != nil {
		return nil // usually it does not exist
	}
	var stale []string
	for _, e := range entries {
		number, _, _ := strings.Cut(e.Name(), "-")
		if pid, err := strconv.Atoi(number); err == nil && e.IsDir() && !system.ProcessExists(pid) {
			stale = append(stale, filepath.Join(r.dataPath(treesDir), e.Name()))
		}
	}
	return stale
}

// RemoveStaleTrees removes what [Repo.StaleTrees] returns.
func (r *Repo) RemoveStaleTrees(ctx context.Context) error {
	var errs []error
	for _, dir := range r.StaleTrees() {
		errs = append(errs, r.removeTree(ctx, dir))
	}
	return errors.Join(errs...)
}
