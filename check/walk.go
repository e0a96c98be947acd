package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// walker follows links from page to page and decides which pages are judged. It
// belongs to one goroutine.
type walker struct {
	s        *isite.Site
	from     *linksets // nil: every page is in
	skip     *linksets // nil: no page is
	limit    int       // the largest number of pages to judge, 0 for all
	count    int       // judged so far, listings included (LL-24)
	cut      int       // left out by the limit
	cutFirst string
	in       []bool                  // by page
	followed []bool                  // by node: pages and listings that were added to the queue
	listed   map[docroot.NodeID]bool // listings that are in
	left     map[docroot.NodeID]bool // pages and listings that were left out
	matched  []matchKind             // by node
	done     []bool                  // by node: another link to it changes nothing
	used     []bool                  // by linkset of from: it matched a page
	children *docroot.Children
	queue    []docroot.NodeID
	fresh    []uint32 // the links of a page that may lead somewhere new
	visits   []Visit
	reader   *isite.Reader
}

func newWalker(s *isite.Site) *walker {
	nodes := s.Tree().Len()
	return &walker{
		s: s, in: make([]bool, s.Pages()), followed: make([]bool, nodes), listed: map[docroot.NodeID]bool{},
		left: map[docroot.NodeID]bool{}, matched: make([]matchKind, nodes), done: make([]bool, nodes),
		reader: s.NewReader(),
	}
}

// everything visits all pages in the order of their paths, or those that match a
// pattern. The error names a pattern that matches none.
func (w *walker) everything(patterns []string) error {
	matched := make([]bool, len(patterns))
	for i := range w.s.Pages() {
		node := w.s.Page(isite.PageID(i)).Node()
		all := addressesOf(w.s, node)
		// No link asks for the page, so one address that is skipped is enough.
		in := !slices.ContainsFunc(all, func(a string) bool { return !w.includes(a) })
		named := len(patterns) == 0
		for k, p := range patterns {
			if matchAny(p, w.s.Tree().Path(node)) {
				named, matched[k] = true, true
			}
		}
		w.visit(node, all[0], in && named)
	}
	w.queue = nil
	if k := slices.Index(matched, false); k >= 0 {
		return notFound(text.WithHint(fmt.Errorf("%s matches no page of %s", patterns[k], w.s.Root()),
			"name pages by their paths below the docroot; of Markdown, check reads what git tracks"))
	}
	return nil
}

// walk follows links from the seeds until nothing is left.
func (w *walker) walk(ctx context.Context, seeds []string) error {
	if w.from != nil {
		w.used = make([]bool, len(w.from.all))
	}
	for _, seed := range seeds {
		node, path, ok := w.find(seed)
		if !ok {
			continue
		}
		if in := w.includes(path); !in && (w.skip == nil || !w.skip.match(path)) && strings.HasSuffix(path, "/") {
			w.visits = append(w.visits, Visit{path, VisitFollow})
			w.enqueue(node)
		} else {
			w.visit(node, path, in)
		}
	}
	for n := 0; len(w.queue) > 0; n++ {
		if n%256 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		node := w.queue[0]
		w.queue = w.queue[1:]
		if err := w.follow(node); err != nil {
			return err
		}
	}
	return nil
}

// find returns the page or listing that answers a path, and its address: that of
// a directory ends in a slash (LL-83).
func (w *walker) find(path string) (node docroot.NodeID, address string, ok bool) {
	a := w.s.Answer(path)
	if !a.State.Answers() || a.Node == docroot.NoNode {
		return 0, "", false
	}
	if _, page := w.s.PageOf(a.Node); !page && a.State != host.StateAutoindex {
		return 0, "", false
	}
	return a.Node, addressFor(w.s, a.Node, cmp.Or(a.Final, path)), true
}

// includes reports whether the linksets include an address.
func (w *walker) includes(address string) bool {
	return (w.from == nil || w.from.match(address)) && (w.skip == nil || !w.skip.match(address))
}

