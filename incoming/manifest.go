package incoming

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan/html"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/site"
)

// Manifest is what a receiver knows about one site: which addresses answer, and
// what its pages link to. It is immutable and safe for concurrent use.
type Manifest struct {
	base   string
	mounts []mount
	opt    ManifestOptions

	// The rest is empty for a gateway.

	host *host.Host
	// ruled are the paths that redirect rules name in full.
	ruled map[string]bool
	// aliases are the targets of pages that only redirect, canonical the pages
	// that others name as their canonical address.
	aliases   map[docroot.NodeID]string
	canonical map[docroot.NodeID]docroot.NodeID
	// shut are the files that take no notices, deleted the pages that say that
	// they were deleted.
	shut, deleted map[docroot.NodeID]bool
	// external are the hashes of all pairs of a page and a URL of another site
	// that it links to, sorted. internal has the files of this site that page i
	// links to: those from start[i] to start[i+1].
	external []uint64
	internal []docroot.NodeID
	start    []uint32
	pageOf   map[docroot.NodeID]isite.PageID
	// texts has the hash of the text of each page, byText the pages by hash:
	// NoNode for a text that several pages have.
	texts  []uint64
	byText map[uint64]docroot.NodeID
}

// Base returns the address of the site.
func (m *Manifest) Base() string { return m.base }

// ReadManifest returns the manifest of a docroot. It reads the pages to find what
// they link to. The error is [ErrNoBase], that of an option, or that of a page
// that cannot be read.
func ReadManifest(ctx context.Context, docroot *site.Site, opt ManifestOptions) (*Manifest, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	s := isite.Unwrap(docroot)
	if !s.Published() {
		return nil, ErrNoBase
	}
	m := &Manifest{opt: opt, host: s.Host}
	if err := m.setAddresses(s); err != nil {
		return nil, err
	}
	m.setPages(s)
	r := &manifestReader{s: s, seen: make([]pageLinks, s.Pages())}
	if err := r.all(ctx); err != nil {
		return nil, err
	}
	m.setLinks(s, r.seen)
	return m, nil
}

// setAddresses sets where the site is published.
func (m *Manifest) setAddresses(s *isite.Site) error {
	addresses := s.Addresses()
	m.base = cmp.Or(s.BaseURL(), addresses[0]+"/")
	for _, base := range addresses {
		if err := m.mountAt(base); err != nil {
			return err
		}
	}
	m.ruled = make(map[string]bool)
	for _, path := range s.RulePaths() {
		m.ruled[path] = true
	}
	return nil
}

// setPages sets what is special about pages.
func (m *Manifest) setPages(s *isite.Site) {
	m.aliases = make(map[docroot.NodeID]string)
	m.canonical = make(map[docroot.NodeID]docroot.NodeID)
	m.shut = make(map[docroot.NodeID]bool)
	m.pageOf = make(map[docroot.NodeID]isite.PageID, s.Pages())
	for i := range s.Pages() {
		p := s.Page(isite.PageID(i))
		node := p.Node()
		m.pageOf[node] = isite.PageID(i)
		if alias := p.Alias(); alias != "" {
			m.aliases[node] = alias
		}
		if p.HasOtherCanonical() {
			m.canonical[node] = p.Canonical()
		}
		if path := s.Path(isite.PageID(i)); path == "404.html" || strings.HasSuffix(path, "/404.html") {
			m.shut[node] = true
		}
	}
}

// setLinks sets what the pages link to.
func (m *Manifest) setLinks(s *isite.Site, seen []pageLinks) {
	m.deleted = make(map[docroot.NodeID]bool)
	var internal, external int
	for i := range seen {
		internal, external = internal+len(seen[i].internal), external+len(seen[i].external)
	}
	m.internal, m.external = make([]docroot.NodeID, 0, internal), make([]uint64, 0, external)
	m.start = make([]uint32, 1, len(seen)+1)
	m.texts, m.byText = make([]uint64, len(seen)), make(map[uint64]docroot.NodeID)
	for i := range seen {
		node := s.Page(isite.PageID(i)).Node()
		if seen[i].deleted {
			m.deleted[node] = true
		} else if text := seen[i].text; text != 0 && m.aliases[node] == "" {
			m.texts[i] = text
			if _, ok := m.byText[text]; ok {
				node = docroot.NoNode
			}
			m.byText[text] = node
		}
		m.internal = append(m.internal, seen[i].internal...)
		m.start = append(m.start, uint32(len(m.internal)))
		m.external = append(m.external, seen[i].external...)
	}
	slices.Sort(m.external)
}

// page returns what is known about a URL below the address of the site.
func (m *Manifest) page(u weburl.URL) Page {
	const maxAliases = 5
	if m.host == nil {
		path := strings.Trim(strings.TrimPrefix(u.Path(), m.mounts[0].path), "/")
		return Page{Served: true, Exists: true, Accepts: !m.opt.closes(path), URL: u.WithoutFragment()}
	}
	for range maxAliases {
		p := Page{Served: true, Complete: true}
		node, state := m.answer(u)
		switch state {
		case host.StateRedirectsAway:
			p.Exists = true
			return p
		case host.StateBehindSymlink, host.StateProxied, host.StateConditional, host.StateOutsideBase, host.StateMissingBase, host.StateExternal:
			p.Complete = false
			return p
		}
		if !state.Answers() || m.deleted[node] {
			return p
		}
		p.Exists, p.Accepts = true, !m.shut[node] && state != host.StateAutoindex
		if alias, ok := m.aliases[node]; ok {
			to, err := u.Resolve(alias)
			if err != nil || m.isElsewhere(to) {
				p.Accepts = false
				return p
			}
			u = to
			continue
		}
		if c, ok := m.canonical[node]; ok {
			node = c
		}
		origin, path := m.host.Public(m.host.Href(node))
		p.URL, p.Path = origin+path, m.host.Tree().Path(node)
		p.Accepts = p.Accepts && !m.opt.closes(p.Path)
		if id, ok := m.pageOf[node]; ok {
			p.Text = m.texts[id]
		}
		return p
	}
	return Page{Served: true, Complete: true} // a loop of aliases
}

