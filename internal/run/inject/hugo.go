package inject

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

const (
	// headPartial is the partial that holds the elements.
	headPartial = "sitelink/head.html"
	// themePartials is the directory under which a file of the theme can be called
	// although a file of the project overrides it.
	themePartials = "sitelink/theme/"
	// hugoModule is a configuration file for the mounts of themePartials.
	hugoModule = "config/_default/module.toml"
	// maxWraps is how many partials of a theme are tried.
	maxWraps = 8
)

// readHugo finds the project's layouts and its themes, with their files in the order in
// which they override each other.
func (s *templateSet) readHugo(g *project.Generator) {
	hugo, _ := g.Hugo(g.Env) // the build tells of a fault
	for _, m := range hugo.Modules {
		if filepath.Clean(m.Dir) != filepath.Clean(g.Dir) {
			s.modules = append(s.modules, m)
			continue
		}
		for _, mount := range m.Mounts {
			if mount.Target == "layouts" && filepath.IsLocal(mount.Source) {
				s.layouts = path.Clean(filepath.ToSlash(mount.Source))
				break
			}
		}
	}
}

// callOf returns the call of the partial with the elements. It passes data as the
// page.
func callOf(data string) string { return `{{ partial "` + headPartial + `" ` + data + ` }}` }

// partials returns the directory for partials of the project. It is _partials, which
// Hugo supports since 0.146, only if the project has this directory alone.
func (s *templateSet) partials() string {
	old, now := s.layouts+"/partials", s.layouts+"/_partials"
	if _, err := s.root.Stat(now); err == nil {
		if _, err := s.root.Stat(old); err != nil {
			return now
		}
	}
	return old
}

// head returns the edit of the partial with the elements.
func (s *templateSet) head() edit {
	name, xhtml := s.partials()+"/"+headPartial, false
	for _, known := range slices.Sorted(maps.Keys(s.files)) {
		if strings.HasSuffix(known, "/"+headPartial) {
			name = known
		}
		xhtml = xhtml || strings.HasPrefix(known, s.layouts+"/") && xhtmlMark().Match(s.files[known].bare)
	}
	return edit{path: name, lang: goTemplate, elements: pages(s.choice).hugo(s.endpoints.HTML(xhtml)), how: "the elements",
		insert: func(text []byte, _ string) []byte { return text }}
}

// hugoKey returns the name of a layout in the form of Hugo 0.146 and later: files of
// _default are at the top, partials are in _partials.
func hugoKey(name string) string {
	name = strings.TrimPrefix(name, "_default/")
	if strings.HasPrefix(name, "partials/") {
		return "_" + name
	}
	return name
}

// themeFile is a layout of a theme.
type themeFile struct {
	text []byte
	// path is below the project, "" for a theme elsewhere.
	path string
}

var (
	// partialCall matches no partialCached: one page writes the elements for all, and which page is chance.
	partialCall = text.Regexp(`\bpartial(?:s\.Include)?\s+\(?\s*["` + "`" + `]([^"` + "`" + `]+)["` + "`" + `]`)
	anyMeta     = text.Regexp(`(?i)<meta\s`)
	noOutput    = text.Regexp(`(?s)\{\{-?\s*/\*.*?\*/\s*-?\}\}|<!--.*?-->`)
	moduleTable = text.Regexp(`(?m)^\s*\[+module\b|^module\s*[:=]|"module"\s*:`)
)

