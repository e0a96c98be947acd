package check

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"

	isite "github.com/sitelink/sitelink/internal/site"
)

// walker follows links from page to page. It belongs to one goroutine.
type walker struct {
	s        *isite.Site
	addr     addresses
	from     *linksets // nil: every page is in
	skip     *linksets // nil: none
	limit    int       // pages judged at most, 0 for all
	count    int       // judged so far, listings included (LL-24)
	cut      int       // left out by the limit
	cutFirst string
	in       []bool                  // by page
	followed []bool                  // by node: pages and listings whose links are in the queue
	listed   map[docroot.NodeID]bool // listings that were taken
	left     map[docroot.NodeID]bool // pages and listings that were not
	class    []inclusion             // by node
	settled  []bool                  // by node: another link to it changes nothing
	used     []bool                  // by linkset: a page of it was found
	children *docroot.Children
	queue    []docroot.NodeID
	fresh    []uint32 // the links of a page that may lead somewhere new
	visits   []Visit
	reader   *isite.Reader
}

func newWalker(s *isite.Site) *walker {
	return &walker{
		s: s, addr: addresses{s: s}, in: make([]bool, s.Pages()), followed: make([]bool, s.Tree().Len()),
		listed: map[docroot.NodeID]bool{}, left: map[docroot.NodeID]bool{}, class: make([]inclusion, s.Tree().Len()), settled: make([]bool, s.Tree().Len()),
	}
}

func (w *walker) close() {
	if w.reader != nil {
		w.reader.Close()
	}
}

// everything judges the pages in the order of their paths.
func (w *walker) everything() {
	for i := range w.s.Pages() {
		node := w.s.Page(isite.PageID(i)).Node()
		all := w.addr.of(node)
		// The address asked for is not known: one that is skipped is enough.
		taken := !slices.ContainsFunc(all, func(a string) bool { return !w.takes(a) })
		w.arrive(node, all[0], taken)
	}
	w.queue = nil
}

// seeds walks from the seeds until nothing is left.
func (w *walker) seeds(ctx context.Context, seeds []string) error {
	if w.from != nil {
		w.used = make([]bool, len(w.from.all))
	}
	for _, seed := range seeds {
		node, path, ok := w.seed(seed)
		if !ok {
			continue
		}
		if taken := w.takes(path); !taken && (w.skip == nil || !w.skip.match(path)) && strings.HasSuffix(path, "/") {
			w.follow(node, path)
		} else {
			w.arrive(node, path, taken)
		}
	}
	for n := 0; len(w.queue) > 0; n++ {
		if n%256 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		node := w.queue[0]
		w.queue = w.queue[1:]
		if err := w.leave(node); err != nil {
			return err
		}
	}
	return nil
}

// seed returns the page or listing that answers a seed, and its address: a
// directory ends in a slash (LL-83).
func (w *walker) seed(seed string) (node docroot.NodeID, path string, ok bool) {
	a := w.s.Answer(seed)
	if !a.State.Answers() || a.Node == docroot.NoNode {
		return 0, "", false
	}
	if _, page := w.s.PageOf(a.Node); !page && a.State != host.StateAutoindex {
		return 0, "", false
	}
	return a.Node, w.addr.nearest(a.Node, cmp.Or(a.Final, seed)), true
}

// takes tells whether a page of that address is judged.
func (w *walker) takes(path string) bool {
	return (w.from == nil || w.from.match(path)) && (w.skip == nil || !w.skip.match(path))
}

