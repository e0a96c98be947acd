package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/watch"
)

// watching is one `sitelink watch` at work.
type watching struct {
	*app
	flags     watchFlags
	cfg       *config.Config
	configure func() (*config.Config, error)
	docroot   string
	accepted  *acceptance
	// site and follower are brought up to date together; the follower knows what
	// was told.
	site     *site.Site
	follower *check.Follower
	// applied is what was accepted when the reader was last told, of which the
	// follower knows nothing; taken counts the findings, errors and warnings, that
	// it took.
	applied *acceptance
	taken   struct{ broken, doubtful int }
	// pending are changes that no check has seen; anything that everything may
	// have changed.
	pending  []string
	anything bool
	out      *watchPrinter
	sources  watchPlaces
	// progress is drawn while a check reads; nil draws nothing.
	progress *progress
}

// watch does the work of `sitelink watch`. It ends when ctx does, or with an
// error that trying again would not mend.
func (a *app) watch(ctx context.Context, cfg *config.Config, flags watchFlags, configure func() (*config.Config, error)) error {
	docroot := a.docroot(cfg.Docroot)
	if err := lookAt(docroot); err != nil {
		return err
	}
	w := &watching{app: a, flags: flags, cfg: cfg, configure: configure, docroot: docroot, anything: true, out: a.watchPrinter(cfg, flags, docroot)}
	// Watched before it is read: what changes meanwhile is told afterwards.
	files, err := watch.Open(docroot, watch.Options{Quiet: flags.quiet, Poll: flags.poll, Lock: buildLock(docroot), Also: w.watchedFiles()})
	if err != nil {
		return err
	}
	defer files.Close()
	polls := files.Polls()
	w.warnPolling(polls)
	if w.accepted, err = a.acceptance(ctx, cfg); err != nil {
		return err
	}
	for {
		if err := w.round(ctx); errors.Is(err, errReaderGone) {
			return nil // and nobody is left to tell
		} else if err != nil {
			return err
		}
		b, err := files.Next(ctx)
		if err != nil {
			return err
		}
		if polls == nil {
			polls = files.Polls()
			w.warnPolling(polls)
		}
		w.anything = w.anything || b.All
		w.pending = append(w.pending, b.Paths...)
	}
}

// warnPolling says why there are no events, and what helps; nil is no reason.
func (w *watching) warnPolling(err error) {
	if err == nil {
		return
	}
	w.ui.warning(fmt.Sprintf("%v: the files are listed every %v instead", err, watch.DefaultPoll))
	switch {
	case errors.Is(err, syscall.ENOSPC):
		w.ui.line("hint: the system's limit of watched directories is reached; sudo sysctl fs.inotify.max_user_watches=524288 raises it")
	case errors.Is(err, syscall.EMFILE):
		w.ui.line("hint: the system's limit of watchers is reached; sudo sysctl fs.inotify.max_user_instances=1024 raises it")
	}
}

// buildLock is the lock that Hugo holds in the project while it builds.
func buildLock(docroot string) string {
	dirs := projectDirs(docroot)
	if len(dirs) == 0 {
		return ""
	}
	for _, dir := range dirs {
		if p, ok := generator.Detect(dir); ok {
			if p.Generator != generator.Hugo {
				return ""
			}
			return filepath.Join(dir, ".hugo_build.lock")
		}
	}
	return filepath.Join(dirs[0], ".hugo_build.lock")
}

