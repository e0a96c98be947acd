package move

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/source"
	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/weburl"
)

// document is a source file with its destinations.
type document struct {
	file  string // before the move
	text  []byte
	hash  string
	links []destination.Destination
}

// at returns the destination at a line and column, or nil.
func (d *document) at(line, column int) *destination.Destination {
	off, ok := destination.Offset(d.text, line, column)
	if !ok {
		return nil
	}
	return destination.At(d.links, off)
}

// candidate is a link that the move may concern.
type candidate struct {
	link   check.Link
	page   string // address of the page that holds it, before
	target string // address that it leads to, decoded, before
}

// rewrite adds the edits of all destinations that must change.
func (m *mover) rewrite(ctx context.Context) error {
	var after []source.ContentFile
	for _, file := range slices.Sorted(maps.Keys(m.pages.byFile)) {
		m.refs.content = append(m.refs.content, m.contentFile(file))
		after = append(after, m.contentFile(m.plan.Set.NewName(file)))
	}
	m.refs.before, m.refs.after = destination.NewNames(m.refs.content), destination.NewNames(after)
	all, err := m.concerned(ctx)
	if err != nil {
		return err
	}
	links := make([]check.Link, len(all))
	for i := range all {
		links[i] = all[i].link
	}
	places, err := m.places(ctx, links)
	if err != nil {
		return err
	}
	type place struct {
		file         string
		line, column int
	}
	byPlace := map[place][]*candidate{}
	var order []place
	for i, at := range places {
		if at != nil && m.isMoved(all[i].page) {
			m.placed[all[i].link.Page] = append(m.placed[all[i].link.Page], placedLink{all[i].link, *at})
		}
		if at == nil || path.IsAbs(at.File) || at.Line == 0 {
			continue
		}
		p := place{at.File, at.Line, at.Column}
		if byPlace[p] == nil {
			order = append(order, p)
		}
		byPlace[p] = append(byPlace[p], &all[i])
	}
	refused := map[string]bool{}
	for _, p := range order {
		if refused[p.file] {
			continue
		}
		doc, err := m.document(p.file)
		if err != nil {
			if !m.refuse(err) {
				return err
			}
			refused[p.file] = true
			continue
		}
		d := doc.at(p.line, p.column)
		if d == nil || strings.HasPrefix(d.Key, "aliases") || d.Key == "redirect_from" {
			continue
		}
		if err := m.rewriteOne(doc, d, byPlace[p]); err != nil {
			return err
		}
	}
	if err := m.rewriteHidden(ctx); err != nil {
		return err
	}
	if m.fragments == nil {
		if err := errors.Join(m.rewriteMenus(), m.rewritePaths(ctx), m.rewriteRules()); err != nil {
			return err
		}
	}
	m.plan.Files = len(m.edited)
	return nil
}

