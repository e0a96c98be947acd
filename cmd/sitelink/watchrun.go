package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
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
	// site is the last version that was checked, nil when it has to be loaded.
	// findings are what the reader knows of.
	site     *site.Site
	memo     *check.Memo
	findings []check.Finding
	// checked: at least one check worked.
	checked bool
	// pending are the changed paths that no check has seen yet; anything is set
	// when any file, or the configuration, may have changed.
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

// round checks what is pending and prints the outcome. If the check fails, for
// example because the docroot is missing while a generator replaces it, the
// changes stay pending for the next round. The error is that of ctx or of the
// output, or says that the first check did not work.
func (w *watching) round(ctx context.Context) error {
	if err := w.out.begin(); err != nil {
		return err
	}
	timer := newTimer(w.ui)
	n, err := w.check(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
		w.pending, w.anything, w.checked = w.pending[:0], false, true
		err = w.print(ctx, n)
		timer.stage("watch")
		return err
	case !w.checked && !errors.Is(err, site.ErrNoPages):
		return explain(err)
	}
	w.anything = true
	return w.out.failed(err)
}

// watchedCheck is the outcome of one check.
type watchedCheck struct {
	check.Difference
	// errors and warnings count the findings that are left, all lists them.
	errors, warnings int
	all              []check.Finding
}

// print prints what a check found, at positions in the sources where they are
// known.
func (w *watching) print(ctx context.Context, c *watchedCheck) error {
	list := c.New
	if w.out.all {
		list = c.all
	}
	list, err := w.places(ctx, list)
	if err != nil {
		return err
	}
	fixed := w.sources.forget(c.Fixed)
	if !w.out.all {
		w.sources.tell(list)
	}
	return w.out.end(c, fixed, list)
}

// check loads the site, or updates it, checks it, and compares the findings
// with those of the last check.
func (w *watching) check(ctx context.Context) (*watchedCheck, error) {
	w.progress = newProgress(w.ui, w.cfg.Progress, time.Now)
	defer w.progress.done()
	s, err := w.load(ctx)
	if err != nil {
		return nil, err
	}
	opt := checkOptions(w.cfg)
	opt.Memo = w.memo
	r, err := check.Run(ctx, handle(s), opt)
	if err != nil {
		return nil, err
	}
	w.accepted.apply(r)
	w.site = s
	w.hintServer(s)
	c := &watchedCheck{Difference: check.Compare(w.findings, r.Findings), all: r.Findings}
	for i := range r.Findings {
		if r.Findings[i].Verdict == check.Error {
			c.errors++
		} else {
			c.warnings++
		}
	}
	w.findings = r.Findings
	return c, nil
}

// load returns the site as it is now: a new version of the last one, or, when
// anything may have changed, loaded with the configuration as it is now. The
// last version is dropped first, so that there is memory for the next one.
func (w *watching) load(ctx context.Context) (*site.Site, error) {
	last := w.site
	w.site = nil
	if last != nil && !w.anything {
		slices.Sort(w.pending)
		return last.Update(ctx, slices.Compact(w.pending))
	}
	w.memo = &check.Memo{}
	w.reconfigure(ctx)
	opt := w.siteOf(w.cfg, w.docroot)
	opt.Progress = func(done, total int) { w.progress.pages(done, total) } // updates call it too
	return loadSite(ctx, w.docroot, opt)
}

// reconfigure reads the configuration again, unless this is the first check. A
// broken one is told, and the old one stays.
func (w *watching) reconfigure(ctx context.Context) {
	if !w.checked {
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
