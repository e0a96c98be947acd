package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/testkit"
)

// limit is how long a test waits for an answer.
const limit = 60 * time.Second

// editor is a client of a server under test.
type editor struct {
	t    *testing.T
	dir  string
	conn jsonrpc2.Conn
	protocol.Server
	in     *io.PipeWriter // the messages of the client
	served chan error

	mu          sync.Mutex
	changed     chan struct{} // closed at each message of the server
	diagnostics map[uri.URI]protocol.PublishDiagnosticsParams
	messages    []string
	progress    []string
}

// files are the texts of a project by name.
type files map[string]string

// write writes files below a directory.
func (all files) write(t testing.TB, dir string) {
	t.Helper()
	testkit.AddFiles(t, dir, testkit.Files(all))
}

// page is a built page.
func page(body string) string {
	return "<!DOCTYPE html><html lang=en><head><title>T</title></head><body><main>" + body + "</main></body></html>"
}

// blog is a small project as Hugo would build it.
func blog() files {
	return files{
		"hugo.toml":                     "baseURL = 'https://example.org/'\n",
		"content/posts/one.md":          "---\ntitle: First post\n---\n\n## Start here\n\nSee [two](/posts/two/) and [three](../three/#deep).\n\n## The end\n",
		"content/posts/two.md":          "---\ntitle: Second post\n---\n\nBack to [one](/posts/one/#start-here), [gone](/posts/gone/) and {{< ref \"three.md#deep\" >}}.\n",
		"content/posts/three.md":        "---\ntitle: Third post\n---\n\n## Deep\n\n[wrong case](/posts/One/) [old](/old/)\n",
		"content/gallery/index.md":      "---\ntitle: Gallery\n---\n\n![cat](cat.png)\n",
		"content/gallery/cat.png":       "png",
		"content/gallery/dog.png":       "png",
		"static/paper.pdf":              "pdf",
		"layouts/index.html":            "<a href=\"/posts/one/\">one</a>",
		"public/index.html":             page(`<a href="/posts/one/">one</a>`),
		"public/posts/one/index.html":   page(`<h2 id="start-here">Start here</h2><p>See <a href="/posts/two/">two</a> and <a href="../three/#deep">three</a>.</p><h2 id="the-end">The end</h2>`),
		"public/posts/two/index.html":   page(`<p>Back to <a href="/posts/one/#start-here">one</a>, <a href="/posts/gone/">gone</a> and /posts/three/#deep.</p>`),
		"public/posts/three/index.html": page(`<h2 id="deep">Deep</h2><p><a href="/posts/One/">wrong case</a> <a href="/old/">old</a></p>`),
		"public/gallery/index.html":     page(`<p><img src="cat.png" alt="cat"></p>`),
		"public/gallery/cat.png":        "png",
		"public/gallery/dog.png":        "png",
		"public/paper.pdf":              "pdf",
		"public/old/index.html":         `<!DOCTYPE html><html><head><title>x</title><meta http-equiv="refresh" content="0; url=/posts/one/"></head></html>`,
	}
}

// findIn is Options.Find without an environment.
func findIn(ctx context.Context, dir string) (*project.Project, error) {
	cfg, err := config.Load(config.Input{Dir: dir})
	if err != nil {
		return nil, err
	}
	return project.Find(ctx, dir, project.Options{Markdown: true, Config: cfg, Env: []string{"PATH="}})
}

// openIn is Options.Open for a Find.
func openIn(ctx context.Context, dir, docroot string) (*audit.Audit, error) {
	p, err := findIn(ctx, dir)
	if err == nil && docroot != "" {
		p, err = p.WithDocroot(ctx, docroot)
	}
	if err != nil {
		return nil, err
	}
	if err := p.CheckDocroot(); err != nil {
		return nil, err
	}
	return audit.Open(ctx, p, audit.Options{Sources: true})
}

// serve starts a server and a client of it.
func serve(t *testing.T, opt Options) *editor {
	t.Helper()
	t.Setenv("PATH", "") // Hugo would tell what the names of the files do not
	opt.Find, opt.Open = findIn, openIn
	opt.Log = func(line string) { t.Log("server:", line) }
	e := &editor{t: t, served: make(chan error, 1), changed: make(chan struct{}), diagnostics: map[uri.URI]protocol.PublishDiagnosticsParams{}}
	toServer, in := io.Pipe()
	out, fromServer := io.Pipe()
	e.in = in
	go func() {
		e.served <- Serve(context.Background(), toServer, fromServer, opt)
		fromServer.Close()
	}()
	stream := &stdio{Reader: out, Writer: in, in: out}
	e.conn = jsonrpc2.NewConn(jsonrpc2.NewHeaderStream(stream), jsonrpc2.WithCodec(clientCodec{}))
	e.Server = protocol.ServerDispatcher(e.conn)
	e.conn.Go(context.Background(), e.receive)
	t.Cleanup(func() {
		in.Close()
		select {
		case <-e.served:
		case <-time.After(limit):
			t.Error("the server goes on without a client")
		}
		stream.Close()
	})
	return e
}

// clientCodec encodes messages as another implementation of the protocol does.
type clientCodec struct{}

func (clientCodec) Marshal(v any) ([]byte, error) { return protocol.Marshal(v) }

// Unmarshal decodes a copy: strings of a result may share the memory of data.
func (clientCodec) Unmarshal(data []byte, v any) error {
	return protocol.Unmarshal(bytes.Clone(data), v)
}

