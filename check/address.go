package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/weburl"
)

// addresses knows the site paths, decoded and below the base path, by which
// files are asked for.
type addresses struct{ s *isite.Site }

// of returns the addresses of a page or listing, the one that sites link to
// first: a default index file goes by its directory and by its own name
// (A-LL-2), a page without its suffix where the host serves it so.
func (a addresses) of(node docroot.NodeID) []string {
	t := a.s.Tree()
	path := "/" + t.Path(node)
	if t.Kind(node) == docroot.KindDir {
		if path != "/" {
			path += "/"
		}
		return []string{path}
	}
	all := []string{a.decode(a.s.Href(node))}
	add := func(p string) {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	add(path)
	p := a.s.Profile()
	for _, suffix := range p.PageSuffixes {
		bare, ok := strings.CutSuffix(path, suffix)
		if ok && p.Page != host.Missing {
			add(bare)
		}
		if ok && p.PageSlash != host.Missing {
			add(bare + "/")
		}
	}
	name := t.Name(node)
	if slices.ContainsFunc(a.s.IndexNames(), func(index string) bool { return strings.EqualFold(index, name) }) {
		add(path[:len(path)-len(name)])
	}
	return all
}

// nearest returns the address of node that path means: itself, itself with a
// slash, or, behind a rewrite, the first one.
func (a addresses) nearest(node docroot.NodeID, path string) string {
	all := a.of(node)
	for _, meant := range []string{path, path + "/"} {
		if slices.Contains(all, meant) {
			return meant
		}
	}
	return all[0]
}

// decode takes query and base path from a site path, and decodes the rest.
func (a addresses) decode(path string) string {
	path, _, _ = strings.Cut(path, "?")
	path = strings.TrimPrefix(path, a.s.BasePath())
	path = string(weburl.PercentDecode(nil, path))
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return cmp.Or(path, "/")
}
