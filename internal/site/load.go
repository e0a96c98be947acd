package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/system"
)

// DefaultMaxPageBytes is the size above which a page is not read.
const DefaultMaxPageBytes = 1 << 30

// ErrNoPages reports that no file of the docroot could be parsed as a page.
var ErrNoPages = errors.New("no pages")

// Load reads a docroot. Broken links are not errors. An error means that the
// docroot cannot be read, that it holds no page (ErrNoPages), that an option is
// invalid, or that ctx was cancelled (its cause). Pages that cannot be read are
// kept with their [PageError].
func Load(ctx context.Context, root string, opt Options) (*Site, error) {
	h, err := host.Load(ctx, root, opt.host())
	if err != nil {
		return nil, err
	}
	s := &Site{Host: h, opt: opt, tree: h.Tree(), base: cmp.Or(opt.Base, h.Profile().Base, host.BaseHTML5), hash: newHasher(), public: h.IsPublic()}
	if f := h.Profile().Forge; f != nil { // people read a README on their own machine, where it names localhost
		s.public, s.hash.prefix, s.hash.anyCase = false, host.IDPrefix, f.AnyCase
	}
	if s.opt.MaxPageBytes <= 0 {
		s.opt.MaxPageBytes = DefaultMaxPageBytes
	}
	l := &loader{Site: s, modes: s.Permissions()}
	l.findKinds()
	dir, err := docroot.Open(s.Real())
	if err != nil {
		return nil, fmt.Errorf("read docroot %s: %w", root, system.Cause(err))
	}
	defer dir.Close()
	l.dir = dir
	l.findPages()
	if !slices.ContainsFunc(s.pages, func(p Page) bool { return p.kind.IsHTML() }) {
		return nil, fmt.Errorf("read docroot %s: %w", root, ErrNoPages)
	}
	if err := l.sniff(ctx); err != nil {
		return nil, err
	}
	l.numberPages()
	if err := l.run(ctx, s.pages); err != nil {
		return nil, err
	}
	// Only now is it known which .map and .md files are linked to, and which
	// files pages name as manifests.
	first := len(s.pages)
	l.linkListed()
	l.addImageMaps()
	l.addManifests()
	if err := l.run(ctx, s.pages[first:]); err != nil {
		return nil, err
	}
	if err := l.addMarkdown(ctx); err != nil {
		return nil, err
	}
	if len(s.pages) > first {
		l.orderPages()
	}
	if s.Permissions() {
		l.statLinked()
	}
	findPictures(s)
	s.markOverrides()
	return s, nil
}

// findPages lists the files to parse, sorted by path, including those that may
// turn out not to be pages.
func (s *loader) findPages() {
	files := s.tree.SortedFiles()
	kinds := make([]PageKind, len(files))
	pages := 0
	for i, id := range files {
		n := &s.tree.Nodes[id]
		kind, ok := s.kindOf(n)
		switch {
		case ok:
			pages++
		case n.Flags&docroot.Foreign != 0:
			if _, ok := s.kinds[strings.ToLower(strings.TrimPrefix(path.Ext(string(s.tree.NameOf(n))), "."))]; ok {
				s.foreign++
			}
			kind = pageNone
		case isSourceMap(s.tree.NameOf(n)):
			s.sourceMaps++
			fallthrough
		default:
			kind = pageNone
		}
		kinds[i] = kind
	}
	s.pages = make([]Page, 0, pages)
	for i, id := range files {
		if kinds[i] != pageNone {
			s.pages = append(s.pages, Page{node: id, kind: kinds[i], canon: docroot.NoNode})
		}
	}
}

// linkListed marks the files that directory listings link to (LL-78): files,
// the index files of directories, and the files in the listings of directories
// without one. Names that begin with a dot are left out (LL-79).
func (s *loader) linkListed() {
	if !s.ListsDirectories() {
		return
	}
	listed := make([]bool, len(s.tree.Nodes))
	for id := range s.tree.Nodes { // parents precede their children
		n := &s.tree.Nodes[id]
		if n.Kind == docroot.KindDir && s.linked[id] && s.IndexOf(docroot.NodeID(id)) == docroot.NoNode {
			listed[id] = true
		}
		if n.Parent == docroot.NoNode || !listed[n.Parent] || s.tree.NameOf(n)[0] == '.' {
			continue
		}
		switch {
		case n.Kind == docroot.KindDir && s.IndexOf(docroot.NodeID(id)) == docroot.NoNode:
			listed[id] = true
		case n.Kind == docroot.KindDir:
			s.linked[s.IndexOf(docroot.NodeID(id))] = true
		default:
			s.linked[id] = true
		}
	}
}

