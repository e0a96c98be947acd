package site

import (
	"bytes"
	"hash/maphash"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
)

// cached is what the fast path found for a path, seen from a directory. Pages
// of a directory repeat each other's links: on rust-doc 94 of 100 plain paths are
// answered from here. Directory and path are known by a hash under a random key:
// as for fragments, 64 bits do not collide by chance, and nobody can choose them.
// With 16 bytes an entry there are eight times as many in the same room as with
// the path itself, which answered 84 of 100 there, and no path is too long.
type cached struct {
	hash  uint64 // 0: free
	node  docroot.NodeID
	state host.State
}

const cacheSize = 1 << 13

// note remembers what the slow path found. Only values that mean the same on
// every page of the directory may be kept: not those that stand for the page
// itself, and not those that its encoding changes.
func (r *resolver) note(v []byte, state host.State, node docroot.NodeID) {
	k := bytes.IndexByte(v, '#')
	if k < 0 {
		k = len(v)
	} else if _, plain := host.PlainFragment(v[k+1:]); !plain {
		return
	}
	if !r.PlainBase || k == 0 {
		return
	}
	for _, c := range v[:k] {
		if c <= ' ' || c == ':' || c == '?' {
			return
		}
	}
	h := r.pathHash(v[:k])
	*r.slot(h) = cached{hash: h, node: node, state: state}
}

// pathHash is the hash of a path seen from the current directory, never 0.
func (r *resolver) pathHash(path []byte) uint64 {
	return (maphash.Bytes(r.s.hash.id, path) + uint64(r.Dir)*0x9E3779B97F4A7C15) | 1
}

func (r *resolver) slot(h uint64) *cached { return &r.cache[h>>32%cacheSize] }

// recall is fast with a memory for the paths of one directory. It is bounded,
// and an entry makes way for the next.
func (r *resolver) recall(v []byte) (host.State, docroot.NodeID, []byte, bool) {
	k := bytes.IndexByte(v, '#')
	if k < 0 {
		k = len(v)
	}
	if !r.PlainBase || k == 0 || k > host.MaxPlain {
		return r.Fast(v)
	}
	h := r.pathHash(v[:k])
	c := r.slot(h)
	if c.hash == h {
		if k == len(v) {
			return c.state, c.node, nil, true
		}
		frag, ok := host.PlainFragment(v[k+1:])
		return c.state, c.node, frag, ok
	}
	state, node, frag, ok := r.Fast(v)
	if ok && v[0] != '?' {
		*c = cached{hash: h, node: node, state: state}
	}
	return state, node, frag, ok
}
