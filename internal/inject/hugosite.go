package inject

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/layout"
)

// hugoSite is a Hugo project with its themes, combined as Hugo does: one tree of
// layouts, in which the project's files override those of the themes.
type hugoSite struct {
	p *project
	// layouts is the layout directory of the project.
	layouts string
	themes  []hugoTheme
	// files are the layouts by their [hugoKey].
	files map[string]hugoFile
	// missing are the themes whose files were not found.
	missing []string
	config  map[string]any
	// edited has the future content of files, by path.
	edited map[string][]byte
}

type hugoTheme struct {
	// name is the name in the configuration.
	name string
	tree fs.FS
	// dir is the directory in the project, "" for a theme outside it.
	dir string
}

// hugoFile is a layout.
type hugoFile struct {
	// file is the path in the project, or "theme NAME: path" for messages.
	file string
	// own: the layout belongs to the project.
	own bool
	// theme and name locate the layout of a theme.
	theme fs.FS
	name  string
	// dir is the theme's directory in the project, or "".
	dir string
}

// hugoKey returns the name of a layout in the form of Hugo 0.146 and later:
// files of _default are at the top, partials are in _partials.
func hugoKey(name string) string {
	first, rest, ok := strings.Cut(name, "/")
	switch {
	case ok && first == "_default":
		return hugoKey(rest)
	case ok && (first == "partials" || first == "shortcodes"):
		return "_" + name
	}
	return name
}

// openHugo reads the configuration and lists the layouts.
func openHugo(p *project) (*hugoSite, error) {
	config, err := generator.HugoConfig(bareTree{p})
	if err != nil {
		return nil, err
	}
	h := &hugoSite{p: p, files: map[string]hugoFile{}, config: config, edited: map[string][]byte{}}
	mounts := layoutMounts(config)
	for _, m := range mounts {
		if h.layouts == "" && m.target == "" {
			h.layouts = m.source
		}
		for _, file := range p.list(m.source, ".html", ".htm") {
			key := hugoKey(path.Join(m.target, strings.TrimPrefix(file, m.source+"/")))
			if _, ok := p.read(file, layout.Go); !ok {
				if f, err := p.file(file); err == nil && f.refusal == "" {
					continue // created by sitelink
				}
			}
			if _, above := h.files[key]; !above {
				h.files[key] = hugoFile{file: file, own: true}
			}
		}
	}
	if h.layouts == "" {
		h.layouts = "layouts"
	}
	names := themeNames(config)
	if len(names) == 0 && len(h.files) == 0 {
		// Probably built with hugo --theme.
		if entries, err := fs.ReadDir(p.tree, "themes"); err == nil && len(entries) == 1 {
			names = []string{entries[0].Name()}
		}
	}
	h.addThemes(names, 0)
	return h, nil
}

// mount is a directory that Hugo adds to the layouts, below target.
type mount struct{ source, target string }

// layoutMounts returns the layout directories of a project or theme.
func layoutMounts(config map[string]any) []mount {
	var mounts []mount
	module, _ := config["module"].(map[string]any)
	list, _ := module["mounts"].([]any)
	for _, entry := range list {
		m, _ := entry.(map[string]any)
		source, target := textAt(m, "source"), path.Clean(textAt(m, "target"))
		if target == "layouts" {
			target = ""
		} else if rest, ok := strings.CutPrefix(target, "layouts/"); ok {
			target = rest
		} else {
			continue
		}
		if source = path.Clean(source); fs.ValidPath(source) {
			mounts = append(mounts, mount{source, target})
		}
	}
	if len(mounts) == 0 {
		dir := path.Clean(textAt(config, "layoutdir"))
		if dir == "." || !fs.ValidPath(dir) {
			dir = "layouts"
		}
		mounts = []mount{{dir, ""}}
	}
	return mounts
}

// textAt returns a string of a table. It ignores the letter case of keys, which
// tables in lists keep.
func textAt(m map[string]any, key string) string {
	for k, v := range m {
		if strings.EqualFold(k, key) {
			s, _ := v.(string)
			return s
		}
	}
	return ""
}

