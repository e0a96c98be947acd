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
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/move"
	"github.com/sitelink/sitelink/internal/system"
)

// Every answer about a file that belongs to no site is empty, not an error: an
// editor asks about all its files.

// about returns the view of a request with the analysis of its document; v is nil if
// there is no site.
func (s *workspace) about(ctx context.Context, u uri.URI) (v *view, f *File, err error) {
	if v, err = s.view(ctx, u); err != nil {
		if errors.Is(err, errNoSite) {
			err = nil
		}
		return nil, nil, err
	}
	f, err = v.analyze(ctx)
	return v, f, err
}

// Completion proposes destinations and fragments.
func (s *Server) Completion(ctx context.Context, p *protocol.CompletionParams) (protocol.CompletionResult, error) {
	v, err := s.view(ctx, p.TextDocument.URI)
	if errors.Is(err, errNoSite) {
		return protocol.CompletionItemSlice{}, nil
	} else if err != nil {
		return nil, err
	}
	t := v.doc.text
	c, ok := v.snap.Complete(ctx, v.overlay, v.file, t.bytes, t.offset(p.Position))
	if !ok {
		return protocol.CompletionItemSlice{}, nil
	}
	list := &protocol.CompletionList{IsIncomplete: c.More, Items: make([]protocol.CompletionItem, len(c.Items))}
	span := t.span(c.Start, c.End)
	typed := string(t.bytes[c.Start:c.End])
	for i, it := range c.Items {
		x := &list.Items[i]
		x.Label, x.Kind = it.Label, itemKinds[it.Kind]
		x.TextEdit = &protocol.TextEdit{Range: span, NewText: it.Text}
		x.SortText.Set(fmt.Sprintf("%04d", i))
		x.FilterText.Set(it.Text)
		if c.More && !strings.HasPrefix(it.Text, typed) { // the title matches
			x.FilterText.Set(typed)
		}
		if it.Detail != "" {
			x.Detail.Set(it.Detail)
		}
	}
	return list, nil
}

var itemKinds = map[ItemKind]protocol.CompletionItemKind{
	ItemPage: protocol.CompletionItemKindFile, ItemFile: protocol.CompletionItemKindFile, ItemHeading: protocol.CompletionItemKindReference,
}

// Hover says where a link leads, and why.
func (s *Server) Hover(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
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
	return &protocol.Hover{Contents: &protocol.MarkupContent{Kind: protocol.MarkupKindMarkdown, Value: text}, Range: &span}, nil
}

// Definition returns the source of what a link leads to.
func (s *Server) Definition(ctx context.Context, p *protocol.DefinitionParams) (protocol.DefinitionResult, error) {
	v, f, err := s.about(ctx, p.TextDocument.URI)
	if v == nil || err != nil {
		return protocol.LocationSlice{}, err
	}
	l := f.At(v.doc.text.offset(p.Position))
	if l == nil {
		return protocol.LocationSlice{}, nil
	}
	at, ok := v.snap.Definition(v.overlay, &l.Target)
	if !ok {
		return protocol.LocationSlice{}, nil
	}
	return protocol.LocationSlice(v.locations(ctx, []Location{at})), nil
}

// References returns who links to the page or heading at a position.
func (s *Server) References(ctx context.Context, p *protocol.ReferenceParams) ([]protocol.Location, error) {
	v, f, err := s.about(ctx, p.TextDocument.URI)
	if v == nil || err != nil {
		return []protocol.Location{}, err
	}
	place, ok := v.snap.PlaceAt(f, v.doc.text.offset(p.Position))
	if !ok {
		return []protocol.Location{}, nil
	}
	all := v.snap.References(v.overlay, place)
	if p.Context.IncludeDeclaration {
		if at, ok := v.snap.Definition(v.overlay, &Target{Node: place.Node, Fragment: place.Fragment}); ok {
			all = append([]Location{at}, all...)
		}
	}
	return v.locations(ctx, all), nil
}

// locations returns places in the form of the protocol. Files that cannot be read
// any more are left out.
func (v *view) locations(ctx context.Context, all []Location) []protocol.Location {
	found := []protocol.Location{}
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
		found = append(found, protocol.Location{URI: v.uriOf(name), Range: t.span(l.Start, l.End)})
	}
	return found
}

func (v *view) uriOf(file string) uri.URI {
	if file == v.file {
		return v.doc.uri
	}
	return uri.File(v.snap.Path(file))
}

// CodeLens counts the references to the page and to its headings.
func (s *Server) CodeLens(ctx context.Context, p *protocol.CodeLensParams) ([]protocol.CodeLens, error) {
	v, f, err := s.about(ctx, p.TextDocument.URI)
	if v == nil || err != nil {
		return []protocol.CodeLens{}, err
	}
	all := []protocol.CodeLens{}
	for _, l := range v.snap.Lenses(v.overlay, f) {
		at := v.doc.text.span(l.Start, l.Start)
		title := fmt.Sprintf("%d references", l.Count)
		if l.Count == 1 {
			title = "1 reference"
		}
		where, _ := protocol.Marshal(protocol.String(v.doc.uri))
		from, err := protocol.Marshal(&at.Start)
		if err != nil {
			return nil, err
		}
		all = append(all, protocol.CodeLens{Range: at, Command: protocol.Command{Title: title, Command: showReferences, Arguments: []protocol.LSPAny{where, from}}})
	}
	return all, nil
}

// showReferences is the command of code lenses. Clients run it: it asks for the
// references of a document, the first argument, at a position, the second one.
const showReferences = "sitelink.showReferences"

