package source

import (
	"os"
	"path"
	"strings"

	"github.com/sitelink/sitelink/internal/generator"
)

// mount is a directory that Hugo puts into its tree of files.
type mount struct {
	dir          sourceDir
	target, lang string
	// module is the path of the module, "project" for the site itself.
	module string
}

// name is the module's name for [Position]. Hugo names a module that a local
// directory stands in for by that directory.
func (mt *mount) name() string {
	switch {
	case mt.module == "project":
		return ""
	case strings.HasPrefix(mt.module, "."), isAbsolute(slashed(mt.module)):
		return path.Base(slashed(mt.module))
	}
	return mt.module
}

// readMounts opens what `hugo config mounts` names.
func (m *Map) readMounts(out []byte) (all []mount, err error) {
	modules, err := generator.ReadHugoMounts(out)
	for _, module := range modules {
		for _, mt := range module.Mounts {
			if dir, ok := m.mountDir(module.Dir, mt.Source); ok {
				all = append(all, mount{dir, slashed(mt.Target), mt.Lang, module.Path})
			}
		}
	}
	return all, err
}

// mountDir opens a mounted directory. One beneath the project is read through
// the project; another is a directory of its own. Directories that do not
// exist are left out.
func (m *Map) mountDir(module, source string) (sourceDir, bool) {
	abs := slashed(source)
	if !isAbsolute(abs) {
		abs = path.Join(slashed(module), abs)
	}
	abs = path.Clean(abs)
	for _, project := range []string{slashed(m.opt.Project), resolved(m.opt.Project)} {
		if abs == project {
			return sourceDir{fsys: m.project, dir: "."}, true
		}
		if rel, ok := strings.CutPrefix(abs, strings.TrimSuffix(project, "/")+"/"); ok {
			return sourceDir{fsys: m.project, dir: rel}, true
		}
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return sourceDir{}, false
	}
	m.close = append(m.close, root.Close)
	return sourceDir{fsys: root.FS(), dir: ".", prefix: abs}, true
}

// resolved is a directory's name without symbolic links: Hugo prints that.
func resolved(dir string) string {
	here, err := os.Open(dir)
	if err != nil {
		return slashed(dir)
	}
	defer here.Close()
	for range 40 {
		to, err := os.Readlink(dir)
		if err != nil {
			return slashed(dir)
		}
		if !isAbsolute(slashed(to)) {
			to = path.Join(path.Dir(slashed(dir)), slashed(to))
		}
		dir = to
	}
	return slashed(dir)
}

func slashed(name string) string { return strings.ReplaceAll(name, `\`, "/") }

func isAbsolute(name string) bool {
	return strings.HasPrefix(name, "/") || len(name) > 2 && name[1] == ':' && name[2] == '/'
}
