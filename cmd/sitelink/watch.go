package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// watchFlags are the flags that only watch has.
type watchFlags struct {
	format      string
	all, build  bool
	delay, poll time.Duration
	args        []string // of the generator
}

func watchCommand(c *cli) *cobra.Command {
	var f watchFlags
	cmd := &cobra.Command{
		Use: "watch [DIR | --build [-- GENERATOR-ARGS]]",
		Args: func(cmd *cobra.Command, args []string) error {
			own, forGenerator := cutAtDash(cmd, args)
			if err := refuseBuildArgs("watch", f.build, own, forGenerator); err != nil {
				return err
			}
			return oneDirectory(cmd, own)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			args, f.args = cutAtDash(cmd, args)
			if f.build && !cmd.Flags().Changed("delay") {
				f.delay = saveDelay
			}
			if err := f.check(); err != nil {
				return err
			}
			if f.build && cmd.Flags().Changed("docroot") {
				return errBuildDocroot
			}
			configure := func() (*config.Config, error) { return c.configure(cmd, args) }
			cfg, err := configure()
			if err != nil {
				return err
			}
			return runWatch(cmd.Context(), c, cfg, f, configure)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.build, "build", false, "build the site when a source changes; this runs what the project names")
	addWordFlag(cmd, &f.format, "format", "print the output as `FORMAT`: text or jsonl", "text", "jsonl")
	flags.BoolVar(&f.all, "all", false, "print all findings after each check, not only new and fixed ones")
	flags.DurationVar(&f.delay, "delay", 200*time.Millisecond, "wait until no file has changed for `TIME` before checking")
	flags.DurationVar(&f.poll, "poll", 0, "list the files every `TIME` instead of waiting for events, for network file systems; 0 turns this off")
	addConfigFlag(cmd)
	addKeyFlags(cmd, "format", "output", "show", "group-by", "all", "fail-on")
	return cmd
}

// check refuses values out of range.
func (f *watchFlags) check() error {
	const shortest, longest = 10 * time.Millisecond, time.Minute
	if f.delay < shortest || f.delay > longest {
		return text.Usage(fmt.Sprintf("--delay: must be a time from %v to %v, not %v", shortest, longest, f.delay), "")
	}
	if f.poll != 0 && (f.poll < shortest || f.poll > time.Hour) {
		return text.Usage(fmt.Sprintf("--poll: must be 0 or a time from %v to %v, not %v", shortest, time.Hour, f.poll), "")
	}
	return nil
}

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
	// checked is set after the first check that worked. found is set while the
	// project is known to be what is there now.
	checked, found bool
	// changing is set while files change all the time, and that was printed.
	changing bool
	// pending are the changed paths that no check has seen yet; reload is set when
	// any file, or the configuration, may have changed.
	pending []string
	reload  bool
	out     *watchPrinter
	sources watchSources
	// mu guards all of this from the goroutine that tells of newer sources.
	mu sync.Mutex
	// progress is drawn while a check reads; nil draws nothing.
	progress *progress
}