// rewriteMenus rewrites the pages that menus of the configuration name: they are not
// addresses, so no link of the site leads to them.
func (m *mover) rewriteMenus() error {
	g := m.shadow.project.Generator
	if g == nil {
		return nil
	}
	dir, _ := m.belowRoot(filepath.ToSlash(g.Dir))
	for _, name := range g.Configs {
		doc, err := m.document(path.Join(dir, name))
		if err != nil {
			continue // the build has read it
		}
		for i := range doc.links {
			d := &doc.links[i]
			if d.Key != "pageref" {
				continue
			}
			file, _, ok := m.refs.before.Find(source.ContentFile{}, d.Value, false)
			if !ok {
				continue
			}
			if err := m.rewriteOne(doc, d, []*candidate{{page: "/", target: m.pages.byFile[m.refs.content[file].File].address}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// rewritePaths rewrites arguments of shortcodes, and values of front matter, data and
// templates, that name a moved file by its path in the project. The built site need
// not show these: a shortcode may read the file and write another link, or none.
func (m *mover) rewritePaths(ctx context.Context) error {
	if !m.generator().Traits().Refs {
		return nil
	}
	dir, _ := m.belowRoot(filepath.ToSlash(m.shadow.project.Generator.Dir))
	inProject := mount{dir: dir} // a path elsewhere is found nowhere
	from, _ := inProject.rel(m.plan.Renames[0].Old)
	to, _ := inProject.rel(m.plan.Renames[0].New)
	forms := []read.Form{read.FormShortcode, read.FormMatter, read.FormData, read.FormString}
	return m.eachSource(ctx, dir, []string{from}, func(doc *document) error {
		for i := range doc.links {
			d := &doc.links[i]
			slash, rest, ok := strings.Cut(d.Value, from)
			if !ok || slash != "" && slash != "/" || rest != "" && rest[0] != '/' || !slices.Contains(forms, d.Form) || d.IsRef() {
				continue
			}
			if err := m.write(doc, d, slash+to+rest); err != nil {
				return err
			}
		}
		if !slices.ContainsFunc(m.pages.layouts, func(mt mount) bool { _, ok := mt.rel(doc.file); return ok }) {
			return nil
		}
		for _, at := range quotedPaths(doc.text, from) {
			if err := m.replace(doc, at, at+len(from), to); err != nil {
				return err
			}
		}
		return nil
	})
}

// write gives a destination another value, if that can be written there.
func (m *mover) write(doc *document, d *destination.Destination, value string) error {
	if value == d.Value {
		return nil
	}
	raw, err := d.Encode(value)
	if err != nil {
		m.note("%s: %v; the link stays as it is", doc.file, err)
		return nil
	}
	return m.replace(doc, d.Start, d.End, raw)
}

// replace adds an edit, and counts it. A link that is found twice has its new value.
func (m *mover) replace(doc *document, start, end int, raw string) error {
	before := len(m.plan.Set.Edits(doc.file))
	if err := m.plan.Set.Replace(doc.file, doc.hash, start, end, raw); err != nil && !errors.Is(err, destination.ErrOverlap) {
		return err
	}
	if len(m.plan.Set.Edits(doc.file)) > before {
		m.plan.Links++
		m.edited[doc.file] = true
	}
	return nil
}

// quotedPaths returns the offsets of a path in the strings of a template, as they are or
// with a slash before them.
func quotedPaths(text []byte, name string) (all []int) {
	for at := 0; ; at += len(name) {
		i := bytes.Index(text[at:], []byte(name))
		if i < 0 {
			return all
		}
		at += i
		before, after := bytes.TrimSuffix(text[:at], []byte("/")), text[at+len(name):]
		if len(before) > 0 && bytes.IndexByte([]byte("\"'`"), before[len(before)-1]) >= 0 && len(after) > 0 && bytes.IndexByte([]byte("\"'`/"), after[0]) >= 0 {
			all = append(all, at)
		}
	}
}

// eachSource calls do for the files of the project that have one of some texts in them and
// can be edited.
func (m *mover) eachSource(ctx context.Context, dir string, having []string, do func(*document) error) error {
	return filepath.WalkDir(m.path(dir), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // the build reads what it needs
		}
		if d.IsDir() {
			if rel, _ := filepath.Rel(m.path(dir), name); m.generator().Foreign(os.DirFS(m.path(dir)), filepath.ToSlash(rel)) {
				return filepath.SkipDir
			}
			return context.Cause(ctx)
		}
		switch path.Ext(d.Name()) {
		case ".md", ".markdown", ".html", ".toml", ".yaml", ".yml", ".json", ".xml":
		default:
			return nil
		}
		text, _ := system.Read(name, maxSearched)
		file, _ := m.belowRoot(filepath.ToSlash(name))
		if slices.ContainsFunc(having, func(s string) bool { return bytes.Contains(text, []byte(s)) }) {
			if doc, err := m.document(file); err == nil {
				return do(doc)
			}
		}
		return nil
	})
}

// maxSearched is the size in bytes of the largest file in which paths are looked for.
const maxSearched = 8 << 20

// places returns where links are written: without a generator, in the page itself.
func (m *mover) places(ctx context.Context, links []check.Link) ([]*check.Position, error) {
	if m.shadow.project.Generator != nil {
		return m.before.audit.PlaceLinks(ctx, links)
	}
	places := make([]*check.Position, len(links))
	for i, l := range links {
		places[i] = &check.Position{File: path.Join(m.pages.static[0].dir, l.Page), Line: l.Line, Column: l.Column}
	}
	return places, nil
}

// refuse notes that links cannot be rewritten. It reports false if the
// whole move must stop: when a file changed, all that is known about it is wrong.
func (m *mover) refuse(err error) bool {
	if errors.Is(err, destination.ErrStale) {
		return false
	}
	m.note("%v; its links stay as they are", err)
	return true
}

// concerned returns the links to what moves, and all links of what moves.
func (m *mover) concerned(ctx context.Context) ([]candidate, error) {
	s := m.before.audit.Site
	var all []candidate
	address := map[string]string{} // of pages
	opt := m.before.options()
	opt.Ignore = nil
	_, err := check.Links(ctx, audit.Handle(s), opt, check.Query{}, func(l *check.Link) error { // calls do not overlap
		if target, ok := sitePath(l.Target); ok {
			if address[l.Page] == "" {
				address[l.Page] = m.before.addressOf(l.Page)
			}
			if m.concerns(address[l.Page], target) {
				all = append(all, candidate{*l, address[l.Page], target})
			}
		}
		return nil
	})
	return all, err
}

// concerns reports whether a link may have to be rewritten.
func (m *mover) concerns(from, target string) bool {
	if m.fragments != nil {
		return samePath(strings.TrimSuffix(target, "index.html"), m.fragmentPage)
	}
	return m.isMoved(target) || m.isMoved(from)
}

// isMoved reports whether the file of the page at an address moves.
func (m *mover) isMoved(address string) bool {
	_, moved := m.names.moved[address]
	_, changed := m.names.of(address)
	return moved || changed
}

// sitePath returns the decoded path of a target of the site itself.
func sitePath(target string) (string, bool) {
	if !strings.HasPrefix(target, "/") {
		return "", false
	}
	target, _, _ = strings.Cut(target, "?")
	return destination.PercentDecoded(target), true
}

// rewriteOne adds the edit of one destination, which the links came from.
func (m *mover) rewriteOne(doc *document, d *destination.Destination, links []*candidate) error {
	// What the author's own page makes of it counts most: other pages may show the
	// same text elsewhere.
	slices.SortStableFunc(links, func(a, b *candidate) int {
		return m.ownPage(doc, b) - m.ownPage(doc, a)
	})
	for _, c := range links {
		if isMissing(c.link.Code) && !m.isMoved(c.target) {
			m.left[[2]string{m.plan.Set.NewName(doc.file), d.Value}] = true
			continue // only the author knows what it was to lead to
		}
		if value, ok := m.retarget(doc, d, c); ok {
			return m.write(doc, d, value)
		}
	}
	return nil
}

func (m *mover) ownPage(doc *document, c *candidate) int {
	if f := m.pages.byFile[doc.file]; f != nil && f.address == c.page {
		return 1
	}
	return 0
}

// retarget returns the value that a destination must have after the move. ok is false
// if it is not understood how the value leads to the target.
func (m *mover) retarget(doc *document, d *destination.Destination, c *candidate) (value string, ok bool) {
	name, tail := destination.CutTail(d.Value)
	if m.fragments != nil {
		_, fragment, _ := strings.Cut(tail, "#")
		to, ok := m.fragments[destination.PercentDecoded(fragment)]
		return strings.TrimSuffix(d.Value, fragment) + (&url.URL{Fragment: to}).EscapedFragment(), ok
	}
	if name == "" {
		return d.Value, true // only a fragment
	}
	to := m.names.pageAfter(c.target)
	if _, moved := m.names.moved[c.target]; to == c.target && !moved && m.plan.Set.NewName(doc.file) == doc.file && m.generator() != generator.None {
		return d.Value, true // a template shows it on the page that moves
	}
	page := m.names.pageAfter(c.page)
	if d.Key != "pageref" && !d.IsRef() {
		if value, ok := m.retargetURL(name, c, page, to); ok {
			return value + tail, true
		}
	}
	if value, ok := m.retargetFile(doc, name, d.IsRef(), c); ok {
		return value + tail, true
	}
	return "", false
}

// retargetURL does the work of retarget for a value that is a URL: page and to are the
// addresses of the page and of the target after the move.
func (m *mover) retargetURL(name string, c *candidate, page, to string) (string, bool) {
	s, decoded := m.before.audit.Site, destination.PercentDecoded(name)
	oldOrigin, old := s.Public(c.target)
	newOrigin, now := s.Public(to)
	switch {
	case strings.Contains(name, "://") || strings.HasPrefix(name, "//"):
		u, err := url.Parse(name)
		switch {
		case err != nil || !samePath(m.hostPath(u), c.target):
			return "", false
		case to == c.target:
			return name, true
		}
		return strings.TrimSuffix(name, u.EscapedPath()) + like(u.Path, escape(now)), oldOrigin == newOrigin
	case strings.HasPrefix(decoded, "/"):
		if samePath(decoded, old) && oldOrigin == newOrigin {
			return like(decoded, escape(now)), true
		}
		for _, prefix := range []string{s.BasePath(), m.languageOf(c.target)} {
			if samePath(prefix+decoded, c.target) {
				rest, ok := strings.CutPrefix(to, prefix)
				return like(decoded, escape(rest)), ok
			}
		}
		return "", false
	}
	if base := (&url.URL{Path: c.page}); samePath(base.ResolveReference(&url.URL{Path: decoded}).Path, c.target) {
		after := (&url.URL{Path: page}).ResolveReference(&url.URL{Path: decoded}).Path
		if samePath(after, to) && !climbs(page, decoded) {
			return name, true
		}
		rel := weburl.Relative(page, to)
		if strings.HasPrefix(name, "./") && !strings.HasPrefix(rel, ".") {
			rel = "./" + rel
		}
		return like(decoded, escape(rel)), true
	}
	if samePath(s.BasePath()+"/"+decoded, c.target) || samePath(m.languageOf(c.target)+"/"+decoded, c.target) {
		prefix := strings.TrimSuffix(strings.TrimSuffix(c.target, "/"), strings.TrimSuffix(decoded, "/"))
		rest, ok := strings.CutPrefix(to, prefix)
		return like(decoded, escape(rest)), ok
	}
	return "", false
}

// climbs reports whether a relative path leads above the root from a page.
func climbs(page, rel string) bool {
	depth := strings.Count(page, "/") - 1
	for name := range strings.SplitSeq(rel, "/") {
		switch name {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return true
			}
		default:
			depth++
		}
	}
	return false
}

// languageOf returns the first directory of a path below the base URL, as the prefix
// that relLangURL adds.
func (m *mover) languageOf(address string) string {
	rooted := m.rooted(address)
	name, _, _ := strings.Cut(strings.TrimPrefix(rooted, "/"), "/")
	if g := m.shadow.project.Generator; g != nil && slices.Contains(g.Languages, name) {
		return m.before.audit.Site.BasePath() + "/" + name
	}
	return ""
}

// escape writes a path as a URL has it.
func escape(p string) string {
	escaped := (&url.URL{Path: p}).EscapedPath()
	if !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, ".") && strings.Contains(strings.SplitN(p, "/", 2)[0], ":") {
		return "./" + escaped
	}
	return escaped
}

// like gives a new path the end of an old one: with a slash or without.
func like(old, value string) string {
	if strings.HasSuffix(old, "/") || value == "" || value == "/" || strings.HasSuffix(value, "..") {
		return value
	}
	return strings.TrimSuffix(value, "/")
}

// A destination may name a source file instead of an address: an argument of ref or
// relref, a pageRef of a menu, or a path such as ../b.md that a render hook resolves.

// retargetFile returns the new value for one that names a file.
func (m *mover) retargetFile(doc *document, name string, isRef bool, c *candidate) (string, bool) {
	decoded := destination.PercentDecoded(name)
	var to *page
	for _, form := range []string{c.target, c.target + "/", strings.TrimSuffix(c.target, "/")} {
		to = cmp.Or(m.pages.byAddress[form], to)
	}
	value := ""
	if to != nil {
		file, form, ok := m.refs.before.Find(m.contentFile(doc.file), decoded, isRef)
		if !ok || m.refs.content[file].File != to.file {
			return "", false
		}
		value = m.refs.after.Refer(m.contentFile(m.plan.Set.NewName(doc.file)), decoded, file, form, isRef)
	} else if file := path.Join(path.Dir(doc.file), decoded); !strings.HasPrefix(decoded, "/") && path.Base(decoded) == path.Base(c.target) && m.exists(file) { // a picture beside the page
		value = weburl.Relative("/"+m.plan.Set.NewName(doc.file), "/"+m.plan.Set.NewName(file))
	}
	switch {
	case value == "":
		return "", false
	case path.Clean(value) == path.Clean(decoded) && strings.HasSuffix(value, "/") == strings.HasSuffix(decoded, "/"):
		return name, true
	case name == decoded:
		return value, true
	}
	return escape(value), true
}

// refs are the names of content files, before and after the move.
type refs struct {
	content       []source.ContentFile // before
	before, after *destination.Names
}

// contentFile returns a file by the name that it has in the content. Only one in a
// directory of content has a name.
func (m *mover) contentFile(file string) source.ContentFile {
	tree := m.pages.treeOf(file)
	rel, ok := tree.rel(file)
	if !ok {
		return source.ContentFile{File: file}
	}
	lang := strings.ToLower(strings.TrimPrefix(path.Ext(strings.TrimSuffix(rel, path.Ext(rel))), "."))
	if g := m.shadow.project.Generator; g == nil || !slices.ContainsFunc(g.Languages, func(l string) bool { return strings.EqualFold(l, lang) }) {
		lang = tree.lang
	}
	return source.ContentFile{File: file, Name: rel, Language: lang}
}

// rewriteHidden rewrites what the built site need not show. The build stops at an
// argument of ref or relref that names no file, even if the address of the page does not
// change. Hugo leaves out links in the raw HTML of Markdown by default.
func (m *mover) rewriteHidden(ctx context.Context) error {
	if !m.generator().Traits().Refs {
		return nil
	}
	dir, _ := m.belowRoot(filepath.ToSlash(m.shadow.project.Generator.Dir))
	return m.eachSource(ctx, dir, []string{"ref", "src"}, func(doc *document) error {
		own := cmp.Or(m.pages.byFile[doc.file], &page{})
		for i := range doc.links {
			d := &doc.links[i]
			c := &candidate{page: own.address}
			name, _ := destination.CutTail(d.Value)
			switch {
			case name == "":
				continue
			case d.IsRef():
				file, _, ok := m.refs.before.Find(m.contentFile(doc.file), destination.PercentDecoded(name), true)
				if !ok {
					continue
				}
				target := m.pages.byFile[m.refs.content[file].File]
				if m.fragments != nil && target.address != m.fragmentPage {
					continue
				}
				c.target = target.address
			case d.Form == read.FormHTML && generator.IsMarkdown(doc.file):
				var ok bool
				if c.target, c.link.Fragment, ok = m.leads(own.address, d.Value); !ok || !m.concerns(c.page, c.target) {
					continue
				}
			default:
				continue
			}
			if err := m.rewriteOne(doc, d, []*candidate{c}); err != nil {
				return err
			}
		}
		return nil
	})
}

// leads returns where a link with this value leads from the page at an address. ok is
// false if it leads to no address of the site.
func (m *mover) leads(address, value string) (target, fragment string, ok bool) {
	s := m.before.audit.Site
	at, _ := s.Request(rulePath(address))
	id, isPage := s.PageOf(at.Node)
	if address == "" || !isPage {
		return "", "", false
	}
	to, err := s.Follow(id, value)
	if !answers(to, err) {
		return "", "", false
	}
	target, ok = sitePath(to.Target)
	return target, to.Fragment, ok
}
