package source

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/site"
)
// ContentFile is a file in which an author writes a page.
type ContentFile struct {
	// File is its name, as in [Position].
	File string
	// Name is its path below its directory of content. Language is its language in
	// lower case, "" if neither its name nor its directory says one.
	Name, Language string
}

// Content returns the content files of the project and of its modules.
func (m *Map) Content() []ContentFile {
	all := make([]ContentFile, len(m.content.files))
	for i := range m.content.files {
		f := &m.content.files[i]
		name := f.name
		if f.dir.dir != "." {
			name = strings.TrimPrefix(name, f.dir.dir+"/")
		}
		all[i] = ContentFile{File: f.display, Name: name, Language: f.language()}
	}
	return all
}

// PageFiles returns for each page of the site the index in Content of the file
// that it was made of, -1 for a page that was made of none, or of one that is not
// certain. The errors are the cause of ctx, and a docroot that can no longer be
// read.
func (m *Map) PageFiles(ctx context.Context, s *site.Site) ([]int32, error) {
	m.useSite(s)
	r, err := s.NewReader()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	c := m.content
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
		key := pageKey(name)
		if i, ok := c.listed[key]; ok {
			all[id] = int32(i)
			continue
		}
		found := c.byKey[key]
		if len(found) == 0 {
			found = c.byPossibleKey[key]
		}
		if len(found) == 0 && key != "" {
			found = m.frontMatterKeys()["/"+key]
		}
		switch len(found) {
		case 0:
		case 1:
			all[id] = int32(found[0])
		default:
			if file, _ := m.OwnLinks(r, name); file != "" {
				all[id] = int32(c.byDisplay[file])
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
	text, err := readFile(m.docroot, page, maxSourcePage)
	if err != nil {
		return "", nil
	}
	text = site.WithoutBuildTimes(text)
	all := m.pageLinks(r, page, text)
	clear(m.docs) // the files may have changed
	doc, file := m.fileOf(page, text, findMarkers(text).file, all)
	if doc == nil {
		return "", nil
	}
	pairs, _ := align(doc.links, m.addressesIn(doc.links, file, page), all)
	for i, p := range pairs {
		if p >= 0 {
			links = append(links, OwnLink{At: doc.links[p].at, Raw: all[i].raw, Element: all[i].element})
		}
	}
	slices.SortStableFunc(links, func(a, b OwnLink) int { return a.At - b.At })
	return file, links
}

// Static returns the file that the generator copies to a path of the docroot, ""
// if there is none.
func (m *Map) Static(name string) (file string) {
	for _, dir := range m.content.staticDirs {
		file, ok := dir.copied(name)
		if !ok {
			continue
		}
		if info, err := fs.Stat(dir.fsys, file); err == nil && info.Mode().IsRegular() {
			return dir.displayName(file)
		}
	}
	return ""
