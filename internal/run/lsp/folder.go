package lsp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/uri"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/text"
)

// folder is one project of the workspace.
type folder struct {
	s      *server
	dir    string
	ctx    context.Context
	cancel context.CancelFunc

	mu    sync.Mutex // guards what follows
	state *state     // nil until the site is loaded
	// wanted says what to do next; wake tells that there is something.
	wanted work
	wake   chan struct{}
	// published are the files with diagnostics that the client has.
	published map[string]string

	// What follows belongs to the goroutine of run: the loaded site, the docroot that
	// is watched or does not exist yet, and the last error that the user saw.
	audit                    *audit.Audit
	watched, awaited, failed string
}

// work is what a folder has to do.
type work struct {
	saved  []string // files, after which the site is built
	reload bool
	paths  []string // of the docroot that changed, unless reload is set
}

// state is what the answers about a folder depend on. It never changes.
type state struct {
	snap    *Snapshot
	overlay *Overlay
	// built are the findings of the check of the built site, by source file, and fix is
	// what can be repaired.
	built map[string][]finding
	fix   *repairs
}

// finding is a finding of a check, at the bytes of a source file that it is about.
type finding struct {
	start, end int
	written    string // the bytes
	verdict    check.Verdict
	code       check.Code
	message    string
	links      []check.Link // that are written there
}

// folder returns the folder of a directory, which begins to load. The caller holds
// s.mu.
func (s *server) folder(dir string) *folder {
	if f := s.folders[dir]; f != nil {
		return f
	}
	f := &folder{s: s, dir: dir, wake: make(chan struct{}, 1), published: map[string]string{}}
	f.ctx, f.cancel = context.WithCancel(s.ctx)
	s.folders[dir] = f
	f.want(work{reload: true})
	s.wg.Go(f.run)
	return f
}

// want adds work.
func (f *folder) want(w work) {
	f.mu.Lock()
	f.wanted.saved = append(f.wanted.saved, w.saved...)
	f.wanted.reload = f.wanted.reload || w.reload
	f.wanted.paths = append(f.wanted.paths, w.paths...)
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// current returns the state, nil until there is one.
func (f *folder) current() *state {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state
}

// settle is how long a folder waits for more to do before it begins.
const settle = 100 * time.Millisecond

// run does the work of the folder until it is removed.
func (f *folder) run() {
	defer f.close()
	for {
		select {
		case <-f.ctx.Done():
			return
		case <-f.wake:
		}
		f.mu.Lock()
		w := f.wanted
		f.wanted = work{}
		f.mu.Unlock()
		err := f.load(w)
		switch {
		case f.ctx.Err() != nil:
			return
		case err != nil:
			f.explain(err)
		default:
			f.failed = ""
		}
		select {
		case <-f.ctx.Done():
		case <-time.After(settle):
		}
	}
}

func (f *folder) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state != nil {
		f.state.snap.Close()
	}
	if f.audit != nil {
		f.audit.Close()
	}
}

// explain tells the user why the site cannot be read, once.
func (f *folder) explain(err error) {
	message := f.dir + ": " + err.Error()
	if hint, _ := text.Hint(err); hint != "" {
		message += "; " + hint
	}
	f.s.log(message)
	if message == f.failed {
		return
	}
	f.failed = message
	kind := messageWarning
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, site.ErrNoPages) {
		kind = messageInfo
	}
	f.s.showMessage(f.ctx, kind, message)
}

