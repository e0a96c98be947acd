package ledger

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sitelink/sitelink/internal/disk"
)

// Git is the [Store] in a ref of a remote repository: a commit whose tree holds
// one file, the ledger. A push replaces it only if it still is what this runner
// saw; if another was faster, both states are merged and the push is tried
// again. So runners that keep nothing between two deploys share one ledger.
//
// What was not pushed yet lies in a [File] in the directory of git, so that a
// crash on a machine that keeps it loses nothing. On one that does not, the
// lease of what was claimed ends, and the next runner knows these notices to
// have been in flight.
type Git struct {
	name, remote, ref string
	repo              *repository
	dir               string // of the local files
	note              func(string)
	runner            string
	lease             time.Duration
	now               func() time.Time

	local    *File
	readOnly bool

	mu     sync.Mutex // one exchange with the remote at a time
	oid    string     // of the remote, as last seen; "" for none
	seen   *book      // what it held
	isNew  bool
	pushed time.Time
	faults []Fault     // of what was fetched
	dirty  atomic.Bool // there are outcomes that were not pushed

	stop    chan struct{} // ends the goroutine that pushes from time to time
	stopped chan struct{}
}

// GitOptions are those of [OpenGit].
type GitOptions struct {
	// Dir is in the clone, Env the environment of git.
	Dir string
	Env []string
	// Runner names this run, for others: unique among all runners.
	Runner   string
	ReadOnly bool
	Note     func(string)
	// Lease is how long others leave alone what this runner claimed, should it
	// die: 15 min. While it lives, it renews that.
	Lease time.Duration
}

const (
	gitFile  = "ledger.jsonl"
	gitTries = 20
	// pushEvery is how long an outcome may wait for the next push.
	pushEvery = 30 * time.Second
)

// OpenGit opens the ledger git:REF or git:REMOTE:REF; the remote is origin when
// none is named. It fetches the ref, and merges what an earlier run left
// behind.
func OpenGit(ctx context.Context, name string, opt GitOptions) (*Git, error) {
	remote, ref, err := parseGitName(name)
	if err != nil {
		return nil, err
	}
	g := &Git{
		name: name, remote: remote, ref: ref, repo: &repository{opt.Dir, opt.Env}, note: opt.Note, runner: opt.Runner,
		lease: opt.Lease, now: time.Now, readOnly: opt.ReadOnly,
	}
	if g.note == nil {
		g.note = func(string) {}
	}
	if g.lease <= 0 {
		g.lease = 15 * time.Minute
	}
	common, err := g.repo.run(ctx, nil, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return nil, g.fail("open", err)
	}
	sum := fnv.New64a()
	sum.Write([]byte(remote + "\n" + ref))
	g.dir = filepath.Join(common, "sitelink", "ledger-"+hex.EncodeToString(sum.Sum(nil)))
	if g.local, err = OpenFile(filepath.Join(g.dir, gitFile), FileOptions{ReadOnly: opt.ReadOnly, Note: opt.Note}); err != nil {
		return nil, err
	}
	if err := g.begin(ctx); err != nil {
		g.local.Close()
		return nil, err
	}
	if !g.readOnly {
		g.stop, g.stopped = make(chan struct{}), make(chan struct{})
		go g.pushing()
	}
	return g, nil
}

// begin brings the local file and the remote together.
func (g *Git) begin(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	before, err := os.ReadFile(g.baseFile())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return g.fail("open", err)
	}
	base := newBook()
	if oid := strings.TrimSpace(string(before)); oid != "" {
		if base, err = g.bookAt(ctx, oid); err != nil {
			// A clone that was made anew, or a ref that was removed: without
			// a common state both sides count.
			base = newBook()
		}
	}
	if err := g.fetch(ctx); err != nil {
		return err
	}
	merged := merge3(base, g.local.book, g.seen)
	g.isNew = merged.base == ""
	g.dirty.Store(textOfBook(merged) != textOfBook(g.seen))
	if g.readOnly {
		g.local.book = merged
		return nil
	}
	return g.adopt(base, g.seen)
}

func (g *Git) baseFile() string { return filepath.Join(g.dir, "base") }

func (g *Git) fail(what string, err error) error {
	return fmt.Errorf("%s ledger %s: %w", what, g.name, disk.Cause(err))
}

// kept is the local ref that keeps what was fetched from being cleaned away.
func (g *Git) kept() string { return "refs/sitelink-fetched/" + filepath.Base(g.dir) }

