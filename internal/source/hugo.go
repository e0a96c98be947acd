package source

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/text"
)

// listedPage is a page as the generator lists it.
type listedPage struct {
	file       string // as displayed
	host, path string // of its permalink, the path decoded
}

// inProject returns the path of a file relative to the project; ok is false if it
// is outside. Hugo prints absolute paths without symbolic links.
func (src *sources) inProject(file string) (name string, ok bool) {
	if file = path.Clean(slashed(file)); !isAbsolute(file) {
		return file, true
	}
	for _, project := range []string{slashed(src.opt.Project), resolved(src.opt.Project)} {
		if file == project {
			return ".", true
		}
		if name, ok := strings.CutPrefix(file, strings.TrimSuffix(project, "/")+"/"); ok {
			return name, true
		}
	}
	return file, false
}

// mount is a directory that Hugo mounts into its file tree.
type mount struct {
	dir    sourceDir
	target string
}

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
// are read through the project, others only with outside: if Hugo has named them.
func (src *sources) openMounts(modules []generator.HugoModule, outside bool) {
	for _, module := range modules {
		for _, mt := range module.Mounts {
			source := slashed(mt.Source)
			if !isAbsolute(source) {
				source = path.Join(slashed(module.Dir), source)
			}
			name, inside := src.inProject(source)
			dir := sourceDir{fsys: src.project, dir: name, lang: mt.Lang, module: moduleName(module.Path)}
			if !inside {
				if !outside {
					continue
				}
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

// resolved returns the name of a directory without symbolic links, as Hugo
// prints it.
func resolved(dir string) string {
	if name, err := filepath.EvalSymlinks(dir); err == nil {
		dir = name
	}
	return slashed(dir)
}

func slashed(name string) string { return strings.ReplaceAll(name, `\`, "/") }

func isAbsolute(name string) bool {
	return strings.HasPrefix(name, "/") || len(name) > 2 && name[1] == ':' && name[2] == '/'
}

// languageDir matches the name of a directory that Hugo publishes a language
// to.
var languageDir = text.Regexp(`^[a-z]{2,3}(-[a-z0-9]+)*$`)

// addListed adds pages of the generator's list under the keys that they have in
// the docroot. If each language has its own host, several pages have the same
// path, and Hugo publishes each host to a directory named after its language:
// the docroot contains these directories or is one of them.
func (src *sources) addListed(pages []listedPage) {
	c := src.content
	byHost := map[string][]listedPage{}
	var hosts []string
	for _, p := range pages {
		if _, ok := byHost[p.host]; !ok {
			hosts = append(hosts, p.host)
		}
		byHost[p.host] = append(byHost[p.host], p)
	}
	dirs := map[string]string{}
	if len(hosts) > 1 {
		dirs = src.hostDirs(hosts, byHost)
	}
	for _, host := range hosts {
		dir, known := dirs[host]
		if len(hosts) > 1 && !known {
			continue
		}
		prefix := src.basePrefix(byHost[host], dir)
		for _, p := range byHost[host] {
			i, ok := c.byDisplay[p.file]
			if !ok {
				continue
			}
			if key, ok := strings.CutPrefix(p.path, prefix); ok {
				key = strings.TrimSuffix(path.Join(dir, PageKey(key)), "/")
				c.listed[key] = i
				if f := &c.files[i]; !f.isListed || key < f.page { // a content adapter makes several
					f.page, f.isListed = key, true
				}
			}
		}
	}
}

// maxProbes is how many pages basePrefix looks for.
const maxProbes = 50

// basePrefix returns the path at which a host's pages are published, such as
// "/" or "/sub/": the one for which the most pages exist in a directory of the
// docroot.
func (src *sources) basePrefix(pages []listedPage, dir string) string {
	common := pages[0].path
	for _, p := range pages {
		for !strings.HasPrefix(p.path, common) {
			common = common[:strings.LastIndexByte(strings.TrimSuffix(common, "/"), '/')+1]
		}
	}
	best, most := "/", 0
	for i, c := range []byte(common) {
		if c != '/' {
			continue
		}
		n := 0
		for k := 0; k < len(pages); k += 1 + len(pages)/maxProbes {
			if published(src.docroot, path.Join(dir, pages[k].path[i+1:])) {
				n++
			}
		}
		if n > most {
			best, most = common[:i+1], n
		}
	}
	return best
}

// published reports whether the docroot has a page with that path.
func published(docroot fs.FS, name string) bool {
	for _, file := range []string{path.Join(name, "index.html"), name, name + ".html"} {
		if info, err := fs.Stat(docroot, file); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// hostDirs returns the directory of each host in the docroot, "" for a host
// whose directory is the docroot itself. Hosts without a directory are left
// out.
func (src *sources) hostDirs(hosts []string, byHost map[string][]listedPage) map[string]string {
	c := src.content
	language := map[string]string{}
	var unknown []string // hosts whose language the files do not show
	for _, host := range hosts {
		votes, best := map[string]int{}, ""
		for _, p := range byHost[host] {
			if i, ok := c.byDisplay[p.file]; ok {
				if lang := c.files[i].language(); lang != "" {
					if votes[lang]++; votes[lang] > votes[best] {
						best = lang
					}
				}
			}
		}
		if language[host] = best; best == "" {
			unknown = append(unknown, host)
		}
	}
	taken := func(lang string) bool {
		for _, l := range language {
			if l == lang {
				return true
			}
		}
		return false
	}
	here := strings.ToLower(path.Base(slashed(src.opt.Docroot)))
	var there []string // language directories in the docroot
	entries, _ := fs.ReadDir(src.docroot, ".")
	for _, e := range entries {
		if name := strings.ToLower(e.Name()); e.IsDir() && (languageDir().MatchString(name) || taken(name)) {
			there = append(there, name)
		}
	}
	all := slices.ContainsFunc(there, taken)
	if len(unknown) == 1 { // it has the remaining language
		free := slices.DeleteFunc(slices.Clone(there), taken)
		switch {
		case all && len(free) == 1:
			language[unknown[0]] = free[0]
		case !all && !taken(here) && languageDir().MatchString(here):
			language[unknown[0]] = here
		}
	}
	dirs := map[string]string{}
	for host, lang := range language {
		switch {
		case lang == "":
		case all && slices.Contains(there, lang):
			dirs[host] = lang
		case !all && lang == here:
			dirs[host] = ""
		}
	}
	return dirs
}

// language returns the language in the file's directory or name, in lower case,
// "" for none.
func (f *contentFile) language() string {
	if f.dir.lang != "" {
		return strings.ToLower(f.dir.lang)
	}
	if l := languageSuffix().FindStringSubmatch(strings.TrimSuffix(f.name, path.Ext(f.name))); l != nil {
		return strings.ToLower(l[2])
	}
	return ""
}