// visit reaches a page or listing by an address; in is the result of includes
// for it.
func (w *walker) visit(node docroot.NodeID, address string, in bool) {
	w.done[node] = w.matchOf(node) != matchSome
	id, isPage := w.s.PageOf(node)
	if isPage && w.in[id] || !isPage && w.listed[node] {
		return
	}
	switch {
	case !in:
		w.leaveOut(node, address, VisitSkip)
	case w.limit > 0 && w.count >= w.limit && w.hasLinks(node):
		if w.leaveOut(node, address, VisitLimit) {
			w.cut++
			w.cutFirst = cmp.Or(w.cutFirst, w.s.Tree().Path(node), "/")
		}
	default:
		if w.hasLinks(node) {
			w.count++
		}
		if isPage {
			w.in[id] = true
		} else {
			w.listed[node] = true
		}
		w.done[node] = true
		delete(w.left, node)
		w.visits = append(w.visits, Visit{address, VisitCheck})
		w.enqueue(node)
		for _, other := range addressesOf(w.s, node) {
			w.markUsed(other)
		}
	}
	w.markUsed(address)
}

// leaveOut notes that a page is not judged, and reports whether that is new.
func (w *walker) leaveOut(node docroot.NodeID, address string, why VisitKind) (isNew bool) {
	if _, known := w.left[node]; known || !w.hasLinks(node) {
		return false
	}
	w.left[node] = true
	w.visits = append(w.visits, Visit{address, why})
	return true
}

func (w *walker) enqueue(node docroot.NodeID) {
	if !w.followed[node] {
		w.followed[node] = true
		w.queue = append(w.queue, node)
	}
}

// hasLinks reports whether a node is a page that holds links, or a listing. An
// SVG file without links is read for its ids only.
func (w *walker) hasLinks(node docroot.NodeID) bool {
	id, ok := w.s.PageOf(node)
	if !ok {
		return true
	}
	p := w.s.Page(id)
	return p.Kind() != isite.PageSVG || p.Links() > 0
}

// markUsed marks the linksets that match the address of a page.
func (w *walker) markUsed(address string) {
	if w.from == nil {
		return
	}
	if i, ok := w.from.literal[address]; ok {
		w.used[i] = true
	}
	for _, i := range w.from.patterns {
		if !w.used[i] && w.from.all[i].Match(address) {
			w.used[i] = true
		}
	}
}

// follow visits where the links of a page, or the entries of a listing, lead.
func (w *walker) follow(node docroot.NodeID) error {
	id, ok := w.s.PageOf(node)
	if !ok {
		// A directory without a page has a listing. Its entries are visited.
		dir := node
		t := w.s.Tree()
		for _, child := range w.entries(dir) {
			path := "/" + t.Path(child)
			if t.Kind(child) == docroot.KindDir {
				path += "/"
			}
			if node, address, ok := w.find(path); ok {
				w.visit(node, address, w.includes(address))
			}
		}
		return nil
	}
	if isProgramList(w.s.Page(id).Kind()) {
		return nil // no visitor follows its links
	}
	links := w.s.Page(id).All()
	fresh := w.fresh[:0]
	for i := range links {
		l := &links[i]
		if !l.State.Answers() || l.Node == docroot.NoNode || w.done[l.Node] || l.IsMap() {
			continue
		}
		if _, page := w.s.PageOf(l.Node); page || l.State == host.StateAutoindex {
			fresh = append(fresh, uint32(i))
		} else {
			w.done[l.Node] = true
		}
	}
	w.fresh = fresh
	asked, err := w.askedAddresses(id, links)
	if err != nil {
		return err
	}
	for _, i := range fresh {
		l := &links[i]
		if w.done[l.Node] {
			continue
		}
		address, known := asked[i]
		if !known {
			address = addressesOf(w.s, l.Node)[0]
		}
		w.visit(l.Node, address, w.includes(address))
	}
	return nil
}

