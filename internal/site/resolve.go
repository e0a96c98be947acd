package site

import (
	"bytes"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/weburl"
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
	state, node, frag, ok := r.recall(v)
	if !ok {
		res := r.slow(v, l.Kind == scan.KindReference)
		state, node, frag = res.State, res.Node, []byte(res.Fragment)
		r.note(v, state, node)
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