// receive takes a message of the server.
func (e *editor) receive(_ context.Context, req *jsonrpc2.Request) (any, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch req.Method() {
	case protocol.MethodTextDocumentPublishDiagnostics:
		var p protocol.PublishDiagnosticsParams
		if err := protocol.Unmarshal(req.Params(), &p); err != nil {
			return nil, err
		}
		e.diagnostics[p.URI] = p
	case protocol.MethodProgress:
		e.progress = append(e.progress, string(req.Params()))
	default:
		e.messages = append(e.messages, req.Method()+" "+string(req.Params()))
	}
	close(e.changed)
	e.changed = make(chan struct{})
	return nil, nil
}

// wait waits until ready, which is called with e.mu held.
func (e *editor) wait(what string, ready func() bool) {
	e.t.Helper()
	end := time.After(limit)
	for {
		e.mu.Lock()
		ok, changed := ready(), e.changed
		e.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-end:
			e.t.Fatalf("timeout: %s; diagnostics %v, messages %q", what, e.diagnostics, e.messages)
		}
	}
}

// begin initialises the server for folders.
func (e *editor) begin(units []protocol.PositionEncodingKind, options string, dirs ...string) *protocol.InitializeResult {
	e.t.Helper()
	e.dir = dirs[0]
	yes := true
	p := &protocol.InitializeParams{Capabilities: protocol.ClientCapabilities{
		General: &protocol.GeneralClientCapabilities{PositionEncodings: units},
		Window:  &protocol.WindowClientCapabilities{WorkDoneProgress: &yes},
	}}
	var list []protocol.WorkspaceFolder
	for _, dir := range dirs {
		list = append(list, protocol.WorkspaceFolder{URI: uri.File(dir), Name: filepath.Base(dir)})
	}
	p.WorkspaceFolders = protocol.NewNullable(list)
	if options != "" {
		p.InitializationOptions = protocol.LSPAny(options)
	}
	r := testkit.Must(e.Server.Initialize(e.t.Context(), p))(e.t)
	if err := e.Server.Initialized(e.t.Context(), &protocol.InitializedParams{}); err != nil {
		e.t.Fatal(err)
	}
	return r
}

// ready waits until the site has been loaded and checked.
func (e *editor) ready() {
	e.t.Helper()
	e.wait("the site", func() bool {
		begun, ended := 0, 0
		for _, p := range e.progress {
			begun += strings.Count(p, `"begin"`)
			ended += strings.Count(p, `"end"`)
		}
		return begun > 0 && begun == ended
	})
}

func (e *editor) uri(name string) uri.URI {
	return uri.File(filepath.Join(e.dir, filepath.FromSlash(name)))
}

// open opens a file with a text, that on disk if it is "".
func (e *editor) open(name, text string) uri.URI {
	e.t.Helper()
	u := e.uri(name)
	if text == "" {
		b := testkit.Read(e.t, u.FsPath())
		text = string(b)
	}
	err := e.Server.DidOpen(e.t.Context(), &protocol.DidOpenTextDocumentParams{TextDocument: protocol.TextDocumentItem{URI: u, LanguageID: "markdown", Version: 1, Text: text}})
	testkit.Check(e.t, err)
	return u
}

// change replaces a range of a document, the whole of it if r is nil.
func (e *editor) change(u uri.URI, version int32, r *protocol.Range, text string) {
	e.t.Helper()
	p := &protocol.DidChangeTextDocumentParams{}
	p.TextDocument.URI, p.TextDocument.Version = u, version
	if r == nil {
		p.ContentChanges = append(p.ContentChanges, &protocol.TextDocumentContentChangeWholeDocument{Text: text})
	} else {
		p.ContentChanges = append(p.ContentChanges, &protocol.TextDocumentContentChangePartial{Range: *r, Text: text})
	}
	testkit.Check(e.t, e.Server.DidChange(e.t.Context(), p))
}

var severities = map[protocol.DiagnosticSeverity]string{protocol.DiagnosticSeverityError: "error", protocol.DiagnosticSeverityWarning: "warning"}

// shown waits for the diagnostics of a version of a document, and returns them as
// "line:from-to severity code".
func (e *editor) shown(u uri.URI, version int32) []string {
	e.t.Helper()
	var list []string
	e.wait(fmt.Sprintf("diagnostics of version %d", version), func() bool {
		p := e.diagnostics[u]
		if v, ok := p.Version.Get(); !ok || v != version {
			return false
		}
		list = nil
		for _, d := range p.Diagnostics {
			list = append(list, fmt.Sprintf("%d:%d-%d %s %v", d.Range.Start.Line, d.Range.Start.Character, d.Range.End.Character, severities[d.Severity], d.Code))
		}
		return true
	})
	return list
}

// at is the position of a text in a document, shift characters of ASCII after its
// start.
func at(text, needle string, shift int) protocol.Position {
	n := strings.Index(text, needle)
	if n < 0 {
		panic("no text " + needle)
	}
	before := text[:n+shift]
	line := strings.Count(before, "\n")
	return protocol.Position{Line: uint32(line), Character: uint32(len([]rune(before[strings.LastIndexByte(before, '\n')+1:])))}
}

func where(u uri.URI, p protocol.Position) protocol.TextDocumentPositionParams {
	return protocol.TextDocumentPositionParams{TextDocument: protocol.TextDocumentIdentifier{URI: u}, Position: p}
}

// show returns locations as "file:line:from-to".
func (e *editor) show(all []protocol.Location) (list []string) {
	for _, l := range all {
		rel, _ := filepath.Rel(e.dir, l.URI.FsPath())
		list = append(list, fmt.Sprintf("%s:%d:%d-%d", filepath.ToSlash(rel), l.Range.Start.Line, l.Range.Start.Character, l.Range.End.Character))
	}
	return list
}

func asJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
