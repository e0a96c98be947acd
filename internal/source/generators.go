package source

import (
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// roots are the directories that generators other than Hugo publish without
// their name; the first that fits is taken off.
var roots = map[Generator][]string{
	Jekyll:     {"_pages", "_drafts"},
	Eleventy:   {"src", "content", "input", "site"},
	Zola:       {"content"},
	MkDocs:     {"docs"},
	Astro:      {"src/content/docs", "src/content/pages", "src/content", "src/pages"},
	Docusaurus: {"src/pages", "docs", "i18n"},
	Plain:      {"content", "docs", "src", "posts", "pages"},
}

var (
	dateParts     = regexp.MustCompile(`^(\d{4})-(\d{1,2})-(\d{1,2})-(.+)$`)
	versionedDocs = regexp.MustCompile(`^versioned_docs/version-([^/]+)/(.*)$`)
	translated    = regexp.MustCompile(`^i18n/([^/]+)/docusaurus-plugin-content-(docs|blog|pages)/(?:current/|version-([^/]+)/)?(.*)$`)
)

// generatorKeys returns the keys that a generator may give to the page of a
// content file, beside the key that its name is.
func generatorKeys(g Generator, key string) (keys []string) {
	add := func(key string) {
		dir, last := path.Split(key)
		if d := dateParts.FindStringSubmatch(last); d != nil {
			keys = append(keys, dir+strings.Join(d[1:], "/"), dir+d[4])
		}
		keys = append(keys, key)
	}
	switch g {
	case None, Hugo:
		return nil
	case Jekyll:
		if before, after, ok := cutSegment(key, "_posts"); ok {
			add(path.Join(before, after))
		}
		if strings.HasPrefix(key, "_") {
			add(key[1:]) // a collection
		}
	case Docusaurus:
		if v := versionedDocs.FindStringSubmatch(key); v != nil {
			add(path.Join("docs", v[1], v[2]))
			add(path.Join("docs", v[2])) // the newest one
		}
		if l := translated.FindStringSubmatch(key); l != nil {
			kind := strings.TrimPrefix(l[2], "pages")
			add(path.Join(l[1], kind, l[3], l[4]))
		}
	}
	for _, root := range roots[g] {
		if rest, ok := strings.CutPrefix(key, root+"/"); ok {
			add(rest)
			break
		}
		if key == root { // its index
			add("")
			break
		}
	}
	for _, k := range append([]string{key}, keys...) {
		if plain := withoutOrder(k); plain != k {
			add(plain)
		}
	}
	return keys
}

// cutSegment cuts a path at a directory of that name.
func cutSegment(p, name string) (before, after string, ok bool) {
	if rest, ok := strings.CutPrefix(p, name+"/"); ok {
		return "", rest, true
	}
	return strings.Cut(p, "/"+name+"/")
}

// withoutOrder takes the numbers off that sort directories and files.
func withoutOrder(key string) string {
	parts := strings.Split(key, "/")
	for i, part := range parts {
		if n := orderPrefix.FindStringSubmatch(part); n != nil && !dateParts.MatchString(part) {
			parts[i] = n[1]
		}
	}
	return strings.Join(parts, "/")
}

// Bounds of the maps that generators leave on the disk.
const (
	maxMapFiles = 50_000
	maxMapFile  = 4 << 20
)

// leftMap reads the map of pages that a generator's last build left in the
// project: Docusaurus writes a JSON file for each page.
func (m *Map) leftMap() (pages []listed) {
	if m.opt.Generator != Docusaurus {
		return nil
	}
	n := 0
	fs.WalkDir(m.project, ".docusaurus", func(name string, d fs.DirEntry, err error) error {
		if n++; n > maxMapFiles {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() || path.Ext(name) != ".json" {
			return nil
		}
		text, err := readFile(m.project, name, maxMapFile)
		if err != nil {
			return nil
		}
		var page struct{ Source, Permalink string }
		if json.Unmarshal(text, &page) != nil {
			return nil // a list, or another shape
		}
		if file, ok := strings.CutPrefix(page.Source, "@site/"); ok && strings.HasPrefix(page.Permalink, "/") {
			pages = append(pages, listed{file: path.Clean(file), path: decode(page.Permalink)})
		}
		return nil
	})
	return pages
}
