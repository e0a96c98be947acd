package weburl

import (
	"path"
	"strings"
)

// Relative returns the shortest relative reference from one path to another, which both
// begin with a slash: from /a/b.html to /c/ it is ../c/.
func Relative(from, to string) string {
	x := strings.Split(strings.TrimSuffix(path.Dir(from), "/"), "/")
	y := strings.Split(to, "/")
	n := 0
	for n < len(x) && n < len(y)-1 && x[n] == y[n] {
		n++
	}
	out := strings.Repeat("../", len(x)-n) + strings.Join(y[n:], "/")
	if first, _, _ := strings.Cut(out, "/"); out == "" || strings.Contains(first, ":") {
		return "./" + out // a colon would end a scheme
	}
	return out
}

// WithPath writes href, a rooted path, in place of the path of a link in the manner in
// which the author wrote that: absolute, from the root, or relative to the path of its
// page. Query and fragment stay. With the page /a/b/ and the path /a/c/, the link
// ../x/?q is written as ../c/?q. Without a page, nothing is relative.
func WithPath(raw, page, href string) string {
	raw, tail := strings.TrimSpace(raw), ""
	if i := strings.IndexAny(raw, "?#"); i >= 0 {
		raw, tail = raw[:i], raw[i:]
	}
	i := strings.Index(raw, "://") + 1
	if i > 0 || strings.HasPrefix(raw, "//") {
		host, _, _ := strings.Cut(raw[i+2:], "/")
		return raw[:i+2] + host + href + tail
	}
	if strings.HasPrefix(raw, "/") || raw == "" || page == "" {
		return href + tail
	}
	return Relative(page, href) + tail
}