// entries returns what a listing of a directory shows (LL-78). Names that begin
// with a dot are left out (LL-79).
func (w *walker) entries(dir docroot.NodeID) []docroot.NodeID {
	if w.children == nil {
		c := w.s.Tree().Children()
		w.children = &c
	}
	var shown []docroot.NodeID
	for _, child := range w.children.Of(w.s.Tree().Real(dir)) {
		if !strings.HasPrefix(w.s.Tree().Name(child), ".") {
			shown = append(shown, child)
		}
	}
	return shown
}

// matchKind reports how many addresses of a file the linksets include: all, none,
// or some.
type matchKind uint8

const (
	matchNone matchKind = iota + 1
	matchSome
	matchAll
)

func (w *walker) matchOf(node docroot.NodeID) matchKind {
	if m := w.matched[node]; m != 0 {
		return m
	}
	in := 0
	all := addressesOf(w.s, node)
	for _, address := range all {
		if w.includes(address) {
			in++
		}
	}
	m := matchSome
	switch in {
	case 0:
		m = matchNone
	case len(all):
		m = matchAll
	}
	w.matched[node] = m
	return m
}

// askedAddresses returns the addresses that the fresh links of a page ask for,
// where the linksets include only some addresses of the file. LL-9 compares the
// address with them, and the records hold only the file.
func (w *walker) askedAddresses(id isite.PageID, links []isite.Link) (map[uint32]string, error) {
	var want []uint32
	for _, i := range w.fresh {
		if w.matchOf(links[i].Node) == matchSome {
			want = append(want, i)
		}
	}
	if len(want) == 0 {
		return nil, nil
	}
	if err := w.reader.Open(); err != nil {
		return nil, err
	}
	asked := make(map[uint32]string, len(want))
	// A page that changed or vanished is reported when it is judged. Its links
	// then count by the first address of their files.
	_ = w.reader.Details(id, want, func(link int, d *isite.Detail) {
		asked[uint32(link)] = addressFor(w.s, d.Node, decodeAddress(w.s, cmp.Or(d.Final, d.Target)))
	})
	return asked, nil
}

// addressesOf returns the addresses of a page or listing: site paths, decoded
// and below the base path. The one that sites usually link to is first. An index
// file has the address of its directory and that of its own name (A-LL-2), and a
// page may have one without its extension, if the host serves it so.
func addressesOf(s *isite.Site, node docroot.NodeID) []string {
	t := s.Tree()
	path := "/" + t.Path(node)
	if t.Kind(node) == docroot.KindDir {
		if path != "/" {
			path += "/"
		}
		return []string{path}
	}
	all := []string{decodeAddress(s, s.Href(node))}
	add := func(p string) {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	add(path)
	p := s.Profile()
	for _, suffix := range p.PageSuffixes {
		bare, ok := strings.CutSuffix(path, suffix)
		if ok && p.Page != host.Missing {
			add(bare)
		}
		if ok && p.PageSlash != host.Missing {
			add(bare + "/")
		}
	}
	name := t.Name(node)
	if slices.ContainsFunc(s.IndexNames(), func(index string) bool { return strings.EqualFold(index, name) }) {
		add(path[:len(path)-len(name)])
	}
	return all
}

// addressFor returns the address of node that a path means: the path itself, the
// path with a slash, or, after a rewrite, the first address.
func addressFor(s *isite.Site, node docroot.NodeID, path string) string {
	all := addressesOf(s, node)
	for _, meant := range []string{path, path + "/"} {
		if slices.Contains(all, meant) {
			return meant
		}
	}
	return all[0]
}

// decodeAddress removes query and base path from a site path and decodes the
// rest.
func decodeAddress(s *isite.Site, path string) string {
	path, _, _ = strings.Cut(path, "?")
	path = strings.TrimPrefix(path, s.BasePath())
	path = string(weburl.PercentDecode(nil, path))
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return cmp.Or(path, "/")
}
