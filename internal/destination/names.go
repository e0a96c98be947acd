package destination

import (
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/source"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Names finds content files by the names that authors write in links: in arguments of
// ref and relref, and in paths such as ../b.md that a generator resolves. Its methods
// return indexes of the list of content files that it was made of.
type Names struct {
	files     []source.ContentFile
	byName    map[string][]int32 // by the path below the directory of content
	byLogical map[string][]int32 // see Logical
	byLast    map[string][]int32 // by the last name of the logical path
}

// NewNames returns the Names of content files.
func NewNames(files []source.ContentFile) *Names {
	n := &Names{files, map[string][]int32{}, map[string][]int32{}, map[string][]int32{}}
	for i := range files {
		name := files[i].Name
		n.byName[name] = append(n.byName[name], int32(i))
		logical := Logical(name, files[i].Language)
		n.byLogical[logical] = append(n.byLogical[logical], int32(i))
		last := path.Base(logical)
		n.byLast[last] = append(n.byLast[last], int32(i))
	}
	return n
}

// Logical returns the path that Hugo gives the page of a content file, without a
// slash in front: Posts/My Trip/index.de.md in the language de is posts/my-trip.
func Logical(name, language string) string {
	return strings.ReplaceAll(stem(strings.ToLower(name), language), " ", "-")
}

// stem is the logical path as it is written.
func stem(name, language string) string {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	if IsContent(name) {
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	if language != "" {
		name = strings.TrimSuffix(name, "."+language)
	}
	if isIndex(name) {
		name = strings.TrimSuffix(strings.TrimSuffix(name, path.Base(name)), "/")
	}
	return name
}

func isIndex(name string) bool { return path.Base(name) == "index" || path.Base(name) == "_index" }

// IsContent reports whether a name is that of a file in which authors write a page.
func IsContent(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".html", ".htm", ".org", ".adoc", ".rst", ".pdc":
		return true
	}
	return generator.IsMarkdown(name)
}

// Ref returns the files that an argument of ref names in the file from, as Hugo looks for
// them: from the directory of that file, for the index.md of a bundle also from the
// directory above; from the directory of content; or by the last name alone. from is
// relative to its directory of content.
func (n *Names) Ref(from, language, ref string) []int32 {
	found, _ := n.ref(from, language, ref)
	return found
}

// Naming is how a value names a file.
type Naming uint8

// The ways to name a file.
const (
	FromFile Naming = iota // from the directory of the file that has it
	FromRoot               // from the directory of content
	ByName                 // by the last name, which is looked for everywhere
)

func (n *Names) ref(from, language, ref string) ([]int32, Naming) {
	dirs := []string{path.Dir(from)}
	if strings.HasPrefix(path.Base(from), "index.") {
		dirs = append(dirs, path.Dir(dirs[0]))
	}
	if dirs = append(dirs, ""); strings.HasPrefix(ref, "/") {
		dirs = dirs[len(dirs)-1:]
	}
	elsewhere := func(i int32) bool {
		return language != "" && n.files[i].Language != "" && n.files[i].Language != language
	}
	for i, dir := range dirs {
		naming := FromFile
		if i == len(dirs)-1 && path.Dir(from) != "." {
			naming = FromRoot
		}
		name := strings.TrimPrefix(path.Join("/", dir, ref), "/")
		for _, found := range [][]int32{n.byName[name], n.byLogical[Logical(name, language)]} {
			if found = slices.DeleteFunc(slices.Clone(found), elsewhere); len(found) > 0 {
				return found, naming
			}
		}
	}
	if strings.Contains(strings.TrimSuffix(ref, "/"), "/") {
		return nil, ByName
	}
	return slices.DeleteFunc(slices.Clone(n.byLast[Logical(ref, language)]), elsewhere), ByName
}

// Find returns the file that a value in another file names, and how. ok is false if the
// value names no file, or several. Only an argument of ref may be a last name alone.
func (n *Names) Find(from source.ContentFile, value string, isRef bool) (file int32, naming Naming, ok bool) {
	found, naming := n.ref(from.Name, from.Language, value)
	found = n.InLanguage(from.Language, found)
	if len(found) == 0 || naming == ByName && !isRef {
		return 0, naming, false
	}
	for _, other := range found[1:] {
		if n.logical(other) != n.logical(found[0]) {
			return 0, naming, false
		}
	}
	return found[0], naming, true
}

func (n *Names) logical(file int32) string {
	return Logical(n.files[file].Name, n.files[file].Language)
}

// Refer returns the value that names a file in place of old, or "". It is old itself if
// that names the file. Otherwise it has the form of old, with its suffix, language and
// slashes. For the file posts/b.md, ../posts/a.md becomes ../posts/b.md, /posts/a becomes
// /posts/b, and as an argument of ref, a becomes b, or ../posts/b if another page has this
// name.
func (n *Names) Refer(from source.ContentFile, old string, file int32, naming Naming, isRef bool) string {
	name := n.like(old, file)
	relative := weburl.Relative("/"+path.Dir(from.Name)+"/", "/"+name)
	if strings.HasPrefix(old, "./") && !strings.HasPrefix(relative, ".") {
		relative = "./" + relative
	}
	forms := []string{old, relative, "/" + name}
	switch {
	case strings.HasPrefix(old, "/"):
		forms = []string{old, "/" + name}
	case naming == FromRoot:
		forms = []string{old, name, "/" + name}
	case naming == ByName:
		forms = []string{old, path.Base(name), "/" + name}
	case isRef && !strings.Contains(old, "/"):
		forms = []string{old, path.Base(name), relative, "/" + name}
	}
	for _, value := range forms {
		if found, now, ok := n.Find(from, value, isRef); ok && n.logical(found) == n.logical(file) && (isRef || now == naming) {
			return value
		}
	}
	return ""
}

// like returns the path of a file below the directory of content, in the way in which old
// is written: with or without suffix, language, index and a slash at its end.
func (n *Names) like(old string, file int32) string {
	name, language := n.files[file].Name, n.files[file].Language
	if !generator.IsMarkdown(old) && IsContent(name) && (path.Ext(old) == "" || path.Ext(old) != path.Ext(name)) {
		name = stem(name, language)
		if isIndex(old) {
			name = path.Join(name, path.Base(old))
		}
		if strings.HasSuffix(old, "/") {
			name += "/"
		}
		return name
	}
	ext := path.Ext(name)
	if bare, ok := strings.CutSuffix(strings.TrimSuffix(name, ext), "."+language); ok && language != "" && !strings.HasSuffix(strings.TrimSuffix(old, path.Ext(old)), "."+language) {
		return bare + ext
	}
	return name
}

// Path returns the files that a path in a link names.
func (n *Names) Path(from, name string) []int32 {
	if rest, ok := strings.CutPrefix(name, "@/"); ok { // as Zola writes it
		return n.byName[rest]
	}
	if strings.HasPrefix(name, "/") {
		name = strings.TrimPrefix(path.Clean(name), "/")
		if found := n.byName[name]; len(found) > 0 {
			return found
		}
		return n.byName[strings.TrimPrefix(name, "content/")]
	}
	return n.byName[strings.TrimPrefix(path.Join("/", path.Dir(from), name), "/")]
}

// InLanguage leaves out files of other languages, if there are several. A file stands for
// all that come later with the same name, as one of the project does for those of a theme.
func (n *Names) InLanguage(language string, files []int32) []int32 {
	if len(files) < 2 {
		return files
	}
	var same []int32
	for _, i := range files {
		if n.files[i].Language == language {
			same = append(same, i)
		}
	}
	if len(same) > 0 {
		files = same
	}
	if name := n.files[files[0]].Name; !slices.ContainsFunc(files, func(i int32) bool { return n.files[i].Name != name }) {
		return files[:1]
	}
	return files
}
