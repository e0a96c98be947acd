package templates

import (
	"errors"
	"fmt"
	"html/template"
	"strings"
	"text/template/parse"

	"github.com/sitelink/sitelink/internal/layout"
)

// Insert puts the elements into the head that the template t writes: right
// after the charset declaration, else before </head>, and only where they stand
// on each page whose head is written. The head may lie in templates that t
// calls; they are changed for all who call them. A head that has the elements
// already stays as it is, so that each page template of a set can be given.
//
// The parsed templates are changed, not their files. Insert must be called
// before the first execution, from one goroutine. What functions and values
// write is not known; [Verify] tells whether a page is right.
func Insert(t *template.Template, e Endpoints) error {
	if e.IsZero() {
		return errors.New("insert elements: no endpoint is given")
	}
	if t == nil || t.Tree == nil {
		return errors.New("insert elements: the template is empty")
	}
	if _, err := t.Clone(); err != nil { // as html/template itself tells
		return fmt.Errorf("insert elements into template %q: it has been executed", t.Name())
	}
	texts := map[string]*treeText{}
	load := func(name, _ string) (layout.Source, bool) {
		called := t.Lookup(name)
		if called == nil || called.Tree == nil {
			return layout.Source{}, false
		}
		if texts[name] == nil {
			texts[name] = printTree(called.Tree)
		}
		return layout.Source{File: name, Text: texts[name].text, Lang: layout.Go}, true
	}
	root, _ := load(t.Name(), "")
	d := layout.Walk(root, load)
	html := e.HTML(d.XHTML)
	for _, name := range d.Files {
		if strings.Contains(string(texts[name].text), html) {
			return nil
		}
	}
	place, err := d.Place(func(string) bool { return true }, len(html))
	if err != nil {
		return fmt.Errorf("insert elements into template %q: %w", t.Name(), err)
	}
	if !texts[place.File].insert(place.Offset, html) {
		return fmt.Errorf("insert elements into template %q: no text at %s", place.File, place.What)
	}
	return nil
}

// treeText is a parsed template as text, with where its text nodes stand.
type treeText struct {
	text  []byte
	nodes []nodeText
}

type nodeText struct {
	start int
	node  *parse.TextNode
}

// printTree writes a template with the usual delimiters. Braces in text that
// would begin an action are other characters here; no length changes.
func printTree(tree *parse.Tree) *treeText {
	p := &treeText{}
	p.list(tree.Root)
	return p
}

func (p *treeText) list(l *parse.ListNode) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			p.nodes = append(p.nodes, nodeText{len(p.text), n})
			p.text = append(p.text, strings.ReplaceAll(string(n.Text), "{{", "__")...)
		case *parse.IfNode:
			p.branch("if", &n.BranchNode)
		case *parse.RangeNode:
			p.branch("range", &n.BranchNode)
		case *parse.WithNode:
			p.branch("with", &n.BranchNode)
		case *parse.TemplateNode:
			// Elements need no data, so what is handed over does not matter.
			p.text = append(p.text, fmt.Sprintf("{{template %q .}}", n.Name)...)
		default:
			p.text = append(p.text, n.String()...)
		}
	}
}

func (p *treeText) branch(word string, n *parse.BranchNode) {
	p.text = append(p.text, "{{"+word+" x}}"...)
	p.list(n.List)
	if n.ElseList != nil {
		p.text = append(p.text, "{{else}}"...)
		p.list(n.ElseList)
	}
	p.text = append(p.text, "{{end}}"...)
}

// insert puts html into the text node at offset; false if there is none.
func (p *treeText) insert(offset int, html string) bool {
	for _, n := range p.nodes {
		if i := offset - n.start; i >= 0 && i <= len(n.node.Text) {
			old := string(n.node.Text)
			n.node.Text = []byte(old[:i] + html + old[i:])
			return true
		}
	}
	return false
}
