package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// ErrNoEvents reports that the system provides no events for the tree, or no
// longer does.
var ErrNoEvents = errors.New("no file events")

// errReplaced reports that the tree was removed or that directories moved, so
// that the watch has to start again.
var errReplaced = errors.New("replaced")

// notifier receives file events from the system. It watches directories instead
// of files, because an editor that saves replaces the file by a new one.
type notifier struct {
	root string
	// real is the directory being watched, with symbolic links resolved.
	real string
	w    *fsnotify.Watcher
	dirs map[string]bool
	also map[string]bool
	skip func(dir string) bool // see [WatchOptions]
}

func openNotifier(root string, opt WatchOptions) (*notifier, error) {
	if err := lookAt(root); err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, err
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoEvents, err)
	}
	n := &notifier{root: root, real: real, w: w, dirs: map[string]bool{}, also: map[string]bool{}, skip: opt.Skip}
	err = n.enter(real, nil)
	if err == nil && real != filepath.Clean(root) { // the link may change its target
		n.also[root] = true
		err = n.watch(filepath.Dir(root))
	}
	for _, name := range opt.Also {
		if abs, e := filepath.Abs(name); e == nil && err == nil {
			n.also[abs] = true
			if err = n.watch(filepath.Dir(abs)); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
	}
	if err != nil {
		w.Close()
		return nil, err
	}
	return n, nil
}

func (n *notifier) close() { n.w.Close() }

// watch requests the events of one directory.
func (n *notifier) watch(dir string) error {
	err := n.w.Add(dir)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR):
		return fs.ErrNotExist
	}
	return fmt.Errorf("%w: %w", ErrNoEvents, err)
}

// enter watches a directory and those in it. Each is watched before it is
// listed, so that an entry created meanwhile is in the list, or causes an
// event, or both. If b is not nil, the entries are added to it.
func (n *notifier) enter(dir string, b *batch) error {
	if n.skip != nil && n.skip(dir) {
		return nil
	}
	if err := n.watch(dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) && dir != n.real {
			return nil // removed again, or not accessible
		}
		return err
	}
	n.dirs[dir] = true
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // an event or the check will report it
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if b != nil {
			n.note(b, name, fsnotify.Create)
		}
		if e.IsDir() {
			if err := n.enter(name, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// note adds a changed path. Paths outside the tree count only if they are in
// WatchOptions.Also.
func (n *notifier) note(b *batch, name string, op fsnotify.Op) {
	if n.also[name] {
		b.addAll()
		return
	}
	if rel, ok := strings.CutPrefix(name, n.real+string(filepath.Separator)); ok && !temporary(filepath.Base(name)) {
		b.add(filepath.ToSlash(rel), op)
	}
}

func (n *notifier) wait(ctx context.Context, b *batch, until <-chan time.Time) (bool, error) {
	select {
	case <-ctx.Done():
		return false, nil
	case <-until:
		for { // what happened up to now is part of the batch
			before := b.changes
			select {
			case ev := <-n.w.Events:
				// After an event that does not matter, until is not ready again.
				if err := n.event(b, ev); err != nil || b.changes > before {
					return true, err
				}
			default:
				return false, nil
			}
		}
	case ev := <-n.w.Events:
		return true, n.event(b, ev)
	case err := <-n.w.Errors:
		if errors.Is(err, fsnotify.ErrEventOverflow) {
			b.addAll()
			return true, errReplaced // new directories may have been missed
		}
		return true, fmt.Errorf("file events: %w", err)
	}
}

func (n *notifier) event(b *batch, ev fsnotify.Event) error {
	if n.also[ev.Name] {
		b.addAll()
		if ev.Name == n.root {
			return errReplaced
		}
		return nil
	}
	gone := ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename)
	switch {
	case gone && ev.Name == n.real:
		b.addAll()
		return errReplaced
	case gone && n.dirs[ev.Name]:
		// Its watches would continue under names that are no longer correct.
		n.note(b, ev.Name, ev.Op)
		// The directories in it are gone as well. If it came back under the same name, another
		// event follows.
		for d := range n.dirs {
			if d == ev.Name || strings.HasPrefix(d, ev.Name+string(filepath.Separator)) {
				_ = n.w.Remove(d) // the watch may have ended already
				delete(n.dirs, d)
			}
		}
		return nil
	case ev.Name == n.real:
		if ev.Has(fsnotify.Chmod) {
			b.addAll()
		}
		return nil
	}
	n.note(b, ev.Name, ev.Op)
	if ev.Has(fsnotify.Create) && !n.dirs[ev.Name] {
		if info, err := os.Lstat(ev.Name); err == nil && info.IsDir() {
			return n.enter(ev.Name, b)
		}
	}
	return nil
}
