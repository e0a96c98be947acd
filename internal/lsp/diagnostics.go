package lsp

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/lsp/analysis"
)

// source is the name that editors show beside a diagnostic.
const source = "sitelink"

// diagnose publishes the diagnostics of a document in the background, unless there
// is a newer version by then.
func (s *workspace) diagnose(f *folder, d *document) {
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
		s.client.PublishDiagnostics(f.ctx, &protocol.PublishDiagnosticsParams{URI: d.uri, Version: protocol.NewOptional(d.version), Diagnostics: all})
	})
}

// isCurrent reports whether a document has no newer version.
func (s *workspace) isCurrent(d *document) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.docs[d.path] == d
}

// diagnostics returns what is wrong in a document: the links that the text itself
// shows, and the findings of the last check of the built site at places that the
// author has not changed since.
func (v *view) diagnostics(ctx context.Context) ([]protocol.Diagnostic, error) {
	f, err := v.analyze(ctx)
	if err != nil {
		return nil, err
	}
	all := []protocol.Diagnostic{}
	for _, x := range v.findings(f) {
		all = append(all, v.doc.text.diagnostic(x.start, x.end, &x))
	}
	return all, nil
}

// findings returns what is wrong in a document, sorted by place.
func (v *view) findings(f *analysis.File) []finding {
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
func (v *view) placeOf(x *finding, f *analysis.File) (start, end int, ok bool) {
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
func (t *text) diagnostic(start, end int, x *finding) protocol.Diagnostic {
	severity := protocol.DiagnosticSeverityError
	if x.verdict == check.Warning {
		severity = protocol.DiagnosticSeverityWarning
	}
	return protocol.Diagnostic{
		Range: t.span(start, end), Severity: severity, Code: protocol.String(x.code),
		Source: protocol.NewOptional(source), Message: protocol.String(x.text()),
	}
}

// publishAll publishes the findings of a folder: in open documents together with
// what their texts show, in all other files alone. It takes back what is no longer
// true.
func (s *workspace) publishAll(f *folder) {
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
func (s *workspace) publishBuilt(f *folder, st *state, file string) {
	all := []protocol.Diagnostic{}
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
		s.client.PublishDiagnostics(f.ctx, &protocol.PublishDiagnosticsParams{URI: uri.File(st.snap.Path(file)), Diagnostics: all})
	}
}

// publishClosed publishes what is known of a file whose document was closed.
func (s *workspace) publishClosed(f *folder, d *document) {
	st := f.current()
	if st == nil {
		s.client.PublishDiagnostics(s.ctx, &protocol.PublishDiagnosticsParams{URI: d.uri, Diagnostics: []protocol.Diagnostic{}})
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

// refreshLenses asks the client to ask again for code lenses.
func (s *workspace) refreshLenses() {
	s.mu.Lock()
	can := s.can.lensRefresh
	s.mu.Unlock()
	if can {
		s.wg.Go(func() { s.client.CodeLensRefresh(s.ctx) })
	}
}