// addMarkdown adds and reads the Markdown files that links lead to, and those
// that the links of these files lead to.
func (s *loader) addMarkdown(ctx context.Context) error {
	for {
		first := len(s.pages)
		for id := range s.tree.Nodes {
			if n := &s.tree.Nodes[id]; s.linked[id] && n.Page == 0 && s.mayBeMarkdown(n) {
				s.pages = append(s.pages, Page{node: docroot.NodeID(id), kind: PageMarkdown, canon: docroot.NoNode})
				n.Page = uint32(len(s.pages))
			}
		}
		if len(s.pages) == first {
			return nil
		}
		if err := s.run(ctx, s.pages[first:]); err != nil {
			return err
		}
	}
}

// addImageMaps adds the .map files that links lead to as pages (LL-88), except
// the source maps of scripts and style sheets.
func (s *loader) addImageMaps() {
	for id := range s.tree.Nodes {
		if n := &s.tree.Nodes[id]; s.linked[id] && n.Page == 0 && s.mayBeMap(n) {
			s.pages = append(s.pages, Page{node: docroot.NodeID(id), kind: PageMap, canon: docroot.NoNode})
		}
	}
}

// addManifests adds the files that pages name as their manifests or robots.txt
// names as sitemaps, and that are not pages by their names.
func (s *loader) addManifests() {
	slices.Sort(s.manifests)
	for _, id := range slices.Compact(s.manifests) {
		if n := &s.tree.Nodes[id]; n.Kind == docroot.KindFile && n.Page == 0 {
			s.pages = append(s.pages, Page{node: id, kind: PageManifest, canon: docroot.NoNode})
		}
	}
	slices.Sort(s.sitemaps)
	for _, id := range slices.Compact(s.sitemaps) {
		if n := &s.tree.Nodes[id]; n.Kind == docroot.KindFile && n.Page == 0 {
			s.pages = append(s.pages, Page{node: id, kind: PageSitemap, canon: docroot.NoNode})
		}
	}
}

// openers are the elements that open their target as a document. Others show it
// as an image or load it.
var openers = [scan.TagCount]bool{scan.TagA: true, scan.TagArea: true, scan.TagEmbed: true, scan.TagFrame: true, scan.TagIframe: true, scan.TagObject: true}

// opensSVG is openers for a link of an element without a [scan.Tag], if the
// link leads to an SVG file or is in one.
func opensSVG(s *Site, p *Page, page *scan.Page, l *scan.Link, rec *Link) bool {
	if p.kind != PageSVG && !isSVG(s, rec) {
		return false
	}
	switch page.Element(l) {
	case "url", "image", "use", "feimage", "icon", "icons", "logo", "screenshots", "image:loc":
		return false
	}
	return p.kind != PageSVG || page.Element(l) == "a"
}

// isSVG reports whether an SVG file answers the link.
func isSVG(s *Site, l *Link) bool {
	id, ok := s.PageOf(l.Node)
	return ok && s.pages[id].kind == PageSVG && l.State.Answers()
}

// findPictures finds the SVG files that links show, but that none opens as a
// document, and marks their own links as inert: visitors cannot follow them (SVG 2,
// 2.6.4).
func findPictures(s *Site) {
	follows := func(l Link) bool { return l.bits&bitOpens != 0 }
	if !slices.ContainsFunc(s.pages, func(p Page) bool { return p.kind == PageSVG && slices.ContainsFunc(p.links, follows) }) {
		return
	}
	const shown, opened = 1, 2
	use := make([]uint8, len(s.pages))
	for i := range s.pages {
		for j := range s.pages[i].links {
			l := &s.pages[i].links[j]
			if id, ok := s.PageOf(l.Node); ok && l.State.Answers() && int(id) != i {
				use[id] |= shown
				if follows(*l) {
					use[id] |= opened
				}
			}
		}
	}
	for i := range s.pages {
		if p := &s.pages[i]; p.kind == PageSVG && use[i] == shown {
			p.becomePicture()
		}
	}
}

// becomePicture marks the links of an SVG file that is not opened.
func (p *Page) becomePicture() {
	p.picture = true
	var frags []uint64
	rest := p.Fragments()
	for i := range p.links {
		l, before := &p.links[i], rest.rest
		if l.HasFragment() {
			rest.Next(l)
		}
		if l.bits&bitOpens != 0 {
			l.State, l.bits = host.StateInert, bitOpens
		} else {
			frags = append(frags, before[:len(before)-len(rest.rest)]...)
		}
	}
	p.frags = frags
}

