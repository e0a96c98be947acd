//go:build unix

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/testkit"
)

// pipes joins the standard streams of a server.
type pipes struct {
	io.Reader
	io.WriteCloser
}

// lspCodec encodes the messages of the protocol.
type lspCodec struct{}

func (lspCodec) Marshal(v any) ([]byte, error) { return protocol.Marshal(v) }

// Unmarshal decodes a copy: strings of a result may share the memory of data, which
// the connection uses again for the next message.
func (lspCodec) Unmarshal(data []byte, v any) error {
	return protocol.Unmarshal(bytes.Clone(data), v)
}

// lspSession is a run of `sitelink lsp`.
type lspSession struct {
	protocol.Server
	cmd   *exec.Cmd
	ended chan string // a value each time that a piece of work ended that the user sees
	close func() error
	late  *time.Timer
}

// startLSP starts the server. tell, if set, gets the messages of the server.
func startLSP(t *testing.T, cmd *exec.Cmd, tell func(method string, params []byte)) *lspSession {
	t.Helper()
	in := testkit.Must(cmd.StdinPipe())(t)
	out := testkit.Must(cmd.StdoutPipe())(t)
	testkit.Check(t, cmd.Start())
	s := &lspSession{cmd: cmd, ended: make(chan string, 100), close: in.Close}
	s.late = time.AfterFunc(5*time.Minute, func() { cmd.Process.Kill() })
	conn := jsonrpc2.NewConn(jsonrpc2.NewHeaderStream(pipes{out, in}), jsonrpc2.WithCodec(lspCodec{}))
	conn.Go(context.Background(), func(_ context.Context, req *jsonrpc2.Request) (any, error) {
		if tell != nil {
			tell(req.Method(), req.Params())
		}
		if req.Method() == protocol.MethodProgress && strings.Contains(string(req.Params()), `"end"`) {
			s.ended <- string(req.Params())
		}
		return nil, nil
	})
	s.Server = protocol.ServerDispatcher(conn)
	return s
}

// waitEnd waits for the end of a piece of work.
func (s *lspSession) waitEnd(t *testing.T) {
	t.Helper()
	select {
	case <-s.ended:
	case <-time.After(4 * time.Minute):
		t.Fatal("the server does not end its work")
	}
}

// stop ends the server as a client does.
func (s *lspSession) stop() error {
	defer s.late.Stop()
	s.Shutdown(context.Background())
	s.Exit(context.Background())
	s.close()
	return s.cmd.Wait()
}

// initializeLSP begins a session for a directory.
func initializeLSP(ctx context.Context, server protocol.Server, dir string) error {
	yes, root := true, uri.File(dir)
	//lint:ignore SA1019 clients without workspace folders still send it
	_, err := server.Initialize(ctx, &protocol.InitializeParams{RootURI: &root, Capabilities: protocol.ClientCapabilities{Window: &protocol.WindowClientCapabilities{WorkDoneProgress: &yes}}})
	if err == nil {
		err = server.Initialized(ctx, &protocol.InitializedParams{})
	}
	return err
}

// edit runs the language server as an editor that opens the checkout and saves a file,
// which makes it find the project, its configuration and its site.
func (h *hostile) edit(cmd *exec.Cmd) error {
	s := startLSP(h.t, cmd, nil)
	ctx := h.t.Context()
	if err := initializeLSP(ctx, s.Server, h.repo); err != nil {
		h.t.Errorf("initialize: %v", err)
	}
	doc := protocol.TextDocumentItem{URI: uri.File(filepath.Join(h.repo, "content", "a.md")), LanguageID: "markdown", Version: 1, Text: "[x](/y/)\n"}
	s.DidOpen(ctx, &protocol.DidOpenTextDocumentParams{TextDocument: doc})
	s.DidSave(ctx, &protocol.DidSaveTextDocumentParams{TextDocument: protocol.TextDocumentIdentifier{URI: doc.URI}})
	s.waitEnd(h.t)
	return s.stop()
}

// TestLSPEndsBuild lets the client die while a generator hangs: the server ends, and the
// generator with it.
func TestLSPEndsBuild(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	pid := filepath.Join(bin, "pid")
	testkit.Write(t, filepath.Join(dir, "hugo.toml"), "baseURL = 'https://example.org/'\n")
	testkit.Write(t, filepath.Join(dir, "content", "a.md"), "[x](/y/)\n")
	testkit.Write(t, filepath.Join(bin, "hugo"), "#!/bin/sh\nfor a; do [ \"$a\" = --destination ] && echo $$ > '"+pid+"' && exec sleep 600; done\n")
	testkit.Check(t, os.Chmod(filepath.Join(bin, "hugo"), 0o755))
	cmd := exec.Command("sitelink", "lsp", "--build")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "XDG_CACHE_HOME="+t.TempDir())
	s := startLSP(t, cmd, nil)
	testkit.Check(t, initializeLSP(t.Context(), s.Server, dir))
	var generator int
	waitUntil(t, "the build", func() bool {
		text, err := os.ReadFile(pid)
		generator, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil && generator > 0
	})
	s.close()
	done := make(chan struct{})
	go func() {
		cmd.Wait()
		close(done)
	}()
	select {
	case <-done:
		s.late.Stop()
	case <-time.After(time.Minute):
		t.Fatal("the server outlives its client")
	}
	waitUntil(t, "the end of the generator", func() bool { return !system.ProcessExists(generator) })
}

// TestLSPBuildFails: the message about a failed build quotes what the generator printed,
// because the editor does not show that.
func TestLSPBuildFails(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	testkit.Write(t, filepath.Join(dir, "hugo.toml"), "baseURL = 'https://example.org/'\n")
	testkit.Write(t, filepath.Join(dir, "content", "a.md"), "[x](/y/)\n")
	testkit.Write(t, filepath.Join(bin, "hugo"), "#!/bin/sh\nfor a; do [ \"$a\" = --destination ] && echo 'Start building sites' && echo 'ERROR a.md:3: no such shortcode' >&2 && echo && exit 1; done\n")
	testkit.Check(t, os.Chmod(filepath.Join(bin, "hugo"), 0o755))
	cmd := exec.Command("sitelink", "lsp", "--build")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "XDG_CACHE_HOME="+t.TempDir())
	shown := make(chan string, 100)
	s := startLSP(t, cmd, func(method string, params []byte) {
		var p protocol.ShowMessageParams
		if method == protocol.MethodWindowShowMessage && protocol.Unmarshal(params, &p) == nil {
			shown <- p.Message
		}
	})
	testkit.Check(t, initializeLSP(t.Context(), s.Server, dir))
	select {
	case m := <-shown:
		if !strings.Contains(m, "the build failed: hugo") || !strings.Contains(m, "; fix what Hugo reports: ERROR a.md:3: no such shortcode (") {
			t.Error(m)
		}
	case <-time.After(time.Minute):
		t.Error("no message")
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

// waitUntil waits until something is so.
func waitUntil(t *testing.T, what string, ready func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ready(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timeout: %s", what)
		}
	}
}
