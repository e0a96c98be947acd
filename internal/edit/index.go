package edit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/git"
)

// index is git's index around a set that renames tracked files. It has new names
// for them, as after `git mv`, and nothing else that is new.
type index struct {
	File  string `json:"file"`  // an absolute path
	Bytes []byte `json:"bytes"` // before
	// Before and After are hashes of what `git ls-files -s` lists. They stay the same
	// when git refreshes what it remembers about the files.
	Before string `json:"before"`
	After  string `json:"after"`
}

// entry is a line of `git ls-files -s`.
type entry struct{ mode, hash, stage, name string }

func (e entry) line(name string) string {
	return e.mode + " " + e.hash + " " + e.stage + "\t" + name + "\x00"
}

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

// readIndex sets j.Index if tracked files are renamed.
func (j *journal) readIndex(ctx context.Context, root string, env []string) error {
	renamed := j.renamed(false)
	if len(renamed) == 0 {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(root, ".git")); err != nil {
		return nil // not a repository
	}
	entries, before, err := listIndex(ctx, root, env)
	if errors.Is(err, git.ErrNotInstalled) {
		return nil
	}
	if err != nil {
		return explainGit(root, err)
	}
	tracked := false
	after := make([]entry, len(entries))
	for i, e := range entries {
		after[i] = e
		if to, ok := renamed[e.name]; ok {
			if e.stage != "0" {
				return &Error{e.name, ErrUnmerged}
			}
			after[i].name, tracked = to, true
		}
	}
	if !tracked {
		return nil
	}
	out, err := runGit(ctx, root, env, "", "rev-parse", "--path-format=absolute", "--git-path", "index")
	if err != nil {
		return err
	}
	x := &index{File: filepath.FromSlash(strings.TrimSuffix(string(out), "\n")), Before: before, After: hashEntries(after)}
	if x.Bytes, err = disk.Read(x.File, maxJournalBytes); err != nil {
		return fmt.Errorf("read git's index %s: %w", x.File, disk.Cause(err))
	}
	if _, err := os.Lstat(x.File + ".lock"); err == nil {
		return indexLocked(x.File)
	}
	j.Index = x
	return nil
}

func indexLocked(file string) error {
	return fault.New(fmt.Errorf("git's index is locked by %s.lock", file), "wait until the other git has finished; if none runs, remove that file")
}

// renamed returns the new name of each renamed file by its old name, or the reverse.
func (j *journal) renamed(back bool) map[string]string {
	names := map[string]string{}
	for _, r := range j.Changes {
		if r.Old != "" && r.Old != r.New {
			if back {
				names[r.New] = r.Old
			} else {
				names[r.Old] = r.New
			}
		}
	}
	return names
}

// listIndex returns the entries of the index and their hash.
func listIndex(ctx context.Context, root string, env []string) (entries []entry, hash string, err error) {
	out, err := runGit(ctx, root, env, "", "ls-files", "-s", "-z")
	if err != nil {
		return nil, "", err
	}
	for line := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		info, name, _ := strings.Cut(string(line), "\t")
		if fields := strings.Fields(info); len(fields) == 3 {
			entries = append(entries, entry{fields[0], fields[1], fields[2], name})
		}
	}
	return entries, hashEntries(entries), nil
}

func hashEntries(entries []entry) string {
	lines := make([]string, len(entries))
	for i, e := range entries {
		lines[i] = e.line(e.name)
	}
	slices.Sort(lines)
	return Hash([]byte(strings.Join(lines, "")))
}

// moveIndex renames the entries of the renamed files.
func (j *journal) moveIndex(ctx context.Context, root string, env []string) error {
	if j.Index == nil {
		return nil
	}
	return renameEntries(ctx, root, env, j.renamed(false))
}

func renameEntries(ctx context.Context, root string, env []string, renamed map[string]string) error {
	entries, _, err := listIndex(ctx, root, env)
	if err != nil {
		return err
	}
	var removed, added strings.Builder
	for _, e := range entries {
		if to, ok := renamed[e.name]; ok {
			removed.WriteString("0 " + strings.Repeat("0", len(e.hash)) + "\t" + e.name + "\x00")
			added.WriteString(e.line(to))
		}
	}
	if removed.Len() == 0 {
		return nil
	}
	if _, err := runGit(ctx, root, env, removed.String()+added.String(), "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	// So that git need not read the files again. It fails for files that are edited.
	runGit(ctx, root, env, "", "update-index", "-q", "--refresh")
	return nil
}

// restoreIndex restores the index to the byte, unless something else was staged
// since: then it only renames the entries, and changed is true.
func (j *journal) restoreIndex(ctx context.Context, root string, env []string) (changed bool, err error) {
	if j.Index == nil {
		return false, nil
	}
	if err := waitForGit(ctx, j.Index.File); err != nil {
		return false, err
	}
	_, now, err := listIndex(ctx, root, env)
	switch {
	case err != nil:
		return false, explainGit(root, err)
	case now != j.Index.Before && now != j.Index.After:
		return true, renameEntries(ctx, root, env, j.renamed(true))
	}
	if text, err := disk.Read(j.Index.File, maxJournalBytes); err == nil && bytes.Equal(text, j.Index.Bytes) {
		return false, nil
	}
	return false, j.Index.restore(ctx, root, env)
}

// waitForGit waits while a git program holds the lock of the index: one that a killed
// run has started may still work.
func waitForGit(ctx context.Context, file string) error {
	const most, step = 5 * time.Second, 20 * time.Millisecond
	for waited := time.Duration(0); ; waited += step {
		if _, err := os.Lstat(file + ".lock"); err != nil {
			return nil
		}
		if waited >= most {
			return indexLocked(file)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(step):
		}
	}
}

// restore replaces the index while it holds git's lock.
func (x *index) restore(ctx context.Context, root string, env []string) error {
	out, err := runGit(ctx, root, env, "", "rev-parse", "--path-format=absolute", "--git-path", "index")
	if err != nil {
		return err
	}
	if file := filepath.FromSlash(strings.TrimSuffix(string(out), "\n")); file != x.File {
		return fmt.Errorf("the journal names another index than git: %s instead of %s", x.File, file)
	}
	info, err := os.Stat(x.File)
	if err != nil {
		return fmt.Errorf("read git's index %s: %w", x.File, disk.Cause(err))
	}
	// The lock appears with its whole content, so that a kill leaves no half index.
	whole := x.File + ".sitelink.tmp"
	if err := disk.WriteFile(whole, x.Bytes, info.Mode().Perm()); err != nil {
		return err
	}
	defer os.Remove(whole)
	if err := os.Link(whole, x.File+".lock"); err != nil {
		if errors.Is(err, os.ErrExist) {
			return indexLocked(x.File)
		}
		return fmt.Errorf("lock git's index %s: %w", x.File, disk.Cause(err))
	}
	if err := os.Rename(x.File+".lock", x.File); err != nil {
		os.Remove(x.File + ".lock")
		return fmt.Errorf("write git's index %s: %w", x.File, disk.Cause(err))
	}
	return nil
}