// watchedFiles are the files outside the docroot that decide what is found.
func (w *watching) watchedFiles() []string {
	var files []string
	for _, dir := range projectDirs(w.docroot) {
		names := []string{"netlify.toml", "vercel.json", "firebase.json", "sitelink.toml", ".sitelink.toml"}
		if p, ok := generator.Detect(dir); ok {
			names = append(names, p.Configs...)
		}
		for _, name := range names {
			files = append(files, filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	for _, name := range []string{w.flags.config, w.cfg.Baseline} {
		if name != "" {
			files = append(files, name)
		}
	}
	return files
}

// round checks what is pending and prints the outcome. What cannot be checked
// now, since somebody writes it, stays pending. The error is that of ctx or of
// the output, or says that the first check did not work.
func (w *watching) round(ctx context.Context) error {
	if err := w.out.begin(); err != nil {
		return err
	}
	timer := newTimer(w.ui)
	n, err := w.look(ctx)
	// Only another listing helps when a page goes each time it is read.
	for try := 0; errors.Is(err, site.ErrMoving); try++ {
		if err := pause(ctx, w.flags.quiet); err != nil {
			return err
		}
		w.anything = w.anything || try >= 2
		n, err = w.look(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
		w.pending, w.anything = w.pending[:0], false
		err = w.tell(ctx, n)
		timer.stage("watch")
		if n.anew {
			limitGC(gcEditing)
			runtime.GC() // now, while nobody waits, and not in the middle of the next check
		}
		return err
	case w.follower == nil && !errors.Is(err, site.ErrNoPages):
		return explain(err)
	}
	w.anything = true
	return w.out.failed(err)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// news is what a look at the docroot brought.
type news struct {
	check.Difference
	// broken and doubtful count what is left, errors and warnings; all lists it,
	// and is set only where it is wanted.
	broken, doubtful int
	all              []check.Finding
	// anew: the site was loaded, or what is known of it was renumbered.
	anew bool
}

// tell prints what a check found, by the places in the sources where they are
// known.
func (w *watching) tell(ctx context.Context, n *news) error {
	list := n.New
	if w.out.all {
		list = n.all
	}
	list, err := w.places(ctx, list)
	if err != nil {
		return err
	}
	fixed := w.sources.forget(n.Fixed)
	if !w.out.all {
		w.sources.tell(list)
	}
	return w.out.end(n, fixed, list)
}

// look brings the site and its findings up to date.
func (w *watching) look(ctx context.Context) (*news, error) {
	w.progress = newProgress(w.ui, w.cfg.Progress, time.Now)
	defer w.progress.done()
	if w.anything || w.follower == nil {
		return w.load(ctx)
	}
	slices.Sort(w.pending)
	s, change, err := w.site.Update(ctx, slices.Compact(w.pending))
	if err != nil {
		return nil, err
	}
	w.site = s // and the old one may go
	d, err := w.follower.Update(ctx, s, change)
	if err != nil {
		w.anything = true // the follower knows less than the site
		return nil, err
	}
	n := &news{Difference: d, anew: change.Renumbered}
	if w.applied != nil {
		broken, doubtful := 0, 0
		n.Difference, broken, doubtful = d.Without(w.applied.accepts)
		w.taken.broken += broken
		w.taken.doubtful += doubtful
	}
	w.count(n)
	return n, nil
}

// load reads the configuration and the whole docroot.
func (w *watching) load(ctx context.Context) (*news, error) {
	limitGC(gcLoading)
	w.reconfigure(ctx)
	opt := w.siteOf(w.cfg, w.docroot)
	opt.Progress = func(done, total int) { w.progress.pages(done, total) } // updates call it too
	s, err := loadSite(ctx, w.docroot, opt)
	if err != nil {
		return nil, err
	}
	first := w.follower == nil
	if first {
		w.follower = &check.Follower{}
	}
	accepts := w.applied != nil || w.accepted != nil
	var before []check.Finding
	if accepts {
		before = w.visible()
	}
	d, err := w.follower.Renew(ctx, s, checkOptions(w.cfg))
	if err != nil {
		if first {
			w.follower = nil
		}
		return nil, err
	}
	w.site, w.applied = s, w.accepted
	w.hintServer(s)
	n := &news{Difference: d, anew: true}
	w.taken.broken, w.taken.doubtful = 0, 0
	if accepts {
		left := w.visible()
		n.Difference = check.Compare(before, left)
		w.taken.broken, w.taken.doubtful = w.follower.Counts()
		for i := range left {
			if left[i].Verdict == check.Error {
				w.taken.broken--
			} else {
				w.taken.doubtful--
			}
		}
	}
	w.count(n)
	return n, nil
}

// visible are the findings without those that are accepted: what the reader was
// told of.
func (w *watching) visible() []check.Finding {
	if w.applied == nil {
		return w.follower.Findings()
	}
	r := w.follower.Result()
	r.Findings = slices.Clone(r.Findings) // the follower keeps them
	w.applied.apply(r)
	return r.Findings
}

// count says what is left, and lists it where that is wanted.
func (w *watching) count(n *news) {
	n.broken, n.doubtful = w.follower.Counts()
	n.broken -= w.taken.broken
	n.doubtful -= w.taken.doubtful
	if w.out.all {
		n.all = w.visible()
	}
}

// reconfigure reads the configuration again, unless this is the first check. A
// broken one is told, and the old one stays.
func (w *watching) reconfigure(ctx context.Context) {
	if w.follower == nil {
		return
	}
	w.projects = nil // its configuration may be what changed
	cfg, err := w.configure()
	if err == nil {
		var accepted *acceptance
		if accepted, err = w.acceptance(ctx, cfg); err == nil {
			w.cfg, w.accepted = cfg, accepted
			return
		}
	}
	if ctx.Err() == nil {
		w.ui.report(err)
		w.ui.note("the configuration stays as it was")
	}
}
