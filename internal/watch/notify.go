package watch

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

// ErrNoEvents: the system gives no events for the tree, or no more of them.
var ErrNoEvents = errors.New("no file events")

// errReplaced: the tree went, or directories of it moved: watch it anew.
var errReplaced = errors.New("replaced")

// notifier gets the events of the system. Directories are watched, not files:
// an editor that saves puts a new file in the place of the old one.
type notifier struct {
	root string
	// real is the tree with symbolic links resolved: what is watched.
	real string
	w    *fsnotify.Watcher
	dirs map[string]bool
	also map[string]bool
}

func openNotifier(root string, also []string) (*notifier, error) {
	if _, err := lookAt(root); err != nil {
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
	n := &notifier{root: root, real: real, w: w, dirs: map[string]bool{}, also: map[string]bool{}}
	err = n.enter(real, nil)
	if err == nil && real != filepath.Clean(root) { // the link may get another target
		n.also[root] = true
		err = n.watch(filepath.Dir(root))
	}
	for _, name := range also {
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

// watch asks for the events of one directory.
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
// listed: what is made meanwhile is in the list, or an event tells of it, or
// both. b, when not nil, takes what lies there.
func (n *notifier) enter(dir string, b *batch) error {
	if err := n.watch(dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) && dir != n.real {
			return nil // gone again, or closed to us
		}
		return err
	}
	n.dirs[dir] = true
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // an event or the check will tell
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if b != nil {
			n.note(b, name)
		}
		if e.IsDir() {
			if err := n.enter(name, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// note adds a changed path; those outside the tree count when they were named.
func (n *notifier) note(b *batch, name string) {
	if n.also[name] {
		b.addAll()
		return
	}
	if rel, ok := strings.CutPrefix(name, n.real+string(filepath.Separator)); ok && !temporary(filepath.Base(name)) {
		b.add(filepath.ToSlash(rel))
	}
}

func (n *notifier) wait(ctx context.Context, b *batch, until <-chan time.Time) (bool, error) {
	select {
	case <-ctx.Done():
		return false, nil
	case <-until:
		select { // what has happened by now is part of the batch
		case ev := <-n.w.Events:
			return true, n.event(b, ev)
		default:
			return false, nil
		}
	case ev := <-n.w.Events:
		return true, n.event(b, ev)
	case err := <-n.w.Errors:
		if errors.Is(err, fsnotify.ErrEventOverflow) {
			b.addAll()
			return true, errReplaced // directories may have come unseen
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
		// Its watches would go on under names that are no longer true.
		n.note(b, ev.Name)
		n.leave(ev.Name)
		return nil
	case ev.Name == n.real:
		if ev.Has(fsnotify.Chmod) {
			b.addAll()
		}
		return nil
	}
	n.note(b, ev.Name)
	if ev.Has(fsnotify.Create) && !n.dirs[ev.Name] {
		if info, err := os.Lstat(ev.Name); err == nil && info.IsDir() {
			return n.enter(ev.Name, b)
		}
	}
	return nil
}

// leave ends the watch of a directory that went, and of those in it. If it came
// back under its name, another event follows.
func (n *notifier) leave(dir string) {
	for d := range n.dirs {
		if d == dir || strings.HasPrefix(d, dir+string(filepath.Separator)) {
			_ = n.w.Remove(d) // it may have ended by itself
			delete(n.dirs, d)
		}
	}
}
