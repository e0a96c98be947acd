package site

import "slices"

// upkeep is what a site that is edited keeps from one [Site.Update] to the next,
// so that an edit costs what it changes and not what the site holds. The first
// edit makes it, in one pass over all links.
type upkeep struct {
	// links counts, by node, the links that lead to a file and that it answers;
	// late those of pages that are pages only since others link to them.
	links, late []uint32
	// manifests counts the pages that call a file their manifest, several the
	// pages that name more than one.
	manifests map[NodeID]int
	several   int
	// aliases are the symbolic links that lead to a file of the docroot.
	aliases map[NodeID][]NodeID
	// kept counts the details that are kept, see maxKept.
	kept int64
	// worker reads what changes: its buffers are large enough by now.
	worker *worker
}

func (s *Site) newUpkeep() *upkeep {
	k := &upkeep{links: make([]uint32, len(s.tree.nodes)), late: make([]uint32, len(s.tree.nodes)), manifests: map[NodeID]int{}}
	for i := range s.pages {
		k.count(s, &s.pages[i], 1, nil)
	}
	k.findAliases(s.tree)
	return k
}

func (k *upkeep) findAliases(t *Tree) {
	k.aliases = map[NodeID][]NodeID{}
	for id := range t.nodes {
		if x := &t.nodes[id]; x.kind == KindFile && x.real != NodeID(id) {
			k.aliases[x.real] = append(k.aliases[x.real], NodeID(id))
		}
	}
}

// count adds a page, or with n = -1 takes one out. touched, when not nil, gets
// the nodes whose counts were 0 or are now.
func (k *upkeep) count(s *Site, p *Page, n int, touched map[NodeID]wasLinked) {
	late := s.isLate(p)
	counts := k.links
	if late {
		counts = k.late
	}
	for i := range p.links {
		l := &p.links[i]
		if l.Node == NoNode || !l.State.Answers() {
			continue
		}
		if touched != nil && (counts[l.Node] == 0 || counts[l.Node] == 1 && n < 0) {
			if _, known := touched[l.Node]; !known {
				touched[l.Node] = wasLinked{k.links[l.Node] > 0, k.links[l.Node]+k.late[l.Node] > 0}
			}
		}
		counts[l.Node] += uint32(n)
	}
	k.kept += int64(n * len(p.kept))
	if p.manifests {
		k.several += n
	}
	if p.manifest != 0 && !late {
		if k.manifests[p.manifest] += n; k.manifests[p.manifest] == 0 {
			delete(k.manifests, p.manifest)
		}
	}
}

// wasLinked tells whether links led to a file: those of pages by their names,
// and those of all pages.
type wasLinked struct{ early, any bool }

// isLinked tells the same of now.
func (k *upkeep) isLinked(id NodeID) wasLinked {
	return wasLinked{k.links[id] > 0, k.links[id]+k.late[id] > 0}
}

// listed returns, by node, whether links or the directory listings that they
// lead to reach a file, of pages that are so by their names if late is false.
func (k *upkeep) listed(s *Site, late bool) []bool {
	was := s.linked
	defer func() { s.linked = was }()
	s.linked = make([]bool, len(k.links))
	for id, n := range k.links {
		s.linked[id] = n > 0
	}
	s.linkListed()
	if late {
		for id, n := range k.late {
			s.linked[id] = s.linked[id] || n > 0
		}
	}
	return s.linked
}

// mayBeMap tells whether a file becomes an image map when a link leads to it.
func (s *Site) mayBeMap(x *node) bool {
	name := s.tree.nameOf(x)
	return x.kind == KindFile && hasEnding(name, ".map") && !isSourceMap(name)
}

// samePages tells whether the files that are pages since others lead to them
// are the same as before: touched are those to which a first link came, or from
// which the last one went.
func (k *upkeep) samePages(s *Site, touched map[NodeID]wasLinked, manifests []NodeID) bool {
	if k.several > 0 || len(k.manifests) != len(manifests) {
		return false
	}
	for _, id := range manifests {
		if k.manifests[id] == 0 {
			return false
		}
	}
	if s.autoindex == AutoindexList {
		for id, linked := range k.listed(s, false) {
			if x := &s.tree.nodes[id]; s.mayBeMap(x) && linked != (x.page != 0) {
				return false
			}
		}
		return true
	}
	for id, was := range touched {
		if was.early != k.isLinked(id).early && s.mayBeMap(&s.tree.nodes[id]) {
			return false
		}
	}
	return true
}

// manifestNodes returns the files that pages call their manifests, sorted.
func (k *upkeep) manifestNodes() []NodeID {
	out := make([]NodeID, 0, len(k.manifests))
	for id := range k.manifests {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// grow makes room for nodes that came.
func (k *upkeep) grow(nodes int) {
	for len(k.links) < nodes {
		k.links, k.late = append(k.links, 0), append(k.late, 0)
	}
	if w := k.worker; w != nil {
		for len(w.linked) < nodes {
			w.linked = append(w.linked, false)
		}
	}
}
