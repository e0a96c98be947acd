package source

import (
	"bytes"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/generator"
)

// Bounds of the search in templates: bytes of a file, and files.
const (
	maxTemplate  = 2 << 20
	maxTemplates = 50_000
)

// templateFile is a file, other than content, that writes links into pages.
type templateFile struct {
	contentFile
	level int // 0 in the project, 1 in a theme or module
	// isContent reports that the file is also indexed as content.
	isContent bool
	text      []byte
	outline   *outline     // of a template with its actions masked, nil for other files
	lines     func() lines // computed once
	// dataRows are the addresses of a data or configuration file, nil until
	// needed.
	dataRows []dataRow
	dashed   string // its name between dashes, see dashed, "" until needed
}

// templateIndex holds the templates, data and configuration of a project.
type templateIndex struct {
	files  []*templateFile
	links  map[string][]*written // by element and attribute, see written
	data   map[string][]fileRow  // rows of data files by their address, see normalPath
	dashed map[string]string     // results of dashed
	stems  map[string]string     // see stemLine, nil until needed
	// rowFiles are the files of data, which is nil until needed.
	rowFiles []*templateFile
}

// rowsOf returns the rows of data and configuration files by their address.
func (x *templateIndex) rowsOf() map[string][]fileRow {
	if x.data == nil {
		x.data = map[string][]fileRow{}
		for _, f := range x.rowFiles {
			rows := f.rows()
			for i := range rows {
				x.data[rows[i].norm] = append(x.data[rows[i].norm], fileRow{f, &rows[i]})
			}
		}
	}
	return x.data
}

// templateIndex reads the files of the project (level 0), then those of themes
// and modules (level 1).
func (src *sources) templateIndex() *templateIndex {
	src.templates.once.Do(func() { src.templates.index = src.readTemplates() })
	return src.templates.index
}

// sharedTemplates is read when one of the workers needs it.
type sharedTemplates struct {
	files []*templateFile
	once  sync.Once
	index *templateIndex
}

func (src *sources) readTemplates() *templateIndex {
	x := &templateIndex{links: map[string][]*written{}, dashed: map[string]string{}}
	for _, f := range src.templateFiles() {
		var err error
		f.text, err = disk.ReadFS(f.dir.fsys, f.name, maxTemplate)
		isTemplate := err == nil && (!f.isContent || isHTMLTemplate(f.name, f.text))
		if isTemplate {
			x.add(f)
		}
	}
	return x
}

// templateFiles lists the files that may be templates, without their text.
func (src *sources) templateFiles() (files []*templateFile) {
	if src.templates.files != nil {
		return src.templates.files
	}
	seen, layouts := map[string]bool{}, map[string]bool{}
	for _, place := range src.templateDirs() {
		dir := place.dir
		fs.WalkDir(dir.fsys, dir.dir, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil
			case len(files) > maxTemplates:
				return fs.SkipAll
			case d.IsDir():
				if name != dir.dir && isForeign(d.Name()) || dir.prefix == "" && name == src.docrootName() && name != "." {
					return fs.SkipDir
				}
				return nil
			}
			f := &templateFile{contentFile: contentFile{dir: dir, name: name, display: dir.displayName(name)}, level: place.level}
			if seen[f.display] || !isTemplate(name) {
				return nil
			}
			seen[f.display] = true
			if src.opt.Generator == Hugo && dir.kind == Template {
				key := templateKey(f)
				if layouts[key] {
					return nil // the project's own template takes its place
				}
				layouts[key] = true
			}
			if _, f.isContent = src.content.byDisplay[f.display]; f.isContent && !isHTMLName(name) {
				return nil
			}
			f.lines = sync.OnceValue(func() lines { return newLines(f.text) })
			if src.opt.Generator != Hugo {
				f.dir.kind = kindOf(name)
			}
			files = append(files, f)
			return nil
		})
	}
	src.templates.files = files
	return files
}

// search records where the file contains the texts. A text in an expression of
// an attribute is where the expression starts.
func (f *templateFile) search(w *textSearch) {
	switch path.Base(f.name) {
	case ruleFile, "netlify.toml", "vercel.json", "firebase.json", "staticwebapp.config.json":
		return // what the host reads is in no page
	}
	of := textSearch{byWord: w.byWord, hits: map[string][]hit{}}
	of.search(f.contentFile, f.text)
	for text, hits := range of.hits {
		for i := range hits {
			h := &hits[i]
			if f.outline == nil {
				continue
			}
			if t := f.outline.at(h.at); t >= 0 {
				if a, ok := f.outline.attributeAt(t, h.at); ok {
					if linkAttributes[a.name] {
						h.element = string(f.outline.name(t))
					}
					for f.outline.text[h.at] == masked && h.at > a.from && f.outline.text[h.at-1] == masked {
						h.at--
					}
					h.line, h.col = f.lines().at(h.at)
				}
			}
		}
		w.hits[text] = append(w.hits[text], hits...)
	}
}

