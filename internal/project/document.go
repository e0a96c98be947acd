package project

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/text/tomltree"
)

// maxFileBytes is how much of a file is read; maxFiles how many of a directory are.
const (
	maxFileBytes = 256 << 10
	maxFiles     = 50
)

// read returns the beginning of a file by its absolute path, and nil for one that is not
// a regular file or leads out of its repository: a checkout may be hostile.
func (p *Project) read(name string) []byte {
	if !lexists(name) {
		return nil
	}
	if _, where := system.Outside(p.rootFor(name), name); where != "" {
		return nil
	}
	f, err := system.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes))
	if err != nil || data == nil {
		return nil
	}
	return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
}

// value is a value in a YAML, JSON or TOML file. The zero value is one that is missing.
type value struct {
	node   *yaml.Node
	budget *int // of the values that are still looked at
}

// maxValues bounds the values of a file that are looked at, with its aliases expanded.
const maxValues = 20_000

// document reads a file in one of these languages, by the extension of its name. A file
// with a syntax error has no values.
func (p *Project) document(name string) (value, bool) {
	data := p.read(name)
	if data == nil {
		return value{}, false
	}
	budget := maxValues
	v := value{budget: &budget}
	switch filepath.Ext(name) {
	case ".toml":
		if document, err := tomltree.Parse(data); err == nil {
			v.node = document.YAML()
		}
	case ".json", ".jsonc":
		data = text.BlankComments(data)
		fallthrough
	default:
		var top yaml.Node
		if yaml.Unmarshal(data, &top) == nil && len(top.Content) > 0 {
			v.node = top.Content[0]
		}
	}
	return v, true
}

// of returns v with node n, its alias resolved.
func (v value) of(n *yaml.Node) value {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if *v.budget--; *v.budget < 0 {
		n = nil
	}
	return value{n, v.budget}
}

// get returns the value of a key, "a.b" for b in a; of several keys with blanks between
// them it returns that of the first with a value.
func (v value) get(keys string) value {
	for key := range strings.FieldsSeq(keys) {
		at := v
		for name := range strings.SplitSeq(key, ".") {
			at = at.member(name)
		}
		if at.node != nil {
			return at
		}
	}
	return value{}
}

// member returns the value of a key of a table.
func (v value) member(name string) value {
	if v.node != nil && v.node.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(v.node.Content); i += 2 {
			if v.node.Content[i].Value == name {
				return v.of(v.node.Content[i+1])
			}
		}
	}
	return value{}
}

// each calls f for the members of a table.
func (v value) each(f func(key string, member value)) {
	if v.node == nil || v.node.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		f(v.node.Content[i].Value, v.of(v.node.Content[i+1]))
	}
}

// list returns the elements of a list; any other value is a list of one.
func (v value) list() (all []value) {
	if v.node == nil || v.node.Kind != yaml.SequenceNode {
		return []value{v}
	}
	for _, n := range v.node.Content {
		all = append(all, v.of(n))
	}
	return all
}

// text returns a scalar as it is written, "" for any other value.
func (v value) text() string {
	if v.node == nil || v.node.Kind != yaml.ScalarNode || v.node.Tag == "!!null" {
		return ""
	}
	return v.node.Value
}

// with returns a text at the line of v, as a value.
func (v value) with(text string) value {
	return value{&yaml.Node{Kind: yaml.ScalarNode, Value: text, Line: v.line()}, v.budget}
}

// lines returns a scalar, or those of a list, as lines.
func (v value) lines() string {
	var b strings.Builder
	for _, one := range v.list() {
		b.WriteString(one.text() + "\n")
	}
	return b.String()
}

func (v value) line() int {
	if v.node == nil {
		return 0
	}
	return v.node.Line
}
