package source

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// sourceDir is a directory that holds sources.
type sourceDir struct {
	fsys fs.FS
	// dir is the directory within fsys; prefix what stands before names in
	// fsys when they are shown: empty for the project itself.
	dir, prefix string
	// lang is the language of what it holds, where that is known.
	lang string
	// kind is that of the files in it; module the module that they belong to.
	kind   Kind
	module string
}

func (d sourceDir) show(name string) string { return path.Join(d.prefix, name) }

func (m *Map) fsOf(d sourceDir) fs.FS { return d.fsys }

// contentFile is a file that an author writes a page in.
type contentFile struct {
	dir         sourceDir
	name, shown string
	// key is the path of its page as the name tells it, see pageKey.
	key string
}

// contentIndex finds the file of a page.
type contentIndex struct {
	files   []contentFile
	listed  map[string]int   // by the page's key, what Hugo says
	byKey   map[string][]int // by keys that the name tells for sure
	maybe   map[string][]int // by keys that it may have, too
	byLast  map[string][]int // by the last name of the key
	byShown map[string]int
	// matter is byKey and byLast for what front matter says; nil until needed.
	matter  map[string][]int
	statics []sourceDir
	roots   []sourceDir
}

// maxContentFiles bounds the index; maxContentFile the size of a file read.
const (
	maxContentFiles = 500_000
	maxContentFile  = 32 << 20
)

// indexContent lists the content files. pages is what Hugo told of them.
func (m *Map) indexContent(pages []listed) {
	c := &contentIndex{listed: map[string]int{}, byKey: map[string][]int{}, maybe: map[string][]int{}, byLast: map[string][]int{}, byShown: map[string]int{}}
	m.content = c
	c.roots, c.statics = m.contentDirs()
	skip := m.docrootName()
	for _, root := range c.roots {
		fs.WalkDir(root.fsys, root.dir, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil
			case d.IsDir():
				if name != root.dir && isForeign(d.Name()) || root.prefix == "" && name == skip && name != "." {
					return fs.SkipDir
				}
				return nil
			case len(c.files) >= maxContentFiles:
				return fs.SkipAll
			}
			if isContent(name) && (m.opt.Generator == Hugo || !inTemplates(name)) {
				c.add(contentFile{dir: root, name: name, shown: root.show(name)}, m.opt.Generator)
			}
			return nil
		})
	}
	m.enterListed(append(pages, m.leftMap()...))
}

// contentDirs returns where content and static files lie.
func (m *Map) contentDirs() (content, statics []sourceDir) {
	for _, mt := range m.mounts {
		top, rest, _ := strings.Cut(mt.target, "/")
		dir := mt.dir
		dir.lang, dir.module = mt.lang, mt.name()
		switch {
		case top == "content" && rest == "":
			content = append(content, dir)
		case top == "content":
			content = append(content, dir) // names below a deeper mount still end alike
		case top == "static" && rest == "":
			dir.kind = Static
			statics = append(statics, dir)
		}
	}
	project := func(dir string) sourceDir { return sourceDir{fsys: m.project, dir: dir} }
	switch {
	case len(m.mounts) > 0:
	case m.opt.Generator == Hugo:
		content = append(content, m.hugoContentDirs()...)
		for _, theme := range m.themes() {
			content = append(content, sourceDir{fsys: m.project, dir: path.Join("themes", theme, "content"), module: theme})
		}
		statics = append(statics, sourceDir{fsys: m.project, dir: "static", kind: Static})
		for _, mt := range m.configMounts() {
			if mt.target == "static" {
				mt.dir.kind = Static
				statics = append(statics, mt.dir)
			}
		}
	default:
		content = append(content, project("."))
		if m.opt.Generator != Plain {
			for _, dir := range []string{"static", "public"} {
				statics = append(statics, sourceDir{fsys: m.project, dir: dir, kind: Static})
			}
			statics = append(statics, project("."))
		}
	}
	return content, statics
}

// isForeign tells whether a directory holds nothing that an author writes.
func isForeign(name string) bool {
	switch name {
	case "node_modules", "vendor", "_vendor", "bower_components", "__pycache__":
		return true
	}
	return strings.HasPrefix(name, ".") && name != "."
}

// isContent tells by its name whether a file is one that pages are written in.
func isContent(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".html", ".htm", ".org", ".adoc", ".asciidoc", ".ad", ".rst", ".pdc", ".pandoc", ".gotmpl":
		return true
	}
	return isMarkdown(name)
}

