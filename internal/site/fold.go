package site

import (
	"bytes"
	"hash/maphash"
	"strings"
	"sync"
)

// foldChild returns the entry of a directory whose name equals name but for
// letter case: the lower-case one if there are several, else the first in byte
// order (A-LL-9).
func (s *Site) foldChild(dir NodeID, name string) NodeID {
	s.fold.once.Do(func() { s.fold.build(s.tree) })
	var room [maxName]byte
	lower := lowerName(room[:0], []byte(name))
	best, isLower := NoNode, false
	for id := range s.fold.find(s.tree, dir, lower) {
		got := s.tree.nameOf(&s.tree.nodes[id])
		switch {
		case isLower:
		case bytes.Equal(got, lower):
			best, isLower = id, true
		case best == NoNode || bytes.Compare(got, s.tree.nameOf(&s.tree.nodes[best])) < 0:
			best = id
		}
	}
	return best
}

// folds indexes a tree by lower-case names. It is made when the first link
// misses: a clean site never pays for it. Sites with the same names share it.
//
// It is a hash table like that of the tree, in which names that differ in letter
// case only have a place each: no string is kept (rust-doc, 34,000 names: 2 ms, a
// map of strings took 9 ms while the other workers waited).
type folds struct {
	once  sync.Once
	table []slot
}

func (f *folds) build(t *Tree) {
	size := 2
	for size < len(t.nodes)*2 {
		size *= 2
	}
	f.table = make([]slot, size)
	for i := range f.table {
		f.table[i].id = NoNode
	}
	var room [maxName]byte
	for id := 1; id < len(t.nodes); id++ {
		n := &t.nodes[id]
		if n.kind == KindGone {
			continue
		}
		h := foldHash(t, n.parent, lowerName(room[:0], t.nameOf(n)))
		for i := h; ; i++ {
			if s := &f.table[i&uint64(size-1)]; s.id == NoNode {
				*s = slot{tag: uint32(h >> 32), id: NodeID(id)}
				break
			}
		}
	}
}

// find yields the entries of a directory with a name that is lower in lower case.
func (f *folds) find(t *Tree, dir NodeID, lower []byte) func(yield func(NodeID) bool) {
	return func(yield func(NodeID) bool) {
		var room [maxName]byte
		h := foldHash(t, dir, lower)
		for i := h; ; i++ {
			s := f.table[i&uint64(len(f.table)-1)]
			if s.id == NoNode {
				return
			}
			if s.tag != uint32(h>>32) {
				continue
			}
			if n := &t.nodes[s.id]; n.parent == dir && bytes.Equal(lowerName(room[:0], t.nameOf(n)), lower) && !yield(s.id) {
				return
			}
		}
	}
}

func foldHash(t *Tree, dir NodeID, lower []byte) uint64 {
	return maphash.Bytes(t.seed, lower) ^ (uint64(dir)+1)*0x9E3779B97F4A7C15
}

// lowerName appends a name in lower case to dst.
func lowerName(dst, name []byte) []byte {
	for _, c := range name {
		if c >= 0x80 {
			return append(dst[:0], strings.ToLower(string(name))...)
		}
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		dst = append(dst, c)
	}
	return dst
}
