package templates

import (
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/glob"
)

// Choice selects the pages of a built site that name the endpoints. The zero
// value selects the home page and all pages that are not lists.
type Choice struct {
	// Pages and Exclude are doublestar patterns for paths in the docroot,
	// without a leading slash. Empty Pages means all pages; Exclude wins.
	Pages, Exclude []string
	// Kinds are kinds of pages: "home", "page", "list". Empty means home and
	// page.
	Kinds []string
}

// Chosen is whether a page should name the endpoints.
type Chosen uint8

const (
	// No: the page does not need the elements, but may have them: a list of
	// pages that is not selected.
	No Chosen = iota
	// Yes: the page should have the elements.
	Yes
	// Never: the page must not have them: error pages, and pages that the
	// patterns leave out.
	Never
)

// A Chooser decides by path which pages of a docroot are selected. It is safe
// for concurrent use.
type Chooser struct {
	choice           Choice
	home, page, list bool
	// feeds are the directories that hold a feed. parents are the directories
	// that have other pages below them than their index file.
	feeds, parents map[string]bool
}

// NewChooser returns the Chooser of a docroot with these pages. feeds are the
// paths of its feeds; generators write one beside each list of pages. All paths
// are slash paths in the docroot without a leading slash.
func NewChooser(c Choice, pages, feeds []string) *Chooser {
	if len(c.Kinds) == 0 {
		c.Kinds = []string{"home", "page"}
	}
	ch := &Chooser{choice: c, feeds: map[string]bool{}, parents: map[string]bool{}}
	ch.home, ch.page, ch.list = slices.Contains(c.Kinds, "home"), slices.Contains(c.Kinds, "page"), slices.Contains(c.Kinds, "list")
	for _, f := range feeds {
		ch.feeds[directory(f)] = true
	}
	for _, p := range pages {
		dir := directory(p)
		if isIndex(p) {
			dir = directory(dir)
			if !strings.Contains(p, "/") {
				continue
			}
		}
		for !ch.parents[dir] {
			ch.parents[dir] = true
			dir = directory(dir)
		}
	}
	return ch
}

// Of reports whether the page at p is selected. A page that only redirects
// cannot be recognised by its path; callers that read pages have to leave it
// out.
func (c *Chooser) Of(p string) Chosen {
	matches := func(pattern string) bool { return glob.Match(pattern, p) }
	switch {
	case IsErrorPage(p),
		slices.ContainsFunc(c.choice.Exclude, matches),
		len(c.choice.Pages) > 0 && !slices.ContainsFunc(c.choice.Pages, matches):
		return Never
	}
	chosen := c.page
	switch {
	case !strings.Contains(p, "/") && isIndex(p):
		chosen = c.home
	case c.isList(p):
		chosen = c.list
	}
	if chosen {
		return Yes
	}
	return No
}

// isList reports whether the page is a list of pages: the index of a directory
// with pages below it or its own feed, a later page of such a list, or a page
// of tags or categories.
func (c *Chooser) isList(p string) bool {
	name := strings.TrimSuffix(p, path.Ext(p))
	if isIndex(p) {
		if name = directory(p); c.feeds[name] {
			return true
		}
	}
	if c.parents[name] {
		return true
	}
	last := name[strings.LastIndexByte(name, '/')+1:]
	if isNumber(last) {
		above := directory(name)
		if base := above[strings.LastIndexByte(above, '/')+1:]; base == "page" {
			return true
		}
	}
	first, rest, deeper := strings.Cut(name, "/")
	second, _, _ := strings.Cut(rest, "/")
	return isTaxonomy(first) || deeper && isTaxonomy(second) && len(first) <= len("zh-hans") // a language before it
}

func isTaxonomy(segment string) bool {
	switch segment {
	case "tags", "tag", "categories", "category":
		return true
	}
	return false
}

// IsErrorPage reports whether the page at p is an error page of the host, such
// as 404.html: at the top of the docroot, or one level below for a language.
func IsErrorPage(p string) bool {
	name := strings.TrimSuffix(p, path.Ext(p))
	if isIndex(p) {
		name = directory(p)
	}
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		if strings.IndexByte(name, '/') != i {
			return false
		}
		name = name[i+1:]
	}
	return name == "50x" || len(name) == 3 && isNumber(name) && (name[0] == '4' || name[0] == '5')
}

// IsFeed reports whether a file of this name is the feed of a list of pages.
func IsFeed(name string) bool {
	switch name {
	case "index.xml", "feed.xml", "atom.xml", "rss.xml", "feed.json":
		return true
	}
	return false
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// isIndex reports whether p is the index file of its directory.
func isIndex(p string) bool {
	name := p[strings.LastIndexByte(p, '/')+1:]
	return strings.HasPrefix(name, "index.") && strings.Count(name, ".") == 1
}

// directory returns the directory of p, "" for the docroot.
func directory(p string) string {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i]
	}
	return ""
}
