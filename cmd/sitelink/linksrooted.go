package main

import (
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/site"
)

// publicAddress is the row of an address of a docroot whose parts have hosts of
// their own: as it is on its host.
func publicAddress(s *site.Site, x check.Address) report.Record {
	origin, path := s.Public(x.Path)
	_, base := s.Public(rootOf(s, x.Path))
	_, host, _ := strings.Cut(origin, "://")
	if strings.HasPrefix(x.Final, "/") {
		if to, final := s.Public(x.Final); to == origin {
			x.Final = final
		} else {
			x.Final = to + final
		}
	}
	x.Path = path
	if !strings.HasSuffix(base, "/") {
		base += "/"
	}
	url := ""
	if origin != "" {
		url = origin + base
	}
	return report.AddressRecord(url, host, base, x)
}

// rootOf returns the part of the docroot that a path belongs to, "/" for none.
func rootOf(s *site.Site, path string) string {
	best := "/"
	for _, r := range s.Roots() {
		dir := "/" + strings.Trim(r.Dir, "/")
		if rest, ok := strings.CutPrefix(path, dir); ok && (rest == "" || rest[0] == '/') && len(dir) > len(best) {
			best = dir
		}
	}
	return best
}
