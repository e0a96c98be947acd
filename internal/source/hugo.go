package source

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/system"
)

// moduleName returns the name for Position.Module of a module that Hugo lists. If a
// local directory replaces a module, Hugo names it by that directory.
func moduleName(module string) string {
	switch {
	case module == "project":
		return ""
	case strings.HasPrefix(module, "."), isAbsolute(slashed(module)):
		return path.Base(slashed(module))
	}
	return module
}

// openMounts opens the directories that Hugo mounts. Directories below the project
// are read through the project.
func (src *index) openMounts(modules []generator.HugoModule) {
	for _, module := range modules {
		for _, mt := range module.Mounts {
			source := slashed(mt.Source)
			if !isAbsolute(source) {
				source = path.Join(slashed(module.Dir), source)
			}
			name, inside := src.inProject(source)
			dir := sourceDir{fsys: src.project, dir: name, lang: mt.Lang, module: moduleName(module.Path)}
			if !inside {
				root, err := os.OpenRoot(name)
				if err != nil {
					continue // Hugo mounts what exists
				}
				src.close = append(src.close, root.Close)
				dir.fsys, dir.dir, dir.prefix = root.FS(), ".", name
			}
			src.mounts = append(src.mounts, mount{dir, slashed(mt.Target)})
		}
	}
}

// addHugoPages gives the content files the keys of the pages that Hugo makes of them. If
// each language has its own host, Hugo publishes each to a directory named after it: the
// docroot contains these directories or is one of them.
func (src *index) addHugoPages(hugo *generator.HugoSite) {
	c := src.content
	files := make([]generator.HugoFile, len(c.files))
	for i := range c.files {
		f := &c.files[i]
		files[i] = generator.HugoFile{Name: f.inTree(), Lang: strings.ToLower(f.dir.lang), Read: func() []byte {
			text, _ := system.ReadFS(f.dir.fsys, f.name, maxContentFile)
			return text
		}}
	}
	below := "" // the docroot in what Hugo publishes
	for _, root := range hugo.Roots {
		if _, err := fs.Stat(src.docroot, root.Dir); root.Dir != "" && err != nil && strings.EqualFold(path.Base(slashed(src.opt.Docroot)), root.Dir) {
			below = root.Dir + "/"
		}
	}
	for i, page := range hugo.Pages(files) {
		f := &c.files[i]
		at, ok := strings.CutPrefix(page.Path, below)
		switch {
		case !page.Known:
			c.add(i, src.opt.Generator)
		case ok && (page.Made || page.Path != ""):
			f.key, f.path, f.isListed = PageKey(at), at, page.Made
			f.page = f.key
			c.enter(i, []string{f.key}, nil)
		}
	}
	c.matter = func() map[string][]int { return nil } // all of it is known
}

// inProject returns the path of a file relative to the project; ok is false if it
// is outside. Hugo prints absolute paths without symbolic links.
func (src *index) inProject(file string) (name string, ok bool) {
	if file = path.Clean(slashed(file)); !isAbsolute(file) {
		return file, true
	}
	linked, _ := filepath.EvalSymlinks(src.opt.Project)
	for _, project := range []string{slashed(src.opt.Project), slashed(cmp.Or(linked, src.opt.Project))} {
		if file == project {
			return ".", true
		}
		if name, ok := strings.CutPrefix(file, strings.TrimSuffix(project, "/")+"/"); ok {
			return name, true
		}
	}
	return file, false
}
