package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	gitcmd "github.com/sitelink/sitelink/internal/git"
	"github.com/sitelink/sitelink/internal/system"
)

// Git is the [Store] in a ref of a remote repository: a commit with one file, the
// ledger. Runners that keep no files between deploys can share it. A push only
// replaces the commit that this runner has seen; if another runner was faster,
// both states are merged and pushed again.
//
// Outcomes that were not pushed yet are in a [File] in the directory of git, so
// that a crash loses nothing on a machine that keeps its disk. On one that does
// not, the leases of the claimed notices end, and the next runner gets these
// notices as in flight.
type Git struct {
	name   string
	ref    *gitcmd.Ref
	dir    string // of the local files
	warn   func(string)
	runner string
	ended  func(runner string) bool
	// previous are the runners that used the local files and did not close them.
	// Their journal has been read.
	previous []string
	lease    time.Duration
	now      func() time.Time

	local      *File
	readOnly   bool
	acceptLoss bool

	mu       sync.Mutex // one exchange with the remote at a time
	seen     *records   // its content
	isNew    bool
	pushed   time.Time
	lost     error       // a *LostError, or nil
	warnings []Warning   // about what was fetched
	dirty    atomic.Bool // there are outcomes that were not pushed

	// untold are the notices that were begun without their outcome being pushed, and
	// whether the journal has it. Begin waits while there are maxUntold; changed says when
	// to look again.
	counting sync.Mutex
	changed  *sync.Cond
	untold   map[Key]bool
	pushing  bool // Begin pushes

	stop    chan struct{} // ends pushPeriodically
	stopped chan struct{}
}

// GitOptions configure [OpenGit].
type GitOptions struct {
	// Dir is a directory in the clone, and Env the environment of git.
	Dir string
	Env []string
	// Runner identifies this run. It must be unique among all runners.
	Runner string
	// Ended, if not nil, reports whether the runner with that name has ended for
	// certain. Its claims are taken over at once.
	Ended    func(runner string) bool
	ReadOnly bool         // as in [FileOptions]
	Warn     func(string) // as in [FileOptions]
	// Lease is how long other runners do not touch the notices that this runner
	// has claimed, if it dies: 15 min. While it lives, it renews the lease.
	Lease time.Duration
	// AcceptLoss opens a ledger for writing that has lost rows.
	AcceptLoss bool
}

const (
	gitFile  = "ledger.jsonl"
	gitTries = 20
	// pushEvery is the maximum time before an outcome is pushed.
	pushEvery = 30 * time.Second
	// maxUntold is the maximum number of notices that are sent again if a runner is lost with its disk.
	maxUntold = 20
)

// OpenGit opens the ledger git:REF or git:REMOTE:REF. The default remote is
// origin. OpenGit fetches the ref and merges outcomes that an earlier run could
// not push.
func OpenGit(ctx context.Context, name string, opt GitOptions) (*Git, error) {
	g := &Git{
		name: name, warn: opt.Warn, runner: opt.Runner, seen: newRecords(),
		lease: opt.Lease, now: time.Now, readOnly: opt.ReadOnly, acceptLoss: opt.AcceptLoss || opt.ReadOnly, untold: map[Key]bool{},
	}
	g.changed = sync.NewCond(&g.counting)
	if g.ended = opt.Ended; g.ended == nil {
		g.ended = func(string) bool { return false }
	}
	if g.warn == nil {
		g.warn = func(string) {}
	}
	if g.lease <= 0 {
		g.lease = 15 * time.Minute
	}
	command := gitcmd.Command{Dir: opt.Dir, Env: opt.Env, Limit: 1 << 30, Foreground: true}
	var err error
	if g.ref, g.dir, err = gitcmd.OpenRef(ctx, command, name, "ledger", gitFile); err != nil {
		return nil, g.fail("open", err)
	}
	if g.local, err = OpenFile(filepath.Join(g.dir, gitFile), FileOptions{ReadOnly: opt.ReadOnly, Warn: opt.Warn, AcceptLoss: opt.AcceptLoss}); err != nil {
		return nil, err
	}
	if err := g.mergeLocal(ctx); err != nil {
		g.local.Close()
		return nil, err
	}
	if !g.readOnly {
		if err := g.addRunner(); err != nil {
			g.local.Close()
			return nil, err
		}
		g.stop, g.stopped = make(chan struct{}), make(chan struct{})
		go g.pushPeriodically()
	}
	return g, nil
}

// mergeLocal merges the local file and the remote.
func (g *Git) mergeLocal(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	before, err := system.Read(g.baseFile(), 1<<20)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return g.fail("open", err)
	}
	base := newRecords()
	if oid := strings.TrimSpace(string(before)); oid != "" {
		// If the clone is new, or the ref was removed, there is no common state, and the
		// rows of both sides are kept.
		if text, err := g.ref.At(ctx, oid); err == nil {
			if old, err := g.parse(text); err == nil {
				base = old
			}
		}
	}
	if _, err := g.fetch(ctx); err != nil {
		return err
	}
	merged := merge3(base, g.local.records, g.seen)
	g.isNew = merged.base == ""
	g.dirty.Store(recordsText(merged) != recordsText(g.seen))
	if g.readOnly {
		g.local.records = merged
		return nil
	}
	return g.updateLocal(base, g.seen)
}

