package hook_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/yuin/goldmark"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/hook"
)

const markdown = "# A\n\nSee [b](b.html) and [the end][end].\n\n[end]: #end\n"

// TestRecorder renders a text, builds a page of it, and finds the broken links in
// the Markdown.
func TestRecorder(t *testing.T) {
	var links hook.Recorder
	md := goldmark.New(goldmark.WithExtensions(&links))
	var html bytes.Buffer
	html.WriteString("<!doctype html><title>A</title>\n")
	doc, err := links.Convert(md, hook.Input{File: "content/a.md", Line: 5, Text: []byte(markdown)}, &html)
	if err != nil {
		t.Fatal(err)
	}
	doc.Page("a.html")
	docroot := t.TempDir()
	if err := os.WriteFile(filepath.Join(docroot, "a.html"), html.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	result, err := hook.Check(context.Background(), hook.Site{Docroot: docroot, Sources: links.Sources})
	if err != nil {
		t.Fatal(err)
	}
	want := []check.Position{{File: "content/a.md", Line: 7, Column: 9}, {File: "content/a.md", Line: 9, Column: 8}}
	if len(result.Findings) != len(want) {
		t.Fatalf("%d findings, want %d: %+v", len(result.Findings), len(want), result.Findings)
	}
	for i, f := range result.Findings {
		if f.Source == nil || *f.Source != want[i] {
			t.Errorf("finding %d: source %+v, want %+v", i, f.Source, want[i])
		}
	}
	if n := len(doc.Links()); n != 2 {
		t.Errorf("the document has %d links, want 2", n)
	}
}

// TestRelative reports a missing file while the text is rendered.
func TestRelative(t *testing.T) {
	var links hook.Recorder
	var missing []hook.Link
	md := goldmark.New(goldmark.WithExtensions(&links, hook.Relative{
		Resolve: hook.InFiles(fstest.MapFS{"content/a.md": {}}),
		Report:  func(l hook.Link) { missing = append(missing, l) },
	}))
	if _, err := links.Convert(md, hook.Input{File: "content/a.md", Text: []byte(markdown)}, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	want := hook.Link{Destination: "b.html", Position: check.Position{File: "content/a.md", Line: 3, Column: 9}}
	if len(missing) != 1 || missing[0] != want {
		t.Errorf("missing: %+v, want %+v", missing, want)
	}
}
