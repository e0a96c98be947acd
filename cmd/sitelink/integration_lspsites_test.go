//go:build integration && linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/sitelink/sitelink/internal/testkit"
)

// lspEditor is an editor with the sources of a project.
type lspEditor struct {
	*lspSession
	t   *testing.T
	dir string

	mu    sync.Mutex
	shown map[uri.URI]protocol.PublishDiagnosticsParams
	news  chan struct{}
}

// openEditor starts the server for a project, and waits until it has read the site.
func openEditor(t *testing.T, cmd *exec.Cmd, dir string, build bool) *lspEditor {
	t.Helper()
	e := &lspEditor{t: t, dir: dir, shown: map[uri.URI]protocol.PublishDiagnosticsParams{}, news: make(chan struct{}, 1)}
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	begun, ended := 0, 0
	e.lspSession = startLSP(t, cmd, func(method string, params []byte) {
		var p protocol.PublishDiagnosticsParams
		e.mu.Lock()
		defer e.mu.Unlock()
		switch {
		case method == protocol.MethodProgress && bytes.Contains(params, []byte(`"begin"`)):
			begun++
		case method == protocol.MethodProgress && bytes.Contains(params, []byte(`"end"`)):
			ended++
		case method == protocol.MethodTextDocumentPublishDiagnostics && protocol.Unmarshal(params, &p) == nil:
			e.shown[p.URI] = p
		}
		select {
		case e.news <- struct{}{}:
		default:
		}
	})
	yes, root := true, uri.File(dir)
	//lint:ignore SA1019 clients without workspace folders still send it
	_, err := e.Initialize(t.Context(), &protocol.InitializeParams{RootURI: &root, InitializationOptions: protocol.LSPAny(fmt.Sprintf(`{"build":%v}`, build)),
		Capabilities: protocol.ClientCapabilities{Window: &protocol.WindowClientCapabilities{WorkDoneProgress: &yes}}})
	if err == nil {
		err = e.Initialized(t.Context(), &protocol.InitializedParams{})
	}
	testkit.Check(t, err)
	e.wait("the site", func() bool { return begun > 0 && begun == ended })
	return e
}

// wait waits until ready, which is called with e.mu held.
func (e *lspEditor) wait(what string, ready func() bool) {
	e.t.Helper()
	end := time.After(4 * time.Minute)
	for {
		e.mu.Lock()
		ok := ready()
		e.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-e.news:
		case <-end:
			e.t.Fatalf("timeout: %s", what)
		}
	}
}

// open opens a file and returns its diagnostics.
func (e *lspEditor) open(name, text string) []protocol.Diagnostic {
	e.t.Helper()
	u := uri.File(name)
	testkit.Check(e.t, e.DidOpen(e.t.Context(), &protocol.DidOpenTextDocumentParams{TextDocument: protocol.TextDocumentItem{URI: u, LanguageID: "markdown", Version: 1, Text: text}}))
	var all []protocol.Diagnostic
	e.wait("diagnostics of "+name, func() bool {
		p := e.shown[u]
		v, ok := p.Version.Get()
		all = p.Diagnostics
		return ok && v == 1
	})
	return all
}

// closeFile closes a file.
func (e *lspEditor) closeFile(name string) {
	e.DidClose(e.t.Context(), &protocol.DidCloseTextDocumentParams{TextDocument: protocol.TextDocumentIdentifier{URI: uri.File(name)}})
}

// sources returns the names of the files that an author of the project edits.
func (e *lspEditor) sources() (names []string) {
	filepath.WalkDir(e.dir, func(name string, d fs.DirEntry, err error) error {
		switch base := filepath.Base(name); {
		case err != nil:
			return err
		case d.IsDir() && filepath.Dir(name) == e.dir && slices.Contains([]string{"public", "earlier", "resources"}, base):
			return fs.SkipDir
		case d.IsDir() && (base == "node_modules" || strings.HasPrefix(base, ".") && name != e.dir):
			return fs.SkipDir
		case d.Type().IsRegular() && slices.Contains([]string{".md", ".html", ".toml", ".yaml", ".yml", ".json", ".css"}, filepath.Ext(base)) && base != "sitelink.toml":
			names = append(names, name)
		}
		return nil
	})
	return names
}

