package source

import (
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// sourceDir is a directory with sources.
type sourceDir struct {
	fsys fs.FS
	// dir is the directory within fsys. prefix is put in front of names in fsys
	// for display; "" for the project itself.
	dir, prefix string
	// under is the directory of the docroot that its files are copied to, or of Hugo's
	// tree of content.
	under string
	// lang is the language of its files, "" if that is not known.
	lang string
	// kind is the kind of its files, module the Hugo module that they belong
	// to.
	kind   Kind
	module string
}

func (d sourceDir) displayName(name string) string { return path.Join(d.prefix, name) }

// copied returns the name of the file that a generator would copy to a page.
func (d *sourceDir) copied(page string) (file string, ok bool) {
	if d.under != "" {
		if page, ok = strings.CutPrefix(page, d.under+"/"); !ok {
			return "", false
		}
	}
	return path.Join(d.dir, page), true
}

// contentFile is a file in which an author writes a page.
type contentFile struct {
	dir           sourceDir
	name, display string
	// key is the key of the page according to the name of the file, page the one
	// that the generator lists or else key, see [PageKey].
	key, page string
	isListed  bool
	// path is the page in the docroot as Hugo writes it.
	path string
}

func (f contentFile) position(line, column int) *Position {
	return &Position{File: f.display, Line: line, Column: column, Kind: f.dir.kind, Module: f.dir.module}
}

// contentIndex finds the file of a page.
type contentIndex struct {
	files         []contentFile
	listed        map[string][]int // by the page's key, according to the generator
	byKey         map[string][]int // by keys that follow from the name
	byPossibleKey map[string][]int // by keys that the page may have instead
	byLast        map[string][]int // by the last name of a key
	byDisplay     map[string]int
	// matter holds the addresses in front matter, see readFrontMatter, and aliases
	// the other addresses of pages there by their normalPath, see readAliases. Both
	// are read once.
	matter     func() map[string][]int
	aliases    func() map[string][]alias
	staticDirs []sourceDir
	roots      []sourceDir
}

// maxContentFiles is the size of the index, maxContentFile the size in bytes of
// the largest file that is read.
const (
	maxContentFiles = 500_000
	maxContentFile  = 32 << 20
)

// indexContent lists the content files.
func (src *sources) indexContent() {
	c := &contentIndex{listed: map[string][]int{}, byKey: map[string][]int{}, byPossibleKey: map[string][]int{}, byLast: map[string][]int{}, byDisplay: map[string]int{}}
	src.content = c
	c.matter, c.aliases = sync.OnceValue(c.readFrontMatter), sync.OnceValue(c.readAliases)
	c.roots, c.staticDirs = src.contentDirs()
	for _, root := range c.roots {
		fs.WalkDir(root.fsys, root.dir, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil
			case d.IsDir():
				if name != root.dir && src.opt.Generator.Foreign(root.fsys, name) || root.prefix == "" && src.isBuilt(name) {
					return fs.SkipDir
				}
				return nil
			case len(c.files) >= maxContentFiles:
				return fs.SkipAll
			}
			if isContent(name) && (src.opt.Generator.Traits().Modules || !inTemplates(name)) {
				c.byDisplay[root.displayName(name)] = len(c.files)
				c.files = append(c.files, contentFile{dir: root, name: name, display: root.displayName(name)})
			}
			return nil
		})
	}
}

