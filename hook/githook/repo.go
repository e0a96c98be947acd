package githook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Repo is a repository with a working tree. Methods that only read may be called
// concurrently.
type Repo struct {
	// Top is the root of the working tree. Common is the directory of git that
	// all linked working trees share. Both are absolute.
	Top, Common string
	// git runs in Top.
	git Git
}

// ErrNoWorkTree means that a directory belongs to no repository, or to one
// without a working tree.
var ErrNoWorkTree = errors.New("not in a working tree of git")

// Open finds the repository of g's directory. The errors are [ErrNoWorkTree],
// [ErrNoGit], a [*GitError] and the cause of ctx.
func Open(ctx context.Context, g Git) (*Repo, error) {
	r, _, err := open(ctx, g, nil)
	return r, err
}

// OpenPush finds the repository of g's directory, and sets Commit and Tree of
// the branches among refs to object ids. Their Commit may be any name of a commit
// before, such as HEAD. Refs that are not branches, and deleted ones, stay as they
// are. All of it is one run of git for up to 250 branches. The errors are those
// of [Open].
func OpenPush(ctx context.Context, g Git, refs []Ref) (*Repo, []Ref, error) {
	refs = append([]Ref(nil), refs...)
	var revisions []string
	for i := range refs {
		if refs[i].isBranch() {
			revisions = append(revisions, refs[i].Commit+"^{commit}", refs[i].Commit+"^{tree}")
		}
	}
	r, ids, err := open(ctx, g, revisions)
	if err != nil {
		return nil, nil, err
	}
	for i := range refs {
		if refs[i].isBranch() {
			refs[i].Commit, refs[i].Tree = ids[0], ids[1]
			ids = ids[2:]
		}
	}
	return r, refs, nil
}

