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

	"github.com/fsnotify/fsnotify"
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
	// Skip, if not nil, reports directories of the tree that are not watched, by their
	// absolute names. It may be called at any time.
	Skip func(dir string) bool
	// Away, if not nil, is called by Next when the tree has been missing or empty for
	// Quiet, once until it has files again. With it, the tree may be missing from the
	// start, and the first batch stands for all that is there. Next returns its error.
	Away func() error
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
	// Changing: the writer does not pause, and the batch did not wait any longer.
	Changing bool
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
	paths map[string]*change
	all   bool
	// changes counts the changes, including repeated ones of the same path.
	changes int

	// gone counts the pages that were there before the batch and are missing now. away
	// is set when the whole tree was, or may have been.
	gone int
	away bool
	// first, last and grown are the times of the first change, of the last, and of the
	// last one of a path that had not changed yet or was missing. gap is the longest time
	// between two.
	first, last, grown time.Time
	gap                time.Duration
}

// change is what happened to one path during a batch.
type change struct{ created, gone bool }

// add records what happened to a path.
func (b *batch) add(path string, op fsnotify.Op) {
	b.changed()
	c := b.paths[path]
	if c == nil {
		c = &change{created: op.Has(fsnotify.Create)}
		b.paths[path] = c
		b.grown = b.last
	}
	// What came and went within the batch, such as a file that is renamed over another,
	// is not missed.
	gone := op.Has(fsnotify.Remove|fsnotify.Rename) && !c.created && strings.HasSuffix(path, ".html")
	switch {
	case gone && !c.gone:
		b.gone++
	case c.gone && !gone:
		b.gone--
		b.grown = b.last
	}
	c.gone = gone
}

func (b *batch) addAll() {
	b.all = true
	b.changed()
}

func (b *batch) changed() {
	b.changes++
	now := time.Now()
	if b.first.IsZero() {
		b.first, b.last = now, now
	}
	b.gap, b.last = max(b.gap, now.Sub(b.last)), now
}

// restart begins the quiet time again: what was before is no part of the build.
func (b *batch) restart() {
	now := time.Now()
	b.first, b.last, b.grown = now, now, now
}

// A batch of more paths than a person changes at once is a build. While pages are missing
// that it removed, and after a pause within it, the quiet time is longer: up to longPause
// times. So it is after the whole tree was missing. A batch ends after longestBatch quiet
// times although files still change; while pages are missing, when no other file has
// appeared for so long, or after longestBuild.
const (
	editedAtOnce = 4
	longPause    = 5
	longestBatch = 15
	longestBuild = time.Minute
)

// ends returns when the batch ends if nothing changes until then, and when it ends in
// any case. locks means that the writer's lock says when it is done.
func (b *batch) ends(quiet time.Duration, locks bool) (calm, latest time.Time) {
	pause, latest := quiet, b.first.Add(longestBatch*quiet)
	many := len(b.paths) > editedAtOnce
	switch {
	case locks:
	case b.gone > 0 && many, b.away:
		pause = longPause * quiet
		if until := b.grown.Add(longestBatch * quiet); until.After(latest) {
			latest = earlier(until, b.first.Add(max(longestBuild, longestBatch*quiet)))
		}
	case many:
		pause = min(max(quiet, 2*b.gap), longPause*quiet)
	}
	return b.last.Add(pause), latest
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
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
	// begun is set once a batch was asked for.
	begun bool
}

