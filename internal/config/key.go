package config

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/similar"
)

// Kind is the type of a key's value.
type Kind uint8

const (
	// Text is a string, or one of [Key.Values].
	Text Kind = iota
	// Path is the name of a file. In the configuration file it is relative to
	// the directory of the project, elsewhere to the working directory.
	Path
	// Directory is a Path that names a directory.
	Directory
	// List is any number of texts. In the file it may be a single string.
	List
	// Reports is a List of formats, each NAME or NAME=FILE; FILE is a Path.
	Reports
	// Rules is the list of ignore rules: [[ignore]] tables in the file.
	Rules
	// Bool is true or false.
	Bool
	// Switch is true, false or a word.
	Switch
	// Number is a whole number, not negative.
	Number
	// Size is a number of bytes with an optional unit, such as 1GiB.
	Size
	// Duration is a time such as 90s.
	Duration
	// Fields is a table of header fields, by name. Only the file has it.
	Fields

	// subtable is a table, rows a list of tables, and hostTable the table [host],
	// with the keys that [Input] has. They have no value themselves.
	subtable
	rows
	hostTable
)

// Key is one key that can be configured, as the tags of [Config] describe it.
type Key struct {
	// Name is the key in the file, and with -- before it the flag.
	Name string
	// Table is the table of the file that holds the key, "" for the top level.
	Table string
	Kind  Kind
	// HasFlag is true for a key that also has a flag and an environment variable.
	HasFlag bool
	// Values are the words accepted; empty means any text.
	Values []string
	// Default describes the value when the key is not set, for a person.
	Default string
	// Arg names the value in the help of the flag.
	Arg string
	// Help is the help text of the flag, lower case, no full stop.
	Help string
	// Rare is true if the help of commands leaves the flag out.
	Rare bool

	tag   reflect.StructTag
	index int    // of the field in the struct of its table
	table *table // of a subtable, rows or Rules
}

// table describes the keys of a table of the file.
type table struct {
	name string // "", "check", "external.host"
	list bool   // written [[name]]
	keys []Key
}

// root is the top level of the file.
var root = newTable(reflect.TypeFor[Config](), "", false)

func newTable(t reflect.Type, name string, list bool) *table {
	all := &table{name: name, list: list}
	for i := range t.NumField() {
		f := t.Field(i)
		key, ok := f.Tag.Lookup("toml")
		if !ok {
			continue
		}
		k := Key{Name: key, Table: name, Kind: kindOf(f), tag: f.Tag, index: i, Help: f.Tag.Get("help"), Rare: f.Tag.Get("rare") != ""}
		k.Arg, k.HasFlag = f.Tag.Lookup("flag")
		if words := f.Tag.Get("words"); words != "" {
			k.Values = strings.Split(words, ",")
		}
		if k.Default = f.Tag.Get("unset"); k.Default == "" {
			k.Default = strings.Join(k.split(f.Tag.Get("default")), ", ")
		}
		if k.Default == "" && k.Kind == Bool {
			k.Default = "false"
		}
		path := strings.TrimPrefix(name+"."+key, ".")
		switch k.Kind {
		case subtable:
			k.table = newTable(f.Type, path, false)
		case rows, Rules:
			k.table = newTable(f.Type.Elem(), path, true)
		}
		all.keys = append(all.keys, k)
	}
	return all
}

func kindOf(f reflect.StructField) Kind {
	switch f.Type {
	case reflect.TypeFor[[]Ignore]():
		return Rules
	case reflect.TypeFor[[]Format]():
		return Reports
	case reflect.TypeFor[[]HostSetting]():
		return hostTable
	case reflect.TypeFor[[]string](), reflect.TypeFor[[]MapRule](), reflect.TypeFor[[]netip.Prefix]():
		return List
	case reflect.TypeFor[map[string]string]():
		return Fields
	case reflect.TypeFor[time.Duration]():
		return Duration
	}
	switch f.Type.Kind() {
	case reflect.Struct:
		return subtable
	case reflect.Slice:
		return rows
	case reflect.Bool:
		return Bool
	case reflect.Int:
		return Number
	case reflect.Int64:
		return Size
	}
	switch {
	case f.Tag.Get("kind") == "file":
		return Path
	case f.Tag.Get("kind") == "directory":
		return Directory
	case strings.HasSuffix(f.Tag.Get("words"), ",true,false"):
		return Switch
	}
	return Text
}

