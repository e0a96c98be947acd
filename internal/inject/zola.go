package inject

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/layout"
)

// findZola uses the project's templates. For a template of the theme, it creates
// one in the project that extends it and fills a block in the head.
func findZola(p *project) (finding, error) {
	config, err := zolaConfig(p)
	if err != nil {
		return finding{}, err
	}
	s := newSearch(p, layout.Jinja, p.from(layout.Jinja, []string{"templates"}), func(bool) (string, error) {
		return pages(p.opt.Choice).tera(p.opt.Endpoints.HTML(false)), nil
	})
	s.roots(p.list("templates", ".html"))
	theme := textAt(config, "theme")
	if theme == "" {
		return s.finding("found no template with a <head> in templates"), nil
	}
	dir := path.Join("themes", theme, "templates")
	if !fs.ValidPath(dir) || !p.isDir(dir) {
		return s.finding("found no template with a <head>, and the theme's directory " + dir + " does not exist"), nil
	}
	for _, file := range p.list(dir, ".html") {
		name := strings.TrimPrefix(file, dir+"/")
		if p.has("templates/"+name, layout.Jinja) || name == "404.html" {
			continue // the project overrides it
		}
		src, _ := p.source(file, layout.Jinja)
		d := layout.Walk(src, p.from(layout.Jinja, []string{"templates", dir}))
		if len(d.Heads) == 0 {
			continue
		}
		block := s.freeBlock(d, dir, name)
		if block == "" {
			s.refuse(Refusal{Path: file, Line: layout.Line(src.Text, d.Heads[0].Offset), Reason: "the head belongs to the theme and has no block to extend", unreachable: true,
				Next: nextBuilt})
			continue
		}
		inner, _ := s.inner(false)
		inner = fmt.Sprintf("{%% extends \"%s/templates/%s\" %%}{%% block %s %%}{{ super() }}%s{%% endblock %s %%}", theme, name, block, inner, block)
		s.create("templates/"+name, inner, "block "+block+" of the theme's "+name)
	}
	return s.finding("found no template with a <head> in templates or in " + dir), nil
}

// zolaConfig reads zola.toml or config.toml.
func zolaConfig(p *project) (map[string]any, error) {
	for _, name := range []string{"zola.toml", "config.toml"} {
		if _, err := fs.Stat(p.tree, name); err == nil {
			return generator.Document(p.tree, name)
		}
	}
	return nil, nil
}

// freeBlock returns the last block in the head that no other template replaces,
// or "". It skips blocks for titles and descriptions.
func (s *search) freeBlock(d *layout.Doc, dir, name string) string {
	replaced := map[string]bool{}
	for _, where := range []string{dir, "templates"} {
		for _, file := range s.p.list(where, ".html") {
			if file == dir+"/"+name {
				continue
			}
			src, ok := s.p.source(file, layout.Jinja)
			if !ok {
				continue
			}
			other := layout.Walk(src, func(string, string) (layout.Source, bool) { return layout.Source{}, false })
			if other.Extends != "" {
				for _, block := range other.AllBlocks {
					replaced[block] = true
				}
			}
		}
	}
	for _, block := range slices.Backward(d.Blocks) {
		if !replaced[block] && !strings.Contains(block, "title") && !strings.Contains(block, "description") {
			return block
		}
	}
	return ""
}

// tera returns the elements under the condition that the page is chosen. Tera
// treats undefined names as false.
func (p pages) tera(elements string) string {
	var kinds []string
	if p.has("home") {
		kinds = append(kinds, `current_path == "/"`)
	}
	if p.has("page") {
		kinds = append(kinds, "page")
	}
	if p.has("list") {
		kinds = append(kinds, `section and current_path != "/"`, "taxonomy", "term")
	}
	open, end := "{% if current_path %}{% if "+strings.Join(kinds, " or ")+" %}", "{% endif %}{% endif %}"
	if !p.has("home") {
		open, end = open+`{% if current_path != "/" %}`, end+"{% endif %}"
	}
	if len(p.Pages)+len(p.Exclude) > 0 {
		open += "{% set sitelink_path = current_path | trim_start_matches(pat=\"/\") %}{% if sitelink_path == \"\" or sitelink_path is ending_with(\"/\") %}{% set sitelink_path = sitelink_path ~ \"index.html\" %}{% endif %}"
	}
	for _, c := range []struct {
		globs []string
		not   string
	}{{p.Pages, ""}, {p.Exclude, "not "}} {
		if len(c.globs) > 0 {
			open += fmt.Sprintf("{%% if sitelink_path is %smatching(`%s`) %%}", c.not, patterns(c.globs))
			end += "{% endif %}"
		}
	}
	return open + elements + end
}
