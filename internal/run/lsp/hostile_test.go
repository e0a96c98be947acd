package lsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/sitelink/sitelink/internal/project"
)

// frame is a message with its head.
func frame(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

// TestHostileMessages sends messages that no client should send. The server must
// answer, or end: without a panic, and without reading on for ever.
func TestHostileMessages(t *testing.T) {
	const begin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"processId":null,"rootUri":null}}`
	notify := func(method, params string) string {
		return frame(`{"jsonrpc":"2.0","method":"` + method + `","params":` + params + `}`)
	}
	for name, text := range map[string]string{
		"no head":            "hello\n\n",
		"endless head":       strings.Repeat("x", 1<<20),
		"head of many lines": strings.Repeat("X: y\r\n", 10_000) + "\r\n",
		"huge length":        "Content-Length: 99999999999999999999\r\n\r\n{}",
		"negative length":    "Content-Length: -5\r\n\r\n{}",
		"no JSON":            frame("}{"),
		"deep JSON":          frame(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + strings.Repeat("[", 1<<20)),
		"deep options":       frame(strings.Replace(begin, `"capabilities":{}`, `"capabilities":{},"initializationOptions":`+strings.Repeat(`{"a":`, 5000)+"1"+strings.Repeat("}", 5000), 1)),
		"wrong types":        frame(begin) + notify("textDocument/didOpen", `[1,2]`) + notify("textDocument/didOpen", `{"textDocument":7}`),
		"no document":        frame(begin) + notify("textDocument/didChange", `{"textDocument":{"uri":"file:///no","version":2},"contentChanges":[{"text":"x"}]}`),
		"other addresses": frame(begin) + notify("textDocument/didOpen", `{"textDocument":{"uri":"http://[::1","languageId":"x","version":1,"text":"x"}}`) +
			notify("textDocument/didOpen", `{"textDocument":{"uri":"untitled:1","languageId":"x","version":1,"text":"x"}}`) +
			notify("textDocument/didOpen", `{"textDocument":{"uri":"file://host/share/a.md","languageId":"x","version":1,"text":"x"}}`) +
			notify("textDocument/didOpen", `{"textDocument":{"uri":"file:///a%00b.md","languageId":"x","version":1,"text":"x"}}`),
		"positions far away": frame(begin) + notify("textDocument/didOpen", `{"textDocument":{"uri":"file:///nowhere/a.md","languageId":"markdown","version":1,"text":"x"}}`) +
			notify("textDocument/didChange", `{"textDocument":{"uri":"file:///nowhere/a.md","version":2},"contentChanges":[{"range":{"start":{"line":4294967295,"character":4294967295},"end":{"line":0,"character":0}},"text":"y"}]}`) +
			frame(`{"jsonrpc":"2.0","id":2,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///nowhere/a.md"},"position":{"line":4294967295,"character":9}}}`),
		"invalid UTF-8": frame(begin) + notify("textDocument/didOpen", "{\"textDocument\":{\"uri\":\"file:///nowhere/a.md\",\"languageId\":\"markdown\",\"version\":1,\"text\":\"[a](\xff\xfe\\ud800/) \xc3\"}}") +
			notify("textDocument/didChange", "{\"textDocument\":{\"uri\":\"file:///nowhere/a.md\",\"version\":2},\"contentChanges\":[{\"range\":{\"start\":{\"line\":0,\"character\":5},\"end\":{\"line\":0,\"character\":6}},\"text\":\"\xe2\x28\xa1\"}]}"),
		"unknown request":   frame(begin) + frame(`{"jsonrpc":"2.0","id":2,"method":"no/such","params":{}}`),
		"twice":             frame(begin) + frame(begin),
		"before initialize": frame(`{"jsonrpc":"2.0","id":2,"method":"textDocument/hover","params":{}}`),
		"cancel of nothing": frame(begin) + notify("$/cancelRequest", `{"id":99}`) + notify("$/cancelRequest", `{"id":{}}`),
		"a batch":           frame("[" + begin + "," + begin + "]"),
		"an answer to none": frame(begin) + frame(`{"jsonrpc":"2.0","id":77,"result":5}`),
		"cut off":           "Content-Length: 100\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			done := make(chan error, 1)
			go func() {
				done <- Serve(context.Background(), io.NopCloser(strings.NewReader(text)), io.Discard, Options{Find: findIn, Open: openIn, Log: func(line string) {
					if strings.Contains(line, "goroutine") {
						t.Errorf("panic: %s", line)
					}
				}})
			}()
			select {
			case <-done:
			case <-time.After(limit):
				t.Fatal("the server does not end")
			}
		})
	}
}

