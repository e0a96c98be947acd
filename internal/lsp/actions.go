package lsp

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/sitelink/sitelink/check/baseline"
	"github.com/sitelink/sitelink/internal/lsp/analysis"
)

// CodeAction offers to repair or accept the faulty links of a range, and to repair
// all of the file.
func (s *Server) CodeAction(ctx context.Context, p *protocol.CodeActionParams) ([]protocol.CommandOrCodeAction, error) {
	all := []protocol.CommandOrCodeAction{}
	v, f, err := s.about(ctx, p.TextDocument.URI)
	if v == nil || err != nil {
		return all, err
	}
	wants := func(kind protocol.CodeActionKind) bool {
		if len(p.Context.Only) == 0 {
			return true
		}
		for _, only := range p.Context.Only {
			if only == kind || len(kind) > len(only) && kind[:len(only)+1] == only+"." {
				return true
			}
		}
		return false
	}
	start, end := v.doc.text.offset(p.Range.Start), v.doc.text.offset(p.Range.End)
	inRange := func(from, to int) bool { return from <= end && start <= to }
	fixes, err := v.repairs(ctx, f)
	if err != nil {
		return nil, err
	}
	found := v.findings(f)
	var safe []protocol.TextEdit
	for i := range fixes {
		x := &fixes[i]
		change := protocol.TextEdit{Range: v.doc.text.span(x.start, x.end), NewText: x.text}
		if !x.likely {
			safe = append(safe, change)
		}
		if inRange(x.start, x.end) && wants(protocol.CodeActionKindQuickFix) {
			about := slices.DeleteFunc(slices.Clone(found), func(y finding) bool { return y.start != x.start })
			all = append(all, v.action(about, x.title, !x.likely, &protocol.WorkspaceEdit{
				Changes: map[uri.URI][]protocol.TextEdit{v.doc.uri: {change}},
			}))
		}
	}
	for i := range found {
		if x := &found[i]; inRange(x.start, x.end) && wants(protocol.CodeActionKindQuickFix) {
			all = append(all, s.acceptActions(v, x)...)
		}
	}
	if len(safe) > 0 && wants(protocol.CodeActionKindSourceFixAll) {
		kind := protocol.CodeActionKindSourceFixAll
		all = append(all, &protocol.CodeAction{
			Title: fmt.Sprintf("Repair the links of this file that have one certain answer (%d)", len(safe)), Kind: &kind,
			Edit: &protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{v.doc.uri: safe}},
		})
	}
	return all, nil
}

// action returns a code action about findings.
func (v *view) action(about []finding, title string, preferred bool, edit *protocol.WorkspaceEdit) *protocol.CodeAction {
	kind := protocol.CodeActionKindQuickFix
	a := &protocol.CodeAction{Title: title, Kind: &kind, Edit: edit}
	for i := range about {
		a.Diagnostics = append(a.Diagnostics, v.doc.text.diagnostic(about[i].start, about[i].end, &about[i]))
	}
	if preferred {
		a.IsPreferred = &preferred
	}
	return a
}

// acceptActions returns the actions that accept a finding.
func (s *workspace) acceptActions(v *view, x *finding) (all []protocol.CommandOrCodeAction) {
	add := func(title string, e analysis.Edit, err error) {
		if err != nil {
			s.log(err.Error())
			return
		}
		all = append(all, v.action([]finding{*x}, fmt.Sprintf(title, baseName(e.Name)), false, s.workspaceEdit([]analysis.Edit{e})))
	}
	e, err := v.snap.AcceptByRule(&x.links[0])
	add("Ignore in %s, with a reason", e, err)
	e, err = v.snap.AcceptInBaseline(x.links, baseline.DateOf(time.Now()))
	add("Add to %s", e, err)
	return all
}

func baseName(name string) string { return filepath.Base(name) }

// workspaceEdit returns edits of files in the form of the protocol. An edit of a file
// that is open, and differs from the one on disk, is for the text in the editor.
func (s *workspace) workspaceEdit(edits []analysis.Edit) *protocol.WorkspaceEdit {
	s.mu.Lock()
	units := s.units
	docs := map[string]*document{}
	for name, d := range s.docs {
		docs[name] = d
	}
	s.mu.Unlock()
	w := &protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{}}
	for _, e := range edits {
		u, t := uri.File(e.Name), newText(e.Was, units)
		start, end := e.Start, e.End
		if d := docs[e.Name]; d != nil {
			u = d.uri
			if e.Start == e.End && e.Start == len(e.Was) && !bytes.Equal(d.text.bytes, e.Was) { // at the end
				start, end = len(d.text.bytes), len(d.text.bytes)
			}
			t = d.text
		}
		if e.Create && docs[e.Name] == nil {
			w.DocumentChanges = append(w.DocumentChanges, &protocol.CreateFile{Kind: "create", URI: u})
		}
		w.Changes[u] = append(w.Changes[u], protocol.TextEdit{Range: t.span(start, end), NewText: e.Text})
	}
	if len(w.DocumentChanges) > 0 {
		for u, changes := range w.Changes {
			x := &protocol.TextDocumentEdit{TextDocument: protocol.OptionalVersionedTextDocumentIdentifier{}}
			x.TextDocument.URI = u
			for i := range changes {
				x.Edits = append(x.Edits, &changes[i])
			}
			w.DocumentChanges = append(w.DocumentChanges, x)
		}
		w.Changes = nil
	}
	return w
}
