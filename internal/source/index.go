package source

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// index is the files of a project, by the pages that the generator makes of them, and what
// is written in them. It never changes. It does not know the built pages, which a [Map] compares with it.
type index struct {
	opt       Options
	project   fs.FS
	docroot   fs.FS
	close     []func() error
	content   *contentIndex
	mounts    []mount
	also      []sourceDir             // see openAlso
	files     func() []*templateFile  // see templateFiles, listed once
	templates func() *templateIndex   // read once
	unread    map[string]bool         // files of which the generator makes no page
	docs      memo[string, *document] // parsed content files by name
	costly    memo[string, bool]      // see Costly
}

// document is a parsed content file. included holds the content files that its
// shortcodes name: they may put their text into the page.
type document struct {
	*read.Document
	file     contentFile
	included map[string]bool
}

// position returns the position of an offset.
func (d *document) position(at int) *Position {
	p := d.file.position(d.Lines.At(at))
	p.Kind = read.Content
	return p
}

// written is a link in a template.
type written struct {
	read.TemplateLink
	file *templateFile
}

// position returns the position of the value: that of the address, if it is
// written in the attribute, and otherwise where the value starts.
func (w *written) position(raw string) *Position {
	at := w.Attr.From
	if n := bytes.Index(w.file.text[at:w.Attr.To], []byte(raw)); n > 0 && w.IsLiteral() {
		at += n // one of several, as in srcset
	}
	return w.file.position(at)
}

// dataRow is a value of a data or configuration file.
type dataRow struct {
	read.Row
	file *templateFile
}

// Bounds of what shortcodes may include: nested files, and links in total.
const (
	maxInlineDepth = 8
	maxInlined     = 100_000
)

// withIncluded returns the links of a document together with those of the files
// that its shortcodes name, as `include` shortcodes put them into the page. The text that {{% %}} includes
// is parsed as part of the Markdown: if several definitions have the same
// label, the first one counts (CommonMark, "Link reference definitions"). owners are the
// documents with the destinations.
func (src *index) withIncluded(d *document) (all []read.Written, owners []*document) {
	// The definitions of one Markdown text, which may consist of several files.
	type owned struct {
		read.Definition
		owner *document
	}
	type definitions map[string]owned
	all, owners = make([]read.Written, 0, len(d.Links)), make([]*document, 0, len(d.Links))
	texts := make([]definitions, 0, len(d.Links)) // of each link
	var add func(d *document, text definitions, depth int)
	add = func(d *document, text definitions, depth int) {
		defs := slices.Collect(maps.Keys(d.Defs))
		slices.SortFunc(defs, func(a, b string) int { return d.Defs[a].At - d.Defs[b].At })
		define := func(before int) {
			for ; len(defs) > 0 && d.Defs[defs[0]].At < before; defs = defs[1:] {
				if _, ok := text[defs[0]]; !ok {
					text[defs[0]] = owned{d.Defs[defs[0]], d}
				}
			}
		}
		for _, it := range d.Links {
			define(it.Order)
			all, owners, texts = append(all, it), append(owners, d), append(texts, text)
			if !it.IsGuess || !read.IsContent(it.Value) || depth >= maxInlineDepth || len(all) > maxInlined {
				continue
			}
			f, ok := src.content.namedIn(d.file.display, it.Value)
			if !ok || f.display == d.file.display {
				continue
			}
			into := text
			if !it.AsMarkdown {
				into = definitions{}
			}
			add(src.document(f), into, depth+1)
		}
		define(math.MaxInt)
	}
	add(d, definitions{}, 0)
	for i := range all {
		if def, ok := texts[i][all[i].Ref]; ok {
			all[i].At, all[i].Value, owners[i] = def.At, def.Dest, def.owner
		}
	}
	return all, owners
}

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
	kind   read.SourceKind
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

// mount is a directory that Hugo mounts into its file tree.
type mount struct {
	dir    sourceDir
	target string
}

// alias is an alias in the front matter of a content file.
type alias struct {
	key string // of the file's page
	at  Position
}

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
	outline   *read.Outline     // of a template with its actions masked, nil for other files
	lines     func() read.Lines // computed once
	rows      func() []dataRow  // read once
}

func (f *templateFile) position(at int) *Position { return f.contentFile.position(f.lines().At(at)) }

// templateIndex holds the templates, data and configuration of a project.
type templateIndex struct {
	files  []*templateFile
	links  map[string][]*written        // by element and attribute, see written
	data   func() map[string][]*dataRow // rows of data files by their address, see normalPath
	stems  func() map[string]string     // see readStems
	dashed memo[string, string]         // of parts of addresses and names of files
}

