package source

import (
	"bytes"
	"context"
	"html"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// fileOf returns the file that a page was made of, nil if there is none, or if there
// are several candidates and none is clearly the best. declared is the file that the
// page itself names.
func (m *Map) fileOf(name string, text []byte, declared string, links []pageLink) *document {
	c := m.content
	if declared != "" {
		if f, ok := c.named(declared); ok {
			return m.document(f)
		}
	}
	key := PageKey(name)
	if _, ok := c.listed[key]; !ok && len(c.byKey[key]) != 1 {
		if f, ok := c.editLink(links); ok {
			return m.document(f)
		}
	}
	found := c.makersOf(key)
	certain := len(found) > 0
	switch {
	case len(found) == 1:
		return m.document(c.files[found[0]])
	case !certain && key != "":
		last := path.Base(key)
		found = slices.Concat(c.byLast[last], c.matter()[last])
		slices.Sort(found)
		found = slices.Compact(found)
	}
	return m.bestFile(found, name, text, links, certain)
}

// maxCandidates is how many files are compared with a page.
const maxCandidates = 64

// bestFile returns the candidate whose links and name match the page best, none
// if two match equally well. If certain is set, the candidates have the key of
// the page.
func (m *Map) bestFile(found []int, name string, text []byte, links []pageLink, certain bool) *document {
	c := m.content
	if len(found) > maxCandidates {
		return nil
	}
	if !certain {
		// A single file that ends with the whole path of the page is enough.
		whole := slices.DeleteFunc(slices.Clone(found), func(i int) bool {
			return commonTail(c.files[i].key, PageKey(name)) <= strings.Count(PageKey(name), "/")
		})
		if len(whole) > 0 {
			found = whole
		}
	}
	language := ""
	if l := htmlLanguage().FindSubmatch(text[:min(len(text), 4096)]); l != nil {
		language = string(l[1])
	}
	best, bestScore, tie := -1, 0, false
	for _, i := range found {
		doc := m.document(c.files[i])
		_, pairs := align(doc.links, m.addresses(doc.links, name), links)
		common := commonTail(c.files[i].key, PageKey(name))
		if !certain && pairs == 0 && common < strings.Count(PageKey(name), "/")+1 {
			continue
		}
		score := 1 + 4*pairs + 3*common
		if l := languageSuffix().FindStringSubmatch(strings.TrimSuffix(c.files[i].name, path.Ext(c.files[i].name))); l != nil && strings.EqualFold(l[2], language) {
			score += 6
		}
		switch {
		case score > bestScore:
			best, bestScore, tie = i, score, false
		case score == bestScore:
			tie = true
		}
	}
	if best < 0 || tie {
		return nil
	}
	return m.document(c.files[best])
}

// commonTail counts the names at the end that two keys have in common.
func commonTail(a, b string) int {
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	n := 0
	for n < len(as) && n < len(bs) && as[len(as)-1-n] == bs[len(bs)-1-n] {
		n++
	}
	return n
}

var htmlLanguage = text.Regexp(`(?i)<html[^>]*\slang\s*=\s*["']?([a-zA-Z-]+)`)

// document returns a parsed content file. One that cannot be read has no text.
func (m *Map) document(f contentFile) *document {
	return m.docs.get(f.display, func() *document {
		text, _ := system.ReadFS(f.dir.fsys, f.name, maxContentFile)
		d := parseDocument(f.name, text, m.opt.Generator.Traits().Refs)
		if d.file = f; d.over {
			m.costly.get(f.display, func() bool { return true })
		}
		for _, it := range d.links {
			if it.isGuess && isContent(it.dest) {
				if other, ok := m.content.namedIn(f.display, it.dest); ok {
					d.included[other.display] = true
				}
			}
		}
		return d
	})
}

// frontMatterLine matches a line of front matter that may determine the page's
// address.
var frontMatterLine = text.Regexp(`(?m)^\s*"?(slug|url|permalink|title|path)"?\s*[:=]\s*(.+?),?\s*$`)

// maxFrontMatter is how many bytes of a file are searched for these lines.
const maxFrontMatter = 16 << 10

// readFrontMatter indexes the files by their front matter: by "/" and the key for a
// whole path, by the last name for a slug or a title.
func (c *contentIndex) readFrontMatter() map[string][]int {
	index := map[string][]int{}
	c.eachFrontMatter(func(i int, text []byte) {
		for _, l := range frontMatterLine().FindAllSubmatch(text[:min(len(text), maxFrontMatter)], -1) {
			value := strings.Trim(string(bytes.TrimSpace(l[2])), `"'`)
			switch string(l[1]) {
			case "url", "permalink", "path":
				key := "/" + PageKey(strings.TrimPrefix(value, "/"))
				index[key] = append(index[key], i)
			default:
				if key := urlize(value); key != "" {
					index[key] = append(index[key], i)
				}
			}
		}
	})
	return index
}

// eachFrontMatter calls f with the front matter of each content file that has some.
func (c *contentIndex) eachFrontMatter(f func(i int, text []byte)) {
	for i := range c.files {
		text, _ := system.ReadFS(c.files[i].dir.fsys, c.files[i].name, maxContentFile)
		if end := frontMatter(text); end > 0 {
			f(i, text[:end])
		}
	}
}

// urlize returns roughly what generators make of a title in an address.
func urlize(s string) string {
	return strings.Trim(nonWord().ReplaceAllString(strings.ToLower(s), "-"), "-")
}

var nonWord = text.Regexp(`[^\p{L}\p{N}_.]+`)

// editPath matches the address at which a forge edits or shows a file, such as
// /owner/name/edit/main/docs/a.md.
var editPath = text.Regexp(`^https?://[^/]+/.+?/(edit|_edit|blob|tree|src)/(?:branch/)?[^/]+/([^?#]+)`)

// editLink returns the content file that the "edit this page" link of a page
// names; ok is false if there is none, or if several name different files.
func (c *contentIndex) editLink(links []pageLink) (f contentFile, ok bool) {
	for i := range links {
		l := &links[i]
		parts := editPath().FindStringSubmatch(l.addr.exact)
		if l.element != "a" || parts == nil || !strings.Contains(parts[1], "edit") && !strings.Contains(l.label, "edit") {
			continue
		}
		// The project may be a subdirectory of the repository.
		for name := parts[2]; ; {
			if at, known := c.byDisplay[name]; known {
				if ok && f.display != c.files[at].display {
					return contentFile{}, false
				}
				f, ok = c.files[at], true
				break
			}
			_, rest, more := strings.Cut(name, "/")
			if !more {
				break
			}
			name = rest
		}
	}
	return f, ok
}

// markers are what a template can write into a page so that nothing must be
// guessed. <meta name="sitelink:source" content="content/post/a.md"> names the
// file of the page. <!-- sitelink:source content/post/a.md:12:7 --> gives the
// position of the next link or, without a line, the file of all links up to the
// next comment.
type markers struct {
	file     string
	comments []marker
}

type marker struct {
	at           int // offset at which the comment ends
	file         string
	line, column int // 0 if not given
}

var (
	markerWord     = []byte("sitelink:source")
	metaContent    = text.Regexp(`(?is)\bcontent\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)`)
	markerPosition = text.Regexp(`^(.+?)(?::(\d{1,9})(?::(\d{1,9}))?)?$`)
)

// findMarkers finds the markers of a page.
func findMarkers(text []byte) (m markers) {
	for i := 0; ; {
		n := bytes.Index(text[i:], markerWord)
		if n < 0 {
			return m
		}
		at := i + n
		i = at + len(markerWord)
		open := bytes.LastIndexByte(text[:at], '<')
		if open < 0 {
			continue
		}
		switch before := string(text[open:at]); {
		case strings.HasPrefix(before, "<!--") && strings.TrimSpace(before[4:]) == "":
			end := bytes.Index(text[i:], []byte("-->"))
			if end < 0 {
				continue
			}
			if p := markerPosition().FindStringSubmatch(strings.TrimSpace(html.UnescapeString(string(text[i : i+end])))); p != nil {
				c := marker{at: i + end + 3, file: cleanFileName(p[1])}
				c.line, _ = strconv.Atoi(p[2])
				c.column, _ = strconv.Atoi(p[3])
				m.comments = append(m.comments, c)
			}
		case strings.HasPrefix(strings.ToLower(before), "<meta") && m.file == "":
			end := bytes.IndexByte(text[i:], '>')
			if end < 0 {
				continue
			}
			if c := metaContent().FindSubmatch(text[open : i+end]); c != nil {
				m.file = cleanFileName(html.UnescapeString(strings.Trim(string(c[1]), `"'`)))
			}
		}
	}
}

// cleanFileName turns a file name as templates print it into a slash path.
func cleanFileName(name string) string {
	return path.Clean(strings.ReplaceAll(strings.TrimSpace(name), `\`, "/"))
}

// marked returns the position of a link according to the comment before it; ok
// is false if there is no such comment.
func (m *Map) marked(all markers, page string, links []pageLink, j int) (*Position, bool) {
	on := &links[j]
	var by *marker
	if i := sort.Search(len(all.comments), func(i int) bool { return int64(all.comments[i].at) > on.offset }); i > 0 {
		by = &all.comments[i-1]
	}
	if by == nil || by.line > 0 && j > 0 && links[j-1].offset >= int64(by.at) {
		return nil, false
	}
	f, ok := m.content.named(by.file)
	if !ok {
		return nil, false
	}
	doc := m.document(f)
	if by.line == 0 {
		at, _, ok := doc.onlyMatch(&on.addr, m.addresses(doc.links, page), m.frontMatterAddresses(doc, page))
		if !ok {
			return nil, false
		}
		return doc.position(at), true
	}
	// The marker has the position of the link. Look for the destination from
	// there.
	from, to, ok := doc.lines.span(by.line)
	if !ok {
		return nil, false
	}
	best := -1
	for _, it := range doc.links {
		src := m.address(it.dest, page)
		if it.order < from || it.order >= to || matchScore(&src, &on.addr) == noMatch {
			continue
		}
		_, column := doc.lines.at(it.order)
		if best < 0 || column <= by.column {
			best = it.at
		}
	}
	if best >= 0 {
		return doc.position(best), true
	}
	return f.position(by.line, max(1, by.column)), true
}

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
func (src *sources) Content() []ContentFile {
	all := make([]ContentFile, len(src.content.files))
	for i := range src.content.files {
		f := &src.content.files[i]
		all[i] = ContentFile{File: f.display, Name: strings.TrimPrefix(f.name, f.dir.dir+"/"), Language: f.language(), Module: f.dir.module, Page: f.page, Listed: f.isListed, Path: f.path}
	}
	return all
}

// StaticDirs returns the project's own directories whose files are published unchanged at
// the top of the docroot, without those of modules.
func (src *sources) StaticDirs() (dirs []string) {
	for _, d := range src.content.staticDirs {
		if d.under == "" && d.module == "" && d.prefix == "" {
			dirs = append(dirs, d.displayName(d.dir))
		}
	}
	return dirs
}

// PageFiles returns for each page of the site the index in Content of the file
// that it was made of, -1 for a page that was made of none, or of one that is not
// certain. The errors are the cause of ctx, and a docroot that can no longer be
// read.
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
	text, _ := system.ReadFS(m.docroot, page, maxSourcePage)
	all := m.pageLinks(r, page, text)
	m.docs.clear() // the files may have changed
	doc := m.fileOf(page, text, findMarkers(text).file, all)
	if doc == nil {
		return "", nil
	}
	pairs, _ := align(doc.links, m.addressesIn(doc, page), all)
	for i, p := range pairs {
		if p >= 0 {
			links = append(links, OwnLink{At: doc.links[p].at, Raw: all[i].raw, Element: all[i].element})
		}
	}
	slices.SortStableFunc(links, func(a, b OwnLink) int { return a.At - b.At })
	return doc.file.display, links
}

// Static returns the file that the generator copies to a path of the docroot, ""
// if there is none.
func (src *sources) Static(name string) (file string) {
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

// HasSource reports whether a page of the docroot is made of a content file. Where the
// generator's rules do not give the addresses of all content, a file whose name or front
// matter fits the last name of the page is enough.
func (src *sources) HasSource(name string) bool {
	c, key := src.content, PageKey(name)
	if len(c.listed) > 0 {
		return len(c.listed[key]) > 0
	}
	last := path.Base("/" + key)
	return len(c.makersOf(key)) > 0 || len(c.byLast[last]) > 0 || len(c.matter()[last]) > 0
}
