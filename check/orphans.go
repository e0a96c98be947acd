package check

import (
	"context"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/site"
)

// OrphanFile is a file of the docroot that visitors do not come to.
type OrphanFile struct {
	// Path is relative to the docroot, with slashes.
	Path string
	// IsPage: it is a page, not an image or the like.
	IsPage bool
	// Linked: pages link to it, but no chain of links leads there from the
	// seeds. Only pages are listed for that.
	Linked bool
	// Alias is where a page's meta refresh leads, as written: such pages stand
	// for old addresses, which other sites still know.
	Alias string
}

// Orphans lists the files that no page links to but itself, and the pages that
// no chain of links leads to from the seeds of from, linksets as in [Options],
// or else from the home page; sorted by path (LL-109). With linksets only
// files of them are listed.
//
// A link in a listing that the host makes counts (LL-78), and so does one
// whose letter case is wrong: the file was meant. Lists of files that no
// visitor reads, sitemaps and feeds, do not count. Files that hosts and robots
// ask for by name are no orphans, see [AskedByName].
//
// The error is that of a linkset, or of ctx. Safe for concurrent use.
func Orphans(ctx context.Context, s *site.Site, from []string) ([]OrphanFile, error) {
	return orphans(ctx, isite.Unwrap(s), from)
}

func orphans(ctx context.Context, s *isite.Site, from []string) ([]OrphanFile, error) {
	sets, err := parseLinksets(from)
	if err != nil {
		return nil, err
	}
	seeds := seedsOf(sets.all)
	if len(seeds) == 0 {
		seeds = []string{"/"}
	}
	w := newWalker(s)
	defer w.close()
	if err := w.seeds(ctx, seeds); err != nil {
		return nil, err
	}
	entered := slices.ContainsFunc(w.visits, func(v Visit) bool { return v.Kind == VisitCheck })
	linked := linkedFiles(s, w)
	for _, seed := range seeds {
		if node, _, ok := w.seed(seed); ok {
			linked[node] = true
		}
	}
	t := s.Tree()
	var out []OrphanFile
	for i := range t.Len() {
		node := docroot.NodeID(i)
		if t.Kind(node) != docroot.KindFile {
			continue
		}
		id, isPage := s.PageOf(node)
		unreached := isPage && entered && !w.in[id] && isDocument(s.Page(id).Kind())
		if linked[node] && !unreached {
			continue
		}
		name := t.Path(node)
		if AskedByName(name) || isCopy(s, name) {
			continue
		}
		if len(sets.all) > 0 && !slices.ContainsFunc(w.addr.of(node), sets.match) {
			continue
		}
		out = append(out, OrphanFile{Path: name, IsPage: isPage && isDocument(s.Page(id).Kind()), Linked: linked[node]})
	}
	if err := findAliases(s, out); err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b OrphanFile) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// isDocument tells whether pages of that kind are for people to read.
func isDocument(k isite.PageKind) bool { return k == isite.PageHTML || k == isite.PageXHTML }

// linkedFiles returns, by node, the files that a link of another file leads to.
func linkedFiles(s *isite.Site, w *walker) []bool {
	t := s.Tree()
	linked := make([]bool, t.Len())
	mark := func(n docroot.NodeID) {
		linked[n] = true
		linked[t.Real(n)] = true
	}
	var listings []docroot.NodeID
	for i := range s.Pages() {
		p := s.Page(isite.PageID(i))
		if isList(p.Kind()) {
			continue
		}
		links := p.All()
		for j := range links {
			l := &links[j]
			if l.Node == docroot.NoNode || l.Node == p.Node() || !l.State.Answers() && l.State != host.StateWrongCase {
				continue
			}
			if l.State == host.StateAutoindex && !linked[l.Node] {
				listings = append(listings, l.Node)
			}
			mark(l.Node)
		}
	}
	// What listings show, and the listings below them.
	for len(listings) > 0 {
		dir := listings[0]
		listings = listings[1:]
		for _, child := range w.entries(dir) {
			if t.Kind(child) != docroot.KindDir {
				mark(child)
				continue
			}
			a := s.Answer("/" + t.Path(child) + "/")
			if a.Node == docroot.NoNode || !a.State.Answers() {
				continue
			}
			if a.State == host.StateAutoindex && !linked[a.Node] {
				listings = append(listings, a.Node)
			}
			mark(a.Node)
		}
	}
	return linked
}

// findAliases reads the orphan pages that hold few links and notes where a
// meta refresh leads.
func findAliases(s *isite.Site, all []OrphanFile) error {
	// An alias page has its refresh, a canonical link, and a link to click.
	const maxLinks = 8
	var r *isite.Reader
	defer func() {
		if r != nil {
			r.Close()
		}
	}()
	for i := range all {
		o := &all[i]
		node, ok := s.Lookup(o.Path)
		id, isPage := s.PageOf(node)
		if !ok || !o.IsPage || !isPage {
			continue
		}
		if n := s.Page(id).Links(); n == 0 || n > maxLinks {
			continue
		}
		if r == nil {
			var err error
			if r, err = s.NewReader(); err != nil {
				return err
			}
		}
		// A page that changed meanwhile is no alias that is known; the check
		// reports the change.
		_ = r.Details(id, nil, func(_ int, d *isite.Detail) {
			if o.Alias == "" && d.Element == "meta" && d.Kind == scan.KindRefresh {
				o.Alias = strings.Clone(d.Raw)
			}
		})
	}
	return nil
}
