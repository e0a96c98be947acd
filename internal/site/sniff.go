package site

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/scan/data"
	"github.com/sitelink/sitelink/internal/scan/xml"
)

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
