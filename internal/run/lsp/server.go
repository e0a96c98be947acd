// Package lsp is a language server for the sources of static sites. It tells an
// editor where the destinations of a text lead, which are wrong, which pages link
// where, and what an author could write.
//
// [Serve] speaks the Language Server Protocol over a pair of streams. Every answer
// is a function of a view: the last built site, the texts of the editor, and the
// document. The server reads the messages of a client in order. It applies a
// change of a document before it reads the next message. Every request gets the
// view of its moment, so that requests can be answered at the same time.
package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/uri"

	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/run/fix"
	"github.com/sitelink/sitelink/internal/system"
)

// Options are what the command knows.
type Options struct {
	// Version is the version of sitelink.
	Version string
	// Open loads the site of a directory, docroot as the project has it, or the one
	// that Build returned. It does not check it.
	Open func(ctx context.Context, dir, docroot string) (*audit.Audit, error)
	// Find finds the project of a directory, without loading a site.
	Find func(ctx context.Context, dir string) (*project.Project, error)
	// Build builds a project and returns the docroot. It runs what the project names.
	Build func(ctx context.Context, p *project.Project) (docroot string, err error)
	// Replacements returns the pages of other sites that have another address now; nil
	// for none. It is called for projects that the user trusts: they name the database
	// where this is known. Env is the environment of git.
	Replacements func(ctx context.Context, p *project.Project) ([]fix.Replacement, error)
	Env          []string
	// MayBuild reports that the user trusts the projects: Build runs after each save.
	// A client can say so, too.
	MayBuild bool
	// Loading is called when the server begins to read a site, and when it reads none
	// any more; nil for nothing.
	Loading func(begins bool)
	// Log takes lines for the user.
	Log func(line string)
}

// server is one run of the language server: what the client has open, with the projects that
// it belongs to.
type server struct {
	opt    Options
	conn   jsonrpc2.Conn
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu       sync.Mutex // guards what follows
	units    string
	can      clientCan
	build    bool
	roots    []string           // the workspace folders
	folders  map[string]*folder // by directory
	docs     map[string]*document
	began    bool // initialized
	shutdown bool
	left     bool // by exit
	tokens   int
	loading  int                                // sites that are being read
	running  map[jsonrpc2.ID]context.CancelFunc // the requests that are being answered
}

// clientCan is what the client supports.
type clientCan struct {
	progress, lensRefresh, watch bool
}

// document is a text that is open in the editor. It never changes.
type document struct {
	uri     uri.URI
	path    string
	version int32
	text    *editorText
}

// ErrNoShutdown reports that the client left without a request to shut down.
var ErrNoShutdown = errors.New("the client ended without a shutdown request")

// Serve answers a client until it leaves, or until ctx ends.
func Serve(ctx context.Context, in io.Reader, out io.Writer, opt Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{
		opt: opt, ctx: ctx, cancel: cancel, build: opt.MayBuild, units: utf16Units,
		folders: map[string]*folder{}, docs: map[string]*document{}, running: map[jsonrpc2.ID]context.CancelFunc{},
	}
	stream := &stdio{Reader: in, Writer: out}
	if c, ok := in.(io.Closer); ok {
		stream.in = c
	}
	conn := jsonrpc2.NewConn(jsonrpc2.NewHeaderStream(stream), jsonrpc2.WithCodec(codec{}))
	s.conn = conn
	conn.Go(ctx, s.handle)
	select {
	case <-conn.Done():
	case <-ctx.Done():
	}
	cancel()
	stream.Close()
	s.wg.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left && !s.shutdown {
		return ErrNoShutdown
	}
	if err := conn.Err(); err != nil && !s.left && !errors.Is(err, io.ErrClosedPipe) && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("read a message of the client: %w", err)
	}
	return nil
}

// stdio joins a reader and a writer.
type stdio struct {
	io.Reader
	io.Writer
	in   io.Closer
	once sync.Once
}

func (s *stdio) Close() error {
	s.once.Do(func() {
		if s.in != nil {
			s.in.Close()
		}
	})
	return nil
}

