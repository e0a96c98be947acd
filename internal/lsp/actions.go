package lsp

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/sitelink/sitelink/check"
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
	problems := v.snap.Problems(f)
	var safe []protocol.TextEdit
	for i := range problems {
		x := &problems[i]
		inRange := x.Start <= end && start <= x.End
		if !inRange && !wants(protocol.CodeActionKindSourceFixAll) {
			continue
		}
		if x.Suggestion, err = v.snap.Suggest(ctx, &x.Link); err != nil {
			return nil, err
		}
		text, ok := x.Fix()
		if ok && isSafe(x) {
			safe = append(safe, protocol.TextEdit{Range: v.doc.text.span(x.Start, x.End), NewText: text})
		}
		if !inRange || !wants(protocol.CodeActionKindQuickFix) {
			continue
		}
		if ok {
			all = append(all, v.action(x, "Change to "+text, isSafe(x), &protocol.WorkspaceEdit{
				Changes: map[uri.URI][]protocol.TextEdit{v.doc.uri: {{Range: v.doc.text.span(x.Start, x.End), NewText: text}}},
			}))
		}
		all = append(all, s.acceptActions(v, x)...)
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

// isSafe reports whether the suggestion for a problem is what its author meant
// without doubt: the link works by a redirect, or only the letter case is wrong.
func isSafe(p *analysis.Problem) bool {
	switch p.Target.Code {
	case check.WrongCase, check.ViaRedirect, check.ServerDependent:
		return true
	}
	return false
}

// action returns a code action for a problem.
func (v *view) action(x *analysis.Problem, title string, preferred bool, edit *protocol.WorkspaceEdit) *protocol.CodeAction {
	kind := protocol.CodeActionKindQuickFix
	a := &protocol.CodeAction{
		Title: title, Kind: &kind, Edit: edit,
		Diagnostics: []protocol.Diagnostic{v.doc.text.problem(x)},
	}
	if preferred {
		a.IsPreferred = &preferred
	}
	return a
}

// acceptActions returns the actions that accept a problem.
func (s *Server) acceptActions(v *view, x *analysis.Problem) (all []protocol.CommandOrCodeAction) {
	if e, err := v.snap.AcceptByRule(x); err == nil {
		all = append(all, v.action(x, "Ignore in "+baseName(e.Name)+", with a reason", false, s.workspaceEdit([]analysis.Edit{e})))
	} else {
		s.log(err.Error())
	}
	if e, err := v.snap.AcceptInBaseline(x, baseline.DateOf(time.Now())); err == nil {
		all = append(all, v.action(x, "Add to "+baseName(e.Name), false, s.workspaceEdit([]analysis.Edit{e})))
	} else {
		s.log(err.Error())
	}
	return all
}

func baseName(name string) string { return filepath.Base(name) }

// workspaceEdit returns edits of files in the form of the protocol. An edit of a file
// that is open, and differs from the one on disk, is for the text in the editor.
func (s *Server) workspaceEdit(edits []analysis.Edit) *protocol.WorkspaceEdit {
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