// utf16Offset returns the offset of a position of the protocol.
func utf16Offset(text string, p protocol.Position) int {
	at := 0
	for range p.Line {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	units := uint32(0)
	for i, r := range text[at:] {
		if units >= p.Character {
			return at + i
		}
		units += uint32(utf16.RuneLen(r))
	}
	return len(text)
}

// edited returns a text after edits that do not overlap.
func edited(text string, edits []protocol.TextEdit) string {
	slices.SortFunc(edits, func(a, b protocol.TextEdit) int {
		return utf16Offset(text, b.Range.Start) - utf16Offset(text, a.Range.Start)
	})
	for _, e := range edits {
		text = text[:utf16Offset(text, e.Range.Start)] + e.NewText + text[utf16Offset(text, e.Range.End):]
	}
	return text
}

// repaired asks for all code actions of a file, and returns its text after those that
// are certain, and after all.
func (e *lspEditor) repaired(name, text string) (safe, all string) {
	e.t.Helper()
	end := protocol.Position{Line: uint32(strings.Count(text, "\n") + 1)}
	actions, err := e.CodeAction(e.t.Context(), &protocol.CodeActionParams{TextDocument: protocol.TextDocumentIdentifier{URI: uri.File(name)}, Range: protocol.Range{End: end}})
	testkit.Check(e.t, err)
	var certain, every []protocol.TextEdit
	for _, x := range actions {
		a := x.(*protocol.CodeAction)
		switch {
		case *a.Kind == protocol.CodeActionKindSourceFixAll:
			certain = a.Edit.Changes[uri.File(name)]
		case strings.HasPrefix(a.Title, "Change to ") || strings.HasPrefix(a.Title, "Add ") && strings.Contains(a.Title, " to aliases"):
			every = append(every, a.Edit.Changes[uri.File(name)]...)
		}
	}
	return edited(text, certain), edited(text, every)
}

// TestLSPFixes compares the code actions with what fix does, on a site with breaks of
// every kind at every place: they are the same.
func TestLSPFixes(t *testing.T) {
	eachHugo(t, func(t *testing.T, p *hugoProject) {
		if p.version < 156 {
			return // the templates need a newer one
		}
		s := newFixSite(200)
		testkit.AddFiles(t, p.dir, s.before)
		testkit.Write(t, filepath.Join(p.dir, "sitelink.toml"), "profile = \"netlify\"\n[check]\nsince = \"earlier\"\n")
		testkit.Write(t, filepath.Join(p.dir, "earlier", "index.html"), "<title>x</title>")
		// What the status cache knows of other sites.
		for name, form := range map[string]string{"content/post/post-1.md": "\n[moved](%s)\n", "layouts/single.html": "<a href=\"%s\">moved</a>\n"} {
			name = filepath.Join(p.dir, name)
			testkit.Write(t, name, readFile(t, name)+fmt.Sprintf(form, "https://moved.example/old"))
		}
		testkit.Write(t, filepath.Join(p.dir, ".sitelink", ".gitignore"), "*\n")
		rememberMoved(t, filepath.Join(p.dir, ".sitelink", "status.jsonl"), "https://moved.example/old", "https://moved.example/new")
		if code, _, stderr := p.run("check", "--build", "--fail-on", "never"); code != 0 {
			t.Fatalf("build: %d, %s", code, stderr)
		}
		since := filepath.Join(p.dir, "earlier")
		testkit.Check(t, os.RemoveAll(since))
		testkit.Check(t, os.CopyFS(since, os.DirFS(filepath.Join(p.dir, ".sitelink/public"))))
		s.earlierBuild(t, since)

		e := openEditor(t, p.command("sitelink", "lsp"), p.dir, true)
		texts, safe, all := map[string]string{}, map[string]string{}, map[string]string{}
		for _, name := range e.sources() {
			texts[name] = readFile(t, name)
			e.open(name, texts[name])
			safe[name], all[name] = e.repaired(name, texts[name])
			e.closeFile(name)
		}
		if err := e.stop(); err != nil {
			t.Error(err)
		}
		for _, run := range []struct {
			args []string
			want map[string]string
		}{{[]string{"fix", "--tidy", "--write"}, safe}, {[]string{"fix", "--tidy", "--write", "--likely"}, all}} {
			for name, text := range texts {
				testkit.Write(t, name, text)
			}
			if code, _, stderr := p.run(run.args...); code > 1 {
				t.Fatalf("%q: %s", run.args, stderr)
			}
			changed := 0
			for name, want := range run.want {
				got := readFile(t, name)
				if got != texts[name] {
					changed++
				}
				differ(t, strings.TrimPrefix(name, p.dir), want, got)
			}
			if name := filepath.Join(p.dir, "content/post/post-1.md"); len(run.args) > 3 && !strings.Contains(readFile(t, name), "(https://moved.example/new)") {
				t.Errorf("%q does not change the page of another site", run.args)
			}
			t.Logf("%q changes %d files", run.args, changed)
			if changed == 0 {
				t.Errorf("%q changes nothing", run.args)
			}
		}
	})
}

// differ reports the lines of a file that the editor and fix change to different ones.
func differ(t *testing.T, name, editor, fix string) {
	t.Helper()
	a, b := strings.Split(editor, "\n"), strings.Split(fix, "\n")
	if len(a) != len(b) {
		t.Errorf("%s: the editor makes %d lines of it, fix %d", name, len(a), len(b))
		return
	}
	for i := range a {
		if a[i] != b[i] {
			t.Errorf("%s:%d\nthe editor makes %s\nfix makes        %s", name, i+1, a[i], b[i])
		}
	}
}

// TestLSPDiagnostics compares the diagnostics of the saved texts with the findings of
// check. It does so on a site with breaks of every kind at every place, and on the sites
// in SITELINK_SITES, a list of directories: copies, because they are built.
func TestLSPDiagnostics(t *testing.T) {
	eachHugo(t, func(t *testing.T, p *hugoProject) {
		if p.version < 156 {
			return // the templates need a newer one
		}
		s := newFixSite(300)
		testkit.AddFiles(t, p.dir, s.before)
		compareWithCheck(t, p, 250) // some breaks are references, or have no place
		for _, dir := range filepath.SplitList(os.Getenv("SITELINK_SITES")) {
			t.Run(filepath.Base(filepath.Dir(dir))+"/"+filepath.Base(dir), func(t *testing.T) {
				site := *p
				site.t, site.dir = t, dir
				compareWithCheck(t, &site, 0)
			})
		}
	})
}

// TestLSPRealSite is TestLSPDiagnostics on a real site. Every third link within the site
// is broken, also in templates and menus.
func TestLSPRealSite(t *testing.T) {
	site := newModuleSite(t, "sigs.k8s.io/kind", "site")
	site.commit("v0.17.0")
	p := &hugoProject{t: t, dir: site.dir, path: os.Getenv("PATH")}
	n := 0
	for _, name := range []string{"config.toml", "content", "layouts"} {
		filepath.WalkDir(filepath.Join(site.dir, name), func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text := readFile(t, name)
			testkit.Write(t, name, localLink.ReplaceAllStringFunc(text, func(link string) string {
				if n++; n%3 != 0 {
					return link
				}
				return link + "x"
			}))
			return nil
		})
	}
	compareWithCheck(t, p, 25)
}

