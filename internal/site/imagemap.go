package site

import (
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/data"
)

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
