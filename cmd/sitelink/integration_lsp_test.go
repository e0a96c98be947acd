//go:build integration && linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/sitelink/sitelink/internal/testkit"
)

// Figures of the language server on a site of 10,000 pages: the longest times, for 95
// of 100 requests, and the memory in terms of that of a check.
const (
	lspDiagnostics = 20 * time.Millisecond
	lspCompletion  = 30 * time.Millisecond
	lspReferences  = 50 * time.Millisecond
	lspMemory      = 2.0
)

// largeBlog writes a project of Hugo with its built site: each page has a menu and
// ten links in its text.
func largeBlog(t *testing.T, dir string, pages int) {
	t.Helper()
	write := func(name, text string) {
		testkit.Write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	write("hugo.toml", "baseURL = 'https://example.org/'\n")
	random := rand.New(rand.NewPCG(1, 2))
	address := func(i int) string { return fmt.Sprintf("/section-%02d/page-%05d/", i%50, i) }
	menu := "<nav>"
	for i := range 30 {
		menu += fmt.Sprintf(`<a href="%s">Page %d</a>`, address(i), i)
	}
	menu += "</nav>"
	write("public/index.html", "<!DOCTYPE html><html><head><title>Home</title></head><body>"+menu+"</body></html>")
	filler := strings.Repeat("The quick brown fox jumps over the lazy dog, and then it does so again. ", 20)
	for i := range pages {
		var source, built strings.Builder
		fmt.Fprintf(&source, "---\ntitle: Page %d about things\n---\n\n", i)
		for part := range 5 {
			a, b := random.IntN(pages), random.IntN(pages)
			fmt.Fprintf(&source, "## Part %d\n\n%s See [page %d](%s) and [part](%s#part-2).\n\n", part, filler, a, address(a), address(b))
			fmt.Fprintf(&built, "<h2 id=\"part-%d\">Part %d</h2><p>%s See <a href=\"%s\">page %d</a> and <a href=\"%s#part-2\">part</a>.</p>\n", part, part, filler, address(a), a, address(b))
		}
		name := strings.Trim(address(i), "/")
		write("content/"+name+".md", source.String())
		write("public/"+name+"/index.html", "<!DOCTYPE html><html><head><title>Page</title></head><body>"+menu+"<main>"+built.String()+"</main></body></html>")
	}
}

// TestLSPFigures measures the language server. The figures fail it only with
// SITELINK_FIGURES=1, on a machine that does nothing else; more than two and a
// half times the memory of a check always does. Without the variable the site is smaller.
func TestLSPFigures(t *testing.T) {
	dir := t.TempDir()
	pages := 2_000
	if os.Getenv("SITELINK_FIGURES") != "" {
		pages = 10_000
	}
	largeBlog(t, dir, pages)
	env := append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir(), "PATH="+onlySitelink(t))
	check := exec.Command("sitelink", "check")
	check.Dir, check.Env = dir, env
	testkit.Run(t, check)
	most := check.ProcessState.SysUsage().(*syscall.Rusage).Maxrss

	cmd := exec.Command("sitelink", "lsp")
	cmd.Dir, cmd.Env, cmd.Stderr = dir, env, os.Stderr
	shown := make(chan int32, 10_000)
	s := startLSP(t, cmd, func(method string, params []byte) {
		var p protocol.PublishDiagnosticsParams
		if method == protocol.MethodTextDocumentPublishDiagnostics && protocol.Unmarshal(params, &p) == nil {
			if v, ok := p.Version.Get(); ok {
				shown <- v
			}
		}
	})
	ctx := t.Context()
	begin := time.Now()
	testkit.Check(t, initializeLSP(ctx, s.Server, dir))
	s.waitEnd(t)
	t.Logf("ready after %v", time.Since(begin).Round(time.Millisecond))
	name := filepath.Join(dir, "content", "section-07", "page-00007.md")
	text := testkit.Read(t, name)
	doc := protocol.TextDocumentIdentifier{URI: uri.File(name)}
	s.DidOpen(ctx, &protocol.DidOpenTextDocumentParams{TextDocument: protocol.TextDocumentItem{URI: doc.URI, LanguageID: "markdown", Version: 1, Text: string(text)}})
	version := int32(1)
	wait := func() {
		for v := range shown {
			if v == version {
				return
			}
		}
	}
	wait()
	change := func(line uint32, text string) {
		version++
		p := &protocol.DidChangeTextDocumentParams{}
		p.TextDocument.URI, p.TextDocument.Version = doc.URI, version
		at := protocol.Position{Line: line}
		p.ContentChanges = append(p.ContentChanges, &protocol.TextDocumentContentChangePartial{Range: protocol.Range{Start: at, End: at}, Text: text})
		testkit.Check(t, s.DidChange(ctx, p))
		wait()
	}
	const times = 300
	percentile := func(what string, limit time.Duration, request func(i int)) {
		var all []time.Duration
		for i := range times {
			begin := time.Now()
			request(i)
			all = append(all, time.Since(begin))
		}
		slices.Sort(all)
		at := all[times*95/100]
		t.Logf("%s: %v at the 95th percentile, %v at most", what, at, all[times-1])
		if at > limit && os.Getenv("SITELINK_FIGURES") != "" {
			t.Errorf("%s take %v at the 95th percentile, more than %v", what, at, limit)
		}
	}
	percentile("diagnostics", lspDiagnostics, func(i int) {
		change(4, fmt.Sprintf("[x](/section-%02d/page-%05d/#part-%d) ", i%60, i, i%7))
	})
	change(5, "[y](/section\n")
	percentile("completion", lspCompletion, func(i int) {
		at := protocol.Position{Line: 5, Character: 5 + uint32(i%8)}
		r, err := s.Completion(ctx, &protocol.CompletionParams{TextDocumentPositionParams: protocol.TextDocumentPositionParams{TextDocument: doc, Position: at}})
		if list, ok := r.(*protocol.CompletionList); err != nil || !ok || len(list.Items) == 0 {
			t.Fatalf("completion: %v %v", r, err)
		}
	})
	change(5, "[z](/section-00/page-00000/) [w](/section-12/page-00012/#part-2)\n")
	percentile("references", lspReferences, func(i int) {
		at := protocol.Position{Line: 5, Character: 6 + uint32(i%2)*30}
		r, err := s.References(ctx, &protocol.ReferenceParams{TextDocumentPositionParams: protocol.TextDocumentPositionParams{TextDocument: doc, Position: at}})
		if err != nil || len(r) == 0 {
			t.Fatalf("references: %v %v", r, err)
		}
	})
	// The generator writes the whole site again: while it is read, two are in memory.
	for len(s.ended) > 0 {
		<-s.ended
	}
	largeBlog(t, dir, pages)
	s.waitEnd(t)
	used := peakMemory(t, cmd.Process.Pid)
	ratio := float64(used) / float64(most)
	t.Logf("memory: %d KiB, a check %d KiB: %.2f", used, most, ratio)
	// With one address more, the server can keep nothing of what it knows of the sources.
	change(5, "[q](/one-m\n")
	largeBlog(t, dir, pages)
	testkit.Write(t, filepath.Join(dir, "public", "one-more", "index.html"), "<!DOCTYPE html><html><head><title>More</title></head><body></body></html>")
	for known := false; !known; {
		s.waitEnd(t)
		at := protocol.Position{Line: 5, Character: 10}
		r, err := s.Completion(ctx, &protocol.CompletionParams{TextDocumentPositionParams: protocol.TextDocumentPositionParams{TextDocument: doc, Position: at}})
		list, ok := r.(*protocol.CompletionList)
		if err != nil || !ok {
			t.Fatalf("completion: %v %v", r, err)
		}
		known = len(list.Items) == 1 && list.Items[0].Label == "/one-more/"
	}
	more := peakMemory(t, cmd.Process.Pid)
	t.Logf("memory with another address: %d KiB: %.2f", more, float64(more)/float64(most))
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if ratio > 2.5 || ratio > lspMemory && os.Getenv("SITELINK_FIGURES") != "" {
		t.Errorf("the server takes %.2f times the memory of a check, more than %.1f", ratio, lspMemory)
	}
}

// peakMemory returns the most memory that a process has had so far, in KiB.
func peakMemory(t *testing.T, pid int) (kib int64) {
	t.Helper()
	for line := range strings.Lines(readFile(t, fmt.Sprintf("/proc/%d/status", pid))) {
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
			return kib
		}
	}
	t.Fatal("the system does not tell the memory of a process")
	return 0
}

// onlySitelink returns a directory with no program but sitelink.
func onlySitelink(t *testing.T) string {
	t.Helper()
	program := testkit.Must(exec.LookPath("sitelink"))(t)
	dir := t.TempDir()
	testkit.Check(t, os.Symlink(program, filepath.Join(dir, "sitelink")))
	return dir
}
