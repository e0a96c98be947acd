package main

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// forgeWords is what GitHub and GitLab make links of in running text.
var forgeWords = regexp.MustCompile(`@[A-Za-z0-9]|#[0-9]|[Gg][Hh]-[0-9]|![0-9]|://|www\.`)

// ours is the HTML that the report itself writes.
var ours = regexp.MustCompile(`^(</?details>|<details><summary>[0-9,]+ (?:findings?|causes?)</summary>)\s*$`)

// markdown holds a report to what sitelink promises: what the site holds is
// shown, and does nothing.
func markdown(source []byte) error {
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	items := 0
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link, *ast.AutoLink, *ast.Image, *ast.RawHTML:
			fault("%s in %q", n.Kind(), n.Parent().Lines().Value(source))
		case *ast.CodeBlock, *ast.FencedCodeBlock, *ast.Blockquote, *ast.ThematicBreak:
			fault("a %s: %q", n.Kind(), n.Lines().Value(source))
		case *ast.HTMLBlock:
			if html := bytes.TrimSpace(n.Lines().Value(source)); !ours.Match(html) {
				fault("HTML %q", html)
			}
		case *ast.CodeSpan:
			return ast.WalkSkipChildren, nil
		case *ast.ListItem:
			items++
		case *ast.Text:
			if value := n.Segment.Value(source); forgeWords.Match(value) {
				fault("a forge acts on %q", value)
			}
		}
		return ast.WalkContinue, nil
	})
	if lines := bytes.Count(source, []byte("\n- ")); lines != items {
		fault("%d lines begin an item, %d items are read", lines, items)
	}
	return errors.Join(append(faults, err)...)
}
