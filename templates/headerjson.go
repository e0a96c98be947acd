package templates

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
)

const jsonIndent = "  "

// jsonRule returns the rule as one element of a "headers" list. JSON has no
// comments, so Remove recognises the rule by exactly this form.
func jsonRule(source string, e Endpoints) string {
	var parts []string
	e.eachHeader(func(name, value string) {
		parts = append(parts, `{ "key": "`+name+`", "value": `+backslashQuoted(value)+` }`)
	})
	return `{ "source": "` + source + `", "headers": [` + strings.Join(parts, ", ") + `] }`
}

// jsonRulePattern matches the result of jsonRule for any endpoints.
func jsonRulePattern(source string) string {
	value := func(key, value string) string { return `\{ "key": "` + key + `", "value": "` + value + `" \}` }
	pingback, webmention := value("X-Pingback", `(?:[^"\\]|\\")+`), value("Link", `<(?:[^"\\]|\\")+>; rel=\\"webmention\\"`)
	return `\{ "source": "` + regexp.QuoteMeta(source) + `", "headers": \[(?:` + pingback + `(?:, ` + webmention + `)?|` + webmention + `)\] \}`
}

// jsonPlace is the place of the header rules in a document.
type jsonPlace struct {
	object int // offset after the { of the object that holds "headers"; -1 without such an object
	empty  bool
	list   int // offset after the [ of the list; -1 without a list
	one    bool
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

// findJSON finds the list "headers" in the object at path.
func findJSON(text []byte, path ...string) (p jsonPlace, err error) {
	p = jsonPlace{object: -1, list: -1}
	if !json.Valid(text) {
		var v any
		return p, jsonFault(text, json.Unmarshal(text, &v))
	}
	d := json.NewDecoder(bytes.NewReader(text))
	for depth := 0; ; depth++ {
		t, err := d.Token()
		if err != nil {
			return p, err
		}
		if t != json.Delim('{') {
			if depth == 0 {
				return p, errors.New("want an object")
			}
			return p, fmt.Errorf("%q is not an object", path[depth-1])
		}
		open := int(d.InputOffset())
		key := "headers"
		if depth < len(path) {
			key = path[depth]
		}
		empty, found, err := seekKey(d, key)
		switch {
		case err != nil:
			return p, err
		case depth < len(path) && !found:
			return p, fmt.Errorf("there is no object %q", path[depth])
		case depth < len(path):
			continue
		}
		p.object, p.empty = open, empty
		if found {
			if t, err = d.Token(); err != nil {
				return p, err
			}
			if t != json.Delim('[') {
				return p, errors.New(`"headers" is not a list`)
			}
			p.list, p.one = int(d.InputOffset()), !d.More()
		}
		return p, nil
	}
}

// seekKey reads an object from its start to the value of key. empty reports
// whether the object has no members.
func seekKey(d *json.Decoder, key string) (empty, found bool, err error) {
	empty = !d.More()
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return empty, false, err
		}
		if k == key {
			return empty, true, nil
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return empty, false, err
		}
	}
	return empty, false, nil
}

// insertJSON adds the rule as the first element of the "headers" list in the
// object at path. If there is no list, it adds one at the start of the object.
func insertJSON(text []byte, source string, e Endpoints, path ...string) ([]byte, error) {
	if len(text) == 0 && len(path) == 0 {
		return []byte(newDocument(jsonRule(source, e))), nil
	}
	p, err := findJSON(text, path...)
	if err != nil {
		return nil, err
	}
	rule := jsonRule(source, e)
	at, insert := p.list, rule
	switch {
	case p.list < 0:
		at, insert = p.object, newList(rule, p.empty)
	case !p.one:
		insert = leadingSpace(text[p.list:]) + rule + ","
	}
	out := apply(nil, text, []splice{{at, at, insert}})
	return out, sameBut(text, out, path)
}

// newDocument returns the content of a file with only the rule. It has no line
// end after the first brace; this distinguishes it from a rule in an existing object.
func newDocument(rule string) string {
	return `{ "headers": [` + "\n" + jsonIndent + rule + "\n] }\n"
}

func newDocumentPattern(rule string) string {
	before, after, _ := strings.Cut(newDocument("\x00"), "\x00")
	return regexp.QuoteMeta(before) + rule + regexp.QuoteMeta(after)
}

// newList returns a "headers" list for the start of an object.
func newList(rule string, alone bool) string {
	s := "\n" + jsonIndent + `"headers": [` + "\n" + jsonIndent + jsonIndent + rule + "\n" + jsonIndent + "]"
	if alone {
		return s + "\n"
	}
	return s + ","
}

func leadingSpace(text []byte) string {
	return string(text[:len(text)-len(bytes.TrimLeft(text, " \t\r\n"))])
}

// removeJSON removes the rule from the "headers" list. It removes the whole list
// if insertJSON created it.
func removeJSON(text []byte, source string, path ...string) ([]byte, error) {
	rule := jsonRulePattern(source)
	if len(path) == 0 && regexp.MustCompile(`\A`+newDocumentPattern(rule)+`\z`).Match(text) {
		return nil, nil
	}
	if len(text) == 0 {
		return text, nil
	}
	p, err := findJSON(text, path...)
	if err != nil {
		if len(path) > 0 && json.Valid(text) {
			return text, nil // no object that could hold the rule
		}
		return nil, err
	}
	if p.list < 0 {
		return text, nil
	}
	begin := func(pattern string, at int) int {
		m := regexp.MustCompile(`\A(?:` + pattern + `)`).FindIndex(text[at:])
		if m == nil {
			return 0
		}
		return m[1]
	}
	list := regexp.QuoteMeta("\n"+jsonIndent+`"headers": [`+"\n"+jsonIndent+jsonIndent) + rule + regexp.QuoteMeta("\n"+jsonIndent+"]") + `(?:,|\n)`
	if n := begin(list, p.object); n > 0 {
		return apply(nil, text, []splice{{p.object, p.object + n, ""}}), nil
	}
	if n := begin(`[ \t\r\n]*`+rule+`,`, p.list); n > 0 {
		return apply(nil, text, []splice{{p.list, p.list + n, ""}}), nil
	}
	if n := begin(rule, p.list); n > 0 {
		return apply(nil, text, []splice{{p.list, p.list + n, ""}}), nil
	}
	return text, nil
}

// sameBut checks that an insertion changed only one thing: the list at path has
// one more element at its front.
func sameBut(before, after []byte, path []string) error {
	var was, is map[string]any
	if err := json.Unmarshal(before, &was); err != nil {
		return jsonFault(before, err)
	}
	if err := json.Unmarshal(after, &is); err != nil {
		return jsonFault(after, err)
	}
	a, b := was, is
	for _, key := range path {
		a, _ = a[key].(map[string]any)
		b, _ = b[key].(map[string]any)
	}
	list, _ := b["headers"].([]any)
	if len(list) == 0 {
		return errors.New("the host would not read the rule at that place")
	}
	if _, had := a["headers"]; had {
		b["headers"] = list[1:]
	} else {
		delete(b, "headers")
	}
	if !reflect.DeepEqual(was, is) {
		return errors.New("the rule would change the rest of the file")
	}
	return nil
}
