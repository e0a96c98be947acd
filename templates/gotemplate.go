package templates

import (
	"errors"
	"fmt"
	"html/template"
	"strings"
	"text/template/parse"

	"github.com/sitelink/sitelink/internal/scan/html"
)

// Insert adds the elements to the head that the template t writes: right after the
// charset declaration, or at the start of the head. It only looks at text that is part
// of every page: not at what conditions and loops write. The head may be in a template
// that t calls; Insert changes it for all callers. A head that already has the elements
// stays as it is, so you can call Insert for each page template of a set.
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
	p := &plainText{set: t}
	p.list(t.Tree.Root, 0)
	h := html.ReadHead(p.text, false, len(p.text))
	elements := e.HTML(h.XHTML)
	if strings.Contains(string(p.text), elements) {
		return nil
	}
	if !h.Markup {
		return fmt.Errorf("insert elements into template %q: the page has no head, or only under a condition", t.Name())
	}
	at := place(&h, len(elements))
	for i, n := range p.nodes {
		if offset := at - p.starts[i]; offset >= 0 && offset <= len(n.Text) {
			old := string(n.Text)
			n.Text = []byte(old[:offset] + elements + old[offset:])
			return nil
		}
	}
	return fmt.Errorf("insert elements into template %q: there is no text in the head", t.Name())
}

// maxCalls is how deep templates are followed that call each other.
const maxCalls = 24

// plainText is the text that a template writes on every page, with the nodes that it
// comes from and their offsets.
type plainText struct {
	set    *template.Template
	text   []byte
	nodes  []*parse.TextNode
	starts []int
}

func (p *plainText) list(l *parse.ListNode, depth int) {
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			p.nodes, p.starts = append(p.nodes, n), append(p.starts, len(p.text))
			p.text = append(p.text, n.Text...)
		case *parse.TemplateNode:
			if called := p.set.Lookup(n.Name); called != nil && called.Tree != nil && depth < maxCalls && len(p.text) < maxHeld {
				p.list(called.Tree.Root, depth+1)
			}
		}
	}
}
