//go:build integration

package hook

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/scan/markdown"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestModules breaks links in Markdown that was not written for this test: up to three in
// each document of the modules in Go's cache. Each of them is reported at its line and
// column, and so is every other broken link of these documents. The menu around them has no
// place.
func TestModules(t *testing.T) {
	cache := testkit.Must(exec.Command("go", "env", "GOMODCACHE").Output())(t)
	var r Recorder
	md := newMarkdown(&r)
	dir := t.TempDir()
	want := map[string]check.Position{} // by destination
	files := 0
	walk := func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".md" {
			return err
		}
		source, err := os.ReadFile(name)
		if err != nil || len(source) > 200<<10 {
			return err
		}
		holdsOffsets(t, source)
		source, planted := plant(source, files)
		for destination, p := range planted {
			p.File = name
			want[destination] = p
		}
		var html bytes.Buffer
		doc, err := r.Convert(md, Input{File: name, Text: source}, &html)
		if err != nil {
			return err
		}
		page := fmt.Sprintf("%d.html", files)
		files++
		doc.Page(page)
		return os.WriteFile(filepath.Join(dir, page), []byte("<!doctype html><meta charset=utf-8><a href=menu>m</a>"+html.String()), 0o644)
	}
	testkit.Check(t, filepath.WalkDir(strings.TrimSpace(string(cache)), walk))
	result := testkit.Must(Check(t.Context(), Site{Docroot: dir, Sources: r.Sources}))(t)
	planted, links := len(want), 0
	for _, f := range result.Findings {
		switch {
		case f.Raw == "menu":
			if f.Source != nil {
				t.Errorf("the menu of %s is placed at %+v", f.Page, *f.Source)
			}
			continue
		case f.Element == "":
			continue
		case f.Source == nil:
			t.Errorf("%s:%d:%d: %s has no place", f.Page, f.Line, f.Column, f.Raw)
			continue
		}
		links++
		if p, ok := want[f.Raw]; ok {
			if *f.Source != p {
				t.Errorf("%s is at %+v, want %+v", f.Raw, *f.Source, p)
			}
			delete(want, f.Raw)
		}
	}
	for destination, p := range want {
		t.Errorf("%s at %+v is not reported", destination, p)
	}
	if planted < 100 {
		t.Errorf("only %d links were broken", planted)
	}
	t.Logf("%d files: %d links broken, %d findings in Markdown, all at their place", files, planted, links)
}

// plant replaces up to three inline destinations of a text with missing ones,
// and returns the text and their positions by destination.
func plant(source []byte, file int) ([]byte, map[string]check.Position) {
	doc := newMarkdown().Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext())).(*ast.Document)
	l := markdown.Locator{Source: source, Doc: doc}
	type place struct{ from, to int }
	var all []place
	markdown.EachLink(doc, func(n ast.Node) {
		if link, ok := n.(*ast.Link); ok && link.Reference == nil && len(link.Destination) > 0 {
			if at := l.Offset(n); at >= 0 {
				all = append(all, place{at, at + len(link.Destination)})
			}
		}
	})
	var out []byte
	planted := map[string]check.Position{}
	done := 0
	for i := 0; i < len(all); i += len(all)/3 + 1 {
		p := all[i]
		if p.from < done {
			continue // an image in a link
		}
		out = append(out, source[done:p.from]...)
		destination := fmt.Sprintf("broken-%d-%d", file, i)
		start := bytes.LastIndexByte(out, '\n') + 1
		planted[destination] = check.Position{Line: bytes.Count(out, []byte("\n")) + 1, Column: len([]rune(strings.TrimPrefix(string(out[start:]), byteOrderMark))) + 1}
		out = append(out, destination...)
		done = p.to
	}
	return append(out, source[done:]...), planted
}
