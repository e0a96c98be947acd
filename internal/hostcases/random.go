package hostcases

import (
	"math/rand/v2"
	"strings"
)

// Random returns n distinct random links: names of the docroot joined with
// characters and segments that servers treat specially. The same seed gives the
// same links.
func Random(seed uint64, n int) []Case {
	r := rand.New(rand.NewPCG(seed, 0))
	names := randomNames()
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	between := []string{"/", "/", "/", "/", "/", "//", "%2F", "%2f", "/..%2F", "/.%2F", "%2F..%2F", "%2F../", "%5C", "/%2F", "%2F%2F", ";", "%00", "%3F", "%23"}
	letters := []string{"%2e", "%2E%2e", "%61", "%20", "%25", "%zz", "%C3%A9", "%c3", "%F5", "%1F", "%7f", "~", "+", "'", "A"}
	var cases []Case
	seen := map[string]bool{}
	for len(cases) < n {
		var b strings.Builder
		b.WriteString("/")
		for i := range 1 + r.IntN(3) {
			if i > 0 {
				b.WriteString(pick(between))
			}
			name := pick(names)
			if r.IntN(12) == 0 {
				at := r.IntN(len(name) + 1)
				name = escapePath(name[:at]) + pick(letters) + escapePath(name[at:])
			} else {
				name = escapePath(name)
			}
			b.WriteString(name)
		}
		if r.IntN(2) == 0 {
			b.WriteString(pick(suffixes))
		}
		if href := b.String(); !seen[href] && plain(href) {
			seen[href] = true
			c := Case{Href: href, Target: href}
			if strings.HasPrefix(href, "//") {
				c.Href = "/." + href
			}
			cases = append(cases, c)
		}
	}
	return cases
}

// randomNames are names of the docroot, each as often as it is interesting.
func randomNames() []string {
	var names []string
	for _, name := range plainFiles {
		if len(name) < 100 {
			names = append(names, strings.Split(strings.TrimSuffix(name, "/"), "/")...)
		}
	}
	for _, name := range oddNames {
		names = append(names, name+".html", name+"-dir")
	}
	for _, link := range symlinks {
		names = append(names, strings.Split(link[0], "/")...)
	}
	for range 10 {
		names = append(names, "with-index", "no-index", "plain.html", "index.html", "self", "up", "outside-dir", "missing", "root", "outside")
	}
	return append(names, "socket.html", "index-socket", "chain-40.html", "chain-41.html", "deep", "d")
}

// plain reports whether the URL parser leaves href unchanged: it resolves dot
// segments, also encoded ones.
func plain(href string) bool {
	path, _, _ := strings.Cut(href, "?")
	for seg := range strings.SplitSeq(path[1:], "/") {
		switch strings.ReplaceAll(strings.ToLower(seg), "%2e", ".") {
		case ".", "..":
			return false
		}
	}
	return true
}
