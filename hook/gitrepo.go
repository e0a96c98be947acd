package hook

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Repo is a repository with a working tree. Its methods may run at once, but
// for those that write.
type Repo struct {
	// Top is the root of the working tree, Common the directory of git that
	// linked working trees share; both absolute.
	Top, Common string
	// git runs in Top.
	git Git
}

// ErrNoWorkTree means that a directory belongs to no repository, or to one
// without a working tree.
var ErrNoWorkTree = errors.New("not in a working tree of git")

// maxRevisions is how many revisions one command line carries.
const maxRevisions = 500

// OpenRepo finds the repository of g's directory, and the ids of the objects
// that revs name, in the same order. It is one run of git for up to 500 of
// them: a hook that has nothing else to ask costs no more.
//
// git 2.31 is the oldest that can answer.
func OpenRepo(ctx context.Context, g Git, revs ...string) (*Repo, []string, error) {
	const head = 2
	first := revs[:min(len(revs), maxRevisions)]
	args := append([]string{"rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir"}, first...)
	out, err := g.run(ctx, args...)
	if err != nil {
		var said *GitError
		if errors.As(err, &said) && (strings.Contains(said.Said, "not a git repository") || strings.Contains(said.Said, "must be run in a work tree")) {
			err = fmt.Errorf("%w: %s", ErrNoWorkTree, said.Said)
		}
		return nil, nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != head+len(first) || !filepath.IsAbs(filepath.FromSlash(lines[0])) {
		return nil, nil, errors.New("git rev-parse gave an answer that is not understood: git 2.31 or newer is needed")
	}
	r := &Repo{Top: filepath.FromSlash(lines[0]), Common: filepath.FromSlash(lines[1])}
	r.git = g.In(r.Top)
	ids := lines[head:]
	for rest := revs[len(first):]; len(rest) > 0; rest = rest[min(len(rest), maxRevisions):] {
		out, err := r.git.run(ctx, append([]string{"rev-parse"}, rest[:min(len(rest), maxRevisions)]...)...)
		if err != nil {
			return nil, nil, err
		}
		ids = append(ids, strings.Fields(string(out))...)
	}
	return r, ids, nil
}

// resolve returns the id of an object, "" when there is none of that name.
func (r *Repo) resolve(ctx context.Context, rev string) (string, error) {
	out, err := r.git.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", rev)
	var said *GitError
	if errors.As(err, &said) {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// config returns the value of a key of git's configuration and the scope that
// sets it (local, global, ...); both are empty when nobody does.
func (r *Repo) config(ctx context.Context, key string) (scope, value string, err error) {
	out, err := r.git.run(ctx, "config", "--show-scope", "--get", key)
	var said *GitError
	if errors.As(err, &said) && said.Code == 1 { // not set, git-config(1)
		return "", "", nil
	}
	scope, value, _ = strings.Cut(strings.TrimSuffix(string(out), "\n"), "\t")
	return scope, value, err
}

// own is a path in the directory that sitelink keeps in the repository.
func (r *Repo) own(name string) string { return filepath.Join(r.Common, "sitelink", name) }

// clean tells whether the working tree is what the tree of that id holds: HEAD
// is, nothing is changed and nothing unknown lies around. exact is a directory
// of which even ignored files count, "" for none.
func (r *Repo) clean(ctx context.Context, tree, exact string) (bool, error) {
	head, err := r.resolve(ctx, "HEAD^{tree}")
	if err != nil || head != tree {
		return false, err
	}
	out, err := r.git.run(ctx, "status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=none")
	if err != nil || len(out) > 0 || exact == "" {
		return len(out) == 0, err
	}
	out, err = r.git.run(ctx, "status", "--porcelain", "-z", "--ignored=matching", "--", ":(top,literal)"+filepath.ToSlash(exact))
	return len(out) == 0, err
}
