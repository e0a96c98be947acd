package source

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// languageDir is a directory that Hugo publishes a language to.
var languageDir = regexp.MustCompile(`^[a-z]{2,3}(-[a-z0-9]+)*$`)

// enterListed enters what Hugo told of pages under the keys that they have in
// the docroot. Where each language has a host of its own, a path is that of
// several pages, and each host is published to a directory that is named after
// its language: the docroot has them all, or is one of them.
func (m *Map) enterListed(pages []listed) {
	c := m.content
	byHost := map[string][]listed{}
	var hosts []string
	for _, p := range pages {
		if _, ok := byHost[p.host]; !ok {
			hosts = append(hosts, p.host)
		}
		byHost[p.host] = append(byHost[p.host], p)
	}
	dirs := map[string]string{}
	if len(hosts) > 1 {
		dirs = m.hostDirs(hosts, byHost)
	}
	for _, host := range hosts {
		dir, known := dirs[host]
		if len(hosts) > 1 && !known {
			continue
		}
		prefix := m.basePrefix(byHost[host], dir)
		for _, p := range byHost[host] {
			i, ok := c.byShown[p.file]
			if !ok {
				continue
			}
			if key, ok := strings.CutPrefix(p.path, prefix); ok {
				c.listed[strings.TrimSuffix(path.Join(dir, pageKey(key)), "/")] = i
			}
		}
	}
}

// maxProbes bounds how many pages are looked for to find a base path.
const maxProbes = 50

// basePrefix tells the path below which a host's pages are published, by what
// lies in a directory of the docroot: "/" or "/sub/".
func (m *Map) basePrefix(pages []listed, dir string) string {
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
			if m.published(path.Join(dir, pages[k].path[i+1:])) {
				n++
			}
		}
		if n > most {
			best, most = common[:i+1], n
		}
	}
	return best
}

// published tells whether the docroot has a page of that path.
func (m *Map) published(name string) bool {
	for _, file := range []string{path.Join(name, "index.html"), name, name + ".html"} {
		if info, err := fs.Stat(m.docroot, file); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// hostDirs returns the directory of each host in the docroot, "" for the one
// that the docroot itself is of. Hosts that have none are left out.
func (m *Map) hostDirs(hosts []string, byHost map[string][]listed) map[string]string {
	c := m.content
	language := map[string]string{}
	var silent []string // hosts whose files do not say their language
	for _, host := range hosts {
		votes, best := map[string]int{}, ""
		for _, p := range byHost[host] {
			if i, ok := c.byShown[p.file]; ok {
				if lang := c.files[i].language(); lang != "" {
					if votes[lang]++; votes[lang] > votes[best] {
						best = lang
					}
				}
			}
		}
		if language[host] = best; best == "" {
			silent = append(silent, host)
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
	here := strings.ToLower(path.Base(slashed(m.opt.Docroot)))
	var there []string // directories of languages in the docroot
	entries, _ := fs.ReadDir(m.docroot, ".")
	for _, e := range entries {
		if name := strings.ToLower(e.Name()); e.IsDir() && (languageDir.MatchString(name) || taken(name)) {
			there = append(there, name)
		}
	}
	all := slices.ContainsFunc(there, taken)
	if len(silent) == 1 { // the only language that is left
		free := slices.DeleteFunc(slices.Clone(there), taken)
		switch {
		case all && len(free) == 1:
			language[silent[0]] = free[0]
		case !all && !taken(here) && languageDir.MatchString(here):
			language[silent[0]] = here
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

// language is what the file's directory or name says of its language, lower
// case; "" for nothing.
func (f *contentFile) language() string {
	if f.dir.lang != "" {
		return strings.ToLower(f.dir.lang)
	}
	if l := languageSuffix.FindStringSubmatch(strings.TrimSuffix(f.name, path.Ext(f.name))); l != nil {
		return strings.ToLower(l[2])
	}
	return ""
}
