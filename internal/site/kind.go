package site

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/data"
	"github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/scan/markdown"
)

// PageKind is how a page is read.
type PageKind uint8

const (
	PageHTML  PageKind = iota
	PageXHTML          // HTML in XML syntax
	PageSVG
	PageMap        // a server-side image map
	PageCSS        // a style sheet
	PageFeed       // RSS or Atom
	PageJSONFeed   // https://www.jsonfeed.org
	PageSitemap    // https://www.sitemaps.org, XML or a plain list
	PageIndex      // a sitemap index
	PageOPML       // an outline of feeds
	PageOpenSearch // an OpenSearch description
	PageManifest   // a web app manifest
	PageJSONLD     // a file of linked data
	PageRobots     // robots.txt
	PageHeaders    // _headers, for its Link headers
	PageMarkdown   // llms.txt, and the Markdown that links lead to
	PageShown      // Markdown that a forge shows as a page
	PagePointer    // what git-lfs has instead of a file, which is not read as a page

	// pageXML and pageJSON are files before their root element, or first
	// member, is known.
	pageXML
	pageJSON
	pageNone
)

var pageKindNames = [...]string{"html", "xhtml", "svg", "image map", "css", "feed", "json feed", "sitemap", "sitemap index",
	"opml", "opensearch", "web manifest", "json-ld", "robots.txt", "_headers", "markdown", "shown markdown", "git-lfs"}

// String returns the name of the kind, as in summaries.
func (k PageKind) String() string { return pageKindNames[k] }

// IsHTML reports whether visitors read the page.
func (k PageKind) IsHTML() bool { return k == PageHTML || k == PageXHTML || k == PageShown }

// IsFeed reports whether readers subscribe to the page.
func (k PageKind) IsFeed() bool { return k == PageFeed || k == PageJSONFeed }

// HasAnchors reports whether fragments can be looked up in such a page.
func (k PageKind) HasAnchors() bool { return k.IsHTML() || k == PageSVG }

// DefaultPageExtensions are the extensions of HTML pages (LL-27).
func DefaultPageExtensions() []string { return []string{"html", "htm", "shtml", "xhtml"} }

