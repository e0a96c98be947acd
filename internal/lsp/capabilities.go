package lsp

import (
	"context"
	"encoding/json"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// capabilitiesOf returns what a client supports of what the server would use.
func capabilitiesOf(c *protocol.ClientCapabilities) (can clientCan) {
	is := func(b *bool) bool { return b != nil && *b }
	if c.Window != nil {
		can.progress = is(c.Window.WorkDoneProgress)
	}
	if w := c.Workspace; w != nil {
		if w.CodeLens != nil {
			can.lensRefresh = is(w.CodeLens.RefreshSupport)
		}
		if w.WorkspaceEdit != nil {
			can.documentChanges = is(w.WorkspaceEdit.DocumentChanges)
			for _, k := range w.WorkspaceEdit.ResourceOperations {
				can.renameFiles = can.renameFiles || k == protocol.ResourceOperationKindRename
			}
		}
		if w.DidChangeWatchedFiles != nil {
			can.watch = is(w.DidChangeWatchedFiles.DynamicRegistration)
		}
	}
	return can
}

// capabilities is what the server can do.
func (s *workspace) capabilities() protocol.ServerCapabilities {
	yes, kind := true, protocol.TextDocumentSyncKindIncremental
	renamed := protocol.FileOperationRegistrationOptions{Filters: []protocol.FileOperationFilter{{Pattern: protocol.FileOperationPattern{Glob: "**/*"}}}}
	return protocol.ServerCapabilities{
		PositionEncoding:        s.units,
		TextDocumentSync:        &protocol.TextDocumentSyncOptions{OpenClose: &yes, Change: &kind, Save: protocol.Boolean(true)},
		CompletionProvider:      &protocol.CompletionOptions{TriggerCharacters: []string{"(", "[", "/", "#", "\"", "<", "."}},
		HoverProvider:           protocol.Boolean(true),
		DefinitionProvider:      protocol.Boolean(true),
		ReferencesProvider:      protocol.Boolean(true),
		DocumentLinkProvider:    &protocol.DocumentLinkOptions{},
		DocumentSymbolProvider:  protocol.Boolean(true),
		WorkspaceSymbolProvider: protocol.Boolean(true),
		CodeLensProvider:        &protocol.CodeLensOptions{},
		CodeActionProvider:      &protocol.CodeActionOptions{CodeActionKinds: []protocol.CodeActionKind{protocol.CodeActionKindQuickFix, protocol.CodeActionKindSourceFixAll}},
		RenameProvider:          &protocol.RenameOptions{PrepareProvider: &yes},
		Workspace: &protocol.WorkspaceOptions{
			WorkspaceFolders: &protocol.WorkspaceFoldersServerCapabilities{Supported: &yes, ChangeNotifications: protocol.Boolean(true)},
			FileOperations:   &protocol.FileOperationOptions{WillRename: renamed},
		},
	}
}

// registerWatchers asks the client to tell of files that change outside of it.
func (s *workspace) registerWatchers() {
	options, err := protocol.Marshal(&protocol.DidChangeWatchedFilesRegistrationOptions{
		Watchers: []protocol.FileSystemWatcher{{GlobPattern: protocol.Pattern("**/*.{md,markdown,mdx,html,toml,yaml,yml,json,css,scss}")}},
	})
	if err != nil {
		return
	}
	err = s.client.RegisterCapability(s.ctx, &protocol.RegistrationParams{
		Registrations: []protocol.Registration{{ID: "sources", Method: protocol.MethodWorkspaceDidChangeWatchedFiles, RegisterOptions: options}},
	})
	if err != nil && s.ctx.Err() == nil {
		s.log("register for changes of files: " + err.Error())
	}
}

// progress shows the user that work goes on, until done is called.
func (s *workspace) progress(ctx context.Context, title string) (report func(message string), done func()) {
	s.mu.Lock()
	can := s.can.progress
	s.tokens++
	token := protocol.Integer(s.tokens)
	s.mu.Unlock()
	if !can || s.client.WorkDoneProgressCreate(ctx, &protocol.WorkDoneProgressCreateParams{Token: token}) != nil {
		return func(string) {}, func() {}
	}
	send := func(value map[string]string) {
		if data, err := json.Marshal(value); err == nil {
			s.client.Progress(s.ctx, &protocol.ProgressParams{Token: token, Value: data})
		}
	}
	send(map[string]string{"kind": "begin", "title": title})
	return func(message string) { send(map[string]string{"kind": "report", "message": message}) },
		func() { send(map[string]string{"kind": "end"}) }
}

// noDocument is the error for a request about a document that is not open.
func noDocument(name string) error {
	return jsonrpc2.NewError(jsonrpc2.InvalidParams, name+" is not open")
}
