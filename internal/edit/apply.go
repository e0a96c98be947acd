package edit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/statedir"
)

// Apply changes the files. command says who does it, such as "sitelink mv a.md b.md";
// [Undo] returns it. Tracked files get their new names in git's index too.
//
// After an error, and when ctx is cancelled, no file is changed, except those that
// another program saved meanwhile: they stay as it left them, and the error is [ErrStale].
// A set cannot be applied while another one is, or while one that was killed is not undone.
func (s *Set) Apply(ctx context.Context, command string) error {
	files := s.Files()
	if len(files) == 0 {
		return nil
	}
	unlock, err := lock(s.Root)
	if err != nil {
		return err
	}
	defer unlock()
	last, err := readJournal(s.Root)
	if err != nil {
		return err
	}
	if last != nil && !last.Complete {
		return interrupted(last)
	}
	if err := s.recheck(files); err != nil {
		return err
	}
	j := s.journal(files, command)
	if err := mayMoveIndex(ctx, s.Root, s.Env, j.Changes); err != nil {
		return err
	}
	if err := j.write(s.Root); err != nil {
		return err
	}
	err = s.apply(ctx, files, j)
	if err == nil {
		err = j.complete(s.Root)
	}
	if err == nil {
		return nil
	}
	u, undoErr := j.undo(context.WithoutCancel(ctx), s.Root, s.Env, j.Changes)
	if undoErr != nil {
		return errors.Join(err, interrupted(j), undoErr)
	}
	for _, kept := range u.Kept {
		if !strings.Contains(err.Error(), kept.Error()) {
			err = errors.Join(err, kept)
		}
	}
	if last != nil {
		return errors.Join(err, last.write(s.Root))
	}
	return errors.Join(err, removeJournal(s.Root))
}

// interrupted is the error for a set whose changes are incomplete.
func interrupted(j *journal) error {
	return fault.New(fmt.Errorf("%q was interrupted and has changed only some of its files", j.Command), "to restore them: "+undoCommand(j))
}

// undoCommand returns what takes the changes of a journal back: fix undoes its own, mv
// moves.
func undoCommand(j *journal) string {
	if strings.HasPrefix(j.Command, "sitelink fix") {
		return "sitelink fix --undo"
	}
	return "sitelink mv --undo"
}

// recheck makes sure that the files are still as they were read.
func (s *Set) recheck(files []string) error {
	var errs []error
	for _, name := range files {
		c := s.changes[name]
		if c.old == "" {
			if _, err := os.Lstat(s.at(name)); !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, &Error{name, ErrExists})
			}
			continue
		}
		info, err := s.inspect(name)
		if err == nil && c.loaded {
			var text []byte
			if text, _, err = s.read(name); err == nil && string(text) != string(c.text) {
				err = &Error{name, ErrStale}
			}
		}
		if err == nil && c.old != c.new {
			if there, statErr := os.Lstat(s.at(c.new)); statErr == nil && !os.SameFile(info, there) {
				err = &Error{c.new, ErrExists}
			}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// apply changes the files and the index.
func (s *Set) apply(ctx context.Context, files []string, j *journal) error {
	for _, name := range files {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := s.applyTo(s.changes[name]); err != nil {
			return err
		}
	}
	for _, name := range files {
		if c := s.changes[name]; c.old != c.new && c.old != "" {
			removeEmpty(s.Root, path.Dir(c.old))
		}
	}
	return moveIndex(ctx, s.Root, s.Env, j.Changes, false)
}

func (s *Set) applyTo(c *change) error {
	if c.old != c.new { // a new file, or a new name
		if err := os.MkdirAll(filepath.Dir(s.at(c.new)), 0o777); err != nil {
			return &Error{c.new, disk.Cause(err)}
		}
	}
	if c.old != "" && c.old != c.new {
		if err := disk.Rename(s.at(c.old), s.at(c.new)); err != nil {
			return &Error{c.old, err}
		}
	}
	var err error
	switch {
	case len(c.edits) == 0:
	case c.old == "":
		err = disk.WriteNew(s.at(c.new), c.result(), c.mode)
	default:
		err = disk.Exchange(s.at(c.new), c.text, c.result(), c.mode)
	}
	if errors.Is(err, ErrStale) {
		return &Error{c.new, ErrStale}
	}
	return err
}

// removeEmpty removes a directory and those above it as far as they are empty.
func removeEmpty(root, dir string) {
	for ; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if os.Remove(filepath.Join(root, filepath.FromSlash(dir))) != nil {
			return
		}
	}
}

// lock keeps other processes from changing files of the project.
func lock(root string) (unlock func(), err error) {
	dir, err := statedir.Private(root)
	if err != nil {
		return nil, err
	}
	if err := statedir.Make(dir); err != nil {
		return nil, err
	}
	name := filepath.Join(dir, "edit.lock")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, disk.Cause(err))
	}
	if err := disk.TryLock(f); err != nil {
		f.Close()
		if errors.Is(err, disk.ErrLocked) {
			return nil, fault.New(errors.New("another sitelink is changing files of this project"), "wait until it has finished")
		}
		return nil, fmt.Errorf("lock %s: %w", name, disk.Cause(err))
	}
	return func() { f.Close() }, nil
}

// journal describes the set for Undo.
func (s *Set) journal(files []string, command string) *journal {
	j := &journal{Command: command}
	for _, name := range files {
		c := s.changes[name]
		r := record{Old: c.old, New: c.new, Mode: c.mode}
		if len(c.edits) > 0 {
			r.Edited, r.Text, r.After = true, c.text, Hash(c.result())
		}
		for dir := path.Dir(c.new); dir != "."; dir = path.Dir(dir) {
			if _, err := os.Lstat(s.at(dir)); err == nil {
				break
			}
			if !slices.Contains(j.Made, dir) {
				j.Made = append(j.Made, dir)
			}
		}
		j.Changes = append(j.Changes, r)
	}
	return j
}
