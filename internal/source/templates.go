package source

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// readTemplates reads the files of the project (level 0), then those of themes and
// modules (level 1).
func (src *index) readTemplates() *templateIndex {
	x := &templateIndex{links: map[string][]*written{}}
	x.data, x.stems = sync.OnceValue(x.readRows), sync.OnceValue(x.readStems)
	for _, f := range src.files() {
		if f.text, _ = system.ReadFS(f.dir.fsys, f.name, maxTemplate); f.isContent && !read.IsHTMLTemplate(f.name, f.text) {
			continue
		}
		if !f.isContent && !host.IsConfig(path.Base(f.name)) { // what the host reads is in no page
			x.files = append(x.files, f)
		}
		if f.dir.kind != read.Template || !read.IsHTMLLike(f.name) {
			continue
		}
		if base := path.Base(f.name); strings.HasPrefix(base, "render-link") || strings.HasPrefix(base, "render-image") {
			continue // they write the links and images of Markdown, whose source is the content
		}
		var links []read.TemplateLink
		f.outline, links = read.TemplateLinks(f.text)
		for _, l := range links {
			key := l.Element + " " + l.Attr.Name
			x.links[key] = append(x.links[key], &written{l, f})
		}
	}
	return x
}

// templateFiles lists the files that may be templates, without their text.
func (src *index) templateFiles() (files []*templateFile) {
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
				if name != dir.dir && testDirs[path.Base(name)] && !src.opt.Generator.Traits().Modules {
					return fs.SkipDir
				}
				if name != dir.dir && src.opt.Generator.Foreign(dir.fsys, name) && !src.opt.Generator.HasConfig(name) || dir.prefix == "" && src.isBuilt(name) {
					return fs.SkipDir
				}
				return nil
			}
			f := &templateFile{contentFile: contentFile{dir: dir, name: name, display: dir.displayName(name)}, level: place.level}
			if seen[f.display] || src.unread[f.display] || !read.IsTemplate(name) || slices.Contains(src.opt.Generator.Traits().Caches, name) {
				return nil
			}
			seen[f.display] = true
			if src.opt.Generator.Traits().Modules && dir.kind == read.Template {
				key := templateKey(f)
				if layouts[key] {
					return nil // the project's own template takes its place
				}
				layouts[key] = true
			}
			if _, f.isContent = src.content.byDisplay[f.display]; f.isContent && !read.IsHTMLName(name) {
				return nil
			}
			f.lines = sync.OnceValue(func() read.Lines { return read.NewLines(f.text) })
			f.rows = sync.OnceValue(f.readRows)
			if !src.opt.Generator.Traits().Modules {
				f.dir.kind = read.KindOf(name)
			}
			files = append(files, f)
			return nil
		})
	}
	return files
}

// testDirs are directories of tests, with addresses that no page has from there.
var testDirs = read.WordSet("test tests __tests__ spec testdata fixtures")

// readRows returns the values of a data or configuration file that may be addresses.
func (f *templateFile) readRows() []dataRow {
	l := f.lines()
	rows := read.Rows(&l)
	all := make([]dataRow, len(rows))
	for i := range rows {
		all[i] = dataRow{rows[i], f}
	}
	return all
}

// readRows returns the rows of data and configuration files by their address.
func (x *templateIndex) readRows() map[string][]*dataRow {
	data := map[string][]*dataRow{}
	for _, f := range x.files {
		if f.dir.kind == read.Data || f.dir.kind == read.Configuration {
			rows := f.rows()
			for i := range rows {
				data[rows[i].Norm] = append(data[rows[i].Norm], &rows[i])
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
		if f.dir.kind == read.Data {
			stems[stemOf(f.name)] = true
		}
	}
	for _, f := range x.files {
		if f.dir.kind != read.Data && f.dir.kind != read.Configuration {
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
func (src *index) templateDirs() (dirs []templateDir) {
	if !src.opt.Generator.Traits().Modules {
		return []templateDir{{0, sourceDir{fsys: src.project, dir: "."}}}
	}
	// These are the files of Hugo's configuration, and their directory.
	for _, name := range append(src.opt.Generator.Configs(), "config") {
		dirs = append(dirs, templateDir{0, sourceDir{fsys: src.project, dir: name, kind: read.Configuration}})
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
var hugoKinds = map[string]read.SourceKind{"layouts": read.Template, "data": read.Data, "i18n": read.Data, "assets": read.Asset}

// templateKey returns the name of a template below the directory of templates.
// The project's own template takes the place of a theme's with the same name.
func templateKey(f *templateFile) string {
	key := strings.TrimPrefix(strings.TrimPrefix(f.name, f.dir.dir), "/")
	for _, dir := range []string{"partials/", "shortcodes/"} { // their names before Hugo 0.146
		if strings.HasPrefix(key, dir) {
			return "_" + key
		}
	}
	return key
}

// stemLine matches a line that maps a word to a word, as from a part of an
// address to the name of a data file.
var stemLine = text.Regexp(`(?m)^[\s\-]*["']?([\w.-]+)["']?\s*[:=]\s*["']?([\w.-]+)["']?,?\s*$`)