// TestCancel cancels a request that the server is answering.
func TestCancel(t *testing.T) {
	e := started(t)
	long := strings.Repeat("[a](/posts/one/#x1) ", 5_000)
	u := e.open("content/posts/two.md", long)
	for version := int32(2); ; version++ {
		// A new text, which the server has not analyzed yet.
		e.change(u, version, nil, fmt.Sprintf("%s%d", long, version))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		var result protocol.LSPAny
		err := protocol.Call(ctx, e.conn, protocol.MethodTextDocumentCodeLens, &protocol.CodeLensParams{TextDocument: protocol.TextDocumentIdentifier{URI: u}}, &result)
		if err != nil {
			if !errors.Is(err, context.Canceled) && !strings.Contains(err.Error(), "cancel") {
				t.Fatalf("the error is %v", err)
			}
			break // otherwise the answer was faster
		}
	}
	// The server goes on.
	if _, err := e.Server.Hover(t.Context(), &protocol.HoverParams{TextDocumentPositionParams: where(u, protocol.Position{Character: 5})}); err != nil {
		t.Error(err)
	}
}

// TestClientDies ends the process that started the server, while its streams stay
// open.
func TestClientDies(t *testing.T) {
	testkit.Long(t)
	t.Parallel() // it waits most of the time
	client := exec.Command("/bin/sleep", "600")
	if err := client.Start(); err != nil {
		t.Skip(err)
	}
	in, keep := io.Pipe()
	defer keep.Close()
	done := make(chan error, 1)
	go func() {
		done <- Serve(context.Background(), in, io.Discard, Options{Find: findIn, Open: openIn})
	}()
	go io.WriteString(keep, frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"processId":%d,"rootUri":null}}`, client.Process.Pid)))
	client.Process.Kill()
	client.Wait()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(limit):
		t.Fatal("the server outlives its client")
	}
}

func TestExitWithoutShutdown(t *testing.T) {
	text := frame(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"processId":null,"rootUri":null}}`) + frame(`{"jsonrpc":"2.0","method":"exit"}`)
	if err := Serve(context.Background(), strings.NewReader(text), io.Discard, Options{}); !errors.Is(err, ErrNoShutdown) {
		t.Errorf("error %v", err)
	}
}

// TestFolders serves two projects, one of them in a directory of a workspace, and
// takes one away.
func TestFolders(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	blog().write(t, first)
	blog().write(t, filepath.Join(second, "site"))
	os.Mkdir(filepath.Join(second, ".git"), 0o755)
	e := serve(t, Options{})
	e.begin(nil, "", first, second)
	e.ready()
	open := func(name string) uri.URI {
		u := uri.File(name)
		e.Server.DidOpen(t.Context(), &protocol.DidOpenTextDocumentParams{TextDocument: protocol.TextDocumentItem{URI: u, Version: 1, Text: "[x](/posts/none/)"}})
		return u
	}
	for _, u := range []uri.URI{open(filepath.Join(first, "content/posts/one.md")), open(filepath.Join(second, "site/content/posts/one.md"))} {
		if got := e.shown(u, 1); len(got) != 1 {
			t.Errorf("%s: %v", u, got)
		}
	}
	p := &protocol.DidChangeWorkspaceFoldersParams{}
	p.Event.Removed = []protocol.WorkspaceFolder{{URI: uri.File(second), Name: "second"}}
	testkit.Check(t, e.Server.DidChangeWorkspaceFolders(t.Context(), p))
	r, err := e.Server.Symbols(t.Context(), &protocol.WorkspaceSymbolParams{Query: "deep"})
	if err != nil || len(r.(protocol.SymbolInformationSlice)) != 1 {
		t.Errorf("symbols after a folder is gone: %s %v", asJSON(r), err)
	}
}

// TestBuildAfterSave builds after a save, but only in a project that the user
// trusts, and shows the findings of the built site in a file that is not open.
func TestBuildAfterSave(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		t.Run(fmt.Sprintf("trusted %v", trusted), func(t *testing.T) {
			dir := t.TempDir()
			blog().write(t, dir)
			var builds atomic.Int32
			e := serve(t, Options{Build: func(_ context.Context, p *project.Project) (string, error) {
				builds.Add(1)
				out := filepath.Join(dir, ".sitelink", "public")
				all := files{}
				for name, text := range blog() {
					if rest, ok := strings.CutPrefix(name, "public/"); ok {
						all[rest] = strings.ReplaceAll(text, "/posts/two/", "/posts/lost/")
					}
				}
				all.write(t, out)
				return out, nil
			}})
			options := ""
			if trusted {
				options = `{"build":true}`
			}
			e.begin(nil, options, dir)
			e.ready()
			three := e.uri("content/posts/three.md")
			e.wait("the findings of the first check", func() bool { return len(e.diagnostics[three].Diagnostics) == 2 })
			u := e.open("content/posts/one.md", "")
			testkit.Check(t, os.WriteFile(u.FsPath(), []byte(strings.ReplaceAll(blog()["content/posts/one.md"], "/posts/two/", "/posts/lost/")), 0o644))
			e.Server.DidSave(t.Context(), &protocol.DidSaveTextDocumentParams{TextDocument: protocol.TextDocumentIdentifier{URI: u}})
			e.Server.DidClose(t.Context(), &protocol.DidCloseTextDocumentParams{TextDocument: protocol.TextDocumentIdentifier{URI: u}})
			if trusted {
				e.wait("the findings of the build", func() bool {
					all := e.diagnostics[u].Diagnostics
					return len(all) == 1 && all[0].Code == protocol.String("missing-directory")
				})
			}
			other := e.uri("node_modules/x/readme.md") // no source
			e.Server.DidSave(t.Context(), &protocol.DidSaveTextDocumentParams{TextDocument: protocol.TextDocumentIdentifier{URI: other}})
			time.Sleep(2 * settle)
			if got := builds.Load(); got > 1 || got > 0 != trusted {
				t.Errorf("%d builds", got)
			}
		})
	}
}

