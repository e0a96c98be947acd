package lsp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/uri"

	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/run/audit/baseline"
	"github.com/sitelink/sitelink/internal/run/move"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Every answer about a file that belongs to no site is empty, not an error: an
// editor asks about all its files.

// about returns the view of a request with the analysis of its document; v is nil if
// there is no site.
func (s *server) about(ctx context.Context, u uri.URI) (v *view, f *File, err error) {
	if v, err = s.view(ctx, u); err != nil {
		if errors.Is(err, errNoSite) {
			err = nil
		}
		return nil, nil, err
	}
	f, err = v.analyze(ctx)
	return v, f, err
}

// completion proposes destinations and fragments.
func (s *server) completion(ctx context.Context, p *params) (any, error) {
	v, err := s.view(ctx, p.TextDocument.URI)
	if errors.Is(err, errNoSite) {
		return []completionItem{}, nil
	} else if err != nil {
		return nil, err
	}
	t := v.doc.text
	c, ok := v.snap.Complete(ctx, v.overlay, v.file, t.bytes, t.offset(p.Position))
	if !ok {
		return []completionItem{}, nil
	}
	list := &completionList{IsIncomplete: c.More, Items: make([]completionItem, len(c.Items))}
	span := t.span(c.Start, c.End)
	typed := string(t.bytes[c.Start:c.End])
	for i, it := range c.Items {
		x := &list.Items[i]
		x.Label, x.Kind, x.Detail = it.Label, itemKinds[it.Kind], it.Detail
		x.TextEdit = textEdit{Range: span, NewText: it.Text}
		x.SortText = fmt.Sprintf("%04d", i)
		x.FilterText = it.Text
		if c.More && !strings.HasPrefix(it.Text, typed) { // the title matches
			x.FilterText = typed
		}
	}
	return list, nil
}

var itemKinds = map[ItemKind]int{
	ItemPage: completesFile, ItemFile: completesFile, ItemHeading: completesReference,
}

// hover says where a link leads, and why.
func (s *server) hover(ctx context.Context, p *params) (any, error) {
	v, f, err := s.about(ctx, p.TextDocument.URI)
	if v == nil || err != nil {
		return nil, err
	}
	l := f.At(v.doc.text.offset(p.Position))
	if l == nil {
		return nil, nil
	}
	text, err := v.snap.Describe(ctx, v.overlay, l)
	if err != nil || text == "" {
		return nil, err
	}
	span := v.doc.text.span(l.Start, l.End)
	return map[string]any{"contents": map[string]string{"kind": "markdown", "value": text}, "range": span}, nil
}

// definition returns the source of what a link leads to.
func (s *server) definition(ctx context.Context, p *params) (any, error) {
	v, f, err := s.about(ctx, p.TextDocument.URI)
	if v == nil || err != nil {
		return []location{}, err
	}
	l := f.At(v.doc.text.offset(p.Position))
	if l == nil {
		return []location{}, nil
	}
	at, ok := v.snap.Definition(v.overlay, &l.Target)
	if !ok {
		return []location{}, nil
	}
	return v.locations(ctx, []Location{at}), nil
}

// references returns who links to the page or heading at a position.
func (s *server) references(ctx context.Context, p *params) (any, error) {
	v, f, err := s.about(ctx, p.TextDocument.URI)
	if v == nil || err != nil {
		return []location{}, err
	}
	subject, ok := v.snap.SubjectAt(f, v.doc.text.offset(p.Position))
	if !ok {
		return []location{}, nil
	}
	all := v.snap.References(v.overlay, subject)
	if p.Context.IncludeDeclaration {
		if at, ok := v.snap.Definition(v.overlay, &Target{Node: subject.Node, Fragment: subject.Fragment}); ok {
			all = append([]Location{at}, all...)
		}
	}
	return v.locations(ctx, all), nil
}

// locations returns places in the form of the protocol. Files that cannot be read
// any more are left out.
func (v *view) locations(ctx context.Context, all []Location) []location {
	found := []location{}
	var t *editorText
	name := ""
	for _, l := range all {
		if ctx.Err() != nil {
			break
		}
		if t == nil || l.File != name {
			name = l.File
			b := []byte(nil)
			if l.Start > 0 || l.End > 0 || name == v.file { // otherwise the place is the start of the file
				var err error
				if b = v.doc.text.bytes; name != v.file {
					b, err = v.snap.Text(v.overlay, name)
				}
				if err != nil {
					t = nil
					continue
				}
			}
			t = newText(b, v.doc.text.units)
		}
		found = append(found, location{URI: v.uriOf(name), Range: t.span(l.Start, l.End)})
	}
	return found
}

