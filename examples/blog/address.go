package main

import (
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// addresses is an extension that replaces links to Markdown files, which work in
// an editor, with the addresses of their pages: gates.md#knots becomes
// /notes/gates/#knots.
type addresses struct{}

// base is the key of the rendered file in the context of a parse.
var base = parser.NewContextKey()

func (addresses) Extend(md goldmark.Markdown) {
	md.Parser().AddOptions(parser.WithASTTransformers(util.Prioritized(addresses{}, 500)))
}

func (addresses) Transform(doc *ast.Document, _ text.Reader, pc parser.Context) {
	file, _ := pc.Get(base).(string)
	// Walk returns only errors of the callback, which has none.
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