// Watch starts watching: it reports every change from now on. The error means
// that root is not a readable directory, see also [WatchOptions.Away]. If the system refuses events, the tree
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
	if err := w.begin(); err != nil && (opt.Away == nil || !errors.Is(err, fs.ErrNotExist)) {
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
		n, err := openNotifier(w.root, w.opt)
		if err == nil {
			w.src = n
			return nil
		}
		if !errors.Is(err, ErrNoEvents) {
			return err
		}
		w.polls, w.opt.Poll = err, DefaultPoll
	}
	p, err := openPoller(w.root, w.opt)
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
// and returns what changed. While the tree is missing or, with [WatchOptions.Away], empty,
// it waits. The error is the cause of ctx, or that of Away.
func (w *Watcher) Next(ctx context.Context) (Batch, error) {
	b := &batch{paths: map[string]*change{}}
	if !w.begun && w.opt.Away != nil && w.src != nil {
		// What was written just now may be the beginning of a build.
		b.restart()
		since := b.first.Add(-w.opt.Quiet)
		b.all, b.last = true, newest(w.root, since)
		b.away = b.last.After(since)
	}
	w.begun = true
	away, out := false, Batch{} // away: Away was called
	for {
		if w.src == nil {
			if err := w.back(ctx, b, &away); err != nil {
				return out, err
			}
		}
		var until <-chan time.Time
		if !b.first.IsZero() && !away {
			until = time.After(time.Until(earlier(b.ends(w.opt.Quiet, w.locks()))))
		}
		changed, err := w.src.wait(ctx, b, until)
		switch {
		case ctx.Err() != nil:
			return out, context.Cause(ctx)
		case errors.Is(err, errReplaced), errors.Is(err, ErrNoEvents):
			w.src.close()
			w.src = nil
			if errors.Is(err, ErrNoEvents) { // a new directory reached the limit
				w.polls, w.opt.Poll = err, DefaultPoll
			}
			continue
		case err != nil:
			return out, fmt.Errorf("watch %s: %w", w.root, err)
		case b.first.IsZero(): // nothing that matters has changed
			continue
		case away:
			if !w.empty() {
				away = false
				b.restart()
			}
			continue
		}
		if _, latest := b.ends(w.opt.Quiet, w.locks()); !time.Now().Before(latest) {
			out.Changing = true
		} else if changed {
			continue
		}
		// Nothing has changed for a while. Is the writer done?
		waited := false
		if err := WaitLock(ctx, w.opt.Lock, func() { waited = true }); err != nil {
			return Batch{}, err
		} else if waited {
			b.restart()
			out.Changing = false
			continue
		}
		if w.opt.Away == nil || !w.empty() {
			break
		}
		away, b.away, out.Changing = true, true, false
		if err := w.opt.Away(); err != nil {
			return Batch{}, err
		}
	}
	out.All = b.all
	for p := range b.paths {
		out.Paths = append(out.Paths, p)
	}
	slices.Sort(out.Paths)
	return out, nil
}

// back waits until the tree exists again, and watches it. Its quiet time begins then.
func (w *Watcher) back(ctx context.Context, b *batch, told *bool) error {
	defer b.restart()
	b.all = true
	for tries := 0; ; tries++ {
		if err := w.begin(); err == nil {
			*told = *told && w.empty()
			return nil
		}
		if tries > 0 && !*told && w.opt.Away != nil {
			*told = true
			if err := w.opt.Away(); err != nil {
				return err
			}
		}
		b.away = tries > 0
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(min(w.opt.Quiet, DefaultPoll)):
		}
	}
}

// locks reports whether the writer of the tree has a lock.
func (w *Watcher) locks() bool {
	_, err := os.Lstat(w.opt.Lock)
	return err == nil
}

// empty reports whether the tree has no files but hidden ones, which a generator leaves
// when it empties its docroot.
func (w *Watcher) empty() bool {
	entries, err := os.ReadDir(w.root)
	return err != nil || !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") })
}

// newest returns when a directory of the tree last changed, if that was after since and
// is not in the future; else since.
func newest(root string, since time.Time) time.Time {
	now := time.Now()
	_ = filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil && info.ModTime().After(since) && !info.ModTime().After(now) {
			since = info.ModTime()
		}
		return nil
	})
	return since
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

// lookAt returns an error if root cannot be read or is not a directory.
func lookAt(root string) error {
	info, err := os.Stat(root)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	return err
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
