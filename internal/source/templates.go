package source

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/system"
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
	outline   *outline         // of a template with its actions masked, nil for other files
	lines     func() lines     // computed once
	rows      func() []dataRow // see dataRow, read once
}

func (f *templateFile) position(at int) *Position { return f.contentFile.position(f.lines().at(at)) }

// templateIndex holds the templates, data and configuration of a project.
type templateIndex struct {
	files  []*templateFile
	links  map[string][]*written        // by element and attribute, see written
	data   func() map[string][]*dataRow // rows of data files by their address, see normalPath
	stems  func() map[string]string     // see readStems
	dashed memo[string, string]         // of parts of addresses and names of files
}

// readTemplates reads the files of the project (level 0), then those of themes and
// modules (level 1).
func (src *sources) readTemplates() *templateIndex {
	x := &templateIndex{links: map[string][]*written{}}
	x.data, x.stems = sync.OnceValue(x.readRows), sync.OnceValue(x.readStems)
	for _, f := range src.files() {
		if f.text, _ = system.ReadFS(f.dir.fsys, f.name, maxTemplate); f.isContent && !isHTMLTemplate(f.name, f.text) {
			continue
		}
		if !f.isContent {
			x.files = append(x.files, f)
		}
		if f.dir.kind != Template || !isHTMLLike(f.name) {
			continue
		}
		if base := path.Base(f.name); strings.HasPrefix(base, "render-link") || strings.HasPrefix(base, "render-image") {
			continue // they write the links and images of Markdown, whose source is the content
		}
		for _, w := range f.readLinks() {
			key := w.element() + " " + w.attr.name
			x.links[key] = append(x.links[key], w)
		}
	}
	return x
}

// templateFiles lists the files that may be templates, without their text.
func (src *sources) templateFiles() (files []*templateFile) {
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
				if name != dir.dir && src.opt.Generator.Foreign(dir.fsys, name) || dir.prefix == "" && src.isBuilt(name) {
					return fs.SkipDir
				}
				return nil
			}
			f := &templateFile{contentFile: contentFile{dir: dir, name: name, display: dir.displayName(name)}, level: place.level}
			if seen[f.display] || !isTemplate(name) || slices.Contains(src.opt.Generator.Traits().Caches, name) {
				return nil
			}
			seen[f.display] = true
			if src.opt.Generator.Traits().Modules && dir.kind == Template {
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
			f.rows = sync.OnceValue(f.readRows)
			if !src.opt.Generator.Traits().Modules {
				f.dir.kind = kindOf(name)
			}
			files = append(files, f)
			return nil
		})
	}
	return files
}

