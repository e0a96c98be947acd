package outgoing

import "github.com/sitelink/sitelink/internal/weburl"

// key is what two targets are compared by: the canonical form, which has no
// fragment. A page is told once, however many of its anchors are linked. What
// has no such form is only equal to itself.
func key(url string) string {
	if c, err := weburl.Canonical(url); err == nil {
		return c
	}
	return url
}
