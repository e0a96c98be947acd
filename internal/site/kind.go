package site

import (
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/scan"
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