// search records where the file contains the texts. A text in an expression of
// an attribute is where the expression starts.
func (f *templateFile) search(w *textSearch) {
	if host.IsConfig(path.Base(f.name)) {
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

// readRows returns the rows of data and configuration files by their address.
func (x *templateIndex) readRows() map[string][]*dataRow {
	data := map[string][]*dataRow{}
	for _, f := range x.files {
		if f.dir.kind == Data || f.dir.kind == Configuration {
			rows := f.rows()
			for i := range rows {
				data[rows[i].norm] = append(data[rows[i].norm], &rows[i])
			}
		}
	}
	return data
}

// readStems reads the lines of data files that map a word to the name of
// another data file. A word that means several files means none.
func (x *templateIndex) readStems() map[string]string {
	all, stems := map[string]string{}, map[string]bool{}
	for _, f := range x.files {
		if f.dir.kind == Data {
			stems[stemOf(f.name)] = true
		}
	}
	for _, f := range x.files {
		if f.dir.kind != Data && f.dir.kind != Configuration {
			continue
		}
		for _, l := range stemLine().FindAllSubmatch(f.text, -1) {
			word, stem := string(l[1]), string(l[2])
			if !stems[stem] {
				continue
			}
			if known, ok := all[word]; ok && known != stem {
				stem = ""
			}
			all[word] = stem
		}
	}
	return all
}

type templateDir struct {
	level int
	dir   sourceDir
}

// templateDirs returns the directories of templates, data and configuration.
func (src *sources) templateDirs() (dirs []templateDir) {
	if !src.opt.Generator.Traits().Modules {
		return []templateDir{{0, sourceDir{fsys: src.project, dir: "."}}}
	}
	// These are the files of Hugo's configuration, and their directory.
	for _, name := range append(src.opt.Generator.Configs(), "config") {
		dirs = append(dirs, templateDir{0, sourceDir{fsys: src.project, dir: name, kind: Configuration}})
	}
	for _, mt := range src.mounts {
		top, _, _ := strings.Cut(mt.target, "/")
		kind, ok := hugoKinds[top]
		if !ok {
			continue
		}
		level, dir := 0, mt.dir
		if dir.kind = kind; dir.module != "" {
			level = 1
		}
		dirs = append(dirs, templateDir{level, dir})
	}
	return dirs
}

// hugoKinds are the kinds of files, other than content, that write links into pages, by
// where Hugo mounts them.
var hugoKinds = map[string]Kind{"layouts": Template, "data": Data, "i18n": Data, "assets": Asset}

// isHTMLTemplate reports whether an HTML file among the content is a template,
// for example of a theme in the project. A page would have front matter.
func isHTMLTemplate(name string, text []byte) bool {
	return isHTMLName(name) && frontMatter(text) == 0 && (bytes.Contains(text, []byte("{{")) || bytes.Contains(text, []byte("{%")))
}

// The extensions of files by what is in them.
var (
	htmlExtensions    = wordSet(".html .htm")
	contentExtensions = wordSet(".html .htm .org .adoc .asciidoc .ad .rst .pdc .pandoc .gotmpl")
	// templates that write HTML
	templateExtensions = wordSet(".html .htm .gohtml .tmpl .liquid .njk .hbs .mustache .ejs .jinja .jinja2 .j2 .tera .php .astro .vue .svelte")
	programExtensions  = wordSet(".js .ts .mjs .cjs .py .rb")
	dataExtensions     = wordSet(".toml .yaml .yml .json .csv .xml")
	assetExtensions    = wordSet(".css .scss .svg")
	otherExtensions    = wordSet(".pug .jsx .tsx .md .mdx") // templates of another kind, and content that may be one
)

func hasExtension(name string, of ...map[string]bool) bool {
	ext := strings.ToLower(path.Ext(name))
	return slices.ContainsFunc(of, func(set map[string]bool) bool { return set[ext] })
}

func isHTMLName(name string) bool { return hasExtension(name, htmlExtensions) }

// isContent reports whether a name is that of a content file.
func isContent(name string) bool { return hasExtension(name, contentExtensions) || isMarkdown(name) }

// isHTMLLike reports whether a template with this name writes HTML.
func isHTMLLike(name string) bool { return hasExtension(name, templateExtensions) }

// isTemplate reports whether a file with this name may write links into pages.
func isTemplate(name string) bool {
	return isRuleTemplate(name) || hasExtension(name, templateExtensions, programExtensions, dataExtensions, assetExtensions, otherExtensions)
}

// kindOf returns the kind of a file by its name, for generators other than
// Hugo.
func kindOf(name string) Kind {
	switch {
	case generator.IsConfig(name):
		return Configuration
	case hasExtension(name, wordSet(".md .mdx")):
		return Content
	case hasExtension(name, dataExtensions), hasExtension(name, programExtensions) && strings.Contains("/"+name, "/_data/"):
		return Data
	case hasExtension(name, assetExtensions):
		return Asset
	}
	return Template
}

// isBuilt reports whether a directory of the project is the docroot, or that of an
// earlier build.
func (src *sources) isBuilt(name string) bool {
	project := strings.TrimSuffix(slashed(src.opt.Project), "/") + "/"
	for _, dir := range []string{src.opt.Docroot, src.opt.Output} {
		if rel, ok := strings.CutPrefix(slashed(dir), project); ok && rel != "" && path.Clean(rel) == name && name != "." {
			return true
		}
	}
	return false
}
