package host

import (
	"net/url"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
)

// BasePath returns the path of the first base URL, without final slash: ""
// for a site at the root of its host.
func (s *Host) BasePath() string { return s.bases[0].path } // of a rooted site: none

// Href returns the site path, percent-encoded, by which a node is requested:
// directories end in a slash, a default index file goes by its directory, and a
// page without its extension where the host redirects to that.
func (s *Host) Href(id docroot.NodeID) string {
	if at := s.addresses[id]; at != "" {
		return s.bases[0].path + at
	}
	n := &s.tree.Nodes[id]
	if n.Kind == docroot.KindFile && s.indexOf[n.Parent] == id {
		id = n.Parent
		n = &s.tree.Nodes[id]
	}
	path := s.tree.Path(id)
	if n.Flags&flagMoved != 0 {
		path = strings.TrimSuffix(path, ".html")
	}
	p := s.bases[0].path + "/" + escapePath(path, Generic.Literal, upperHex)
	if n.Kind == docroot.KindDir && !strings.HasSuffix(p, "/") {
		p += "/"
	}
	return p
}

// pageAddress returns the URL of a page under the first base URL: where the
// browser is when it shows the page.
func (s *Host) PageAddress(id docroot.NodeID) string {
	path := ""
	if s.tree.Nodes[id].Flags&flagMoved != 0 || s.addresses[id] != "" {
		path = s.Href(id)
	} else {
		u := url.URL{Path: "/" + s.tree.Path(id)}
		path = s.BasePath() + u.EscapedPath()
	}
	_, onHost := s.Public(path)
	return "http://" + s.baseOf(path).host + onHost
}

// Lookup returns the node at a decoded docroot path; "" is the docroot.
func (s *Host) Lookup(path string) (docroot.NodeID, bool) {
	at := docroot.NodeID(0)
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if name == "" {
			continue
		}
		if at = s.tree.Child(s.tree.Nodes[at].Real, []byte(name)); at == docroot.NoNode {
			return 0, false
		}
	}
	return at, true
}