// DocumentLink returns the links of a document with the files that they lead to.
func (s *Server) DocumentLink(ctx context.Context, p *protocol.DocumentLinkParams) ([]protocol.DocumentLink, error) {
	v, f, err := s.about(ctx, p.TextDocument.URI)
	all := []protocol.DocumentLink{}
	if v == nil || err != nil {
		return all, err
	}
	for i := range f.Links {
		l := &f.Links[i]
		target := uri.URI("")
		if at, ok := v.snap.Definition(v.overlay, &l.Target); ok {
			target = v.uriOf(at.File)
		} else if l.Target.Node == docroot.NoNode && (strings.HasPrefix(l.Value, "https://") || strings.HasPrefix(l.Value, "http://")) {
			u, err := uri.Parse(l.Value)
			if err != nil {
				continue
			}
			target = u
		} else {
			continue
		}
		x := protocol.DocumentLink{Range: v.doc.text.span(l.Start, l.End), Target: &target}
		if l.Target.Node != docroot.NoNode {
			tip := v.snap.Site.Href(l.Target.Node)
			x.Tooltip = &tip
		}
		all = append(all, x)
	}
	return all, nil
}

// DocumentSymbol returns the headings of a document.
func (s *Server) DocumentSymbol(ctx context.Context, p *protocol.DocumentSymbolParams) (protocol.DocumentSymbolResult, error) {
	v, err := s.view(ctx, p.TextDocument.URI)
	if errors.Is(err, errNoSite) {
		return protocol.DocumentSymbolSlice{}, nil
	} else if err != nil {
		return nil, err
	}
	t := v.doc.text
	headings := v.snap.Headings(v.file, t.bytes)
	all, _ := nest(t, headings, 0, 0)
	return protocol.DocumentSymbolSlice(all), nil
}

// nest returns the symbols of the headings from i on that are deeper than a level,
// each with those below it, and where the others begin.
func nest(t *editorText, headings []destination.Heading, i, level int) ([]protocol.DocumentSymbol, int) {
	all := []protocol.DocumentSymbol{}
	for i < len(headings) && headings[i].Level > level {
		h := headings[i]
		detail := "#" + h.Anchor
		x := protocol.DocumentSymbol{Name: h.Text, Kind: protocol.SymbolKindString, SelectionRange: t.span(h.Start, h.End), Detail: &detail}
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

// Symbols finds pages and headings of all folders.
func (s *Server) Symbols(ctx context.Context, p *protocol.WorkspaceSymbolParams) (protocol.WorkspaceSymbolResult, error) {
	all := protocol.SymbolInformationSlice{}
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
			info := protocol.SymbolInformation{Location: at[0]}
			info.Name, info.Kind = x.Name, protocol.SymbolKindFile
			if x.Heading {
				info.Kind = protocol.SymbolKindString
			}
			info.ContainerName = &x.Container
			all = append(all, info)
		}
	}
	return all, ctx.Err()
}

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
	add := func(title string, e Edit, err error) {
		if err != nil {
			s.log(err.Error())
			return
		}
		all = append(all, v.action([]finding{*x}, fmt.Sprintf(title, filepath.Base(e.Name)), false, s.workspaceEdit([]Edit{e})))
	}
	e, err := v.snap.AcceptByRule(&x.links[0])
	add("Ignore in %s, with a reason", e, err)
	e, err = v.snap.AcceptInBaseline(x.links, audit.DateOf(time.Now()))
	add("Add to %s", e, err)
	return all
}

// workspaceEdit returns edits of files in the form of the protocol. An edit of a file
// that is open, and differs from the one on disk, is for the text in the editor.
func (s *workspace) workspaceEdit(edits []Edit) *protocol.WorkspaceEdit {
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

// PrepareRename says which text a rename replaces.
func (s *Server) PrepareRename(ctx context.Context, p *protocol.PrepareRenameParams) (protocol.PrepareRenameResult, error) {
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
	return &protocol.PrepareRenamePlaceholder{Range: span, Placeholder: h.Text}, nil
}

// Rename gives a heading another text, with all links to it.
func (s *Server) Rename(ctx context.Context, p *protocol.RenameParams) (*protocol.WorkspaceEdit, error) {
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

// requestFailed is the code of a request that was valid but could not be done.
const requestFailed jsonrpc2.Code = -32803

// WillRenameFiles returns the edits that keep the links to renamed files alive. They
// come from builds of a copy of the project before and after, so they are made only
// if the user trusts it.
func (s *Server) WillRenameFiles(ctx context.Context, p *protocol.RenameFilesParams) (*protocol.WorkspaceEdit, error) {
	var edits []Edit
	for _, r := range p.Files {
		from, known := pathOf(uri.URI(r.OldURI))
		to, ok := pathOf(uri.URI(r.NewURI))
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
func (s *workspace) renameFile(ctx context.Context, from, to string) ([]Edit, error) {
	s.mu.Lock()
	f, may := s.folderOf(from), s.build && s.opt.Build != nil
	s.mu.Unlock()
	st := f.current()
	if st == nil || !within(from, st.snap.Dir) {
		return nil, nil
	}
	if !may {
		s.client.ShowMessage(ctx, &protocol.ShowMessageParams{Type: protocol.MessageTypeInfo, Message: "sitelink: links to " + filepath.Base(from) +
			" stay as they are: rewriting them builds the site, which the server may not; sitelink mv does it"})
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
	plan, err := move.Make(ctx, project, move.Options{Old: before, New: after, Cache: s.opt.Cache, Note: report})
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