// themeNames returns the themes and modules in a configuration. Each overrides
// those that follow.
func themeNames(config map[string]any) []string {
	var names []string
	switch theme := config["theme"].(type) {
	case string:
		names = append(names, theme)
	case []any:
		for _, t := range theme {
			if name, ok := t.(string); ok {
				names = append(names, name)
			}
		}
	}
	module, _ := config["module"].(map[string]any)
	imports, _ := module["imports"].([]any)
	for _, entry := range imports {
		m, _ := entry.(map[string]any)
		if name := textAt(m, "path"); name != "" {
			names = append(names, name)
		}
	}
	return slices.DeleteFunc(names, func(s string) bool { return s == "" })
}

// maxThemes is the largest number of themes, including themes of themes.
const maxThemes = 50

// addThemes adds the layouts of themes, and of the themes that these use.
func (h *hugoSite) addThemes(names []string, depth int) {
	for _, name := range names {
		if depth > 5 || len(h.themes) >= maxThemes || slices.ContainsFunc(h.themes, func(t hugoTheme) bool { return t.name == name }) {
			continue
		}
		tree, dir, ok := h.findTheme(name)
		if !ok {
			h.missing = append(h.missing, name)
			continue
		}
		h.themes = append(h.themes, hugoTheme{name, tree, dir})
		config, err := generator.HugoConfig(tree)
		if err != nil {
			config = nil // use the defaults: Hugo reports the error
		}
		for _, m := range layoutMounts(config) {
			fs.WalkDir(tree, m.source, func(file string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || !endsIn(file, []string{".html", ".htm"}) {
					return nil
				}
				key := hugoKey(path.Join(m.target, strings.TrimPrefix(file, m.source+"/")))
				if _, above := h.files[key]; !above {
					shown := fmt.Sprintf("theme %s: %s", name, file)
					if dir != "" {
						shown = path.Join(dir, file)
					}
					h.files[key] = hugoFile{file: shown, theme: tree, name: file, dir: dir}
				}
				return nil
			})
		}
		h.addThemes(themeNames(config), depth+1)
	}
}

// findTheme searches for a theme where Hugo does: in themes, _vendor, the
// replacements in go.mod, and the module cache.
func (h *hugoSite) findTheme(name string) (tree fs.FS, dir string, ok bool) {
	themesDir := path.Clean(textAt(h.config, "themesdir"))
	if themesDir == "." || !fs.ValidPath(themesDir) {
		themesDir = "themes"
	}
	for _, dir := range []string{path.Join(themesDir, name), path.Join("_vendor", name)} {
		if fs.ValidPath(dir) && h.p.isDir(dir) {
			if tree, err := fs.Sub(h.p.tree, dir); err == nil {
				return tree, dir, true
			}
		}
	}
	version, local := h.module(name)
	if local != "" && fs.ValidPath(path.Clean(local)) && h.p.isDir(path.Clean(local)) {
		if tree, err := fs.Sub(h.p.tree, path.Clean(local)); err == nil {
			return tree, path.Clean(local), true
		}
	}
	if local != "" {
		at := local
		if !path.IsAbs(at) {
			at = h.p.root.Name() + "/" + local
		}
		if info, err := os.Stat(at); err == nil && info.IsDir() {
			return os.DirFS(at), "", true
		}
	}
	for _, cache := range h.p.opt.Modules {
		at := cache + "/" + escapeModule(name) + "@" + version
		if info, err := os.Stat(at); version != "" && err == nil && info.IsDir() {
			return os.DirFS(at), "", true
		}
	}
	return nil, "", false
}

var (
	requireLine = regexp.MustCompile(`(?m)^\s*(?:require\s+)?(\S+)\s+(v\S+)`)
	replaceLine = regexp.MustCompile(`(?m)^\s*(?:replace\s+)?(\S+)(?:\s+v\S+)?\s*=>\s*(\S+)`)
)

// module returns the version of a module that go.mod requires, and the directory
// that replaces it, or "".
func (h *hugoSite) module(name string) (version, local string) {
	data, err := disk.ReadFS(h.p.tree, "go.mod", maxTemplate)
	if err != nil {
		return "", ""
	}
	for _, m := range replaceLine.FindAllStringSubmatch(string(data), -1) {
		if m[1] == name && (strings.HasPrefix(m[2], ".") || path.IsAbs(m[2])) {
			local = m[2]
		}
	}
	for _, m := range requireLine.FindAllStringSubmatch(string(data), -1) {
		if m[1] == name {
			version = m[2]
		}
	}
	return version, local
}

