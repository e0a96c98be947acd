package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/sitelink/sitelink/internal/system"
)

// WatchOptions describe how to watch a tree. The zero value suits the docroot of a
// generator.
type WatchOptions struct {
	// Quiet is how long nothing may change before a batch ends; 0 means
	// DefaultQuiet. Files are written in several steps, and generators write
	// many.
	Quiet time.Duration
	// Poll, when not 0, lists the whole tree at this interval instead of using
	// file events.
	Poll time.Duration
	// Lock is a file that the program that writes the tree locks while it
	// works, such as .hugo_build.lock; empty for none. It is never created.
	Lock string
	// Also are files outside the tree. A change of one of them means that
	// anything may have changed.
	Also []string
}

// Default times.
const (
	DefaultQuiet = 200 * time.Millisecond
	// DefaultPoll is the interval if there are no file events.
	DefaultPoll = time.Second
)

// Batch is what changed between two pauses.
type Batch struct {
	// Paths are the changed files and directories, as sorted slash paths
	// relative to the tree. A directory stands for everything in it.
	Paths []string
	// All: anything may have changed, because the system lost events or the
	// whole tree was replaced.
	All bool
}

// source provides changes.
type source interface {
	// wait blocks until something changes, at most until the channel is ready,
	// and adds the change to b. It returns false if the channel was ready
	// first. It may return true for changes that do not matter, without adding
	// to b.
	wait(ctx context.Context, b *batch, until <-chan time.Time) (changed bool, err error)
	close()
}

// batch is a Batch under construction.
type batch struct {
	paths map[string]bool
	all   bool
	// changes counts the changes, including repeated ones of the same path.
	changes int
}

func (b *batch) add(path string) {
	b.paths[path] = true
	b.changes++
}

func (b *batch) addAll() {
	b.all = true
	b.changes++
}

// Watcher reports which files of one tree changed, in batches: a batch ends when the program that writes the files pauses.
// It uses the file events of the operating system, and lists all files at intervals where
// there are none. It neither opens nor changes files. It is not safe for concurrent use.
type Watcher struct {
	root string
	opt  WatchOptions
	src  source
	// polls says why the tree is polled; nil if events are used.
	polls error
}

// Watch starts watching: it reports every change from now on. The error means
// that root is not a readable directory. If the system refuses events, the tree
// is polled, and [Watcher.Polls] says why.
func Watch(root string, opt WatchOptions) (*Watcher, error) {
	if opt.Quiet <= 0 {
		opt.Quiet = DefaultQuiet
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", root, err)
	}
	w := &Watcher{root: abs, opt: opt}
	if err := w.begin(); err != nil {
		return nil, fmt.Errorf("watch %s: %w", root, system.Cause(err))
	}
	return w, nil
}

// begin opens the source of events.
func (w *Watcher) begin() error {
	if w.src != nil {
		w.src.close()
		w.src = nil
	}
	if w.opt.Poll == 0 {
		n, err := openNotifier(w.root, w.opt.Also)
		if err == nil {
			w.src = n
			return nil
		}
		if !errors.Is(err, ErrNoEvents) {
			return err
		}
		w.polls, w.opt.Poll = err, DefaultPoll
	}
	p, err := openPoller(w.root, w.opt.Also, w.opt.Poll)
	if err == nil {
		w.src = p
	}
	return err
}

// Polls returns why the tree is polled although events were wanted, wrapping
// [ErrNoEvents]; nil otherwise. A growing tree may reach the system's limit
// later, in [Watcher.Next].
func (w *Watcher) Polls() error { return w.polls }

// Close ends the watch.
func (w *Watcher) Close() {
	if w.src != nil {
		w.src.close()
	}
}

// Next waits for changes, then for the writer to pause and to release its lock,
// and returns what changed. If the tree is removed, Next waits until it exists
// again. The error is the cause of ctx.
func (w *Watcher) Next(ctx context.Context) (Batch, error) {
	b := &batch{paths: map[string]bool{}}
	var quiet <-chan time.Time
	for {
		if w.src == nil { // the tree was removed
			b.addAll()
			if err := w.back(ctx); err != nil {
				return Batch{}, err
			}
		}
		before := b.changes
		changed, err := w.src.wait(ctx, b, quiet)
		switch {
		case ctx.Err() != nil:
			return Batch{}, context.Cause(ctx)
		case errors.Is(err, errReplaced):
			w.src.close()
			w.src = nil
			quiet = time.After(w.opt.Quiet)
			continue
		case errors.Is(err, ErrNoEvents):
			// The limit was reached by a new directory.
			w.src.close()
			w.src, w.polls, w.opt.Poll = nil, err, DefaultPoll
			quiet = time.After(w.opt.Quiet)
			continue
		case err != nil:
			return Batch{}, fmt.Errorf("watch %s: %w", w.root, err)
		case changed:
			// Changes of other files in a watched directory do not prolong the
			// wait.
			if b.changes > before {
				quiet = time.After(w.opt.Quiet)
			}
			continue
		}
		// Nothing has changed for a while. Is the writer done?
		waited, err := waitLock(ctx, w.opt.Lock)
		if err != nil {
			return Batch{}, err
		}
		if !waited {
			break
		}
		quiet = time.After(w.opt.Quiet)
	}
	out := Batch{All: b.all}
	for p := range b.paths {
		out.Paths = append(out.Paths, p)
	}
	slices.Sort(out.Paths)
	return out, nil
}

// back waits until the tree exists again, and watches it.
func (w *Watcher) back(ctx context.Context) error {
	for {
		if err := w.begin(); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(w.opt.Quiet):
		}
	}
}

// temporary reports whether editors create files of that name beside the one
// they save.
func temporary(name string) bool {
	switch {
	case strings.HasSuffix(name, "~"), strings.HasPrefix(name, ".#"), strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#"),
		strings.HasPrefix(name, ".goutputstream-"), strings.HasSuffix(name, "___jb_tmp___"), strings.HasSuffix(name, "___jb_old___"),
		name == "4913", name == ".DS_Store":
		return true
	}
	ext := filepath.Ext(name) // vim: .page.html.swp, .swo and so on
	return strings.HasPrefix(name, ".") && len(ext) == 4 && strings.HasPrefix(ext, ".sw")
}

// lookAt returns the identity of the tree itself.
func lookAt(root string) (fs.FileInfo, error) {
	info, err := os.Stat(root)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	return info, err
}

// waitLock is [WaitLock]; waited reports whether the lock was held.
func waitLock(ctx context.Context, name string) (waited bool, err error) {
	err = WaitLock(ctx, name, func() { waited = true })
	return waited, err
}

// WaitLock waits until no process holds the lock file of that name. It calls
// waiting once if it has to wait. It returns at once if name is empty, or if the
// file does not exist or cannot be locked. The error is the cause of ctx.
//
// Hugo holds a lock on .hugo_build.lock while it builds, and while its server
// handles a batch of changes.
func WaitLock(ctx context.Context, name string, waiting func()) error {
	if name == "" {
		return nil
	}
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil // a link or a pipe is not Hugo's
	}
	done := make(chan struct{})
	go func() { // locking cannot be interrupted
		defer close(done)
		if unlock, err := lockedfile.MutexAt(name).Lock(); err == nil {
			unlock()
		}
	}()
	const instant = 20 * time.Millisecond
	select {
	case <-done:
		return nil
	case <-time.After(instant):
	}
	waiting()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
