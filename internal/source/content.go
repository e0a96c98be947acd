package source

import (
	"encoding/json"
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

func (d sourceDir) displayName(name string) string { return path.Join(d.prefix, name) }

// contentFile is a file that an author writes a page in.
type contentFile struct {
	dir           sourceDir
	name, display string
	// key is the path of its page as the name tells it, see pageKey.
	key string
}

// contentIndex finds the file of a page.
type contentIndex struct {
	files         []contentFile
	listed        map[string]int   // by the page's key, what Hugo says
	byKey         map[string][]int // by keys that the name tells for sure
	byPossibleKey map[string][]int // by keys that it may have, too
	byLast        map[string][]int // by the last name of the key
	byDisplay     map[string]int
	// matter is byKey and byLast for what front matter says; nil until needed.
	matter     map[string][]int
	staticDirs []sourceDir
	roots      []sourceDir
}

// maxContentFiles bounds the index; maxContentFile the size of a file read.
const (
	maxContentFiles = 500_000
	maxContentFile  = 32 << 20
)

// indexContent lists the content files. pages is what Hugo told of them.
func (m *Map) indexContent(pages []listedPage) {
	c := &contentIndex{listed: map[string]int{}, byKey: map[string][]int{}, byPossibleKey: map[string][]int{}, byLast: map[string][]int{}, byDisplay: map[string]int{}}
	m.content = c
	c.roots, c.staticDirs = m.contentDirs()
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
				c.add(contentFile{dir: root, name: name, display: root.displayName(name)}, m.opt.Generator)
			}
			return nil
		})
	}
	m.addListed(append(pages, m.leftMap()...))
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
	c.byDisplay[f.display] = i
	enter := func(index map[string][]int, key string) {
		if at := index[key]; len(at) == 0 || at[len(at)-1] != i {
			index[key] = append(at, i)
		}
	}
	for _, key := range sure {
		enter(c.byKey, key)
	}
	for _, key := range maybe {
		enter(c.byPossibleKey, key)
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
	if i, ok := c.byDisplay[name]; ok {
		return c.files[i], true
	}
	for _, root := range c.roots {
		if i, ok := c.byDisplay[root.displayName(path.Join(root.dir, name))]; ok {
			return c.files[i], true
		}
	}
	for _, root := range c.roots {
		for _, file := range []string{name, path.Join(root.dir, name)} {
			if info, err := fs.Stat(root.fsys, file); err == nil && info.Mode().IsRegular() {
				return contentFile{dir: root, name: file, display: root.displayName(file)}, true
			}
		}
	}
	// Relative to a directory of content that only the generator knows.
	found := -1
	for _, i := range c.byLast[path.Base("/"+nameKey(strings.TrimSuffix(name, path.Ext(name))))] {
		if strings.HasSuffix(c.files[i].display, "/"+name) {
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

// roots are the directories that generators other than Hugo publish without
// their name; the first that fits is taken off.
var roots = map[Generator][]string{
	Jekyll:     {"_pages", "_drafts"},
	Eleventy:   {"src", "content", "input", "site"},
	Zola:       {"content"},
	MkDocs:     {"docs"},
	Astro:      {"src/content/docs", "src/content/pages", "src/content", "src/pages"},
	Docusaurus: {"src/pages", "docs", "i18n"},
	Plain:      {"content", "docs", "src", "posts", "pages"},
}

var (
	dateParts     = regexp.MustCompile(`^(\d{4})-(\d{1,2})-(\d{1,2})-(.+)$`)
	versionedDocs = regexp.MustCompile(`^versioned_docs/version-([^/]+)/(.*)$`)
	translated    = regexp.MustCompile(`^i18n/([^/]+)/docusaurus-plugin-content-(docs|blog|pages)/(?:current/|version-([^/]+)/)?(.*)$`)
)

// generatorKeys returns the keys that a generator may give to the page of a
// content file, beside the key that its name is.
func generatorKeys(g Generator, key string) (keys []string) {
	add := func(key string) {
		dir, last := path.Split(key)
		if d := dateParts.FindStringSubmatch(last); d != nil {
			keys = append(keys, dir+strings.Join(d[1:], "/"), dir+d[4])
		}
		keys = append(keys, key)
	}
	switch g {
	case None, Hugo:
		return nil
	case Jekyll:
		if before, after, ok := cutSegment(key, "_posts"); ok {
			add(path.Join(before, after))
		}
		if strings.HasPrefix(key, "_") {
			add(key[1:]) // a collection
		}
	case Docusaurus:
		if v := versionedDocs.FindStringSubmatch(key); v != nil {
			add(path.Join("docs", v[1], v[2]))
			add(path.Join("docs", v[2])) // the newest one
		}
		if l := translated.FindStringSubmatch(key); l != nil {
			kind := strings.TrimPrefix(l[2], "pages")
			add(path.Join(l[1], kind, l[3], l[4]))
		}
	}
	for _, root := range roots[g] {
		if rest, ok := strings.CutPrefix(key, root+"/"); ok {
			add(rest)
			break
		}
		if key == root { // its index
			add("")
			break
		}
	}
	for _, k := range append([]string{key}, keys...) {
		if plain := withoutOrder(k); plain != k {
			add(plain)
		}
	}
	return keys
}

// cutSegment cuts a path at a directory of that name.
func cutSegment(p, name string) (before, after string, ok bool) {
	if rest, ok := strings.CutPrefix(p, name+"/"); ok {
		return "", rest, true
	}
	return strings.Cut(p, "/"+name+"/")
}

// withoutOrder takes the numbers off that sort directories and files.
func withoutOrder(key string) string {
	parts := strings.Split(key, "/")
	for i, part := range parts {
		if n := orderPrefix.FindStringSubmatch(part); n != nil && !dateParts.MatchString(part) {
			parts[i] = n[1]
		}
	}
	return strings.Join(parts, "/")
}

// Bounds of the maps that generators leave on the disk.
const (
	maxMapFiles = 50_000
	maxMapFile  = 4 << 20
)

// leftMap reads the map of pages that a generator's last build left in the
// project: Docusaurus writes a JSON file for each page.
func (m *Map) leftMap() (pages []listedPage) {
	if m.opt.Generator != Docusaurus {
		return nil
	}
	n := 0
	fs.WalkDir(m.project, ".docusaurus", func(name string, d fs.DirEntry, err error) error {
		if n++; n > maxMapFiles {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() || path.Ext(name) != ".json" {
			return nil
		}
		text, err := readFile(m.project, name, maxMapFile)
		if err != nil {
			return nil
		}
		var page struct{ Source, Permalink string }
		if json.Unmarshal(text, &page) != nil {
			return nil // a list, or another shape
		}
		if file, ok := strings.CutPrefix(page.Source, "@site/"); ok && strings.HasPrefix(page.Permalink, "/") {
			pages = append(pages, listedPage{file: path.Clean(file), path: decode(page.Permalink)})
		}
		return nil
	})
	return pages
}
