package move

import (
	"cmp"
	"context"
	"errors"
	"maps"
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

// retargetFile returns the new value for one that names a file.
func (m *rewriter) retargetFile(doc *document, name string, isRef bool, c *candidate) (string, bool) {
	decoded, err := url.PathUnescape(name)
	if err != nil {
		return "", false
	}
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

func (m *rewriter) readRefs() {
	var after []source.ContentFile
	for _, file := range slices.Sorted(maps.Keys(m.pages.byFile)) {
		m.refs.content = append(m.refs.content, m.contentFile(file))
		after = append(after, m.contentFile(m.plan.Set.NewName(file)))
	}
	m.refs.before, m.refs.after = destination.NewNames(m.refs.content), destination.NewNames(after)
}

// contentFile returns a file by the name that it has in the content. Only one in a
// directory of content has a name.
func (m *trial) contentFile(file string) source.ContentFile {
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

// rewriteHidden rewrites what the built site need not show: arguments of ref and relref,
// because the build stops at one that names no file, and the address of the page need not
// change; and links in the raw HTML of Markdown, which Hugo leaves out by default.
func (m *rewriter) rewriteHidden(ctx context.Context, files map[string]bool) error {
	if m.generator() != generator.Hugo {
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
				if m.fragments != nil && target.address != m.fragmentPage ||
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
