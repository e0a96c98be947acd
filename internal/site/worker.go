package site

import (
	"errors"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/weburl"
)

// worker reads pages. It owns its buffers. Its results go into the entry of the
// page, which no other worker touches.
type worker struct {
	l      *loader
	scan   scanner
	res    resolver
	buf    []byte
	linked []bool
	modes  []nodeMode
	// aliases are the pages that redirect the visitor at once, manifests the
	// files that pages name as their web manifests, sitemaps the text files that
	// robots.txt names.
	aliases, manifests, sitemaps []docroot.NodeID
	links                        slab[Link]
	hashes                       slab[uint64]
	inspector                    Inspector
	fragments                    []uint64
}

type nodeMode struct {
	id    docroot.NodeID
	flags docroot.Flags
}

func newWorker(l *loader) *worker {
	w := &worker{l: l, linked: make([]bool, len(l.tree.Nodes)), res: resolver{s: l.Site, PathResolver: host.NewPathResolver(l.Host), cache: new([cacheSize]cached)}}
	if l.opt.Inspect != nil {
		w.inspector = l.opt.Inspect()
	}
	return w
}

// slab allocates slices from large blocks. A hundred thousand small allocations
// would cost the garbage collector more than the scan takes.
type slab[T any] struct{ free []T }

const slabSize = 1 << 15

func (s *slab[T]) take(n int) []T {
	if n == 0 {
		return nil
	}
	if n > len(s.free) {
		if n > slabSize/4 {
			return make([]T, n)
		}
		s.free = make([]T, slabSize)
	}
	out := s.free[:n:n]
	s.free = s.free[n:]
	return out
}

// giantBytes is the size from which pages are read one at a time.
const giantBytes = 64 << 20

// page reads and resolves one page.
func (w *worker) page(p *Page) {
	data, ok := w.read(p)
	if !ok {
		return
	}
	if w.l.opt.Sums {
		p.sum = xxhash.Sum64(data)
	}
	if len(data) > giantBytes {
		w.l.giant.Lock()
		defer w.l.giant.Unlock()
		defer func() { w.buf, w.scan = nil, scanner{} }()
	}
	if isPointer(data) {
		p.kind = PagePointer
		return
	}
	if p.kind == PageMap {
		page, bad := mapPage(data)
		p.badLines = bad
		w.resolveAll(p, &page)
		return
	}
	page := w.l.scanPage(&w.scan, p, data)
	p.quirks, p.noIndex = page.Quirks, page.NoIndex
	p.plain = p.kind == PageHTML && page.Plain()
	if p.unused = nil; len(page.Unused) > 0 {
		p.unused = slices.Clone(page.Unused)
	}
	if len(page.Faults) > 0 {
		p.faults = slices.Clone(page.Faults)
	}
	if w.inspector != nil && p.kind.IsHTML() {
		p.inspected = w.inspector(p.kind, page)
	}
	w.anchors(p, page)
	w.resolveAll(p, page)
	if len(page.Scripts) > 0 {
		p.scripts = w.l.scriptsKey(p, page)
	}
}

// read reads the file of a page.
func (w *worker) read(p *Page) ([]byte, bool) {
	s := w.l
	data, raw, mode, err := s.load(w.l.dir, p, w.buf)
	w.buf = raw
	p.size = int64(len(data))
	if w.l.modes && mode != 0 {
		w.modes = append(w.modes, nodeMode{p.node, docroot.FileFlags(mode)})
	}
	if err != nil {
		p.err = PageError{TooLarge: errors.Is(err, docroot.ErrTooLarge) || errors.Is(err, ErrSitemapSize), Err: docroot.FileError(err)}
		return nil, false
	}
	return data, true
}

func (w *worker) anchors(p *Page, page *scan.Page) {
	p.anchorN = uint32(len(page.Anchors))
	p.anchors = w.hashes.take(anchorRoom(page))
	w.l.hash.anchorTable(page, p.anchors)
}

