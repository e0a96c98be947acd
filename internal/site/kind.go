package site

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/css"
	"github.com/sitelink/sitelink/internal/scan/data"
	"github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/scan/xml"
)

// PageKind says how a page was read.
type PageKind uint8

const (
	PageHTML  PageKind = iota
	PageXHTML          // HTML in XML syntax
	PageSVG
	PageMap        // a server-side image map
	PageCSS        // a style sheet
	PageFeed       // RSS or Atom
	PageJSONFeed   // https://www.jsonfeed.org
	PageSitemap    // https://www.sitemaps.org
	PageIndex      // a sitemap index
	PageOPML       // an outline of feeds
	PageOpenSearch // an OpenSearch description
	PageManifest   // a web app manifest
	PageJSONLD     // a file of linked data
	PageRobots     // robots.txt
	PageHeaders    // _headers, for its Link headers

	// pageXML and pageJSON are those of which the root element, or the first
	// member, is not known yet.
	pageXML
	pageJSON
	pageNone
)

var pageKindNames = [...]string{"html", "xhtml", "svg", "image map", "css", "feed", "json feed", "sitemap", "sitemap index",
	"opml", "opensearch", "web manifest", "json-ld", "robots.txt", "_headers"}

// String returns the name of the kind, as it stands in summaries.
func (k PageKind) String() string { return pageKindNames[k] }

// IsHTML tells whether the page is one that visitors read.
func (k PageKind) IsHTML() bool { return k == PageHTML || k == PageXHTML }

// HasAnchors tells whether fragments can be looked for in such a page.
func (k PageKind) HasAnchors() bool { return k.IsHTML() || k == PageSVG }

// IsXML tells whether such a page must be well-formed XML.
func (k PageKind) IsXML() bool {
	switch k {
	case PageXHTML, PageSVG, PageFeed, PageSitemap, PageIndex, PageOPML, PageOpenSearch:
		return true
	}
	return false
}

// DefaultPageExtensions are the endings of the names of HTML pages (LL-27).
func DefaultPageExtensions() []string { return []string{"html", "htm", "shtml", "xhtml"} }

// findKinds notes how files of each ending are read, from the options.
func (s *Site) findKinds() {
	s.kinds = map[string]PageKind{"svg": PageSVG}
	if s.opt.Tags == scan.Modern { // Linklint reads pages only (LL-26)
		for ext, kind := range map[string]PageKind{"css": PageCSS, "webmanifest": PageManifest, "jsonld": PageJSONLD,
			"xml": pageXML, "rss": pageXML, "atom": pageXML, "rdf": pageXML, "opml": pageXML, "gz": pageXML, "json": pageJSON} {
			s.kinds[ext] = kind
		}
	}
	extensions := s.opt.PageExtensions
	if len(extensions) == 0 {
		extensions = DefaultPageExtensions()
	}
	for _, ext := range extensions {
		ext = strings.ToLower(strings.TrimPrefix(ext, "."))
		s.kinds[ext] = PageHTML
		if ext == "xhtml" {
			s.kinds[ext] = PageXHTML
		}
	}
}

// kindOf tells by the name of a file how it is read; ok is false for those
// that hold no links.
func (s *Site) kindOf(n *docroot.Node) (kind PageKind, ok bool) {
	name := s.tree.NameOf(n)
	dot := len(name) - 1
	for dot >= 0 && name[dot] != '.' {
		if len(name)-dot > maxExtension {
			break
		}
		dot--
	}
	if dot >= 0 && name[dot] == '.' {
		var buf [maxExtension + 1]byte
		ext := buf[:copy(buf[:], name[dot+1:])]
		for i, c := range ext {
			if 'A' <= c && c <= 'Z' {
				ext[i] = c | 0x20
			}
		}
		if kind, ok = s.kinds[string(ext)]; ok {
			return kind, string(ext) != "gz" || isZippedXML(name)
		}
	}
	if n.Parent == 0 && s.opt.Tags == scan.Modern {
		switch string(name) {
		case "robots.txt":
			return PageRobots, true
		case "_headers":
			return PageHeaders, true
		}
	}
	return 0, false
}

