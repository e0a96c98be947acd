// Package destination finds the destinations of links in the files of authors, and
// replaces them.
//
// [In] returns every destination with its exact range of bytes: in Markdown,
// HTML, parameters of shortcodes, front matter, data, configuration, templates,
// style sheets and rule files. [Destination.Encode] returns the bytes that stand for
// another value at the same place: the place decides what must be escaped, and
// the author's way of writing stays.
//
// A destination is left out if its bytes do not give its value, for example
// because an action writes a part of it: it cannot be changed safely.
//
// A [Set] collects the edits of several files, shows them as a diff and makes all or none
// of them. [Undo] takes them back. [Names] finds the content file that a destination names.
package destination

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/source/read"
)

// Destination is one destination.
type Destination struct {
	// Start and End are the offsets of the destination as written, without
	// quotes or brackets around it.
	Start, End int
	// Position is the offset that positions of findings name: Start, except for
	// a string in an action, where it is the start of the action.
	Position int
	Form     read.Form
	// Value is the destination without the escapes of its place.
	Value string
	// Element is the HTML element that it becomes, "" if that is not known.
	// Label is the text of the link, as letters and digits in lower case.
	Element, Label string
	// Name is the name of the shortcode or attribute. Key is the key of a value
	// of data or front matter in lower case, the name of a shortcode's
	// parameter, or the path that a rule is for.
	Name, Key string

	file   string
	raw    string
	before byte // the byte before Start, 0 at the start of the file
	// inside reports that the attribute has more than this address.
	inside bool
}

// IsRef reports whether the destination is an argument of ref or relref, which
// name a page by its source.
func (l *Destination) IsRef() bool {
	return l.Form == read.FormShortcode && (l.Name == "ref" || l.Name == "relref") && (l.Key == "" || l.Key == "path")
}

// Raw returns the bytes of the destination as written.
func (l *Destination) Raw() string { return l.raw }

// In returns the destinations in a file, sorted by offset. name is the path of
// the file in its project: it decides how the file is read.
func In(name string, text []byte, g generator.Name) []Destination {
	var all []Destination
	for _, w := range read.Links(name, text, g) {
		l := Destination{Start: w.At, Position: w.Position, Form: w.Form, Value: w.Value, Element: w.Element, Label: w.Label, Name: w.Name, Key: w.Key, file: name}
		if l.Form == read.FormWord && w.Key != "" {
			l.Form = read.FormRule
		}
		if l.Start < 0 || l.Start > len(text) || len(all) > 0 && l.Start < all[len(all)-1].End {
			continue
		}
		if l.Start > 0 {
			l.before = text[l.Start-1]
		}
		end, ok := l.end(text, w.Size)
		if !ok {
			continue
		}
		l.End, l.raw = end, string(text[l.Start:end])
		all = append(all, l)
	}
	return all
}

// At returns the destination that a position names, or nil.
func At(all []Destination, position int) *Destination {
	var found *Destination
	for i := range all {
		if l := &all[i]; l.Position == position || l.Start == position {
			if found != nil {
				return nil // two strings of one action
			}
			found = l
		}
	}
	return found
}

// Offset returns the offset of a line and column, both counted from 1, the column in
// code points. A byte order mark at the start takes no column. The position after the
// last character of a line has an offset; ok is false beyond it.
func Offset(text []byte, line, column int) (offset int, ok bool) {
	if line < 1 || column < 1 {
		return 0, false
	}
	for range line - 1 {
		n := bytes.IndexByte(text[offset:], '\n')
		if n < 0 {
			return 0, false
		}
		offset += n + 1
	}
	if line == 1 && bytes.HasPrefix(text, []byte("\uFEFF")) {
		offset = len("\uFEFF")
	}
	for range column - 1 {
		if offset >= len(text) || text[offset] == '\n' {
			return 0, false
		}
		_, n := utf8.DecodeRune(text[offset:])
		offset += n
	}
	return offset, true
}

// Heading is a heading of a Markdown file.
type Heading = read.AuthorHeading

// Headings returns the headings of a Markdown file in their order. ids is how the
// generator makes their ids.
func Headings(name string, text []byte, g generator.Name, ids generator.HeadingIDs) []Heading {
	return read.Headings(name, text, g, ids)
}

// maxRaw is the length in bytes of the longest destination as written.
const maxRaw = 8192