// load makes a new state.
func (f *folder) load(w work) error {
	_, done := f.s.progress(f.ctx, "sitelink: reading "+filepath.Base(f.dir))
	defer done()
	docroot, build := "", false
	if len(w.saved) > 0 || w.reload || f.audit == nil {
		p, err := f.s.opt.Find(f.ctx, f.dir)
		if err != nil {
			return err
		}
		sources := p.Sources()
		build = sources != nil && slices.ContainsFunc(w.saved, sources.Has)
		if !build && !w.reload && f.audit != nil && len(w.paths) == 0 {
			return nil // what was saved is no part of the site
		}
		if docroot, err = f.build(p, build); err != nil {
			return err
		}
		if docroot == "" {
			f.watch(p) // before it is read, so that no change is missed
		}
	}
	var err error
	defer f.s.beginLoad()()
	last := f.shrink()
	defer debug.FreeOSMemory()
	switch {
	case f.audit != nil && !build && !w.reload && len(w.paths) > 0:
		f.audit, err = f.audit.Update(f.ctx, w.paths)
	default:
		if f.audit != nil {
			docroot = cmp.Or(docroot, f.audit.Project.Docroot)
			f.audit.Close()
			f.audit = nil
		}
		f.audit, err = f.s.opt.Open(f.ctx, f.dir, docroot)
	}
	if err != nil {
		f.audit = nil
		return err
	}
	// The check reads the sources, too: one after the other takes less memory.
	result, err := f.audit.Check(f.ctx)
	if err != nil {
		return err
	}
	snap, err := NewSnapshot(f.ctx, f.audit, AnalysisOptions{Last: last, Findings: result.Findings})
	if err != nil {
		return err
	}
	// Answers are about the new state from now on.
	n := &state{snap: snap, built: f.findings(snap, result), fix: f.s.prepare(f.ctx, f.audit, result, snap)}
	f.s.mu.Lock()
	var docs []*document
	for _, d := range f.s.docs {
		if f.s.folderOf(d.path) == f {
			docs = append(docs, d)
		}
	}
	f.mu.Lock()
	old := f.state
	for _, d := range docs {
		if file, ok := n.snap.File(d.path); ok && n.snap.Knows(file) {
			n.overlay = n.snap.With(f.ctx, n.overlay, file, d.text.bytes)
		}
	}
	f.state = n
	f.mu.Unlock()
	refresh := f.s.can.lensRefresh
	f.s.mu.Unlock()
	if old != nil {
		old.snap.Close()
	}
	f.s.publishAll(f)
	if refresh {
		f.s.wg.Go(func() { f.s.conn.Call(f.s.ctx, "workspace/codeLens/refresh", nil, nil) })
	}
	return nil
}

// shrink gives up what answers can do without while the site is read again: two are
// in memory then. It returns the snapshot that answers them meanwhile.
func (f *folder) shrink() *Snapshot {
	st := f.current()
	if st == nil {
		return nil
	}
	st.snap.Close()
	debug.FreeOSMemory()
	return st.snap
}

// build builds the project if the user trusts it, and if that is wanted or nothing
// was built before. The docroot is "" if it is that of the project.
func (f *folder) build(p *project.Project, wanted bool) (docroot string, err error) {
	f.s.mu.Lock()
	may := f.s.build && f.s.opt.Build != nil
	f.s.mu.Unlock()
	missing := p.CheckDocroot() != nil
	if !may || p.Generator == nil || !wanted && !missing {
		return "", nil
	}
	_, done := f.s.progress(f.ctx, "sitelink: building with "+p.Generator.Title())
	defer done()
	return f.s.opt.Build(f.ctx, p)
}

// watch begins to watch the docroot of a project: the site is read again whenever
// the generator has written it.
func (f *folder) watch(p *project.Project) {
	docroot := p.Abs(p.Docroot)
	if docroot == f.watched {
		return
	}
	opt := project.WatchOptions{Lock: audit.BuildLock(p)}
	for _, name := range config.FileNames {
		opt.Also = append(opt.Also, filepath.Join(p.Root, name))
	}
	w, err := project.Watch(docroot, opt)
	if err != nil {
		if f.awaited != docroot {
			f.awaited = docroot
			f.s.wg.Go(func() { f.await(docroot) })
		}
		return
	}
	f.watched, f.awaited = docroot, ""
	f.s.wg.Go(func() {
		defer w.Close()
		for {
			b, err := w.Next(f.ctx)
			if err != nil {
				return
			}
			f.want(work{reload: b.All, paths: b.Paths})
		}
	})
}

// await reads the site once its docroot exists.
func (f *folder) await(docroot string) {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-f.ctx.Done():
			return
		case <-tick.C:
			if _, err := os.Stat(docroot); err == nil {
				f.want(work{reload: true})
				return
			}
		}
	}
}

