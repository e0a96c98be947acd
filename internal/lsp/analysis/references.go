package analysis

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/site"
)

// Location is a range of bytes in a source file.
type Location struct {
	File       string
	Start, End int
}

// Place is what a request of an editor is about: a page or one of its headings.
type Place struct {
	Node docroot.NodeID
	// Fragment is the id of the heading, "" for the page as a whole.
	Fragment string
}

// PlaceAt returns what an offset of a text is about: the target of the link there,
// or the heading there, or the page that is made of the text. ok is false if the
// text becomes no page.
func (s *Snapshot) PlaceAt(f *File, offset int) (p Place, ok bool) {
	if l := f.At(offset); l != nil {
		return Place{l.Target.Node, l.Target.Fragment}, l.Target.Node != docroot.NoNode
	}
	id, ok := s.page(f.Name)
	if !ok {
		return Place{}, false
	}
	p.Node = s.Site.Page(id).Node()
	if h := f.HeadingAt(offset); h != nil {
		p.Fragment = h.ID
	}
	return p, true
}

// eachFile calls f for every source file, those of the overlay as they are there,
// in the order of their names.
func (s *Snapshot) eachFile(o *Overlay, f func(name string, file *indexedFile)) {
	var changed []string
	if o != nil {
		changed = slices.Sorted(maps.Keys(o.files))
	}
	for _, name := range s.order {
		for len(changed) > 0 && changed[0] < name {
			f(changed[0], o.files[changed[0]])
			changed = changed[1:]
		}
		if len(changed) > 0 && changed[0] == name {
			f(name, o.files[name])
			changed = changed[1:]
			continue
		}
		f(name, s.files[name])
	}
	for _, name := range changed {
		f(name, o.files[name])
	}
}

// References returns the destinations that lead to a page or heading, sorted by
// file and offset. Those to a page include the ones to its headings.
func (s *Snapshot) References(o *Overlay, p Place) []Location {
	want := hashFragment(p.Fragment)
	var all []Location
	s.eachFile(o, func(name string, file *indexedFile) {
		for i := range file.links {
			if l := &file.links[i]; l.node == p.Node && (want == 0 || l.fragment == want) {
				all = append(all, Location{name, int(l.start), int(l.end)})
			}
		}
	})
	return all
}

// Lens is the number of references to a page or heading of a file.
type Lens struct {
	Place
	// Start is the offset of the heading, 0 for the page.
	Start, Count int
}

// Lenses returns how often the page that is made of a text, and each of its
// headings, is linked to from other places. Headings without references are left
// out.
func (s *Snapshot) Lenses(o *Overlay, f *File) []Lens {
	id, ok := s.page(f.Name)
	if !ok {
		return nil
	}
	node := s.Site.Page(id).Node()
	total, by := 0, map[uint64]int{}
	s.eachFile(o, func(_ string, file *indexedFile) {
		for i := range file.links {
			if l := &file.links[i]; l.node == node {
				total++
				by[l.fragment]++
			}
		}
	})
	all := []Lens{{Place: Place{Node: node}, Count: total}}
	for _, h := range f.Headings {
		if n := by[hashFragment(h.ID)]; n > 0 && h.ID != "" {
			all = append(all, Lens{Place{node, h.ID}, h.Start, n})
		}
	}
	return all
}

// Definition returns where a link leads in the sources: the heading, the content
// file of the page, or the file that the generator copies to the site. ok is false
// if there is none.
func (s *Snapshot) Definition(o *Overlay, t *Target) (at Location, ok bool) {
	if t.Node == docroot.NoNode {
		return Location{}, false
	}
	file := s.SourceOf(t.Node)
	if file == "" {
		file = s.copiedFrom(t.Node)
		return Location{File: file}, file != ""
	}
	at.File = file
	if f := s.indexed(o, file); f != nil && t.Fragment != "" {
		for _, h := range f.headings {
			if h.id == t.Fragment {
				at.Start, at.End = int(h.start), int(h.end)
			}
		}
	}
	return at, true
}