// contentDirs returns the directories of content and of static files.
func (src *sources) contentDirs() (content, statics []sourceDir) {
	if !src.opt.Generator.Traits().Modules {
		project := sourceDir{fsys: src.project, dir: "."}
		if src.opt.Generator != Plain {
			for _, dir := range slices.DeleteFunc([]string{"static", "public"}, src.isBuilt) {
				statics = append(statics, sourceDir{fsys: src.project, dir: dir, kind: Static})
			}
			statics = append(statics, sourceDir{fsys: src.project, dir: ".", kind: Content})
		}
		return []sourceDir{project}, statics
	}
	for _, mt := range src.mounts {
		dir := mt.dir
		switch top, rest, _ := strings.Cut(mt.target, "/"); top {
		case "content":
			dir.under = rest
			content = append(content, dir)
		case "static":
			dir.kind = Static
			for _, root := range append([]string{""}, src.opt.Roots...) {
				if root == "" || dir.lang == "" || dir.lang == root { // the directory of a language has its name
					dir.under = path.Join(root, rest)
					statics = append(statics, dir)
				}
			}
		}
	}
	// If several directories of a module have the same file, Hugo publishes that of the
	// last one.
	for i := 0; i < len(statics); {
		end := i + 1
		for end < len(statics) && statics[end].module == statics[i].module {
			end++
		}
		slices.Reverse(statics[i:end])
		i = end
	}
	return content, statics
}

// inTemplates reports whether a file is in a directory of templates, for
// generators other than Hugo.
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
	languageSuffix = text.Regexp(`^(.+)\.([a-z]{2,3}(?:-[a-zA-Z]{2,4})?)$`)
	datePrefix     = text.Regexp(`^\d{4}-\d{1,2}-\d{1,2}-(.+)$`)
	orderPrefix    = text.Regexp(`^\d{1,4}[-_.]\s*(.+)$`)
)

// add adds file i under all keys that its name may mean.
func (c *contentIndex) add(i int, g Generator) {
	f := &c.files[i]
	rel := strings.TrimPrefix(f.name, f.dir.dir+"/")
	stem := strings.TrimSuffix(rel, path.Ext(rel))
	f.key = NameKey(stem)
	f.page = f.key
	sure := []string{f.key}
	var maybe []string
	if l := languageSuffix().FindStringSubmatch(stem); l != nil {
		plain := NameKey(l[1])
		sure = append(sure, path.Join(strings.ToLower(l[2]), plain))
		maybe = append(maybe, plain)
	}
	if lang := f.dir.lang; lang != "" {
		sure = append(sure, path.Join(strings.ToLower(lang), f.key))
	} else if first := path.Base(f.dir.dir); g.Traits().Modules && first != "content" && first != "." {
		maybe = append(maybe, path.Join(strings.ToLower(first), f.key))
	}
	dir, last := path.Split(f.key)
	for _, re := range []func() *regexp.Regexp{datePrefix, orderPrefix} {
		if p := re().FindStringSubmatch(last); p != nil {
			maybe = append(maybe, dir+p[1])
		}
	}
	maybe = append(maybe, generatorKeys(g, f.key)...)
	c.enter(i, sure, maybe)
}

