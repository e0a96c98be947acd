package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// toml reads the text of a configuration file.
//
// The decoder vouches for the syntax, for duplicate keys and tables. The
// values are then taken from the expressions, one by one, and not through a
// struct: each fault, also of a value and of a table that lacks something, has
// its line, and the key table stays the only list of keys.
func (l *loader) toml(name, projectDir string, data []byte) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // some editors on Windows write a byte order mark
	f := &tomlFile{loader: l, name: name, projectDir: projectDir}
	var document map[string]any
	if err := toml.Unmarshal(data, &document); err != nil {
		e := &Error{Name: name, Line: 1, Msg: strings.TrimPrefix(err.Error(), "toml: ")}
		var decode *toml.DecodeError
		if errors.As(err, &decode) {
			e.Line, e.Column = decode.Position()
		}
		l.fail(e)
		return
	}
	for i, c := range data {
		if c == '\n' {
			f.lineEnds = append(f.lineEnds, i)
		}
	}
	f.parser.Reset(data)
	for f.parser.NextExpression() {
		f.expression(f.parser.Expression())
	}
	f.endRule()
	f.endRedirect()
	f.endThemes()
	f.endSite()
	if err := f.parser.Error(); err != nil {
		l.fail(&Error{Name: name, Line: 1, Msg: err.Error()})
	}
}

// tomlFile is the walk through one file.
type tomlFile struct {
	*loader
	name, projectDir string
	parser           unstable.Parser
	lineEnds         []int

	table   []string // the header above the current line
	unknown bool     // the header was wrong; its keys are not worth a message each
	rule    *Ignore  // the [[ignore]] table being read
	ruleAt  *Error

	redirect   *Redirect // the [[redirect]] table being read
	redirectAt *Error

	themeAt []*Error   // where each [[templates.theme]] begins
	site    *siteTable // the [[site]] table being read
}

// at makes an error for the place of n without message.
func (f *tomlFile) at(n *unstable.Node) *Error {
	offset := int(n.Raw.Offset)
	line, _ := slices.BinarySearch(f.lineEnds, offset)
	start := 0
	if line > 0 {
		start = f.lineEnds[line-1] + 1
	}
	return &Error{Name: f.name, Line: line + 1, Column: offset - start + 1}
}

func (f *tomlFile) failAt(at *Error, hint, format string, args ...any) {
	e := *at
	e.Msg, e.Hint = fmt.Sprintf(format, args...), hint
	f.fail(&e)
}

func (f *tomlFile) expression(n *unstable.Node) {
	switch n.Kind {
	case unstable.Table, unstable.ArrayTable:
		f.endRule()
		f.endRedirect()
		f.endSite()
		path, first := keyPath(n.Key())
		f.header(path, f.at(first), n.Kind == unstable.ArrayTable)
	case unstable.KeyValue:
		if !f.unknown {
			path, first := keyPath(n.Key())
			f.keyValue(append(slices.Clone(f.table), path...), f.at(first), n.Value())
		}
	}
}

// isTable tells whether name is a table of the file that stands there once.
func isTable(name string) bool {
	return name == "check" || name == "host" || name == "hook" || name == "templates"
}

func keyPath(it unstable.Iterator) (path []string, first *unstable.Node) {
	for it.Next() {
		if first == nil {
			first = it.Node()
		}
		path = append(path, string(it.Node().Data))
	}
	return path, first
}

