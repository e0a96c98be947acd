package generator

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/system"
)

// program returns the package of a registry that has the generator's program; ok is false
// if another registry has it, or none.
func (r *row) program(registry string) (pkg string, ok bool) {
	first, _, _ := strings.Cut(r.packages, " ")
	return strings.CutPrefix(first, registry+":")
}

// packageFiles are the files that name what a project depends on, by the registry. line
// matches a dependency, with NAME for the package. Without line, the file is a document,
// and its tables of dependencies count. Files of npm and RubyGems are beside the
// configuration. Files of Python may also be above it, up to the root of the repository.
var packageFiles = []struct{ registry, pattern, line string }{
	{"npm", "package.json", ""},
	{"gem", "Gemfile", `(?m)^\s*gem[\s(]+["']NAME["']`},
	{"gem", "Gemfile.lock", `(?m)^\s+NAME \(`},
	{"pip", "requirements*.txt", pythonLine}, {"pip", "requirements/*.txt", pythonLine}, {"pip", "docs/requirements*.txt", pythonLine},
	{"pip", "pyproject.toml", ""}, {"pip", "Pipfile", `(?m)^"?NAME"?\s*=`},
	{"pip", "uv.lock", `(?m)^name = "NAME"`}, {"pip", "poetry.lock", `(?m)^name = "NAME"`},
}

const pythonLine = `(?mi)^\s*NAME\s*(?:[\[=<>~!;@#]|$)`

// maxLock is the size above which a list of packages by lines is not read.
const maxLock = 4 << 20

// Depends returns the first of packages, such as "npm:astro gem:jekyll", that the project in
// dir depends on, and the file that says so, relative to dir; "" for none.
func Depends(dir, packages string) (pkg, file string) {
	for word := range strings.FieldsSeq(packages) {
		registry, name, _ := strings.Cut(word, ":")
		name, _, _ = strings.Cut(name, "[")
		above := upToRoot(dir)
		if registry != "pip" {
			above = above[:1]
		}
		for up, at := range above {
			tree := os.DirFS(at)
			for _, list := range packageFiles {
				if list.registry != registry {
					continue
				}
				limit := int64(maxLock)
				if list.line == "" {
					limit = maxConfig
				}
				found, _ := fs.Glob(tree, list.pattern) // the pattern is right
				for _, file := range found {
					text, err := system.ReadFS(tree, file, limit)
					if err == nil && lists(file, text, list.line, name) {
						return name, strings.Repeat("../", up) + file
					}
				}
			}
		}
	}
	return "", ""
}

// upToRoot returns dir and the directories above it up to the root of its repository; dir
// alone without one.
func upToRoot(dir string) (dirs []string) {
	for at := dir; ; at = filepath.Dir(at) {
		if dirs = append(dirs, at); exists(at, ".git") {
			return dirs
		}
		if at == filepath.Dir(at) {
			return dirs[:1]
		}
	}
}

// lists reports whether a file of packages names one, see [packageFiles].
func lists(file string, text []byte, line, name string) bool {
	if line != "" {
		return regexp.MustCompile(strings.Replace(line, "NAME", regexp.QuoteMeta(name), 1)).Match(text)
	}
	d, err := ParseDocument(filepath.Ext(file), text)
	if err != nil {
		return false
	}
	requirement := regexp.MustCompile(strings.Replace(pythonLine, "NAME", regexp.QuoteMeta(name), 1))
	var within func(v any, inside bool) bool
	within = func(v any, inside bool) bool {
		switch v := v.(type) {
		case string:
			return inside && requirement.MatchString(v)
		case []any:
			for _, v := range v {
				if within(v, inside) {
					return true
				}
			}
		case map[string]any:
			for key, v := range v {
				_, text := v.(string)
				if inside && key == name || (!inside || !text) && within(v, inside || strings.Contains(key, "dependenc")) {
					return true
				}
			}
		}
		return false
	}
	return within(d, false)
}

// Workspaces returns the directories of the packages of a monorepo, as slash paths
// relative to dir: those that pnpm-workspace.yaml or package.json lists.
func Workspaces(dir string) (dirs []string) {
	p, tree := Project{Dir: dir}, os.DirFS(dir)
	pnpm, _ := readDocument(p, "pnpm-workspace.yaml") // what cannot be read lists nothing
	npm, _ := readDocument(p, "package.json")
	globs := append(textsOf(pnpm["packages"]), textsOf(npm["workspaces"])...)
	globs = append(globs, textsOf(tableOf(npm["workspaces"])["packages"])...)
	for _, glob := range globs {
		not, excluded := strings.CutPrefix(glob, "!")
		// Packages are in a directory of packages, not deeper.
		found, _ := fs.Glob(tree, strings.ReplaceAll(path.Clean(not), "**", "*"))
		for _, name := range found {
			if at := slices.Index(dirs, name); at >= 0 && excluded {
				dirs = slices.Delete(dirs, at, at+1)
			} else if at < 0 && !excluded && len(dirs) < maxModules && isDir(absolute(dir, name)) && !strings.Contains(name, "node_modules") {
				dirs = append(dirs, name)
			}
		}
	}
	return dirs
}
