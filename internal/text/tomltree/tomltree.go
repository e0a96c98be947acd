// Package tomltree reads a TOML document as a tree in which each key and table has its place,
// within limits that keep a hostile document cheap.
package tomltree

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"go.yaml.in/yaml/v3"
)

// Place is where a key or a table begins. Both count from 1, Column in bytes.
type Place struct{ Line, Column int }

// Error is what keeps a document from being read. Column is 0 if only the line is known.
type Error struct {
	Place
	Msg string
}

// Node is a value of a TOML document. The different ways to write a table
// ([table], {inline = 1} and dotted.keys = 1) all become the same nodes.
type Node struct {
	Kind   unstable.Kind // InlineTable for every table
	Text   string        // of a string, a number or a boolean
	Items  []*Node       // of an array
	Keys   []*Entry      // of a table, in the order of the file
	ByName map[string]*Entry

	At       Place // of the table's header, or of its opening brace; of another value, that of its key
	IsHeader bool  // a table written [table] or [[table]]
}

// Entry is a key of a table with its value.
type Entry struct {
	Name  string
	At    Place
	Value *Node
}

// Parse returns the top table of a document.
func Parse(data []byte) (*Node, *Error) {
	if line, err := Bound(data); err != nil {
		return nil, &Error{Place{Line: line}, err.Error()}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // some editors on Windows write a byte order mark
	// The decoder checks the syntax, and that no key or table is defined twice.
	// It does not return the places of valid values, hence the second pass.
	var values map[string]any
	if err := toml.Unmarshal(data, &values); err != nil {
		e := &Error{Place{Line: 1}, strings.TrimPrefix(err.Error(), "toml: ")}
		var decode *toml.DecodeError
		if errors.As(err, &decode) {
			e.Line, e.Column = decode.Position()
		}
		return nil, e
	}
	w := &walk{}
	for i, c := range data {
		if c == '\n' {
			w.lineEnds = append(w.lineEnds, i)
		}
	}
	top := newTable(Place{1, 1})
	current := top
	w.parser.Reset(data)
	for w.parser.NextExpression() {
		switch n := w.parser.Expression(); n.Kind {
		case unstable.Table, unstable.ArrayTable:
			current = w.header(top, n)
		case unstable.KeyValue:
			w.keyValue(current, n)
		}
	}
	if err := w.parser.Error(); err != nil {
		return nil, &Error{Place{Line: 1}, err.Error()}
	}
	return top, nil
}

func newTable(at Place) *Node {
	return &Node{Kind: unstable.InlineTable, At: at, ByName: map[string]*Entry{}}
}

// walk is the pass over one document.
type walk struct {
	parser   unstable.Parser
	lineEnds []int
}

// at returns the place of n.
func (w *walk) at(n *unstable.Node) Place {
	offset := int(n.Raw.Offset)
	line, _ := slices.BinarySearch(w.lineEnds, offset)
	start := 0
	if line > 0 {
		start = w.lineEnds[line-1] + 1
	}
	return Place{line + 1, offset - start + 1}
}

// path returns the parts of a dotted key and the place of the first.
func (w *walk) path(it unstable.Iterator) (parts []string, at Place) {
	for it.Next() {
		if at == (Place{}) {
			at = w.at(it.Node())
		}
		parts = append(parts, string(it.Node().Data))
	}
	return parts, at
}

// header returns the table that begins with the line n.
func (w *walk) header(top *Node, n *unstable.Node) *Node {
	path, at := w.path(n.Key())
	last := len(path) - 1
	parent := top
	for _, name := range path[:last] {
		parent = parent.child(name, at)
	}
	if n.Kind == unstable.Table {
		t := parent.child(path[last], at)
		t.At, t.IsHeader = at, true
		return t
	}
	t := newTable(at)
	t.IsHeader = true
	list := parent.ByName[path[last]]
	if list == nil {
		list = parent.add(path[last], at, &Node{Kind: unstable.Array, At: at, IsHeader: true})
	}
	list.Value.Items = append(list.Value.Items, t)
	return t
}

// child returns the table of that name in t, which it creates if needed. For a
// list of tables it is the last one.
func (t *Node) child(name string, at Place) *Node {
	e := t.ByName[name]
	if e == nil {
		e = t.add(name, at, newTable(at))
		e.Value.IsHeader = true
	}
	if n := len(e.Value.Items); n > 0 {
		return e.Value.Items[n-1]
	}
	return e.Value
}

func (t *Node) add(name string, at Place, value *Node) *Entry {
	e := &Entry{name, at, value}
	if t.ByName == nil { // the decoder has refused documents that add keys to a value
		t.ByName = map[string]*Entry{}
	}
	t.Keys = append(t.Keys, e)
	t.ByName[name] = e
	return e
}

func (w *walk) keyValue(t *Node, n *unstable.Node) {
	path, at := w.path(n.Key())
	last := len(path) - 1
	for _, name := range path[:last] {
		t = t.child(name, at)
		t.IsHeader = false
	}
	t.add(path[last], at, w.value(n.Value(), at))
}

// value copies n, because the parser reuses its memory. at is the place of its
// key.
func (w *walk) value(n *unstable.Node, at Place) *Node {
	switch n.Kind {
	case unstable.InlineTable:
		t := newTable(w.at(n))
		for it := n.Children(); it.Next(); {
			w.keyValue(t, it.Node())
		}
		return t
	case unstable.Array:
		list := &Node{Kind: n.Kind, At: at}
		for it := n.Children(); it.Next(); {
			list.Items = append(list.Items, w.value(it.Node(), at))
		}
		return list
	}
	return &Node{Kind: n.Kind, Text: string(n.Data), At: at}
}

// Describe names the type of a value for a person.
func (n *Node) Describe() string {
	switch n.Kind {
	case unstable.String:
		return "a string"
	case unstable.Bool:
		return n.Text
	case unstable.Integer, unstable.Float:
		return "the number " + n.Text
	case unstable.Array:
		return "a list"
	case unstable.InlineTable:
		return "a table"
	}
	return "a date or time"
}

// YAML returns n as nodes of YAML, which have the lines. Strings have a tag.
func (n *Node) YAML() *yaml.Node {
	y := &yaml.Node{Kind: yaml.ScalarNode, Value: n.Text, Line: n.At.Line}
	switch n.Kind {
	case unstable.String:
		y.Tag = "!!str"
	case unstable.Array:
		y.Kind = yaml.SequenceNode
	case unstable.InlineTable:
		y.Kind = yaml.MappingNode
	}
	for _, item := range n.Items {
		y.Content = append(y.Content, item.YAML())
	}
	for _, e := range n.Keys {
		member := e.Value.YAML()
		member.Line = e.At.Line
		y.Content = append(y.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: e.Name, Line: e.At.Line}, member)
	}
	return y
}