// localLink matches the start of a link within the site.
var localLink = regexp.MustCompile(`\]\((/docs/\w|#\w)|\]: (/docs/\w|#\w)|href="/docs/\w|url = "/docs/\w`)

// TestLSPWhileTyping compares the diagnostics of texts that are not saved, in a template,
// a menu and a data file, with the findings of check after they are saved and built: all
// that the editor shows is true, and it shows all.
func TestLSPWhileTyping(t *testing.T) {
	eachHugo(t, func(t *testing.T, p *hugoProject) {
		if p.version < 156 {
			return // the templates need a newer one
		}
		s := newFixSite(100)
		testkit.AddFiles(t, p.dir, s.all)
		p.hugo()
		e := openEditor(t, p.command("sitelink", "lsp"), p.dir, false)
		names := []string{"hugo.toml", "data/links.yaml", "layouts/single.html"}
		got := map[string]bool{}
		for _, name := range names {
			e.found(p.dir, filepath.Join(p.dir, name), s.before[name], got)
		}
		if err := e.stop(); err != nil {
			t.Error(err)
		}
		for _, name := range names {
			testkit.Write(t, filepath.Join(p.dir, name), s.before[name])
		}
		want, _ := placedFindings(t, p)
		for place := range want {
			if !slices.Contains(names, strings.SplitN(place, ":", 2)[0]) {
				delete(want, place)
			}
		}
		missing, more := differences(want, got)
		t.Logf("check: %d findings, the editor while typing: %d; %d missing, %d more", len(want), len(got), len(missing), len(more))
		if len(more) > 0 || len(missing) > 0 || len(want) < 30 {
			t.Errorf("missing:\n%s\nmore:\n%s", strings.Join(missing, "\n"), strings.Join(more, "\n"))
		}
	})
}

