package source

import (
	"cmp"
	"net/url"
	"path"
	"strings"

	aligner "github.com/sitelink/sitelink/internal/text"
)

// address is a destination in the forms in which it is compared.
type address struct {
	// exact is the destination, percent-decoded.
	exact string
	// local is exact without the site's base URL, "" for a destination outside
	// the site.
	local string
	// name is the last name of the path in lower case, without what generators
	// add or remove: .md, .html, index, a final slash. fragment is what follows
	// #.
	name, fragment string
	// target is the site path that the destination leads to from its page, with
	// query, decoded; "" for a destination outside the site.
	target string
	// file is the key of the page whose content file the destination names,
	// relative to its own content file; "" if it does not name one by its
	// extension, and "/" for the home page.
	file string
}

// fileKey returns the key of the content file that a destination names in the
// file with the key from, see address.
func fileKey(local, from string) string {
	p, _, _ := strings.Cut(local, "#")
	p, _, _ = strings.Cut(p, "?")
	if p == "" || !isContent(p) || p[0] == '/' {
		return ""
	}
	p = path.Join("/", path.Dir(from), p)
	if key := NameKey(strings.TrimSuffix(p[1:], path.Ext(p))); key != "" {
		return key
	}
	return "/"
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

// addressOf returns the address of a destination without its target. base is
// the host of the site's base URL, basePath its path.
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
	if scheme, _, ok := strings.Cut(local, "://"); ok && !strings.ContainsAny(scheme, "/?#") || strings.HasPrefix(local, "//") || strings.HasPrefix(local, "mailto:") {
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

// lastName returns the part of a path that all spellings of the page's address
// have in common.
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

// The result of matchScore.
const (
	noMatch     = 0
	nameMatch   = 4  // a render hook or shortcode may turn one into the other
	targetMatch = 9  // both lead to the same place, as with Hugo's relativeURLs
	localMatch  = 10 // equal except for the site's base URL
	exactMatch  = 12
)

// matchScore says how well the destination in a source matches a link of the
// page.
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
	case src.name != "" && src.name == page.name, src.isOwnAnchor():
		return nameMatch
	case src.file != "" && page.target != "" && src.file == cmp.Or(PageKey(page.target), "/"):
		return nameMatch
	}
	return noMatch
}

// isOwnAnchor reports whether the destination names an id without a page, which a
// template may put behind the address of any page: #a becomes /de/#a.
func (a *address) isOwnAnchor() bool { return a.name == "" && a.fragment != "" }

// pageLink is one link of a page.
type pageLink struct {
	offset  int64
	raw     string
	element string
	// attribute is the attribute that has the link, "" if there is none.
	attribute string
	label     string
	addr      address
	// region is the weight of the link's region of the page: positive in the
	// main content, negative in navigation.
	region int
}

// What adds to the weight of a pair, besides matchScore.
const (
	adjacentBonus = 3 // the links before are a pair as well
	sameLabel     = 5
	otherLabel    = -2
	sameElement   = 2
)

// align returns the index of the source's link that each link of the page was
// made of, -1 for none, and the number of pairs.
func align(items []sourceLink, addrs []address, links []pageLink) (pairs []int, n int) {
	rows, columns := make([][]aligner.AlignKey, len(items)), make([][]aligner.AlignKey, len(links))
	for i := range addrs {
		rows[i] = addrs[i].keys()
	}
	for i := range links {
		columns[i] = links[i].addr.keys()
	}
	pairs = aligner.Align(rows, columns, func(i, j int) int32 { return pairWeight(&items[i], &addrs[i], &links[j]) }, aligner.AlignOptions{Adjacent: adjacentBonus})
	used := make([]bool, len(items))
	for _, i := range pairs {
		if i >= 0 {
			used[i] = true
			n++
		}
	}

	// The pairs of an alignment do not cross, so the anchor of one heading can cost a
	// link of the text its pair. Links that are left on both sides, and match nothing
	// else that is left, are a pair too.
	left := map[aligner.AlignKey][]int{} // rows that are left, by their keys
	for i := range items {
		if !used[i] {
			for _, k := range rows[i] {
				left[k] = append(left[k], i)
			}
		}
	}
	const none, several = -1, -2
	only := make([]int, len(links)) // the row for each column
	columnOf := map[int]int{}       // the column for each row
	for j := range links {
		only[j] = none
		if l := &links[j]; pairs[j] >= 0 || l.region < 0 {
			continue
		}
		for _, k := range columns[j] {
			for _, i := range left[k] {
				if i == only[j] || pairWeight(&items[i], &addrs[i], &links[j]) == 0 || items[i].label != links[j].label {
					continue
				}
				if only[j] != none {
					only[j] = several
				} else {
					only[j] = i
				}
			}
		}
		if i := only[j]; i >= 0 {
			if _, ok := columnOf[i]; ok {
				columnOf[i] = several
			} else {
				columnOf[i] = j
			}
		}
	}
	for j, i := range only {
		if i >= 0 && columnOf[i] == j {
			pairs[j] = i
			n++
		}
	}
	return pairs, n
}

// pairWeight returns the weight of a pair, 0 if the two cannot be a pair.
func pairWeight(it *sourceLink, src *address, l *pageLink) int32 {
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
	if w <= nameMatch+sameElement && src.isOwnAnchor() && it.label != l.label {
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

// keys returns the keys of an address. Two addresses that match have at least
// one in common.
func (a *address) keys() []aligner.AlignKey {
	if a.local == "" {
		return []aligner.AlignKey{{Kind: 'e', Text: a.exact}}
	}
	keys := append(make([]aligner.AlignKey, 0, 6), aligner.AlignKey{Kind: 'e', Text: a.exact})
	keys = append(keys, aligner.AlignKey{Kind: 'l', Text: a.local}, aligner.AlignKey{Kind: 't', Text: a.target})
	if a.local[0] == '/' {
		keys = append(keys, aligner.AlignKey{Kind: 'l', Text: a.local[1:]})
	}
	if a.name != "" {
		keys = append(keys, aligner.AlignKey{Kind: 'n', Text: a.name + "#" + a.fragment})
	}
	if a.fragment != "" {
		keys = append(keys, aligner.AlignKey{Kind: 'a', Text: a.fragment})
	}
	switch {
	case a.file != "":
		keys = append(keys, aligner.AlignKey{Kind: 'f', Text: a.file + "#" + a.fragment})
	case a.target != "":
		keys = append(keys, aligner.AlignKey{Kind: 'f', Text: cmp.Or(PageKey(a.target), "/") + "#" + a.fragment})
	}
	return keys
}
