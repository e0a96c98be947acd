package move

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/source"
	"github.com/sitelink/sitelink/internal/weburl"
)

// A destination may name a source file instead of an address: an argument of ref or
// relref, a pageRef of a menu, or a path such as ../b.md that a render hook resolves.
// Such a value is written as a path again, in the same form: from the root of the
// content or from the file, with or without suffix, and the name alone if it is the
// only one.

// naming is a way in which a value names a file.
type naming struct {
	dir  string // the directory that it is relative to; "" for the root of the content
	bare bool   // a name alone, which is looked for in all of the content
	file string // what it names, before
}

// retargetFile returns the new value for one that names a file.
func (m *rewriter) retargetFile(doc *document, name string, isRef bool, c *candidate) (string, bool) {
	decoded, err := url.PathUnescape(name)
	if err != nil {
		return "", false
	}
	n, ok := m.named(doc, decoded, isRef, c.target)
	if !ok {
		return "", false
	}
	to := m.plan.Set.NewName(n.file)
	// The file's own directory may move too.
	from := m.plan.Set.NewName(doc.file)
	dirAfter := path.Dir(from)
	if n.dir != "" && n.dir == path.Dir(path.Dir(doc.file)) && n.dir != path.Dir(doc.file) {
		dirAfter = path.Dir(dirAfter)
	}
	rel, _ := m.pages.treeOf(to).rel(to)
	short := m.short(decoded, rel)
	var value string
	switch {
	case n.bare && path.Base(to) == path.Base(n.file) && m.unique(to):
		return name, true
	case (n.bare || isRef && !strings.Contains(decoded, "/")) && m.unique(to): // refs look everywhere
		value = path.Base(short)
	case n.bare, strings.HasPrefix(decoded, "/"):
		value = "/" + short
	case n.dir == "":
		value = short
	default:
		treeDir, ok := m.pages.treeOf(from).rel(dirAfter)
		if !ok {
			return "", false
		}
		if value = strings.TrimPrefix(weburl.Relative("/"+treeDir+"/", "/"+short), "./"); strings.HasPrefix(decoded, "./") && !strings.HasPrefix(value, "../") {
			value = "./" + value
		}
	}
	if value == decoded || sameName(value, decoded) && !n.bare {
		return name, true
	}
	if name == decoded {
		return value, true
	}
	return escape(value), true
}

func sameName(a, b string) bool {
	return path.Clean(a) == path.Clean(b) && strings.HasSuffix(a, "/") == strings.HasSuffix(b, "/")
}

// short writes the path of a content file as an old value did.
func (m *rewriter) short(old, rel string) string {
	if generator.IsMarkdown(old) || !generator.IsMarkdown(rel) || path.Ext(old) != "" && path.Ext(old) == path.Ext(rel) {
		if stem, ok := strings.CutSuffix(rel, path.Ext(rel)); ok { // a language before the suffix
			if lang := path.Ext(stem); lang != "" && !strings.HasSuffix(strings.TrimSuffix(old, path.Ext(old)), lang) && m.isLanguage(lang[1:]) {
				return strings.TrimSuffix(stem, lang) + path.Ext(rel)
			}
		}
		return rel
	}
	short := m.logical(rel)
	if strings.HasSuffix(old, "/") {
		short += "/"
	}
	if base := path.Base(old); base == "index" || base == "_index" {
		short = path.Join(short, base)
	}
	return short
}

func (m *trial) isLanguage(name string) bool {
	g := m.shadow.project.Generator
	if g == nil {
		return false
	}
	for _, lang := range g.Languages {
		if strings.EqualFold(lang, name) {
			return true
		}
	}
	return false
}

// logical returns the path by which a page is called: without suffix, language and the
// name of a bundle's file.
func (m *trial) logical(rel string) string {
	if generator.IsMarkdown(rel) || path.Ext(rel) == ".html" || path.Ext(rel) == ".astro" {
		rel = strings.TrimSuffix(rel, path.Ext(rel))
		if lang := strings.TrimPrefix(path.Ext(rel), "."); lang != "" && m.isLanguage(lang) {
			rel = strings.TrimSuffix(rel, "."+lang)
		}
	}
	if base := path.Base(rel); base == "index" || base == "_index" {
		rel = path.Dir(rel)
	}
	return strings.Trim(rel, "/")
}

