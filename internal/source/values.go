package source

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/text"
)

// frontMatter returns the offset at which the front matter of a content file
// ends, 0 if there is none: YAML between ---, TOML between +++, a JSON object,
// or the leading #+ lines of an Org file. Front matter without an end is no
// front matter: generators refuse such a file.
func frontMatter(text []byte) int {
	start := 0
	if bytes.HasPrefix(text, bom) {
		start = len(bom)
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

// value is a string in a YAML, TOML or JSON file that may be an address.
type value struct {
	at   int // offset of its first character
	text string
	// key is the key of the value, in lower case, or that of its list. nested
	// reports that it belongs to a table within the file's outermost one.
	key    string
	nested bool
}

// valueReader finds strings that may be addresses in front matter, data and
// configuration files: quoted strings, and plain values after a colon, an
// equals sign or a dash. It reads line by line without a grammar, so that it
// also works for an invalid file.
type valueReader struct {
	all    []value
	parent string // the key of a list that goes on
	table  bool   // a TOML table has started
}

// values returns the values between two offsets of a text.
func values(text []byte, from, to int) []value {
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
	case bytes.HasPrefix(trimmed, []byte("[")) && tableLine().Match(trimmed):
		r.table = true
		return
	}
	key, start := "", 0
	if k := keyOnLine().FindSubmatchIndex(line); k != nil {
		key, start = strings.ToLower(string(line[k[2]:k[3]])), k[3]
		if rest := bytes.TrimLeft(line[start:], "\"' \t:="); len(bytes.TrimSpace(rest)) == 0 || rest[0] == '[' || rest[0] == '{' {
			r.parent = key
		}
	} else {
		key = r.parent
	}
	nested := r.table || len(trimmed) < len(line) || trimmed[0] == '-'
	if !r.quoted(line, off, start, value{key: key, nested: nested}) {
		r.plain(line, off, start, value{key: key, nested: nested})
	}
}

// quoted adds the quoted strings of a line, and reports whether it has some.
func (r *valueReader) quoted(line []byte, off, start int, like value) (has bool) {
	key := like.key
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
		case len(rest) > 0 && rest[0] == ':': // a key of JSON
			key = strings.ToLower(string(line[i+1 : end]))
		case n > 0 && n <= maxValue:
			v := value{at: off + i + 1, text: unescape(string(line[i+1 : end])), key: key, nested: like.nested}
			if k := keyBefore().FindSubmatch(line[max(0, i-maxKey):i]); k != nil {
				v.key = strings.ToLower(string(k[1]))
			}
			r.all = append(r.all, v)
		}
		i = end
	}
	return has
}

// plain adds the words of a line: url: /a/, - /a/, key: [a, b]
func (r *valueReader) plain(line []byte, off, start int, like value) {
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
			like.key = strings.ToLower(string(word[:len(word)-1]))
		case len(word) > 1 && len(word) <= maxValue:
			like.at, like.text = off+i, string(word)
			r.all = append(r.all, like)
		}
		i = end
	}
}

// maxKey is how many bytes before a quoted string are searched for its key.
const maxKey = 64

var (
	tableLine = text.Regexp(`(?s)^\[\[?\s*[\w."'-]+\s*\]\]?\s*(#.*)?$`)
	// keyOnLine matches the key of a line in YAML, TOML or JSON.
	keyOnLine = text.Regexp(`^[\s\-{,]*["']?([\w.-]+)["']?\s*[:=](?:\s|$|["'\[{])`)
	// keyBefore matches the key before a quoted string.
	keyBefore = text.Regexp(`["']?([\w-]+)["']?\s*[:=]\s*\[?\s*$`)
)

// wordKeys are keys whose values are words, even if a link is equal to them.
var wordKeys = wordSet(`layout type kind title linktitle subtitle name slug description summary excerpt tags tag categories category
	keywords series date lastmod publishdate expirydate weight lang language languagecode id identifier parent section template theme
	draft author authors version versions outputs format markup class color style rel menu menus toc label alt caption
	aliases alias redirect_from`)

// addressKeys are keys of a page's own address, if they are not in a table.
var addressKeys = wordSet("url permalink path slug")

// linkKeys are parts of the names of keys that hold links.
var linkKeys = strings.Split("url uri href link src source image img photo picture thumb cover banner logo icon avatar file path video audio poster download pdf redirect canonical resource asset css script feed", " ")

// isLinkKey reports whether a key with this name holds links.
func isLinkKey(key string) bool {
	return strings.HasSuffix(key, "pic") || strings.HasSuffix(key, "ref") ||
		slices.ContainsFunc(linkKeys, func(part string) bool { return strings.Contains(key, part) })
}

// holdsLink reports whether a value may be a link: its key says so, or the value
// has the form of an address and the key does not say what else it is.
func (v *value) holdsLink() bool {
	switch {
	case wordKeys[v.key], !v.nested && addressKeys[v.key]:
		return false
	case isLinkKey(v.key):
		return true
	}
	for _, start := range []string{"/", "./", "../", "#"} {
		if strings.HasPrefix(v.text, start) {
			return true
		}
	}
	return strings.Contains(v.text, "://") || strings.ContainsAny(v.text, "/") && !strings.ContainsAny(v.text, " \t")
}

// unescape resolves the escapes that JSON writers use in addresses.
func unescape(s string) string { return unescaper.Replace(s) }

var unescaper = strings.NewReplacer(`\/`, "/", `\u0026`, "&", `\u003c`, "<", `\u003e`, ">", `\\`, `\`)

// row is a value of a data or configuration file that may be an address.
type row struct {
	value
	line int
	norm string // see normalPath
	// labels are the texts on the lines around it that belong to the same entry.
	labels []string
	same   string // the letters of its own line
}

// readRows returns the addresses in a data or configuration file.
func readRows(l *lines) (rows []row) {
	for _, v := range values(l.text, 0, len(l.text)) {
		v.nested = true // a page has an address of its own, a data file has none
		if !v.holdsLink() {
			continue
		}
		line, _ := l.at(v.at)
		rows = append(rows, row{value: v, line: line, norm: normalPath(v.text)})
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
			if start, end, ok := l.span(n); ok && n != r.line {
				line := l.text[start:end]
				if k := keyOnLine().FindIndex(line); k != nil { // name: x, or - name = "x"
					line = line[k[1]:]
				}
				r.labels = append(r.labels, plainLabel(string(line)))
			}
		}
		start, end, _ := l.span(r.line)
		r.same = plainLabel(string(l.text[start:min(end, start+maxLabelBytes)]))
	}
	return rows
}

// maxEntry is how many lines before and after an address belong to its entry.
const maxEntry = 4

func decode(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	if d, err := url.PathUnescape(s); err == nil {
		return d
	}
	return s
}

// normalPath returns an address without what templates add or remove at its
// ends.
func normalPath(s string) string {
	return strings.ToLower(strings.Trim(decode(strings.TrimSpace(s)), "/"))
}
