package redirect

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// NetlifyTOML reads [[redirects]] and [[headers]] of netlify.toml, and publish
// of [build]. Netlify asks the rules of _redirects first, so that file stands
// before this one in [New]. The older names of the fields (origin, destination,
// params, sign ...) are read as Netlify's parser reads them.
func NetlifyTOML(name string, data []byte) *File {
	f := &File{Name: name, Settings: Settings{Dir: "/"}}
	data = bytes.TrimPrefix(data, []byte(bom))
	var document map[string]any
	if err := toml.Unmarshal(data, &document); err != nil {
		line := 1
		var decode *toml.DecodeError
		if errors.As(err, &decode) {
			line, _ = decode.Position()
		}
		f.fault(CodeSyntax, Error, line, "", "the file cannot be read: "+strings.TrimPrefix(err.Error(), "toml: "))
		return f
	}
	if build, ok := document["build"].(map[string]any); ok {
		f.Settings.Public, _ = build["publish"].(string)
	}
	lines := tomlLines(data)
	for i, table := range f.tables(document, "redirects", lines) {
		f.netlifyTable(table, lineAt(lines["redirects"], i))
	}
	for i, table := range f.tables(document, "headers", lines) {
		f.netlifyHeaders(table, lineAt(lines["headers"], i))
	}
	return f
}

// tables returns the list of tables of that name.
func (f *File) tables(document map[string]any, name string, lines map[string][]int) []map[string]any {
	value, ok := document[name]
	if !ok {
		return nil
	}
	list, ok := value.([]any)
	if !ok {
		f.fault(CodeSyntax, Error, lineAt(lines[name], 0), "", name+" must be a list of tables: write [["+name+"]]")
		return nil
	}
	out := make([]map[string]any, 0, len(list))
	for i, element := range list {
		table, ok := element.(map[string]any)
		if !ok {
			f.fault(CodeSyntax, Error, lineAt(lines[name], i), "", name+" holds something else than a table")
		}
		out = append(out, table) // nil keeps the count
	}
	return out
}

func lineAt(lines []int, i int) int {
	if i < len(lines) {
		return lines[i]
	}
	return 1
}

// tomlLines returns the line of each element of a list of tables, written as
// [[name]] or in line.
func tomlLines(data []byte) map[string][]int {
	index, lines := newLineIndex(data), map[string][]int{}
	var parser unstable.Parser
	parser.Reset(data)
	topLevel := true
	for parser.NextExpression() {
		n := parser.Expression()
		key := n.Key()
		if !key.Next() {
			continue
		}
		first := key.Node()
		name, nested := string(first.Data), key.Next()
		switch n.Kind {
		case unstable.ArrayTable:
			topLevel = false
			if !nested {
				lines[name] = append(lines[name], index.line(int(first.Raw.Offset)))
			}
		case unstable.Table:
			topLevel = false
			if !nested {
				lines[name] = append(lines[name], index.line(int(first.Raw.Offset)))
			}
		case unstable.KeyValue:
			if !topLevel || nested {
				continue
			}
			if n.Value().Kind == unstable.Array {
				for it := n.Value().Children(); it.Next(); {
					lines[name] = append(lines[name], index.line(tomlOffset(it.Node(), int(first.Raw.Offset))))
				}
			}
		}
	}
	return lines
}

// tomlOffset is where a value begins: an inline table has no place of its own,
// its first key has.
func tomlOffset(n *unstable.Node, otherwise int) int {
	if n.Kind == unstable.InlineTable {
		if it := n.Children(); it.Next() {
			if key := it.Node().Key(); key.Next() {
				return int(key.Node().Raw.Offset)
			}
		}
	}
	if n.Raw.Length > 0 {
		return int(n.Raw.Offset)
	}
	return otherwise
}

// netlifyTable adds one [[redirects]].
func (f *File) netlifyTable(table map[string]any, line int) {
	if table == nil {
		return
	}
	rule := netlifyRule{
		from: tomlText(table, "from", "origin"), to: tomlText(table, "to", "destination"),
		status: tomlText(table, "status"), line: line,
	}
	rule.text = strings.TrimSpace(rule.from + " " + rule.to + " " + rule.status)
	force, _ := table["force"].(bool)
	rule.force = force
	rule.query = tomlPairs(table, "query", "params", "parameters")
	rule.conditions = tomlPairs(table, "conditions")
	if rule.from == "" {
		f.fault(CodeSyntax, Error, line, rule.text, "the redirect has no from")
		return
	}
	f.addNetlify(&rule)
}

// tomlText returns the first of the fields that is there, as text.
func tomlText(table map[string]any, names ...string) string {
	for _, name := range names {
		switch value := table[name].(type) {
		case nil:
		case string:
			return value
		case int64:
			return strconv.FormatInt(value, 10)
		default:
			return fmt.Sprint(value)
		}
	}
	return ""
}

// tomlPairs returns the pairs of the first of the tables that is there, sorted
// by key.
func tomlPairs(table map[string]any, names ...string) [][2]string {
	for _, name := range names {
		sub, ok := table[name].(map[string]any)
		if !ok {
			continue
		}
		var out [][2]string
		for key, value := range sub {
			text := ""
			switch value := value.(type) {
			case []any:
				parts := make([]string, len(value))
				for i := range value {
					parts[i] = fmt.Sprint(value[i])
				}
				text = strings.Join(parts, ",")
			default:
				text = fmt.Sprint(value)
			}
			out = append(out, [2]string{key, text})
		}
		slices.SortFunc(out, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
		return out
	}
	return nil
}

// netlifyHeaders adds one [[headers]].
func (f *File) netlifyHeaders(table map[string]any, line int) {
	if table == nil {
		return
	}
	path := tomlText(table, "for")
	match, problem := headerPattern(path)
	if problem != "" {
		f.fault(CodeSyntax, Error, line, path, problem)
		return
	}
	for _, pair := range tomlPairs(table, "values") {
		f.Headers = append(f.Headers, HeaderRule{Path: path, Name: pair[0], Value: pair[1], Source: Source{f.Name, line}, match: match})
	}
}
