package site

import (
	"context"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/weburl"
)

// renaming is the work of [updater.rename]: two trees, and which names of them
// are the same.
type renaming struct {
	*updater
	n *Site
	// heirs and forebears map the nodes of the old tree to the new and back,
	// NoNode for what went or came.
	heirs, forebears []NodeID
	// answers tells, by old node, whether links that it answered need another
	// look.
	answers []bool
	// asked remembers by target whether what was missing still is.
	asked map[string]bool
}

// rename makes the new site where names came or went: all names are listed
// again, and only pages whose links the names concern are read.
func (u *updater) rename(ctx context.Context) (*Site, *Change, error) {
	s := u.old
	w, err := walk(ctx, s.root, s.opt.Jobs)
	if err != nil {
		return nil, nil, err
	}
	n := s.heir(w.tree)
	n.faults, n.fold = append(w.faults, s.ruleReads...), &folds{}
	r := &renaming{updater: u, n: n, asked: map[string]bool{}}
	r.match()
	if w.real != s.real || w.modes != s.modes || s.severalPaths() || s.profile.AnyCase || s.rules != nil || s.local != nil || r.intricate() {
		return nil, nil, errTooIntricate
	}
	n.findIndexes()
	n.markAddresses()
	n.checkRules()
	n.RuleFaults() // they ask the tree as it is now
	n.findPages()
	if r.shut() || !slices.ContainsFunc(n.pages, func(p Page) bool { return p.kind.HasAnchors() }) {
		return nil, nil, errTooIntricate // Load says what is to be said
	}
	r.findAnswers()
	l, done, err := n.newLoader()
	if err != nil {
		return nil, nil, err
	}
	defer done()
	l.countKept()
	if err := n.sniff(ctx, l.dir); err != nil {
		return nil, nil, err
	}
	n.orderPages()
	read, err := l.reread(ctx, n.pagesAt(r.inherit(0)), nil)
	if err != nil {
		return nil, nil, err
	}
	n.markLinked(false)
	n.linkListed()
	if !n.collectManifests() {
		return nil, nil, errTooIntricate
	}
	first := len(n.pages)
	n.addImageMaps()
	if n.addManifests(); len(n.pages) > first {
		maps, err := l.reread(ctx, n.pagesAt(r.inherit(first)), nil)
		if err != nil {
			return nil, nil, err
		}
		read = append(read, maps...)
		n.orderPages()
		n.markLinked(true)
	}
	for id, old := range r.forebears {
		x := &n.tree.nodes[id]
		if x.kind == KindFile && old != NoNode && !u.touches(n.tree.Path(x.real)) {
			x.flags |= s.tree.nodes[old].flags & (fileBits &^ flagAlias)
		}
	}
	n.settleFlags(read)
	return n, &Change{Renumbered: true}, nil
}

// match finds the names that are in both trees and stand for the same kind.
func (r *renaming) match() {
	a, b := r.old.tree, r.n.tree
	r.heirs, r.forebears = make([]NodeID, len(a.nodes)), make([]NodeID, len(b.nodes))
	for i := range r.heirs {
		r.heirs[i] = NoNode
	}
	r.heirs[0] = 0
	for i := 1; i < len(b.nodes); i++ { // parents come before their children
		x := &b.nodes[i]
		r.forebears[i] = NoNode
		parent := r.forebears[x.parent]
		if parent == NoNode {
			continue
		}
		id := a.child(parent, b.nameOf(x))
		if id == NoNode || a.nodes[id].kind != x.kind || (a.nodes[id].real == id) != (x.real == NodeID(i)) {
			continue
		}
		r.forebears[i], r.heirs[id] = id, NodeID(i)
	}
}

// intricate tells whether directories changed in a way that names alone do not
// tell: links through them may have other answers everywhere.
func (r *renaming) intricate() bool {
	a, b := r.old.tree, r.n.tree
	for id := range a.nodes {
		x, heir := &a.nodes[id], r.heirs[id]
		switch {
		case x.kind == KindOutside:
			return true
		case x.real != NodeID(id):
			if heir == NoNode || r.heirs[x.real] != b.nodes[heir].real || x.kind == KindDir && r.n.profile.Page != Missing {
				return true
			}
		}
		const doors = flagUnreadable | flagPrivate | flagUnlistable | flagClosed
		if heir != NoNode && (x.kind == KindDir || x.real != NodeID(id)) && (x.flags^b.nodes[heir].flags)&doors != 0 {
			return true
		}
	}
	for id := range b.nodes {
		switch x := &b.nodes[id]; {
		case x.kind == KindOutside:
			return true
		case r.forebears[id] == NoNode && slices.Contains(ruleNames, string(b.nameOf(x))):
			return true
		}
	}
	for id := range a.nodes {
		if r.heirs[id] == NoNode && slices.Contains(ruleNames, string(a.nameOf(&a.nodes[id]))) {
			return true
		}
	}
	return false
}

// standing is where a name stands, whatever extension it has: /page, /page/,
// /page.html and /page/index.html can take each other's place.
type standing struct {
	dir  NodeID // of the old tree
	stem string
}

func stemOf(name string) string {
	name = strings.ToLower(name)
	if dot := strings.IndexByte(name, '.'); dot > 0 {
		name = name[:dot]
	}
	return name
}

