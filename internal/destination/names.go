package destination

import (
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/source"
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

// Logical returns the path by which Hugo knows the page of a content file, without a
// slash in front: Posts/My Trip/index.de.md in the language de is posts/my-trip.
func Logical(name, language string) string {
	name = strings.ToLower(strings.TrimPrefix(path.Clean("/"+name), "/"))
	if IsContent(name) {
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	if language != "" {
		name = strings.TrimSuffix(name, "."+language)
	}
	if base := path.Base(name); base == "index" || base == "_index" {
		name = strings.TrimSuffix(strings.TrimSuffix(name, base), "/")
	}
	return strings.ReplaceAll(name, " ", "-")
}

// IsContent reports whether a name is that of a file in which authors write a page.
func IsContent(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".html", ".htm", ".org", ".adoc", ".rst", ".pdc":
		return true
	}
	return generator.IsMarkdown(name)
}

// Ref returns the files that an argument of ref names, as Hugo does: from the directory
// of the file that has it, for the index.md of a bundle also from the one above; from the
// directory of content; or by its last name alone. from is the name of that file below its
// directory of content.
func (n *Names) Ref(from, language, ref string) []int32 {
	dirs := []string{path.Dir(from)}
	if strings.HasPrefix(path.Base(from), "index.") {
		dirs = append(dirs, path.Dir(dirs[0]))
	}
	if dirs = append(dirs, ""); strings.HasPrefix(ref, "/") {
		dirs = dirs[len(dirs)-1:]
	}
	for _, dir := range dirs {
		name := strings.TrimPrefix(path.Join("/", dir, ref), "/")
		if found := n.byName[name]; len(found) > 0 {
			return found
		}
		if found := n.byLogical[Logical(name, language)]; len(found) > 0 {
			return found
		}
	}
	if strings.Contains(strings.TrimSuffix(ref, "/"), "/") {
		return nil
	}
	return n.byLast[Logical(ref, language)]
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
