package read

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/text"
)

// FrontMatter returns the offset where the front matter of a content file ends,
// or 0. Front matter is YAML between ---, TOML between +++, a JSON object, or
// the leading #+ lines of an Org file. Front matter without an end does not
// count: generators refuse such a file.
func FrontMatter(text []byte) int {
	start := 0
	if bytes.HasPrefix(text, Bom) {
		start = len(Bom)
	}
	rest := text[start:]
	switch {
	case bytes.HasPrefix(rest, []byte("---")):
		return fenced(text, start, "---")
	case bytes.HasPrefix(rest, []byte("+++")):
		return fenced(text, start, "+++")
	case bytes.HasPrefix(rest, []byte("{\n")), bytes.HasPrefix(rest, []byte("{\r")), bytes.HasPrefix(rest, []byte("{ ")), bytes.HasPrefix(rest, []byte(`{"`)):
		object := json.NewDecoder(bytes.NewReader(rest))
		if object.Decode(&json.RawMessage{}) != nil {
			return 0
		}
		return start + int(object.InputOffset())
	case bytes.HasPrefix(rest, []byte("#+")):
		end := start
		for line := range bytes.Lines(rest) {
			if !bytes.HasPrefix(line, []byte("#+")) {
				break
			}
			end += len(line)
		}
		return end
	}
	return 0
}

// fenced returns the end of front matter between two lines that consist of
// fence.
func fenced(text []byte, start int, fence string) int {
	off := start
	for line := range bytes.Lines(text[start:]) {
		isFence := string(bytes.TrimRight(line, " \t\r\n")) == fence
		if off == start && !isFence {
			return 0
		}
		off += len(line)
		if isFence && off-len(line) > start {
			return off
		}
	}
	return 0
}

// Value is a string in a YAML, TOML or JSON file that may be an address.
type Value struct {
	At   int // offset of its first character
	Text string
	// Key is the key of the value, in lower case, or that of its list. nested
	// reports that it belongs to a table within the file's outermost one.
	Key    string
	Nested bool
	// In is the key or table around that of the value, in lower case.
	In string
}

// valueReader finds strings that may be addresses in front matter, data and
// configuration files: quoted strings, and plain values after a colon, an
// equals sign or a dash. It reads line by line without a grammar, so that it
// also works for an invalid file.
type valueReader struct {
	all   []Value
	table string // of TOML that goes on
	// open are the keys that go on: the last is that of the list or the table around the line.
	open []openKey
}

type openKey struct {
	key    string
	column int
}

// Values returns the values between two offsets of a text.
func Values(text []byte, from, to int) []Value {
	var r valueReader
	off := from
	for line := range bytes.Lines(text[from:to]) {
		r.line(line, off)
		off += len(line)
	}
	return r.all
}

func (r *valueReader) line(line []byte, off int) {
	trimmed := bytes.TrimLeft(line, " \t")
	switch {
	case len(trimmed) == 0, bytes.HasPrefix(trimmed, []byte("#")), bytes.HasPrefix(trimmed, []byte("//")):
		return
	}
	if table := tableLine().FindSubmatch(trimmed); table != nil {
		r.table, r.open = strings.ToLower(string(table[1])), nil
		return
	}
	v, start := Value{In: r.table, Nested: r.table != "" || len(trimmed) < len(line) || trimmed[0] == '-'}, 0
	k := KeyOnLine().FindSubmatchIndex(line)
	for k != nil && len(r.open) > 0 && r.open[len(r.open)-1].column >= k[2] {
		r.open = r.open[:len(r.open)-1]
	}
	if len(r.open) > 0 {
		v.Key = r.open[len(r.open)-1].key
		v.In = v.Key
	}
	if k != nil {
		v.Key, start = strings.ToLower(string(line[k[2]:k[3]])), k[3]
		if rest := bytes.TrimLeft(line[start:], "\"' \t:="); len(bytes.TrimSpace(rest)) == 0 || rest[0] == '[' || rest[0] == '{' {
			r.open, v.In = append(r.open, openKey{v.Key, k[2]}), v.Key
		}
	}
	if !r.quoted(line, off, start, v) {
		r.plain(line, off, start, v)
	}
}

// quoted adds the quoted strings of a line, and reports whether it has some.
func (r *valueReader) quoted(line []byte, off, start int, like Value) (has bool) {
	key := like.Key
	for i := start; i < len(line); i++ {
		q := line[i]
		if q != '"' && q != '\'' && q != '`' {
			continue
		}
		n := bytes.IndexByte(line[i+1:], q)
		if n < 0 {
			break
		}
		if i == start && start > 0 { // the quote after the key
			continue
		}
		has = true
		end := i + 1 + n
		switch rest := bytes.TrimLeft(line[end+1:], " \t"); {
		case len(rest) > 0 && (rest[0] == ':' || rest[0] == '='): // a key of JSON or TOML
			key = strings.ToLower(string(line[i+1 : end]))
		case n > 0 && n <= MaxValue:
			v := Value{off + i + 1, unescaper.Replace(string(line[i+1 : end])), key, like.Nested, like.In}
			if k := keyBefore().FindSubmatch(line[max(0, i-maxKey):i]); k != nil {
				v.Key = strings.ToLower(string(k[1]))
			}
			r.all = append(r.all, v)
		}
		i = end
	}
	return has
}

