package lsp

import (
	"context"
	"encoding/json"
	"fmt"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/uri"

	"github.com/sitelink/sitelink/internal/text"
)

// This file has the messages of the Language Server Protocol 3.17 with the fields that
// the server uses. The client of the tests is go.lsp.dev/protocol, which has all of
// them, and would make the program 8 MB larger.

// params are the parameters of every message of a client, except initialize.
type params struct {
	TextDocument struct {
		URI     uri.URI
		Version int32
		Text    string
	}
	Position position
	Range    textRange
	Context  struct {
		IncludeDeclaration bool
		Only               []string
	}
	ContentChanges []change
	Changes        []struct{ URI uri.URI }
	Event          struct{ Added, Removed []struct{ URI uri.URI } }
	Files          []struct{ OldURI, NewURI uri.URI }
	NewName, Query string
	ID             any // of the request to cancel
}

// initializeParams are those of initialize.
type initializeParams struct {
	ProcessID             int
	RootURI               uri.URI // from clients without workspace folders
	WorkspaceFolders      []struct{ URI uri.URI }
	InitializationOptions json.RawMessage
	Capabilities          struct {
		General   struct{ PositionEncodings []string }
		Window    struct{ WorkDoneProgress bool }
		Workspace struct {
			CodeLens              struct{ RefreshSupport bool }
			DidChangeWatchedFiles struct{ DynamicRegistration bool }
		}
	}
}

// position is a place in a text: a line from 0, and the units of the client before it.
type position struct {
	Line      uint32 `json:"line"`
	Character uint32 `json:"character"`
}

type textRange struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

// change replaces a range of a document, the whole of it without one.
type change struct {
	Range *textRange
	Text  string
}

type location struct {
	URI   uri.URI   `json:"uri"`
	Range textRange `json:"range"`
}

type textEdit struct {
	Range   textRange `json:"range"`
	NewText string    `json:"newText"`
}

// workspaceEdit has either changes, or documentChanges if a file is made.
type workspaceEdit struct {
	Changes         map[uri.URI][]textEdit `json:"changes,omitempty"`
	DocumentChanges []any                  `json:"documentChanges,omitempty"`
}

type createFile struct {
	Kind string  `json:"kind"`
	URI  uri.URI `json:"uri"`
}

type documentEdit struct {
	TextDocument struct {
		URI     uri.URI `json:"uri"`
		Version *int32  `json:"version"`
	} `json:"textDocument"`
	Edits []textEdit `json:"edits"`
}

type diagnostic struct {
	Range    textRange `json:"range"`
	Severity int       `json:"severity"`
	Code     string    `json:"code"`
	Source   string    `json:"source"`
	Message  string    `json:"message"`
}

type diagnosticsParams struct {
	URI         uri.URI      `json:"uri"`
	Version     *int32       `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type codeAction struct {
	Title       string         `json:"title"`
	Kind        string         `json:"kind"`
	Diagnostics []diagnostic   `json:"diagnostics,omitempty"`
	IsPreferred bool           `json:"isPreferred,omitempty"`
	Edit        *workspaceEdit `json:"edit"`
}

type codeLens struct {
	Range   textRange `json:"range"`
	Command struct {
		Title     string `json:"title"`
		Command   string `json:"command"`
		Arguments []any  `json:"arguments"`
	} `json:"command"`
}

type completionItem struct {
	Label      string   `json:"label"`
	Kind       int      `json:"kind"`
	Detail     string   `json:"detail,omitempty"`
	SortText   string   `json:"sortText"`
	FilterText string   `json:"filterText"`
	TextEdit   textEdit `json:"textEdit"`
}

type completionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []completionItem `json:"items"`
}

type documentLink struct {
	Range   textRange `json:"range"`
	Target  uri.URI   `json:"target"`
	Tooltip string    `json:"tooltip,omitempty"`
}

type documentSymbol struct {
	Name           string           `json:"name"`
	Detail         string           `json:"detail"`
	Kind           int              `json:"kind"`
	Range          textRange        `json:"range"`
	SelectionRange textRange        `json:"selectionRange"`
	Children       []documentSymbol `json:"children"`
}

type symbolInformation struct {
	Name          string   `json:"name"`
	Kind          int      `json:"kind"`
	Location      location `json:"location"`
	ContainerName string   `json:"containerName"`
}

// The protocol's numbers and names.
const (
	utf8Units, utf16Units, utf32Units               = "utf-8", "utf-16", "utf-32"
	severityError, severityWarning                  = 1, 2
	messageWarning, messageInfo                     = 2, 3
	completesFile, completesReference               = 17, 18
	symbolFile, symbolString                        = 1, 15
	quickFix, sourceFixAll                          = "quickfix", "source.fixAll"
	requestFailed, requestCancelled   jsonrpc2.Code = -32803, -32800
)

// handlers answer the messages.
var handlers = map[string]struct {
	answer func(*server, context.Context, *params) (any, error)
	// inOrder messages are done before the next one is read: they change what later
	// ones are about.
	inOrder bool
}{
	"initialized":                         {(*server).initialized, true},
	"shutdown":                            {(*server).shutDown, true},
	"exit":                                {(*server).exit, true},
	"$/cancelRequest":                     {(*server).cancelRequest, true},
	"textDocument/didOpen":                {(*server).didOpen, true},
	"textDocument/didChange":              {(*server).didChange, true},
	"textDocument/didClose":               {(*server).didClose, true},
	"textDocument/didSave":                {(*server).didSave, true},
	"workspace/didChangeWorkspaceFolders": {(*server).didChangeWorkspaceFolders, true},
	"workspace/didChangeWatchedFiles":     {(*server).didChangeWatchedFiles, true},
	"workspace/didChangeConfiguration":    {(*server).didChangeConfiguration, true},
	"textDocument/completion":             {(*server).completion, false},
	"textDocument/hover":                  {(*server).hover, false},
	"textDocument/definition":             {(*server).definition, false},
	"textDocument/references":             {(*server).references, false},
	"textDocument/codeLens":               {(*server).codeLens, false},
	"textDocument/documentLink":           {(*server).documentLink, false},
	"textDocument/documentSymbol":         {(*server).documentSymbol, false},
	"textDocument/codeAction":             {(*server).codeAction, false},
	"textDocument/prepareRename":          {(*server).prepareRename, false},
	"textDocument/rename":                 {(*server).rename, false},
	"workspace/symbol":                    {(*server).symbols, false},
	"workspace/willRenameFiles":           {(*server).willRenameFiles, false},
}

// codec encodes the parameters and results of messages.
type codec struct{}

func (codec) Marshal(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	return text.EscapeHidden(data), err
}

func (codec) Unmarshal(data []byte, v any) error { return decode(data, v) }

// decode reads the parameters of a message. A message may have none.
func decode(data []byte, v any) error {
	if len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, v); err != nil {
		return jsonrpc2.NewError(jsonrpc2.InvalidParams, fmt.Sprintf("the parameters cannot be read: %v", err))
	}
	return nil
}