// statLinked asks for the permissions of each linked file that was not read.
func (s *loader) statLinked() {
	for id := range s.tree.Nodes {
		n := &s.tree.Nodes[id]
		if n.Kind != docroot.KindFile || n.Flags&docroot.Checked != 0 || !s.linked[id] {
			continue
		}
		if info, err := os.Stat(filepath.Join(s.Real(), filepath.FromSlash(s.tree.Path(docroot.NodeID(id))))); err == nil {
			n.Flags |= docroot.FileFlags(info.Mode())
		}
	}
}

// mayBeMap reports whether a file becomes an image map when a link leads to it.
func (s *Site) mayBeMap(n *docroot.Node) bool {
	name := s.tree.NameOf(n)
	return n.Kind == docroot.KindFile && hasEnding(name, ".map") && !isSourceMap(name)
}

// loader finds the pages of a site that is not complete yet, and runs the workers that
// read them.
type loader struct {
	*Site
	dir   *docroot.Dir
	modes bool
	next  atomic.Int64 // next page to take
	done  atomic.Int64
	saved atomic.Int64 // details saved so far
	tick  sync.Mutex   // serialises calls of Progress
	// giant serialises the reading of very large pages.
	giant sync.Mutex
}

// batch is how many pages a worker takes at a time, so that neighbours share a
// directory.
const batch = 16

// run reads pages, and stores in the site what they say about other files.
func (l *loader) run(ctx context.Context, pages []Page) error {
	if len(pages) == 0 {
		return nil
	}
	if rules := l.Rules(); rules.IsCostly() {
		for i := range pages {
			if info, err := os.Stat(l.onDisk(l.tree.Path(pages[i].node))); err == nil {
				rules.Allow(info.Size())
			}
		}
	}
	jobs := min(l.workers(), (len(pages)+batch-1)/batch)
	l.next.Store(0)
	workers := make([]*worker, jobs)
	var wg sync.WaitGroup
	for i := range workers {
		w := newWorker(l)
		workers[i] = w
		wg.Go(func() {
			var free func()
			w.buf, free = docroot.NewBuffer()
			defer free()
			for ctx.Err() == nil {
				first := int(l.next.Add(batch)) - batch
				if first >= len(pages) {
					return
				}
				for i := first; i < min(first+batch, len(pages)); i++ {
					w.page(&pages[i])
				}
				l.progress(batch, len(l.Site.pages))
			}
		})
	}
	wg.Wait()
	l.Site.RuleFaults() // checking the rules reads the tree, which changes now
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s := l.Site
	if s.linked == nil {
		s.linked = make([]bool, len(s.tree.Nodes))
	}
	for _, w := range workers {
		for id, ok := range w.linked {
			if ok {
				s.linked[id] = true
			}
		}
		for _, node := range w.aliases {
			s.tree.Nodes[node].Flags |= flagAlias
		}
		s.manifests = append(s.manifests, w.manifests...)
		s.sitemaps = append(s.sitemaps, w.sitemaps...)
		for _, m := range w.modes {
			s.tree.Nodes[m.id].Flags |= m.flags
		}
	}
	return nil
}

// workers returns the maximum number of workers.
func (s *loader) workers() int {
	if s.opt.Jobs > 0 {
		return s.opt.Jobs
	}
	return runtime.GOMAXPROCS(0)
}

func (l *loader) progress(n, total int) {
	done := l.done.Add(int64(n))
	if l.Site.opt.Progress != nil && l.tick.TryLock() {
		l.Site.opt.Progress(min(int(done), total), total)
		l.tick.Unlock()
	}
}

// orderPages sorts the pages by path and numbers them. A file that is a page in
// two ways, an image map that is also a manifest, stays in twice.
func (s *loader) orderPages() {
	rank := make([]uint32, len(s.tree.Nodes))
	for i, id := range s.tree.SortedFiles() {
		rank[id] = uint32(i)
	}
	order := make([]uint64, len(s.pages))
	for i := range s.pages {
		order[i] = uint64(rank[s.pages[i].node])<<32 | uint64(i)
	}
	slices.Sort(order)
	pages := make([]Page, len(s.pages))
	for i, at := range order {
		pages[i] = s.pages[uint32(at)]
	}
	s.pages = pages
	s.numberPages()
}

// numberPages stores the numbers of pages in their nodes.
func (s *loader) numberPages() {
	for i := range s.pages {
		s.tree.Nodes[s.pages[i].node].Page = uint32(i) + 1
	}
}