// hugoTheme returns the places in the heads of themes. A stub is a partial that writes
// nothing, or that the theme calls if it exists; a file of the project overrides it. To
// wrap is to override a partial with a file that calls the elements and then the theme's
// file, which a mount makes available under another name. Nothing is copied, so updates
// of the theme apply.
func (s *templateSet) hugoTheme(data string) (stubs, wraps [][]edit) {
	// The layouts of the themes have a [hugoKey] as their name. The project overrides some
	// of them.
	theme := map[string]themeFile{}
	for _, m := range s.modules {
		for _, mount := range m.Mounts {
			target, isLayout := strings.CutPrefix(filepath.ToSlash(mount.Target)+"/", "layouts/")
			if !isLayout {
				continue
			}
			dir := mount.Source
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(m.Dir, dir)
			}
			filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
				if err != nil || !d.Type().IsRegular() || !strings.HasPrefix(path.Ext(name), ".htm") || len(theme) > maxFiles {
					return nil
				}
				rel, _ := filepath.Rel(dir, name)
				key := hugoKey(target + filepath.ToSlash(rel))
				if _, above := theme[key]; above {
					return nil
				}
				text, err := system.Read(name, maxTemplate)
				if err != nil {
					return nil
				}
				f := themeFile{text: text}
				if rel, err := filepath.Rel(s.root.Name(), name); err == nil && filepath.IsLocal(rel) && !strings.Contains(rel, `"`) {
					f.path = filepath.ToSlash(rel)
				}
				theme[key] = f
				return nil
			})
		}
	}
	own := map[string]string{}
	for name, f := range s.files {
		if rel, ok := strings.CutPrefix(name, s.layouts+"/"); ok && f.bare != nil {
			own[hugoKey(rel)] = name
		}
	}
	var called []string // by templates with a part of a head
	seen := map[string]bool{}
	for _, key := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Keys(theme)), slices.Collect(maps.Keys(own)))))) {
		text := theme[key].text
		if name := own[key]; name != "" {
			text = s.files[name].bare
		}
		if !headTag().Match(text) && !headEnd().Match(text) && !anyMeta().Match(text) {
			continue
		}
		for _, m := range partialCall().FindAllSubmatch(text, -1) {
			name := strings.TrimPrefix(path.Clean("/"+string(m[1])), "/")
			name = strings.TrimPrefix(strings.TrimPrefix(name, "partials/"), "_partials/")
			if path.Ext(name) == "" {
				name += ".html"
			}
			if !seen[name] {
				seen[name] = true
				called = append(called, name)
			}
		}
	}
	isOther := func(name string) bool { return !strings.Contains(strings.ToLower(name), "head") }
	called = append(slices.DeleteFunc(slices.Clone(called), isOther), slices.DeleteFunc(called, func(name string) bool { return !isOther(name) })...)
	mayMount := !s.hasModuleTable()
	dir := s.partials()
	for _, name := range called {
		key := "_partials/" + name
		f, inTheme := theme[key]
		e := edit{path: dir + "/" + name, lang: goTemplate, before: callOf(data), how: "stub " + name + " of the theme"}
		switch {
		case own[key] != "":
			if text := s.files[own[key]].bare; headTag().Match(text) || charsetTag().Match(text) {
				continue // a place in it comes first
			}
			e.path, e.how = own[key], "partial "+name+", which the theme calls"
			stubs = append(stubs, []edit{e})
		case !inTheme || blank(noOutput().ReplaceAll(f.text, nil)):
			stubs = append(stubs, []edit{e})
		case mayMount && f.path != "" && len(wraps) < maxWraps:
			e.before += fmt.Sprintf(`{{ partial "%s%s" . }}`, themePartials, name)
			e.how = "override of the partial " + name + " of the theme; it calls the theme's file"
			mounts := fmt.Sprintf("\n[[mounts]]\nsource = \"%s\"\ntarget = \"layouts\"\n[[mounts]]\nsource = \"%s\"\ntarget = \"layouts/%s\"\n",
				s.layouts, f.path, path.Join(path.Base(dir), themePartials, name))
			wraps = append(wraps, []edit{e, {path: hugoModule, lang: hash, before: mounts, how: "mount of the theme's " + name + " under another name"}})
		}
	}
	return stubs, wraps
}

// hasModuleTable reports whether the configuration has a table [module]: not every
// version of Hugo merges two.
func (s *templateSet) hasModuleTable() bool {
	for _, pattern := range []string{"hugo.*", "config.*", "config/_default/*"} {
		found, _ := fs.Glob(s.root.FS(), pattern)
		for _, name := range found {
			if f := s.files[name]; f != nil && f.bare == nil {
				continue // sitelink created it
			}
			text, err := system.ReadFS(s.root.FS(), name, maxTemplate)
			if err != nil && !os.IsNotExist(err) || moduleTable().Match(text) || strings.HasPrefix(path.Base(name), "module.") {
				return true
			}
		}
	}
	return false
}
