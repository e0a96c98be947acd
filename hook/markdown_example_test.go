package hook_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/yuin/goldmark"

	"github.com/sitelink/sitelink/hook"
)

// Build a page from Markdown and check it.
func ExampleRecorder() {
	var links hook.Recorder
	md := goldmark.New(goldmark.WithExtensions(&links))

	text := []byte("# Boats\n\nSee the [harbour](harbor.html).\n")
	var html bytes.Buffer
	doc, err := links.Convert(md, hook.Input{File: "content/boats.md", Text: text}, &html)
	if err != nil {
		fmt.Println(err)
		return
	}

	docroot, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(docroot)
	for name, page := range map[string]string{
		"boats.html":   "<!doctype html><title>Boats</title>" + html.String(),
		"harbour.html": "<!doctype html><title>Harbour</title>",
	} {
		if err := os.WriteFile(filepath.Join(docroot, name), []byte(page), 0o644); err != nil {
			fmt.Println(err)
			return
		}
	}
	doc.Page("boats.html")

	result, err := hook.Check(context.Background(), hook.Site{Docroot: docroot, Sources: links.Sources})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range result.Findings {
		fmt.Printf("%s:%d:%d: %s; did you mean %s?\n", f.Source.File, f.Source.Line, f.Source.Column, f.Message, f.Suggestion)
	}
	// Output:
	// content/boats.md:3:19: file not found: /harbor.html; did you mean harbour.html?
}

// Report relative links to missing files while they are rendered.
func ExampleRelative() {
	files := fstest.MapFS{"content/harbour.md": {}}
	var links hook.Recorder
	md := goldmark.New(goldmark.WithExtensions(&links, hook.Relative{
		Resolve: hook.InFiles(files),
		Report: func(l hook.Link) {
			fmt.Printf("%s:%d:%d: no such file: %s\n", l.Position.File, l.Position.Line, l.Position.Column, l.Destination)
		},
	}))
	text := []byte("From the [harbour](harbour.md)\nto the [lighthouse][l].\n\n[l]: light.md\n")
	if _, err := links.Convert(md, hook.Input{File: "content/boats.md", Text: text}, &bytes.Buffer{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// content/boats.md:4:6: no such file: light.md
}