// handle answers one message. A panic becomes an error of the request, and the
// error of a notification a line of the log: neither may end the server.
func (s *server) handle(ctx context.Context, req *jsonrpc2.Request) (result any, err error) {
	method, isCall := strings.Clone(req.Method()), req.IsCall()
	defer func() {
		if r := recover(); r != nil {
			s.log(fmt.Sprintf("%s: %v\n%s", method, r, debug.Stack()))
			result, err = nil, jsonrpc2.NewError(jsonrpc2.InternalError, fmt.Sprintf("%s: %v", method, r))
		}
		if errors.Is(err, context.Canceled) {
			err = jsonrpc2.NewError(requestCancelled, "the request was cancelled")
		}
		if err != nil && !isCall {
			s.log(fmt.Sprintf("%s: %v", method, err))
			err = nil
		}
	}()
	s.mu.Lock()
	began, shutdown := s.began, s.shutdown
	s.mu.Unlock()
	switch {
	case shutdown && method != "exit":
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidRequest, "the server is shutting down")
	case !began && isCall && method != "initialize":
		return nil, jsonrpc2.NewError(jsonrpc2.ServerNotInitialized, "send initialize first")
	case !began && !isCall && method != "exit":
		return nil, nil
	}
	if method == "initialize" {
		p := &initializeParams{}
		if err := decode(req.Params(), p); err != nil {
			return nil, err
		}
		return s.initialize(p)
	}
	h, known := handlers[method]
	if !known && strings.HasPrefix(method, "$/") {
		return nil, nil // the protocol lets a server ignore these
	} else if !known {
		return nil, jsonrpc2.NewError(jsonrpc2.MethodNotFound, method+": unknown method")
	}
	p := &params{}
	if err := decode(req.Params(), p); err != nil {
		return nil, err
	}
	work := s.ctx
	if !h.inOrder && isCall {
		var done func()
		work, done = s.cancellable(s.withViews(s.ctx), req.ID())
		defer done()
		jsonrpc2.Async(ctx)
	}
	return h.answer(s, work, p)
}

// cancellable returns a context that ends when the client cancels a request. It is
// not derived from the context that the connection gives to a handler. The
// connection reuses that one for another request as soon as the handler returns,
// when a derived context may still read it.
func (s *server) cancellable(ctx context.Context, id jsonrpc2.ID) (work context.Context, done func()) {
	work, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	s.running[id] = cancel
	s.mu.Unlock()
	return work, func() {
		s.mu.Lock()
		delete(s.running, id)
		s.mu.Unlock()
		cancel()
	}
}

// cancelRequest ends the work on a request.
func (s *server) cancelRequest(_ context.Context, p *params) (any, error) {
	var id jsonrpc2.ID
	switch n := p.ID.(type) {
	case float64:
		id = jsonrpc2.NewNumberID(int64(n))
	case string:
		id = jsonrpc2.NewStringID(n)
	}
	s.mu.Lock()
	cancel := s.running[id]
	s.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	return nil, nil
}

// beginLoad counts a site that is being read, until the result is called.
func (s *server) beginLoad() (done func()) {
	count := func(by int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		was := s.loading
		s.loading += by
		if s.opt.Loading != nil && (was == 0) != (s.loading == 0) {
			s.opt.Loading(s.loading > 0)
		}
	}
	count(1)
	return func() { count(-1) }
}

func (s *server) log(line string) {
	if s.opt.Log != nil {
		s.opt.Log(line)
	}
}

// clientOptions are the initializationOptions of a client.
type clientOptions struct {
	// Build reports that the user trusts the project, so that its generator may run
	// after each save.
	Build bool `json:"build"`
}

// initialize answers what the server can do.
func (s *server) initialize(p *initializeParams) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.began {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidRequest, "initialize was sent before")
	}
	s.began = true
	if slices.Contains(p.Capabilities.General.PositionEncodings, utf8Units) {
		s.units = utf8Units
	}
	can := &p.Capabilities
	s.can = clientCan{can.Window.WorkDoneProgress, can.Workspace.CodeLens.RefreshSupport, can.Workspace.DidChangeWatchedFiles.DynamicRegistration}
	var opt clientOptions
	if len(p.InitializationOptions) > 0 && json.Unmarshal(p.InitializationOptions, &opt) == nil && opt.Build {
		s.build = true
	}
	var dirs []string
	for _, f := range p.WorkspaceFolders {
		if dir, ok := pathOf(f.URI); ok {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) == 0 {
		if dir, ok := pathOf(p.RootURI); ok {
			dirs = append(dirs, dir)
		}
	}
	for _, f := range dirs {
		s.addRoot(f)
	}
	if p.ProcessID > 0 {
		s.wg.Go(func() { s.watchClient(p.ProcessID) })
	}
	return map[string]any{
		"capabilities": s.capabilities(),
		"serverInfo":   map[string]string{"name": "sitelink", "version": s.opt.Version},
	}, nil
}

// pathOf returns the name of a file on disk.
func pathOf(u uri.URI) (name string, ok bool) {
	if !u.IsFile() || u.Authority() != "" {
		return "", false
	}
	name = filepath.Clean(u.FsPath())
	return name, filepath.IsAbs(name) && !strings.ContainsRune(name, 0)
}

// watchClient ends the server when the process of the client is gone: a client that
// dies may leave the streams to others.
func (s *server) watchClient(pid int) {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
			if !system.ProcessExists(pid) {
				s.log("the client is gone")
				s.cancel()
				return
			}
		}
	}
}

// initialized begins to load the folders.
func (s *server) initialized(_ context.Context, _ *params) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, dir := range s.roots {
		s.folder(dir)
	}
	if s.can.watch {
		s.wg.Go(s.registerWatchers)
	}
	return nil, nil
}

