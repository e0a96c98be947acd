package lsp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/lsp/analysis"
)

// Every answer about a file that belongs to no site is empty, not an error: an
// editor asks about all its files.

// about returns the view of a request with the analysis of its document; v is nil if
// there is no site.
func (s *workspace) about(ctx context.Context, u uri.URI) (v *view, f *analysis.File, err error) {
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

var itemKinds = map[analysis.ItemKind]protocol.CompletionItemKind{
	analysis.ItemPage: protocol.CompletionItemKindFile, analysis.ItemFile: protocol.CompletionItemKindFile, analysis.ItemHeading: protocol.CompletionItemKindReference,
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
	return protocol.LocationSlice(v.locations(ctx, []analysis.Location{at})), nil
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
		if at, ok := v.snap.Definition(v.overlay, &analysis.Target{Node: place.Node, Fragment: place.Fragment}); ok {
			all = append([]analysis.Location{at}, all...)
		}
	}
	return v.locations(ctx, all), nil
}

// locations returns places in the form of the protocol. Files that cannot be read
// any more are left out.
func (v *view) locations(ctx context.Context, all []analysis.Location) []protocol.Location {
	found := []protocol.Location{}
	var t *text
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
				if b, err = v.textOf(name); err != nil {
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

func (v *view) textOf(file string) ([]byte, error) {
	if file == v.file {
		return v.doc.text.bytes, nil
	}
	return v.snap.Text(v.overlay, file)
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
func nest(t *text, headings []analysis.Heading, i, level int) ([]protocol.DocumentSymbol, int) {
	all := []protocol.DocumentSymbol{}
	for i < len(headings) && headings[i].Level > level {
		h := headings[i]
		x := protocol.DocumentSymbol{Name: h.Text, Kind: protocol.SymbolKindString, SelectionRange: t.span(h.Start, h.End)}
		if strings.TrimSpace(x.Name) == "" {
			x.Name = "#" + h.ID
		}
		detail := "#" + h.ID
		x.Detail = &detail
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
	for _, name := range sortedFolders(s.folders) {
		if st := views.states[s.folders[name]]; st != nil {
			states = append(states, st)
		}
	}
	units := s.units
	s.mu.Unlock()
	for _, st := range states {
		v := &view{state: st, doc: &document{text: newText(nil, units)}, file: "\x00"}
		for _, x := range st.snap.Symbols(ctx, st.overlay, p.Query) {
			at := v.locations(ctx, []analysis.Location{x.Location})
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
