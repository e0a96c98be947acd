package check

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/site"
)

// OrphanFile is a file of the docroot that visitors do not find.
type OrphanFile struct {
	// Path is relative to the docroot, with slashes.
	Path string
	// IsPage reports whether it is a page, not an image or the like.
	IsPage bool
	// Linked reports whether pages link to it. It is listed because no chain of
	// links from the seeds leads there. Only pages are listed for that reason.
	Linked bool
	// Alias is where the meta refresh of a page leads, as written. Such pages
	// keep old addresses alive that other sites still link to.
	Alias string
}

// Orphans lists the files that no other page links to, and the pages that no
// chain of links leads to, sorted by path (LL-109). Chains begin at the seeds of
// from, which are linksets as in [Options.From], or at the home page if from is
// empty. With linksets, only their files are listed.
//
// A link in a directory listing of the host counts (LL-78), and so does a link with the
// wrong letter case. Links in sitemaps and feeds do not count, because visitors do not read
// them. Links in Markdown count for other Markdown. Files that hosts, browsers and robots
// ask for by name are not orphans: error pages, robots.txt, favicons, sitemaps, web
// manifests and configuration files of hosts. Neither are files with a dot at the beginning
// of their name or of one of their directories.
//
// The error is that of a linkset, or of ctx. Calls may be concurrent.
func Orphans(ctx context.Context, s *site.Site, from []string) ([]OrphanFile, error) {
	return orphans(ctx, isite.Unwrap(s), from)
}

func orphans(ctx context.Context, s *isite.Site, from []string) ([]OrphanFile, error) {
	sets, err := parseLinksets(from)
	if err != nil {
		return nil, err
	}
	seeds := sets.seeds()
	if len(seeds) == 0 {
		seeds = []string{"/"}
	}
	w := newWalker(s)
	defer w.reader.Close()
	if err := w.walk(ctx, seeds); err != nil {
		return nil, err
	}
	entered := slices.ContainsFunc(w.visits, func(v Visit) bool { return v.Kind == VisitCheck })
	linked := linkedFiles(s, w)
	for _, seed := range seeds {
		if node, _, ok := w.find(seed); ok {
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
		if hasWellKnownName(name) || isVariant(s, name) {
			continue
		}
		if len(sets.all) > 0 && !slices.ContainsFunc(addressesOf(s, node), sets.match) {
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

// isDocument reports whether people read pages of that kind.
func isDocument(k isite.PageKind) bool { return k == isite.PageHTML || k == isite.PageXHTML }

// linkedFiles reports, by node, which files a link of another file leads to.
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
		if isProgramList(p.Kind()) {
			continue
		}
		links := p.All()
		for j := range links {
			l := &links[j]
			if p.Kind() == isite.PageMarkdown && !isMarkdown(s, l.Node) {
				continue // language models read it, and browsers show it as text
			}
			if l.Node == docroot.NoNode || l.Node == p.Node() || !l.State.Answers() && !l.State.IsMeant() {
				continue
			}
			if l.State == host.StateAutoindex && !linked[l.Node] {
				listings = append(listings, l.Node)
			}
			mark(l.Node)
		}
	}
	// The files that listings show, and the listings below them.
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

// findAliases reads the orphan pages with few links again, and notes where a
// meta refresh leads.
func findAliases(s *isite.Site, all []OrphanFile) error {
	// An alias page has its refresh, a canonical link, and a link to click.
	const maxLinks = 8
	r := s.NewReader()
	defer r.Close()
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
		if err := r.Open(); err != nil {
			return err
		}
		// The check reports pages that changed meanwhile.
		_ = r.Details(id, nil, func(_ int, d *isite.Detail) {
			if o.Alias == "" && d.Element == "meta" && d.Kind == scan.KindRefresh {
				o.Alias = strings.Clone(d.Raw)
			}
		})
	}
	return nil
}

// Files with these names, in lower case, need no link: hosts, browsers and
// robots ask for them by name. Each is a pattern of path.Match.
var (
	wellKnownNames = []string{ // in any directory
		"404.html", "404.htm", "404.shtml", "50x.html", "500.html", // error pages
		"manifest.json", "manifest.webmanifest", "site.webmanifest",
		"sitemap*.xml", "sitemap*.xml.gz", "sitemap*.txt", "llms.txt", "llms-*.txt",
	}
	wellKnownAtRoot = []string{ // in the docroot itself
		"robots.txt", "favicon.ico", "apple-touch-icon*.png", "browserconfig.xml", "crossdomain.xml",
		"ads.txt", "app-ads.txt", "humans.txt", "security.txt",
		"google*.html", "bingsiteauth.xml", "yandex_*.html", // proof of ownership
		"sw.js", "service-worker.js", // registered by a script
	}
)

// hasWellKnownName reports whether the file at a path of the docroot needs no
// link, because programs ask for it by name.
func hasWellKnownName(file string) bool {
	if strings.HasPrefix(file, ".") || strings.Contains(file, "/.") {
		return true
	}
	lower := strings.ToLower(file)
	name := path.Base(lower)
	return matchesName(wellKnownNames, name) || name == lower && (host.IsConfig(name) || matchesName(wellKnownAtRoot, name)) || lower == "404/index.html"
}

func matchesName(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(p, name)
		return ok
	})
}

// isMarkdown reports whether a node is a Markdown file that was read.
func isMarkdown(s *isite.Site, n docroot.NodeID) bool {
	id, ok := s.PageOf(n)
	return ok && (s.Page(id).Kind() == isite.PageMarkdown || s.Page(id).Kind() == isite.PageShown)
}

// isProgramList reports whether files of that kind list pages for programs. No
// visitor follows their links.
func isProgramList(k isite.PageKind) bool {
	switch k {
	case isite.PageFeed, isite.PageJSONFeed, isite.PageSitemap, isite.PageIndex, isite.PageOPML, isite.PageJSONLD, isite.PageRobots, isite.PageHeaders:
		return true
	}
	return false
}

// isVariant reports whether a file is a compressed form of another file, which
// the host sends in its place, or a source map, which its file names.
func isVariant(s *isite.Site, name string) bool {
	for _, suffix := range []string{".gz", ".br", ".zst", ".map"} {
		of, ok := strings.CutSuffix(name, suffix)
		if !ok || suffix == ".map" && !strings.HasSuffix(of, "js") && !strings.HasSuffix(of, ".css") {
			continue
		}
		node, found := s.Lookup(of)
		return found && s.Tree().Kind(node) == docroot.KindFile
	}
	return false
}
