package source

import (
	"bytes"
	"cmp"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"

	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/system"
)

// unlocated is a link whose position was not found in the content of its own
// page.
type unlocated struct {
	index int // of the link
	link  Link
	// nth counts the unlocated links of the page before it with the same value.
	nth int
	// own is the position of this value in the page's own content, as the
	// source of another link; nil if it occurs there never or more than once.
	own *Position
	// matter reports that own is in the front matter.
	matter bool
	// label and element are those of the link.
	label, element string
	// isLink reports that readers can follow it: it is an a or area element.
	isLink bool
	// composed is what the templates say about it.
	composed composition
	// near holds the keys of the pages that the page links to. A list page
	// shows parts of them.
	near map[string]bool
	// included holds the files that shortcodes in the page's content name.
	included map[string]bool
}

// locatedPage is a page whose links are located.
type locatedPage struct {
	m       *Map
	name    string
	text    []byte
	links   []pageLink
	outline *outline // nil until needed
	tagsOf  map[*pageLink]*pageLinkTag
	runs    map[*written]pageRun
	// left is how many comparisons of links with templates remain, see [Map.Costly], and
	// compared are the tags that were compared with all.
	left     int
	compared map[string]bool
}

// maxSourcePage is the size in bytes above which a page is not read again.
const maxSourcePage = 64 << 20

// locatePage sets the positions of links of one page, sorted by offset, and
// returns the links without one. first is the index of the first link.
func (m *Map) locatePage(r *site.Reader, links []Link, positions []*Position, first int) []unlocated {
	name := links[0].Page
	text, _ := system.ReadFS(m.docroot, name, maxSourcePage)
	found := findMarkers(text)
	if dir, file, ok := m.content.copyOf(m.docroot, name, text); ok && found.file == "" && found.comments == nil {
		lines := newLines(text)
		for i, l := range links {
			line, column := lines.at(int(min(l.Offset, int64(len(text)))))
			if l.Line > 0 {
				line = l.Line
			}
			positions[i] = contentFile{dir: dir, display: dir.displayName(file)}.position(line, column)
		}
		return nil
	}
	if path.Base(name) == ruleFile {
		templates := m.ruleTemplates()
		for i, l := range links {
			positions[i] = m.content.ruleAt(templates, lineOf(text, l.Line), m.basePath)
		}
		return nil
	}
	all := m.pageLinks(r, name, text)
	page := &locatedPage{m: m, name: name, text: text, links: all, left: m.perPage + 32*len(text)}
	doc := m.fileOf(name, text, found.file, all)
	var pairs []int
	var written []sourceLink
	var addrs, matter []address // of doc's own links and front matter
	if doc != nil {
		written = doc.links
		addrs = m.addressesIn(doc, name)
		addresses := addrs
		if with := m.withIncluded(doc); with != nil {
			written, addresses = with, m.addresses(with, name)
		}
		pairs, _ = align(written, addresses, all)
		matter = m.frontMatterAddresses(doc, name)
	}
	var ofItems []*Position
	if id, ok := m.pageID(name); ok && !m.site.Page(id).Kind().IsHTML() {
		ofItems = m.feedPairs(r, name, text, all, links)
	}
	seen := map[string]int{}
	var near map[string]bool
	var rest []unlocated
	for i, l := range links {
		if l.Raw == "" && l.Element != "" {
			positions[i] = page.elementAt(l.Element)
			continue
		}
		j := sort.Search(len(all), func(j int) bool { return all[j].offset >= l.Offset })
		for j < len(all) && all[j].offset == l.Offset && all[j].raw != l.Raw {
			j++
		}
		if j == len(all) || all[j].offset != l.Offset {
			continue // a fault of the file, or the page has changed
		}
		on := &all[j]
		if p, ok := m.marked(found, name, all, j); ok {
			positions[i] = p
			continue
		}
		if ofItems != nil && ofItems[j] != nil {
			positions[i] = ofItems[j]
			continue
		}
		if on.element == "loc" { // a sitemap lists the page of a content file
			if makers := m.content.makersOf(PageKey(on.addr.target)); len(makers) == 1 && on.addr.target != "" {
				positions[i] = m.content.files[makers[0]].position(1, 1)
			}
			continue
		}
		if near == nil {
			near = map[string]bool{}
			for i := range all {
				if t := all[i].addr.target; t != "" {
					near[PageKey(strings.TrimPrefix(t, "/"))] = true
				}
			}
		}
		o := unlocated{index: first + i, link: l, nth: seen[l.Raw], near: near, label: on.label, element: on.element,
			isLink: on.element == "a" || on.element == "area"}
		if doc != nil {
			if pairs[j] >= 0 {
				it := &written[pairs[j]]
				positions[i] = cmp.Or(it.owner, doc).position(it.at)
				continue
			}
			o.included = doc.included
			if at, inMatter, ok := doc.onlyMatch(&on.addr, addrs, matter); ok {
				o.own, o.matter = doc.position(at), inMatter
			}
		}
		seen[l.Raw]++
		if o.own == nil || !o.matter {
			o.composed = page.composed(on)
		}
		rest = append(rest, o)
	}
	return rest
}

// onlyMatch returns the offset of the single value of the front matter that
// matches an address, or else of the single link. addrs and matter are their
// addresses.
func (d *document) onlyMatch(a *address, addrs, matter []address) (at int, inMatter, ok bool) {
	n := 0
	for i := range matter {
		if matter[i].exact != "" && matchScore(&matter[i], a) >= targetMatch {
			at = d.matter[i].at
			n++
		}
	}
	if n > 0 {
		return at, true, n == 1
	}
	for i := range addrs {
		if matchScore(&addrs[i], a) >= targetMatch && (n == 0 || d.links[i].at != at) {
			at = d.links[i].at
			n++
		}
	}
	return at, false, n == 1
}

func (m *Map) frontMatterAddresses(d *document, page string) []address {
	all := make([]address, len(d.matter))
	for i := range d.matter {
		if d.matter[i].holdsLink() {
			all[i] = m.address(d.matter[i].text, page)
		}
	}
	return all
}

// address returns the address of a destination that is written for a page.
func (m *Map) address(dest, page string) address {
	a := addressOf(dest, m.base, m.basePath)
	a.target = a.resolved(page)
	return a
}

// addressesIn returns the addresses of the links of a content file, which may
// name other content files relative to it.
func (m *Map) addressesIn(d *document, page string) []address {
	all := m.addresses(d.links, page)
	from := PageKey(page)
	if stem := strings.TrimSuffix(path.Base(d.file.display), path.Ext(d.file.display)); NameKey(stem) == "" {
		from += "/" + stem // the index of a directory
	}
	for i := range all {
		if a := &all[i]; a.local != "" {
			a.file = fileKey(a.local, from)
		}
	}
	return all
}

func (m *Map) addresses(items []sourceLink, page string) []address {
	all := make([]address, len(items))
	for i := range items {
		all[i] = m.address(items[i].dest, page)
	}
	return all
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
			l.label = htmlLabel(text, int(d.Offset))
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
// without changes. Positions in both files are the same.
func (c *contentIndex) copyOf(docroot fs.FS, name string, text []byte) (dir sourceDir, file string, ok bool) {
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
		return dir, file, true
	}
	return sourceDir{}, "", false
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
			if !bytes.HasPrefix(rest, []byte(t.name)) || len(rest) > len(t.name) && !isTagEnd(rest[len(t.name)]) {
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

func isTagEnd(c byte) bool {
	return c == '>' || c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '/'
}

func (r regions) at(off int) int {
	i := sort.SearchInts(r.starts, off+1) - 1
	return r.weights[i]
}
