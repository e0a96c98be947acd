package site

import (
	"context"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/weburl"
)

// maxFew is how many changed paths are followed one by one.
const maxFew = 256

// naming is the work of [updater.few].
type naming struct {
	*updater
	n *Site
	// came are new nodes, went those that are no more: a directory goes before
	// what lies in it.
	came, went []NodeID
	// dirs are the directories in which a name came or went.
	dirs map[NodeID]bool
	// listed counts the directories that were compared.
	listed int
}

// few makes the new site where a few names came or went: the others keep their
// numbers, and pages without a link that is concerned their records. It is for
// hosts that serve files by their names; of others, and where symbolic links are
// concerned, nothing is said and [updater.rename] has to be asked.
func (u *updater) few(ctx context.Context) (*Site, *Change, error) {
	s := u.old
	p := &s.profile
	simple := p.IndexFile == Serve && p.PageFile == Serve && !p.PageSlashFirst && !p.AnyCase
	if !simple || s.rules != nil || s.local != nil || s.addresses != nil || s.autoindex == AutoindexList || s.severalPaths() ||
		len(u.names) > maxFew || s.tree.dead > len(s.tree.nodes)/4 {
		return nil, nil, errTooIntricate
	}
	if s.upkeep == nil {
		s.upkeep = s.newUpkeep()
	}
	n := *s
	n.tree, n.fold, n.odd = s.tree.copy(), &folds{}, nil
	r := &naming{updater: u, n: &n, dirs: map[NodeID]bool{}}
	for _, path := range u.names {
		if !r.take(path) {
			return nil, nil, errTooIntricate
		}
	}
	if len(r.came)+len(r.went) == 0 {
		return u.edit(ctx)
	}
	if !r.plain() {
		return nil, nil, errTooIntricate
	}
	l, done, err := n.newLoader()
	if err != nil {
		return nil, nil, err
	}
	defer done()
	c := &Change{site: &n, old: s}
	if !r.findPages(c, l.dir) {
		return nil, nil, errTooIntricate
	}
	answers := r.findAnswers()
	was := r.oldAnswers()
	show := n.tree.hide()
	s.upkeep.grow(len(n.tree.nodes))
	r.findIndexes()
	n.checkRules()
	n.RuleFaults() // they ask the tree as it is now
	edited, ok := r.again(l.dir)
	if !ok {
		return nil, nil, errTooIntricate
	}
	c.Reread = r.concerned(c, edited, answers, was)
	show()
	var gone []*Page
	for _, id := range c.Gone {
		gone = append(gone, &s.pages[id])
	}
	if err := u.replace(ctx, &n, c, l, gone); err != nil {
		return nil, nil, err
	}
	for _, id := range r.came {
		c.Came = append(c.Came, n.tree.Path(id))
	}
	for _, id := range r.went {
		c.Went = append(c.Went, s.tree.Path(id))
	}
	return &n, c, nil
}