// plain adds the words of a line: url: /a/, - /a/, key: [a, b]
func (r *valueReader) plain(line []byte, off, start int, like Value) {
	const between = " \t\r\n,[]{}"
	for i := start; i < len(line); {
		for i < len(line) && strings.IndexByte(between, line[i]) >= 0 {
			i++
		}
		end := i
		for end < len(line) && strings.IndexByte(between, line[end]) < 0 {
			end++
		}
		switch word := line[i:end]; {
		case len(word) > 1 && word[len(word)-1] == ':':
			like.Key = strings.ToLower(string(word[:len(word)-1]))
		case len(word) > 1 && len(word) <= MaxValue:
			like.At, like.Text = off+i, string(word)
			r.all = append(r.all, like)
		}
		i = end
	}
}

// maxKey is how many bytes before a quoted string are searched for its key.
const maxKey = 64

var (
	tableLine = text.Regexp(`(?s)^\[\[?\s*(?:[\w."'-]+\.)?([\w"'-]+)\s*\]\]?\s*(?:#.*)?$`)
	// KeyOnLine matches the key of a line in YAML, TOML or JSON.
	KeyOnLine = text.Regexp(`^[\s\-{,]*["']?([\w.-]+)["']?\s*[:=](?:\s|$|["'\[{])`)
	// keyBefore matches the key before a quoted string.
	keyBefore = text.Regexp(`["']?([\w-]+)["']?\s*[:=]\s*\[?\s*$`)
)

// wordKeys are keys with words as values, even if a link is equal to such a
// word.
var wordKeys = WordSet(`layout type kind title linktitle subtitle name slug description summary excerpt tags tag categories category
	keywords series date lastmod publishdate expirydate weight lang language languagecode id identifier parent section template theme
	draft author authors version versions outputs format markup class color style rel menu menus toc label alt caption
	aliases alias redirect_from`)

// addressKeys are keys of a page's own address, if they are not in a table.
var addressKeys = WordSet("url permalink path slug")

// linkKeys are parts of the names of keys that hold links.
var linkKeys = strings.Split("url uri href link src source image img photo picture thumb cover banner logo icon avatar file path video audio poster download pdf redirect canonical resource asset css script feed", " ")

// HoldsLink reports whether a value may be a link: its key says so, or the value
// has the form of an address and the key does not say what else it is.
func (v *Value) HoldsLink() bool {
	switch {
	case wordKeys[v.Key], !v.Nested && addressKeys[v.Key]:
		return false
	case strings.HasSuffix(v.Key, "pic"), strings.HasSuffix(v.Key, "ref"), slices.ContainsFunc(linkKeys, func(part string) bool { return strings.Contains(v.Key, part) }):
		return true
	}
	for _, start := range []string{"/", "./", "../", "#"} {
		if strings.HasPrefix(v.Text, start) {
			return true
		}
	}
	return strings.Contains(v.Text, "://") || strings.ContainsAny(v.Text, "/") && !strings.ContainsAny(v.Text, " \t")
}

// unescaper resolves the escapes that JSON writers use in addresses.
var unescaper = strings.NewReplacer(`\/`, "/", `\u0026`, "&", `\u003c`, "<", `\u003e`, ">", `\\`, `\`)

// Row is a value of a data or configuration file that may be an address.
type Row struct {
	Value
	line int
	Norm string // see normalPath
	// Labels are the texts on the lines around it that belong to the same entry.
	Labels []string
	Same   string // the letters of its own line
	// IsVersion: the value is not an address but a version. A menu makes addresses of
	// it.
	IsVersion bool
}

var version = text.Regexp(`^v?\d+(\.\d+)+$`)

// Rows returns the addresses in a data or configuration file, then the versions.
func Rows(l *Lines) (rows []Row) {
	var versions []Row
	for _, v := range Values(l.Text, 0, len(l.Text)) {
		v.Nested = true // a page has an address of its own, a data file has none
		line, _ := l.At(v.At)
		r := Row{Value: v, line: line, Norm: NormalPath(v.Text)}
		if v.HoldsLink() {
			rows = append(rows, r)
		} else if r.IsVersion = version().MatchString(v.Text); r.IsVersion {
			versions = append(versions, r)
		}
	}
	for i := range rows {
		r := &rows[i]
		from, to := r.line-maxEntry, r.line+maxEntry
		if i > 0 {
			from = max(from, rows[i-1].line+1)
		}
		if i+1 < len(rows) {
			to = min(to, rows[i+1].line-1)
		}
		for n := from; n <= to; n++ {
			if start, end, ok := l.Span(n); ok && n != r.line {
				line := l.Text[start:end]
				if k := KeyOnLine().FindIndex(line); k != nil { // name: x, or - name = "x"
					line = line[k[1]:]
				}
				r.Labels = append(r.Labels, PlainLabel(string(line)))
			}
		}
		start, end, _ := l.Span(r.line)
		r.Same = PlainLabel(string(l.Text[start:min(end, start+maxLabelBytes)]))
	}
	return append(rows, versions...)
}

// maxEntry is how many lines before and after an address belong to its entry.
const maxEntry = 4

func Decode(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	if d, err := url.PathUnescape(s); err == nil {
		return d
	}
	return s
}

// NormalPath returns an address without what templates add or remove at its
// ends.
func NormalPath(s string) string {
	return strings.ToLower(strings.Trim(Decode(strings.TrimSpace(s)), "/"))
}
