package config

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/text/tomltree"
)

// decoder stores a document in the configuration.
type decoder struct {
	*loader
	// name is that of the file, and projectDir the directory that paths in it are relative to.
	name, projectDir string
}

// toml reads the text of a configuration file.
func (l *loader) toml(name, projectDir string, data []byte) {
	doc, err := tomltree.Parse(data)
	if err != nil {
		l.fail(&Error{Name: name, Line: err.Line, Column: err.Column, Msg: err.Msg})
		return
	}
	d := decoder{l, name, projectDir}
	d.table(root, reflect.ValueOf(l.cfg).Elem(), doc)
}

// failAt reports a fault at a place of the file.
func (d *decoder) failAt(at tomltree.Place, hint, format string, args ...any) {
	e := d.place(at)
	e.Msg, e.Hint = fmt.Sprintf(format, args...), hint
	d.fail(e)
}

// place returns an error at a place of the file, without a message.
func (d *decoder) place(at tomltree.Place) *Error {
	return &Error{Name: d.name, Line: at.Line, Column: at.Column}
}

// table stores n, a table, in the struct v. It reports whether n is valid.
func (d *decoder) table(t *table, v reflect.Value, n *tomltree.Node) (ok bool) {
	ok = true
	for _, e := range n.Keys {
		k, found := t.key(e.Name)
		if !found {
			d.unknown(t, e)
			ok = false
		} else if !d.value(k, v.Field(k.index), e) {
			ok = false
		}
	}
	return ok
}

// value stores the value of the key e.
func (d *decoder) value(k Key, field reflect.Value, e *tomltree.Entry) (ok bool) {
	switch k.Kind {
	case subtable, hostTable:
		if e.Value.Kind != unstable.InlineTable {
			d.failAt(e.At, "write ["+tableName(k)+"]", "%s: must be a table, not %s", tableName(k), e.Value.Describe())
			return false
		}
		if k.Kind == hostTable {
			d.host(e.Value)
			return true
		}
		return d.table(k.table, field, e.Value)
	case rows, Rules:
		return d.rows(k, field, e)
	}
	texts, err := d.texts(k, e.Value)
	if err != nil {
		d.failAt(e.At, "", "%s: %v", k.Name, err)
		return false
	}
	return d.set(k, field, texts, d.place(e.At))
}

// tableName is the name of a key that is a table, as its header spells it.
func tableName(k Key) string {
	return strings.TrimPrefix(k.Table+"."+k.Name, ".")
}

// row is implemented by the structs of lists of tables: complete validates a
// table as a whole, after its keys were stored. at is its place.
type row interface {
	complete(l *loader, at *Error) error
}

// rows appends the tables of a list to field. It keeps no table that has a
// fault.
func (d *decoder) rows(k Key, field reflect.Value, e *tomltree.Entry) bool {
	wrong := ""
	if e.Value.Kind != unstable.Array {
		wrong = e.Value.Describe()
	} else if i := slices.IndexFunc(e.Value.Items, func(n *tomltree.Node) bool { return n.Kind != unstable.InlineTable }); i >= 0 {
		wrong = e.Value.Items[i].Describe() + " in a list"
	}
	if wrong != "" {
		d.failAt(e.At, "write "+k.table.header(), "%s: must be a list of tables, not %s", k.table.name, wrong)
		return false
	}
	for _, item := range e.Value.Items {
		v := reflect.New(field.Type().Elem())
		if !d.table(k.table, v.Elem(), item) {
			continue // one message for a table is enough: what it lacks may follow from this
		}
		at := item.At
		if from := item.ByName["from"]; from != nil { // the line that says which requests a rule is for
			at = from.At
		}
		if err := v.Interface().(row).complete(d.loader, d.place(at)); err != nil {
			hint, _ := text.Hint(err)
			d.failAt(item.At, hint, "%s: %v", k.table.name, err)
			continue
		}
		field.Set(reflect.Append(field, v.Elem()))
	}
	return true
}

// unknown reports a key that t does not have.
func (d *decoder) unknown(t *table, e *tomltree.Entry) {
	what, in := fmt.Sprintf("key %q", e.Name), ""
	if t != root {
		in = " in " + t.header()
	} else if e.Value.IsHeader {
		what = fmt.Sprintf("table %q", e.Name)
	}
	hint := DidYouMean(e.Name, t.names())
	if t.list { // its keys mean nothing elsewhere
		d.failAt(e.At, hint, "unknown %s%s", what, in)
		return
	}
	var elsewhere []string // the tables that have the key
	var all []*table
	for _, k := range root.keys {
		if k.Kind == subtable {
			all = append(all, k.table)
		}
	}
	for _, other := range slices.Concat([]*table{root}, all) {
		if _, ok := other.key(e.Name); ok {
			elsewhere = append(elsewhere, other.where())
		} else if w, near := Nearest(e.Name, other.names()); near && hint == "" {
			hint = fmt.Sprintf("did you mean %q %s?", w, other.where())
		}
	}
	if len(elsewhere) > 0 {
		d.failAt(e.At, "", "the key %s belongs %s", e.Name, strings.Join(elsewhere, " or "))
		return
	}
	d.failAt(e.At, hint, "unknown %s%s", what, in)
}

