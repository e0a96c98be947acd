package generator

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text/tomltree"
)

// maxConfig is the size above which a configuration file is refused: the TOML
// decoder compares every key of a table with those before it.
const maxConfig = 128 << 10

// readConfig reads a file of a project. It opens regular files only: a pipe would
// block.
func readConfig(p Project, name string) ([]byte, error) {
	data, err := system.ReadFS(os.DirFS(p.Dir), name, maxConfig)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return data, nil
}

// readDocument reads a TOML, YAML or JSON file, by the extension of its name. All
// keys become lower case: Hugo ignores case, and the other generators use lower
// case only.
func readDocument(p Project, name string) (map[string]any, error) {
	data, err := readConfig(p, name)
	if err != nil {
		return nil, err
	}
	d, err := ParseDocument(path.Ext(name), data)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	return d, nil
}

// ParseDocument parses TOML, YAML or JSON, by the extension of its name. All keys become
// lower case. The error begins with a line number and a colon.
func ParseDocument(ext string, data []byte) (map[string]any, error) {
	d := map[string]any{}
	data = []byte(strings.TrimPrefix(string(data), "\xef\xbb\xbf"))
	switch strings.ToLower(ext) {
	case ".toml":
		if line, err := tomltree.Bound(data); err != nil {
			return nil, fmt.Errorf("%d: %w", line, err)
		}
		if err := toml.Unmarshal(data, &d); err != nil {
			line := 1
			var decode *toml.DecodeError
			if errors.As(err, &decode) {
				line, _ = decode.Position()
			}
			return nil, fmt.Errorf("%d: %s", line, strings.TrimPrefix(err.Error(), "toml: "))
		}
	case ".json":
		if err := json.Unmarshal(data, &d); err != nil {
			at := int64(0)
			var syntax *json.SyntaxError
			var typed *json.UnmarshalTypeError
			switch {
			case errors.As(err, &syntax):
				at = syntax.Offset
			case errors.As(err, &typed):
				at = typed.Offset
			}
			return nil, fmt.Errorf("%d: %w", 1+strings.Count(string(data[:min(at, int64(len(data)))]), "\n"), err)
		}
	default:
		return parseYAML(data)
	}
	return lowered(d), nil
}

// parseYAML returns the plain values of a document. It drops values with tags that
// only the generator understands (!ENV, !!python/name).
func parseYAML(data []byte) (map[string]any, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		line, message := 1, strings.TrimPrefix(err.Error(), "yaml: ")
		if n, err := fmt.Sscanf(message, "line %d:", &line); n == 1 && err == nil {
			_, message, _ = strings.Cut(message, ": ")
		}
		return nil, fmt.Errorf("%d: %s", line, message)
	}
	if len(root.Content) == 0 {
		return map[string]any{}, nil
	}
	budget := maxNodes
	d, ok := yamlValue(root.Content[0], &budget, 0).(map[string]any)
	if !ok {
		return nil, errors.New("1: not a table of keys")
	}
	return d, nil
}

// maxNodes bounds the values of a document with its aliases expanded, maxDepth how
// deep they nest.
const (
	maxNodes = 100_000
	maxDepth = 100
)

func yamlValue(n *yaml.Node, budget *int, depth int) any {
	if *budget--; *budget < 0 || depth > maxDepth {
		return nil
	}
	switch n.Kind {
	case yaml.AliasNode:
		return yamlValue(n.Alias, budget, depth+1)
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			m[strings.ToLower(n.Content[i].Value)] = yamlValue(n.Content[i+1], budget, depth+1)
		}
		return m
	case yaml.SequenceNode:
		var list []any
		for _, c := range n.Content {
			list = append(list, yamlValue(c, budget, depth+1))
		}
		return list
	case yaml.ScalarNode:
		var v any
		if strings.HasPrefix(n.Tag, "!!") && n.Decode(&v) == nil {
			return v
		}
	}
	return nil
}

// lowered returns d with the keys of all tables in lower case.
func lowered(d map[string]any) map[string]any {
	out := make(map[string]any, len(d))
	for k, v := range d {
		if sub, ok := v.(map[string]any); ok {
			v = lowered(sub)
		}
		out[strings.ToLower(k)] = v
	}
	return out
}

// textOf returns a value that is a string, "" for any other.
func textOf(v any) string {
	s, _ := v.(string)
	return s
}

// tableOf returns a value that is a table, nil for any other.
func tableOf(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// property is a value in a configuration that is a program: name: "value".
type property struct {
	// within are the names of the objects around it, the outermost first; "" for
	// braces without a name before them.
	within []string
	name   string
	value  any // a string, true or false
}

// scriptProperties lists the properties of a JavaScript or TypeScript file that are
// string literals, true or false. It also lists calls with one such value:
// setOutput("x") has the name "setOutput(". It runs nothing, so it does not find
// values that the program computes.
func scriptProperties(text string) (all []property) {
	var within []string
	name := ""   // the identifier or string just before
	key := false // a colon or parenthesis follows it
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case strings.HasPrefix(text[i:], "//"):
			i = after(text, i, "\n")
			continue
		case strings.HasPrefix(text[i:], "/*"):
			i = after(text, i+2, "*/")
			continue
		case c == '\'' || c == '"' || c == '`':
			value, end, plain := scriptText(text, i)
			i = end
			if key && plain && whole(text[i:]) {
				all = append(all, property{append([]string(nil), within...), name, value})
			}
			name, key = value, false
			continue
		case isWord(c):
			start := i
			for i < len(text) && isWord(text[i]) {
				i++
			}
			if word := text[start:i]; key && (word == "true" || word == "false") && whole(text[i:]) {
				all = append(all, property{append([]string(nil), within...), name, word == "true"})
			}
			name, key = text[start:i], false
			continue
		case c == ':':
			key = name != ""
		case c == '(':
			name, key = name+"(", name != ""
		case c == '{' || c == '[':
			if !key || strings.HasSuffix(name, "(") {
				name = ""
			}
			if len(within) == maxDepth {
				return all
			}
			within = append(within, name)
			name, key = "", false
		case c == '}' || c == ']':
			if len(within) > 0 {
				within = within[:len(within)-1]
			}
			name, key = "", false
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			name, key = "", false
		}
		i++
	}
	return all
}

// whole reports whether a value ends before rest: it is not the beginning of a longer
// expression.
func whole(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\r\n")
	return rest == "" || strings.IndexByte(",})];", rest[0]) >= 0 || strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*")
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}

// after returns the index after the next end at or after i, or the length.
func after(text string, i int, end string) int {
	if k := strings.Index(text[i:], end); k >= 0 {
		return i + k + len(end)
	}
	return len(text)
}

// scriptText reads the string that begins with a quote at i. plain means that it
// has no escape and no placeholder.
func scriptText(text string, i int) (value string, end int, plain bool) {
	quote, start := text[i], i+1
	plain = true
	for i = start; i < len(text); i++ {
		switch c := text[i]; {
		case c == quote:
			return text[start:i], i + 1, plain
		case c == '\\':
			plain = false
			i++
		case c == '$' && quote == '`' && strings.HasPrefix(text[i:], "${"):
			plain = false
		case c == '\n' && quote != '`':
			return text[start:i], i, false // no string ends at a line break
		}
	}
	return text[start:], len(text), false
}