// header begins the table [path] or, if isArray, [[path]].
func (f *tomlFile) header(path []string, at *Error, isArray bool) {
	f.table, f.unknown = path, false
	joined := strings.Join(path, ".")
	switch {
	case joined == "ignore" && isArray:
		f.rule, f.ruleAt = &Ignore{}, at
		return
	case joined == "ignore":
		f.failAt(at, "write [[ignore]]", "ignore is a list of tables")
	case joined == "redirect" && isArray:
		f.redirect, f.redirectAt = &Redirect{}, at
		return
	case joined == "redirect":
		f.failAt(at, "write [[redirect]]", "redirect is a list of tables")
	case joined == "site" && isArray:
		f.site = &siteTable{at: at}
		return
	case joined == "site":
		f.failAt(at, "write [[site]]", "site is a list of tables")
	case joined == "templates.theme" && isArray:
		f.themeHeader(at)
		return
	case joined == "templates.theme":
		f.failAt(at, "write [[templates.theme]]", "templates.theme is a list of tables")
	case isTable(joined) && !isArray:
		return
	case isTable(joined):
		f.failAt(at, "write ["+joined+"]", "%s is a single table", joined)
	default:
		if _, ok := Lookup(joined); ok {
			f.failAt(at, "", "%s is a key, not a table", joined)
		} else {
			f.failAt(at, didYouMean(joined, []string{"check", "hook", "host", "ignore", "redirect", "site", "templates"}), "unknown table %q", joined)
		}
	}
	f.unknown = true
}

// keyValue takes path = n; path begins with the table.
func (f *tomlFile) keyValue(path []string, at *Error, n *unstable.Node) {
	switch {
	case path[0] == "ignore" && len(path) == 1:
		f.inlineRules(at, n)
	case path[0] == "ignore" && f.rule == nil:
		f.failAt(at, "write [[ignore]]", "ignore is a list of tables")
	case path[0] == "ignore":
		f.ruleField(path[1:], at, n)
	case path[0] == "redirect" && f.redirect == nil:
		f.failAt(at, "write [[redirect]]", "redirect is a list of tables")
	case path[0] == "redirect":
		f.redirectField(path[1:], at, n)
	case path[0] == "site" && f.site == nil:
		f.failAt(at, "write [[site]]", "site is a list of tables")
	case path[0] == "site":
		f.siteField(path[1:], at, n)
	case path[0] == "host" && len(path) > 1:
		f.hostKey(strings.Join(path[1:], "."), at, n)
	case path[0] == "hook" && len(path) > 1:
		f.hookKey(strings.Join(path[1:], "."), at, n)
	case path[0] == "templates" && len(path) == 2 && path[1] == "theme":
		f.inlineThemes(at, n)
	case path[0] == "templates" && len(path) > 2 && path[1] == "theme":
		f.themeKey(path[2:], at, n)
	case path[0] == "templates" && len(path) > 1:
		f.templatesKey(strings.Join(path[1:], "."), at, n)
	case isTable(path[0]) && len(path) == 1:
		if n.Kind != unstable.InlineTable {
			f.failAt(at, "write ["+path[0]+"]", "want a table, got %s", describe(n))
			return
		}
		for it := n.Children(); it.Next(); {
			sub, first := keyPath(it.Node().Key())
			f.keyValue(append([]string{path[0]}, sub...), f.at(first), it.Node().Value())
		}
	case path[0] == "check":
		f.key("check", strings.Join(path[1:], "."), at, n)
	default:
		f.key("", strings.Join(path, "."), at, n)
	}
}

func (f *tomlFile) key(table, name string, at *Error, n *unstable.Node) {
	k, ok := Lookup(name)
	switch {
	case !ok:
		all := names(table)
		hint := didYouMean(name, all)
		if w, near := Nearest(name, names(other(table))); hint == "" && near {
			hint = fmt.Sprintf("did you mean %q, %s?", w, whereIs(other(table)))
		}
		f.failAt(at, hint, "unknown key %q", name)
	case k.Table != table:
		f.failAt(at, "", "the key %s belongs %s", name, whereIs(k.Table))
	default:
		values, err := f.texts(k, n)
		if err != nil {
			f.failAt(at, "", "%s: %v", name, err)
			return
		}
		f.set(k, values, at)
	}
}

func other(table string) string {
	if table == "" {
		return "check"
	}
	return ""
}

func whereIs(table string) string {
	if table == "" {
		return "at the top of the file, above the first table"
	}
	return "in [" + table + "]"
}