// where describes the place of the keys of t in the file.
func (t *table) where() string {
	if t == root {
		return "at the top of the file, above the first table"
	}
	return "in " + t.header()
}

// texts returns a value of the file in the form that a flag would have.
func (d *decoder) texts(k Key, n *tomltree.Node) ([]string, error) {
	if k.Repeats() {
		values, err := listTexts(n)
		if k.Kind == Reports {
			for i, v := range values {
				name, file, hasFile := strings.Cut(v, "=")
				if hasFile {
					values[i] = name + "=" + d.path(file)
				}
			}
		}
		return values, err
	}
	if k.Kind == Fields { // a name, then its value
		var all []string
		for _, e := range n.Keys {
			if e.Value.Kind != unstable.String {
				return nil, fmt.Errorf("the value of %s must be a string", e.Name) // the message does not show it
			}
			all = append(all, e.Name, e.Value.Text)
		}
		if n.Kind != unstable.InlineTable {
			return nil, errors.New(`must be a table such as { Authorization = "Bearer env:TOKEN" }`)
		}
		return all, nil
	}
	switch {
	case n.Kind == unstable.Integer && (k.Kind == Number || k.Kind == Size):
		// The number may be written as 1_000 or 0x10; flags write 1000 and 16.
		i, err := strconv.ParseInt(n.Text, 0, 64)
		if err != nil {
			return nil, fmt.Errorf("must be a whole number, not %q", n.Text)
		}
		return []string{strconv.FormatInt(i, 10)}, nil
	case n.Kind == unstable.Bool && (k.Kind == Bool || k.Kind == Switch):
		return []string{n.Text}, nil
	case n.Kind == unstable.String && (k.Kind == Path || k.Kind == Directory):
		return []string{d.path(n.Text)}, nil
	case n.Kind == unstable.String && k.Kind != Number && k.Kind != Bool:
		return []string{n.Text}, nil
	}
	return nil, fmt.Errorf("must be %s, not %s", k.wants(), n.Describe())
}

// wants describes the value of a key that is not a list.
func (k Key) wants() string {
	switch {
	case len(k.Values) > 0:
		return OneOf(k.Values)
	case k.Kind == Bool:
		return "true or false"
	case k.Kind == Size:
		return "a size such as 64MiB, 500kB or 4096"
	case k.Kind == Duration:
		return `a time such as "90s" or "5m"`
	case k.Kind == Number:
		return "a whole number"
	}
	return "a string"
}

// path returns a path of the file relative to [Input.Dir].
func (d *decoder) path(text string) string {
	if text == "" || text == "-" || filepath.IsAbs(text) {
		return text
	}
	return filepath.Join(d.projectDir, filepath.FromSlash(text))
}

func listTexts(n *tomltree.Node) ([]string, error) {
	if n.Kind == unstable.String {
		return []string{n.Text}, nil
	}
	if n.Kind != unstable.Array {
		return nil, fmt.Errorf("must be a list of strings, not %s", n.Describe())
	}
	values := []string{}
	for _, item := range n.Items {
		if item.Kind != unstable.String {
			return nil, fmt.Errorf("must be a list of strings, but contains %s", item.Describe())
		}
		values = append(values, item.Text)
	}
	return values, nil
}

// HostKey is a key of the table [host], which describes how the site's host
// differs from its profile.
type HostKey struct {
	Name string
	// Type is "list" for a list of strings, "switch" for true or false,
	// "number" or "status" for a number, anything else for a string.
	Type string
	// Check returns what is wrong with the values.
	Check func(values []string) error
}

// HostSetting is one key of [host] with its checked values.
type HostSetting struct {
	Key    string
	Values []string
}

// host stores the table [host], with the keys that [Input] has.
func (d *decoder) host(n *tomltree.Node) {
	for _, e := range n.Keys {
		i := slices.IndexFunc(d.input.HostKeys, func(k HostKey) bool { return k.Name == e.Name })
		if i < 0 {
			var names []string
			for _, k := range d.input.HostKeys {
				names = append(names, k.Name)
			}
			d.failAt(e.At, cmp.Or(DidYouMean(e.Name, names), "sitelink profile NAME prints the keys of a profile"), "unknown key %q in [host]", e.Name)
			continue
		}
		k := d.input.HostKeys[i]
		kind := map[string]Kind{"list": List, "switch": Bool, "number": Number, "status": Number}[k.Type]
		values, err := d.texts(Key{Name: k.Name, Kind: kind}, e.Value)
		if err == nil {
			err = k.Check(values)
		}
		if err != nil {
			d.failAt(e.At, "", "%s: %v", e.Name, err)
			continue
		}
		d.cfg.Host = append(d.cfg.Host, HostSetting{e.Name, values})
	}
}