// findings returns the findings of a check by source file, sorted by their places.
func (f *folder) findings(snap *Snapshot, r *check.Result) map[string][]finding {
	type key struct {
		line, column int
		code         check.Code
		raw          string
	}
	byFile := map[string]map[key]*finding{}
	for i := range r.Findings {
		x := &r.Findings[i]
		at := x.Source
		if at == nil && f.audit.Project.OfMarkdown() { // the page is the source
			at = &check.Position{File: path.Join(f.audit.Project.FromRoot(f.audit.Project.Docroot), x.Page), Line: x.Line, Column: x.Column}
		}
		if at == nil {
			continue
		}
		name := filepath.FromSlash(at.File)
		if !filepath.IsAbs(name) {
			name = filepath.Join(f.audit.Project.Root, name)
		}
		file, ok := snap.File(name)
		if !ok {
			continue
		}
		if byFile[file] == nil {
			byFile[file] = map[key]*finding{}
		}
		k := key{at.Line, at.Column, x.Code, x.Raw}
		if known := byFile[file][k]; known != nil {
			known.links = append(known.links, x.Link())
			continue
		}
		message := x.Message
		if x.Suggestion != "" {
			message += "; did you mean " + x.Suggestion + "?"
		}
		byFile[file][k] = &finding{verdict: x.Verdict, code: x.Code, message: message, links: []check.Link{x.Link()}}
	}
	built := map[string][]finding{}
	for file, all := range byFile {
		text, err := snap.ReadText(file)
		if err != nil {
			continue
		}
		places := snap.Placer(text, file)
		for k, x := range all {
			start, end, ok := places(k.line, k.column)
			if !ok {
				continue
			}
			x.start, x.end, x.written = start, end, string(text[start:end])
			built[file] = append(built[file], *x)
		}
		slices.SortFunc(built[file], func(a, b finding) int {
			return cmp.Or(a.start-b.start, strings.Compare(string(a.code), string(b.code)), strings.Compare(a.message, b.message))
		})
	}
	return built
}

// change puts a text into the overlay; nil takes it out.
func (f *folder) change(name string, text []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state == nil {
		return
	}
	file, ok := f.state.snap.File(name)
	if !ok || !f.state.snap.Knows(file) {
		return
	}
	n := *f.state
	n.overlay = n.snap.With(f.ctx, n.overlay, file, text)
	f.state = &n
}

// reread puts what a source file holds on disk into the overlay.
func (f *folder) reread(name string) {
	st := f.current()
	if st == nil {
		return
	}
	file, ok := st.snap.File(name)
	if !ok || !st.snap.Knows(file) {
		return
	}
	text, err := st.snap.ReadText(file)
	if err != nil {
		text = []byte{} // it is gone
	}
	f.change(name, text)
}

// shownSource is the name that editors show beside a diagnostic.
const shownSource = "sitelink"

// diagnose publishes the diagnostics of a document in the background, unless there
// is a newer version by then.
func (s *server) diagnose(f *folder, d *document) {
	s.wg.Go(func() {
		if !s.isCurrent(d) {
			return
		}
		st := f.current()
		if st == nil {
			return
		}
		file, ok := st.snap.File(d.path)
		if !ok || !st.snap.Knows(file) || !st.snap.SeesLinks(file) { // the next state has it
			return
		}
		v := &view{state: st, doc: d, file: file, folder: f}
		all, err := v.diagnostics(f.ctx)
		if err != nil || !s.isCurrent(d) {
			return
		}
		s.publish(f.ctx, diagnosticsParams{URI: d.uri, Version: &d.version, Diagnostics: all})
	})
}

// isCurrent reports whether a document has no newer version.
func (s *server) isCurrent(d *document) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.docs[d.path] == d
}

// diagnostics returns what is wrong in a document: the links that the text itself
// shows, and the findings of the last check of the built site at places that the
// author has not changed since.
func (v *view) diagnostics(ctx context.Context) ([]diagnostic, error) {
	f, err := v.analyze(ctx)
	if err != nil {
		return nil, err
	}
	all := []diagnostic{}
	for _, x := range v.findings(f) {
		all = append(all, v.doc.text.diagnostic(x.start, x.end, &x))
	}
	return all, nil
}