func slashed(name string) string { return strings.ReplaceAll(name, `\`, "/") }

func isAbsolute(name string) bool {
	return strings.HasPrefix(name, "/") || len(name) > 2 && name[1] == ':' && name[2] == '/'
}

// isBuilt reports whether a directory of the project is the docroot, or that of an
// earlier build.
func (src *index) isBuilt(name string) bool {
	project := strings.TrimSuffix(slashed(src.opt.Project), "/") + "/"
	for _, dir := range []string{src.opt.Docroot, src.opt.Output} {
		if rel, ok := strings.CutPrefix(slashed(dir), project); ok && rel != "" && path.Clean(rel) == name && name != "." {
			return true
		}
	}
	return false
}

// Close closes the directories.
func (src *index) Close() {
	for _, f := range src.close {
		f()
	}
}

// inTree returns the path of a file in Hugo's tree of content.
func (f *contentFile) inTree() string {
	rest := strings.TrimPrefix(strings.TrimPrefix(f.name, f.dir.dir), "/")
	return path.Join(f.dir.under, rest)
}

// language returns the language in the file's directory or name, in lower case,
// "" for none.
func (f *contentFile) language() string {
	if f.dir.lang != "" {
		return strings.ToLower(f.dir.lang)
	}
	if l := languageSuffix().FindStringSubmatch(strings.TrimSuffix(f.name, path.Ext(f.name))); l != nil {
		return strings.ToLower(l[2])
	}
	return ""
}

// openAlso opens the directories of content outside of the project. One that cannot be opened
// has no content.
func (src *index) openAlso() {
	for _, dir := range src.opt.Also {
		if root, err := os.OpenRoot(src.opt.Project + "/" + dir); err == nil {
			src.close = append(src.close, root.Close)
			src.also = append(src.also, sourceDir{fsys: root.FS(), dir: ".", prefix: dir, kind: read.Content})
		}
	}
}

// indexContent lists the content files.
func (src *index) indexContent() {
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
			if read.IsContent(name) && (src.opt.Generator.Traits().Modules || !inTemplates(name)) {
				c.byDisplay[root.displayName(name)] = len(c.files)
				c.files = append(c.files, contentFile{dir: root, name: name, display: root.displayName(name)})
			}
			return nil
		})
	}
}

// leaveOutUnread leaves out content files that the generator makes no page of, such as
// README.md at the root, unless a file that it reads includes them.
func (src *index) leaveOutUnread() {
	c, reads := src.content, generator.ReadsContent(src.opt.Generator, src.opt.Project)
	own := func(f contentFile) bool { return f.dir.prefix != "" || reads(f.name) || read.IsHTMLName(f.name) }
	inside := slices.DeleteFunc(slices.Clone(c.files), func(f contentFile) bool { return !own(f) })
	if len(inside) == len(c.files) || len(inside) == 0 {
		return
	}
	included := map[string]bool{} // by the last name
	for _, f := range inside {
		text, _ := system.ReadFS(f.dir.fsys, f.name, maxContentFile)
		for _, mark := range includingMarks {
			for _, rest, ok := bytes.Cut(text, mark); ok; _, rest, ok = bytes.Cut(rest, mark) {
				line, _, _ := bytes.Cut(rest, []byte("\n"))
				read.EachWord(line, func(_ int, word []byte) { included[path.Base(string(word))] = true })
			}
		}
	}
	src.unread = map[string]bool{}
	all := c.files
	c.files = c.files[:0]
	clear(c.byDisplay)
	for _, f := range all {
		if src.unread[f.display] = !own(f) && !included[path.Base(f.name)]; !src.unread[f.display] {
			c.byDisplay[f.display] = len(c.files)
			c.files = append(c.files, f)
		}
	}
}

// includingMarks are before the name of a file that a line includes.
var includingMarks = [][]byte{[]byte("include"), []byte("import "), []byte("8<"), []byte("{!")}

// contentDirs returns the directories of content and of static files.
func (src *index) contentDirs() (content, statics []sourceDir) {
	if !src.opt.Generator.Traits().Modules {
		project := sourceDir{fsys: src.project, dir: "."}
		if src.opt.Generator != Plain {
			for _, dir := range slices.DeleteFunc([]string{"static", "public"}, src.isBuilt) {
				statics = append(statics, sourceDir{fsys: src.project, dir: dir, kind: read.Static})
			}
			statics = append(statics, sourceDir{fsys: src.project, dir: ".", kind: read.Content})
		}
		return append([]sourceDir{project}, src.also...), statics
	}
	for _, mt := range src.mounts {
		dir := mt.dir
		switch top, rest, _ := strings.Cut(mt.target, "/"); top {
		case "content":
			dir.under = rest
			content = append(content, dir)
		case "static":
			dir.kind = read.Static
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

// makersOf returns the files that may make the page with a key: the files that
// the generator lists, or else the files with a matching name or front matter.
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

// frontMatterLine matches a line of front matter that may determine the page's
// address.
var frontMatterLine = text.Regexp(`(?im)^\s*:?"?(slug|url|permalink|title|path)"?\s*[:=]\s*(.+?),?\s*$`)

// docFields matches the fields at the beginning of a file of Pelican, after the title that
// reStructuredText underlines.
var docFields = text.Regexp(`^(?:(?:[#=*~^"+-]{3,}\r?\n)?([^\n]+)\r?\n[#=*~^"+-]{3,}\r?\n\s*)?(?::?[A-Za-z_]+:[^\n]*\n)*`)

// maxFrontMatter is how many bytes of a file are searched for these lines.
const maxFrontMatter = 16 << 10

// readFrontMatter indexes the files by their front matter: by "/" and the key for a
// whole path, by the last name for a slug or a title.
func (c *contentIndex) readFrontMatter() map[string][]int {
	index := map[string][]int{}
	slug := func(i int, value string) {
		for _, key := range slices.Compact([]string{urlize(value), urlize(punctuation().ReplaceAllString(value, ""))}) {
			if key != "" {
				index[key] = append(index[key], i)
			}
		}
	}
	c.eachFrontMatter(func(i int, text []byte, title string) {
		slug(i, title)
		for _, l := range frontMatterLine().FindAllSubmatch(text[:min(len(text), maxFrontMatter)], -1) {
			value := strings.Trim(string(bytes.TrimSpace(l[2])), `"'`)
			switch strings.ToLower(string(l[1])) {
			case "url", "permalink", "path":
				key := "/" + PageKey(strings.TrimPrefix(value, "/"))
				index[key] = append(index[key], i)
			default:
				slug(i, value)
			}
		}
	})
	return index
}

// punctuation matches what some generators leave out of the slug of a title.
var punctuation = text.Regexp(`[^\p{L}\p{N}\s_-]+`)

// eachFrontMatter calls f with the front matter of each content file that has some, or
// with its fields and the title before them.
func (c *contentIndex) eachFrontMatter(f func(i int, text []byte, title string)) {
	for i := range c.files {
		text, _ := system.ReadFS(c.files[i].dir.fsys, c.files[i].name, maxContentFile)
		if end := read.FrontMatter(text); end > 0 {
			f(i, text[:end], "")
		} else if l := docFields().FindSubmatch(text); len(l[0]) > 0 {
			f(i, l[0], string(l[1]))
		}
	}
}

// aliasKeys are the keys of front matter that hold other addresses of the page.
var aliasKeys = read.WordSet("aliases alias redirect_from redirects")

// readAliases reads the paths below these keys.
func (c *contentIndex) readAliases() map[string][]alias {
	all := map[string][]alias{}
	c.eachFrontMatter(func(i int, text []byte, _ string) {
		f, lines := &c.files[i], read.NewLines(text)
		for _, v := range read.Values(text, 0, len(text)) {
			if aliasKeys[v.Key] && strings.HasPrefix(v.Text, "/") {
				to := read.NormalPath(v.Text)
				all[to] = append(all[to], alias{f.page, *f.position(lines.At(v.At))})
			}
		}
	})
	return all
}

// document returns a parsed content file. One that cannot be read has no text.
func (src *index) document(f contentFile) *document {
	return src.docs.get(f.display, func() *document {
		text, _ := system.ReadFS(f.dir.fsys, f.name, maxContentFile)
		d := &document{read.Parse(f.name, text, src.opt.Generator.Traits().Refs), f, map[string]bool{}}
		if d.Over {
			src.costly.get(f.display, func() bool { return true })
		}
		for _, it := range d.Links {
			if it.IsGuess && read.IsContent(it.Value) {
				if other, ok := src.content.namedIn(f.display, it.Value); ok {
					d.included[other.display] = true
				}
			}
		}
		return d
	})
}

// Bounds of the files that readBuildMap reads.
const (
	maxMapFiles = 50_000
	maxMapFile  = 4 << 20
)

// readBuildMap reads the list of pages that the last build of a generator left
// in the project, and adds the pages under the keys that they have in the docroot.
// Docusaurus writes a JSON file for each page.
func (src *index) readBuildMap() {
	if !src.opt.Generator.Traits().Versions {
		return
	}
	c, n := src.content, 0
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
		file, ok := strings.CutPrefix(page.Source, "@site/")
		if i, isContent := c.byDisplay[path.Clean(file)]; ok && isContent && strings.HasPrefix(page.Permalink, "/") {
			f := &c.files[i]
			f.page, f.isListed = PageKey(read.Decode(page.Permalink)), true
			c.listed[f.page] = []int{i}
		}
		return nil
	})
}
