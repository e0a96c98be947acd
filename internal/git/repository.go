package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/internal/system"
)

// Repository is an untrusted repository, read in the root of its working tree.
type Repository struct {
	// Root is the directory that holds .git, without symbolic links.
	Root string
	env  []string
}

// ErrNoRepository means that a directory holds no .git.
var ErrNoRepository = errors.New("not a git repository")

// OutsideError means that a repository keeps something elsewhere, where it could
// be another repository's.
type OutsideError struct {
	What string // "objects of the repository are"
	Path string
}

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%s outside of it: %s", e.What, e.Path)
}

const (
	worktreeIs = "the working tree of the repository is"
	filesAre   = "files of the repository are"
	objectsAre = "objects of the repository are"
)

// Open opens the repository that has its working tree at root. It returns an
// [*OutsideError] if git would read another repository: by a .git that leads
// elsewhere, core.worktree, a common directory, objects or alternates. A linked
// working tree and a submodule are their repository's own: what .git names there
// names the working tree in turn.
func Open(ctx context.Context, root string, env []string) (*Repository, error) {
	if _, err := os.Lstat(filepath.Join(root, ".git")); err != nil {
		return nil, ErrNoRepository
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, err
	}
	// git must not look for a repository above root when .git is not a valid one.
	// The last value of a variable counts.
	env = append(env[:len(env):len(env)], "GIT_CEILING_DIRECTORIES="+filepath.Dir(real))
	r := &Repository{Root: real, env: env}
	out, err := r.Run(ctx, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir", "--git-path", "objects")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != 4 {
		return nil, errors.New("git rev-parse printed something unexpected: sitelink needs git 2.31 or newer")
	}
	var paths [4]string
	for i, what := range []string{worktreeIs, filesAre, filesAre, objectsAre} {
		path := filepath.FromSlash(lines[i])
		if paths[i], err = filepath.EvalSymlinks(path); err != nil {
			return nil, &OutsideError{what, path}
		}
	}
	top, dir, common, objects := paths[0], paths[1], paths[2], paths[3]
	switch {
	case top != real:
		return nil, &OutsideError{worktreeIs, top}
	case r.pointsBack(ctx, dir):
	case !system.Within(dir, real):
		return nil, &OutsideError{filesAre, dir}
	case !system.Within(common, real):
		return nil, &OutsideError{filesAre, common}
	case !system.Within(objects, real):
		return nil, &OutsideError{objectsAre, objects}
	}
	return r, nil
}

// Alternates returns an [*OutsideError] if the repository takes objects from a
// directory outside of it.
func (r *Repository) Alternates(ctx context.Context) error {
	out, err := r.Run(ctx, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return err
	}
	return r.alternates(filepath.FromSlash(strings.TrimSuffix(string(out), "\n")), 0)
}

func (r *Repository) alternates(objects string, depth int) error {
	const deepest = 5 // git's own limit
	name := filepath.Join(objects, "info", "alternates")
	text, err := system.Read(name, 1<<20)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil || depth == deepest {
		return &OutsideError{objectsAre, name}
	}
	for line := range bytes.Lines(text) {
		path := strings.TrimSuffix(string(line), "\n")
		if path == "" || path[0] == '#' {
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(objects, path)
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil || !system.Within(real, r.Root) {
			return &OutsideError{objectsAre, path}
		}
		if err := r.alternates(real, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// Run runs a command that reads the repository.
func (r *Repository) Run(ctx context.Context, args ...string) ([]byte, error) {
	return Command{Dir: r.Root, Env: r.env, Untrusted: true}.Run(ctx, args...)
}

// pointsBack reports whether the directory of git that a .git file names belongs
// to this working tree. The directory of a linked working tree names its .git
// file. The directory of a submodule has the key core.worktree.
func (r *Repository) pointsBack(ctx context.Context, dir string) bool {
	info, err := os.Lstat(filepath.Join(r.Root, ".git"))
	if err != nil || !info.Mode().IsRegular() || system.Within(dir, r.Root) {
		return false
	}
	if text, err := system.Read(filepath.Join(dir, "gitdir"), 1<<20); err == nil {
		file, err := filepath.EvalSymlinks(strings.TrimSpace(string(text)))
		return err == nil && file == filepath.Join(r.Root, ".git")
	}
	// Open has compared the root with what the key leads to.
	out, err := r.Run(ctx, "config", "--file", filepath.Join(dir, "config"), "--get", "core.worktree")
	return err == nil && len(bytes.TrimSpace(out)) > 0
}

// Path returns the slash path of a file of the repository, relative to the root.
// It returns an [*OutsideError] for a file outside the repository, or in another
// repository below it.
func (r *Repository) Path(file string) (string, error) {
	dir := filepath.Dir(file)
	for dir != filepath.Dir(dir) { // the directory may not exist any more
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			rel, err := filepath.Rel(dir, file)
			if err != nil {
				return "", err
			}
			file = filepath.Join(real, rel)
			break
		}
		dir = filepath.Dir(dir)
	}
	rel, err := filepath.Rel(r.Root, file)
	if err != nil || !filepath.IsLocal(rel) {
		return "", &OutsideError{"the file of the repository is", file}
	}
	for dir := filepath.Dir(file); dir != r.Root; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return "", &OutsideError{"the file of the repository is", dir + ", another repository"}
		}
	}
	return filepath.ToSlash(rel), nil
}
