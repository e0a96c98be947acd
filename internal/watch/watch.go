// Package watch tells which files of a directory tree changed, when whoever
// writes them has paused. Events of the system enter, or a list of all files
// now and then where it has none to give; batches of paths leave. It reads no
// file and writes none.
package watch

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

	"github.com/sitelink/sitelink/internal/disk"
)

// Options say how a tree is watched. The zero value suits a generator's
// docroot.
type Options struct {
	// Quiet is how long nothing may change before a batch is told; 0 means
	// DefaultQuiet. Files are written in pieces, and generators write many.
	Quiet time.Duration
	// Poll, when not 0, lists the whole tree in this interval instead of asking
	// the system for events.
	Poll time.Duration
	// Lock is a file that the writer of the tree keeps locked while it works,
	// such as .hugo_build.lock; empty for none. A file that is not there is
	// never made.
	Lock string
	// Also are files outside the tree; when one of them changes, everything may
	// have.
	Also []string
}

// Times that Options leave open.
const (
	DefaultQuiet = 200 * time.Millisecond
	// DefaultPoll is the interval where events cannot be had.
	DefaultPoll = time.Second
)

// Batch is what changed between two pauses.
type Batch struct {
	// Paths are the changed files and directories, as sorted slash paths
	// relative to the tree. A directory stands for all that lies in it.
	Paths []string
	// All: anything may have changed, the system lost count or the whole tree
	// was replaced.
	All bool
}

// source is where changes come from.
type source interface {
	// wait blocks until something changes, at most until the channel is ready,
	// and adds it to b. It returns false when the channel was first, and may
	// return true for what concerns nobody, which does not add to b.
	wait(ctx context.Context, b *batch, until <-chan time.Time) (changed bool, err error)
	close()
}

// batch is a Batch in the making.
type batch struct {
	paths map[string]bool
	all   bool
	// told counts the changes, those of the same path too.
	told int
}

func (b *batch) add(path string) {
	b.paths[path] = true
	b.told++
}

func (b *batch) addAll() {
	b.all = true
	b.told++
}

// Watcher watches one tree. It is not safe for concurrent use.
type Watcher struct {
	root string
	opt  Options
	src  source
	// polls says why the tree is polled, nil if events come.
	polls error
}

// Open begins to watch: every change from now on is told. The error is that of
// a root that is no readable directory. Where the system refuses events the
// tree is polled, and [Watcher.Polls] says why.
func Open(root string, opt Options) (*Watcher, error) {
	if opt.Quiet <= 0 {
		opt.Quiet = DefaultQuiet
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", root, err)
	}
	w := &Watcher{root: abs, opt: opt}
	if err := w.begin(); err != nil {
		return nil, fmt.Errorf("watch %s: %w", root, disk.Cause(err))
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
// [ErrNoEvents]; nil otherwise. A tree that grows may reach the system's limit
// later, in [Watcher.Next].
func (w *Watcher) Polls() error { return w.polls }

// Close ends the watch.
func (w *Watcher) Close() {
	if w.src != nil {
		w.src.close()
	}
}

// Next waits for changes, then for the writer to pause and to release its lock,
// and returns what changed. While the tree is away, Next waits for it to come
// back. The error is the cause of ctx.
func (w *Watcher) Next(ctx context.Context) (Batch, error) {
	b := &batch{paths: map[string]bool{}}
	var quiet <-chan time.Time
	for {
		if w.src == nil { // the tree was away
			b.addAll()
			if err := w.back(ctx); err != nil {
				return Batch{}, err
			}
		}
		told := b.told
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
			// A new directory was one too many.
			w.src.close()
			w.src, w.polls, w.opt.Poll = nil, err, DefaultPoll
			quiet = time.After(w.opt.Quiet)
			continue
		case err != nil:
			return Batch{}, fmt.Errorf("watch %s: %w", w.root, err)
		case changed:
			// Other files of a watched directory do not make it less quiet.
			if b.told > told {
				quiet = time.After(w.opt.Quiet)
			}
			continue
		}
		// It is quiet. Is it only a pause?
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

// back waits for the tree to come back and watches it again.
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

// temporary tells whether an editor makes files of that name beside the one it
// saves.
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