func (v *view) uriOf(file string) uri.URI {
	if file == v.file {
		return v.doc.uri
	}
	return uri.File(v.snap.Path(file))
}

// codeLens counts the references to the page and to its headings.
func (s *server) codeLens(ctx context.Context, p *params) (any, error) {
	v, f, err := s.about(ctx, p.TextDocument.URI)
	if v == nil || err != nil {
		return []codeLens{}, err
	}
	all := []codeLens{}
	for _, l := range v.snap.Lenses(v.overlay, f) {
		at := v.doc.text.span(l.Start, l.Start)
		title := fmt.Sprintf("%d references", l.Count)
		if l.Count == 1 {
			title = "1 reference"
		}
		x := codeLens{Range: at}
		x.Command.Title, x.Command.Command, x.Command.Arguments = title, showReferences, []any{v.doc.uri, at.Start}
		all = append(all, x)
	}
	return all, nil
}

// showReferences is the command of code lenses. Clients run it: it asks for the
// references of a document, the first argument, at a position, the second one.
const showReferences = "sitelink.showReferences"

// documentLink returns the links of a document with the files that they lead to.
func (s *server) documentLink(ctx context.Context, p *params) (any, error) {
	v, f, err := s.about(ctx, p.TextDocument.URI)
	all := []documentLink{}
	if v == nil || err != nil {
		return all, err
	}
	for i := range f.Links {
		l := &f.Links[i]
		target := uri.URI("")
		if at, ok := v.snap.Definition(v.overlay, &l.Target); ok {
			target = v.uriOf(at.File)
		} else if l.Target.Node == docroot.NoNode && weburl.IsWeb(l.Value) {
			u, err := uri.Parse(l.Value)
			if err != nil {
				continue
			}
			target = u
		} else {
			continue
		}
		x := documentLink{Range: v.doc.text.span(l.Start, l.End), Target: target}
		if l.Target.Node != docroot.NoNode {
			x.Tooltip = v.snap.Site.Href(l.Target.Node)
		}
		all = append(all, x)
	}
	return all, nil
}

// documentSymbol returns the headings of a document.
func (s *server) documentSymbol(ctx context.Context, p *params) (any, error) {
	v, err := s.view(ctx, p.TextDocument.URI)
	if errors.Is(err, errNoSite) {
		return []documentSymbol{}, nil
	} else if err != nil {
		return nil, err
	}
	t := v.doc.text
	headings := v.snap.Headings(v.file, t.bytes)
	all, _ := nest(t, headings, 0, 0)
	return all, nil
}

// nest returns the symbols of the headings from i on that are deeper than a level,
// each with those below it, and where the others begin.
func nest(t *editorText, headings []destination.Heading, i, level int) ([]documentSymbol, int) {
	all := []documentSymbol{}
	for i < len(headings) && headings[i].Level > level {
		h := headings[i]
		detail := "#" + h.Anchor
		x := documentSymbol{Name: h.Text, Kind: symbolString, SelectionRange: t.span(h.Start, h.End), Detail: detail}
		if strings.TrimSpace(x.Name) == "" {
			x.Name = detail
		}
		x.Children, i = nest(t, headings, i+1, h.Level)
		end := len(t.bytes)
		if i < len(headings) {
			end = headings[i].Start
		}
		x.Range = t.span(h.Start, max(end, h.End))
		all = append(all, x)
	}
	return all, i
}