// placedFindings builds a project and returns the findings of check that have places in
// sources, and how many have none.
func placedFindings(t *testing.T, p *hugoProject) (want map[string]bool, unplaced int) {
	t.Helper()
	p.hugo()
	_, stdout, _ := p.run("check", "--format", "jsonl")
	want = map[string]bool{}
	for line := range strings.Lines(stdout) {
		var f struct {
			Code, Severity, Verdict string
			Source                  *struct {
				File         string
				Line, Column int
			}
		}
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		switch {
		case f.Code == "" || f.Verdict == "ok":
		case f.Source == nil:
			unplaced++
		default:
			want[fmt.Sprintf("%s:%d:%d %s %s", f.Source.File, f.Source.Line, f.Source.Column, f.Verdict+f.Severity, f.Code)] = true
		}
	}
	return want, unplaced
}

// found adds the diagnostics of a file with a text to got, in the form of placedFindings.
// It returns how many are unresolved references: no page has these, so check names no
// place in a source. It compares the ends of the ranges with writtenEnd.
func (e *lspEditor) found(root, name, text string, got map[string]bool) (refs int) {
	e.t.Helper()
	file, _ := filepath.Rel(root, name)
	for _, d := range e.open(name, text) {
		start := utf16Offset(text, d.Range.Start)
		line := strings.Count(text[:start], "\n")
		column := len([]rune(text[strings.LastIndexByte(text[:start], '\n')+1 : start]))
		severity := map[protocol.DiagnosticSeverity]string{protocol.DiagnosticSeverityError: "error", protocol.DiagnosticSeverityWarning: "warning"}[d.Severity]
		if end := utf16Offset(text, d.Range.End); end != writtenEnd(text, start) || end == start {
			e.t.Errorf("%s:%d:%d: the range is %q, not %q", file, line+1, column+1, text[start:end], text[start:writtenEnd(text, start)])
		}
		if d.Code == protocol.String("unresolved-ref") {
			refs++
			continue
		}
		got[fmt.Sprintf("%s:%d:%d %s %v", filepath.ToSlash(file), line+1, column+1, severity, d.Code)] = true
	}
	e.closeFile(name)
	return refs
}

// writtenEnd returns where the destination ends that starts at an offset: at the quote,
// bracket or white space that its first character asks for.
func writtenEnd(text string, start int) int {
	stop := map[byte]string{'"': `"`, '\'': `'`, '`': "`", '<': ">", '=': " >", '(': " )"}[text[start-1]]
	if n := strings.IndexAny(text[start:], stop+"\n"); n >= 0 && stop != "" {
		return start + n
	}
	if n := strings.IndexAny(text[start:], " \t\r\n"); n >= 0 {
		return start + n
	}
	return len(text)
}

// compareWithCheck compares the diagnostics of all sources of a project.
func compareWithCheck(t *testing.T, p *hugoProject, atLeast int) {
	t.Helper()
	want, unplaced := placedFindings(t, p)
	root := p.dir // places are relative to that of the repository
	if _, err := os.Stat(filepath.Join(filepath.Dir(root), ".git")); err == nil {
		root = filepath.Dir(root)
	}
	e := openEditor(t, p.command("sitelink", "lsp"), p.dir, false)
	got, refs := map[string]bool{}, 0
	for _, name := range e.sources() {
		refs += e.found(root, name, readFile(t, name), got)
	}
	if err := e.stop(); err != nil {
		t.Error(err)
	}
	missing, more := differences(want, got)
	t.Logf("check: %d findings at places in sources, %d without; the editor: %d and %d unresolved references; %d missing, %d more", len(want), unplaced, len(got), refs, len(missing), len(more))
	if len(missing) > 0 || len(more) > 0 || len(want) < atLeast {
		t.Errorf("missing:\n%s\nmore:\n%s", strings.Join(missing[:min(len(missing), 25)], "\n"), strings.Join(more[:min(len(more), 25)], "\n"))
	}
}

// differences returns what only one of two sets has, sorted.
func differences(want, got map[string]bool) (missing, more []string) {
	for x := range want {
		if !got[x] {
			missing = append(missing, x)
		}
	}
	for x := range got {
		if !want[x] {
			more = append(more, x)
		}
	}
	slices.Sort(missing)
	slices.Sort(more)
	return missing, more
}
