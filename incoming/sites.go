package incoming

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/sitelink/sitelink/internal/glob"

	"github.com/sitelink/sitelink/internal/weburl"
)

// Sites are the sites that a receiver accepts notices for. They answer
// questions about pages without any request. The zero value has no sites. Sites
// are safe for concurrent use.
type Sites struct {
	current atomic.Pointer[siteSet]
}

// siteSet is an immutable set of sites, by host.
type siteSet struct {
	manifests []*Manifest
	hosts     map[string][]mount // those with the longest path first
}

// mount is the address of a site.
type mount struct {
	authority string // host, and port unless it is the default
	path      string // "" or begins with a slash and does not end in one
	of        *Manifest
}

// Set replaces all sites at once: a question is answered from the old ones or
// from the new ones, never from both.
func (s *Sites) Set(manifests ...*Manifest) {
	set := &siteSet{slices.Clone(manifests), make(map[string][]mount)}
	for _, m := range manifests {
		for _, at := range m.mounts {
			set.hosts[at.authority] = append(set.hosts[at.authority], at)
		}
	}
	for _, list := range set.hosts {
		slices.SortStableFunc(list, func(a, b mount) int { return cmp.Compare(len(b.path), len(a.path)) })
	}
	s.current.Store(set)
}

// All returns the sites.
func (s *Sites) All() []*Manifest {
	if set := s.current.Load(); set != nil {
		return slices.Clone(set.manifests)
	}
	return nil
}

// Page is what the sites know about a URL.
type Page struct {
	// Served is set if the URL is below the address of one of the sites.
	Served bool
	// Complete is set if the site knows all its pages, so that a page that is
	// not among them certainly does not exist (A-PB-4).
	Complete bool
	// Exists is set if the site answers the URL with a page, an image or another
	// file. Addresses from which the site redirects count: pages of other sites
	// still link to them, and their authors expect that a link to the old
	// address counts. Those that only a rule for all missing pages answers do
	// not, and neither do pages that say that they were deleted.
	Exists bool
	// Accepts is set if the page takes notices: it exists, no pattern closes it,
	// and it is not the site's error page.
	Accepts bool
	// URL is the address of the page itself, after redirects, aliases and its
	// canonical link, without fragment. It is "" if the page does not exist.
	URL string
	// Path is the path of its file in the docroot, "" if that is not known.
	Path string
	// Text is the hash of the text of an HTML page, without the parts that belong
	// to the theme. It is 0 if that is not known, or if there is hardly any text.
	Text uint64
}

// Lookup returns what is known about a URL, in any spelling and with any fragment. The
// page of a URL that is invalid or of another site is the zero value.
func (s *Sites) Lookup(url string) Page {
	m, u := s.find(url)
	if m == nil {
		return Page{}
	}
	return m.page(u)
}

// Links reports whether the page at the URL source, which is ours, links to the
// URL target. The spelling of both and the fragment of target do not matter.
func (s *Sites) Links(source, target string) bool {
	m, u := s.find(source)
	return m != nil && m.links(u, target)
}

// find returns the site that has a URL, or nil.
func (s *Sites) find(url string) (*Manifest, weburl.URL) {
	set := s.current.Load()
	if set == nil {
		return nil, weburl.URL{}
	}
	u, err := weburl.Parse(url)
	if err != nil || u.HasCredentials() || u.Scheme() != "http" && u.Scheme() != "https" {
		return nil, u
	}
	for _, at := range set.hosts[u.Authority()] {
		if rest, ok := strings.CutPrefix(u.Path(), at.path); ok && (rest == "" || rest[0] == '/') {
			return at.of, u
		}
	}
	return nil, u
}

// ManifestOptions select the pages of a site that take notices. The zero value
// selects all.
type ManifestOptions struct {
	// Closed are globs of paths that take no notices, relative to the docroot or
	// to the address of a gateway; ** matches any number of segments.
	Closed []string
}

func (o ManifestOptions) check() error {
	for _, pattern := range o.Closed {
		if err := glob.Check(pattern); err != nil {
			return fmt.Errorf("closed: %.100q: %w", pattern, err)
		}
	}
	return nil
}

// closes reports whether a path takes no notices.
func (o ManifestOptions) closes(path string) bool {
	return slices.ContainsFunc(o.Closed, func(pattern string) bool {
		return glob.Match(pattern, path) // checked by check
	})
}

// Gateway returns a site that another machine serves, so that only its address
// is known (PB-64). All its pages are taken to exist.
func Gateway(base string, opt ManifestOptions) (*Manifest, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	m := &Manifest{base: base, opt: opt}
	if err := m.mountAt(base); err != nil {
		return nil, err
	}
	return m, nil
}

// mountAt adds an address of the site.
func (m *Manifest) mountAt(base string) error {
	u, err := weburl.Parse(base)
	switch {
	case err != nil:
		return err
	case u.Scheme() != "http" && u.Scheme() != "https":
		return fmt.Errorf("base URL %q: only http and https are possible", base)
	case u.HasCredentials() || u.HasQuery() || u.HasFragment():
		return fmt.Errorf("base URL %q: it must not have a user name, a query or a fragment", base)
	}
	m.mounts = append(m.mounts, mount{u.Authority(), strings.TrimRight(u.Path(), "/"), m})
	return nil
}

// ErrNoBase means that a docroot was loaded without a base URL. Notices contain
// the absolute URLs of pages.
var ErrNoBase = errors.New("the site was loaded without a base URL")
