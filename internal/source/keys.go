package source

import (
	"path"
	"strings"

	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/text"
)

var (
	languageSuffix = text.Regexp(`^(.+)\.([a-z]{2,3}(?:-[a-zA-Z]{2,4})?)$`)
	datePrefix     = text.Regexp(`^\d{4}-\d{1,2}-\d{1,2}-(.+)$`)
	orderPrefix    = text.Regexp(`^\d{1,4}[-_.]\s*(.+)$`)
)

// NameKey returns the key of a page for the name of its content file without
// extension.
func NameKey(stem string) string {
	stem = strings.ReplaceAll(strings.ToLower(stem), " ", "-")
	dir, last := path.Split(stem)
	switch last {
	case "index", "_index", "readme":
		return strings.TrimSuffix(dir, "/")
	}
	return stem
}

// PageKey returns the docroot path of a page without the differences that hosts
// and settings make: index.html, .html, slashes, letter case. The key of the
// home page is "".
func PageKey(name string) string {
	name = strings.ToLower(strings.TrimPrefix(read.Decode(name), "/"))
	for _, suffix := range []string{".html", ".htm", ".xhtml", ".md"} {
		if rest, ok := strings.CutSuffix(name, suffix); ok {
			name = rest
			break
		}
	}
	if name == "index" {
		return ""
	}
	name = strings.TrimSuffix(name, "/index")
	return strings.ReplaceAll(strings.Trim(name, "/"), " ", "-")
}

var (
	dateParts     = text.Regexp(`^(\d{4})-(\d{1,2})-(\d{1,2})-(.+)$`)
	versionedDocs = text.Regexp(`^versioned_docs/version-([^/]+)/(.*)$`)
	translated    = text.Regexp(`^i18n/([^/]+)/docusaurus-plugin-content-(docs|blog|pages)/(?:current/|version-([^/]+)/)?(.*)$`)
)

// generatorKeys returns keys that a generator may give to the page of a content
// file, besides the one that follows from the file's name.
func generatorKeys(g Generator, key string) (keys []string) {
	add := func(key string) {
		dir, last := path.Split(key)
		if d := dateParts().FindStringSubmatch(last); d != nil {
			keys = append(keys, dir+strings.Join(d[1:], "/"), dir+d[4])
		}
		keys = append(keys, key)
	}
	t := g.Traits()
	switch {
	case g == None || t.Modules:
		return nil
	case t.Drafts != nil && t.Drafts.DatedDir != "":
		if before, after, ok := strings.Cut("/"+key, "/"+t.Drafts.DatedDir+"/"); ok {
			add(strings.TrimPrefix(before+"/"+after, "/"))
		}
		if strings.HasPrefix(key, "_") {
			add(key[1:]) // a collection
		}
	case t.Versions:
		if v := versionedDocs().FindStringSubmatch(key); v != nil {
			add(path.Join("docs", v[1], v[2]))
			add(path.Join("docs", v[2])) // the newest version
		}
		if l := translated().FindStringSubmatch(key); l != nil {
			kind := strings.TrimPrefix(l[2], "pages")
			add(path.Join(l[1], kind, l[3], l[4]))
		}
	}
	for _, root := range g.Content() { // the first that matches is removed
		if rest, ok := strings.CutPrefix(key, root+"/"); ok {
			add(rest)
			break
		}
		if key == root { // the index of that directory
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

// withoutOrder removes the numbers that sort directories and files.
func withoutOrder(key string) string {
	parts := strings.Split(key, "/")
	for i, part := range parts {
		if n := orderPrefix().FindStringSubmatch(part); n != nil && !dateParts().MatchString(part) {
			parts[i] = n[1]
		}
	}
	return strings.Join(parts, "/")
}

// inTemplates reports whether a file is in a directory of templates, for
// generators other than Hugo.
func inTemplates(name string) bool {
	if read.IsMarkdown(name) {
		return false
	}
	for dir := range strings.SplitSeq(path.Dir(name), "/") {
		switch dir {
		case "_includes", "_layouts", "includes", "layouts", "templates", "partials", "overrides", "components", "macros":
			return true
		}
	}
	return false
}

// stemOf returns the name of a file without directory and extension.
func stemOf(name string) string {
	name = path.Base(name)
	return strings.TrimSuffix(name, path.Ext(name))
}

// dashed returns a name with dashes around it and in place of everything but letters
// and digits. Example: v1.2 is -v1-2-.
func dashed(s string) string {
	return "-" + strings.Trim(notAlphanumeric().ReplaceAllString(strings.ToLower(s), "-"), "-") + "-"
}

var notAlphanumeric = text.Regexp(`[^\p{L}\p{N}]+`)

// urlize returns roughly what generators make of a title in an address.
func urlize(s string) string {
	return strings.Trim(nonWord().ReplaceAllString(strings.ToLower(s), "-"), "-")
}

var nonWord = text.Regexp(`[^\p{L}\p{N}_.]+`)
