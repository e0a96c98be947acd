package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/site"
)

// Section is a part of a site: a directory with everything in it, except the
// directories that are sections of their own.
type Section struct {
	// Name is the directory's docroot-relative path with a slash at its end,
	// "/" for the docroot itself, or [OtherSections] or [NoSection].
	Name string
	// Pages is the number of parsed files, Files that of all files.
	Pages, Files int
}

const (
	// OtherSections is the section of all directories that are too small for a
	// section of their own.
	OtherSections = "other"
	// NoSection is the section that links lead to whose directory does not exist.
	NoSection = "no such directory"
)

// Edge counts the links from one section to another, or within one.
type Edge struct {
	// From and To are indexes into the sections.
	From, To int
	// Links is the number of links that a file answers, or should answer; Broken
	// is the number of errors among them.
	Links, Broken int
}

const (
	// dominant is the share of all pages, in percent, above which a section is
	// split into its subdirectories. Otherwise a site with everything in docs/
	// would be one section.
	dominant = 50
	// maxSplits is the largest number of splits, each one level deeper.
	maxSplits = 4
	// minSections is enough for the docroot, one directory, OtherSections and
	// NoSection.
	minSections = 4
)

// Sections divides s into sections, at most limit of them but at least 4, and
// counts the links between them. Sections are the top-level directories, or,
// where one of them holds most of the pages, its subdirectories. findings are
// those of [Run] on s.
//
// Sections are sorted by name, with [OtherSections] and [NoSection] last. Edges
// are sorted by From, then To; each has links. Links to other hosts do not count.
// Calls may be concurrent.
func Sections(s *site.Site, findings []Finding, limit int) ([]Section, []Edge) {
	return sections(isite.Unwrap(s), findings, limit)
}

func sections(s *isite.Site, findings []Finding, limit int) ([]Section, []Edge) {
	m := newSectionMap(s, max(limit, minSections))
	n := len(m.sections)
	links, broken := make([]int, n*n), make([]int, n*n)
	for i := range s.Pages() {
		p := s.Page(isite.PageID(i))
		row := m.of[p.Node()] * n
		all := p.All()
		for j := range all {
			if l := &all[j]; l.Node != docroot.NoNode && s.State(l).Answers() {
				links[row+m.of[l.Node]]++
			}
		}
	}
	for i := range findings {
		f := &findings[i]
		if f.Verdict != Error || isFileFault(f) {
			continue
		}
		from, ok := s.Lookup(f.Page)
		to := m.ofTarget(s, f.Target)
		if !ok || to < 0 {
			continue
		}
		at := m.of[from]*n + to
		broken[at] += max(f.Count, 1)
		if f.Status/100 != 2 { // links that a file answers are counted above
			links[at] += max(f.Count, 1)
		}
	}
	return m.compact(links, broken)
}

// sectionMap assigns every node to a section.
type sectionMap struct {
	sections []Section
	of       []int // by node
	nowhere  int
}

// head is a directory where a section begins.
type head struct {
	dir          docroot.NodeID
	name         string
	pages, files int // of the whole directory
}

func newSectionMap(s *isite.Site, limit int) *sectionMap {
	t := s.Tree()
	pages, files := make([]int, t.Len()), make([]int, t.Len())
	for i := range s.Pages() {
		pages[s.Page(isite.PageID(i)).Node()]++
	}
	children := map[docroot.NodeID][]docroot.NodeID{} // directories only
	for id := t.Len() - 1; id >= 0; id-- {            // parents precede their children
		n := docroot.NodeID(id)
		if t.Kind(n) == docroot.KindFile {
			files[id]++
		}
		if id == 0 {
			break
		}
		up := t.Parent(n)
		pages[up] += pages[id]
		files[up] += files[id]
		if t.Kind(n) == docroot.KindDir && t.Real(n) == n {
			children[up] = append(children[up], n)
		}
	}
	newHead := func(dir docroot.NodeID) head {
		return head{dir, t.Path(dir) + "/", pages[dir], files[dir]}
	}
	heads := []head{newHead(0)}
	for at, splits := 0, 0; at >= 0 && splits <= maxSplits; splits++ {
		dir := heads[at].dir
		below := children[dir]
		delete(children, dir) // a directory is split once
		for _, c := range below {
			if files[c] > 0 {
				heads = append(heads, newHead(c))
			}
		}
		at = slices.IndexFunc(heads, func(h head) bool {
			return h.dir != 0 && h.pages*100 > pages[0]*dominant && slices.ContainsFunc(children[h.dir], func(c docroot.NodeID) bool { return files[c] > 0 })
		})
	}

	slices.SortFunc(heads[1:], func(a, b head) int {
		return cmp.Or(cmp.Compare(b.pages, a.pages), cmp.Compare(b.files, a.files), strings.Compare(a.name, b.name))
	})
	kept := heads[:min(len(heads), limit-2)]
	slices.SortFunc(kept[1:], func(a, b head) int { return strings.Compare(a.name, b.name) })

	m := &sectionMap{of: make([]int, t.Len())}
	begins := map[docroot.NodeID]int{}
	for i, h := range kept {
		begins[h.dir] = i
		m.sections = append(m.sections, Section{Name: h.name})
	}
	for _, h := range heads[len(kept):] {
		begins[h.dir] = len(kept)
	}
	m.nowhere = len(kept) + 1
	m.sections = append(m.sections, Section{Name: OtherSections}, Section{Name: NoSection})
	for id := range m.of {
		n := docroot.NodeID(id)
		if at, ok := begins[n]; ok {
			m.of[id] = at
		} else if id > 0 {
			m.of[id] = m.of[t.Parent(n)]
		}
		if t.Kind(n) == docroot.KindFile {
			m.sections[m.of[id]].Files++
		}
	}
	for i := range s.Pages() {
		m.sections[m.of[s.Page(isite.PageID(i)).Node()]].Pages++
	}
	return m
}

// ofTarget returns the section that a broken link means, -1 if it means none. It
// is that of the deepest directory of the path that exists, or nowhere if that is
// the docroot and the path names a directory.
func (m *sectionMap) ofTarget(s *isite.Site, target string) int {
	rest, ok := strings.CutPrefix(target, s.BasePath())
	if !ok || !strings.HasPrefix(rest, "/") {
		return -1
	}
	rest, _, _ = strings.Cut(rest, "?")
	path := string(weburl.PercentDecode(nil, strings.TrimLeft(rest, "/")))
	for end := len(path); end > 0; {
		end = strings.LastIndexByte(path[:end], '/')
		if end <= 0 {
			break
		}
		if n, ok := s.Lookup(path[:end]); ok {
			return m.of[n]
		}
	}
	if strings.Contains(path, "/") {
		return m.nowhere
	}
	return m.of[0]
}

// compact drops sections without files and links, and turns the counts into
// edges.
func (m *sectionMap) compact(links, broken []int) (sections []Section, edges []Edge) {
	n := len(m.sections)
	at := make([]int, n)
	for i, sec := range m.sections {
		used := sec.Files > 0 || sec.Pages > 0
		for j := 0; j < n && !used; j++ {
			used = links[i*n+j] > 0 || links[j*n+i] > 0
		}
		at[i] = len(sections)
		if used {
			sections = append(sections, sec)
		}
	}
	for i, count := range links {
		if count > 0 {
			edges = append(edges, Edge{From: at[i/n], To: at[i%n], Links: count, Broken: broken[i]})
		}
	}
	return sections, edges
}
