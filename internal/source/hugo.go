package source

import (
	"context"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/generator"
)

// listed is a page as Hugo knows it.
type listed struct {
	file string // as shown
	path string // of its permalink, decoded
}

// mount is a directory that Hugo puts into its tree of files.
type mount struct {
	dir          sourceDir
	target, lang string
	// module is the path of the module, "project" for the site itself.
	module string
}

// askHugo asks for the mounts and pages of the project. Hugo's network is off:
// modules that are not there are not fetched for the sake of a report.
func (m *Map) askHugo(ctx context.Context) ([]listed, error) {
	defer generator.TidyHugo(m.opt.Project)()
	out, err := m.runHugo(ctx, "config", "mounts")
	if err != nil {
		return nil, err
	}
	mounts, err := m.readMounts(out)
	if err != nil {
		return nil, err
	}
	out, err = m.runHugo(ctx, "list", "all")
	if err != nil {
		return nil, err
	}
	pages, err := m.readList(out)
	if err != nil {
		return nil, err
	}
	m.mounts = mounts
	return pages, nil
}

func (m *Map) runHugo(ctx context.Context, args ...string) ([]byte, error) {
	run := generator.Runner{Programs: map[string]string{"hugo": m.opt.Hugo}, Env: m.opt.Env, Timeout: m.opt.Timeout}
	return run.Output(ctx, m.opt.Project, "hugo", args...)
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

// readList takes the pages of `hugo list all`, with files as they are shown.
func (m *Map) readList(out []byte) (pages []listed, err error) {
	all, err := generator.ReadHugoList(out)
	for _, p := range all {
		file := p.File
		if isAbsolute(file) {
			for _, project := range []string{slashed(m.opt.Project), resolved(m.opt.Project)} {
				if rel, ok := strings.CutPrefix(file, strings.TrimSuffix(project, "/")+"/"); ok {
					file = rel
					break
				}
			}
		}
		pages = append(pages, listed{file, p.Permalink.Path})
	}
	return pages, err
}

var contentDirKey = regexp.MustCompile(`(?mi)^\s*"?contentDir"?\s*[:=]\s*["']?([^"'\n,#]+)`)

// hugoContentDirs returns the directories of content as the configuration
// files tell them, for when Hugo cannot be asked.
func (m *Map) hugoContentDirs() []string {
	var dirs []string
	for _, name := range m.configFiles() {
		text, err := readFile(m.project, name, 1<<20)
		if err != nil {
			continue
		}
		for _, d := range contentDirKey.FindAllSubmatch(text, -1) {
			if dir := path.Clean(strings.TrimSpace(string(d[1]))); dir != "." && !isAbsolute(dir) && !strings.HasPrefix(dir, "..") {
				dirs = append(dirs, dir)
			}
		}
	}
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	// A directory within another would be indexed twice: the deeper one wins,
	// it knows the language.
	if !slices.ContainsFunc(dirs, func(d string) bool { return d == "content" || strings.HasPrefix(d, "content/") }) {
		dirs = append(dirs, "content")
	}
	return dirs
}