// arrive comes to a page or listing by an address. taken is what takes says.
func (w *walker) arrive(node docroot.NodeID, path string, taken bool) {
	w.settled[node] = w.classOf(node) != inSome
	if w.isIn(node) {
		return
	}
	switch {
	case !taken:
		w.leaveOut(node, path, VisitSkip)
	case w.limit > 0 && w.count >= w.limit && w.counts(node):
		if w.leaveOut(node, path, VisitLimit) {
			w.cut++
			w.cutFirst = cmp.Or(w.cutFirst, w.s.Tree().Path(node), "/")
		}
	default:
		if w.counts(node) {
			w.count++
		}
		if id, isPage := w.s.PageOf(node); isPage {
			w.in[id] = true
		} else {
			w.listed[node] = true
		}
		w.settled[node] = true
		delete(w.left, node)
		w.visits = append(w.visits, Visit{path, VisitCheck})
		w.enqueue(node)
		for _, other := range w.addr.of(node) {
			w.use(other)
		}
	}
	w.use(path)
}

// isIn tells whether a page or listing was taken already.
func (w *walker) isIn(node docroot.NodeID) bool {
	if id, isPage := w.s.PageOf(node); isPage {
		return w.in[id]
	}
	return w.listed[node]
}

// leaveOut notes that a page is not judged; new tells that it was not noted
// before.
func (w *walker) leaveOut(node docroot.NodeID, path string, why VisitKind) (new bool) {
	if _, known := w.left[node]; known || !w.counts(node) {
		return false
	}
	w.left[node] = true
	w.visits = append(w.visits, Visit{path, why})
	return true
}

// follow takes the links of a page that is not judged itself.
func (w *walker) follow(node docroot.NodeID, path string) {
	w.visits = append(w.visits, Visit{path, VisitFollow})
	w.enqueue(node)
}

func (w *walker) enqueue(node docroot.NodeID) {
	if !w.followed[node] {
		w.followed[node] = true
		w.queue = append(w.queue, node)
	}
}

// counts tells whether a node is a page that holds links, or a listing: an SVG
// file is read for its ids only.
func (w *walker) counts(node docroot.NodeID) bool {
	id, ok := w.s.PageOf(node)
	if !ok {
		return true
	}
	p := w.s.Page(id)
	return p.Kind() != isite.PageSVG || p.Links() > 0
}

// use notes the linksets that found a page.
func (w *walker) use(path string) {
	if w.from == nil {
		return
	}
	if i, ok := w.from.literal[path]; ok {
		w.used[i] = true
	}
	for _, i := range w.from.patterns {
		if !w.used[i] && w.from.all[i].Match(path) {
			w.used[i] = true
		}
	}
}

// leave follows the links of a page or the entries of a listing.
func (w *walker) leave(node docroot.NodeID) error {
	id, ok := w.s.PageOf(node)
	if !ok {
		w.list(node)
		return nil
	}
	if isList(w.s.Page(id).Kind()) {
		return nil // its links are no way for a visitor
	}
	links := w.s.Page(id).All()
	fresh := w.fresh[:0]
	for i := range links {
		l := &links[i]
		if !l.State.Answers() || l.Node == docroot.NoNode || w.settled[l.Node] || l.IsMap() {
			continue
		}
		if _, page := w.s.PageOf(l.Node); page || l.State == host.StateAutoindex {
			fresh = append(fresh, uint32(i))
		} else {
			w.settled[l.Node] = true
		}
	}
	w.fresh = fresh
	asked, err := w.asked(id, links)
	if err != nil {
		return err
	}
	for _, i := range fresh {
		l := &links[i]
		if w.settled[l.Node] {
			continue
		}
		path, known := asked[i]
		if !known {
			path = w.addr.of(l.Node)[0]
		}
		w.arrive(l.Node, path, w.takes(path))
	}
	return nil
}

// entries returns what a listing of a directory shows (LL-78): names with a
// dot in front are left out (LL-79).
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

// list comes to all entries of a directory listing.
func (w *walker) list(dir docroot.NodeID) {
	t := w.s.Tree()
	for _, child := range w.entries(dir) {
		path := "/" + t.Path(child)
		if t.Kind(child) == docroot.KindDir {
			path += "/"
		}
		if node, path, ok := w.seed(path); ok {
			w.arrive(node, path, w.takes(path))
		}
	}
}
