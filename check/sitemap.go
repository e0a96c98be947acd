package check

import (
	"fmt"

	"github.com/sitelink/sitelink/internal/site"
)

// sitemapFindings reports what is wrong with a sitemap or index as a whole.
// place tells where an offset of its text stands.
func sitemapFindings(s *site.Site, id site.PageID, place func(f *Finding, off uint32)) []Finding {
	p := s.Page(id)
	if k := p.Kind(); k != site.PageSitemap && k != site.PageIndex || p.Error().Err != nil {
		return nil
	}
	var out []Finding
	entries, foreign, first := 0, 0, uint32(0)
	for i := range p.All() {
		l := &p.All()[i]
		if !l.IsEntry() {
			continue
		}
		entries++
		if isForeign(l.State) {
			if foreign++; foreign == 1 {
				first = l.Off
			}
		}
	}
	report := func(code Code, message string) *Finding {
		out = append(out, Finding{Page: s.Path(id), Verdict: Warning, Code: code, Count: 1, Message: message})
		return &out[len(out)-1]
	}
	if entries > site.MaxSitemapEntries {
		report(SitemapLimit, fmt.Sprintf("%d entries, more than the %d that a sitemap may have", entries, site.MaxSitemapEntries))
	}
	if p.Size() > site.MaxSitemapBytes {
		report(SitemapLimit, fmt.Sprintf("%d bytes, more than the %d that a sitemap may have", p.Size(), site.MaxSitemapBytes))
	}
	if foreign > 0 && s.Published() {
		f := report(SitemapEntry, fmt.Sprintf("%d of %d entries are not below a base URL, this one first: search engines drop them", foreign, entries))
		place(f, first)
	}
	return out
}

// isForeign tells whether an address does not belong to the site.
func isForeign(state site.State) bool {
	return state == site.StateExternal || state == site.StateOutsideBase || state == site.StateCredentials
}

// KindCount is a number of files of one kind.
type KindCount struct {
	Kind  string
	Count int
}

// files counts what was read besides pages, what was not, and what pages say
// of their addresses.
func (sum *Summary) files(s *site.Site) {
	var kinds [site.PageHeaders + 1]int
	entries := 0
	for i := range s.Pages() {
		p := s.Page(site.PageID(i))
		if canon := p.Canonical(); canon != site.NoNode {
			if target, ok := s.PageOf(canon); !ok || target != site.PageID(i) {
				sum.Canonical++
			}
		}
		if p.Kind().IsHTML() || p.Error().Err != nil {
			continue
		}
		kinds[p.Kind()]++
		if s.Published() {
			continue
		}
		switch p.Kind() {
		case site.PageSitemap, site.PageIndex, site.PageFeed, site.PageJSONFeed:
			for j := range p.All() {
				if l := &p.All()[j]; l.IsEntry() && l.State == site.StateExternal {
					entries++
				}
			}
		}
	}
	for kind, n := range kinds {
		if n > 0 {
			sum.Read = append(sum.Read, KindCount{site.PageKind(kind).String(), n})
		}
	}
	if n := s.OtherXML(); n > 0 {
		sum.NotRead = append(sum.NotRead, KindCount{"other-xml", n})
	}
	if n := s.SourceMaps(); n > 0 {
		sum.NotRead = append(sum.NotRead, KindCount{"source-map", n})
	}
	if n := s.ServerPages(); n > 0 {
		sum.ServerPages = n
		sum.Notes = append(sum.Notes, serverNote(s, n))
	}
	if entries > 0 {
		sum.Notes = append(sum.Notes, fmt.Sprintf("addresses of entries of sitemaps and feeds were not checked, as the site's own is not known: %d; set base-url", entries))
	}
}
