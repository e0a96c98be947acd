package outgoing

import (
	"strings"

	"github.com/sitelink/sitelink/internal/site"
)

// SiteAnswer answers as the host of a site will: by its rules, its files, and
// pages that only send the visitor on.
func SiteAnswer(s *site.Site, e *Entries) Answer {
	scheme, _, _ := strings.Cut(s.BaseURL(), ":")
	origin := strings.ToLower(scheme) + "://" + s.Authority()
	absolute := func(address string) string {
		address, _, _ = strings.Cut(address, "#")
		if strings.HasPrefix(address, "/") {
			return origin + address
		}
		return address
	}
	return func(url string) (status int, final string) {
		if to, ok := e.aliases[url]; ok {
			url = absolute(to)
			final = url
		}
		r, err := s.Request(url)
		if err != nil {
			return 0, final
		}
		if r.Final != "" {
			final = absolute(r.Final)
		}
		if to, ok := e.aliases[final]; ok {
			final = absolute(to)
		}
		if r.Status == 0 && final != "" {
			return 200, final // another host: it is not asked here
		}
		return r.Status, final
	}
}
