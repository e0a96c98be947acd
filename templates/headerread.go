package templates

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/wire"
)

// A HeaderValue is an endpoint that a rule makes the host send in a header.
type HeaderValue struct {
	// Line counts from 1.
	Line int
	// Pattern is the path that the rule applies to, as written in the file. All
	// reports whether it matches all paths.
	Pattern string
	All     bool
	// Rel is "pingback" for X-Pingback, and the relation for Link. Clients do
	// not look for "pingback" in a Link header (PB-19); IsLink distinguishes
	// the two.
	Rel    string
	IsLink bool
	URI    string
}

// ReadHeaders returns the endpoints in a file of header rules, in the order of the
// file. file is its name: _headers, netlify.toml, vercel.json, firebase.json or
// .htaccess. ReadHeaders ignores other headers. An error means that the host
// would refuse the file.
func ReadHeaders(file string, text []byte) ([]HeaderValue, error) {
	r := headerReader{text: text}
	var err error
	switch path.Base(file) {
	case "_headers":
		r.underscore()
	case ".htaccess":
		r.apache()
	case "netlify.toml", "vercel.json", "firebase.json":
		err = r.document(path.Ext(file) == ".toml")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r.values, nil
}

type headerReader struct {
	text   []byte
	values []HeaderValue
	after  int // offset of the last value found, to find the line of the next
}

// add records one header. line is 0 when it has to be searched for.
func (r *headerReader) add(line int, pattern, name, value string) {
	isLink := strings.EqualFold(name, "Link")
	if !isLink && !strings.EqualFold(name, "X-Pingback") {
		return
	}
	v := HeaderValue{Line: line, Pattern: pattern, IsLink: isLink}
	switch pattern {
	case "/*", "/**", "**", "/(.*)", "/:path*", "/:path(.*)", "":
		v.All = true
	}
	if !isLink {
		v.Rel, v.URI = "pingback", strings.TrimSpace(value)
		v.Line = r.line(line, name)
		r.values = append(r.values, v)
		return
	}
	links, _ := wire.Links(value)
	for _, l := range links {
		for rel := range strings.FieldsSeq(strings.ToLower(l.Rel)) {
			if rel == "webmention" || rel == "pingback" {
				v.Rel, v.URI, v.Line = rel, l.Target, r.line(line, l.Target)
				r.values = append(r.values, v)
			}
		}
	}
}

// line returns known, or the line of the next occurrence of word if that is 0.
func (r *headerReader) line(known int, word string) int {
	if known > 0 {
		return known
	}
	i := scan.IndexFold(r.text[r.after:], strings.ToLower(word))
	if i < 0 { // the file has it in escaped form
		return 1 + bytes.Count(r.text[:r.after], []byte("\n"))
	}
	r.after += i
	return 1 + bytes.Count(r.text[:r.after], []byte("\n"))
}

// underscore reads the _headers file of Netlify and Cloudflare: a path at the
// start of a line, and its headers on the indented lines below.
func (r *headerReader) underscore() {
	pattern, n := "", 0
	for line := range strings.Lines(string(r.text)) {
		n++
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == '#':
		case isHeaderPath(trimmed):
			pattern = trimmed
		case pattern != "":
			if name, value, ok := strings.Cut(trimmed, ":"); ok {
				r.add(n, pattern, strings.TrimSpace(name), value)
			}
		}
	}
}

var apacheHeader = text.Regexp(`(?i)^Header\s+(?:always\s+|onsuccess\s+)?(?:set|add|append|merge|setifempty)\s+"?([A-Za-z-]+):?"?\s+(?:"((?:[^"\\]|\\.)*)"|(\S+))`)

// apache reads .htaccess. Headers in a section apply to the files of the section.
func (r *headerReader) apache() {
	n := 0
	var sections []string
	for line := range strings.Lines(string(r.text)) {
		n++
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "</"):
			sections = sections[:max(0, len(sections)-1)]
		case strings.HasPrefix(trimmed, "<"):
			sections = append(sections, trimmed)
		}
		m := apacheHeader().FindStringSubmatch(trimmed)
		if m == nil {
			continue
		}
		pattern := ""
		for _, s := range sections {
			if !strings.HasPrefix(strings.ToLower(s), "<ifmodule") {
				pattern = s
			}
		}
		value := m[3]
		if value == "" {
			value = unescapeQuoted.Replace(m[2])
		}
		r.add(n, pattern, m[1], strings.ReplaceAll(value, "%%", "%"))
	}
}

var unescapeQuoted = strings.NewReplacer(`\"`, `"`, `\\`, `\`)

// document reads netlify.toml, vercel.json and firebase.json. Firebase has the list of
// rules in "hosting", which is an object or a list of objects.
func (r *headerReader) document(isTOML bool) error {
	type rule struct {
		For, Source, Glob, Regex string
		Values                   map[string]any
		Headers                  []struct{ Key, Value string }
	}
	type hosting struct{ Headers []rule }
	var doc struct {
		Headers []rule
		Hosting json.RawMessage `toml:"-"`
	}
	if len(bytes.TrimSpace(r.text)) == 0 {
		return nil
	}
	if isTOML {
		if err := toml.Unmarshal(r.text, &doc); err != nil {
			return errors.New(strings.TrimPrefix(err.Error(), "toml: "))
		}
	} else if err := json.Unmarshal(r.text, &doc); err != nil {
		// Text that is not valid JSON has its fault on a line.
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			line := 1 + bytes.Count(r.text[:min(int(syntax.Offset), len(r.text))], []byte("\n"))
			return fmt.Errorf("line %d: %w", line, err)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.New("the JSON text ends too early")
		}
		return err
	}
	var sites []hosting
	if len(doc.Hosting) > 0 && json.Unmarshal(doc.Hosting, &sites) != nil {
		sites = make([]hosting, 1)
		if err := json.Unmarshal(doc.Hosting, &sites[0]); err != nil {
			return err
		}
	}
	for _, site := range append([]hosting{{doc.Headers}}, sites...) {
		for _, rule := range site.Headers {
			pattern := rule.For + rule.Source + rule.Glob + rule.Regex
			inOrder := func(a, b string) int { return strings.Compare(strings.ToLower(b), strings.ToLower(a)) } // X-Pingback before Link, as we write them
			for _, name := range slices.SortedFunc(maps.Keys(rule.Values), inOrder) {
				values, several := rule.Values[name].([]any)
				if !several {
					values = []any{rule.Values[name]}
				}
				for _, value := range values { // only a text is the value of a header
					text, _ := value.(string)
					r.add(0, pattern, name, text)
				}
			}
			for _, h := range rule.Headers {
				r.add(0, pattern, h.Key, h.Value)
			}
		}
	}
	return nil
}
