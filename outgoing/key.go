package outgoing

import "github.com/sitelink/sitelink/internal/weburl"

// key is what two targets are compared by: the canonical form, without
// fragment. A page is told once, however many of its anchors are linked.
func key(url string) string {
	u, err := weburl.Parse(url)
	if err != nil {
		return url
	}
	return u.WithoutFragment()
}
