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
	mountKey      = regexp.MustCompile(`(?i)["']?\b(source|target)["']?\s*[:=]\s*(?:"([^"\n]*)"|'([^'\n]*)'|([^"'\s,}]+))`)
)

// maxMountGap is how far the source and the target of a mount may be apart.
const maxMountGap = 300

// hugoContentDirs returns the directories of content as the configuration
// files tell them.
func (m *Map) hugoContentDirs() []string {
	var dirs []string
	for _, name := range m.configFiles() {
		text, err := readFile(m.project, name, 1<<20)
		if err != nil {
			continue
		}
		for _, d := range contentDirKey.FindAllSubmatch(text, -1) {
			dirs = append(dirs, string(d[1]))
		}
		dirs = append(dirs, contentMounts(text)...)
	}
	for i, dir := range dirs {
		dirs[i] = path.Clean(strings.TrimSpace(dir))
	}
	dirs = slices.DeleteFunc(dirs, func(dir string) bool { return dir == "." || isAbsolute(dir) || strings.HasPrefix(dir, "..") })
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	// A directory within another would be indexed twice: the deeper one wins,
	// it knows the language.
	if !slices.ContainsFunc(dirs, func(d string) bool { return d == "content" || strings.HasPrefix(d, "content/") }) {
		dirs = append(dirs, "content")
	}
	return dirs
}

// contentMounts returns the sources of the mounts whose target is content or a
// directory in it.
func contentMounts(text []byte) (dirs []string) {
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
		last[strings.ToLower(string(text[k[2]:k[3]]))] = value
		source, target := last["source"], last["target"]
		if source == "" || target == "" {
			continue
		}
		if target == "content" || strings.HasPrefix(target, "content/") {
			dirs = append(dirs, source)
		}
		clear(last)
	}
	return dirs
}
