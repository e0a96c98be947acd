package check

import (
	"fmt"

	"github.com/sitelink/sitelink/internal/host"

	isite "github.com/sitelink/sitelink/internal/site"
)

// sitemapFindings reports what is wrong with a sitemap or index as a whole.
// place tells where an offset of its text stands.
func sitemapFindings(s *isite.Site, id isite.PageID, place func(f *Finding, off uint32)) []Finding {
	p := s.Page(id)
	if k := p.Kind(); k != isite.PageSitemap && k != isite.PageIndex || p.Error().Err != nil {
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
	if entries > isite.MaxSitemapEntries {
		report(SitemapLimit, fmt.Sprintf("%d entries, more than the %d that a sitemap may have", entries, isite.MaxSitemapEntries))
	}
	if p.Size() > isite.MaxSitemapBytes {
		report(SitemapLimit, fmt.Sprintf("%d bytes, more than the %d that a sitemap may have", p.Size(), isite.MaxSitemapBytes))
	}
	if foreign > 0 && s.Published() {
		f := report(SitemapEntry, fmt.Sprintf("%d of %d entries are not below a base URL, this one first: search engines drop them", foreign, entries))
		place(f, first)
	}
	return out
}

// isForeign tells whether an address does not belong to the site.
func isForeign(state host.State) bool {
	return state == host.StateExternal || state == host.StateOutsideBase || state == host.StateCredentials
}

// KindCount is a number of files of one kind.
type KindCount struct {
	Kind  string
	Count int
}