// shutDown ends the work in the background.
func (s *server) shutDown(_ context.Context, _ *params) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shutdown = true
	for _, f := range s.folders {
		f.cancel()
	}
	return nil, nil
}

// exit ends the server.
func (s *server) exit(_ context.Context, _ *params) (any, error) {
	s.mu.Lock()
	s.left = true
	s.mu.Unlock()
	s.cancel()
	return nil, nil
}

// addRoot adds a workspace folder.
func (s *server) addRoot(dir string) {
	if !slices.Contains(s.roots, dir) {
		s.roots = append(s.roots, dir)
	}
}

// didChangeWorkspaceFolders adds and removes folders.
func (s *server) didChangeWorkspaceFolders(_ context.Context, p *params) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range p.Event.Removed {
		dir, ok := pathOf(f.URI)
		if !ok {
			continue
		}
		s.roots = slices.DeleteFunc(s.roots, func(d string) bool { return d == dir })
		for name, folder := range s.folders {
			if system.Within(name, dir) && !slices.ContainsFunc(s.roots, func(root string) bool { return system.Within(name, root) }) {
				folder.cancel()
				delete(s.folders, name)
			}
		}
	}
	for _, f := range p.Event.Added {
		if dir, ok := pathOf(f.URI); ok {
			s.addRoot(dir)
			s.folder(dir)
		}
	}
	return nil, nil
}

// folderOf returns the folder of a file: that of the nearest generator project at or
// above it, within the workspace. The caller holds s.mu.
func (s *server) folderOf(name string) *folder {
	root := ""
	for _, dir := range s.roots {
		if system.Within(name, dir) && len(dir) > len(root) {
			root = dir
		}
	}
	if root == "" {
		root = project.RootOf(filepath.Dir(name))
	}
	return s.folder(project.DirOf(name, root))
}

// capabilities is what the server can do.
func (s *server) capabilities() map[string]any {
	type object = map[string]any
	return object{
		"positionEncoding":        s.units,
		"textDocumentSync":        object{"openClose": true, "change": 2, "save": true}, // 2: by ranges
		"completionProvider":      object{"triggerCharacters": []string{"(", "[", "/", "#", "\"", "<", "."}},
		"hoverProvider":           true,
		"definitionProvider":      true,
		"referencesProvider":      true,
		"documentLinkProvider":    object{},
		"documentSymbolProvider":  true,
		"workspaceSymbolProvider": true,
		"codeLensProvider":        object{},
		"codeActionProvider":      object{"codeActionKinds": []string{quickFix, sourceFixAll}},
		"renameProvider":          object{"prepareProvider": true},
		"workspace": object{
			"workspaceFolders": object{"supported": true, "changeNotifications": true},
			"fileOperations":   object{"willRename": object{"filters": []object{{"pattern": object{"glob": "**/*"}}}}},
		},
	}
}

// registerWatchers asks the client to tell of files that change outside of it.
func (s *server) registerWatchers() {
	const sources = "**/*.{md,markdown,mdx,html,toml,yaml,yml,json,css,scss}"
	type object = map[string]any
	_, err := s.conn.Call(s.ctx, "client/registerCapability", object{"registrations": []object{{
		"id": "sources", "method": "workspace/didChangeWatchedFiles",
		"registerOptions": object{"watchers": []object{{"globPattern": sources}}},
	}}}, nil)
	if err != nil && s.ctx.Err() == nil {
		s.log("register for changes of files: " + err.Error())
	}
}

// showMessage shows the user a line.
func (s *server) showMessage(ctx context.Context, kind int, message string) {
	s.conn.Notify(ctx, "window/showMessage", map[string]any{"type": kind, "message": "sitelink: " + message})
}

func (s *server) publish(ctx context.Context, p diagnosticsParams) {
	s.conn.Notify(ctx, "textDocument/publishDiagnostics", p)
}

// progress shows the user that work goes on, until done is called.
func (s *server) progress(ctx context.Context, title string) (report func(message string), done func()) {
	s.mu.Lock()
	can := s.can.progress
	s.tokens++
	token := s.tokens
	s.mu.Unlock()
	if can {
		_, err := s.conn.Call(ctx, "window/workDoneProgress/create", map[string]int{"token": token}, nil)
		can = err == nil
	}
	if !can {
		return func(string) {}, func() {}
	}
	send := func(value map[string]string) {
		s.conn.Notify(s.ctx, "$/progress", map[string]any{"token": token, "value": value})
	}
	send(map[string]string{"kind": "begin", "title": title})
	return func(message string) { send(map[string]string{"kind": "report", "message": message}) },
		func() { send(map[string]string{"kind": "end"}) }
}

// noDocument is the error for a request about a document that is not open.
func noDocument(name string) error {
	return jsonrpc2.NewError(jsonrpc2.InvalidParams, name+" is not open")
}
