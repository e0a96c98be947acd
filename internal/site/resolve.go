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

// resolver resolves the links of one page after the other. It belongs to one
// worker.
type resolver struct {
	host.PathResolver
	s *Site
	// pageURL is the page's own address; links resolve against base.
	pageURL   weburl.URL
	base      weburl.URL
	lazyBase  bool // pageURL and base are not parsed yet
	bases     int  // how many base elements of the page are applied
	cache     *[cacheSize]cached
	memo      map[string]host.Resolved // nil: none
	memoDir   docroot.NodeID
	memoPlain bool
	// full is the whole answer to the last link, if link had to ask for it.
	full    host.Resolved
	hasFull bool
	// self is the answer to the address of page selfOf.
	self    host.Resolved
	selfOf  docroot.NodeID
	hasSelf bool
	kind    PageKind // of the page
	charset string
	// refNotFound is what the generator wrote for references that it could not
	// resolve.
	refNotFound string
	// item is the address of a feed's item, and itemText its page, see itemHas.
	item     string
	itemText []byte
}

// link resolves one link of the page into a record, and the fragment that it
// asks for.
func (r *resolver) link(page *scan.Page, l *scan.Link, rec *Link, ask *Fragment) (asks bool) {
	r.hasFull = false
	if l.Inert || l.Kind >= scan.KindAction && l.Kind <= scan.KindMap || l.Kind == scan.KindUndefined {
		return r.unfollowed(l, rec, ask)
	}
	v := page.Ref(l)
	if l.Kind == scan.KindResource && (len(v) == 0 || v[0] <= ' ' && len(bytes.TrimSpace(v)) == 0) {
		*rec = Link{Off: l.Off, Node: docroot.NoNode, State: host.StateEmptyLink}
		return false
	}
	state, node, frag, ok := r.resolveCached(v)
	if !ok {
		res := r.resolveURL(v, l.Kind == scan.KindReference)
		r.full, r.hasFull = res, true
		state, node, frag = res.State, res.Node, []byte(res.Fragment)
		r.remember(v, state, node)
	}
	switch {
	case state == host.StateExternal:
		state = r.elsewhere(page, l, v, ok)
	case state == host.StateOutsideBase && afterOneSlash(string(v)) != "":
		state = host.StateWrongHost
	case state <= host.StateRedirect && len(v) > 4 && v[4] == ':' && l.Tag != scan.TagA && scan.EqualFold(v[:4], "http") && r.blocks(page, l):
		state = host.StateMixedOwn
	}
	*rec = Link{Off: l.Off, Node: node, State: state}
	if r.refNotFound != "" && l.Kind == scan.KindLink && string(v) == r.refNotFound {
		rec.State = host.StateUnresolvedRef
	} else if len(frag) > 0 && state.Answers() && state != host.StateAutoindex {
		*ask, asks = r.s.hash.fragment(frag)
		asks = asks && !((frag[0] == 's' || frag[0] == 't' || frag[0] == 'x') && r.s.IsView(string(frag), node)) && !(isShown(page, l) && isSVG(r.s, rec))
		if l.Kind == scan.KindFont {
			rec.bits |= bitFont
		}
	}
	return asks
}

// isShown reports whether the target of a link is shown as an image, or not at all. If it
// is an SVG file, browsers ignore a fragment that names no element.
func isShown(page *scan.Page, l *scan.Link) bool {
	switch l.Tag {
	case scan.TagImg, scan.TagImage:
		return l.Attr != scan.AttrLongdesc
	case scan.TagSource, scan.TagInput, scan.TagVideo:
		return true
	case scan.TagLink:
		return !l.AtOnce || l.Attr == scan.AttrImagesrcset
	case scan.TagOther:
		switch page.Element(l) {
		case "image", "feimage", "icon", "icons", "logo", "image:loc":
			return true
		}
	}
	return l.Kind == scan.KindPicture || l.Attr == scan.AttrBackground
}

// IsView reports whether the fragment is an SVG view specification such as
// svgView(viewBox(0,0,9,9)), or a media fragment such as xywh=0,0,9,9 or t=5,
// and the file an SVG file. It names no element (SVG 2, 16.3).
func (s *Site) IsView(fragment string, file docroot.NodeID) bool {
	return (strings.HasPrefix(fragment, "svgView(") && strings.HasSuffix(fragment, ")") || strings.HasPrefix(fragment, "xywh=") || strings.HasPrefix(fragment, "t=")) &&
		strings.HasSuffix(strings.ToLower(s.Tree().Name(file)), ".svg")
}