// runWatch does the work of `sitelink watch`. It ends when ctx does, or with an
// error that another attempt would not repair.
func runWatch(ctx context.Context, c *cli, cfg *config.Config, flags watchFlags, configure func() (*config.Config, error)) error {
	p, err := c.findRoot(ctx, cfg)
	if err != nil {
		return err
	}
	// The generator writes its own docroot, not what an earlier check --build made.
	if g := p.Generator; g != nil && cfg.Docroot == "" && g.Docroot != p.Abs(p.Docroot) {
		if _, where := system.Outside(p.Root, g.Docroot); where == "" {
			if p, err = p.WithDocroot(ctx, p.Show(g.Docroot)); err != nil {
				return err
			}
		}
	}
	// What is not built yet is waited for.
	if err := p.CheckDocroot(); err != nil && !flags.build && !notBuilt(err) {
		return err
	}
	w := &watcher{cli: c, flags: flags, configure: configure, project: p, reload: true, found: true, out: newWatchPrinter(c, p, flags)}
	// A watch holds the results of two checks. Collecting garbage when the heap has
	// grown by half keeps its memory below 1.6 times that of a check, not at 1.9.
	if c.env.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
	if flags.build {
		err := w.builds(ctx, cfg)
		if errors.Is(err, errReaderGone) {
			return nil
		}
		return err
	}
	c.printNotes(p)
	// Watched before it is read, so that no change is missed.
	files, err := project.Watch(p.Docroot, project.WatchOptions{
		Quiet: flags.delay, Poll: flags.poll, Lock: audit.BuildLock(p), Also: w.watchedFiles(), Away: w.away,
	})
	if err != nil {
		return err
	}
	defer files.Close()
	polls := files.Polls()
	w.warnPolling(polls)
	if sources := p.Sources(); sources != nil && p.Abs(p.Docroot) == p.Generator.Docroot {
		go w.tellNewer(ctx, sources)
	}
	for {
		b, err := files.Next(ctx)
		w.mu.Lock()
		if err == nil {
			if polls == nil {
				polls = files.Polls()
				w.warnPolling(polls)
			}
			w.reload = w.reload || b.All
			w.pending = append(w.pending, b.Paths...)
			err = w.round(ctx, b.Changing)
		}
		w.mu.Unlock()
		if errors.Is(err, errReaderGone) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// saveDelay is how long a watch that builds waits after a change of a source: an editor
// saves in several steps. builtWithin is how soon a generator that watches the sources
// itself writes a page.
const (
	saveDelay   = 25 * time.Millisecond
	builtWithin = 2 * time.Second
)

// tellNewer prints, once, that a source is newer than the docroot, and what builds it: else a
// watch beside no generator would be silent for ever.
func (w *watcher) tellNewer(ctx context.Context, sources *project.Sources) {
	wake, _ := sources.Watch(ctx, project.WatchOptions{Poll: w.flags.poll})
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(builtWithin):
		}
		w.mu.Lock()
		name := ""
		if w.audit != nil {
			name = audit.NewerSource(w.project, w.audit.Site)
		}
		if name != "" { // a reader that has gone ends the next check
			_ = w.out.waiting(w.project.Docroot, w.project.BuildCommand(w.project.Docroot), w.project.Show(name))
		}
		loaded := w.audit != nil
		w.mu.Unlock()
		if name != "" {
			return
		}
		if !loaded {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		}
	}
}

// builds builds the site whenever a source changes, and checks the result. One build runs at
// a time. A change meanwhile starts another, and only the result of that is printed.
func (w *watcher) builds(ctx context.Context, cfg *config.Config) error {
	sources := w.project.Sources(w.watchedFiles()...)
	if sources == nil {
		return errNoGenerator
	}
	wake, polls := sources.Watch(ctx, project.WatchOptions{Quiet: w.flags.delay, Poll: w.flags.poll})
	w.warnPolling(polls)
	for {
		began := time.Now()
		sources.Changed() // what counts is what changes from now on
		again, err := w.build(ctx, cfg, sources)
		if err != nil {
			return err
		}
		if again > 0 {
			pause := w.flags.delay
			if again > 1 { // the build may write this itself, and surely does if it changes after such a pause
				pause = max(pause, time.Since(began))
			}
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(pause):
			}
		}
		for again == 0 && len(sources.Changed()) == 0 {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-wake:
			}
		}
		if now, err := w.configure(); err == nil {
			cfg = now
		} else {
			w.ui.report(err)
			w.ui.note("keeping the previous configuration")
		}
	}
}

// build builds the site once and prints what its check finds, unless a source changed
// meanwhile. again is in how many builds in succession one did. The findings of a build that
// fails are those of the last one. The error is one that another attempt would not repair.
func (w *watcher) build(ctx context.Context, cfg *config.Config, sources *project.Sources) (again int, err error) {
	b, err := openBuild(ctx, w.cli, cfg, false, w.flags.args)
	var p *project.Project
	if err == nil {
		defer b.Close()
		b.Note = w.noteOnce
		p, err = b.Run(ctx, io.Discard)
	}
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	changed, written, again := sources.Built()
	for _, name := range written {
		w.noteOnce("the build itself writes " + w.project.Show(name) + ": when that changes during a build, no other follows")
	}
	var failed *system.CommandError
	switch {
	case again == 1 && len(changed) > 0: // the next result is newer
		return again, nil
	case err == nil:
		if !w.checked {
			w.printNotes(p)
		}
		w.project, w.reload, w.found, w.out.text.Prefix = p, true, true, p.Docroot
		return again, w.round(ctx, false)
	case !errors.As(err, &failed) && !w.checked:
		return 0, err
	}
	if err := w.out.begin(); err != nil {
		return 0, err
	}
	return again, w.out.failed(err)
}

// notBuilt reports whether an error says that there is no site in a docroot yet.
func notBuilt(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, site.ErrNoPages)
}

