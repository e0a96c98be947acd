package git

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strings"
)

// Ref is a ref of a remote repository. Its commits have one file, and several
// clones change it. A push replaces only the commit that this clone has seen.
type Ref struct {
	// Git runs git in the clone. Its Limit is the largest size of the file.
	Git Command
	// Remote and Name are the remote and the ref there, and Local is the local ref that
	// protects the fetched commit from git's garbage collection.
	Remote, Name, Local string
	// File is the name of the file.
	File string
	// Commit is the commit that was seen last, "" for none.
	Commit string
}

// OpenRef returns the ref with a name as git:REF or git:REMOTE:REF, where the default
// remote is origin, and the directory for its files, which is called after kind and inside
// the directory of git. The ref is neither a branch nor a tag.
func OpenRef(ctx context.Context, git Command, name, kind, file string) (r *Ref, dir string, err error) {
	remote, ref, ok := parseRef(name)
	if !ok {
		return nil, "", fmt.Errorf("want git:REF or git:REMOTE:REF, where REF is like refs/sitelink/%s and not a branch or tag", kind)
	}
	common, err := git.Text(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return nil, "", err
	}
	sum := fnv.New64a()
	sum.Write([]byte(remote + "\n" + ref))
	own := kind + "-" + hex.EncodeToString(sum.Sum(nil))
	return &Ref{Git: git, Remote: remote, Name: ref, Local: "refs/sitelink-fetched/" + own, File: file}, filepath.Join(common, "sitelink", own), nil
}

func parseRef(name string) (remote, ref string, ok bool) {
	rest, ok := strings.CutPrefix(name, "git:")
	remote, ref = "origin", rest
	if i := strings.LastIndex(rest, ":refs/"); i > 0 {
		remote, ref = rest[:i], rest[i+1:]
	}
	ok = ok && strings.HasPrefix(ref, "refs/") && !strings.HasPrefix(ref, "refs/heads/") && !strings.HasPrefix(ref, "refs/tags/") &&
		!strings.ContainsAny(ref, " ~^:?*[\\\x7f") && !strings.Contains(ref, "..") && !strings.HasPrefix(remote, "-")
	return remote, ref, ok
}

// Text returns the standard output of a command without the last line end. The error has
// the last lines of its standard error.
func (c Command) Text(ctx context.Context, args ...string) (string, error) {
	out, err := c.Run(ctx, args...)
	var failed *Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "", ctx.Err()
	case errors.As(err, &failed):
		lines := failed.Lines[max(0, len(failed.Lines)-3):]
		return string(out), fmt.Errorf("git %s: %s", args[0], strings.Join(lines, "; "))
	case err != nil:
		return "", err
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// Fetch returns the file as the remote has it now if another clone has replaced the commit
// that this one saw last: then changed is true. The text is "" if the ref is gone.
func (r *Ref) Fetch(ctx context.Context) (text string, changed bool, err error) {
	out, err := r.Git.Text(ctx, "ls-remote", r.Remote, r.Name)
	if err != nil {
		return "", false, err
	}
	now := ""
	for line := range strings.Lines(out) {
		if id, name, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && name == r.Name {
			now = id
		}
	}
	if now == r.Commit || now == "" {
		r.Commit, changed = now, now != r.Commit
		return "", changed, nil
	}
	if _, err := r.Git.Text(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", r.Remote, "+"+r.Name+":"+r.Local); err != nil {
		return "", false, err
	}
	if r.Commit, err = r.Git.Text(ctx, "rev-parse", "--verify", r.Local+"^{commit}"); err != nil {
		return "", false, err
	}
	text, err = r.At(ctx, r.Commit)
	return text, true, err
}

// At returns the file of a commit.
func (r *Ref) At(ctx context.Context, commit string) (text string, err error) {
	text, err = r.Git.Text(ctx, "cat-file", "blob", commit+":"+r.File)
	return text + "\n", err // Text removes the last line end
}

// Push replaces the commit that Fetch has seen by one with the text.
func (r *Ref) Push(ctx context.Context, text, message string) error {
	withInput := r.Git
	withInput.Input = []byte(text)
	blob, err := withInput.Text(ctx, "hash-object", "-w", "--stdin")
	if err != nil {
		return err
	}
	withInput.Input = []byte("100644 blob " + blob + "\t" + r.File + "\n")
	tree, err := withInput.Text(ctx, "mktree")
	if err != nil {
		return err
	}
	args := []string{"-c", "user.name=sitelink", "-c", "user.email=sitelink@localhost", "commit-tree", tree, "-m", message}
	if r.Commit != "" {
		args = append(args, "-p", r.Commit)
	}
	commit, err := r.Git.Text(ctx, args...)
	if err != nil {
		return err
	}
	if _, err := r.Git.Text(ctx, "push", "--quiet", "--no-verify", "--force-with-lease="+r.Name+":"+r.Commit, r.Remote, commit+":"+r.Name); err != nil {
		return err
	}
	r.Commit = commit
	_, err = r.Git.Text(ctx, "update-ref", r.Local, commit)
	return err
}