// findKinds maps extensions to kinds, according to the options.
func (s *loader) findKinds() {
	if s.Profile().Forge != nil {
		s.kinds = map[string]PageKind{"md": PageShown, "markdown": PageShown, "mdown": PageShown, "mkdn": PageShown, "mkd": PageShown}
		return
	}
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

// kindOf returns, by the name of a file, how it is read; ok is false for files
// without links, and for those below node_modules or .git.
func (s *Site) kindOf(n *docroot.Node) (kind PageKind, ok bool) {
	if n.Flags&docroot.Foreign != 0 {
		return 0, false
	}
	if f := s.Sent(n.Real); f != nil {
		return s.kindOfType(f)
	}
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
	if s.Profile().Forge != nil {
		return PageShown, s.opt.Input != "" && string(name) == path.Base(s.opt.Input) && s.tree.Path(n.Real) == s.opt.Input
	}
	if n.Parent == 0 && s.opt.Tags == scan.Modern {
		switch string(name) {
		case "robots.txt":
			return PageRobots, true
		case "_headers":
			return PageHeaders, true
		case "sitemap.txt":
			return PageSitemap, true
		}
	}
	if isLLMs(name) && s.opt.Tags == scan.Modern && (n.Parent == 0 || s.IndexOf(n.Parent) != docroot.NoNode) {
		return PageMarkdown, true
	}
	return 0, false
}

// kindByType are the kinds of the media types with which servers send pages.
var kindByType = map[string]PageKind{
	"text/html": PageHTML, "application/xhtml+xml": PageXHTML, "text/css": PageCSS, "image/svg+xml": PageSVG,
	"application/manifest+json": PageManifest, "application/ld+json": PageJSONLD,
	"application/json": pageJSON, "application/feed+json": pageJSON,
	"application/xml": pageXML, "text/xml": pageXML, "application/rss+xml": pageXML, "application/atom+xml": pageXML,
	"application/rdf+xml": pageXML, "text/x-opml": pageXML, "application/opensearchdescription+xml": pageXML,
}

// kindOfType is kindOf for what a server sent: by its type, or by its name if the type says
// nothing.
func (s *Site) kindOfType(f *host.CrawledFile) (kind PageKind, ok bool) {
	name := f.Path[strings.LastIndexByte(f.Path, '/')+1:]
	if !f.HasText && !f.TooLarge {
		return 0, false
	}
	if kind, ok = kindByType[f.Type]; ok {
		return kind, kind <= PageSVG || s.opt.Tags == scan.Modern
	}
	switch {
	case f.Path == "robots.txt":
		return PageRobots, true
	case f.Path == "sitemap.txt":
		return PageSitemap, true
	case isLLMs([]byte(name)):
		return PageMarkdown, true
	case isZippedXML([]byte(name)):
		return pageXML, true
	case hasEnding(name, ".webmanifest"):
		return PageManifest, true
	}
	return 0, false
}

// isLLMs reports whether a file is named as language models look for it:
// llms.txt (https://llmstxt.org), llms-full.txt, llms-ctx.txt.
func isLLMs(name []byte) bool {
	rest, ok := bytes.CutPrefix(name, []byte("llms"))
	return ok && hasEnding(rest, ".txt") && (len(rest) == len(".txt") || rest[0] == '-')
}

// isPointer reports whether this is what git-lfs has in git instead of a file, until it
// fetches the file, by the specification of git-lfs.
func isPointer(text []byte) bool {
	return len(text) < 1024 && bytes.HasPrefix(text, []byte("version https://git-lfs.github.com/spec/v1\n")) && bytes.Contains(text, []byte("\noid "))
}

// mayBeMarkdown reports whether a file is read as Markdown when a link leads to
// it. Other .md files of a docroot usually came with a library.
func (s *Site) mayBeMarkdown(n *docroot.Node) bool {
	name := s.tree.NameOf(n)
	return n.Kind == docroot.KindFile && s.opt.Tags == scan.Modern && (hasEnding(name, ".md") || hasEnding(name, ".markdown"))
}

// maxExtension is the longest extension of a page, without its dot.
const maxExtension = 16

// isZippedXML reports whether a name ends in .xml.gz, in any letter case.
func isZippedXML(name []byte) bool { return hasEnding(name, ".xml.gz") && len(name) > len(".xml.gz") }

// isSourceMap reports, by its name, whether a file is the source map of a
// script or a style sheet.
func isSourceMap[T ~string | ~[]byte](name T) bool {
	if !hasEnding(name, "s.map") { // true of most names
		return false
	}
	for _, ending := range []string{".js.map", ".mjs.map", ".cjs.map", ".css.map"} {
		if len(name) > len(ending) && hasEnding(name, ending) {
			return true
		}
	}
	return false
}

// hasEnding reports whether a name has that ending, in any letter case.
func hasEnding[T ~string | ~[]byte](name T, ending string) bool {
	return len(name) >= len(ending) && strings.EqualFold(string(name[len(name)-len(ending):]), ending)
}

// sniffBytes is how much of a file is read to recognise its kind.
const sniffBytes = 4 << 10

// sniffJSONBytes is the same for JSON, which docroots may have a lot of. The
// member that identifies a feed comes first.
const sniffJSONBytes = 1 << 10

// sniff determines the kinds of pages that only their first bytes identify, and
// removes files that are not pages. XML that cannot be read is a fault;
// unreadable JSON is not, because hardly any JSON holds links.
func (s *loader) sniff(ctx context.Context) error {
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
				buf = s.sniffPage(&s.pages[open[i]], buf)
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

// sniffPage determines the kind of one page.
func (s *loader) sniffPage(p *Page, buf []byte) []byte {
	size := sniffBytes
	if p.kind == pageJSON {
		size = sniffJSONBytes
	}
	var raw []byte
	var err error
	if f := s.Sent(p.node); f != nil {
		raw, err = s.Text(f, buf, int64(size))
	} else {
		raw, err = s.dir.Head(s.tree.Path(s.tree.Nodes[p.node].Real), buf, size)
	}
	head := raw
	if err == nil && p.kind == pageXML && isZippedXML(s.tree.NameOf(&s.tree.Nodes[p.node])) {
		p.zipped = true
		head = unzipHead(raw)
	}
	if err != nil {
		p.kind, p.err.Err = pageNone, docroot.FileError(err)
	} else {
		p.kind = sniffed(p.kind, head)
	}
	return raw
}

// sniffed returns the kind of a file of this kind that begins with head.
func sniffed(kind PageKind, head []byte) PageKind {
	switch {
	case kind == pageJSON && data.IsJSONFeed(head):
		return PageJSONFeed
	case kind == pageXML:
		return rootKinds[data.RootOf(head)]
	}
	return pageNone
}

// isXMLName reports whether a file is named like an XML document, so that it is
// counted if it is not a known one.
func (s *loader) isXMLName(id docroot.NodeID) bool {
	kind, ok := s.kindOf(&s.tree.Nodes[id])
	return ok && kind == pageXML
}

var rootKinds = [...]PageKind{
	data.RootOther: pageNone, data.RootRSS: PageFeed, data.RootRDF: PageFeed, data.RootAtom: PageFeed,
	data.RootSitemap: PageSitemap, data.RootSitemapIndex: PageIndex, data.RootOPML: PageOPML,
	data.RootOpenSearch: PageOpenSearch,
}

// MaxSitemapBytes and MaxSitemapEntries are the limits of a sitemap
// (https://www.sitemaps.org/protocol.html#index). Search engines refuse more.
const (
	MaxSitemapBytes   = 50 << 20
	MaxSitemapEntries = 50_000
)

// ErrSitemapSize reports a sitemap that is too large to be read.
var ErrSitemapSize = errors.New("larger than the 52,428,800 bytes that a sitemap may have")

// sitemapRoom is the size from which a sitemap is not read. It exceeds the
// limit, so that the links of a slightly too large sitemap are checked too, and
// bounds memory to a few hundred MB.
const sitemapRoom = MaxSitemapBytes + MaxSitemapBytes/4

// unzipHead returns what the first bytes of a gzip file contain; nothing if
// they are not a gzip file.
func unzipHead(data []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	head := make([]byte, sniffBytes)
	n, _ := io.ReadFull(z, head)
	return head[:n]
}

// unzip inflates a gzip file. It accepts at most limit bytes and stops there,
// so that a zip bomb does no harm.
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

// load reads the text of a page into buf, which grows as needed.
func (s *Site) load(dir *docroot.Dir, p *Page, buf []byte) (text, raw []byte, mode fs.FileMode, err error) {
	limit := s.opt.MaxPageBytes // above which a page is not read
	switch p.kind {
	case PageSitemap, PageIndex:
		limit = min(limit, sitemapRoom)
	case PageMarkdown, PageShown:
		limit = min(limit, markdown.MaxBytes)
	}
	if s.opt.Input != "" && s.tree.Path(p.node) == s.opt.Input {
		return s.opt.InputText, buf, 0, nil
	}
	if f := s.Sent(p.node); f == nil {
		var room [256]byte // on the stack for most paths
		raw, mode, err = dir.Read(append(s.tree.AppendPath(room[:0], s.tree.Nodes[p.node].Real), 0), buf, limit)
	} else if raw, err = s.Text(f, buf, limit+1); int64(len(raw)) > limit {
		err = docroot.ErrTooLarge
	}
	text = raw
	if err == nil && p.zipped {
		text, err = unzip(raw, limit)
	}
	if errors.Is(err, docroot.ErrTooLarge) && limit == sitemapRoom {
		err = ErrSitemapSize
	}
	return text, raw, mode, err
}

// scanner reads files of all kinds. A page is valid until the scanner reads the
// next file.
type scanner struct {
	html html.Scanner
	xml  data.XMLScanner
	css  scan.CSSScanner
	data data.Scanner
	md   markdown.Scanner
}

// scanPage reads a page. Links that were not followed on a server are left out.
func (s *Site) scanPage(in *scanner, p *Page, text []byte) *scan.Page {
	f := s.Sent(p.node)
	if f == nil {
		return s.scanText(in, p.kind, s.Charset(), text)
	}
	page := s.scanText(in, p.kind, f.Charset, text)
	if f.Unfollowed {
		page.Links, page.Scripts = page.Links[:0], page.Scripts[:0]
	}
	return page
}

// scanText reads a text in the syntax of its kind. charset is what the host says about it.
func (s *Site) scanText(in *scanner, kind PageKind, charset string, text []byte) *scan.Page {
	opt := scan.Options{Tags: s.opt.Tags, Charset: charset, DefaultCharset: s.opt.DefaultCharset}
	if kind != PageHTML && kind != PageCSS {
		opt.Charset = "" // hosts give it for these two
	}
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
		if kind == PageSitemap && data.IsTextSitemap(text) {
			return in.data.TextSitemap(text, opt)
		}
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
	case PageShown:
		in.md.Slug = s.Profile().Forge.Slug
		fallthrough
	case PageMarkdown:
		return in.md.Scan(text)
	}
	return in.html.Scan(text, opt)
}

// mapPage presents a server-side image map (LL-88, LL-95 to LL-97) as a page of
// links, so that the code that follows treats both the same.
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
