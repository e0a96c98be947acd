package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/watch"
)

// watcher is one run of sitelink watch.
type watcher struct {
	*cli
	flags     watchFlags
	configure func() (*config.Config, error)
	project   *project.Project
	// audit is the last version of the site that was checked, nil when it has to
	// be loaded. findings are those that the reader knows.
	audit    *audit.Audit
	findings []check.Finding
	// checked is set after the first check that worked.
	checked bool
	// pending are the changed paths that no check has seen yet; reload is set when
	// any file, or the configuration, may have changed.
	pending []string
	reload  bool
	out     *watchPrinter
	sources watchSources
	// progress is drawn while a check reads; nil draws nothing.
	progress *progress
}

// runWatch does the work of `sitelink watch`. It ends when ctx does, or with an
// error that another attempt would not repair.
func runWatch(ctx context.Context, c *cli, cfg *config.Config, flags watchFlags, configure func() (*config.Config, error)) error {
	p, err := c.find(ctx, cfg)
	if err != nil {
		return err
	}
	w := &watcher{cli: c, flags: flags, configure: configure, project: p, reload: true, out: newWatchPrinter(c, p, flags)}
	// Watched before it is read, so that no change is missed.
	files, err := watch.Open(p.Docroot, watch.Options{Quiet: flags.quiet, Poll: flags.poll, Lock: audit.BuildLock(p), Also: w.watchedFiles()})
	if err != nil {
		return err
	}
	defer files.Close()
	polls := files.Polls()
	w.warnPolling(polls)
	for {
		if err := w.round(ctx); errors.Is(err, errReaderGone) {
			return nil
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
		w.reload = w.reload || b.All
		w.pending = append(w.pending, b.Paths...)
	}
}

// warnPolling says why there are no events, and what helps; nil is no reason.
func (w *watcher) warnPolling(err error) {
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

// watchedFiles are the files outside the docroot that decide what is found.
func (w *watcher) watchedFiles() []string {
	var files []string
	dirs, _ := w.project.SourceDirs()
	for _, dir := range dirs {
		names := []string{"netlify.toml", "vercel.json", "firebase.json", "sitelink.toml", ".sitelink.toml"}
		if p, ok := generator.Detect(dir); ok {
			names = append(names, p.Configs...)
		}
		for _, name := range names {
			files = append(files, filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	for _, name := range []string{w.flags.config, w.project.Config.Baseline} {
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
func (w *watcher) round(ctx context.Context) error {
	if err := w.out.begin(); err != nil {
		return err
	}
	timer := newTimer(w.ui)
	n, err := w.check(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
		w.pending, w.reload, w.checked = w.pending[:0], false, true
		err = w.print(ctx, n)
		timer.stage("watch")
		return err
	case !w.checked && !errors.Is(err, site.ErrNoPages):
		return err
	}
	w.reload = true
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
func (w *watcher) print(ctx context.Context, c *watchedCheck) error {
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
		w.sources.remember(list)
	}
	return w.out.end(c, fixed, list)
}

// check loads the site, or updates it, checks it, and compares the findings
// with those of the last check.
func (w *watcher) check(ctx context.Context) (*watchedCheck, error) {
	w.progress = newProgress(w.ui, w.project.Config.Progress, time.Now)
	defer w.progress.done()
	run, err := w.load(ctx)
	if err != nil {
		return nil, err
	}
	r, err := run.Check(ctx)
	if err != nil {
		return nil, err
	}
	w.audit = run
	if run.Site.ServerPages() > 0 {
		w.noteOnce(fastRender)
	}
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

// fastRender is a note for users of hugo server.
const fastRender = "hugo server renders only what changed and what was visited lately; " +
	"hugo server --disableFastRender keeps lists, menus and other pages up to date"

// load returns the site as it is now: a new version of the last one, or, when
// anything may have changed, loaded with the configuration as it is now. The last
// version is dropped first, so that there is memory for the next one.
func (w *watcher) load(ctx context.Context) (*audit.Audit, error) {
	last := w.audit
	w.audit = nil
	if last != nil && !w.reload {
		slices.Sort(w.pending)
		return last.Update(ctx, slices.Compact(w.pending))
	}
	if w.checked {
		w.reconfigure(ctx)
	}
	opt := w.auditOptions(nil)
	opt.Baseline, opt.Updates = true, true
	opt.Progress = func(done, total int) { w.progress.pages(done, total) } // updates call it too
	opt.Warn = w.sources.warnOnce(w.ui.warning)
	return w.open(ctx, w.project, opt)
}

// reconfigure reads the configuration again. If it is wrong, it says so and
// leaves the old one in place.
func (w *watcher) reconfigure(ctx context.Context) {
	p, err := w.findAgain(ctx)
	if err == nil {
		// A baseline that cannot be read is a fault of the configuration too.
		_, err = audit.OpenBaseline(ctx, p, audit.Options{Today: w.today})
	}
	switch {
	case err == nil:
		w.project = p
		w.printNotes(p)
	case ctx.Err() == nil:
		w.ui.report(err)
		w.ui.note("the configuration stays as it was")
	}
}

// findAgain finds the project with the configuration as it is now. The docroot
// stays the one that is watched.
func (w *watcher) findAgain(ctx context.Context) (*project.Project, error) {
	cfg, err := w.configure()
	if err != nil {
		return nil, err
	}
	p, err := project.Find(ctx, w.project.Dir, project.Options{Config: cfg, Env: os.Environ()})
	if err == nil && p.Docroot != w.project.Docroot {
		p, err = p.WithDocroot(ctx, w.project.Docroot)
	}
	return p, err
}