// findings returns what is wrong in a document, sorted by place.
func (v *view) findings(f *File) []finding {
	var all []finding
	problems := v.snap.Problems(f)
	for i := range problems {
		l := &problems[i]
		all = append(all, finding{start: l.Start, end: l.End, verdict: l.Target.Verdict, code: l.Target.Code, message: l.Target.Message, links: []check.Link{l.Target.Link}})
	}
	judged := map[int]bool{}
	for i := range f.Links {
		if l := &f.Links[i]; l.Target.Judged {
			judged[l.Start] = true
		}
	}
	for _, x := range v.built[v.file] {
		var ok bool
		if x.start, x.end, ok = v.placeOf(&x, f); ok && !judged[x.start] {
			all = append(all, x)
		}
	}
	slices.SortStableFunc(all, func(a, b finding) int { return a.start - b.start })
	return all
}

// placeOf returns where the bytes of a finding are now: at the same place, or where
// the only destination with these bytes is.
func (v *view) placeOf(x *finding, f *File) (start, end int, ok bool) {
	t := v.doc.text.bytes
	if x.end <= len(t) && string(t[x.start:x.end]) == x.written {
		return x.start, x.end, true
	}
	for i := range f.Links {
		if l := &f.Links[i]; string(t[l.Start:l.End]) == x.written {
			if ok {
				return 0, 0, false
			}
			start, end, ok = l.Start, l.End, true
		}
	}
	return start, end, ok
}

// text is the message of a finding.
func (x *finding) text() string {
	if len(x.links) > 1 {
		return fmt.Sprintf("%s (on %d pages)", x.message, len(x.links))
	}
	return x.message
}

// diagnostic returns what the editor shows of a finding at a range of the text.
func (t *editorText) diagnostic(start, end int, x *finding) diagnostic {
	severity := severityError
	if x.verdict == check.Warning {
		severity = severityWarning
	}
	return diagnostic{
		Range: t.span(start, end), Severity: severity, Code: string(x.code),
		Source: shownSource, Message: x.text(),
	}
}

// publishAll publishes the findings of a folder: in open documents together with
// what their texts show, in all other files alone. It takes back what is no longer
// true.
func (s *server) publishAll(f *folder) {
	st := f.current()
	if st == nil {
		return
	}
	s.mu.Lock()
	open := map[string]*document{}
	for _, d := range s.docs {
		if file, ok := st.snap.File(d.path); ok && s.folderOf(d.path) == f {
			open[file] = d
		}
	}
	s.mu.Unlock()
	f.mu.Lock()
	names := map[string]bool{}
	for file := range f.published {
		names[file] = true
	}
	f.mu.Unlock()
	for file := range st.built {
		names[file] = true
	}
	for _, file := range slices.Sorted(maps.Keys(names)) {
		if open[file] == nil && f.ctx.Err() == nil {
			s.publishBuilt(f, st, file)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(open)) {
		s.diagnose(f, open[file])
	}
}

// publishBuilt publishes the findings of the last check in a file that is not open.
func (s *server) publishBuilt(f *folder, st *state, file string) {
	all := []diagnostic{}
	if len(st.built[file]) > 0 {
		b, err := st.snap.ReadText(file)
		if err == nil {
			r := newText(b, s.units)
			for i := range st.built[file] {
				if x := &st.built[file][i]; x.end <= len(b) && string(b[x.start:x.end]) == x.written {
					all = append(all, r.diagnostic(x.start, x.end, x))
				}
			}
		}
	}
	key := ""
	for i := range all {
		key += fmt.Sprintln(all[i].Range, all[i].Severity, all[i].Code, all[i].Message)
	}
	f.mu.Lock()
	was := f.published[file]
	f.published[file] = key
	f.mu.Unlock()
	if was != key {
		s.publish(f.ctx, diagnosticsParams{URI: uri.File(st.snap.Path(file)), Diagnostics: all})
	}
}

// publishClosed publishes what is known of a file after its document was
// closed.
func (s *server) publishClosed(f *folder, d *document) {
	st := f.current()
	if st == nil {
		s.publish(s.ctx, diagnosticsParams{URI: d.uri, Diagnostics: []diagnostic{}})
		return
	}
	file, ok := st.snap.File(d.path)
	if !ok {
		return
	}
	f.mu.Lock()
	f.published[file] = "open" // not what the client has
	f.mu.Unlock()
	s.wg.Go(func() { s.publishBuilt(f, st, file) })
}
