package check

import (
	"fmt"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"

	isite "github.com/sitelink/sitelink/internal/site"
)

// fileSums are the sums over the files that were read, for [Summary].
type fileSums struct {
	pages, links, anchors int // of the pages that are judged
	bytes                 int64
	// canonical pages name another page as their address; kinds are the other
	// files that were read, entries the addresses in them that were not checked;
	// served are the pages that hugo server wrote.
	canonical, entries, served int
	kinds                      [isite.PageHeaders + 1]int
}

// add adds a page; judged tells whether its links are.
func (t *fileSums) add(s *isite.Site, id isite.PageID, judged bool) {
	p := s.Page(id)
	if judged {
		if p.Kind().IsHTML() && p.Error().Err == nil {
			t.pages++
		}
		t.bytes += p.Size()
		t.links += p.Links()
		t.anchors += p.Anchors()
	}
	if p.Served() {
		t.served++
	}
	if canon := p.Canonical(); canon != docroot.NoNode {
		if target, ok := s.PageOf(canon); !ok || target != id {
			t.canonical++
		}
	}
	if p.Kind().IsHTML() || p.Error().Err != nil {
		return
	}
	t.kinds[p.Kind()]++
	if s.Published() {
		return
	}
	switch p.Kind() {
	case isite.PageSitemap, isite.PageIndex, isite.PageFeed, isite.PageJSONFeed:
		for j := range p.All() {
			if l := &p.All()[j]; l.IsEntry() && l.State == host.StateExternal {
				t.entries++
			}
		}
	}
}

// sum puts the sums, and what is known of the site as a whole, into a summary.
func (t *fileSums) sum(s *isite.Site, sum *Summary) {
	sum.Docroot, sum.Profile, sum.ProfileFrom, sum.Files = s.Root(), s.Profile().Name, s.ProfileFrom(), s.Files()
	sum.Pages, sum.Bytes, sum.Links, sum.Anchors = t.pages, t.bytes, t.links, t.anchors
	sum.Canonical, sum.ServerPages = t.canonical, t.served
	for kind, n := range t.kinds {
		if n > 0 {
			sum.Read = append(sum.Read, KindCount{isite.PageKind(kind).String(), n})
		}
	}
	if n := s.OtherXML(); n > 0 {
		sum.NotRead = append(sum.NotRead, KindCount{"other-xml", n})
	}
	if n := s.SourceMaps(); n > 0 {
		sum.NotRead = append(sum.NotRead, KindCount{"source-map", n})
	}
	if t.served > 0 {
		sum.Notes = append(sum.Notes, serverNote(s, t.served))
	}
	if t.entries > 0 {
		sum.Notes = append(sum.Notes, fmt.Sprintf("addresses of entries of sitemaps and feeds were not checked, as the site's own is not known: %d; set base-url", t.entries))
	}
}