// findPages makes the list of pages, in c the old numbers and the new, and the
// counts of files that are none. Files that are pages only since others link to
// them are not followed.
func (r *naming) findPages(c *Change, dir *docroot) bool {
	s, n := r.old, r.n
	type entry struct {
		path string
		page Page
	}
	var fresh []entry
	faulty := func(path string) bool {
		return slices.ContainsFunc(s.faults, func(f FileFault) bool { return f.Path == path })
	}
	for _, id := range r.came {
		x := &n.tree.nodes[id]
		if x.kind != KindFile {
			continue
		}
		p := Page{node: id, canon: NoNode}
		var ok bool
		if p.kind, ok = n.kindOf(x); !ok {
			if isSourceMap(n.tree.Name(id)) {
				n.sourceMaps++
			}
			continue
		}
		if p.kind >= pageXML {
			n.sniffPage(dir, &p, make([]byte, 0, sniffBytes))
		}
		switch {
		case p.kind != pageNone:
			fresh = append(fresh, entry{n.tree.Path(id), p})
		case n.isXMLName(id) && p.err.Err != nil:
			return false
		case n.isXMLName(id):
			n.otherXML++
		}
	}
	for _, id := range r.went {
		x := &s.tree.nodes[id]
		if x.kind != KindFile {
			if faulty(s.tree.Path(id) + "/") {
				return false
			}
			continue
		}
		switch kind, ok := s.kindOf(x); {
		case x.page != 0 && s.isLate(&s.pages[x.page-1]), s.upkeep.manifests[id] > 0, faulty(s.tree.Path(id)):
			return false
		case x.page != 0:
			c.Gone = append(c.Gone, PageID(x.page-1))
		case ok && kind == pageXML:
			n.otherXML--
		case !ok && isSourceMap(s.tree.Name(id)):
			n.sourceMaps--
		}
	}
	if len(fresh)+len(c.Gone) == 0 {
		n.pages = slices.Clone(s.pages) // some are read again
		return true
	}
	slices.SortFunc(fresh, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	slices.Sort(c.Gone)
	n.pages = make([]Page, 0, len(s.pages)+len(fresh)-len(c.Gone)+8)
	c.now, c.then = make([]PageID, len(s.pages)), make([]PageID, 0, cap(n.pages))
	// at is where, among the old pages, a new one belongs.
	at := func(path string) int {
		i, _ := slices.BinarySearchFunc(s.pages, path, func(p Page, path string) int { return strings.Compare(s.tree.Path(p.node), path) })
		return i
	}
	gone, old := c.Gone, 0
	upTo := func(end int) {
		for ; old < end; old++ {
			if len(gone) > 0 && gone[0] == PageID(old) {
				gone, c.now[old] = gone[1:], NoPage
				continue
			}
			c.now[old] = PageID(len(n.pages))
			c.then = append(c.then, PageID(old))
			n.pages = append(n.pages, s.pages[old])
		}
	}
	for _, e := range fresh {
		upTo(at(e.path))
		c.then = append(c.then, NoPage)
		n.pages = append(n.pages, e.page)
	}
	upTo(len(s.pages))
	for i := range n.pages {
		n.tree.nodes[n.pages[i].node].page = uint32(i) + 1
	}
	return slices.ContainsFunc(n.pages, func(p Page) bool { return p.kind.HasAnchors() }) // or Load says what is to be said
}

// findAnswers finds the old nodes whose links need another look: they went, or
// a name came or went that a host may take in their place.
func (r *naming) findAnswers() []bool {
	t := r.n.tree
	places := map[standing]bool{}
	indexes := map[string]bool{}
	for _, name := range r.n.index {
		indexes[stemOf(name)] = true
	}
	answers := make([]bool, len(t.nodes))
	note := func(s *Tree, id NodeID) {
		dir, stem := s.nodes[id].parent, stemOf(s.Name(id))
		places[standing{dir, stem}] = true
		if !indexes[stem] {
			return
		}
		answers[dir] = true
		for stem := range indexes { // one index file goes before another
			places[standing{dir, stem}] = true
		}
		if dir != 0 {
			places[standing{s.nodes[dir].parent, stemOf(s.Name(dir))}] = true
		}
	}
	for _, id := range r.went {
		answers[id] = true
		note(r.old.tree, id)
	}
	for _, id := range r.came {
		note(t, id)
	}
	// inside: a name of the directory has such a place; all: the directory
	// itself has one.
	inside, all := make([]bool, len(t.nodes)), make([]bool, len(t.nodes))
	for place := range places {
		inside[place.dir] = true
	}
	here := func(x *node) bool {
		return inside[x.parent] && places[standing{x.parent, stemOf(string(t.nameOf(x)))}]
	}
	for id := 1; id < len(t.nodes); id++ {
		if x := &t.nodes[id]; x.kind == KindDir {
			all[id] = here(x)
		}
	}
	for id := 1; id < len(t.nodes); id++ {
		if x := &t.nodes[id]; x.kind != KindGone && !answers[id] {
			answers[id] = all[x.parent] || here(x)
		}
	}
	return answers
}

// oldAnswers asks what missing targets, and those with a warning, had for an
// answer.
func (r *naming) oldAnswers() map[string]Resolved {
	s := r.old
	was := map[string]Resolved{}
	for i := range s.pages {
		for j := range s.pages[i].kept {
			target := s.pages[i].kept[j].Target
			if _, ok := was[target]; ok || !strings.HasPrefix(target, "/") {
				continue
			}
			if u, err := weburl.Parse("http://" + s.bases[0].host + target); err == nil {
				was[target] = s.request(u, nil)
			}
		}
	}
	return was
}

// findIndexes notes the index files of directories in which a name came or went.
func (r *naming) findIndexes() {
	n := r.n
	n.indexOf = slices.Clone(r.old.indexOf)
	for len(n.indexOf) < len(n.tree.nodes) {
		n.indexOf = append(n.indexOf, NoNode)
	}
	for _, id := range r.went {
		n.indexOf[id] = NoNode
	}
	q := asking{s: n, p: &n.profile}
	for _, id := range r.came {
		if n.tree.nodes[id].kind == KindDir {
			r.dirs[id] = true
		}
	}
	for id := range r.dirs {
		n.indexOf[id] = NoNode
		if a := q.directory(id, nil, false, ""); a.State == StateOK {
			n.indexOf[id] = a.Node
		}
	}
}

// concerned returns the pages to read: new and edited ones, and those with a
// link that a name has a part in which came or went.
func (r *naming) concerned(c *Change, edited []PageID, answers []bool, was map[string]Resolved) []PageID {
	n := r.n
	same := make(map[string]bool, len(was))
	for target, a := range was {
		u, err := weburl.Parse("http://" + n.bases[0].host + target)
		same[target] = err == nil && n.request(u, nil) == a
	}
	again := make(map[PageID]bool, len(edited))
	for _, old := range edited {
		if id := c.Now(old); id != NoPage {
			again[id] = true
		}
	}
	var out []PageID
	for i := range n.pages {
		p := &n.pages[i]
		if id := PageID(i); again[id] || c.Then(id) == NoPage || p.err.Err != nil || !holds(p, answers, same) {
			out = append(out, id)
		}
	}
	return out
}

// holds tells whether all links of a page have the same answers still.
func holds(p *Page, answers []bool, same map[string]bool) bool {
	kept := p.kept
	for i := range p.links {
		l := &p.links[i]
		if l.State <= StateRedirect && l.Node != NoNode {
			if answers[l.Node] {
				return false
			}
			continue
		}
		if l.State == StateEmptyLink || l.State == StateMappingLoop || l.State >= StateExternal && l.State <= StateOutsideBase {
			continue // no name of the docroot has a part in it
		}
		for len(kept) > 0 && kept[0].link < uint32(i) {
			kept = kept[1:]
		}
		if len(kept) == 0 || kept[0].link != uint32(i) {
			return false // nobody knows what it asked for
		}
		if target := kept[0].Target; strings.HasPrefix(target, "/") && !same[target] {
			return false
		}
	}
	return true
}