// inTemplates tells whether a file of a generator other than Hugo lies where
// templates do.
func inTemplates(name string) bool {
	if isMarkdown(name) {
		return false
	}
	for dir := range strings.SplitSeq(path.Dir(name), "/") {
		switch dir {
		case "_includes", "_layouts", "includes", "layouts", "templates", "partials", "overrides", "components", "macros":
			return true
		}
	}
	return false
}

var (
	languageSuffix = regexp.MustCompile(`^(.+)\.([a-z]{2,3}(?:-[a-zA-Z]{2,4})?)$`)
	datePrefix     = regexp.MustCompile(`^\d{4}-\d{1,2}-\d{1,2}-(.+)$`)
	orderPrefix    = regexp.MustCompile(`^\d{1,4}[-_.]\s*(.+)$`)
)

// add enters a file under all the keys that its name may stand for.
func (c *contentIndex) add(f contentFile, g Generator) {
	rel := strings.TrimPrefix(f.name, f.dir.dir+"/")
	if f.dir.dir == "." {
		rel = f.name
	}
	stem := strings.TrimSuffix(rel, path.Ext(rel))
	f.key = nameKey(stem)
	i := len(c.files)
	sure := []string{f.key}
	var maybe []string
	if l := languageSuffix.FindStringSubmatch(stem); l != nil {
		plain := nameKey(l[1])
		sure = append(sure, path.Join(strings.ToLower(l[2]), plain))
		maybe = append(maybe, plain)
	}
	if lang := f.dir.lang; lang != "" {
		sure = append(sure, path.Join(strings.ToLower(lang), f.key))
	} else if first := path.Base(f.dir.dir); g == Hugo && first != "content" && first != "." {
		maybe = append(maybe, path.Join(strings.ToLower(first), f.key))
	}
	dir, last := path.Split(f.key)
	for _, re := range []*regexp.Regexp{datePrefix, orderPrefix} {
		if p := re.FindStringSubmatch(last); p != nil {
			maybe = append(maybe, dir+p[1])
		}
	}
	maybe = append(maybe, generatorKeys(g, f.key)...)
	c.files = append(c.files, f)
	c.byShown[f.shown] = i
	enter := func(index map[string][]int, key string) {
		if at := index[key]; len(at) == 0 || at[len(at)-1] != i {
			index[key] = append(at, i)
		}
	}
	for _, key := range sure {
		enter(c.byKey, key)
	}
	for _, key := range maybe {
		enter(c.maybe, key)
	}
	for _, key := range append(sure, maybe...) {
		enter(c.byLast, path.Base("/"+key))
	}
}

// nameKey is the key of the page of a content file's name without suffix.
func nameKey(stem string) string {
	stem = strings.ReplaceAll(strings.ToLower(stem), " ", "-")
	dir, last := path.Split(stem)
	switch last {
	case "index", "_index", "readme":
		return strings.TrimSuffix(dir, "/")
	}
	return stem
}

// pageKey is the docroot path of a page without what hosts and settings add
// to it: index.html, .html, slashes, letter case. The home page has "".
func pageKey(name string) string {
	name = strings.ToLower(strings.TrimPrefix(decode(name), "/"))
	for _, suffix := range []string{".html", ".htm", ".xhtml"} {
		if rest, ok := strings.CutSuffix(name, suffix); ok {
			name = rest
			break
		}
	}
	if name == "index" {
		return ""
	}
	name = strings.TrimSuffix(name, "/index")
	return strings.ReplaceAll(strings.Trim(name, "/"), " ", "-")
}

// named finds a file by what a page says of it: relative to the project, or to
// one of the directories of content.
func (c *contentIndex) named(name string) (contentFile, bool) {
	if i, ok := c.byShown[name]; ok {
		return c.files[i], true
	}
	for _, root := range c.roots {
		if i, ok := c.byShown[root.show(path.Join(root.dir, name))]; ok {
			return c.files[i], true
		}
	}
	for _, root := range c.roots {
		for _, file := range []string{name, path.Join(root.dir, name)} {
			if info, err := fs.Stat(root.fsys, file); err == nil && info.Mode().IsRegular() {
				return contentFile{dir: root, name: file, shown: root.show(file)}, true
			}
		}
	}
	// Relative to a directory of content that only the generator knows.
	found := -1
	for _, i := range c.byLast[path.Base("/"+nameKey(strings.TrimSuffix(name, path.Ext(name))))] {
		if strings.HasSuffix(c.files[i].shown, "/"+name) {
			if found >= 0 {
				return contentFile{}, false
			}
			found = i
		}
	}
	if found < 0 {
		return contentFile{}, false
	}
	return c.files[found], true
}