// symbols finds pages and headings of all folders.
func (s *server) symbols(ctx context.Context, p *params) (any, error) {
	all := []symbolInformation{}
	views, _ := ctx.Value(viewsKey{}).(*views)
	if views == nil {
		return all, nil
	}
	s.mu.Lock()
	var states []*state
	for _, name := range slices.Sorted(maps.Keys(s.folders)) {
		if st := views.states[s.folders[name]]; st != nil {
			states = append(states, st)
		}
	}
	units := s.units
	s.mu.Unlock()
	for _, st := range states {
		v := &view{state: st, doc: &document{text: newText(nil, units)}, file: "\x00"}
		for _, x := range st.snap.Symbols(ctx, st.overlay, p.Query) {
			at := v.locations(ctx, []Location{x.Location})
			if len(at) == 0 {
				continue
			}
			info := symbolInformation{Name: x.Name, Kind: symbolFile, Location: at[0], ContainerName: x.Container}
			if x.Heading {
				info.Kind = symbolString
			}
			all = append(all, info)
		}
	}
	return all, ctx.Err()
}

// codeAction offers to repair or accept the faulty links of a range, and to repair
// all of the file.
func (s *server) codeAction(ctx context.Context, p *params) (any, error) {
	all := []codeAction{}
	v, f, err := s.about(ctx, p.TextDocument.URI)
	if v == nil || err != nil {
		return all, err
	}
	wants := func(kind string) bool {
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
	var safe []textEdit
	for i := range fixes {
		x := &fixes[i]
		change := textEdit{Range: v.doc.text.span(x.start, x.end), NewText: x.text}
		if !x.likely {
			safe = append(safe, change)
		}
		if inRange(x.start, x.end) && wants(quickFix) {
			about := slices.DeleteFunc(slices.Clone(found), func(y finding) bool { return y.start != x.start })
			all = append(all, v.action(about, x.title, !x.likely, &workspaceEdit{
				Changes: map[uri.URI][]textEdit{v.doc.uri: {change}},
			}))
		}
	}
	for i := range found {
		if x := &found[i]; inRange(x.start, x.end) && wants(quickFix) {
			all = append(all, s.acceptActions(v, x)...)
		}
	}
	if len(safe) > 0 && wants(sourceFixAll) {
		all = append(all, codeAction{
			Title: fmt.Sprintf("Repair the links of this file that have one certain answer (%d)", len(safe)), Kind: sourceFixAll,
			Edit: &workspaceEdit{Changes: map[uri.URI][]textEdit{v.doc.uri: safe}},
		})
	}
	return all, nil
}

// action returns a code action about findings.
func (v *view) action(about []finding, title string, preferred bool, edit *workspaceEdit) codeAction {
	a := codeAction{Title: title, Kind: quickFix, IsPreferred: preferred, Edit: edit}
	for i := range about {
		a.Diagnostics = append(a.Diagnostics, v.doc.text.diagnostic(about[i].start, about[i].end, &about[i]))
	}
	return a
}

// acceptActions returns the actions that accept a finding.
func (s *server) acceptActions(v *view, x *finding) (all []codeAction) {
	add := func(title string, e Edit, err error) {
		if err != nil {
			s.log(err.Error())
			return
		}
		all = append(all, v.action([]finding{*x}, fmt.Sprintf(title, filepath.Base(e.Name)), false, s.workspaceEdit([]Edit{e})))
	}
	e, err := v.snap.AcceptByRule(&x.links[0])
	add("Ignore in %s, with a reason", e, err)
	e, err = v.snap.AcceptInBaseline(x.links, baseline.DateOf(time.Now()))
	add("Add to %s", e, err)
	return all
}

// workspaceEdit returns edits of files in the form of the protocol. An edit of a file
// that is open, and differs from the one on disk, is for the text in the editor.
func (s *server) workspaceEdit(edits []Edit) *workspaceEdit {
	s.mu.Lock()
	units := s.units
	docs := map[string]*document{}
	for name, d := range s.docs {
		docs[name] = d
	}
	s.mu.Unlock()
	w := &workspaceEdit{Changes: map[uri.URI][]textEdit{}}
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
			w.DocumentChanges = append(w.DocumentChanges, createFile{Kind: "create", URI: u})
		}
		w.Changes[u] = append(w.Changes[u], textEdit{Range: t.span(start, end), NewText: e.Text})
	}
	if len(w.DocumentChanges) > 0 {
		for u, changes := range w.Changes {
			x := documentEdit{Edits: changes}
			x.TextDocument.URI = u
			w.DocumentChanges = append(w.DocumentChanges, x)
		}
		w.Changes = nil
	}
	return w
}

