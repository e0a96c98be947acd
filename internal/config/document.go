package config

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"go.yaml.in/yaml/v3"

	"github.com/sitelink/sitelink/internal/text"
)

// Error is one fault of the configuration.
type Error struct {
	// Name is the file, the variable or the flag that has the fault.
	Name string
	// Line and Column count from 1, Column in bytes. Both are 0 outside files.
	Line, Column int
	// Msg describes the fault. Hint is what to write instead, if that is known.
	Msg, Hint string
}

// Error returns "sitelink.toml:3:1: message", or "--jobs: message".
func (e *Error) Error() string {
	s := e.place()
	if e.Column > 0 {
		s += ":" + strconv.Itoa(e.Column)
	}
	return s + ": " + e.Msg
}

func (e *Error) place() string {
	if e.Line == 0 {
		return e.Name
	}
	return e.Name + ":" + strconv.Itoa(e.Line)
}

// node is a value of a TOML document. The different ways to write a table
// ([table], {inline = 1} and dotted.keys = 1) all become the same nodes.
type node struct {
	kind   unstable.Kind
	text   string // of a string, a number or a boolean
	items  []*node
	keys   []*entry // of a table, in the order of the file
	byName map[string]*entry

	at       *Error // the place of the table's header, or of its opening brace
	isHeader bool   // a table written [table] or [[table]]
}

// entry is a key of a table with its value.
type entry struct {
	name  string
	at    *Error
	value *node
}

// document parses the text of a configuration file. Every place in it is an
// [*Error] without a message.
func document(name string, data []byte) (*node, *Error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // some editors on Windows write a byte order mark
	// The decoder checks the syntax, and that no key or table is defined twice.
	// It does not return the places of valid values, hence the second pass.
	var values map[string]any
	if err := toml.Unmarshal(data, &values); err != nil {
		e := &Error{Name: name, Line: 1, Msg: strings.TrimPrefix(err.Error(), "toml: ")}
		var decode *toml.DecodeError
		if errors.As(err, &decode) {
			e.Line, e.Column = decode.Position()
		}
		return nil, e
	}
	w := &walk{name: name}
	for i, c := range data {
		if c == '\n' {
			w.lineEnds = append(w.lineEnds, i)
		}
	}
	top := newTableNode(&Error{Name: name, Line: 1, Column: 1})
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
		return nil, &Error{Name: name, Line: 1, Msg: err.Error()}
	}
	return top, nil
}

func newTableNode(at *Error) *node {
	return &node{kind: unstable.InlineTable, at: at, byName: map[string]*entry{}}
}

// walk is the pass over one document.
type walk struct {
	name     string
	parser   unstable.Parser
	lineEnds []int
}

// at returns the place of n.
func (w *walk) at(n *unstable.Node) *Error {
	offset := int(n.Raw.Offset)
	line, _ := slices.BinarySearch(w.lineEnds, offset)
	start := 0
	if line > 0 {
		start = w.lineEnds[line-1] + 1
	}
	return &Error{Name: w.name, Line: line + 1, Column: offset - start + 1}
}

// path returns the parts of a dotted key and the place of the first.
func (w *walk) path(it unstable.Iterator) (parts []string, at *Error) {
	for it.Next() {
		if at == nil {
			at = w.at(it.Node())
		}
		parts = append(parts, string(it.Node().Data))
	}
	return parts, at
}

// header returns the table that begins with the line n.
func (w *walk) header(top *node, n *unstable.Node) *node {
	path, at := w.path(n.Key())
	last := len(path) - 1
	parent := top
	for _, name := range path[:last] {
		parent = parent.child(name, at)
	}
	if n.Kind == unstable.Table {
		t := parent.child(path[last], at)
		t.at, t.isHeader = at, true
		return t
	}
	t := newTableNode(at)
	t.isHeader = true
	list := parent.byName[path[last]]
	if list == nil {
		list = parent.add(path[last], at, &node{kind: unstable.Array, at: at, isHeader: true})
	}
	list.value.items = append(list.value.items, t)
	return t
}

// child returns the table of that name in t, which it creates if needed. For a
// list of tables it is the last one.
func (t *node) child(name string, at *Error) *node {
	e := t.byName[name]
	if e == nil {
		e = t.add(name, at, newTableNode(at))
		e.value.isHeader = true
	}
	if n := len(e.value.items); n > 0 {
		return e.value.items[n-1]
	}
	return e.value
}

func (t *node) add(name string, at *Error, value *node) *entry {
	e := &entry{name, at, value}
	if t.byName == nil { // the decoder has refused documents that add keys to a value
		t.byName = map[string]*entry{}
	}
	t.keys = append(t.keys, e)
	t.byName[name] = e
	return e
}

func (w *walk) keyValue(t *node, n *unstable.Node) {
	path, at := w.path(n.Key())
	last := len(path) - 1
	for _, name := range path[:last] {
		t = t.child(name, at)
		t.isHeader = false
	}
	t.add(path[last], at, w.value(n.Value(), at))
}

// value copies n, whose memory the parser uses again. at is the place of its
// key.
func (w *walk) value(n *unstable.Node, at *Error) *node {
	switch n.Kind {
	case unstable.InlineTable:
		t := newTableNode(w.at(n))
		for it := n.Children(); it.Next(); {
			w.keyValue(t, it.Node())
		}
		return t
	case unstable.Array:
		list := &node{kind: n.Kind, at: at}
		for it := n.Children(); it.Next(); {
			list.items = append(list.items, w.value(it.Node(), at))
		}
		return list
	}
	return &node{kind: n.Kind, text: string(n.Data), at: at}
}

// describe names the type of a value for a person.
func (n *node) describe() string {
	switch n.kind {
	case unstable.String:
		return "a string"
	case unstable.Bool:
		return n.text
	case unstable.Integer, unstable.Float:
		return "the number " + n.text
	case unstable.Array:
		return "a list"
	case unstable.InlineTable:
		return "a table"
	}
	return "a date or time"
}

// TOML parses a document into nodes of YAML, which have the lines. Strings have a tag.
func TOML(data []byte) (*yaml.Node, *Error) {
	if line, err := text.BoundTOML(data); err != nil {
		return nil, &Error{Line: line, Msg: err.Error()}
	}
	n, err := document("", data)
	if err != nil {
		return nil, err
	}
	return n.yaml(), nil
}

func (n *node) yaml() *yaml.Node {
	y := &yaml.Node{Kind: yaml.ScalarNode, Value: n.text, Line: n.at.Line}
	switch n.kind {
	case unstable.String:
		y.Tag = "!!str"
	case unstable.Array:
		y.Kind = yaml.SequenceNode
	case unstable.InlineTable:
		y.Kind = yaml.MappingNode
	}
	for _, item := range n.items {
		y.Content = append(y.Content, item.yaml())
	}
	for _, e := range n.keys {
		member := e.value.yaml()
		member.Line = e.at.Line
		y.Content = append(y.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: e.name, Line: e.at.Line}, member)
	}
	return y
}