// resolveAll fills in the page's records.
func (w *worker) resolveAll(p *Page, page *scan.Page) {
	r := &w.res
	w.fragments = w.fragments[:0]
	p.links = w.links.take(len(page.Links))
	r.open(p, page)
	lacking := 0
	var ask Fragment
	var lines lineCounter
	for i := range page.Links {
		l, rec := &page.Links[i], &p.links[i]
		if len(page.Bases) > 0 {
			r.rebase(page, l)
		}
		asks := r.link(page, l, rec, &ask)
		if l.Exempt != nil {
			rec.bits |= bitExempt
		}
		if openers[l.Tag] || l.Tag == scan.TagOther && opensSVG(w.l.Site, p, page, l, rec) {
			rec.bits |= bitOpens
		}
		if l.Kind == scan.KindRefresh && l.Off+1 == page.Alias {
			if p.alias = r.aliasTarget(page, l, rec); p.alias != "" {
				w.aliases = append(w.aliases, p.node)
			}
		}
		if l.Kind >= scan.KindCanonical {
			w.recordRole(p, l, rec)
		}
		if rec.State.Answers() && rec.Node != docroot.NoNode {
			w.linked[rec.Node] = true
			if p.kind == PageRobots && hasEnding(w.l.tree.Name(rec.Node), ".txt") {
				w.sitemaps = append(w.sitemaps, w.l.tree.Nodes[rec.Node].Real)
			}
		}
		if rec.State > host.StateRedirect { // rare
			if rec.State == host.StateViaRedirect && r.isOwnAddress(page.Ref(l)) {
				rec.State, rec.bits = host.StateRedirect, rec.bits|bitSelf
			}
			if rec.State.IsError() && (l.Kind == scan.KindMetadata || l.Tag == scan.TagLink) && r.namesErrorPage(page.Ref(l)) {
				rec.State, rec.Node, rec.bits = host.StateOK, p.node, rec.bits|bitSelf
			}
			if rec.State == host.StateMissingBase || rec.State == host.StateGluedBase {
				lacking++
			}
			if (rec.State.IsError() || rec.State.IsWarning()) && l.Exempt == nil {
				w.saveDetail(p, page, i, &lines)
			}
			p.served = p.served || rec.State == host.StateLivereload && w.l.opt.Crawled == nil
		}
		if !asks {
			continue
		}
		rec.bits |= bitExact
		w.fragments = append(w.fragments, ask.Exact)
		if ask.Decoded != 0 {
			rec.bits |= bitDecoded
			w.fragments = append(w.fragments, ask.Decoded)
		}
		if ask.From != 0 {
			rec.bits |= bitParts
			w.fragments = append(w.fragments, ask.From, ask.To)
		}
		rec.form = ask.Form
	}
	if p.alias != "" { // the visitor is sent on, whichever of its own links is followed
		for i := range p.links {
			if p.links[i].Node == p.node {
				p.links[i].bits |= bitSelf
			}
		}
	}
	if p.beside = false; lacking > 0 {
		w.beside(p)
	}
	p.frags = w.hashes.take(len(w.fragments))
	copy(p.frags, w.fragments)
	p.based, p.baseDiff = len(page.Bases) > 0 || !p.kind.IsHTML() && page.Rebased(), baseDiffers(page)
}

// beside decides what links to the top of the host mean on a page below a base path,
// when its links with and without a file there are known. Most lack the base path. But
// a page may have the menu of a larger site, such as /, /pricing/ and /blog/ on the
// pages of /docs/. Then it means the home page of that site. Such a page has more
// links that only other deployments can answer than links that lack the base path.
func (w *worker) beside(p *Page) {
	others, lacking := 0, 0
	for i := range p.links {
		switch l := &p.links[i]; {
		case l.State == host.StateOutsideBase:
			others++
		case l.State == host.StateGluedBase, l.State == host.StateMissingBase && !host.IsHome(w.l.Host, l.Node):
			lacking++
		}
	}
	if p.beside = others > lacking; !p.beside {
		return
	}
	for i := range p.links {
		if l := &p.links[i]; l.State == host.StateMissingBase && host.IsHome(w.l.Host, l.Node) {
			l.State, l.Node = host.StateOutsideBase, docroot.NoNode
			p.saved = slices.DeleteFunc(p.saved, func(d savedDetail) bool { return d.link == uint32(i) })
		}
	}
}

// onPage applies what is known of the page that holds a link, see [worker.beside].
func onPage(s *Site, p *Page, r *host.Resolved) {
	if p.beside && r.State == host.StateMissingBase && host.IsHome(s.Host, r.Node) {
		r.State, r.Node, r.Meant = host.StateOutsideBase, docroot.NoNode, ""
	}
}

// isOwnAddress reports whether a value is the address of the page that holds it, as in
// canonical links.
func (r *resolver) isOwnAddress(v []byte) bool {
	path, _, _ := strings.Cut(r.resolveURL(v, false).Target, "?")
	return path == r.s.Href(r.Page)
}

// namesErrorPage reports whether a value is the address that generators give the error
// page that holds it, such as https://example.org/404/ or, in Docusaurus, 404.html/ in
// 404.html. Hosts answer it with that page, like any address without a file.
func (r *resolver) namesErrorPage(v []byte) bool {
	own := strings.TrimSuffix(r.s.Href(r.Page), ".html")
	return strings.HasSuffix(own, "/404") && strings.TrimSuffix(strings.TrimSuffix(r.resolveURL(v, false).Target, "/"), ".html") == own
}