// escapeModule writes a module path as the module cache does: !a for A.
func escapeModule(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('!')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// source returns a layout without marked text, or its future content.
func (h *hugoSite) source(key string) (layout.Source, bool) {
	f, ok := h.files[key]
	if !ok {
		return layout.Source{}, false
	}
	if text, ok := h.edited[f.file]; ok && f.own {
		return layout.Source{File: f.file, Text: text, Lang: layout.Go}, true
	}
	if f.own {
		text, ok := h.p.read(f.file, layout.Go)
		return layout.Source{File: f.file, Text: text, Lang: layout.Go}, ok
	}
	text, err := disk.ReadFS(f.theme, f.name, maxTemplate)
	return layout.Source{File: f.file, Text: text, Lang: layout.Go}, err == nil && len(text) <= maxTemplate
}

// load returns the partial that a template calls; it is a [layout.Loader].
func (h *hugoSite) load(name, _ string) (layout.Source, bool) {
	name = path.Clean(strings.TrimPrefix(name, "/"))
	for _, prefix := range []string{"partials/", "_partials/"} {
		name = strings.TrimPrefix(name, prefix)
	}
	for _, key := range []string{"_partials/" + name, "_partials/" + name + ".html"} {
		if s, ok := h.source(key); ok {
			return s, true
		}
	}
	return layout.Source{}, false
}

// partialKey returns the [hugoKey] for the name in a call of a partial.
func partialKey(name string) string {
	name = strings.TrimPrefix(path.Clean(name), "/")
	if path.Ext(name) == "" {
		name += ".html"
	}
	return "_partials/" + name
}

// partialsDir returns the directory for partials of the project. It is _partials,
// which Hugo supports since 0.146, only if the project has this directory alone.
func (h *hugoSite) partialsDir() string {
	if dir := h.layouts + "/_partials"; h.p.isDir(dir) && !h.p.isDir(h.layouts+"/partials") {
		return dir
	}
	return h.layouts + "/partials"
}

// themes is the table of Hugo themes that leave a template to their users and
// call it at the end of the head. A stub has the name by which the theme calls
// it, relative to layouts/partials or layouts/_partials. Users add rows with
// [[templates.theme]].
var themes = []Theme{
	{"ananke", "head-additions.html"},
	{"bearblog", "custom_head.html"},
	{"beautifulhugo", "head_custom.html"},
	{"blowfish", "extend-head.html"},
	{"book", "docs/inject/head.html"},
	{"coder", "head/extensions.html"},
	{"congo", "extend-head.html"},
	{"docsy", "hooks/head-end.html"},
	{"geekdoc", "head/custom.html"},
	{"hextra", "custom/head-end.html"},
	{"paged", "head_custom.html"},
	{"papermod", "extend_head.html"},
	{"relearn", "custom-header.html"},
	{"stack", "head/custom.html"},
	{"terminal", "extended_head.html"},
}

// Themes returns the built-in table of themes.
func Themes() []Theme { return slices.Clone(themes) }

// stubOf returns the stub of a theme, given its directory or module path, or "".
// The rows of own take precedence over the built-in table.
func stubOf(theme string, own []Theme) string {
	words := strings.Split(strings.ToLower(theme), "/")
	for _, rows := range [][]Theme{own, themes} {
		for _, word := range slices.Backward(words) {
			for _, row := range rows {
				if plainTheme(row.Name) == plainTheme(word) {
					return row.Stub
				}
			}
		}
	}
	return ""
}

// plainTheme removes the common parts of theme names: hugo-theme-stack becomes
// stack.
func plainTheme(name string) string {
	name = strings.ToLower(name)
	for _, prefix := range []string{"gohugo-theme-", "hugo-theme-", "hugo-"} {
		name = strings.TrimPrefix(name, prefix)
	}
	for _, suffix := range []string{"-hugo-theme", "-theme"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}
