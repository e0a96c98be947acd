package site

import (
	"github.com/sitelink/sitelink/internal/scan"
)

// mapPage presents a server-side image map (LL-88, LL-95 to LL-97) as a page
// of links, so that everything that follows treats both alike.
func mapPage(data []byte) (page scan.Page, bad []int) {
	links, base, bad := scan.ImageMap(data)
	page.Text = data
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
