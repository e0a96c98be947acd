package source

import (
	"bytes"
	"html"
	"io/fs"
	"os"
	"path"
	"sort"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// Map joins the files of a project with the pages that were built from them, and finds
// positions in the sources. It is not safe for concurrent use.
type Map struct {
	*index
	site     *site.Site
	base     string // host of the site's base URL
	basePath string
}

// useSite makes s the site of the following calls, and returns a reader for it.
func (m *Map) useSite(s *site.Site) (*site.Reader, error) {
	m.site, m.basePath, m.base = s, s.BasePath(), s.Authority()
	r := s.NewReader()
	return r, r.Open()
}

// maxSourcePage is the size in bytes above which a page is not read again.
const maxSourcePage = 64 << 20

// built returns the text of a page, as the docroot has it or a running site sent it; nil if it
// cannot be read.
func (m *Map) built(r *site.Reader, name string) []byte {
	id, ok := m.site.Lookup(name)
	if !ok {
		return nil // a file of rules outside of the docroot
	}
	text, err := r.File(id, maxSourcePage)
	if err != nil {
		return nil
	}
	return bytes.Clone(text)
}

// address returns the address of a destination that is written for a page.
func (m *Map) address(dest, page string) address {
	a := addressOf(dest, m.base, m.basePath)
	a.target = a.resolved(page)
	return a
}

// pageLinks returns all links of a page, in order. A page that cannot be read has none.
func (m *Map) pageLinks(r *site.Reader, name string, text []byte) (all []pageLink) {
	id, ok := m.pageID(name)
	if !ok {
		return nil
	}
	isText := m.site.Page(id).Kind() == site.PageMarkdown
	regions := findRegions(text)
	_ = r.Written(id, func(d *site.Detail) {
		l := pageLink{offset: d.Offset, raw: strings.Clone(d.Raw), element: d.Element, attribute: d.Attribute, region: regions.at(int(d.Offset))}
		if isText {
			l.element = markdownElements[d.Element]
		} else if d.Element == "a" && int(d.Offset) < len(text) {
			l.label = read.LinkLabel(text, int(d.Offset))
		}
		l.addr = m.address(l.raw, name)
		all = append(all, l)
	})
	return all
}

// markdownElements are the elements that the links of a Markdown file become.
var markdownElements = map[string]string{"link": "a", "autolink": "a", "image": "img"}

// pageID finds a page by its name.
func (m *Map) pageID(name string) (site.PageID, bool) {
	node, _ := m.site.Lookup(name)
	return m.site.PageOf(node)
}

// copyOf finds the file of the project that the generator copied to the docroot
// without changes, nil for none. Positions in both files are the same.
func (c *contentIndex) copyOf(docroot fs.FS, name string, text []byte) *contentFile {
	for _, dir := range c.staticDirs {
		file, ok := dir.copied(name)
		if !ok {
			continue
		}
		if same, err := system.ReadFS(dir.fsys, file, int64(len(text))+1); err != nil || !bytes.Equal(same, text) {
			continue
		}
		if here, err := fs.Stat(docroot, name); err == nil {
			if there, err := fs.Stat(dir.fsys, file); err == nil && os.SameFile(here, there) {
				continue // the docroot has the name of a directory of static files
			}
		}
		return &contentFile{dir: dir, display: dir.displayName(file)}
	}
	return nil
}

// regions says which parts of a page are navigation and which are its main
// content, by the HTML elements for that.
type regions struct {
	starts  []int // offsets at which the weight changes
	weights []int
}

// What a link's region adds to the weight of a pair.
const (
	inMain       = 2
	inNavigation = -6
)

var regionTags = []struct {
	name       string
	navigation bool
}{{"nav", true}, {"footer", true}, {"header", true}, {"aside", true}, {"main", false}, {"article", false}}

// findRegions looks for the tags anywhere, even in comments and scripts: a
// wrong one changes a weight, nothing else.
func findRegions(text []byte) regions {
	r := regions{starts: []int{0}, weights: []int{0}}
	navigation, main := 0, 0
	for i := 0; i < len(text); {
		n := bytes.IndexByte(text[i:], '<')
		if n < 0 || i+n+2 >= len(text) {
			break
		}
		i += n + 1
		rest, step := text[i:], 1
		if rest[0] == '/' {
			rest, step = rest[1:], -1
		}
		for _, t := range regionTags {
			if rest[0] != t.name[0] || !bytes.HasPrefix(rest, []byte(t.name)) || len(rest) > len(t.name) && !read.IsTagEnd(rest[len(t.name)]) {
				continue
			}
			if t.navigation {
				navigation = max(0, navigation+step)
			} else {
				main = max(0, main+step)
			}
			count := 0
			switch {
			case navigation > 0:
				count = inNavigation
			case main > 0:
				count = inMain
			}
			r.starts, r.weights = append(r.starts, i), append(r.weights, count)
			break
		}
	}
	return r
}

func (r regions) at(off int) int {
	return r.weights[sort.SearchInts(r.starts, off+1)-1]
}

// pageLink is one link of a page.
type pageLink struct {
	offset  int64
	raw     string
	element string
	// attribute is the attribute that has the link, or "".
	attribute string
	label     string
	addr      address
	// region is the weight of the link's region of the page: positive in the
	// main content, negative in navigation.
	region int
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

// pageOf returns the page that an address leads to, "" if it leads to none.
func (m *Map) pageOf(a *address) string {
	p, _, _ := strings.Cut(a.target, "?")
	p = strings.TrimPrefix(p, "/")
	for _, name := range []string{path.Join(p, "index.html"), p, p + ".html", path.Join(p, "index.htm")} {
		if _, ok := m.pageID(name); ok && a.target != "" {
			return name
		}
	}
	return ""
}
