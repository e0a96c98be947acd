package site

import (
	"bytes"
	"hash/maphash"
)

// cached is what the fast path found for a path, seen from a directory. Pages
// of a directory repeat each other's links: on rust-doc 86 of 100 plain paths are
// answered from here.
type cached struct {
	dir   NodeID
	node  NodeID
	len   uint8
	state State
	path  [54]byte // an entry is one cache line
}

const cacheSize = 1 << 10

// note remembers what the slow path found. Only values that mean the same on
// every page of the directory may be kept: not those that stand for the page
// itself, and not those that its encoding changes.
func (r *resolver) note(v []byte, state State, node NodeID) {
	k := bytes.IndexByte(v, '#')
	if k < 0 {
		k = len(v)
	} else if _, plain := plainFragment(v[k+1:]); !plain {
		return
	}
	if !r.plainBase || k == 0 || k > len(cached{}.path) {
		return
	}
	for _, c := range v[:k] {
		if c <= ' ' || c == ':' || c == '?' {
			return
		}
	}
	c := r.slot(v[:k])
	c.dir, c.node, c.state, c.len = r.dir, node, state, uint8(k)
	copy(c.path[:], v[:k])
}

// slot is the place in the cache of a path seen from the current directory.
func (r *resolver) slot(path []byte) *cached {
	h := maphash.Bytes(r.s.tree.seed, path) + uint64(r.dir)*0x9E3779B97F4A7C15
	return &r.cache[h>>32%cacheSize]
}

// recall is fast with a memory for the paths of one directory. It is bounded,
// and an entry makes way for the next.
func (r *resolver) recall(v []byte) (State, NodeID, []byte, bool) {
	k := bytes.IndexByte(v, '#')
	if k < 0 {
		k = len(v)
	}
	path := v[:k]
	if !r.plainBase || k == 0 || k > len(cached{}.path) {
		return r.fast(v)
	}
	c := r.slot(path)
	if c.dir == r.dir && int(c.len) == k && string(c.path[:k]) == string(path) {
		if k == len(v) {
			return c.state, c.node, nil, true
		}
		frag, ok := plainFragment(v[k+1:])
		return c.state, c.node, frag, ok
	}
	state, node, frag, ok := r.fast(v)
	if ok && path[0] != '?' {
		c.dir, c.node, c.state, c.len = r.dir, node, state, uint8(k)
		copy(c.path[:], path)
	}
	return state, node, frag, ok
}
