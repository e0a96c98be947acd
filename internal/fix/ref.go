package fix

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/near"
	"github.com/sitelink/sitelink/internal/source"
)

// refIndex finds the pages that an argument of ref or relref names or may mean, by their
// logical paths.
type refIndex struct {
	content []source.ContentFile
	names   *destination.Names
	byName  map[string][]string // logical paths by their last name
	byForm  map[string][]string // the same without punctuation
	last    near.Names          // the last names
}

func newRefIndex(content []source.ContentFile) *refIndex {
	x := &refIndex{content: content, names: destination.NewNames(content), byName: map[string][]string{}, byForm: map[string][]string{}}
	for i := range content {
		p := destination.Logical(content[i].Name, content[i].Language)
		name := path.Base(p)
		if slices.Contains(x.byName[name], p) {
			continue
		}
		if x.byName[name] == nil {
			x.last.Add(name)
		}
		x.byName[name] = append(x.byName[name], p)
		x.byForm[plainName(name)] = append(x.byForm[plainName(name)], p)
	}
	return x
}

// plainName returns the letters and digits of a name.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_ .+", r) {
			return -1
		}
		return r
	}, name)
}

// resolve returns the logical path of the page that a reference names in a file; ok is
// false if there is none or if there are several.
func (x *refIndex) resolve(from *source.ContentFile, ref string) (p string, ok bool) {
	for _, i := range x.names.InLanguage(from.Language, x.names.Ref(from.Name, from.Language, ref)) {
		is := destination.Logical(x.content[i].Name, x.content[i].Language)
		if ok && is != p {
			return "", false
		}
		p, ok = is, true
	}
	return p, ok
}

// meant returns the pages that a reference without page may mean. They have its name,
// or, if isTypo, a similar one.
func (x *refIndex) meant(language, ref string) (pages []string, isTypo bool) {
	name := path.Base(destination.Logical(ref, language))
	if all := x.byName[name]; len(all) > 0 {
		return all, false
	}
	if all := x.byForm[plainName(name)]; len(all) > 0 {
		return all, false
	}
	names, _ := x.last.Typos(name)
	for _, near := range names {
		pages = append(pages, x.byName[near]...)
	}
	return pages, true
}

// shortest returns the shortest reference in a file that resolves to a page, with
// an extension if the old one has it.
func (x *refIndex) shortest(from *source.ContentFile, old, target string) string {
	name := target
	if destination.IsContent(old) {
		i := slices.IndexFunc(x.content, func(c source.ContentFile) bool { return destination.Logical(c.Name, c.Language) == target })
		name = x.content[i].Name
	}
	forms := []string{path.Base(name), name, "/" + name}
	if rest, ok := strings.CutPrefix(name, path.Dir(from.Name)+"/"); ok {
		forms = append(forms, rest)
	}
	slices.SortStableFunc(forms, func(a, b string) int { return len(a) - len(b) })
	for _, form := range forms {
		if p, ok := x.resolve(from, form); ok && p == target {
			return form
		}
	}
	return ""
}

// proposeRefs proposes edits for arguments of ref and relref that name no page.
// They are in no page: the generator wrote something else, or stopped.
func (m *maker) proposeRefs(ctx context.Context) error {
	if m.generator != generator.Hugo || !m.wants(Ref, check.UnresolvedRef) || len(m.content) == 0 {
		return nil
	}
	for i := range m.content {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		m.proposeRefsOf(m.content[i].File)
	}
	return nil
}

// proposeRefsOf does so for those of one file.
func (m *maker) proposeRefsOf(name string) {
	i, ok := m.byFile[name]
	if !ok || m.generator != generator.Hugo || !m.wants(Ref, check.UnresolvedRef) {
		return
	}
	c := &m.content[i]
	if c.Module != "" || path.IsAbs(c.File) {
		return
	}
	if m.refs == nil {
		m.refs = newRefIndex(m.content)
	}
	of := m.open(c.File)
	for k := range of.links {
		if l := &of.links[k]; of.err == nil && l.IsRef() {
			m.proposeRef(c, l)
		}
	}
}

func (m *maker) proposeRef(c *source.ContentFile, l *destination.Link) {
	ref, tail := destination.CutTail(l.Value)
	if ref == "" || strings.Contains(ref, "://") {
		return
	}
	if _, ok := m.refs.resolve(c, ref); ok {
		return
	}
	line, column := positionOf(m.files[c.File].text, l.Start)
	skip := Skip{Rule: Ref, Code: check.UnresolvedRef, File: c.File, Line: line, Column: column, Value: l.Value}
	targets, isTypo := m.refs.meant(c.Language, ref)
	switch len(targets) {
	case 0:
		skip.Why = "no page has a similar name"
	case 1:
		e, err := m.newEdit(Edit{Rule: Ref, Code: check.UnresolvedRef, Likely: isTypo}, c.File, l, m.refs.shortest(c, ref, targets[0])+tail)
		if err == nil {
			m.add(e, "", check.InContent)
			return
		}
		skip.Why = whyNot(err)
	default:
		skip.Why = "it may mean several pages: " + strings.Join(slices.Sorted(slices.Values(targets)), " or ")
	}
	m.plan.Skips = append(m.plan.Skips, skip)
}

// resolvesMarkdown reports whether the site turns the paths of Markdown files into
// links to their pages: the first link of that kind to a file that exists shows it.
func (m *sources) resolvesMarkdown() bool {
	if m.markdown != nil {
		return *m.markdown
	}
	m.markdown = new(bool)
	exists := map[string]bool{}
	for i := range m.content {
		exists[m.content[i].Name] = true
	}
	for i := range m.content {
		c := &m.content[i]
		if c.Module != "" || !generator.IsMarkdown(c.File) {
			continue
		}
		of := m.open(c.File)
		for k := range of.links {
			l := &of.links[k]
			if name, _ := destination.CutTail(l.Value); l.Kind == destination.Inline && generator.IsMarkdown(name) && exists[path.Join(path.Dir(c.Name), destination.PercentDecoded(name))] {
				*m.markdown = !m.broken[l.Value]
				return *m.markdown
			}
		}
	}
	return false
}
