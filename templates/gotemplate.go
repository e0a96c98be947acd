package templates

import (
	"errors"
	"fmt"
	"html/template"
	"strings"
	"text/template/parse"

	"github.com/sitelink/sitelink/internal/layout"
)

// Insert adds the elements to the head that the template t writes: right after
// the charset declaration, or else before </head>, and only at a place that is
// part of every page with that head. The head may be in a template that t calls;
// Insert changes it for all callers. A head that already has the elements stays
// as it is, so you can call Insert for each page template of a set.
//
// Insert changes parsed templates, not files. Call it before the first
// execution, from one goroutine. It cannot know what functions and values write;
// check a finished page with [Verify].
func Insert(t *template.Template, e Endpoints) error {
	if e.IsZero() {
		return errors.New("insert elements: no endpoint given")
	}
	if t == nil || t.Tree == nil {
		return errors.New("insert elements: the template is empty")
	}
	if _, err := t.Clone(); err != nil { // html/template refuses to clone then
		return fmt.Errorf("insert elements into template %q: it has already been executed; insert before the first page", t.Name())
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
	place, err := d.Place(func(string) bool { return true }, len(html), layout.Built{})
	if err != nil {
		return fmt.Errorf("insert elements into template %q: %w", t.Name(), err)
	}
	if !texts[place.File].insert(place.Offset, html) {
		return fmt.Errorf("insert elements into template %q: there is no text %s", place.File, place.What)
	}
	return nil
}

// treeText is a parsed template printed as text, with the places of its text
// nodes.
type treeText struct {
	text  []byte
	nodes []nodeText
}

type nodeText struct {
	start int
	node  *parse.TextNode
}

// printTree prints a template with the default delimiters. Braces in text that
// would start an action become other characters of the same length.
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
			// The argument does not matter: the elements need no data.
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

// insert adds html to the text node at offset. It returns false when there is no
// text node.
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
