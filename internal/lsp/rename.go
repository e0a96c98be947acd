package lsp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/lsp/analysis"
	"github.com/sitelink/sitelink/internal/move"
)

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
	var edits []analysis.Edit
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
func (s *workspace) renameFile(ctx context.Context, from, to string) ([]analysis.Edit, error) {
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
	set, edits := plan.Set, []analysis.Edit(nil)
	for _, file := range set.Files() {
		name := filepath.Join(set.Root, filepath.FromSlash(file))
		was, err := disk.Read(name, 64<<20)
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
			edits = append(edits, analysis.Edit{Name: name, Start: e.Start, End: e.End, Text: e.Text, Was: was, Create: create})
		}
	}
	return edits, nil
}