// maxExtension is the longest ending, without its dot, that can be a page's.
const maxExtension = 16

// isZippedXML tells whether a name ends in .xml.gz, in any letter case.
func isZippedXML(name []byte) bool { return hasEnding(name, ".xml.gz") && len(name) > len(".xml.gz") }

// isSourceMap tells by its name whether a file is the source map of a script
// or a style sheet.
func isSourceMap[T ~string | ~[]byte](name T) bool {
	if !hasEnding(name, "s.map") { // most are none
		return false
	}
	for _, ending := range []string{".js.map", ".mjs.map", ".cjs.map", ".css.map"} {
		if len(name) > len(ending) && hasEnding(name, ending) {
			return true
		}
	}
	return false
}

// hasEnding tells whether a name ends so, in any letter case.
func hasEnding[T ~string | ~[]byte](name T, ending string) bool {
	return len(name) >= len(ending) && strings.EqualFold(string(name[len(name)-len(ending):]), ending)
}

// sniffBytes is how much of a file is looked at to see what it is.
const sniffBytes = 4 << 10

// sniffJSONBytes is the same for JSON, of which docroots may hold a lot: the
// member that tells a feed comes first.
const sniffJSONBytes = 1 << 10

// sniff settles the kinds of pages that only their first bytes tell, and takes
// those that are none off the list. XML that cannot be read is a fault; JSON is
// none, as hardly any of it holds links.
func (s *Site) sniff(ctx context.Context, dir *docroot.Dir) error {
	var open []int
	for i := range s.pages {
		if s.pages[i].kind >= pageXML {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return nil
	}
	jobs := s.opt.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	jobs = min(jobs, (len(open)+batch-1)/batch)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			buf := make([]byte, 0, sniffBytes)
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(open) {
					return
				}
				buf = s.sniffPage(dir, &s.pages[open[i]], buf)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.pages = slices.DeleteFunc(s.pages, func(p Page) bool {
		switch {
		case p.kind != pageNone || !s.isXMLName(p.node):
		case p.err.Err != nil:
			s.unread = append(s.unread, docroot.FileFault{Path: s.tree.Path(p.node), Err: p.err.Err})
		default:
			s.otherXML++
		}
		return p.kind == pageNone
	})
	return nil
}

// sniffPage settles the kind of one page.
func (s *Site) sniffPage(dir *docroot.Dir, p *Page, buf []byte) []byte {
	size := sniffBytes
	if p.kind == pageJSON {
		size = sniffJSONBytes
	}
	raw, err := dir.Head(s.tree.Path(s.tree.Nodes[p.node].Real), buf, size)
	head := raw
	if err == nil && p.kind == pageXML && isZippedXML(s.tree.NameOf(&s.tree.Nodes[p.node])) {
		p.zipped = true
		head = unzipHead(raw)
	}
	switch {
	case err != nil:
		p.kind, p.err.Err = pageNone, docroot.FileError(err)
	case p.kind == pageJSON && data.IsJSONFeed(head):
		p.kind = PageJSONFeed
	case p.kind == pageXML:
		p.kind = rootKinds[xml.RootOf(head)]
	default:
		p.kind = pageNone
	}
	return raw
}

// isXMLName tells whether a node that is none of the known documents is named
// like one, and so is worth a word.
func (s *Site) isXMLName(id docroot.NodeID) bool {
	kind, ok := s.kindOf(&s.tree.Nodes[id])
	return ok && kind == pageXML
}

var rootKinds = [...]PageKind{
	xml.RootOther: pageNone, xml.RootRSS: PageFeed, xml.RootRDF: PageFeed, xml.RootAtom: PageFeed,
	xml.RootSitemap: PageSitemap, xml.RootSitemapIndex: PageIndex, xml.RootOPML: PageOPML,
	xml.RootOpenSearch: PageOpenSearch,
}

// MaxSitemapBytes and MaxSitemapEntries are what a sitemap may have at most
// (https://www.sitemaps.org/protocol.html#index): search engines refuse more.
const (
	MaxSitemapBytes   = 50 << 20
	MaxSitemapEntries = 50_000
)

// ErrSitemapSize: a sitemap that is far too large for anybody to read it.
var ErrSitemapSize = errors.New("larger than the 52,428,800 bytes that a sitemap may have")

// sitemapRoom is from which size a sitemap is not read. Those between the
// limit and this are, so that their links are checked too; memory stays within
// a few hundred MB whatever lies there.
const sitemapRoom = MaxSitemapBytes + MaxSitemapBytes/4

// unzipHead returns what the first bytes of a gzip file hold: nothing when
// they are none.
func unzipHead(data []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	head := make([]byte, sniffBytes)
	n, _ := io.ReadFull(z, head)
	return head[:n]
}

// unzip inflates a gzip file, of which limit bytes are accepted: the rest of a
// bomb is never made.
func unzip(data []byte, limit int64) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("no gzip file: %w", err)
	}
	var out bytes.Buffer
	n, err := io.Copy(&out, io.LimitReader(z, limit+1))
	if n > limit {
		return nil, docroot.ErrTooLarge
	}
	if err != nil {
		return nil, fmt.Errorf("a damaged gzip file: %w", err)
	}
	return out.Bytes(), nil
}

