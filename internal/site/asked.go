package site

import (
	"bytes"
	"cmp"
	"context"
	"hash/maphash"
	"strings"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Finder finds the addresses that the links of single pages ask for, before there is a site. It
// belongs to one goroutine.
type Finder struct {
	s    *Site
	scan scanner
	res  resolver
	seed maphash.Seed
	seen map[uint64]bool // values that were found, by directory
}

// NewFinder returns a finder of the links that [Load] finds with these options. The error says
// that an option is invalid.
func NewFinder(opt Options) (*Finder, error) {
	opt.Crawled = &host.Crawled{}
	h, err := host.Load(context.Background(), "", opt.host()) // reads nothing
	if err != nil {
		return nil, err
	}
	s := &Site{Host: h, opt: opt, tree: h.Tree(), base: cmp.Or(opt.Base, host.BaseHTML5), hash: newHasher()}
	return &Finder{s: s, res: resolver{s: s, PathResolver: host.NewPathResolver(h)}, seed: maphash.MakeSeed(), seen: map[uint64]bool{}}, nil
}

// maxSeen bounds the memory of a finder.
const maxSeen = 1 << 18

// Find calls each with the addresses that a text asks for, which the server sent at an address.
// It leaves out some of those that it found before.
func (f *Finder) Find(file *host.CrawledFile, at weburl.URL, text []byte, each func(weburl.URL)) {
	s := f.s
	kind, ok := s.kindOfType(file)
	switch {
	case ok:
	case hasEnding(file.Path, ".map") && !isSourceMap(file.Path):
		kind = PageMap
	case hasEnding(file.Path, ".md"), hasEnding(file.Path, ".markdown"):
		kind = PageMarkdown
	default:
		return
	}
	if kind == pageXML && isZippedXML([]byte(file.Path)) {
		var err error
		if text, err = unzip(text, sitemapRoom); err != nil {
			return
		}
	}
	if kind >= pageXML {
		if kind = sniffed(kind, text[:min(len(text), sniffBytes)]); kind == pageNone {
			return
		}
	}
	var page *scan.Page
	if kind == PageMap {
		m, _ := mapPage(text)
		page = &m
	} else {
		page = s.scanText(&f.scan, kind, file.Charset, text)
	}
	r := &f.res
	r.kind, r.charset, r.pageURL, r.base, r.lazyBase, r.bases = kind, page.Charset(), at, at, false, 0
	dir := maphash.String(f.seed, at.Path()[:strings.LastIndexByte(at.Path(), '/')+1])
	for i := range page.Links {
		l := &page.Links[i]
		if len(page.Bases) > 0 {
			r.rebase(page, l)
		}
		if l.Inert || l.Kind >= scan.KindAction && l.Kind <= scan.KindMap || l.Kind == scan.KindUndefined {
			continue
		}
		v := page.Ref(l)
		path, _, _ := bytes.Cut(v, hash)
		if len(page.Bases) == 0 && len(path) > 0 && path[0] != '?' && r.encoding() == nil {
			key := dir ^ maphash.Bytes(f.seed, path)
			if f.seen[key] {
				continue
			}
			if len(f.seen) == maxSeen {
				clear(f.seen)
			}
			f.seen[key] = true
		}
		if u, err := r.resolve(v, l.Kind == scan.KindReference); err == nil {
			each(u)
		}
	}
}

// IsText reports whether the text of what a server sends at an address is needed: it may have
// links, or scripts in it know fragments.
func IsText(path, mediaType string) bool {
	switch main, sub, _ := strings.Cut(mediaType, "/"); {
	case main == "text", strings.HasSuffix(sub, "json"), strings.HasSuffix(sub, "xml"), strings.HasSuffix(sub, "javascript"):
		return true
	case main == "application", main == "":
		for _, end := range []string{".map", ".md", ".markdown", ".webmanifest", ".xml.gz"} {
			if hasEnding(path, end) && !isSourceMap(path) {
				return true
			}
		}
	}
	return mediaType == ""
}
