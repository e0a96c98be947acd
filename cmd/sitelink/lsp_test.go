//go:build unix

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// pipes joins the standard streams of a server.
type pipes struct {
	io.Reader
	io.WriteCloser
}

// lspCodec encodes the messages of the protocol.
type lspCodec struct{}

func (lspCodec) Marshal(v any) ([]byte, error)      { return protocol.Marshal(v) }
func (lspCodec) Unmarshal(data []byte, v any) error { return protocol.Unmarshal(data, v) }

// startLSP starts `sitelink lsp` in a directory. ended receives a value each time the
// server has finished a piece of work that it showed to the user.
func startLSP(t *testing.T, cmd *exec.Cmd) (server protocol.Server, ended chan string, stop func() error) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	ended = make(chan string, 100)
	conn := jsonrpc2.NewConn(jsonrpc2.NewHeaderStream(pipes{out, in}), jsonrpc2.WithCodec(lspCodec{}))
	conn.Go(context.Background(), func(_ context.Context, req *jsonrpc2.Request) (any, error) {
		if req.Method() == protocol.MethodProgress && strings.Contains(string(req.Params()), `"end"`) {
			ended <- string(req.Params())
		}
		return nil, nil
	})
	server = protocol.ServerDispatcher(conn)
	return server, ended, func() error {
		defer late.Stop()
		server.Shutdown(context.Background())
		server.Exit(context.Background())
		in.Close()
		return cmd.Wait()
	}
}

// initializeLSP begins a session for a directory.
func initializeLSP(ctx context.Context, server protocol.Server, dir string) error {
	yes, root := true, uri.File(dir)
	_, err := server.Initialize(ctx, &protocol.InitializeParams{RootURI: &root, Capabilities: protocol.ClientCapabilities{Window: &protocol.WindowClientCapabilities{WorkDoneProgress: &yes}}})
	if err == nil {
		err = server.Initialized(ctx, &protocol.InitializedParams{})
	}
	return err
}

// TestHostileLSP opens a file in checkouts that attack what a language server does
// without being asked: finding the project, its configuration and its site.
func TestHostileLSP(t *testing.T) {
	for _, attack := range attacks {
		switch attack.name {
		case "fsmonitor", "promisor", "committed bare repository", ".sitelink", "output", "docroot", "public", "hugo", "variables":
		default:
			continue
		}
		t.Run(attack.name, func(t *testing.T) {
			t.Parallel()
			h := newHostile(t)
			attack.make(h)
			before := h.outside()
			cmd := exec.Command("sitelink", "lsp")
			cmd.Dir, cmd.Env = h.repo, h.env
			var errs bytes.Buffer
			cmd.Stderr = &errs
			server, ended, stop := startLSP(t, cmd)
			ctx := t.Context()
			if err := initializeLSP(ctx, server, h.repo); err != nil {
				t.Fatal(err)
			}
			doc := protocol.TextDocumentItem{URI: uri.File(filepath.Join(h.repo, "content", "a.md")), LanguageID: "markdown", Version: 1, Text: "[x](/y/)\n"}
			server.DidOpen(ctx, &protocol.DidOpenTextDocumentParams{TextDocument: doc})
			server.DidSave(ctx, &protocol.DidSaveTextDocumentParams{TextDocument: protocol.TextDocumentIdentifier{URI: doc.URI}})
			select {
			case <-ended:
			case <-time.After(time.Minute):
				t.Error("the server does not end its work")
			}
			if err := stop(); err != nil {
				t.Errorf("%v\n%s", err, errs.String())
			}
			if text, err := os.ReadFile(h.ran); err == nil {
				t.Errorf("lsp ran a program: %s\n%s", text, errs.String())
			}
			if h.outside() != before || h.connected.Load() > 0 {
				t.Errorf("lsp reached outside of the checkout\n%s", errs.String())
			}
		})
	}
}