// recordRole stores what a link means for its page or its target, in addition
// to its state.
func (w *worker) recordRole(p *Page, l *scan.Link, rec *Link) {
	found := rec.State.Answers() && rec.Node != docroot.NoNode
	switch {
	case l.Kind == scan.KindEntry:
		rec.bits |= bitEntry
	case l.Kind == scan.KindCanonical && p.canon == docroot.NoNode && found:
		p.canon = rec.Node
	case l.Kind == scan.KindManifest && found:
		real := w.l.tree.Nodes[rec.Node].Real
		w.manifests = append(w.manifests, real)
		if p.manifests = p.manifests || p.manifest != 0 && p.manifest != real; p.manifest == 0 {
			p.manifest = real
		}
	}
}

// saveDetail saves the detail of the bad link number i, up to a limit. Beyond it, the page
// is read again when the link is reported.
func (w *worker) saveDetail(p *Page, page *scan.Page, i int, lines *lineCounter) {
	if w.l.saved.Load() < maxSaved {
		if first := w.l.saved.Add(1) == 1; first && w.l.opt.FirstBroken != nil {
			w.l.opt.FirstBroken()
		}
		if lines.text == nil { // the first of the page
			lines.text = page.Text
			w.res.startMemo()
		}
		d := w.res.detail(p, page, &page.Links[i], &p.links[i], lines)
		d.Raw, d.Fragment, d.Context = strings.Clone(d.Raw), strings.Clone(d.Fragment), contextOf(p, page, &page.Links[i])
		w.l.saved.Add(int64(len(d.Target) / 256)) // a long one takes the place of several
		p.saved = append(p.saved, savedDetail{uint32(i), d})
	}
}

// open prepares the resolver for a page.
func (r *resolver) open(p *Page, page *scan.Page) {
	r.Open(p.node)
	r.kind = p.kind
	r.charset = page.Charset()
	r.pageURL = weburl.URL{}
	r.PlainBase = r.AtOwnAddress()
	r.lazyBase, r.bases = true, 0
	if r.refNotFound = ""; p.kind.IsHTML() {
		r.refNotFound = r.s.opt.RefNotFound
	}
	if len(page.Bases) > 0 {
		r.address()
	}
}

// address parses the page's own URL when resolveURL first needs it.
func (r *resolver) address() {
	if !r.lazyBase {
		return
	}
	r.lazyBase = false
	u, err := weburl.Parse(r.s.PageAddress(r.Page))
	if err != nil {
		// The base URL was parsed before, and a path cannot be invalid.
		panic("page address: " + err.Error())
	}
	r.pageURL, r.base = u, u
}

// setBase applies a base href to what follows. An invalid URL, or one with the
// scheme data or javascript, is ignored (HTML 4.2.3).
func (r *resolver) setBase(href []byte) {
	u, err := r.pageURL.Resolve(string(href))
	if err != nil || u.Scheme() == "data" || u.Scheme() == "javascript" {
		return
	}
	r.base = u
	r.PlainBase = r.PlainBase || u.WithoutFragment() == r.pageURL.WithoutFragment() && r.Plain()
}

// rebase sets the base URL for a link of a page with base elements. The first of
// them applies to the whole page, except to what browsers have requested before
// they read it. By the document-order reading (LL-35), each applies to what
// follows it.
func (r *resolver) rebase(page *scan.Page, l *scan.Link) {
	before := r.bases
	if r.s.base == host.BaseDocumentOrder {
		for r.bases < len(page.Bases) && page.Bases[r.bases].Off < l.Off {
			r.PlainBase = false
			r.setBase(page.Bases[r.bases].Value)
			r.bases++
		}
	} else if r.bases = 1; page.BeforeBase(l) {
		r.bases = 0
	}
	if r.bases == before {
		return
	}
	clear(r.memo) // the same value resolves to another target now
	r.memoPlain = false
	if r.s.base != host.BaseDocumentOrder {
		r.base, r.PlainBase = r.pageURL, r.AtOwnAddress()
		if r.bases == 1 {
			r.PlainBase = false
			r.setBase(page.Bases[0].Value)
		}
	}
}

// baseDiffers reports whether the two ways to apply base could differ: there is
// a second base, or a link before the first that applies to it.
func baseDiffers(page *scan.Page) bool {
	if len(page.Bases) < 2 {
		for i := range page.Links {
			if l := &page.Links[i]; len(page.Bases) == 0 || l.Off > page.Bases[0].Off {
				return false
			} else if !page.BeforeBase(l) {
				return true
			}
		}
	}
	return len(page.Bases) > 1
}
