package generator

import (
	"cmp"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// HugoModule is one of the modules of a Hugo project: the project itself, a
// theme, or another.
type HugoModule struct {
	// Path is its name, "project" for the project itself; Dir is its directory.
	Path, Dir string
	Mounts    []HugoMount
}

// HugoMount maps a directory of a module into the tree that Hugo builds from.
type HugoMount struct {
	// Source is relative to the module, or absolute. Lang is empty if the mount is
	// for all languages or for several.
	Source, Target, Lang string
}

// maxModules bounds how many modules a project has, since each can import others, and
// maxMounts the mounts of one: each can be of the same files.
const (
	maxModules = 200
	maxMounts  = 100
)

// readModules finds the modules as Hugo does: in _vendor, in the cache of modules by the
// versions of go.mod, or below themesDir. It reads their configuration for their mounts
// and imports, and merges what the project's tables ask for with _merge. A module that
// is not on this machine is left out.
func (h *HugoSite) readModules(environment string, ignoreVendor bool) {
	module := tableOf(h.config["module"])
	replaced := map[string]string{}
	for _, pair := range textsOf(module["replacements"]) {
		for pair := range strings.SplitSeq(pair, ",") {
			if from, to, ok := strings.Cut(pair, "->"); ok {
				replaced[strings.TrimSpace(from)] = strings.TrimSpace(to)
			}
		}
	}
	project := HugoModule{Path: "project", Dir: h.dir, Mounts: h.projectMounts(module)}
	h.Modules = []HugoModule{project}
	goMod := readGoMod(h.dir)
	seen := map[string]bool{}
	var vendors []string // directories that may vendor modules, the project first
	var add func(owner string, config map[string]any)
	add = func(owner string, config map[string]any) {
		if !ignoreVendor {
			vendors = append(vendors, filepath.Join(owner, "_vendor"))
		}
		imports, _ := tableOf(config["module"])["imports"].([]any)
		imports = slices.Clone(imports)
		for _, theme := range textsOf(config["theme"]) {
			imports = append(imports, map[string]any{"path": theme})
		}
		for _, v := range imports {
			of := lowered(tableOf(v))
			name := textOf(of["path"])
			to, isReplaced := replaced[name]
			if isReplaced {
				name = to
			}
			if name == "" || of["disable"] == true || seen[name] || len(h.Modules) == maxModules {
				continue
			}
			dir := h.moduleDir(name, vendors, goMod, isReplaced || owner == h.dir)
			if dir == "" {
				continue
			}
			seen[name] = true
			var own map[string]any
			if of["ignoreconfig"] != true {
				tree := os.DirFS(dir)
				own, _, _ = readHugo(dir, append(firstOf(tree, hugoRow.files), hugoConfigDir(tree, "config", environment)...), "config")
			}
			mounts := mountsOf(of["mounts"])
			if len(mounts) == 0 {
				mounts = mountsOf(tableOf(own["module"])["mounts"])
			}
			if len(mounts) == 0 {
				for _, name := range []string{"content", "data", "layouts", "i18n", "assets", "static"} {
					mounts = append(mounts, HugoMount{Source: name, Target: name})
				}
			}
			mounts = slices.DeleteFunc(mounts, func(mt HugoMount) bool {
				return !filepath.IsLocal(filepath.FromSlash(mt.Source)) || !exists(dir, mt.Source)
			})
			if of["nomounts"] == true {
				mounts = nil
			}
			h.Modules = append(h.Modules, HugoModule{name, dir, mounts})
			mergeModule(h.config, own, "")
			if of["ignoreimports"] != true {
				add(dir, own)
			}
		}
	}
	add(h.dir, h.config)
}

// projectMounts returns the mounts that the project configures, and for the kinds of
// directories without any the usual ones.
func (h *HugoSite) projectMounts(module map[string]any) []HugoMount {
	all := slices.DeleteFunc(mountsOf(module["mounts"]), func(mt HugoMount) bool { return !exists(h.dir, mt.Source) })
	configured := map[string]bool{}
	for _, mt := range all {
		top, _, _ := strings.Cut(mt.Target, "/")
		configured[top] = true
	}
	add := func(key, target, lang string, config map[string]any) {
		for _, name := range textsOf(config[key]) {
			if mt := (HugoMount{slashed(path.Clean(name)), target, lang}); !configured[target] && !slices.Contains(all, mt) {
				all = append(all, mt)
			}
		}
	}
	languages := tableOf(h.config["languages"])
	base := map[string]any{
		"contentdir": "content", "datadir": "data", "layoutdir": "layouts", "i18ndir": "i18n", "assetdir": "assets", "staticdir": "static",
	}
	merge(base, h.config)
	own := 0 // languages with a directory of content of their own
	for _, lang := range slices.Sorted(maps.Keys(languages)) {
		of := tableOf(languages[lang])
		if of["contentdir"] != nil && of["contentdir"] != base["contentdir"] {
			add("contentdir", "content", lang, of)
			own++
		}
		add("staticdir", "static", "", of)
	}
	if own == 0 || own < len(languages) {
		add("contentdir", "content", "", base)
	}
	for _, kind := range []string{"data", "layout", "i18n", "asset", "static"} {
		target := map[string]string{"layout": "layouts", "asset": "assets"}[kind]
		if target == "" {
			target = kind
		}
		add(kind+"dir", target, "", base)
	}
	return all
}

// moduleDir returns the directory of a module, "" if it is not on this machine. Only the
// project itself may name one outside of themesDir.
func (h *HugoSite) moduleDir(name string, vendors []string, mod goMod, mayLeave bool) string {
	for _, vendor := range vendors {
		dir := filepath.Join(vendor, filepath.FromSlash(name))
		if filepath.IsLocal(filepath.FromSlash(name)) && exists(vendor, "modules.txt") && isDir(dir) {
			return dir
		}
	}
	if to, ok := mod.replace[name]; ok && (strings.HasPrefix(to, ".") || filepath.IsAbs(filepath.FromSlash(to))) {
		return absolute(h.dir, to)
	} else if version := mod.require[name]; version != "" || ok {
		if ok {
			name, version, _ = strings.Cut(to, " ")
		}
		for _, cache := range h.moduleCaches() {
			if dir := filepath.Join(cache, filepath.FromSlash(escapedModule(name)+"@"+escapedModule(version))); isDir(dir) {
				return dir
			}
		}
	}
	themes := absolute(h.dir, "themes")
	if dir := textOf(h.config["themesdir"]); dir != "" {
		themes = absolute(h.dir, dir)
	}
	dir := absolute(themes, name)
	if !mayLeave && !filepath.IsLocal(filepath.FromSlash(name)) || !isDir(dir) {
		return ""
	}
	return dir
}

// moduleCaches returns the directories in which builds keep modules: that of GOMODCACHE,
// or those of Hugo in the user's cache directory.
func (h *HugoSite) moduleCaches() (dirs []string) {
	if dir := lookupVariable(h.env, "GOMODCACHE"); dir != "" {
		return []string{dir}
	}
	user := lookupVariable(h.env, "XDG_CACHE_HOME")
	if dir, err := os.UserCacheDir(); user == "" && err == nil {
		user = dir
	}
	for _, cache := range []string{
		textOf(h.config["cachedir"]), filepath.Join(user, "hugo_cache"),
		filepath.Join(os.TempDir(), "hugo_cache_"+lookupVariable(h.env, "USER")), filepath.Join(os.TempDir(), "hugo_cache"),
	} {
		if filepath.IsAbs(cache) {
			dirs = append(dirs, filepath.Join(cache, "modules", "filecache", "modules", "pkg", "mod"))
		}
	}
	return dirs
}

// escapedModule returns a module path or version as the cache of modules spells it:
// with ! and a small letter for each capital one.
func escapedModule(name string) string {
	var b strings.Builder
	for _, c := range name {
		if 'A' <= c && c <= 'Z' {
			b.WriteByte('!')
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

// goMod is what a go.mod says about modules. A value of replace is a directory, or a
// module, a space and a version.
type goMod struct{ require, replace map[string]string }

var goModLine = text.Regexp(`(?m)^[ \t]*(?:(?:require|replace)[ \t]+)?([^\s()]+)(?:[ \t]+v[^\s]+)?[ \t]+(?:=>[ \t]+([^\s]+(?:[ \t]+v[^\s]+)?)|(v[^\s]+))[ \t]*(?://.*)?$`)

func readGoMod(dir string) goMod {
	m := goMod{map[string]string{}, map[string]string{}}
	text, _ := system.ReadFS(os.DirFS(dir), "go.mod", maxConfig) // without it, no module has a version
	for _, l := range goModLine().FindAllStringSubmatch(string(text), -1) {
		if l[2] != "" {
			m.replace[l[1]] = strings.Join(strings.Fields(l[2]), " ")
		} else {
			m.require[l[1]] = l[3]
		}
	}
	return m
}

// mountsOf reads the tables of [[module.mounts]].
func mountsOf(v any) (all []HugoMount) {
	list, _ := v.([]any)
	for _, v := range list[:min(len(list), maxMounts)] {
		of := lowered(tableOf(v))
		mt := HugoMount{textOf(of["source"]), path.Clean(slashed(textOf(of["target"]))), strings.ToLower(textOf(of["lang"]))}
		languages := textsOf(tableOf(tableOf(of["sites"])["matrix"])["languages"]) // in place of lang from 0.153 on
		if len(languages) == 1 && mt.Lang == "" {
			mt.Lang = strings.ToLower(languages[0])
		}
		if mt.Source != "" && mt.Target != "." {
			mt.Source = slashed(path.Clean(slashed(mt.Source)))
			all = append(all, mt)
		}
	}
	return all
}

// mergeModule copies from a module's configuration what the project asks for by
// _merge = "shallow" or "deep" in a table or in one above it. By default Hugo merges
// nothing that decides about addresses.
func mergeModule(into, from map[string]any, above string) {
	strategy := cmp.Or(textOf(into["_merge"]), above)
	for k, v := range from {
		old, ok := into[k]
		switch {
		case ok && tableOf(old) != nil && tableOf(v) != nil:
			mergeModule(tableOf(old), tableOf(v), strategy)
		case !ok && above != "shallow" && (strategy == "shallow" || strategy == "deep"):
			into[k] = v
		}
	}
}

// textsOf returns a value that is a string or a list of strings.
func textsOf(v any) (all []string) {
	if s := textOf(v); s != "" {
		return []string{s}
	}
	list, _ := v.([]any)
	for _, v := range list {
		if s := textOf(v); s != "" {
			all = append(all, s)
		}
	}
	return all
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func exists(dir, name string) bool {
	_, err := os.Stat(absolute(dir, name))
	return err == nil
}
