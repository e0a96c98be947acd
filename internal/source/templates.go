package source

import (
	"context"
	"io/fs"
	"path"
	"strings"
)

// Bounds of the search in templates.
const (
	maxTemplate  = 2 << 20
	maxTemplates = 50_000
)

// searchTemplates searches the project's own files (level 0), then those of
// themes and modules (level 1).
func (m *Map) searchTemplates(ctx context.Context, levels *[2]wanted) error {
	content := map[string]bool{}
	for _, f := range m.content.files {
		content[f.shown] = true
	}
	n := 0
	seen := map[string]bool{}
	walk := func(level int, dir sourceDir) {
		fs.WalkDir(dir.fsys, dir.dir, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil
			case ctx.Err() != nil || n > maxTemplates:
				return fs.SkipAll
			case d.IsDir():
				if name != dir.dir && isForeign(d.Name()) || dir.prefix == "" && name == m.docrootName() && name != "." {
					return fs.SkipDir
				}
				return nil
			}
			shown := dir.show(name)
			if content[shown] || seen[shown] || !isTemplate(name) {
				return nil
			}
			seen[shown] = true
			if text, err := readFile(dir.fsys, name, maxTemplate); err == nil {
				n++
				levels[level].search(contentFile{dir: dir, name: name, shown: shown}, text)
			}
			return nil
		})
	}
	for _, place := range m.templateDirs() {
		walk(place.level, place.dir)
	}
	return context.Cause(ctx)
}

type templateDir struct {
	level int
	dir   sourceDir
}

// templateDirs lists where templates, data and configuration lie.
func (m *Map) templateDirs() (dirs []templateDir) {
	project := func(level int, name string) {
		dirs = append(dirs, templateDir{level, sourceDir{fsys: m.project, dir: name}})
	}
	if m.opt.Generator != Hugo {
		project(0, ".")
		return dirs
	}
	for _, name := range m.configFiles() {
		project(0, name)
	}
	for _, name := range []string{"layouts", "data", "i18n", "assets"} {
		project(0, name)
	}
	for _, mt := range m.mounts {
		switch top, _, _ := strings.Cut(mt.target, "/"); top {
		case "layouts", "data", "i18n", "assets":
			level := 1
			if mt.module == "project" {
				level = 0
			}
			dirs = append(dirs, templateDir{level, mt.dir})
		}
	}
	if len(m.mounts) == 0 {
		themes, _ := fs.ReadDir(m.project, "themes")
		for _, t := range themes {
			for _, name := range []string{"layouts", "data", "i18n"} {
				project(1, path.Join("themes", t.Name(), name))
			}
		}
	}
	return dirs
}

// configFiles lists the files of Hugo's configuration.
func (m *Map) configFiles() (names []string) {
	for _, stem := range []string{"hugo", "config"} {
		for _, ext := range []string{".toml", ".yaml", ".yml", ".json"} {
			if _, err := fs.Stat(m.project, stem+ext); err == nil {
				names = append(names, stem+ext)
			}
		}
	}
	fs.WalkDir(m.project, "config", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && isTemplate(name) {
			names = append(names, name)
		}
		return nil
	})
	return names
}

// isTemplate tells by its name whether a file may write links into pages.
func isTemplate(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".html", ".htm", ".gohtml", ".tmpl", ".liquid", ".njk", ".hbs", ".mustache", ".ejs", ".pug", ".jinja", ".jinja2", ".j2", ".tera",
		".astro", ".vue", ".svelte", ".jsx", ".tsx", ".js", ".ts", ".mjs", ".cjs", ".php", ".py", ".rb",
		".toml", ".yaml", ".yml", ".json", ".csv", ".xml", ".md", ".mdx", ".svg", ".css", ".scss":
		return true
	}
	return false
}

// docrootName is the docroot's path in the project, "." when it is elsewhere.
func (m *Map) docrootName() string {
	if rel, ok := strings.CutPrefix(slashed(m.opt.Docroot), strings.TrimSuffix(slashed(m.opt.Project), "/")+"/"); ok && rel != "" {
		return path.Clean(rel)
	}
	return "."
}
