package site

import (
	"strings"

	"github.com/sitelink/sitelink/internal/scan"
)

// aliasTarget returns where the refresh link l leads, as a site path or
// absolute URL; empty when it is the page itself, which then only reloads, or
// nothing that a browser goes to.
//
// Generators write such pages for the old addresses of a page ("aliases" in
// Hugo). The host answers 200, so that only reading the page tells.
func (r *resolver) aliasTarget(page *scan.Page, l *scan.Link) string {
	res := r.slow(page.Ref(l), false)
	if res.Target == "" || res.State == StateJavaScript || res.State.Answers() && res.Node == r.page {
		return ""
	}
	to := res.Target
	if res.Fragment != "" {
		to += "#" + res.Fragment
	}
	return strings.Clone(to)
}