// enter adds file i under keys that are sure, and under some that it may have instead.
func (c *contentIndex) enter(i int, sure, maybe []string) {
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

// NameKey returns the key of a page for the name of its content file without
// extension.
func NameKey(stem string) string {
	stem = strings.ReplaceAll(strings.ToLower(stem), " ", "-")
	dir, last := path.Split(stem)
	switch last {
	case "index", "_index", "readme":
		return strings.TrimSuffix(dir, "/")
	}
	return stem
}

// PageKey returns the docroot path of a page without the differences that hosts
// and settings make: index.html, .html, slashes, letter case. The key of the
// home page is "".
func PageKey(name string) string {
	name = strings.ToLower(strings.TrimPrefix(decode(name), "/"))
	for _, suffix := range []string{".html", ".htm", ".xhtml", ".md"} {
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

// named finds a file by a name relative to the project or to one of the content
// directories.
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
	// The name may be relative to a directory that only the generator knows.
	found := slices.DeleteFunc(slices.Clone(c.byLast[path.Base("/"+NameKey(strings.TrimSuffix(name, path.Ext(name))))]), func(i int) bool {
		return !strings.HasSuffix(c.files[i].display, "/"+name)
	})
	if len(found) != 1 {
		return contentFile{}, false
	}
	return c.files[found[0]], true
}

// namedIn finds the file that a content file names: next to it, or else like
// named.
func (c *contentIndex) namedIn(file, name string) (contentFile, bool) {
	name = strings.TrimPrefix(name, "/")
	if i, ok := c.byDisplay[path.Join(path.Dir(file), name)]; ok {
		return c.files[i], true
	}
	return c.named(path.Clean(name))
}

var (
	dateParts     = text.Regexp(`^(\d{4})-(\d{1,2})-(\d{1,2})-(.+)$`)
	versionedDocs = text.Regexp(`^versioned_docs/version-([^/]+)/(.*)$`)
	translated    = text.Regexp(`^i18n/([^/]+)/docusaurus-plugin-content-(docs|blog|pages)/(?:current/|version-([^/]+)/)?(.*)$`)
)

// generatorKeys returns keys that a generator may give to the page of a content
// file, besides the one that follows from the file's name.
func generatorKeys(g Generator, key string) (keys []string) {
	add := func(key string) {
		dir, last := path.Split(key)
		if d := dateParts().FindStringSubmatch(last); d != nil {
			keys = append(keys, dir+strings.Join(d[1:], "/"), dir+d[4])
		}
		keys = append(keys, key)
	}
	t := g.Traits()
	switch {
	case g == None || t.Modules:
		return nil
	case t.Drafts != nil && t.Drafts.DatedDir != "":
		if before, after, ok := strings.Cut("/"+key, "/"+t.Drafts.DatedDir+"/"); ok {
			add(strings.TrimPrefix(before+"/"+after, "/"))
		}
		if strings.HasPrefix(key, "_") {
			add(key[1:]) // a collection
		}
	case t.Versions:
		if v := versionedDocs().FindStringSubmatch(key); v != nil {
			add(path.Join("docs", v[1], v[2]))
			add(path.Join("docs", v[2])) // the newest version
		}
		if l := translated().FindStringSubmatch(key); l != nil {
			kind := strings.TrimPrefix(l[2], "pages")
			add(path.Join(l[1], kind, l[3], l[4]))
		}
	}
	for _, root := range g.Content() { // the first that matches is removed
		if rest, ok := strings.CutPrefix(key, root+"/"); ok {
			add(rest)
			break
		}
		if key == root { // the index of that directory
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

// withoutOrder removes the numbers that sort directories and files.
func withoutOrder(key string) string {
	parts := strings.Split(key, "/")
	for i, part := range parts {
		if n := orderPrefix().FindStringSubmatch(part); n != nil && !dateParts().MatchString(part) {
			parts[i] = n[1]
		}
	}
	return strings.Join(parts, "/")
}

// Bounds of the files that readBuildMap reads.
const (
	maxMapFiles = 50_000
	maxMapFile  = 4 << 20
)

// listedPage is a page as a generator lists it.
type listedPage struct{ file, path string }

// addListed adds such pages under the keys that they have in the docroot.
func (src *sources) addListed(pages []listedPage) {
	c := src.content
	for _, p := range pages {
		if i, ok := c.byDisplay[p.file]; ok {
			f := &c.files[i]
			f.page, f.isListed = PageKey(p.path), true
			c.listed[f.page] = []int{i}
		}
	}
}

// readBuildMap reads the list of pages that the last build of a generator left
// in the project. Docusaurus writes a JSON file for each page.
func (src *sources) readBuildMap() (pages []listedPage) {
	if !src.opt.Generator.Traits().Versions {
		return nil
	}
	n := 0
	fs.WalkDir(src.project, ".docusaurus", func(name string, d fs.DirEntry, err error) error {
		if n++; n > maxMapFiles {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() || path.Ext(name) != ".json" {
			return nil
		}
		text, _ := system.ReadFS(src.project, name, maxMapFile)
		var page struct{ Source, Permalink string }
		if json.Unmarshal(text, &page) != nil {
			return nil // another kind of file
		}
		if file, ok := strings.CutPrefix(page.Source, "@site/"); ok && strings.HasPrefix(page.Permalink, "/") {
			pages = append(pages, listedPage{file: path.Clean(file), path: decode(page.Permalink)})
		}
		return nil
	})
	return pages
}

// SourceForm returns a suggestion for a link in the form in which its author has to
// write it at a position: the path of a Markdown file where the generator turns such
// paths into addresses, and what is written there with another fragment. It is "" if
// that form is not known, and the suggestion itself if no other form is needed.
func (m *Map) SourceForm(p *Position, l *Link, suggestion string) string {
	i, ok := m.content.byDisplay[p.File]
	if !ok || !isMarkdown(p.File) {
		return suggestion
	}
	from, written := m.content.files[i], ""
	d := m.document(from)
	for k := range d.links {
		if line, column := d.lines.at(d.links[k].at); line == p.Line && column == p.Column {
			written = d.links[k].dest
		}
	}
	name, fragment, _ := strings.Cut(written, "#")
	_, meant, asks := strings.Cut(suggestion, "#")
	if fragment != "" {
		fragment = "#" + fragment
	}
	want := path.Join(path.Dir(from.name), decode(name))
	t := m.opt.Generator.Traits()
	rest, inContent := strings.CutPrefix(name, t.ContentRoot)
	if inContent = inContent && t.ContentRoot != ""; inContent {
		want = path.Join(m.opt.Generator.Content()[0], decode(rest))
	}
	named := isMarkdown(name) && !strings.HasPrefix(name, "/") && !strings.Contains(name, "://")
	to := ""
	switch relative := name != "" && !strings.HasPrefix(name, "/") && !strings.Contains(name, ":"); {
	case named && asks && fragment != "" && written != l.Raw: // the path is right
		return name + "#" + meant
	case named && (t.ResolvesMarkdown || t.ContentRoot != ""):
		to = nearestFile(m, from, want)
	case relative && t.WarnsOfAddresses && path.Ext(name) == "" && fragment == "":
		to = nearestFile(m, from, want+".md")
	default:
		return suggestion
	}
	if a := m.address(suggestion, l.Page); to == "" && suggestion != "" {
		if found := m.content.makersOf(PageKey(a.target)); len(found) == 1 {
			to = m.content.files[found[0]].name
		}
	}
	switch rel := weburl.Relative("/"+from.name, "/"+to); {
	case to == "" && named:
		return ""
	case to == "" || to == want:
		return suggestion
	case inContent:
		return t.ContentRoot + strings.TrimPrefix(to, m.opt.Generator.Content()[0]+"/") + fragment
	case strings.HasPrefix(name, "./") && !strings.HasPrefix(rel, ".."):
		return "./" + rel + fragment
	default:
		return rel + fragment
	}
}

// makersOf returns the files that may make the page with a key: those that the
// generator lists, or else those whose names or front matter say so.
func (c *contentIndex) makersOf(key string) []int {
	for _, index := range []map[string][]int{c.listed, c.byKey, c.byPossibleKey} {
		if found := index[key]; len(found) > 0 {
			return found
		}
	}
	if key == "" {
		return nil
	}
	return c.matter()["/"+key]
}

// nearestFile returns the Markdown file that an author most likely meant by a path
// that no file has: one with a similar path, or the only one with the same name. It is
// "" if there is none.
func nearestFile(m *Map, from contentFile, want string) string {
	top, _, _ := strings.Cut(from.name, "/")
	var names text.Names
	var same []string
	for _, f := range m.content.files {
		if f.dir.prefix != from.dir.prefix || !isMarkdown(f.name) || !strings.HasPrefix(f.name, top+"/") {
			continue
		}
		names.Add(f.name)
		if path.Base(f.name) == path.Base(want) {
			same = append(same, f.name)
		}
	}
	if nearest := names.Nearest(want); nearest != "" || len(same) != 1 {
		return nearest
	}
	return same[0]
}
