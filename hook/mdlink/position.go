package mdlink

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// locator finds where destinations are written.
type locator struct {
	source []byte
	doc    *ast.Document
	// definitions holds the reference definitions by label, once one is asked
	// for; the first of a label counts (CommonMark 0.31, section 4.7).
	definitions map[string]*ast.LinkReferenceDefinition
}

// offset returns the offset of the first byte of n's destination, of a reference
// link that is in its definition, and -1 when it cannot be told.
func (l *locator) offset(n ast.Node) int {
	switch n := n.(type) {
	case *ast.Link:
		return l.destination(n, n.Destination, n.Reference)
	case *ast.Image:
		return l.destination(n, n.Destination, n.Reference)
	case *ast.AutoLink:
		return l.alias(n.Label(l.source))
	}
	return -1 // raw HTML has places of its own
}

func (l *locator) destination(n ast.Node, destination []byte, reference *ast.ReferenceLink) int {
	if at := l.alias(destination); at >= 0 {
		return at
	}
	// The parser works on a copy of lines that begin with a part of a tab.
	if reference != nil {
		return l.definition(reference.Value)
	}
	from := end(n)
	i := bytes.Index(l.source[from:], []byte("]("))
	if i < 0 {
		return -1
	}
	return l.after(from+i+len("]("), destination)
}

// alias returns the offset of b in the source, when b is a part of it: goldmark
// cuts destinations out of the source, and a slice knows how much of its array
// is behind its start. It returns -1 when b is no part of the source.
func (l *locator) alias(b []byte) int {
	at := cap(l.source) - cap(b)
	if cap(b) == 0 || at < 0 || at+len(b) > len(l.source) || &l.source[:at+1][at] != &b[:1][0] {
		return -1
	}
	return at
}

// after returns the offset of destination, which stands at from or, behind white
// space and the marks of the blocks around it, in the next line.
func (l *locator) after(from int, destination []byte) int {
	if len(destination) == 0 {
		return from
	}
	i := bytes.Index(l.source[from:], destination)
	if i < 0 {
		return -1
	}
	return from + i
}

// definition returns where the destination of a reference stands.
func (l *locator) definition(label []byte) int {
	if l.definitions == nil {
		l.definitions = map[string]*ast.LinkReferenceDefinition{}
		_ = ast.Walk(l.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if d, ok := n.(*ast.LinkReferenceDefinition); ok && entering {
				if key := util.ToLinkReference(d.Label); l.definitions[key] == nil {
					l.definitions[key] = d
				}
			}
			return ast.WalkContinue, nil
		})
	}
	d := l.definitions[util.ToLinkReference(label)]
	if d == nil || d.Pos() < 0 {
		return -1
	}
	i := bytes.Index(l.source[d.Pos():], []byte("]:"))
	if i < 0 {
		return -1
	}
	return l.after(d.Pos()+i+len("]:"), d.Destination)
}

// end returns an offset that is behind the text of a link and before its
// destination.
func end(n ast.Node) int {
	at := max(n.Pos(), 0)
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			at = max(at, t.Segment.Stop)
		} else if entering {
			at = max(at, n.Pos())
		}
		return ast.WalkContinue, nil
	})
	return at
}

// placer turns offsets into lines and columns. It counts from the last place
// that was asked for, so that a long line costs no more than short ones.
type placer struct {
	source []byte
	starts []int // offsets of the lines
	line   int   // of the file, where the source begins
	last   int   // the offset that was asked for last
	runes  int   // code points between the start of its line and last
}

func newPlacer(source []byte, line int) *placer {
	p := &placer{source: source, starts: []int{0}, line: line}
	for i, c := range source {
		if c == '\n' {
			p.starts = append(p.starts, i+1)
		}
	}
	if bytes.HasPrefix(source, []byte(mark)) {
		p.starts[0] = len(mark) // takes no column
	}
	return p
}

// mark is the byte order mark.
const mark = "\uFEFF"

// place returns the line of the file and the column in code points, both from
// 1, of an offset that begins a character.
func (p *placer) place(offset int) (line, column int) {
	offset = max(offset, p.starts[0])
	i := sort.SearchInts(p.starts, offset+1) - 1
	start := p.starts[i]
	switch {
	case p.last < start || i+1 < len(p.starts) && p.last >= p.starts[i+1]:
		p.runes = utf8.RuneCount(p.source[start:offset])
	case p.last <= offset:
		p.runes += utf8.RuneCount(p.source[p.last:offset])
	default:
		p.runes -= utf8.RuneCount(p.source[offset:p.last])
	}
	p.last = offset
	return p.line + i, p.runes + 1
}
