package source

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// What the configuration of Hugo says of directories, read line by line in any
// of its languages, for when Hugo itself cannot be asked.
var (
	contentDirKey = regexp.MustCompile(`(?mi)^\s*(?:-\s*)?["']?contentDir["']?\s*[:=]\s*["']?([^"'\n,#]+)`)
	languageKey   = regexp.MustCompile(`(?mi)^\s*(?:\[(?:languages\.)?|["']?)([a-z]{2,3}(?:-[a-z0-9]+)*)["']?(?:\]|\s*:\s*\{?)\s*$`)
	mountKey      = regexp.MustCompile(`(?i)["']?\b(source|target)["']?\s*[:=]\s*(?:"([^"\n]*)"|'([^'\n]*)'|([^"'\s,}]+))`)
)

// maxMountGap is how far the source and the target of a mount may be apart.
const maxMountGap = 300

// hugoContentDirs returns the directories of content as the configuration
// files tell them, with their languages as far as these are named before them.
func (m *Map) hugoContentDirs() (dirs []sourceDir) {
	add := func(dir, lang string) {
		dir = path.Clean(strings.TrimSpace(dir))
		if dir != "." && !isAbsolute(dir) && !strings.HasPrefix(dir, "..") {
			dirs = append(dirs, sourceDir{fsys: m.project, dir: dir, lang: lang})
		}
	}
	for _, name := range m.configFiles() {
		text, err := readFile(m.project, name, 1<<20)
		if err != nil {
			continue
		}
		for _, d := range contentDirKey.FindAllSubmatchIndex(text, -1) {
			lang := ""
			for _, l := range languageKey.FindAllSubmatch(text[:d[0]], -1) {
				lang = string(l[1])
			}
			add(string(text[d[2]:d[3]]), lang)
		}
	}
	for _, mt := range m.configMounts() {
		if mt.target == "content" || strings.HasPrefix(mt.target, "content/") {
			add(mt.dir.dir, "")
		}
	}
	slices.SortStableFunc(dirs, func(a, b sourceDir) int { return strings.Compare(a.dir, b.dir) })
	dirs = slices.CompactFunc(dirs, func(a, b sourceDir) bool { return a.dir == b.dir })
	// A directory within another would be indexed twice: the deeper one wins,
	// it knows the language.
	if !slices.ContainsFunc(dirs, func(d sourceDir) bool { return d.dir == "content" || strings.HasPrefix(d.dir, "content/") }) {
		add("content", "")
	}
	return dirs
}

// configMounts returns the mounts of the project's own directories as the
// configuration files tell them.
func (m *Map) configMounts() (mounts []mount) {
	for _, name := range m.configFiles() {
		text, err := readFile(m.project, name, 1<<20)
		if err != nil {
			continue
		}
		at, last := -1, map[string]string{}
		for _, k := range mountKey.FindAllSubmatchIndex(text, -1) {
			if at >= 0 && k[0]-at > maxMountGap {
				clear(last)
			}
			at = k[1]
			value := ""
			for g := 4; g < len(k); g += 2 {
				if k[g] >= 0 {
					value = string(text[k[g]:k[g+1]])
				}
			}
			last[strings.ToLower(string(text[k[2]:k[3]]))] = path.Clean(value)
			source, target := last["source"], last["target"]
			if source == "" || target == "" {
				continue
			}
			clear(last)
			if source != "." && !isAbsolute(source) && !strings.HasPrefix(source, "..") {
				mounts = append(mounts, mount{dir: sourceDir{fsys: m.project, dir: source}, target: target, module: "project"})
			}
		}
	}
	return mounts
}
