package check

import (
	"strings"

	isite "github.com/sitelink/sitelink/internal/site"
)

// rootedPath is [replacePath] where parts of the docroot have addresses of their
// own: href is a path in the docroot, and what is written depends on whether it
// belongs to the page's own host.
func rootedPath(s *isite.Site, f *Finding, href string) string {
	raw := strings.TrimSpace(f.Raw)
	tail := ""
	if k := strings.IndexAny(raw, "?#"); k >= 0 {
		raw, tail = raw[:k], raw[k:]
	}
	here, from := s.Public("/" + f.Page)
	there, to := s.Public(href)
	absolute := strings.Contains(raw, "://")
	switch {
	case there == "" && here == "": // no host at all
	case absolute || here != there && !strings.HasPrefix(raw, "//"):
		return there + to + tail
	case strings.HasPrefix(raw, "//"):
		_, host, _ := strings.Cut(there, ":")
		return host + to + tail
	}
	if strings.HasPrefix(raw, "/") || raw == "" || f.based {
		return to + tail
	}
	return relative(from, to) + tail
}
