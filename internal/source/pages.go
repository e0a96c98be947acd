package source

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source/read"
)

// ContentFile is a file in which an author writes a page.
type ContentFile struct {
	// File is its name, as in [Position].
	File string
	// Name is its path below its directory of content. Language is its language in
	// lower case, "" if neither its name nor its directory says one.
	Name, Language string
	// Module is the theme or module that the file belongs to, "" for the project.
	Module string
	// Page is the key of its page, see [PageKey]: what the generator says if Listed is
	// true, and otherwise what follows from the name.
	Page   string
	Listed bool
	// Path is that page in the docroot as Hugo writes it, post/a/ or post/a.html, if
	// Listed is true.
	Path string
}

// Content returns the content files of the project and of its modules.
func (src *index) Content() []ContentFile {
	all := make([]ContentFile, len(src.content.files))
	for i := range src.content.files {
		f := &src.content.files[i]
		all[i] = ContentFile{File: f.display, Name: strings.TrimPrefix(f.name, f.dir.dir+"/"), Language: f.language(), Module: f.dir.module, Page: f.page, Listed: f.isListed, Path: f.path}
	}
	return all
}

// Lines returns the text of a content file.
func (src *index) Lines(file string) read.Lines {
	return src.document(src.content.files[src.content.byDisplay[file]]).Lines
}

// StaticDirs returns the project's own directories of files that are published unchanged
// at the top of the docroot, without directories of modules.
func (src *index) StaticDirs() (dirs []string) {
	for _, d := range src.content.staticDirs {
		if d.under == "" && d.module == "" && d.prefix == "" {
			dirs = append(dirs, d.displayName(d.dir))
		}
	}
	return dirs
}

// PageFiles returns for each page of the site the index in Content of the file
// that it was made of. The index is -1 if no file made the page, or if the file
// is not certain. The errors are the cause of ctx, and a docroot that can no
// longer be read.
func (m *Map) PageFiles(ctx context.Context, s *site.Site) ([]int32, error) {
	r, err := m.useSite(s)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	all := make([]int32, s.Pages())
	for id := range all {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		all[id] = -1
		if !s.Page(site.PageID(id)).Kind().IsHTML() {
			continue
		}
		name := s.Path(site.PageID(id))
		switch found := m.content.makersOf(PageKey(name)); len(found) {
		case 0:
		case 1:
			all[id] = int32(found[0])
		default:
			if file, _ := m.OwnLinks(r, name); file != "" {
				all[id] = int32(m.content.byDisplay[file])
			}
		}
	}
	return all, nil
}

// OwnLink is a link of a page and the place in the page's content file where it
// is written.
type OwnLink struct {
	// At is the offset in the file of the position that findings name.
	At int
	// Raw is the value of the link on the page, Element the element that holds it.
	Raw, Element string
}

// OwnLinks returns the content file of a page and the links of the page that are
// written in it, sorted by their places in the file. The file is "" if the page
// was made of none, or of one that is not certain. r reads the site of the last
// call of PageFiles.
func (m *Map) OwnLinks(r *site.Reader, page string) (file string, links []OwnLink) {
	text := m.built(r, page)
	all := m.pageLinks(r, page, text)
	m.docs.clear() // the files may have changed
	doc := m.fileOf(page, text, findMarkers(text).file, all)
	if doc == nil {
		return "", nil
	}
	pairs, _ := align(doc.Links, m.addressesIn(doc, page), all)
	for i, p := range pairs {
		if p >= 0 {
			links = append(links, OwnLink{At: doc.Links[p].At, Raw: all[i].raw, Element: all[i].element})
		}
	}
	slices.SortStableFunc(links, func(a, b OwnLink) int { return a.At - b.At })
	return doc.file.display, links
}

// Static returns the file that the generator copies to a path of the docroot, or
// "".
func (src *index) Static(name string) (file string) {
	for _, dir := range src.content.staticDirs {
		file, ok := dir.copied(name)
		if !ok {
			continue
		}
		if info, err := fs.Stat(dir.fsys, file); err == nil && info.Mode().IsRegular() {
			return dir.displayName(file)
		}
	}
	return ""
}

// HasSource reports whether a page of the docroot is made of a content file. If the
// generator's rules do not give the addresses of all content, a file is enough that has
// a name or front matter like the last name of the page.
func (src *index) HasSource(name string) bool {
	c, key := src.content, PageKey(name)
	if len(c.listed) > 0 {
		return len(c.listed[key]) > 0
	}
	last := path.Base("/" + key)
	return len(c.makersOf(key)) > 0 || len(c.byLast[last]) > 0 || len(c.matter()[last]) > 0
}
