package site

import (
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/css"
	"github.com/sitelink/sitelink/internal/scan/data"
	"github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/scan/xml"
)

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