// away prints that there is no site, and what makes one. Then it is found again: its
// files may name another host.
func (w *watcher) away() error {
	w.found = false
	command := ""
	if w.project.Generator != nil {
		command = w.project.BuildCommand(w.project.Docroot)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.audit = nil // no source is newer than what is not there
	return w.out.waiting(w.project.Docroot, command, "")
}

// warnPolling prints why the system sends no events, and what helps; nil prints
// nothing.
func (w *watcher) warnPolling(err error) {
	if err == nil {
		return
	}
	w.ui.warning(fmt.Sprintf("%v: checking for changes every %v instead", err, project.DefaultPoll))
	switch {
	case errors.Is(err, syscall.ENOSPC):
		w.ui.line("hint: the system's limit of watched directories is reached; sudo sysctl fs.inotify.max_user_watches=524288 raises it")
	case errors.Is(err, syscall.EMFILE):
		w.ui.line("hint: the system's limit of watchers is reached; sudo sysctl fs.inotify.max_user_instances=1024 raises it")
	}
}

// watchedFiles returns the files outside the docroot that findings depend on.
func (w *watcher) watchedFiles() []string {
	var files []string
	dirs, _ := w.project.SourceDirs()
	for _, dir := range dirs {
		for _, name := range append(slices.Clone(project.RuleFiles), "sitelink.toml", ".sitelink.toml") {
			files = append(files, filepath.Join(dir, name))
		}
	}
	if g := w.project.Generator; g != nil {
		for _, name := range g.Configs {
			files = append(files, filepath.Join(g.Dir, filepath.FromSlash(name)))
		}
	}
	for _, name := range []string{w.project.Config.File, w.project.Config.Baseline} {
		if name != "" {
			files = append(files, name)
		}
	}
	return files
}

// round checks what is pending and prints the outcome. If the check fails, for
// example because the docroot is missing while a generator replaces it, the
// changes stay pending for the next round. changing means that files still change; while
// that lasts, only differences are printed. The error is that of ctx or of the
// output, or that of the first check.
func (w *watcher) round(ctx context.Context, changing bool) error {
	quiet := changing && w.changing
	w.changing = changing
	if !quiet {
		if err := w.out.begin(); err != nil {
			return err
		}
	}
	timer := newTimer(w.ui)
	n, err := w.next(ctx)
	if quiet && ctx.Err() == nil && (err != nil || len(n.New)+len(n.Fixed) > 0) {
		if err := w.out.begin(); err != nil {
			return err
		}
		quiet = false
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
		w.pending, w.reload, w.checked = w.pending[:0], false, true
		if quiet {
			return nil
		}
		n.changing = changing
		err = w.print(ctx, n)
		timer.stage("watch")
		return err
	case !w.checked && !notBuilt(err):
		return err
	}
	w.reload = true
	return w.out.failed(err)
}

// watchedCheck is the outcome of one check.
type watchedCheck struct {
	check.Difference
	// errors and warnings count the current findings; all lists them, and before those
	// of the last check.
	errors, warnings int
	all, before      []check.Finding
	// changing: files changed while they were checked.
	changing bool
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

// next loads the site, or updates it, checks it, and compares the findings
// with those of the last check.
func (w *watcher) next(ctx context.Context) (*watchedCheck, error) {
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
	c := &watchedCheck{Difference: check.Compare(w.findings, r.Findings), all: r.Findings, before: w.findings}
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
const fastRender = "hugo server renders only what changed and what was visited lately: " +
	"hugo server --disableFastRender keeps lists, menus and other pages up to date. It keeps the pages of files that you delete: " +
	"remove the docroot and start it again, or run sitelink check --build"

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
	found := w.found
	w.found = false
	if !found {
		// A configuration that is wrong leaves the old one in place.
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
			w.ui.note("keeping the previous configuration")
		}
	}
	opt := w.auditOptions(nil)
	opt.Baseline = true
	opt.Progress = func(done, total int) { w.progress.pages(done, total) } // updates call it too
	// Warnings about the sources are printed until findings were placed.
	opt.Warn = func(text string) {
		if !w.sources.placed {
			w.ui.warning(text)
		}
	}
	return audit.Open(ctx, w.project, opt)
}

// findAgain finds the project with the configuration as it is now. The docroot
// stays the one that is watched.
func (w *watcher) findAgain(ctx context.Context) (*project.Project, error) {
	cfg, err := w.configure()
	if err != nil {
		return nil, err
	}
	p, err := w.findIn(ctx, w.project.Dir, cfg)
	if err == nil && cfg.Docroot == "" && p.Generator != nil && p.Generator.Docroot != p.Abs(w.project.Docroot) {
		w.noteOnce(fmt.Sprintf("%s builds into %s now, and this watch is about %s: start it again", p.Generator.Title(), p.Show(p.Generator.Docroot), w.project.Docroot))
	}
	if err == nil && p.Docroot != w.project.Docroot {
		p, err = p.WithDocroot(ctx, w.project.Docroot)
	}
	return p, err
}

// The lines before and after the findings of a check. Editors recognise checks by
// them: docs/guide/watch.md promises them.
const (
	watchBegins = "sitelink: check begins"
	watchEnds   = "sitelink: check ends: "
)

// errReaderGone means that the reader has closed the output.
var errReaderGone = errors.New("the reader has gone")

// watchPrinter writes the output of a watch, as text or as JSON lines.
type watchPrinter struct {
	out   stream
	text  report.TextOptions
	base  string // the docroot, relative to the root
	jsonl bool
	all   bool
	buf   []byte
	// commands names the commands of sitelink as the project starts them.
	commands func(text string) string
}

func newWatchPrinter(c *cli, p *project.Project, flags watchFlags) *watchPrinter {
	w := &watchPrinter{out: c.stdout(), jsonl: flags.format == "jsonl", all: flags.all, commands: c.ui.commands, text: textOptions(p), base: p.FromRoot(p.Docroot)}
	w.text.Color, w.text.All = c.colorsReport(p.Config.Color, "-"), flags.all
	return w
}

// waiting prints that the docroot has no site, or that a source is newer, and the command
// that builds it; "" if that is not known.
func (p *watchPrinter) waiting(docroot, command, newer string) error {
	if p.jsonl {
		p.buf = append(report.AppendString(append(p.buf, `{"event":"waiting","docroot":`...), docroot), `,"command":`...)
		p.buf = report.AppendString(p.buf, command)
		if newer != "" {
			p.buf = report.AppendString(append(p.buf, `,"newer":`...), newer)
		}
		p.buf = append(p.buf, '}')
	} else {
		p.buf = append(p.buf, "sitelink: waiting for "+visible(docroot)+" to be built"...)
		if newer != "" {
			p.buf = append(p.buf, ": "+visible(newer)+" is newer"...)
		}
		if command != "" {
			p.buf = append(p.buf, "; run "+visible(command)+", or "+p.commands("sitelink watch --build")+", which builds at each change"...)
		}
	}
	p.buf = append(p.buf, '\n')
	return p.flush()
}

// begin prints that a check begins.
func (p *watchPrinter) begin() error {
	if p.jsonl {
		p.buf = append(p.buf, `{"event":"begin"}`...)
	} else {
		p.buf = append(p.buf, watchBegins...)
	}
	p.buf = append(p.buf, '\n')
	return p.flush()
}

// end prints what a check found: the fixed findings, those in list, and the counts.
func (p *watchPrinter) end(c *watchedCheck, fixed, list []check.Finding) error {
	event := "new"
	if p.all {
		event = "finding"
	} else if err := p.findings("fixed", fixed, c.before); err != nil {
		return err
	}
	if err := p.findings(event, list, c.all); err != nil {
		return err
	}
	if p.jsonl {
		p.buf = fmt.Appendf(p.buf, `{"event":"end","new":%d,"fixed":%d,"errors":%d,"warnings":%d`, len(c.New), len(fixed), c.errors, c.warnings)
		if c.changing {
			p.buf = append(p.buf, `,"changing":true`...)
		}
		p.buf = append(p.buf, '}')
	} else {
		p.buf = fmt.Appendf(p.buf, "%s%s new, %s fixed; %s, %s", watchEnds, thousands(len(c.New)), thousands(len(fixed)),
			count(c.errors, "error"), count(c.warnings, "warning"))
		if c.changing {
			p.buf = append(p.buf, "; files are still changing"...)
		}
	}
	p.buf = append(p.buf, '\n')
	return p.flush()
}

// failed prints that the site cannot be checked now, after the last lines of a generator
// that failed. The next change starts another attempt.
func (p *watchPrinter) failed(err error) error {
	var output []string
	if failed := (*system.CommandError)(nil); errors.As(err, &failed) {
		output = failed.Output
	}
	if p.jsonl {
		p.buf = append(p.buf, `{"event":"failed","message":`...)
		p.buf = report.AppendString(p.buf, err.Error())
		if output != nil {
			p.buf = report.AppendString(append(p.buf, `,"output":`...), strings.Join(output, "\n"))
		}
		p.buf = append(p.buf, '}')
	} else {
		for _, line := range output {
			p.buf = append(p.buf, visible(line)+"\n"...)
		}
		p.buf = append(p.buf, watchEnds+"cannot check now: "+visible(p.commands(err.Error()))...)
	}
	p.buf = append(p.buf, '\n')
	return p.flush()
}

// findings writes findings in parts, since there may be very many: a row for
// each in JSON, an entry for each cause in text. all are the findings of the check
// that found them.
func (p *watchPrinter) findings(event string, fs, all []check.Finding) error {
	if p.jsonl {
		return p.rows(event, fs, all)
	}
	listed, rest := report.Worst(fs, check.Causes(fs), 0, p.text)
	for _, family := range listed {
		if event == "fixed" {
			p.buf = family.AppendFixed(p.buf, fs, p.text)
		} else {
			p.buf = family.Append(p.buf, fs, p.text)
		}
		if err := p.drain(); err != nil {
			return err
		}
	}
	p.buf = report.AppendUnlisted(p.buf, rest, &check.Summary{}) // which knows all findings
	return nil
}

// rows writes findings as JSON lines. all has them too, and decides their fingerprints.
func (p *watchPrinter) rows(event string, fs, all []check.Finding) error {
	type place struct {
		watchedLink
		offset int64
	}
	fingerprints := map[place][]string{}
	for i, id := range check.Fingerprints(all) {
		at := place{linkOf(&all[i]), all[i].Offset}
		fingerprints[at] = append(fingerprints[at], id)
	}
	causes := report.CauseIDs(fs)
	for i := range fs {
		at, id := place{linkOf(&fs[i]), fs[i].Offset}, ""
		if ids := fingerprints[at]; len(ids) > 0 {
			id, fingerprints[at] = ids[0], ids[1:] // equal findings come in the same order
		}
		p.buf = fmt.Appendf(p.buf, `{"event":%q,"fingerprint":%q,"finding":`, event, id)
		p.buf = append(report.AppendFinding(p.buf, &fs[i], p.base, causes[i]), "}\n"...)
		if err := p.drain(); err != nil {
			return err
		}
	}
	return nil
}

// drain flushes a large buffer.
func (p *watchPrinter) drain() error {
	if len(p.buf) < 1<<16 {
		return nil
	}
	return p.flush()
}

// flush writes whole lines, since a program may read them as they come.
func (p *watchPrinter) flush() error {
	_, err := p.out.Write(p.buf)
	p.buf = p.buf[:0]
	switch {
	case err != nil:
		return fmt.Errorf("write %w", err)
	case p.out.gone:
		return errReaderGone
	}
	return nil
}

// watchSources remembers the places that findings were printed with. A fixed
// finding is printed with the place that the reader knows.
type watchSources struct {
	printed map[watchedLink][]*check.Position
	// placed is set when findings were placed once: warnings about the sources are
	// printed only then.
	placed bool
}

// watchedLink identifies findings while they move on their pages.
type watchedLink struct {
	page, raw string
	code      check.Code
}

func linkOf(f *check.Finding) watchedLink { return watchedLink{f.Page, f.Raw, f.Code} }

// places returns the findings with their places in the author's sources as they
// are now. A finding that cannot be placed is named by its page.
func (w *watcher) places(ctx context.Context, fs []check.Finding) ([]check.Finding, error) {
	if len(fs) == 0 {
		return fs, nil
	}
	r := &check.Result{Findings: slices.Clone(fs)} // the next comparison needs fs
	err := w.audit.PlaceFindings(ctx, r)
	w.sources.placed = true
	return r.Findings, err
}

// remember keeps the places of new findings.
func (s *watchSources) remember(fs []check.Finding) {
	for i := range fs {
		if fs[i].Source != nil {
			if s.printed == nil {
				s.printed = map[watchedLink][]*check.Position{}
			}
			key := linkOf(&fs[i])
			s.printed[key] = append(s.printed[key], fs[i].Source)
		}
	}
}

// forget returns fixed findings with the places with which they were printed.
func (s *watchSources) forget(fs []check.Finding) []check.Finding {
	if len(s.printed) == 0 {
		return fs
	}
	fs = slices.Clone(fs)
	for i := range fs {
		key := linkOf(&fs[i])
		if places := s.printed[key]; len(places) > 1 {
			fs[i].Source, s.printed[key] = places[0], places[1:]
		} else if len(places) == 1 {
			fs[i].Source = places[0]
			delete(s.printed, key)
		}
	}
	return fs
}
