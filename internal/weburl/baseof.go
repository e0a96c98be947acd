package weburl

import "strings"

// BaseOf returns the address of the docroot, given the address and the docroot path of one
// of its pages: https://example.org/docs/ for https://example.org/docs/a/b/ and
// a/b/index.html. The address may have any [Form]. BaseOf returns "" if the address does
// not belong to the page.
func BaseOf(address, page string) string {
	u, err := Parse(strings.TrimSpace(address))
	if err != nil || u.Host() == "" || u.HasCredentials() || u.Scheme() != "http" && u.Scheme() != "https" {
		return ""
	}
	path := string(PercentDecode(nil, u.Path()))
	stem, index := strings.CutSuffix("/"+page, "/index.html")
	if !index {
		stem = strings.TrimSuffix(stem, ".html")
	}
	base, ok := strings.CutSuffix(path, "/"+page)
	if !ok {
		if base, ok = strings.CutSuffix(strings.TrimSuffix(path, "/"), stem); !ok {
			return ""
		}
	}
	parts := strings.Split(u.Path(), "/") // as encoded
	return u.Scheme() + "://" + u.Authority() + strings.Join(parts[:strings.Count(base, "/")+1], "/") + "/"
}