// pageLimit is the size above which a page is not read.
func (s *Site) pageLimit(p *Page) int64 {
	if p.kind == PageSitemap || p.kind == PageIndex {
		return min(s.opt.MaxPageBytes, sitemapRoom)
	}
	return s.opt.MaxPageBytes
}

// load reads the text of a page into buf, which grows as needed.
func (s *Site) load(dir *docroot.Dir, p *Page, buf []byte) (text, raw []byte, mode fs.FileMode, err error) {
	limit := s.pageLimit(p)
	var room [256]byte // a path on the stack for most
	raw, mode, err = dir.Read(append(s.tree.AppendPath(room[:0], s.tree.Nodes[p.node].Real), 0), buf, limit)
	text = raw
	if err == nil && p.zipped {
		text, err = unzip(raw, limit)
	}
	if errors.Is(err, docroot.ErrTooLarge) && limit < s.opt.MaxPageBytes {
		err = ErrSitemapSize
	}
	return text, raw, mode, err
}

// scanner reads files of all kinds. A page is valid until the scanner reads the
// next file.
type scanner struct {
	html html.Scanner
	xml  xml.Scanner
	css  css.Scanner
	data data.Scanner
}

// scanPage reads a page in the syntax of its kind.
func (s *Site) scanPage(in *scanner, kind PageKind, text []byte) *scan.Page {
	opt := s.scanOptions()
	switch kind {
	case PageSVG:
		page := in.xml.SVG(text)
		if opt.Tags == scan.Linklint {
			page.Links = page.Links[:0] // Linklint's table has no SVG
		}
		return page
	case PageXHTML:
		return in.xml.XHTML(text, opt)
	case PageCSS:
		return in.css.Scan(text, opt)
	case PageFeed, PageSitemap, PageIndex, PageOPML, PageOpenSearch:
		return in.xml.Feed(text, opt)
	case PageJSONFeed:
		return in.data.JSONFeed(text, opt)
	case PageManifest:
		return in.data.Manifest(text, opt)
	case PageJSONLD:
		return in.data.JSONLD(text, opt)
	case PageRobots:
		return in.data.Robots(text, opt)
	case PageHeaders:
		return in.data.Headers(text, opt)
	}
	return in.html.Scan(text, opt)
}

// mapPage presents a server-side image map (LL-88, LL-95 to LL-97) as a page
// of links, so that everything that follows treats both alike.
func mapPage(text []byte) (page scan.Page, bad []int) {
	links, base, bad := data.ImageMap(text)
	page.Text = text
	if base != "" {
		page.Bases = []scan.Base{{Value: []byte(base)}}
	}
	for _, l := range links {
		page.Links = append(page.Links, scan.Link{Value: l.Value, Off: uint32(l.Start), TagOff: uint32(l.Start)})
	}
	return page, bad
}

// imageMap reads one image map.
func (w *worker) imageMap(p *Page, data []byte) {
	page, bad := mapPage(data)
	p.badLines = bad
	w.resolveAll(p, &page)
}
