package generator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"github.com/sitelink/sitelink/internal/disk"
)

// maxConfig is the size above which a configuration file is refused: the TOML
// decoder compares every key of a table with those before it.
const maxConfig = 128 << 10

// readConfig reads a file of a project as text. A pipe would block, so only
// regular files are opened.
func readConfig(p Project, name string) ([]byte, error) {
	data, err := readRegular(os.DirFS(p.Dir), name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return data, nil
}

func readRegular(tree fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(tree, name)
	switch {
	case err != nil:
		return nil, disk.Cause(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	}
	f, err := tree.Open(name)
	if err != nil {
		return nil, disk.Cause(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err == nil && len(data) > maxConfig {
		err = fmt.Errorf("larger than %d bytes", maxConfig)
	}
	return data, disk.Cause(err)
}

// readDocument reads a TOML, YAML or JSON file, by its name, with all keys in
// lower case: Hugo does not tell them apart, the others write them so.
func readDocument(p Project, name string) (map[string]any, error) {
	data, err := readConfig(p, name)
	if err != nil {
		return nil, err
	}
	d, err := parseDocument(path.Ext(name), data)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	return d, nil
}

// parseDocument parses a text. The error begins with a line number and a colon.
func parseDocument(ext string, data []byte) (map[string]any, error) {
	d := map[string]any{}
	data = []byte(strings.TrimPrefix(string(data), "\xef\xbb\xbf"))
	switch strings.ToLower(ext) {
	case ".toml":
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

// parseYAML takes the plain values of a document. Tags that a generator gives a
// meaning of its own (!ENV, !!python/name) make the value one of nobody's
// business here.
func parseYAML(data []byte) (map[string]any, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		line, said := 1, strings.TrimPrefix(err.Error(), "yaml: ")
		if n, err := fmt.Sscanf(said, "line %d:", &line); n == 1 && err == nil {
			_, said, _ = strings.Cut(said, ": ")
		}
		return nil, fmt.Errorf("%d: %s", line, said)
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

// maxNodes bounds what aliases may multiply, maxDepth how deep values nest.
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

// textOf returns a value that is a text, "" for any other.
func textOf(v any) string {
	s, _ := v.(string)
	return s
}

// tableOf returns a value that is a table, nil for any other.
func tableOf(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}