// add adds a file.
func (x *templateIndex) add(f *templateFile) {
	if !f.isContent {
		x.files = append(x.files, f)
	}
	switch f.dir.kind {
	case Data, Configuration:
		x.rowFiles = append(x.rowFiles, f)
	case Template:
		if !isHTMLLike(f.name) || isRenderHook(f.name) {
			return
		}
		for _, w := range f.readLinks() {
			key := w.element() + " " + w.attr.name
			x.links[key] = append(x.links[key], w)
		}
	}
}

// findStems reads the lines of data files that map a word to the name of
// another data file. A word that means several files means none.
func (x *templateIndex) findStems() {
	x.stems = map[string]string{}
	stems := map[string]bool{}
	for _, f := range x.files {
		if f.dir.kind == Data {
			stems[stemOf(f.name)] = true
		}
	}
	for _, f := range x.files {
		if f.dir.kind != Data && f.dir.kind != Configuration {
			continue
		}
		for _, l := range stemLine.FindAllSubmatch(f.text, -1) {
			word, stem := string(l[1]), string(l[2])
			if !stems[stem] {
				continue
			}
			if known, ok := x.stems[word]; ok && known != stem {
				stem = ""
			}
			x.stems[word] = stem
		}
	}
}

// isHTMLLike reports whether a template with this name writes HTML.
func isHTMLLike(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".html", ".htm", ".gohtml", ".tmpl", ".liquid", ".njk", ".hbs", ".mustache", ".ejs", ".jinja", ".jinja2", ".j2", ".tera", ".php", ".astro", ".vue", ".svelte":
		return true
	}
	return false
}

type templateDir struct {
	level int
	dir   sourceDir
}

// templateDirs returns the directories of templates, data and configuration.
func (src *sources) templateDirs() (dirs []templateDir) {
	if src.opt.Generator != Hugo {
		return []templateDir{{0, sourceDir{fsys: src.project, dir: "."}}}
	}
	for _, name := range src.configFiles() {
		dirs = append(dirs, templateDir{0, sourceDir{fsys: src.project, dir: name, kind: Configuration}})
	}
	for _, name := range hugoDirs {
		dirs = append(dirs, templateDir{0, sourceDir{fsys: src.project, dir: name, kind: hugoKinds[name]}})
	}
	mounts := src.mounts
	if len(mounts) == 0 {
		mounts = src.configMounts()
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
	if len(src.mounts) == 0 {
		for _, theme := range src.themes() {
			for _, name := range hugoDirs {
				dir := sourceDir{fsys: src.project, dir: path.Join("themes", theme, name), kind: hugoKinds[name], module: theme}
				dirs = append(dirs, templateDir{1, dir})
			}
		}
	}
	return dirs
}

// themes returns the names of the themes in the project.
func (src *sources) themes() (names []string) {
	dirs, _ := fs.ReadDir(src.project, "themes")
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
	return isHTMLName(name) && frontMatter(text) == 0 && (bytes.Contains(text, []byte("{{")) || bytes.Contains(text, []byte("{%")))
}

func isHTMLName(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".html" || ext == ".htm"
}

// configFiles returns the files of Hugo's configuration.
func (src *sources) configFiles() (names []string) {
	for _, stem := range []string{"hugo", "config"} {
		for _, ext := range []string{".toml", ".yaml", ".yml", ".json"} {
			if _, err := fs.Stat(src.project, stem+ext); err == nil {
				names = append(names, stem+ext)
			}
		}
	}
	fs.WalkDir(src.project, "config", func(name string, d fs.DirEntry, err error) error {
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
	return isRuleTemplate(name)
}

// docrootName returns the path of the docroot in the project, "." if it is
// elsewhere.
func (src *sources) docrootName() string {
	if rel, ok := strings.CutPrefix(slashed(src.opt.Docroot), strings.TrimSuffix(slashed(src.opt.Project), "/")+"/"); ok && rel != "" {
		return path.Clean(rel)
	}
	return "."
}
