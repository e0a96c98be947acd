package inject

import (
	"fmt"
	"path"
	"strings"

	"github.com/sitelink/sitelink/internal/layout"
)

// themePartials is where the theme's own file can be called when a file of the
// project overrides it.
const themePartials = "sitelink/theme/"

// wrap overrides a partial that the theme calls in its head with one that calls
// the elements and then the theme's own file, which a mount makes available under
// another name. Nothing of the theme is copied, so that its next version applies.
//
// The mount needs a file of configuration: only a project that has no table
// [module] gets one, because not every version of Hugo would merge the two. The
// theme must be in the project, because mounts name files of the project.
func (s *hugoSearch) wrap(d *layout.Doc) bool {
	if _, has := s.config["module"]; has || d.Charset == nil {
		return false
	}
	for _, ext := range []string{".toml", ".yaml", ".yml", ".json"} {
		if f, err := s.p.file("config/_default/module" + ext); err != nil || f.text != nil && f.bare(layout.TOML) != nil {
			return false
		}
	}
	for _, c := range d.Calls {
		key := partialKey(c.Name)
		f, ok := s.files[key]
		switch {
		case !ok || f.own || f.dir == "" || c.InBody || !s.usable(d, c):
			continue
		case c.Before < d.Charset.Before || c.Before+s.p.elementSize() > layout.MaxOffset:
			continue
		case strings.Contains(f.file, "\""):
			continue
		}
		name := strings.TrimPrefix(key, "_partials/")
		dir := s.partialsDir()
		inner := callOf(dataOf(c)) + fmt.Sprintf(`{{ partial "%s%s" . }}`, themePartials, name)
		own := dir + "/" + name
		s.edits[own] = edit{path: own, lang: layout.Go, inner: inner, create: true, rank: 2,
			how:    "override of the partial " + name + " of the theme, which it calls",
			insert: func(text []byte) []byte { return layout.Go.Append(text, inner) }}
		mounts := fmt.Sprintf("\n[[mounts]]\nsource = \"%s\"\ntarget = \"layouts\"\n[[mounts]]\nsource = \"%s\"\ntarget = \"layouts/%s\"\n",
			s.layouts, f.file, path.Join(path.Base(dir), themePartials, name))
		const module = "config/_default/module.toml"
		s.edits[module] = edit{path: module, lang: layout.TOML, inner: mounts, create: true, rank: 1,
			how:    "mount of the theme's " + name + " under another name",
			insert: func(text []byte) []byte { return layout.TOML.Append(text, mounts) }}
		return true
	}
	return false
}
