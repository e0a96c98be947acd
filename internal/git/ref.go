package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Ref is a ref of a remote repository whose commits have one file, which several
// clones change. A push replaces only the commit that this clone has seen.
type Ref struct {
	// Git runs git in the clone. Its Limit is the largest size of the file.
	Git Command
	// Remote and Name are the remote and the ref there, and Local is the local ref that
	// protects the fetched commit from git's garbage collection.
	Remote, Name, Local string
	// File is the name of the file.
	File string

	commit string // when last seen; "" for none
}

// ParseRef parses git:REF and git:REMOTE:REF. The default remote is origin. The ref is
// neither a branch nor a tag.
func ParseRef(name string) (remote, ref string, ok bool) {
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

// Fetch returns the file as the remote has it now, "" if the remote has no such file. changed reports
// whether another clone has replaced the commit that this one saw last.
func (r *Ref) Fetch(ctx context.Context) (text string, changed bool, err error) {
	out, err := r.Git.Text(ctx, "ls-remote", r.Remote, r.Name)
	if err != nil {
		return "", false, err
	}
	before := r.commit
	r.commit = ""
	for line := range strings.Lines(out) {
		if id, name, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && name == r.Name {
			r.commit = id
		}
	}
	if r.commit == "" {
		return "", before != "", nil
	}
	if _, err := r.Git.Text(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", r.Remote, "+"+r.Name+":"+r.Local); err != nil {
		return "", false, err
	}
	if r.commit, err = r.Git.Text(ctx, "rev-parse", "--verify", r.Local+"^{commit}"); err != nil {
		return "", false, err
	}
	text, err = r.Git.Text(ctx, "cat-file", "blob", r.commit+":"+r.File)
	return text + "\n", r.commit != before, err // Text removes the last line end
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
	if r.commit != "" {
		args = append(args, "-p", r.commit)
	}
	commit, err := r.Git.Text(ctx, args...)
	if err != nil {
		return err
	}
	if _, err := r.Git.Text(ctx, "push", "--quiet", "--no-verify", "--force-with-lease="+r.Name+":"+r.commit, r.Remote, commit+":"+r.Name); err != nil {
		return err
	}
	r.commit = commit
	_, err = r.Git.Text(ctx, "update-ref", r.Local, commit)
	return err
}