// unfollowed is link for values that do not lead to a page, such as form
// actions.
func (r *resolver) unfollowed(l *scan.Link, rec *Link, ask *Fragment) (asks bool) {
	*rec = Link{Off: l.Off, Node: docroot.NoNode}
	switch {
	case l.Kind == scan.KindUndefined:
		rec.State, rec.Node = host.StateUnresolvedRef, r.Page
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
// (HTML 2.3.9): the name follows the first "#". Without a "#" no map can be
// meant, and the empty name is looked up, which no table has.
func (r *resolver) usemap(l *scan.Link, rec *Link) Fragment {
	rec.Node, rec.bits = r.Page, bitMap
	_, name, _ := bytes.Cut(l.Value, []byte("#"))
	return Fragment{Exact: sum(r.s.hash.mapn, name)}
}

// resolveURL resolves any link by the URL Standard and the profile. With
// reference, a value that is only a fragment refers to the page itself, even if
// the page has a base (CSS Values 4, 4.5.4).
func (r *resolver) resolveURL(v []byte, reference bool) host.Resolved {
	return r.traceURL(v, reference, nil)
}

// traceURL is resolveURL with the steps that lead to the answer, if steps is
// not nil.
func (r *resolver) traceURL(v []byte, reference bool, steps *[]host.Step) host.Resolved {
	u, err := r.resolve(v, reference)
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
	return r.s.answer(u, steps)
}

// resolve returns the URL that a value means on the page, see resolveURL.
func (r *resolver) resolve(v []byte, reference bool) (weburl.URL, error) {
	r.address()
	base := r.base
	if reference && len(v) > 0 && v[0] == '#' {
		base = r.pageURL
	}
	u, err := base.ResolveWith(string(v), r.encoding())
	if err == nil {
		u = r.s.OnForge(r.Page, string(v), u)
	}
	return u, err
}

// answer answers the request for a URL that was resolved from the value of a link.
func (s *Site) answer(u weburl.URL, steps *[]host.Step) host.Resolved {
	res := s.Resolve(u, steps)
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

// encoding returns the page's encoding if its queries are not in UTF-8.
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

// cached is what [host.PathResolver] found for a path, as seen from a
// directory. Pages of a directory repeat each other's links: on rust-doc 94 of
// 100 plain paths are answered from this cache. Directory and path are
// identified by a hash under a random key, which does not collide by chance and
// cannot be chosen. An entry takes 16 bytes, so that the cache holds eight
// times as many as with the paths themselves, which answered 84 of 100.
type cached struct {
	hash  uint64 // 0: free
	node  docroot.NodeID
	state host.State
}

const cacheSize = 1 << 13

// remember caches an answer of resolveURL. Only values that mean the same on
// every page of the directory can be cached: not those that refer to the page
// itself, and not those that depend on its encoding.
func (r *resolver) remember(v []byte, state host.State, node docroot.NodeID) {
	k := bytes.IndexByte(v, '#')
	if k < 0 {
		k = len(v)
	} else if _, plain := host.PlainFragment(v[k+1:]); !plain {
		return
	}
	if !r.PlainBase || k == 0 || state == host.StateExternal { // see elsewhere
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

// pathHash returns the hash of a path as seen from the current directory, never
// 0.
func (r *resolver) pathHash(path []byte) uint64 {
	return (maphash.Bytes(r.s.hash.id, path) + uint64(r.Dir)*0x9E3779B97F4A7C15) | 1
}

func (r *resolver) slot(h uint64) *cached { return &r.cache[h>>32%cacheSize] }

// resolveCached is ResolvePath with a cache for paths. The cache is bounded; a
// new entry replaces an old one.
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
// absolute URL; empty if it leads to the page itself, which then only reloads, or
// to a target that browsers do not open.
//
// Generators write such pages for the old addresses of a page ("aliases" in
// Hugo). The host answers with status 200, so only the page itself shows it.
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

// plainTarget returns the Target of resolveURL, with the fragment, for a value
// that a file answers and that consists of plain names and dots. Most of
// rust-doc's 10,098 alias pages have such a value (3.5 us each by resolveURL,
// 0.2 us by plainTarget).
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

// Follow returns the host's answer to a link with this value on the page from, if
// links of the page resolve against its own address. The error says that the
// value is not a URL.
func (s *Site) Follow(from PageID, value string) (host.Resolved, error) {
	base, err := weburl.Parse(s.PageAddress(s.pages[from].node))
	if err != nil {
		return host.Resolved{}, err
	}
	u, err := base.Resolve(value)
	if err != nil {
		return host.Resolved{}, err
	}
	r := s.answer(s.OnForge(s.pages[from].node, value, u), nil)
	s.permissions(&r)
	if r.State == host.StateAlias && r.Node == s.pages[from].node {
		r.State = host.StateOK
	}
	onPage(s, &s.pages[from], &r)
	return r, nil
}