// prepareRename says which text a rename replaces.
func (s *server) prepareRename(ctx context.Context, p *params) (any, error) {
	v, f, err := s.about(ctx, p.TextDocument.URI)
	if v == nil || err != nil {
		return nil, err
	}
	offset := v.doc.text.offset(p.Position)
	h, ok := v.snap.HeadingToRename(v.overlay, f, offset)
	if !ok {
		return nil, nil
	}
	span := v.doc.text.span(h.Start, h.End)
	if l := f.At(offset); l != nil { // the editor shows the range in this document
		span = v.doc.text.span(l.Start, l.End)
	}
	return map[string]any{"range": span, "placeholder": h.Text}, nil
}

// rename gives a heading another text, with all links to it.
func (s *server) rename(ctx context.Context, p *params) (any, error) {
	v, f, err := s.about(ctx, p.TextDocument.URI)
	if v == nil || err != nil {
		return nil, err
	}
	h, ok := v.snap.HeadingToRename(v.overlay, f, v.doc.text.offset(p.Position))
	if !ok {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, "there is no heading here, and no link to one")
	}
	edits, err := v.snap.RenameHeading(ctx, v.overlay, h, p.NewName)
	if err != nil {
		return nil, refused(err)
	}
	return s.workspaceEdit(edits), nil
}

// refused is the error for a request that the editor shows to its user.
func refused(err error) error { return jsonrpc2.NewError(requestFailed, err.Error()) }

// willRenameFiles returns the edits that keep the links to renamed files alive. They
// come from builds of a copy of the project before and after, so they are made only
// if the user trusts it.
func (s *server) willRenameFiles(ctx context.Context, p *params) (any, error) {
	var edits []Edit
	for _, r := range p.Files {
		from, known := pathOf(r.OldURI)
		to, ok := pathOf(r.NewURI)
		if !known || !ok {
			continue
		}
		more, err := s.renameFile(ctx, from, to)
		if err != nil {
			return nil, refused(err)
		}
		edits = append(edits, more...)
	}
	if len(edits) == 0 {
		return nil, nil
	}
	return s.workspaceEdit(edits), nil
}

// renameFile returns the edits for one renamed file or directory.
func (s *server) renameFile(ctx context.Context, from, to string) ([]Edit, error) {
	s.mu.Lock()
	f, may := s.folderOf(from), s.build && s.opt.Build != nil
	s.mu.Unlock()
	st := f.current()
	if st == nil || !system.Within(from, st.snap.Dir) {
		return nil, nil
	}
	if !may {
		s.showMessage(ctx, messageInfo, "links to "+filepath.Base(from)+
			" stay as they are: rewriting them builds the site, which the server may not; the command mv does it")
		return nil, nil
	}
	project, err := s.opt.Find(ctx, f.dir)
	if err != nil {
		return nil, err
	}
	// Absolute paths would be addresses of the site.
	before, err := filepath.Rel(project.Dir, from)
	if err != nil {
		return nil, err
	}
	after, err := filepath.Rel(project.Dir, to)
	if err != nil {
		return nil, err
	}
	report, done := s.progress(ctx, "sitelink: moving "+filepath.Base(from))
	defer done()
	plan, err := move.Make(ctx, project, move.Options{Old: before, New: after, Note: report})
	if err != nil {
		return nil, err
	}
	if len(plan.Broken) > 0 {
		return nil, fmt.Errorf("the move would break %d links, the first one on %s: %s", len(plan.Broken), plan.Broken[0].Page, plan.Broken[0].Message)
	}
	set, edits := plan.Set, []Edit(nil)
	for _, file := range set.Files() {
		name := filepath.Join(set.Root, filepath.FromSlash(file))
		was, err := system.Read(name, 64<<20)
		create := errors.Is(err, os.ErrNotExist)
		if err != nil && !create {
			return nil, err
		}
		all := set.Edits(file)
		s.mu.Lock()
		d := s.docs[name]
		s.mu.Unlock()
		if d != nil && len(all) > 0 && !bytes.Equal(d.text.bytes, bytes.TrimPrefix(was, []byte("\ufeff"))) {
			return nil, fmt.Errorf("%s has changes that are not saved; save it first", file)
		}
		for _, e := range all {
			edits = append(edits, Edit{Name: name, Start: e.Start, End: e.End, Text: e.Text, Was: was, Create: create})
		}
	}
	return edits, nil
}
