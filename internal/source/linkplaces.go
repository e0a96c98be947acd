package source

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	gtext "github.com/yuin/goldmark/text"
)

// linkPlaces is goldmark's parser of links that also remembers where their
// destinations begin: the syntax tree tells only where a link does.
type linkPlaces struct {
	parser.InlineParser
	at map[ast.Node]int // inline links only
}

func (p *linkPlaces) Parse(parent ast.Node, block gtext.Reader, pc parser.Context) ast.Node {
	at := -1
	if line, _ := block.PeekLine(); len(line) > 1 && line[0] == ']' && line[1] == '(' {
		l, pos := block.Position()
		block.Advance(2)
		block.SkipSpaces()
		if line, s := block.PeekLine(); len(line) > 0 {
			at = s.Start
			if line[0] == '<' {
				at++
			}
		}
		block.SetPosition(l, pos)
	}
	n := p.InlineParser.Parse(parent, block, pc)
	if n == nil || at < 0 {
		return n
	}
	switch l := n.(type) {
	case *ast.Link:
		if l.Reference == nil {
			p.at[n] = at
		}
	case *ast.Image:
		if l.Reference == nil {
			p.at[n] = at
		}
	}
	return n
}

// CloseBlock makes goldmark tidy up the brackets that open no link.
func (p *linkPlaces) CloseBlock(parent ast.Node, block gtext.Reader, pc parser.Context) {
	if c, ok := p.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
}
