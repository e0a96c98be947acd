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
