package source

import (
	"net/url"
	"path"
	"strings"

	aligner "github.com/sitelink/sitelink/internal/align"
)

// address is a destination prepared for comparing.
type address struct {
	// exact is the destination with escapes decoded.
	exact string
	// local is exact without the site's own address before it, "" if it is
	// elsewhere.
	local string
	// name is the last name of the path, without what generators add or drop:
	// .md, .html, index, a final slash; lower case. fragment is behind #.
	name, fragment string
	// target is the site path that the destination leads to from its page,
	// with query, decoded; "" if it is elsewhere.
	target string
}

// resolved returns the site path that a destination leads to from a page.
func (a *address) resolved(page string) string {
	p, _, _ := strings.Cut(a.local, "#")
	p, query, asks := strings.Cut(p, "?")
	switch {
	case a.local == "":
		return ""
	case p == "":
		return "/" + page
	}
	slash := strings.HasSuffix(p, "/") || strings.HasSuffix(p, "/.") || strings.HasSuffix(p, "/..") || p == "." || p == ".."
	if p[0] != '/' {
		p = "/" + path.Dir(page) + "/" + p
	}
	if p = path.Clean(p); slash && p != "/" {
		p += "/"
	}
	if asks {
		p += "?" + query
	}
	return p
}

// addressOf prepares a destination. base is the site's own host, basePath the
// path below which it is published.
func addressOf(dest, base, basePath string) address {
	dest = strings.TrimSpace(dest)
	a := address{exact: decode(dest)}
	local := a.exact
	if base != "" {
		for _, scheme := range []string{"https://", "http://", "//"} {
			if rest, ok := strings.CutPrefix(local, scheme+base); ok && (rest == "" || rest[0] == '/' || rest[0] == '#' || rest[0] == '?') {
				local = "/" + strings.TrimPrefix(rest, "/")
				break
			}
		}
	}
	if i := strings.Index(local, "://"); i > 0 && i < 12 || strings.HasPrefix(local, "//") || strings.HasPrefix(local, "mailto:") {
		return a
	}
	if basePath != "" {
		if rest, ok := strings.CutPrefix(local, basePath+"/"); ok {
			local = "/" + rest
		}
	}
	a.local = local
	p, fragment, _ := strings.Cut(local, "#")
	p, _, _ = strings.Cut(p, "?")
	a.fragment = fragment
	a.name = lastName(p)
	return a
}

// lastName is the part of a path that names the page in any spelling of it.
func lastName(p string) string {
	p = strings.ToLower(strings.TrimRight(p, "/"))
	name := path.Base(p)
	for range 2 {
		switch ext := path.Ext(name); ext {
		case ".md", ".markdown", ".mdx", ".html", ".htm", ".org", ".adoc":
			name = strings.TrimSuffix(name, ext)
		}
		if name != "index" && name != "_index" && name != "readme" {
			break
		}
		if p = path.Dir(p); p == "." || p == "/" {
			return ""
		}
		name = path.Base(p)
	}
	if name == "." || name == "/" || name == ".." {
		return ""
	}
	return strings.ReplaceAll(name, " ", "-")
}

func decode(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	if d, err := url.PathUnescape(s); err == nil {
		return d
	}
	return s
}

// How well a destination of a source fits a link of the page.
const (
	noMatch     = 0
	nameMatch   = 4  // a render hook or shortcode may have made one of the other
	targetMatch = 9  // both lead to the same place, as with Hugo's relativeURLs
	localMatch  = 10 // the same but for the site's own address
	exactMatch  = 12
)

// matchScore compares a source's destination with a page's link.
func matchScore(src, page *address) int {
	switch {
	case src.exact == page.exact:
		return exactMatch
	case src.local == "" || page.local == "":
		return noMatch
	case strings.TrimPrefix(src.local, "/") == strings.TrimPrefix(page.local, "/"):
		return localMatch
	case src.fragment != page.fragment:
		return noMatch
	case src.target != "" && src.target == page.target:
		return targetMatch
	case src.name != "" && src.name == page.name:
		return nameMatch
	}
	return noMatch
}

// pageLink is one link of a page, prepared for comparing.
type pageLink struct {
	offset  int64
	raw     string
	element string
	label   string
	addr    address
	// region says whether the place in the page speaks for the author's text
	// (above 0) or for navigation (below).
	region int
}

// What speaks for a pair, beside the fit of the destinations.
const (
	neighbours  = 3 // the pair before it is a pair, too
	sameLabel   = 5
	otherLabel  = -2
	sameElement = 2
)

// align returns the index of the sourceLink that each link was made of, -1 for none,
// and the number of pairs.
func align(items []sourceLink, addrs []address, links []pageLink) (pairs []int, n int) {
	rows, columns := make([][]aligner.Key, len(items)), make([][]aligner.Key, len(links))
	for i := range addrs {
		rows[i] = addrs[i].keys()
	}
	for i := range links {
		columns[i] = links[i].addr.keys()
	}
	pairs = aligner.Pairs(rows, columns, func(i, j int) int32 { return weigh(&items[i], &addrs[i], &links[j]) }, aligner.Options{Adjacent: neighbours})
	for _, i := range pairs {
		if i >= 0 {
			n++
		}
	}
	return pairs, n
}

// weigh says how much speaks for a pair, 0 if nothing does.
func weigh(it *sourceLink, src *address, l *pageLink) int32 {
	w := matchScore(src, &l.addr)
	if w == noMatch {
		return 0
	}
	switch {
	case it.element == "" || l.element == "":
	case it.element == l.element:
		w += sameElement
	case w == nameMatch:
		return 0
	}
	if it.label != "" && l.label != "" {
		if it.label == l.label {
			w += sameLabel
		} else {
			w += otherLabel
		}
	}
	return int32(max(1, w+l.region))
}

// keys returns what two addresses that fit have in common: at least one of these.
func (a *address) keys() []aligner.Key {
	keys := []aligner.Key{{Kind: 'e', Text: a.exact}}
	if a.local == "" {
		return keys
	}
	keys = append(keys, aligner.Key{Kind: 'l', Text: a.local}, aligner.Key{Kind: 't', Text: a.target})
	if a.local[0] == '/' {
		keys = append(keys, aligner.Key{Kind: 'l', Text: a.local[1:]})
	}
	if a.name != "" {
		keys = append(keys, aligner.Key{Kind: 'n', Text: a.name + "#" + a.fragment})
	}
	return keys
}
