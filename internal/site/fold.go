package site

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// foldChild returns the entry of a directory whose name equals name but for
// ASCII letter case: the lower-case one if there are several, else the first
// in byte order (A-LL-9).
func (s *Site) foldChild(dir NodeID, name string) NodeID {
	s.fold.once.Do(func() { s.fold.build(s.tree) })
	lower := strings.ToLower(name)
	best := NoNode
	for _, id := range s.fold.names[foldKey{dir, lower}] {
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

// folds indexes a tree by lower-case names. It is made when the first link
// misses: a clean site never pays for it. Sites with the same names share it.
type folds struct {
	once  sync.Once
	names map[foldKey][]NodeID
}

func (f *folds) build(t *Tree) {
	f.names = make(map[foldKey][]NodeID, len(t.nodes))
	for id := 1; id < len(t.nodes); id++ {
		n := &t.nodes[id]
		if n.kind == KindGone {
			continue
		}
		k := foldKey{n.parent, strings.ToLower(string(t.nameOf(n)))}
		f.names[k] = append(f.names[k], NodeID(id))
	}
}

// change takes out names that went, which before knows, and takes in those that
// came.
func (f *folds) change(t *Tree, went []NodeID, before *Tree, came []NodeID) {
	if f.names == nil {
		return // it will be made of t
	}
	key := func(t *Tree, id NodeID) foldKey {
		n := &t.nodes[id]
		return foldKey{n.parent, strings.ToLower(string(t.nameOf(n)))}
	}
	for _, id := range went {
		k := key(before, id)
		if f.names[k] = slices.DeleteFunc(f.names[k], func(x NodeID) bool { return x == id }); len(f.names[k]) == 0 {
			delete(f.names, k)
		}
	}
	for _, id := range came {
		k := key(t, id)
		f.names[k] = append(f.names[k], id)
	}
}