// Keys returns the keys of the site and of [check] that have flags and environment
// variables, in the order of the manual.
func Keys() []Key {
	var all []Key
	for _, k := range root.keys {
		if k.Name == "check" {
			all = append(all, k.table.keys...)
		} else if k.HasFlag {
			all = append(all, k)
		}
	}
	return all
}

// TableKeys returns the keys of another table that have flags: those of these names,
// or all. There are none if there is no such table.
func TableKeys(name string, names ...string) (all []Key) {
	table, _ := root.key(name)
	if table.table == nil {
		return nil
	}
	for _, k := range table.table.keys {
		if k.HasFlag && (len(names) == 0 || slices.Contains(names, k.Name)) {
			all = append(all, k)
		}
	}
	return all
}

// Lookup returns the key that has a flag, by its [Key.ID].
func Lookup(id string) (Key, bool) {
	keys := Keys()
	if table, name, ok := strings.Cut(id, "."); ok {
		keys, id = TableKeys(table), name
	}
	for _, k := range keys {
		if k.Name == id {
			return k, true
		}
	}
	return Key{}, false
}

// ID names a key that has a flag: profile, fail-on, but outgoing.pace, since other
// tables have keys of the same names.
func (k Key) ID() string {
	if k.Table == "check" {
		return k.Name
	}
	return k.path()
}

// Env returns the variable that sets the key: SITELINK_BASE_URL for base-url.
func (k Key) Env() string {
	return "SITELINK_" + strings.ToUpper(strings.ReplaceAll(k.Name, "-", "_"))
}

// Repeats reports whether the flag may be given several times.
func (k Key) Repeats() bool { return k.Kind == List || k.Kind == Reports || k.Kind == Rules }

// split splits the value of a variable: a list at commas, rules at line ends,
// because rules contain commas.
func (k Key) split(text string) []string {
	separator := ","
	switch k.Kind {
	case List, Reports:
	case Rules:
		separator = "\n"
	default:
		return []string{text}
	}
	var values []string
	for part := range strings.SplitSeq(text, separator) {
		if part = strings.TrimSpace(part); part != "" {
			values = append(values, part)
		}
	}
	return values
}

func (t *table) key(name string) (Key, bool) {
	i := slices.IndexFunc(t.keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		return Key{}, false
	}
	return t.keys[i], true
}

// names returns the names of the keys in t.
func (t *table) names() []string {
	all := make([]string, len(t.keys))
	for i, k := range t.keys {
		all[i] = k.Name
	}
	return all
}

// header returns the line that begins the table: [check], [[ignore]].
func (t *table) header() string {
	if t.list {
		return "[[" + t.name + "]]"
	}
	return "[" + t.name + "]"
}

// Nearest returns the word that name is most likely a misspelling of, and
// whether there is one. It ignores case and takes _ for -. Of several equally
// near words it returns the first.
func Nearest(name string, words []string) (string, bool) {
	const maxLength = 64 // longer names are not misspellings, and cost time
	if len(name) > maxLength {
		return "", false
	}
	name = fold(name)
	best, bestDistance := "", len(name)/3+1
	for _, w := range words {
		if d := similar.Distance(name, fold(w), bestDistance+1); d < bestDistance || d == bestDistance && best == "" {
			best, bestDistance = w, d
		}
	}
	return best, best != ""
}

func fold(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }

// DidYouMean returns the hint for name, or "" if no word is near.
func DidYouMean(name string, words []string) string {
	if w, ok := Nearest(name, words); ok {
		return fmt.Sprintf("did you mean %q?", w)
	}
	return ""
}
