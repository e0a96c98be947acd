package inject

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/layout"
)

// findMkDocs uses the block extrahead, which all MkDocs themes have, in main.html
// of the theme's custom_dir. If there is no custom_dir, it adds one to
// mkdocs.yml.
func findMkDocs(p *project) (finding, error) {
	name := "mkdocs.yml"
	if _, err := fs.Stat(p.tree, name); err != nil {
		name = "mkdocs.yaml"
	}
	text, ok := p.read(name, layout.YAML)
	if !ok {
		return finding{}, fmt.Errorf("read %s: no such file", name)
	}
	config, err := generator.YAML(text)
	if err != nil {
		return finding{}, fmt.Errorf("read %s:%w", name, err) // err starts with the line
	}
	s := newSearch(p, layout.Jinja, p.from(layout.Jinja, nil), nil)
	elements, err := pages(p.opt.Choice).mkdocs(p.opt.Endpoints.HTML(false))
	if err != nil {
		s.refuse(Refusal{Reason: err.Error(), Next: nextPatterns})
		return s.finding(""), nil
	}
	theme, _ := config["theme"].(map[string]any)
	dir := path.Clean(textAt(theme, "custom_dir"))
	switch {
	case dir != "." && !fs.ValidPath(dir):
		s.refuse(Refusal{Path: name, Reason: "theme.custom_dir is outside the project", Next: nextBuilt})
		return s.finding(""), nil
	case dir == ".":
		dir = "overrides"
		inner, insert, refused := customDir(text, config, name)
		if refused != nil {
			s.refuse(*refused)
			return s.finding(""), nil
		}
		s.edits[name] = edit{path: name, lang: layout.YAML, inner: inner, insert: insert, rank: 1, how: "theme.custom_dir"}
	}
	main := path.Join(dir, "main.html")
	super := "{% block extrahead %}{{ super() }}" + elements + "{% endblock extrahead %}"
	bare, has := p.read(main, layout.Jinja)
	d := &layout.Doc{}
	if has {
		d = layout.Walk(layout.Source{File: main, Text: bare, Lang: layout.Jinja}, p.from(layout.Jinja, []string{dir}))
	}
	switch {
	case !has:
		s.create(main, `{% extends "base.html" %}`+super, "block extrahead of the theme")
	case hasBlock(d, "extrahead"):
		start, _, ok := layout.Jinja.Block(bare, "extrahead")
		if !ok {
			s.refuse(Refusal{Path: main, Reason: "cannot find the start of the block extrahead", Next: "paste this into the block", Paste: layout.Jinja.Marked(elements)})
			return s.finding(""), nil
		}
		s.edits[main] = edit{path: main, lang: layout.Jinja, inner: elements, how: "block extrahead",
			insert: func(text []byte) []byte { return layout.Jinja.InsertAfter(text, start, elements) }}
	case d.Extends != "":
		s.edits[main] = edit{path: main, lang: layout.Jinja, inner: super, how: "block extrahead",
			insert: func(text []byte) []byte { return layout.Jinja.Append(text, super) }}
	default: // a whole page
		s.inner = func(bool) (string, error) { return elements, nil }
		s.root(main, false)
	}
	return s.finding("found no <head> in " + main), nil
}

func hasBlock(d *layout.Doc, name string) bool {
	for _, b := range d.AllBlocks {
		if b == name {
			return true
		}
	}
	return false
}

// customDir returns the lines that set custom_dir to overrides, and the function
// that inserts them into the text.
func customDir(text []byte, config map[string]any, name string) (inner string, insert func([]byte) []byte, refused *Refusal) {
	const line = "custom_dir: overrides"
	switch config["theme"].(type) {
	case nil:
		if len(text) == 0 || text[len(text)-1] != '\n' {
			break
		}
		inner = "\ntheme:\n  name: mkdocs\n  " + line + "\n"
		return inner, func(text []byte) []byte { return layout.YAML.Append(text, inner) }, nil
	case map[string]any:
		offset := 0
		for row := range strings.Lines(string(text)) {
			end := offset + len(row)
			if key, rest, ok := strings.Cut(strings.TrimRight(row, "\r\n"), ":"); ok && key == "theme" && strings.TrimSpace(cutComment(rest)) == "" && row[len(row)-1] == '\n' {
				indent := yamlIndent(text[end:])
				if indent == "" {
					break
				}
				inner = "\n" + indent + line + "\n" + indent
				at := offset + len(strings.TrimRight(row, "\r\n"))
				return inner, func(text []byte) []byte { return layout.YAML.InsertLine(text, at, indent, inner) }, nil
			}
			offset = end
		}
	}
	return "", nil, &Refusal{Path: name, Reason: "the theme has no custom_dir, and theme is not a block with one key per line",
		Next: "paste this below theme:, next to the name of the theme, and run the command again", Paste: line}
}

func cutComment(text string) string {
	text, _, _ = strings.Cut(text, " #")
	return text
}

// yamlIndent returns the indentation of the first line with a key.
func yamlIndent(text []byte) string {
	for row := range strings.Lines(string(text)) {
		if trimmed := strings.TrimLeft(row, " "); strings.TrimSpace(trimmed) != "" && trimmed[0] != '#' {
			return row[:len(row)-len(trimmed)]
		}
	}
	return ""
}

// mkdocs returns the elements under the condition that the page is chosen.
func (p pages) mkdocs(elements string) (string, error) {
	condition := "page"
	switch {
	case !p.has("home"):
		condition += " and not page.is_homepage"
	case !p.has("page"):
		condition += " and page.is_homepage"
	}
	tests := func(globs []string) (string, error) {
		begin, whole, err := prefixes(globs)
		var all []string
		for _, text := range begin {
			all = append(all, fmt.Sprintf(`("/" ~ page.url).startswith("%s")`, text))
		}
		for _, text := range whole {
			all = append(all, fmt.Sprintf(`("/" ~ page.url) == "%s"`, text))
		}
		return "(" + strings.Join(all, " or ") + ")", err
	}
	if len(p.Pages) > 0 {
		test, err := tests(p.Pages)
		if err != nil {
			return "", err
		}
		condition += " and " + test
	}
	if len(p.Exclude) > 0 {
		test, err := tests(p.Exclude)
		if err != nil {
			return "", err
		}
		condition += " and not " + test
	}
	return "{% if " + condition + " %}" + elements + "{% endif %}", nil
}