// shut tells whether the host asks otherwise for all below a directory now.
func (r *renaming) shut() bool {
	for id, heir := range r.heirs {
		if heir != NoNode && (r.old.tree.nodes[id].flags^r.n.tree.nodes[heir].flags)&flagShut != 0 {
			return true
		}
	}
	return false
}

// findAnswers finds the old nodes whose links need another look: they went, or
// a name came or went that a host may take in their place.
func (r *renaming) findAnswers() {
	a, b := r.old.tree, r.n.tree
	places := map[standing]bool{}
	indexes := map[string]bool{}
	for _, name := range r.n.index {
		indexes[stemOf(name)] = true
	}
	r.answers = make([]bool, len(a.nodes))
	note := func(dir NodeID, name string) {
		stem := stemOf(name)
		places[standing{dir, stem}] = true
		if !indexes[stem] {
			return
		}
		r.answers[dir] = true
		for stem := range indexes { // one index file goes before another
			places[standing{dir, stem}] = true
		}
		if dir != 0 {
			places[standing{a.nodes[dir].parent, stemOf(a.Name(dir))}] = true
		}
	}
	for id := 1; id < len(a.nodes); id++ {
		if r.heirs[id] == NoNode && a.nodes[id].kind != KindGone {
			r.answers[id] = true
			note(a.nodes[id].parent, a.Name(NodeID(id)))
		}
	}
	for id := 1; id < len(b.nodes); id++ {
		if parent := r.forebears[b.nodes[id].parent]; r.forebears[id] == NoNode && parent != NoNode {
			note(parent, b.Name(NodeID(id)))
		}
	}
	for id := 1; id < len(a.nodes); id++ {
		x := &a.nodes[id]
		if x.kind == KindGone {
			continue
		}
		r.answers[id] = r.answers[id] || r.otherAddress(NodeID(id)) || places[standing{x.parent, stemOf(a.Name(NodeID(id)))}] ||
			x.parent != 0 && places[standing{a.nodes[x.parent].parent, stemOf(a.Name(x.parent))}]
	}
}

// otherAddress tells whether the host serves a file by another address now.
func (r *renaming) otherAddress(old NodeID) bool {
	const bits = flagMoved | flagAsk
	heir := r.heirs[old]
	return heir == NoNode || (r.old.tree.nodes[old].flags^r.n.tree.nodes[heir].flags)&bits != 0 || r.old.addresses[old] != r.n.addresses[heir]
}

// inherit gives the new pages from number first on the records of the old ones
// and returns those that have to be read.
func (r *renaming) inherit(first int) (again []PageID) {
	n := r.n
	var links slab[Link]
	for i := first; i < len(n.pages); i++ {
		p := &n.pages[i]
		node := p.node
		old := r.page(p)
		if old == nil {
			again = append(again, PageID(i))
			continue
		}
		*p = *old
		p.node, p.canon = node, r.heir(old.canon)
		if old.manifest != 0 {
			p.manifest = r.heir(old.manifest)
		}
		p.links = links.take(len(old.links))
		copy(p.links, old.links)
		for j := range p.links {
			p.links[j].Node = r.heir(p.links[j].Node)
		}
		p.kept = slices.Clone(old.kept)
		for j := range p.kept {
			p.kept[j].Node = r.heir(p.kept[j].Node)
		}
	}
	return again
}

func (r *renaming) heir(old NodeID) NodeID {
	if old == NoNode {
		return NoNode
	}
	return r.heirs[old]
}

// page returns the old page whose records hold for p, nil if there is none.
func (r *renaming) page(p *Page) *Page {
	old := r.forebears[p.node]
	if old == NoNode || r.otherAddress(old) || r.touches(r.n.tree.Path(r.n.tree.nodes[p.node].real)) {
		return nil
	}
	number := r.old.tree.nodes[old].page
	if number == 0 {
		return nil
	}
	was := &r.old.pages[number-1]
	if was.kind != p.kind || was.err.Err != nil || !r.holds(was) {
		return nil
	}
	return was
}

// holds tells whether all links of an old page have the same answers still.
func (r *renaming) holds(p *Page) bool {
	kept := p.kept
	for i := range p.links {
		l := &p.links[i]
		for len(kept) > 0 && kept[0].link < uint32(i) {
			kept = kept[1:]
		}
		switch {
		case (l.State == StateOK || l.State == StateRedirect) && l.Node != NoNode:
			if r.answers[l.Node] {
				return false
			}
		case l.State == StateEmptyLink, l.State == StateMappingLoop, l.State >= StateExternal && l.State <= StateOutsideBase:
			// No name of the docroot has a part in it.
		case len(kept) == 0 || kept[0].link != uint32(i):
			return false // nobody knows what it asked for
		case !r.still(kept[0].Target):
			return false
		}
	}
	return true
}

// still tells whether a target has the answer that it had.
func (r *renaming) still(target string) bool {
	if !strings.HasPrefix(target, "/") {
		return true // no URL
	}
	same, ok := r.asked[target]
	if !ok {
		u, err := weburl.Parse("http://" + r.n.bases[0].host + target)
		if err != nil {
			return false
		}
		a, b := r.old.request(u, nil), r.n.request(u, nil)
		same = a.State == b.State && r.heir(a.Node) == b.Node && a.Status == b.Status && a.Final == b.Final && a.Note == b.Note
		r.asked[target] = same
	}
	return same
}
