package templates

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/sitelink/sitelink/internal/linkheader"
	"github.com/sitelink/sitelink/internal/scan"
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
	case "netlify.toml":
		err = r.toml()
	case "vercel.json":
		err = r.json()
	case "firebase.json":
		err = r.json()
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
	links, _ := linkheader.Parse(value)
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

var apacheHeader = regexp.MustCompile(`(?i)^Header\s+(?:always\s+|onsuccess\s+)?(?:set|add|append|merge|setifempty)\s+"?([A-Za-z-]+):?"?\s+(?:"((?:[^"\\]|\\.)*)"|(\S+))`)

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
		m := apacheHeader.FindStringSubmatch(trimmed)
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

func (r *headerReader) toml() error {
	var doc struct {
		Headers []struct {
			For    string         `toml:"for"`
			Values map[string]any `toml:"values"`
		} `toml:"headers"`
	}
	if err := toml.Unmarshal(r.text, &doc); err != nil {
		return fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "toml: "))
	}
	for _, h := range doc.Headers {
		for _, name := range sortedNames(h.Values) {
			switch v := h.Values[name].(type) {
			case string:
				r.add(0, h.For, name, v)
			case []any: // a header several times
				for _, one := range v {
					if text, ok := one.(string); ok {
						r.add(0, h.For, name, text)
					}
				}
			}
		}
	}
	return nil
}

// sortedNames returns X-Pingback before Link, in the order that we write.
func sortedNames(values map[string]any) []string {
	var names []string
	for _, want := range [...]string{"x-pingback", "link"} {
		for name := range values {
			if strings.ToLower(name) == want {
				names = append(names, name)
			}
		}
	}
	return names
}

// jsonHeaders is the list of rules that vercel.json and firebase.json share.
type jsonHeaders []struct {
	Source  string `json:"source"`
	Glob    string `json:"glob"`
	Regex   string `json:"regex"`
	Headers []struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	} `json:"headers"`
}

// json reads vercel.json and firebase.json. Firebase has the list in "hosting",
// which is an object or a list of objects.
func (r *headerReader) json() error {
	if len(bytes.TrimSpace(r.text)) == 0 {
		return nil
	}
	var doc struct {
		Headers jsonHeaders     `json:"headers"`
		Hosting json.RawMessage `json:"hosting"`
	}
	if err := json.Unmarshal(r.text, &doc); err != nil {
		return jsonFault(r.text, err)
	}
	type hosting struct {
		Headers jsonHeaders `json:"headers"`
	}
	var several []hosting
	if len(doc.Hosting) > 0 && json.Unmarshal(doc.Hosting, &several) != nil {
		var one hosting
		if err := json.Unmarshal(doc.Hosting, &one); err != nil {
			return err
		}
		several = []hosting{one}
	}
	for _, list := range append([]hosting{{doc.Headers}}, several...) {
		for _, rule := range list.Headers {
			pattern := rule.Source + rule.Glob + rule.Regex
			for _, h := range rule.Headers {
				r.add(0, pattern, h.Key, h.Value)
			}
		}
	}
	return nil
}

// jsonFault adds the line to an error about text that is not valid JSON.
func jsonFault(text []byte, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		line := 1 + bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte("\n"))
		return fmt.Errorf("line %d: %w", line, err)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON text ends too early")
	}
	return err
}