// runnersFile has the names of the runners that used the local files and did not
// close them, one per line.
func (g *Git) runnersFile() string { return filepath.Join(g.dir, "runners") }

// addRunner reads the names of previous runners and adds that of this one. The
// local files are locked, so the previous ones have ended.
func (g *Git) addRunner() error {
	text, err := system.Read(g.runnersFile(), 1<<20)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return g.fail("open", err)
	}
	g.previous = strings.Split(strings.TrimSpace(string(text)), "\n")
	if err := system.WriteFile(g.runnersFile(), append(text, g.runner+"\n"...), 0o644); err != nil {
		return g.fail("open", err)
	}
	return nil
}

func (g *Git) baseFile() string { return filepath.Join(g.dir, "base") }

func (g *Git) fail(what string, err error) error {
	return fmt.Errorf("%s ledger %s: %w", what, g.name, system.Cause(err))
}

// fetch fetches the state of the remote, and reports whether it has changed. g.mu is held.
func (g *Git) fetch(ctx context.Context) (changed bool, err error) {
	text, changed, err := g.ref.Fetch(ctx)
	switch {
	case err != nil:
		return false, g.fail("read", err)
	case changed && text == "":
		g.seen = newRecords()
	case changed:
		seen, err := g.parse(text)
		if err != nil {
			return false, err
		}
		g.seen = seen
	}
	return changed, nil
}

// parse reads the ledger of a commit.
func (g *Git) parse(text string) (*records, error) {
	p, err := parse(g.name, text)
	if err != nil {
		return nil, err
	}
	p.clampTimes(g.name, g.now())
	g.lost = nil
	if missing := p.missing(); len(missing) > 0 {
		g.lost = &LostError{g.name, missing}
		if !g.acceptLoss {
			return nil, g.lost
		}
		g.warn(g.lost.Error())
	}
	g.warnings = append(g.warnings, p.warnings...)
	for _, w := range p.warnings {
		g.warn(w.String())
	}
	if len(p.damaged) > 0 {
		if err := system.MakeState(g.dir); err != nil {
			return nil, g.fail("read", err)
		}
		if err := saveDamaged(system.OS, filepath.Join(g.dir, "ledger.damaged"), p.damaged); err != nil {
			return nil, err
		}
	}
	return p.records, nil
}

// updateLocal merges next, which was made from base, into the local file, which
// may have new entries since base was taken.
func (g *Git) updateLocal(base, next *records) error {
	if err := g.local.update(func(local *records) *records { return merge3(base, local, next) }); err != nil {
		return err
	}
	// The next run merges with this commit.
	if err := os.WriteFile(g.baseFile(), []byte(g.ref.Commit+"\n"), 0o644); err != nil {
		return g.fail("write", err)
	}
	return nil
}

// exchange applies change to the local records, pushes the result and makes it
// the local state. change is called once per try, with a copy that it may change.
// If it returns false, nothing is pushed.
func (g *Git) exchange(ctx context.Context, change func(*records) bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for range gitTries {
		g.dirty.Store(false)
		told := g.recorded()
		before := g.local.copyRecords()
		next := before.clone()
		wanted := change(next)
		if !wanted || recordsText(next) == recordsText(g.seen) {
			g.pushed = g.now()
			if wanted {
				g.forget(told...)
			}
			return g.updateLocal(before, next)
		}
		pushErr := g.ref.Push(ctx, recordsText(next), "sitelink: ledger of "+next.base)
		if pushErr == nil {
			g.seen, g.pushed = next, g.now()
			g.forget(told...)
			return g.updateLocal(before, next)
		}
		g.dirty.Store(true)
		// Whatever git's message is: if the ref has changed, another runner was
		// faster.
		base := g.seen
		if changed, err := g.fetch(ctx); err != nil {
			return errors.Join(g.fail("write", pushErr), err)
		} else if !changed {
			return g.fail("write", pushErr)
		}
		if err := g.updateLocal(base, g.seen); err != nil {
			return err
		}
	}
	return g.fail("write", fmt.Errorf("other runners changed it first, %d times in a row", gitTries))
}

// recorded returns the untold notices that have their outcome in the journal.
func (g *Git) recorded() (keys []Key) {
	g.counting.Lock()
	defer g.counting.Unlock()
	for k, done := range g.untold {
		if done {
			keys = append(keys, k)
		}
	}
	return keys
}

// forget removes notices from those that are untold.
func (g *Git) forget(keys ...Key) {
	g.counting.Lock()
	defer g.counting.Unlock()
	for _, k := range keys {
		delete(g.untold, k)
	}
	g.changed.Broadcast()
}

func recordsText(b *records) string {
	var s strings.Builder
	b.write(&s) // a strings.Builder never fails
	return s.String()
}