// fetch gets the remote's state. g.mu is held.
func (g *Git) fetch(ctx context.Context) error {
	out, err := g.repo.run(ctx, nil, "ls-remote", g.remote, g.ref)
	if err != nil {
		return g.fail("read", err)
	}
	oid := ""
	for line := range strings.Lines(out) {
		if id, ref, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && ref == g.ref {
			oid = id
		}
	}
	if oid == "" {
		g.oid, g.seen = "", newBook()
		return nil
	}
	if oid == g.oid {
		return nil
	}
	if _, err := g.repo.run(ctx, nil, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", g.remote, "+"+g.ref+":"+g.kept()); err != nil {
		return g.fail("read", err)
	}
	if oid, err = g.repo.run(ctx, nil, "rev-parse", "--verify", g.kept()+"^{commit}"); err != nil {
		return g.fail("read", err)
	}
	seen, err := g.bookAt(ctx, oid)
	if err != nil {
		return err
	}
	g.oid, g.seen = oid, seen
	return nil
}

// bookAt reads the ledger of a commit.
func (g *Git) bookAt(ctx context.Context, oid string) (*book, error) {
	text, err := g.repo.run(ctx, nil, "cat-file", "blob", oid+":"+gitFile)
	if err != nil {
		return nil, g.fail("read", err)
	}
	p, err := parse(g.name, text+"\n") // run has cut the last line end
	if err != nil {
		return nil, err
	}
	g.faults = append(g.faults, p.faults...)
	for _, f := range p.faults {
		g.note(f.String())
	}
	if len(p.damaged) > 0 {
		if err := makeDirectory(g.dir); err != nil {
			return nil, g.fail("read", err)
		}
		if err := keepAside(filepath.Join(g.dir, "ledger.damaged"), p.damaged); err != nil {
			return nil, err
		}
	}
	return p.book, nil
}

// adopt merges next, which came from base, into the local file: entries may
// have come there since base was taken.
func (g *Git) adopt(base, next *book) error {
	if err := g.local.adopt(func(local *book) *book { return merge3(base, local, next) }); err != nil {
		return err
	}
	return g.rememberBase()
}

func (g *Git) rememberBase() error {
	if err := os.WriteFile(g.baseFile(), []byte(g.oid+"\n"), 0o644); err != nil {
		return g.fail("write", err)
	}
	return nil
}

// exchange brings the local book, changed by change, to the remote, and makes it
// the local one. change is called for each try with a copy that it may change;
// when it returns false, nothing is pushed.
func (g *Git) exchange(ctx context.Context, change func(*book) bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for range gitTries {
		g.dirty.Store(false)
		before := g.local.copyBook()
		next := before.clone()
		wanted := change(next)
		if !wanted || textOfBook(next) == textOfBook(g.seen) {
			g.pushed = g.now()
			return g.adopt(before, next)
		}
		oid, err := g.commit(ctx, next)
		if err != nil {
			return g.fail("write", err)
		}
		_, pushErr := g.repo.run(ctx, nil, "push", "--quiet", "--no-verify", "--force-with-lease="+g.ref+":"+g.oid, g.remote, oid+":"+g.ref)
		if pushErr == nil {
			if _, err := g.repo.run(ctx, nil, "update-ref", g.kept(), oid); err != nil {
				return g.fail("write", err)
			}
			g.oid, g.seen, g.pushed = oid, next, g.now()
			return g.adopt(before, next)
		}
		g.dirty.Store(true)
		// Whatever git calls it: if the ref is another now, somebody was faster.
		was, base := g.oid, g.seen
		if err := g.fetch(ctx); err != nil {
			return errors.Join(g.fail("write", pushErr), err)
		}
		if g.oid == was {
			return g.fail("write", pushErr)
		}
		if err := g.adopt(base, g.seen); err != nil {
			return err
		}
	}
	return g.fail("write", fmt.Errorf("other runners were faster %d times", gitTries))
}

// commit makes a commit of a book and returns its name.
func (g *Git) commit(ctx context.Context, b *book) (string, error) {
	blob, err := g.repo.run(ctx, []byte(textOfBook(b)), "hash-object", "-w", "--stdin")
	if err != nil {
		return "", err
	}
	tree, err := g.repo.run(ctx, []byte("100644 blob "+blob+"\t"+gitFile+"\n"), "mktree")
	if err != nil {
		return "", err
	}
	args := []string{"-c", "user.name=sitelink", "-c", "user.email=sitelink@localhost", "commit-tree", tree, "-m", "sitelink: ledger of " + b.base}
	if g.oid != "" {
		args = append(args, "-p", g.oid)
	}
	return g.repo.run(ctx, nil, args...)
}

func textOfBook(b *book) string {
	var s strings.Builder
	b.write(&s) // a strings.Builder has no error
	return s.String()
}
