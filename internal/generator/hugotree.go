package generator

import (
	"io/fs"
	"path"
	"slices"
)

// Document reads a TOML, YAML or JSON file of a project, by the ending of its
// name. All keys are in lower case. The error names the file and the line.
func Document(tree fs.FS, name string) (map[string]any, error) {
	data, err := readRegular(tree, name)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	d, err := parseDocument(path.Ext(name), data)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return d, nil
}

// HugoConfig reads the configuration of a project, a theme or a module of Hugo
// as its files have it, all keys in lower case. A tree without one has an empty
// configuration.
func HugoConfig(tree fs.FS) (map[string]any, error) {
	all := map[string]any{}
	for _, name := range hugoConfigs(tree, hugoRow.files) {
		d, err := Document(tree, name)
		if err != nil {
			return nil, err
		}
		for _, key := range slices.Backward(hugoKeys(name)) {
			d = map[string]any{key: d}
		}
		merge(all, d)
	}
	return all, nil
}

// YAML parses a document, all keys in lower case. The error begins with the
// number of a line and a colon.
func YAML(text []byte) (map[string]any, error) { return parseDocument(".yaml", text) }
