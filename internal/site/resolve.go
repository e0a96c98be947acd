package site

import (
	"bytes"
	"hash/maphash"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/weburl"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// resolver finds the answer to the links of one page after the other. It
// belongs to one worker.
type resolver struct {
	host.PathResolver
	s *Site
	// pageURL is the page's own address; base what its links resolve against.
	pageURL   weburl.URL
	base      weburl.URL
	lazyBase  bool // pageURL and base are not parsed yet
	cache     *[cacheSize]cached
	memo      map[string]host.Resolved // nil: none
	memoDir   docroot.NodeID
	memoPlain bool
	// self is the answer to the address of page selfOf.
	self    host.Resolved
	selfOf  docroot.NodeID
	hasSelf bool
	charset string
	// refNotFound stands in HTML pages where the generator had no page for a
	// reference.
	refNotFound string
}

// link resolves one link of the page into a record, and what it asks for.
func (r *resolver) link(page *scan.Page, l *scan.Link, rec *Link, ask *Fragment) (asks bool) {
	if l.Inert || l.Kind >= scan.KindAction && l.Kind <= scan.KindMap {
		return r.unfollowed(l, rec, ask)
	}
	v := page.Ref(l)
	if len(v) == 0 && l.Kind == scan.KindResource {
		*rec = Link{Off: l.Off, Node: docroot.NoNode, State: host.StateEmptyLink}
		return false
	}
	state, node, frag, ok := r.resolveCached(v)
	if !ok {
		res := r.resolveURL(v, l.Kind == scan.KindReference)
		state, node, frag = res.State, res.Node, []byte(res.Fragment)
		r.remember(v, state, node)
	}
	*rec = Link{Off: l.Off, Node: node, State: state}
	if r.refNotFound != "" && l.Kind == scan.KindLink && string(v) == r.refNotFound {
		rec.State = host.StateUnresolvedRef
	} else if len(frag) > 0 && state.Answers() && state != host.StateAutoindex {
		*ask, asks = r.s.hash.fragment(frag)
	}
	return asks
}

// unfollowed is link for what is no link to a page by what it is.
func (r *resolver) unfollowed(l *scan.Link, rec *Link, ask *Fragment) (asks bool) {
	*rec = Link{Off: l.Off, Node: docroot.NoNode}
	switch {
	case l.Inert:
		rec.State = host.StateInert
	case l.Kind == scan.KindAction:
		rec.State = host.StateAction
	case l.Kind == scan.KindHint:
		rec.State = host.StateHint
	case l.Kind == scan.KindPing:
		rec.State = host.StatePing
	case l.Kind == scan.KindMap:
		*ask = r.usemap(l, rec)
		return true
	}
	return false
}

// usemap looks for a map of the page by the rules for a hash-name reference
// (HTML 2.3.9): what stands behind the first "#". Without one no map can be
// meant, and what no table holds is asked for: an empty name.
func (r *resolver) usemap(l *scan.Link, rec *Link) Fragment {
	rec.Node, rec.bits = r.Page, bitMap
	_, name, _ := bytes.Cut(l.Value, []byte("#"))
	return Fragment{Exact: sum(r.s.hash.mapn, name)}
}

// slow resolves any link by the URL Standard and the profile. reference tells
// that a value of only a fragment means the page itself, whatever its base
// (CSS Values 4, 4.5.4).
func (r *resolver) resolveURL(v []byte, reference bool) host.Resolved {
	return r.traceURL(v, reference, nil)
}

// trace is slow with the steps that lead to the answer, when steps is not nil.
func (r *resolver) traceURL(v []byte, reference bool, steps *[]host.Step) host.Resolved {
	r.address()
	base := r.base
	if reference && len(v) > 0 && v[0] == '#' {
		base = r.pageURL
	}
	u, err := base.ResolveWith(string(v), r.encoding())
	if err != nil {
		res := host.Resolved{State: host.StateBadURL, Node: docroot.NoNode}
		if e, ok := err.(*weburl.Error); ok {
			res.Note = string(e.Reason)
		}
		return res
	}
	if steps != nil {
		*steps = append(*steps, host.Step{Rule: "url", Text: strings.TrimPrefix(u.String(), host.Unpublished)})
	}
	res := r.s.Resolve(u, steps)
	res.Fragment = u.Fragment()
	if res.State.Answers() || res.State == host.StateMissingFile || res.State == host.StateMissingDirectory {
		n := u.Notes()
		switch {
		case n&weburl.NoteAboveRoot != 0 && res.State.Answers():
			res.State = host.StateAboveRoot
		case n&weburl.NoteAboveRoot != 0:
			res.State = host.StateOutsideDocroot
		case n&weburl.NoteBackslash != 0 && (res.State == host.StateOK || res.State == host.StateRedirect):
			res.State = host.StateBackslash
		}
	}
	return res
}

// encoding is the page's encoding when its queries are not in UTF-8.
func (r *resolver) encoding() encoding.Encoding {
	if r.charset == "" || r.charset == "utf-8" {
		return nil
	}
	e, err := htmlindex.Get(r.charset)
	if err != nil {
		return nil
	}
	return e
}

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
func (r *resolver) remember(v []byte, state host.State, node docroot.NodeID) {
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
func (r *resolver) resolveCached(v []byte) (host.State, docroot.NodeID, []byte, bool) {
	k := bytes.IndexByte(v, '#')
	if k < 0 {
		k = len(v)
	}
	if !r.PlainBase || k == 0 || k > host.MaxPlain {
		return r.ResolvePath(v)
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
	state, node, frag, ok := r.ResolvePath(v)
	if ok && v[0] != '?' {
		*c = cached{hash: h, node: node, state: state}
	}
	return state, node, frag, ok
}

// aliasTarget returns where the refresh link l leads, as a site path or
// absolute URL; empty when it is the page itself, which then only reloads, or
// nothing that a browser goes to.
//
// Generators write such pages for the old addresses of a page ("aliases" in
// Hugo). The host answers 200, so that only reading the page tells.
func (r *resolver) aliasTarget(page *scan.Page, l *scan.Link, rec *Link) string {
	if rec.State <= host.StateRedirect {
		if to, ok := r.plainTarget(page.Ref(l)); ok {
			if rec.Node == r.Page {
				return ""
			}
			return to
		}
	}
	res := r.resolveURL(page.Ref(l), false)
	if res.Target == "" || res.State == host.StateJavaScript || res.State.Answers() && res.Node == r.Page {
		return ""
	}
	to := res.Target
	if res.Fragment != "" {
		to += "#" + res.Fragment
	}
	return strings.Clone(to)
}

// plainTarget is the Target of slow, with the fragment, of a value that a file
// answers and that is nothing but plain names and dots: most of rust-doc's 10,098
// alias pages have one (3.5 us each by slow, 0.2 us so).
func (r *resolver) plainTarget(v []byte) (target string, ok bool) {
	path, frag, hasFrag := bytes.Cut(v, hash)
	if frag, ok = host.PlainFragment(frag); !ok || !r.PlainBase || len(path) == 0 || len(path) > host.MaxPlain || r.Top != 0 || r.s.Rooted() {
		return "", false
	}
	var room [512]byte
	out := append(room[:0], '/')
	base := r.s.BasePath()
	switch {
	case path[0] == '/':
		if base != "" {
			return "", false
		}
		path = path[1:]
	case r.Dir != 0:
		out = append(r.s.tree.AppendPath(out, r.Dir), '/')
		if bytes.ContainsAny(out, "!'()*") {
			return "", false // escaped in the address of the page
		}
	}
	if !host.IsPlainPath(out) || !host.IsPlainPath(path) {
		return "", false
	}
	for len(path) > 0 {
		name, rest, more := bytes.Cut(path, []byte{'/'})
		switch {
		case len(name) == 0, !more && (string(name) == "." || string(name) == ".."):
			return "", false
		case string(name) == ".":
		case string(name) == "..":
			if len(out) == 1 {
				return "", false
			}
			out = out[:bytes.LastIndexByte(out[:len(out)-1], '/')+1]
		default:
			if out = append(out, name...); more {
				out = append(out, '/')
			}
		}
		path = rest
	}
	if !hasFrag || len(frag) == 0 {
		return base + string(out), true
	}
	return base + string(out) + "#" + string(frag), true
}
