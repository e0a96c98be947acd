package source

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/system"
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

// maxValue is the length in bytes of the longest address that is looked for.
const maxValue = 2048

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

func wordSet(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

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

// menuOf are the keys of front matter that put a page into a menu, and nameKeys
// those with its name there.
var (
	menuOf   = wordSet("menu menus")
	nameKeys = wordSet("title linktitle name")
)

// menuEntry returns where the front matter of a page that is not published puts
// it into a menu, nil if a link is not such an entry.
func (m *Map) menuEntry(o *unlocated) *Position {
	a := m.address(o.link.Raw, o.link.Page)
	if !m.opt.Generator.Traits().Modules || !o.isLink || a.target == "" || m.pageOf(&a) != "" {
		return nil
	}
	makers := m.content.makersOf(PageKey(a.target))
	if len(makers) != 1 {
		return nil
	}
	d := m.document(m.content.files[makers[0]])
	named := slices.ContainsFunc(d.matter, func(v value) bool { return nameKeys[v.key] && plainLabel(v.text) == o.label })
	text, off := d.lines.text, 0
	var entry *Position
	for line := range bytes.Lines(text[:frontMatter(text)]) {
		if k := keyOnLine().FindSubmatchIndex(line); k != nil {
			key := strings.ToLower(string(line[k[2]:k[3]]))
			named = named || nameKeys[key] && plainLabel(string(line[k[3]:])) == o.label
			if entry == nil && k[2] <= 1 && menuOf[key] {
				entry = d.position(off + k[2])
			}
		}
		off += len(line)
	}
	if !named {
		return nil
	}
	return entry
}

// Unpublished says why no page answers a link although a content file would make it:
// the file is a draft, or its date is in the future or past. It is "" if that is not
// so. prefix is put before the name of the file. built is when the docroot was built.
func (m *Map) Unpublished(l *Link, prefix string, built time.Time) string {
	a := m.address(l.Raw, l.Page)
	key, c := PageKey(a.target), m.content
	if a.target == "" || m.pageOf(&a) != "" {
		return ""
	}
	found := c.makersOf(key)
	drafts, title := m.opt.Generator.Traits().Drafts, m.opt.Generator.Title()
	if len(found) == 0 && drafts != nil && drafts.DatedDir != "" { // the date and the categories may be in the address
		found = c.byLast[path.Base("/"+key)]
	}
	if len(found) != 1 {
		return ""
	}
	f := &c.files[found[0]]
	file := path.Join(prefix, f.display)
	if key := generator.Excluded(m.opt.Generator, m.opt.Project, f.name); key != "" {
		return fmt.Sprintf("%s in the configuration of %s excludes %s", key, title, file)
	}
	if drafts == nil {
		return ""
	}
	of := map[string]string{}
	d := m.document(*f)
	for _, v := range d.matter {
		if _, ok := of[v.key]; !ok && !v.nested {
			of[v.key] = v.text
		}
	}
	if frontMatter(d.lines.text) == 0 { // Pelican has lines of it without marks around them
		for line := range strings.Lines(string(d.lines.text)) {
			key, value, ok := strings.Cut(line, ":")
			if !ok {
				break
			}
			of[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
		}
	}
	why := ""
	for _, value := range drafts.Values {
		if key, is, _ := strings.Cut(value, ": "); strings.EqualFold(of[key], is) {
			why = cmp.Or(why, "has "+value)
		}
	}
	if drafts.Dir != "" && strings.Contains("/"+f.name, "/"+drafts.Dir+"/") || why == "has draft: true" {
		why = "is a draft"
	}
	if list := drafts.ListFile; list != "" {
		if name, text := m.nearest(f.name, list); text != nil && !bytes.Contains(text, []byte(strings.TrimPrefix(f.name, path.Dir(name)+"/"))) {
			why = "is not in " + path.Join(prefix, name)
		}
	}
	date := ""
	for _, key := range drafts.Dates {
		date = cmp.Or(date, firstDate(of[key]))
	}
	if drafts.DatedDir != "" {
		date = cmp.Or(date, firstDate(datePrefix().FindString(path.Base(f.name))))
		if !strings.Contains("/"+f.name, "/"+drafts.DatedDir+"/") {
			date = ""
		}
	}
	expiry := ""
	for _, key := range drafts.Expiry {
		expiry = cmp.Or(expiry, firstDate(of[key]))
	}
	switch today := built.Format(time.DateOnly); {
	case why != "":
	case date > today:
		return fmt.Sprintf("%s makes no page of %s before its date, %s", title, file, date)
	case expiry != "" && expiry <= today:
		why = "expired on " + expiry
	default:
		return ""
	}
	return fmt.Sprintf("%s %s, so %s makes no page of it", file, why, title)
}

// nearest returns the file of a name that is nearest above a content file, with its text.
func (m *Map) nearest(file, name string) (at string, text []byte) {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		at = path.Join(dir, name)
		if text, err := system.ReadFS(m.project, at, maxContentFile); err == nil {
			return at, text
		}
		if dir == "." {
			return "", nil
		}
	}
}

// firstDate returns the date that a value begins with, "" for none.
func firstDate(value string) string {
	if _, err := time.Parse(time.DateOnly, value[:min(len(value), len(time.DateOnly))]); err != nil {
		return ""
	}
	return value[:len(time.DateOnly)]
}
