package site

import (
	"net/url"
	"strings"
)

// BasePath returns the path of the first base URL, without final slash: ""
// for a site at the root of its host.
func (s *Host) BasePath() string { return s.bases[0].path } // of a rooted site: none

// Href returns the site path, percent-encoded, by which a node is requested:
// directories end in a slash, a default index file goes by its directory, and a
// page without its extension where the host redirects to that.
func (s *Host) Href(id NodeID) string {
	if at := s.addresses[id]; at != "" {
		return s.bases[0].path + at
	}
	n := &s.tree.nodes[id]
	if n.kind == KindFile && s.indexOf[n.parent] == id {
		id = n.parent
		n = &s.tree.nodes[id]
	}
	path := s.tree.Path(id)
	if n.flags&flagMoved != 0 {
		path = strings.TrimSuffix(path, ".html")
	}
	p := s.bases[0].path + "/" + escapePath(path, Generic.Literal, upperHex)
	if n.kind == KindDir && !strings.HasSuffix(p, "/") {
		p += "/"
	}
	return p
}

// pageAddress returns the URL of a page under the first base URL: where the
// browser is when it shows the page.
func (s *Host) pageAddress(id NodeID) string {
	path := ""
	if s.tree.nodes[id].flags&flagMoved != 0 || s.addresses[id] != "" {
		path = s.Href(id)
	} else {
		u := url.URL{Path: "/" + s.tree.Path(id)}
		path = s.BasePath() + u.EscapedPath()
	}
	_, onHost := s.Public(path)
	return "http://" + s.baseOf(path).host + onHost
}

// Lookup returns the node at a decoded docroot path; "" is the docroot.
func (s *Host) Lookup(path string) (NodeID, bool) {
	at := NodeID(0)
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if name == "" {
			continue
		}
		if at = s.tree.child(s.tree.nodes[at].real, []byte(name)); at == NoNode {
			return 0, false
		}
	}
	return at, true
}
