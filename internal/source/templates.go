package source

import (
	"bytes"
	"context"
	"io/fs"
	"path"
	"strings"

	"github.com/sitelink/sitelink/internal/generator"
)

// Bounds of the search in templates: bytes of a file, and files.
const (
	maxTemplate  = 2 << 20
	maxTemplates = 50_000
)

// searchTemplates searches the files of the project (level 0), then those of
// themes and modules (level 1).
func (m *Map) searchTemplates(ctx context.Context, levels *[2]textSearch) error {
	content := map[string]bool{}
	for _, f := range m.content.files {
		content[f.display] = true
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
			shown := dir.displayName(name)
			if content[shown] || seen[shown] || !isTemplate(name) {
				return nil
			}
			seen[shown] = true
			if text, err := readFile(dir.fsys, name, maxTemplate); err == nil {
				n++
				if m.opt.Generator != Hugo {
					dir.kind = kindOf(name)
				}
				levels[level].search(contentFile{dir: dir, name: name, display: shown}, text)
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

// templateDirs returns the directories of templates, data and configuration.
func (m *Map) templateDirs() (dirs []templateDir) {
	if m.opt.Generator != Hugo {
		return []templateDir{{0, sourceDir{fsys: m.project, dir: "."}}}
	}
	for _, name := range m.configFiles() {
		dirs = append(dirs, templateDir{0, sourceDir{fsys: m.project, dir: name, kind: Configuration}})
	}
	for _, name := range hugoDirs {
		dirs = append(dirs, templateDir{0, sourceDir{fsys: m.project, dir: name, kind: hugoKinds[name]}})
	}
	mounts := m.mounts
	if len(mounts) == 0 {
		mounts = m.configMounts()
	}
	for _, mt := range mounts {
		switch top, _, _ := strings.Cut(mt.target, "/"); top {
		case "layouts", "data", "i18n", "assets":
			level, dir := 1, mt.dir
			dir.kind, dir.module = hugoKinds[top], mt.name()
			if dir.module == "" {
				level = 0
			}
			dirs = append(dirs, templateDir{level, dir})
		}
	}
	if len(m.mounts) == 0 {
		for _, theme := range m.themes() {
			for _, name := range hugoDirs {
				dir := sourceDir{fsys: m.project, dir: path.Join("themes", theme, name), kind: hugoKinds[name], module: theme}
				dirs = append(dirs, templateDir{1, dir})
			}
		}
	}
	return dirs
}

// themes returns the names of the themes in the project.
func (m *Map) themes() (names []string) {
	dirs, _ := fs.ReadDir(m.project, "themes")
	for _, d := range dirs {
		names = append(names, d.Name())
	}
	return names
}

// hugoDirs are the directories of a project or theme, other than content, whose
// files write links into pages. hugoKinds is the kind of their files.
var (
	hugoDirs  = []string{"layouts", "data", "i18n", "assets"}
	hugoKinds = map[string]Kind{"layouts": Template, "data": Data, "i18n": Data, "assets": Asset}
)

// kindOf returns the kind of a file by its name, for generators other than
// Hugo.
func kindOf(name string) Kind {
	if generator.IsConfig(name) {
		return Configuration
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".mdx":
		return Content
	case ".toml", ".yaml", ".yml", ".json", ".csv", ".xml":
		return Data
	case ".css", ".scss", ".svg":
		return Asset
	case ".js", ".ts", ".mjs", ".cjs", ".py", ".rb":
		if strings.HasPrefix(name, "_data/") || strings.Contains(name, "/_data/") {
			return Data
		}
	}
	return Template
}

// isHTMLTemplate reports whether an HTML file among the content is a template,
// for example of a theme in the project. A page would have front matter.
func isHTMLTemplate(name string, text []byte) bool {
	ext := strings.ToLower(path.Ext(name))
	return (ext == ".html" || ext == ".htm") && frontMatter(text) == 0 && (bytes.Contains(text, []byte("{{")) || bytes.Contains(text, []byte("{%")))
}

// configFiles returns the files of Hugo's configuration.
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

// isTemplate reports whether a file with this name may write links into pages.
func isTemplate(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".html", ".htm", ".gohtml", ".tmpl", ".liquid", ".njk", ".hbs", ".mustache", ".ejs", ".pug", ".jinja", ".jinja2", ".j2", ".tera",
		".astro", ".vue", ".svelte", ".jsx", ".tsx", ".js", ".ts", ".mjs", ".cjs", ".php", ".py", ".rb",
		".toml", ".yaml", ".yml", ".json", ".csv", ".xml", ".md", ".mdx", ".svg", ".css", ".scss":
		return true
	}
	return false
}

// docrootName returns the path of the docroot in the project, "." if it is
// elsewhere.
func (m *Map) docrootName() string {
	if rel, ok := strings.CutPrefix(slashed(m.opt.Docroot), strings.TrimSuffix(slashed(m.opt.Project), "/")+"/"); ok && rel != "" {
		return path.Clean(rel)
	}
	return "."
}