// TestDocrootChanges writes the docroot as a generator does.
func TestDocrootChanges(t *testing.T) {
	e := started(t)
	u := e.open("content/posts/two.md", "[x](/posts/new/)")
	if got := e.shown(u, 1); len(got) != 1 {
		t.Fatalf("%v", got)
	}
	files{"public/posts/new/index.html": page("new")}.write(t, e.dir)
	e.wait("the new page", func() bool { return len(e.diagnostics[u].Diagnostics) == 0 })
}

// TestBuildHangs starts a build that never ends. Questions are answered meanwhile, and
// the end of the server ends the build.
func TestBuildHangs(t *testing.T) {
	dir := t.TempDir()
	blog().write(t, dir)
	begun, ended := make(chan struct{}), make(chan struct{})
	e := serve(t, Options{MayBuild: true, Build: func(ctx context.Context, _ *project.Project) (string, error) {
		close(begun)
		<-ctx.Done()
		close(ended)
		return "", ctx.Err()
	}})
	e.begin(nil, "", dir)
	e.ready()
	u := e.open("content/posts/two.md", "[x](/posts/one/)")
	e.Server.DidSave(t.Context(), &protocol.DidSaveTextDocumentParams{TextDocument: protocol.TextDocumentIdentifier{URI: u}})
	<-begun
	e.change(u, 2, nil, "[x](/posts/gone/)")
	if got := e.shown(u, 2); len(got) != 1 {
		t.Errorf("diagnostics during the build: %v", got)
	}
	h, err := e.Server.Hover(t.Context(), &protocol.HoverParams{TextDocumentPositionParams: where(u, protocol.Position{Character: 6})})
	if err != nil || h == nil {
		t.Errorf("hover during the build: %v %v", h, err)
	}
	e.in.Close() // the client is gone
	select {
	case <-ended:
	case <-time.After(limit):
		t.Fatal("the build outlives the client")
	}
}

// TestHugeDocument opens a document that is too large to be a page. It is not read for
// links, and other documents are.
func TestHugeDocument(t *testing.T) {
	size := testkit.Longer(9<<20, 50<<20)
	e := started(t)
	const line = "[a](/posts/none/)\n"
	u := e.open("content/posts/one.md", strings.Repeat(line, size/len(line)))
	if got := e.shown(u, 1); len(got) > 0 {
		t.Errorf("%d diagnostics", len(got))
	}
	e.change(u, 2, &protocol.Range{Start: protocol.Position{Line: 7}, End: protocol.Position{Line: uint32(size)}}, "")
	if got := e.shown(u, 2); len(got) != 7 {
		t.Errorf("when it is small again: %v", got)
	}
}

// TestVersions sends changes with versions that are out of order. Changes count in the
// order of their arrival, as the protocol demands.
func TestVersions(t *testing.T) {
	e := started(t)
	u := e.open("content/posts/one.md", "[a](/posts/none/)\n")
	e.change(u, 7, nil, "[a](/posts/one/)\n")
	e.change(u, 3, nil, "[a](/posts/none/) [b](/posts/none/)\n")
	if got := e.shown(u, 3); len(got) != 2 {
		t.Errorf("after a lower version: %v", got)
	}
	e.change(u, 3, &protocol.Range{Start: protocol.Position{}, End: protocol.Position{Character: 17}}, "")
	e.wait("the last change", func() bool { return len(e.diagnostics[u].Diagnostics) == 1 })
}

// TestOutsideFolders opens files that are in no folder of the workspace: one of a project
// elsewhere, and one of none.
func TestOutsideFolders(t *testing.T) {
	e := started(t)
	other := t.TempDir()
	blog().write(t, other)
	os.Mkdir(filepath.Join(other, ".git"), 0o755)
	for name, want := range map[string]int{filepath.Join(other, "content/posts/one.md"): 1, filepath.Join(t.TempDir(), "note.md"): 0} {
		u := uri.File(name)
		e.Server.DidOpen(t.Context(), &protocol.DidOpenTextDocumentParams{TextDocument: protocol.TextDocumentItem{URI: u, Version: 1, Text: "[x](/posts/none/)"}})
		if want > 0 {
			e.wait("diagnostics of "+name, func() bool { return len(e.diagnostics[u].Diagnostics) == want })
		}
		if _, err := e.Server.Hover(t.Context(), &protocol.HoverParams{TextDocumentPositionParams: where(u, protocol.Position{Character: 6})}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