// end returns where the destination ends; ok is false if the bytes do not give
// the value.
func (l *Destination) end(text []byte, size int) (end int, ok bool) {
	rest := text[l.Start:min(len(text), l.Start+maxRaw)]
	switch l.Form {
	case read.FormShortcode, read.FormString, read.FormRule:
		end = size
	case read.FormAutolink: // goldmark may have put a scheme before it
		for _, scheme := range []string{"", "mailto:", "http://"} {
			if written, has := strings.CutPrefix(l.Value, scheme); has && bytes.HasPrefix(rest, []byte(written)) {
				return l.Start + len(written), true
			}
		}
		return 0, false
	case read.FormMatter, read.FormData:
		end, ok = l.scalarEnd(text)
		return l.Start + end, ok
	case read.FormInline, read.FormDefinition, read.FormHTML, read.FormCSS:
		// The first end at which the bytes give the value is that of a destination in
		// Markdown, of an attribute, or of one address in a srcset, a style or a sheet. In
		// [a](b(c)d), the first parenthesis ends b(c, which is not the value.
		quoted := l.before == '"' || l.before == '\''
		for i := 0; i <= len(rest); i++ {
			if l.Form != read.FormHTML && i < len(rest) && rest[i] == '\\' {
				i++
				continue
			}
			if i < len(rest) && strings.IndexByte("\"' \t\r\n\f>,);", rest[i]) < 0 {
				continue
			}
			if l.decode(string(rest[:i])) == l.Value {
				l.inside = l.Form == read.FormHTML && (quoted && i < len(rest) && rest[i] != l.before || !quoted && strings.IndexByte("= \t\n\r\f", l.before) < 0)
				return l.Start + i, true
			}
			if i < len(rest) && (quoted && rest[i] == l.before || !quoted && l.Form == read.FormHTML && rest[i] == '>') {
				break
			}
		}
		return 0, false
	default:
		end = len(l.Value)
	}
	if end > len(rest) || end < 0 || l.decode(string(rest[:end])) != l.Value {
		return 0, false
	}
	return l.Start + end, true
}

// scalarEnd finds the end of a quoted string or a plain word in YAML, TOML or
// JSON. It accepts no string that a whole parser would read in another way.
func (l *Destination) scalarEnd(text []byte) (n int, ok bool) {
	rest := text[l.Start:]
	if q := l.before; q == '"' || q == '\'' || q == '`' {
		if n = bytes.IndexByte(rest, q); n < 0 || n+1 < len(rest) && rest[n+1] == q {
			return 0, false
		}
		if l.Start > 2 && text[l.Start-2] == q && text[l.Start-3] == q {
			return 0, false // a string of several lines
		}
	} else {
		isTOML := strings.HasSuffix(l.file, ".toml") || l.Form == read.FormMatter && bytes.HasPrefix(bytes.TrimPrefix(text, []byte("\uFEFF")), []byte("+++"))
		if n = len(l.Value); isTOML || strings.HasSuffix(l.file, ".json") {
			return 0, false // strings have quotes
		}
	}
	return n, n <= len(rest) && l.decode(string(rest[:n])) == l.Value
}

// decode returns the value that bytes give at this place.
func (l *Destination) decode(raw string) string {
	switch l.Form {
	case read.FormInline, read.FormDefinition:
		return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations([]byte(raw)))))
	case read.FormHTML:
		return html.UnescapeString(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(raw))
	case read.FormCSS:
		// See CSS Syntax 3, "Consume an escaped code point".
		if !strings.Contains(raw, `\`) {
			return raw
		}
		return cssEscape().ReplaceAllStringFunc(raw, func(s string) string {
			m := cssEscape().FindStringSubmatch(s)
			switch {
			case m[1] != "":
				var r rune
				// The pattern admits hexadecimal digits only.
				_, _ = fmt.Sscanf(m[1], "%x", &r)
				if r == 0 || r > utf8.MaxRune || !utf8.ValidRune(r) {
					r = utf8.RuneError
				}
				return string(r)
			case m[2] == "\n":
				return ""
			}
			return m[2]
		})
	case read.FormMatter, read.FormData:
		switch {
		case l.before == '"' && strings.Contains(raw, `\`):
			s := "\x00"
			if json.Unmarshal([]byte(`"`+raw+`"`), &s) != nil {
				return "\x00"
			}
			return s
		case l.before == '\'' || l.before == '"' || l.before == '`':
			return raw
		}
	}
	return raw
}

// CutTail splits a value before its query or fragment.
func CutTail(value string) (name, tail string) {
	if i := strings.IndexAny(value, "?#"); i >= 0 {
		return value[:i], value[i:]
	}
	return value, ""
}

// PercentDecoded returns a value with its escapes resolved, to compare what two
// values lead to.
func PercentDecoded(s string) string {
	if d, err := url.PathUnescape(s); err == nil {
		return d
	}
	return s
}