// copiedFrom returns the source file that a file of the site is a copy of, "" if
// none is found: a static file, or one beside the content file of a page.
func (s *Snapshot) copiedFrom(node docroot.NodeID) string {
	path := s.Site.Tree().Path(node)
	s.mu.Lock()
	static := ""
	if s.sources != nil {
		static = s.sources.Static(path)
	}
	s.mu.Unlock()
	if static != "" {
		return static
	}
	dir, name := "", path
	for i := strings.LastIndexByte(path, '/'); i >= 0; i = strings.LastIndexByte(dir, '/') {
		dir, name = path[:i], path[i+1:]
		index := s.indexOf(dir)
		if index == docroot.NoNode {
			continue
		}
		if file := s.SourceOf(index); file != "" {
			if beside := joinBeside(file, name); s.exists(beside) {
				return beside
			}
			return ""
		}
	}
	return ""
}

// indexOf returns the index file of a directory of the docroot.
func (s *tree) indexOf(dir string) docroot.NodeID {
	id, ok := s.Site.Lookup(dir)
	if !ok {
		return docroot.NoNode
	}
	return s.Site.IndexOf(id)
}

// joinBeside returns the name of a file beside another one.
func joinBeside(file, name string) string {
	if i := strings.LastIndexByte(file, '/'); i >= 0 {
		return file[:i+1] + name
	}
	return name
}

// Symbol is a page or a heading in the sources.
type Symbol struct {
	Location
	Name string
	// Container is the title of the page of a heading, and the address of a page.
	Container string
	Heading   bool
}

// maxSymbols is how many symbols a search returns.
const maxSymbols = 200

// Symbols returns the pages and headings whose names contain all words of a query,
// in any letter case; pages first.
func (s *Snapshot) Symbols(ctx context.Context, o *Overlay, query string) []Symbol {
	words := strings.Fields(strings.ToLower(query))
	matches := func(name string) bool {
		name = strings.ToLower(name)
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(name, w) })
	}
	var pages, headings []Symbol
	s.eachFile(o, func(name string, file *indexedFile) {
		if ctx.Err() != nil || !s.isContent(name) || len(pages) >= maxSymbols {
			return
		}
		title := cmp.Or(file.title, name)
		if matches(title) || matches(name) {
			address := name
			if id, ok := s.page(name); ok {
				address = s.Site.Href(s.Site.Page(id).Node())
			}
			pages = append(pages, Symbol{Location: Location{File: name}, Name: title, Container: address})
		}
		for _, h := range file.headings {
			if len(headings) < maxSymbols && matches(h.text) {
				headings = append(headings, Symbol{Location{name, int(h.start), int(h.end)}, h.text, title, true})
			}
		}
	})
	all := append(pages, headings...)
	return all[:min(len(all), maxSymbols)]
}

// Placer returns a function that turns the line and column of a finding of a check
// in a text, both from 1 and columns in code points, into its range: that of the
// destination, or the rest of the word if that is not known.
func (s *Snapshot) Placer(text []byte, file string) func(line, column int) (start, end int, ok bool) {
	all := s.destinations(file, text)
	return func(line, column int) (start, end int, ok bool) {
		if start, ok = destination.Offset(text, line, column); !ok {
			return 0, 0, false
		}
		if d := destination.At(all, start); d != nil {
			return d.Start, d.End, true
		}
		end = start
		for end < len(text) && strings.IndexByte(" \t\r\n\"'<>)", text[end]) < 0 {
			end++
		}
		if end == start { // it is about the file, and no word is there
			if n := bytes.IndexAny(text[start:], "\r\n"); n >= 0 {
				end = start + n
			} else {
				end = len(text)
			}
		}
		return start, end, true
	}
}

// pageID is the page of a node.
func (s *tree) pageID(node docroot.NodeID) (site.PageID, bool) {
	if node == docroot.NoNode {
		return 0, false
	}
	return s.Site.PageOf(node)
}
