package site

import (
	"bytes"
	"strings"
)

// foldChild returns the entry of a directory whose name equals name but for
// ASCII letter case: the lower-case one if there are several, else the first
// in byte order (A-LL-9).
func (s *Site) foldChild(dir NodeID, name string) NodeID {
	s.foldOnce.Do(s.buildFold)
	lower := strings.ToLower(name)
	best := NoNode
	for _, id := range s.fold[foldKey{dir, lower}] {
		got := s.tree.nameOf(&s.tree.nodes[id])
		switch {
		case string(got) == lower:
			return id
		case best == NoNode || bytes.Compare(got, s.tree.nameOf(&s.tree.nodes[best])) < 0:
			best = id
		}
	}
	return best
}

type foldKey struct {
	dir  NodeID
	name string
}

// buildFold indexes the tree by lower-case names. It is made when the first
// link misses: a clean site never pays for it.
func (s *Site) buildFold() {
	s.fold = make(map[foldKey][]NodeID, len(s.tree.nodes))
	for id := 1; id < len(s.tree.nodes); id++ {
		n := &s.tree.nodes[id]
		k := foldKey{n.parent, strings.ToLower(string(s.tree.nameOf(n)))}
		s.fold[k] = append(s.fold[k], NodeID(id))
	}
}
