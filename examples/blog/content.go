package main

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/sitelink/sitelink/hook"
	"github.com/sitelink/sitelink/incoming/export"
)

// page is one Markdown file.
type page struct {
	File        string // notes/gates.md, below content
	Address     string // /notes/gates/
	Title, Date string
	Tags        []string
	Line        int    // of the file, where Text starts
	Text        []byte // after the front matter
	Body        template.HTML
	Mentions    []export.Item // of other sites

	doc *hook.Document
}

// addressOf returns the address of the page for a file.
func addressOf(file string) string { return "/" + strings.TrimSuffix(file, ".md") + "/" }

// readPages reads the Markdown files below dir, newest first.
func readPages(fsys fs.FS, dir string) ([]*page, error) {
	var pages []*page
	err := fs.WalkDir(fsys, dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".md" {
			return err
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		p, err := parsePage(strings.TrimPrefix(name, dir+"/"), text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		pages = append(pages, p)
		return nil
	})
	slices.SortStableFunc(pages, func(a, b *page) int { return strings.Compare(b.Date, a.Date) })
	return pages, err
}

// parsePage removes the front matter: lines "key: value" between two lines of
// three dashes.
func parsePage(file string, text []byte) (*page, error) {
	const rule = "---\n"
	head, body, ok := bytes.Cut(bytes.TrimPrefix(text, []byte(rule)), []byte("\n"+rule))
	if !ok || !bytes.HasPrefix(text, []byte(rule)) {
		return nil, fmt.Errorf("no front matter: want it between two lines ---")
	}
	p := &page{File: file, Address: addressOf(file), Text: body, Line: bytes.Count(head, []byte("\n")) + 4}
	for i, line := range strings.Split(string(head), "\n") {
		key, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); key {
		case "title":
			p.Title = value
		case "date":
			if _, err := time.Parse(time.DateOnly, value); err != nil {
				return nil, fmt.Errorf("line %d: date %q is not a date like 2026-02-01", i+2, value)
			}
			p.Date = value
		case "tags":
			p.Tags = strings.Split(value, ", ")
		default:
			return nil, fmt.Errorf("line %d: unknown key %q", i+2, key)
		}
	}
	return p, nil
}

// addresses is an extension that turns links to Markdown files, which work in
// an editor, into the addresses of their pages: gates.md#knots becomes
// /notes/gates/#knots.
type addresses struct{}

// base is the key of the rendered file in the context of a parse.
var base = parser.NewContextKey()

func (addresses) Extend(md goldmark.Markdown) {
	md.Parser().AddOptions(parser.WithASTTransformers(util.Prioritized(addresses{}, 500)))
}

func (addresses) Transform(doc *ast.Document, _ text.Reader, pc parser.Context) {
	file, _ := pc.Get(base).(string)
	// Walk returns only the errors of the callback.
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if l, ok := n.(*ast.Link); ok && entering {
			name, fragment, hash := strings.Cut(string(l.Destination), "#")
			if path.Ext(name) == ".md" && !strings.Contains(name, ":") {
				address := addressOf(path.Join(path.Dir(file), name))
				if hash {
					address += "#" + fragment
				}
				l.Destination = []byte(address)
			}
		}
		return ast.WalkContinue, nil
	})
}

// fileOf passes the name of the rendered file to the extension.
func fileOf(file string) parser.ParseOption {
	pc := parser.NewContext()
	pc.Set(base, file)
	return parser.WithContext(pc)
}