// isElsewhere reports whether a URL is not below an address of the site.
func (m *Manifest) isElsewhere(u weburl.URL) bool {
	return !slices.ContainsFunc(m.mounts, func(at mount) bool {
		rest, ok := strings.CutPrefix(u.Path(), at.path)
		return ok && (rest == "" || rest[0] == '/') && at.authority == u.Authority()
	})
}

// answer returns the file that answers a URL, and how. A file that only answers
// because a rule sends all missing pages to it does not.
func (m *Manifest) answer(u weburl.URL) (docroot.NodeID, host.State) {
	var trace []host.Step
	steps := &trace
	if m.host.Rules() == nil {
		steps = nil
	}
	r := m.host.Resolve(u, steps)
	if r.State == host.StateFallback || r.State.Answers() && r.Status >= 300 && r.State != host.StatePrivate {
		return docroot.NoNode, host.StateMissingFile
	}
	ruled := slices.ContainsFunc(trace, func(s host.Step) bool { return strings.Contains(s.Rule, ":") })
	if ruled && r.State.Answers() && m.isHome(r.Node) && !m.ruled[strings.TrimPrefix(u.Path(), m.host.BasePath())] {
		return docroot.NoNode, host.StateMissingFile
	}
	return r.Node, r.State
}

// isHome reports whether a file is a home page of the site.
func (m *Manifest) isHome(node docroot.NodeID) bool {
	return node != docroot.NoNode && strings.Count(m.host.Tree().Path(node), "/") == 0 && m.host.IndexOf(0) == node
}

// links reports whether the page at u links to target.
func (m *Manifest) links(u weburl.URL, target string) bool {
	if m.host == nil {
		return false
	}
	to, err := weburl.Parse(target)
	if err != nil {
		return false
	}
	node, state := m.answer(u)
	if !state.Answers() {
		return false
	}
	page, ok := m.pageOf[node]
	if !ok {
		return false
	}
	if m.isElsewhere(to) {
		canonical, err := weburl.Canonical(target)
		if err != nil {
			return false
		}
		_, found := slices.BinarySearch(m.external, pairHash(page, canonical))
		return found
	}
	answers, state := m.answer(to)
	if !state.Answers() {
		return false
	}
	_, found := slices.BinarySearch(m.internal[m.start[page]:m.start[page+1]], answers)
	return found
}

var pairSeed = maphash.MakeSeed()

// pairHash returns the hash of a page and the canonical URL of a page of another
// site. It is different in each process, so a sender cannot choose URLs that collide.
func pairHash(page isite.PageID, canonical string) uint64 {
	var h maphash.Hash
	h.SetSeed(pairSeed)
	maphash.WriteComparable(&h, page)
	h.WriteString(canonical)
	return h.Sum64()
}

// pageLinks is what one page links to.
type pageLinks struct {
	internal []docroot.NodeID // sorted, each once
	external []uint64
	deleted  bool   // the page says that it was deleted
	text     uint64 // hash of its text, 0 if it has little
}

// manifestReader reads the pages of a docroot.
type manifestReader struct {
	s    *isite.Site
	seen []pageLinks
}

// all reads the pages in parallel.
func (r *manifestReader) all(ctx context.Context) error {
	return r.s.Each(ctx, 0, len(r.seen), func(reader *isite.Reader) func(int) error {
		return func(i int) error {
			id := isite.PageID(i)
			if err := r.page(reader, id); err != nil {
				return fmt.Errorf("read %s: %w", r.s.Path(id), err)
			}
			return nil
		}
	})
}

// page reads one page.
func (r *manifestReader) page(reader *isite.Reader, id isite.PageID) error {
	p := r.s.Page(id)
	if !p.Kind().IsHTML() || p.Error().Err != nil {
		return nil
	}
	seen := &r.seen[id]
	var want []uint32
	for i, l := range p.All() {
		switch {
		case l.State.Answers():
			seen.internal = append(seen.internal, l.Node)
		case l.State == host.StateExternal || l.State == host.StateOutsideBase:
			want = append(want, uint32(i))
		}
	}
	slices.Sort(seen.internal)
	seen.internal = slices.Clip(slices.Compact(seen.internal))
	text, err := reader.Text(id)
	if errors.Is(err, isite.ErrChanged) {
		return nil // the next manifest has the new page
	}
	if err != nil {
		return err
	}
	if page, err := html.Parse(text, true); err == nil {
		seen.deleted, seen.text = html.IsTombstone(page), textHash(page)
	}
	if len(want) == 0 {
		return nil
	}
	origin, _ := r.s.Public(r.s.Href(p.Node()))
	add := func(to string) {
		if canonical, err := weburl.Canonical(to); err == nil {
			seen.external = append(seen.external, pairHash(id, canonical))
		}
	}
	err = reader.Details(id, want, func(_ int, d *isite.Detail) {
		to := d.Target
		if strings.HasPrefix(to, "/") {
			to = origin + to
		}
		add(to)
		if strings.HasPrefix(strings.TrimSpace(d.Raw), "//") {
			// It has the scheme of the visitor's request.
			_, rest, _ := strings.Cut(to, "://")
			add("http://" + rest)
			add("https://" + rest)
		}
	})
	slices.Sort(seen.external)
	seen.external = slices.Clip(slices.Compact(seen.external))
	if errors.Is(err, isite.ErrChanged) {
		return nil
	}
	return err
}