// named finds out how a value names the file of the page at an address, or a file with
// that name.
func (m *rewriter) named(doc *document, value string, isRef bool, target string) (naming, bool) {
	file := ""
	for _, form := range []string{target, target + "/", strings.TrimSuffix(target, "/")} {
		if f := m.pages.byAddress[form]; f != nil {
			file = f.file
		}
	}
	tree := m.pages.treeOf(doc.file)
	here, ok := tree.rel(path.Dir(doc.file))
	if !ok {
		here = "."
	}
	dirs := []string{here, path.Dir(here), ""}
	real := []string{path.Dir(doc.file), path.Dir(path.Dir(doc.file)), ""}
	if strings.HasPrefix(value, "/") {
		dirs, real = dirs[2:], real[2:]
	}
	if file != "" {
		rel, _ := m.pages.treeOf(file).rel(file)
		want := m.logical(rel)
		for i, dir := range dirs {
			if got := m.logical(path.Join(dir, strings.TrimPrefix(value, "/"))); strings.EqualFold(strings.TrimPrefix(got, "./"), want) {
				return naming{dir: real[i], file: file}, true
			}
		}
		if bare := m.logical(value); isRef && !strings.Contains(value, "/") && strings.EqualFold(bare, path.Base(want)) {
			return naming{bare: true, file: file}, true
		}
		return naming{}, false
	}
	if path.Base(value) != path.Base(target) || strings.HasPrefix(value, "/") {
		return naming{}, false
	}
	if f := path.Join(path.Dir(doc.file), value); m.exists(f) { // a picture beside the page
		return naming{dir: path.Dir(doc.file), file: f}, true
	}
	return naming{}, false
}

// unique reports whether a page is the only one with its name.
func (m *rewriter) unique(file string) bool {
	rel, _ := m.pages.treeOf(file).rel(file)
	name, n := path.Base(m.logical(rel)), 0
	tree := m.pages.treeOf(file)
	for old := range m.pages.byFile {
		now := m.plan.Set.NewName(old)
		if other := m.pages.treeOf(now); other == tree {
			r, _ := other.rel(now)
			if strings.EqualFold(path.Base(m.logical(r)), name) {
				n++
			}
		}
	}
	return n == 1
}

// rewriteHidden rewrites what the built site need not show: arguments of ref and relref,
// because the build stops at one that names no file, and the address of the page need not
// change; and links in the raw HTML of Markdown, which Hugo leaves out by default.
func (m *rewriter) rewriteHidden(ctx context.Context, files map[string]bool) error {
	if m.generator() != generator.Hugo {
		return nil
	}
	content := m.content()
	names := destination.NewNames(content)
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
				target := m.referred(names, content, doc.file, name)
				if target == nil || m.fragments != nil && target.address != m.fragmentPage ||
					m.fragments == nil && m.plan.Set.NewName(target.file) == target.file && m.plan.Set.NewName(doc.file) == doc.file {
					continue
				}
				c.target = target.address
			case d.Kind == destination.HTML && generator.IsMarkdown(doc.file):
				var ok bool
				if c.target, c.link.Fragment, ok = leads(m, own.address, d.Value); !ok || !m.concerns(&c.link, c.page, c.target) {
					continue
				}
			default:
				continue
			}
			before := len(m.plan.Set.Edits(doc.file))
			edited, err := m.rewriteOne(doc, d, []*candidate{c})
			if err != nil && !errors.Is(err, destination.ErrOverlap) {
				return err
			}
			if edited && len(m.plan.Set.Edits(doc.file)) > before {
				m.plan.Links++
				files[doc.file] = true
			}
		}
		return nil
	})
}

// leads returns where a link with this value leads from the page at an address. ok is
// false if it leads to no address of the site.
func leads(m *rewriter, address, value string) (target, fragment string, ok bool) {
	s := m.before.audit.Site
	at, err := s.Request(rulePath(address))
	id, isPage := s.PageOf(at.Node)
	if err != nil || address == "" || at.Node == docroot.NoNode || !isPage {
		return "", "", false
	}
	to, err := s.Follow(id, value)
	if !answers(to, err) {
		return "", "", false
	}
	target, ok = sitePath(to.Target)
	return target, to.Fragment, ok
}

// content returns the content files of the pages, sorted by name.
func (m *rewriter) content() (all []source.ContentFile) {
	for _, p := range m.pages.byFile {
		rel, _ := p.tree.rel(p.file)
		lang := strings.TrimPrefix(path.Ext(strings.TrimSuffix(rel, path.Ext(rel))), ".")
		if !m.isLanguage(lang) {
			lang = ""
		}
		all = append(all, source.ContentFile{File: p.file, Name: rel, Language: strings.ToLower(lang)})
	}
	slices.SortFunc(all, func(a, b source.ContentFile) int { return strings.Compare(a.File, b.File) })
	return all
}

// referred returns the page that a reference in a file names, nil if that is not clear.
func (m *rewriter) referred(names *destination.Names, content []source.ContentFile, file, ref string) *page {
	from := source.ContentFile{Name: file}
	if i := slices.IndexFunc(content, func(c source.ContentFile) bool { return c.File == file }); i >= 0 {
		from = content[i]
	}
	found := slices.Clone(names.Ref(from.Name, from.Language, destination.PercentDecoded(ref)))
	tree := m.pages.treeOf(file)
	elsewhere := func(i int32) int { // a language may have a directory of its own
		if m.pages.treeOf(content[i].File) == tree {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(found, func(a, b int32) int { return elsewhere(a) - elsewhere(b) })
	if found = names.InLanguage(from.Language, found); len(found) == 1 || len(found) > 1 && len(m.shadow.project.Generator.Languages) > 1 {
		return m.pages.byFile[content[found[0]].File]
	}
	return nil
}
