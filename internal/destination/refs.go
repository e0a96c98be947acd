package destination

import (
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/similar"
	"github.com/sitelink/sitelink/internal/source"
)

// Refs finds the pages that arguments of ref and relref name or may mean, by their logical
// paths.
type Refs struct {
	content []source.ContentFile
	names   *Names
	byName  map[string][]string // logical paths by their last name
	byForm  map[string][]string // the same without punctuation
	last    similar.Names       // the last names
}

// NewRefs returns the Refs of the content files of a project.
func NewRefs(content []source.ContentFile) *Refs {
	x := &Refs{content: content, names: NewNames(content), byName: map[string][]string{}, byForm: map[string][]string{}}
	for i := range content {
		p := Logical(content[i].Name, content[i].Language)
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

// Missing reports whether an argument in a file names no page. pages are those that it may
// mean, which have its name or, if isTypo, a similar one; instead is what names the only one.
func (x *Refs) Missing(from *source.ContentFile, value string) (pages []string, instead string, isTypo, ok bool) {
	ref, tail := CutTail(value)
	if ref == "" || strings.Contains(ref, "://") {
		return nil, "", false, false
	}
	if _, _, ok := x.names.Find(*from, ref, true); ok {
		return nil, "", false, false
	}
	if pages, isTypo = x.meant(from.Language, ref); len(pages) == 1 {
		instead = x.shortest(from, ref, pages[0]) + tail
	}
	return pages, instead, isTypo, true
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

// meant returns the pages that a reference without page may mean. They have its name,
// or, if isTypo, a similar one.
func (x *Refs) meant(language, ref string) (pages []string, isTypo bool) {
	name := path.Base(Logical(ref, language))
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

// shortest returns the shortest reference in a file that finds a page, with an extension
// if the old one has it.
func (x *Refs) shortest(from *source.ContentFile, old, target string) (best string) {
	to := slices.IndexFunc(x.content, func(c source.ContentFile) bool { return Logical(c.Name, c.Language) == target })
	for _, naming := range []Naming{ByName, FromRoot, FromFile} {
		if ref := x.names.Refer(*from, path.Base(old), int32(to), naming, true); ref != "" && (best == "" || len(ref) < len(best) && !strings.HasPrefix(ref, "../")) {
			best = ref
		}
	}
	return best
}