// open also returns the ids of the objects that revisions name.
func open(ctx context.Context, g Git, revisions []string) (*Repo, []string, error) {
	const (
		header        = 2   // lines before the ids
		perRun        = 500 // revisions on one command line
		notUnderstood = "git rev-parse printed something unexpected: sitelink needs git 2.31 or newer"
	)
	first := revisions[:min(len(revisions), perRun)]
	args := append([]string{"rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir"}, first...)
	out, err := g.run(ctx, args...)
	if err != nil {
		var failed *GitError
		if errors.As(err, &failed) && (strings.Contains(failed.Message, "not a git repository") || strings.Contains(failed.Message, "must be run in a work tree")) {
			err = fmt.Errorf("%w: %s", ErrNoWorkTree, failed.Message)
		} else if failed != nil {
			if _, name, ok := strings.Cut(failed.Message, "ambiguous argument '"); ok {
				name, _, _ = strings.Cut(name, "^{")
				err = &UnknownCommitError{name}
			}
		}
		return nil, nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != header+len(first) {
		return nil, nil, errors.New(notUnderstood)
	}
	r := &Repo{Top: filepath.FromSlash(lines[0]), Common: filepath.FromSlash(lines[1])}
	r.git = g.In(r.Top)
	ids := lines[header:]
	for rest := revisions[len(first):]; len(rest) > 0; rest = rest[min(len(rest), perRun):] {
		out, err := r.git.run(ctx, append([]string{"rev-parse"}, rest[:min(len(rest), perRun)]...)...)
		if err != nil {
			return nil, nil, err
		}
		ids = append(ids, strings.Fields(string(out))...)
	}
	if len(ids) != len(revisions) {
		return nil, nil, errors.New(notUnderstood)
	}
	return r, ids, nil
}

// Remotes returns the URLs of the remotes, one per line, "" when there are none.
func (r *Repo) Remotes(ctx context.Context) string {
	out, err := r.git.run(ctx, "config", "--get-regexp", `^remote\..*\.url$`)
	if err != nil {
		return "" // git fails when nothing matches
	}
	var urls strings.Builder
	for line := range strings.Lines(string(out)) {
		_, url, _ := strings.Cut(line, " ")
		urls.WriteString(url)
	}
	return urls.String()
}

// CommitContains reports whether a commit contains the file or directory name,
// an absolute path in the working tree.
func (r *Repo) CommitContains(ctx context.Context, commit, name string) bool {
	rel, ok := r.relative(name)
	if !ok {
		return false
	}
	if rel == "." {
		rel = ""
	}
	id, err := r.resolve(ctx, commit+":"+rel)
	return err == nil && id != ""
}

// Tracks reports whether the index has a file below dir, an absolute path.
func (r *Repo) Tracks(ctx context.Context, dir string) bool {
	rel, ok := r.relative(dir)
	if !ok {
		return false
	}
	out, err := r.git.run(ctx, "ls-files", "-z", "--", below(rel))
	return err == nil && len(out) > 0
}

// below returns the pattern for all files in a directory, a slash path relative to the
// root. git matches nothing by "." there.
func below(dir string) string {
	if dir == "." {
		dir = ""
	}
	return ":(top,literal)" + dir
}

// relative returns the slash path of name below the root of the working tree;
// ok is false when name is elsewhere.
func (r *Repo) relative(name string) (rel string, ok bool) {
	rel, err := filepath.Rel(r.Top, name)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

// resolve returns the id of the object that a revision names, "" for none.
func (r *Repo) resolve(ctx context.Context, revision string) (string, error) {
	out, err := r.git.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", revision)
	var failed *GitError
	if errors.As(err, &failed) && failed.ExitCode == 1 { // no such object, git-rev-parse(1)
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// config returns the value of a key of git's configuration and the scope that
// sets it (local, global, ...). Both are empty when the key is not set.
func (r *Repo) config(ctx context.Context, key string) (scope, value string, err error) {
	out, err := r.git.run(ctx, "config", "--show-scope", "--get", key)
	var failed *GitError
	if errors.As(err, &failed) && failed.ExitCode == 1 { // not set, git-config(1)
		return "", "", nil
	}
	scope, value, _ = strings.Cut(strings.TrimSuffix(string(out), "\n"), "\t")
	return scope, value, err
}

// treeWithout returns an id for what a commit's tree holds: the tree's own, or a hash of
// what is left without some files and directories, slash paths relative to its root.
func (r *Repo) treeWithout(ctx context.Context, tree string, paths []string) (string, error) {
	if len(paths) == 0 {
		return tree, nil
	}
	left, parents := []string{}, []string{"."}
	without := map[string]bool{}
	for _, name := range paths {
		without[name] = true
		for up := path.Dir(name); up != "."; up = path.Dir(up) {
			parents, without[up] = append(parents, up), true
		}
	}
	slices.Sort(parents)
	for _, dir := range slices.Compact(parents) {
		entries, err := r.Entries(ctx, tree, dir)
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			if !without[e.Name] {
				left = append(left, e.Mode, e.ID, e.Name)
			}
		}
	}
	return hashOf(left...), nil
}

// TreeEntry is a file or directory of a tree.
type TreeEntry struct {
	// Name is its slash path relative to the root.
	Name string
	// Mode is that of git: 100644 and 100755 for files, 120000 for symbolic links,
	// 040000 for directories, 160000 for submodules.
	Mode, ID string
}

// Entries returns what a tree has in a directory, a slash path relative to its root, in
// the order of git. The directory may be missing.
func (r *Repo) Entries(ctx context.Context, tree, dir string) ([]TreeEntry, error) {
	args := []string{"ls-tree", "-z", tree}
	if dir != "." {
		args = append(args, "./"+dir+"/") // a literal name, whatever it begins with
	}
	out, err := r.git.run(ctx, args...)
	if err != nil {
		return nil, err
	}
	var all []TreeEntry
	for entry := range strings.SplitSeq(string(out), "\x00") {
		info, name, _ := strings.Cut(entry, "\t")
		if fields := strings.Fields(info); len(fields) == 3 { // MODE TYPE ID
			all = append(all, TreeEntry{Name: name, Mode: fields[0], ID: fields[2]})
		}
	}
	return all, nil
}

// HasSymlinks reports whether a tree has symbolic links below a directory, a slash path
// relative to its root.
func (r *Repo) HasSymlinks(ctx context.Context, tree, dir string) (bool, error) {
	out, err := r.git.run(ctx, "ls-tree", "-r", "-z", tree, "./"+dir+"/")
	return strings.Contains("\x00"+string(out), "\x00120000 "), err
}

// Greps reports whether a line of a tree's files matches an extended regular expression
// of POSIX. The files are named by patterns of git, relative to the root; none means all.
// Those of submodules are not among them. It returns an error in a partial clone, which
// would fetch the files one by one.
func (r *Repo) Greps(ctx context.Context, tree, pattern string, files ...string) (bool, error) {
	if out, err := r.git.run(ctx, "config", "--get-regexp", `^remote\..*\.promisor$`); err == nil {
		return false, fmt.Errorf("a partial clone does not have all files: %s", out)
	}
	_, err := r.git.run(ctx, append([]string{"grep", "-q", "--text", "-E", "-e", pattern, tree, "--"}, files...)...)
	var failed *GitError
	if errors.As(err, &failed) && failed.ExitCode == 1 { // no line, git-grep(1)
		return false, nil
	}
	return err == nil, err
}

// NewerSource looks in the history of commit for sources that are newer than the
// committed docroot. It returns the last commit that changed the site's directory
// outside the docroot, unless the docroot's last change comes after it; then it
// returns "". site and docroot are slash paths relative to the root. Files that no
// site is built from, such as README.md, do not count.
func (r *Repo) NewerSource(ctx context.Context, commit, site, docroot string) (string, error) {
	written, err := r.git.run(ctx, "rev-list", "-1", commit, "--", below(docroot))
	if err != nil {
		return "", err
	}
	args := []string{"rev-list", "-1", commit, "^" + strings.TrimSpace(string(written)), "--", below(site), ":(exclude,top,literal)" + docroot}
	for _, name := range []string{".git*", ".husky", "lefthook*", ".pre-commit*", "sitelink*", ".sitelink*", "README*", "LICENSE*", "CHANGELOG*", "CONTRIBUTING*", "CODEOWNERS"} {
		for _, dir := range slices.Compact([]string{".", site}) {
			args = append(args, ":(exclude,top)"+path.Join(dir, name))
		}
	}
	newer, err := r.git.run(ctx, args...)
	return strings.TrimSpace(string(newer)), err
}

// dataPath returns a path in the directory where sitelink keeps its data in the
// repository.
func (r *Repo) dataPath(name string) string { return filepath.Join(r.Common, "sitelink", name) }

// workTreeIs reports whether the working tree is exactly tree: HEAD has that
// tree, all of its files are there, no file is changed and no file is untracked. In the
// directory exact, relative to the root, even ignored files make a difference; "" for none.
func (r *Repo) workTreeIs(ctx context.Context, tree, exact string) (bool, error) {
	head, err := r.resolve(ctx, "HEAD^{tree}")
	if err != nil || head != tree {
		return false, err
	}
	out, err := r.git.run(ctx, "status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=none")
	if err != nil || len(out) > 0 {
		return false, err
	}
	if isWhole, err := r.isWhole(ctx, r.Top); err != nil || !isWhole || exact == "" {
		return isWhole, err
	}
	out, err = r.git.run(ctx, "status", "--porcelain", "-z", "--ignored=matching", "--", below(filepath.ToSlash(exact)))
	return len(out) == 0, err
}

// isWhole reports whether git looks at every file of the working tree at dir, and of its
// submodules. It does not look at files outside of a sparse checkout, nor at those that
// git update-index --skip-worktree or --assume-unchanged names, and it takes a submodule
// without files for an unchanged one.
func (r *Repo) isWhole(ctx context.Context, dir string) (bool, error) {
	out, err := r.git.In(dir).run(ctx, "ls-files", "-v", "--stage", "-z")
	if err != nil {
		return false, err
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		// "H MODE ID STAGE<tab>NAME"; another letter than H marks a file that is not looked at
		info, name, _ := strings.Cut(entry, "\t")
		if !strings.HasPrefix(info, "H ") && info != "" {
			return false, nil
		}
		if !strings.HasPrefix(info, "H 160000 ") { // a submodule
			continue
		}
		module := filepath.Join(dir, filepath.FromSlash(name))
		if _, err := os.Lstat(filepath.Join(module, ".git")); err != nil {
			return false, nil
		}
		if isWhole, err := r.isWhole(ctx, module); err != nil || !isWhole {
			return false, err
		}
	}
	return true, nil
}
