package source

import (
	"cmp"
	"path"
	"strings"

	"github.com/sitelink/sitelink/internal/source/read"
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
	// file is the key of a page if the destination names its content file, by
	// its extension and relative to the linking file. It is "/" for the home
	// page, and "" if the destination names no content file.
	file string
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
	dest = strings.TrimPrefix(strings.TrimSpace(dest), "pathname://") // of Docusaurus: what it does not resolve
	plain := dest
	for _, prefix := range pelicanPrefixes {
		plain = strings.TrimPrefix(plain, prefix)
	}
	a := address{exact: read.Decode(plain)}
	local := a.exact
	if base != "" {
		for _, scheme := range []string{"https://", "http://", "//"} {
			if rest, ok := strings.CutPrefix(local, scheme+base); ok && (rest == "" || rest[0] == '/' || rest[0] == '#' || rest[0] == '?') {
				local = "/" + strings.TrimPrefix(rest, "/")
				break
			}
		}
	}
	if scheme, _, ok := strings.Cut(local, "://"); ok && !strings.ContainsAny(scheme, "/?#(") || strings.HasPrefix(local, "//") || strings.HasPrefix(local, "mailto:") {
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
	if a.name = lastName(p); plain != dest && fragment != "" {
		a.name = "" // the title of the file makes the address, so only the id is in both
	}
	return a
}

// pelicanPrefixes begin the destinations that Pelican resolves.
var pelicanPrefixes = []string{"{filename}", "{static}", "{attach}", "|filename|", "|static|", "|attach|"}

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
	case strings.TrimPrefix(src.local, "/") == strings.TrimPrefix(page.local, "/"), page.exact != "" && page.exact[0] == '#' && page.exact[1:] == src.exact && (read.IsContent(src.exact) || strings.Contains(src.exact, "/")):
		return localMatch // MyST makes #a/b of a/b if there is no a/b.md
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
