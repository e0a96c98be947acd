package templates

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Choice says which pages of a built site name the endpoints.
type Choice struct {
	// Pages and Exclude are doublestar patterns of paths in the docroot, without
	// leading slash. No Pages means all; Exclude wins.
	Pages, Exclude []string
	// Kinds are the kinds of pages: "home", "page", "list". None means home and
	// page.
	Kinds []string
}

// Chosen says whether a page names the endpoints.
type Chosen uint8

const (
	// No: the page need not, and does no harm if it does: lists of pages, where
	// they are not chosen.
	No Chosen = iota
	// Yes: the page should.
	Yes
	// Never: the page must not: error pages, and what the patterns leave out.
	Never
)

// A Chooser tells by their paths which pages of a docroot are chosen. It is
// safe for concurrent use.
type Chooser struct {
	choice           Choice
	home, page, list bool
	// feeds are the directories that hold a feed, parents those below which
	// pages lie beside their index file.
	feeds, parents map[string]bool
}

// NewChooser returns the chooser for a docroot whose pages are at these paths.
// feeds are the paths of its feeds: generators write one beside each list of
// pages. Paths are slash paths in the docroot without leading slash.
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

// Of tells whether the page at p is chosen. Pages that only redirect are not
// known by their paths: who reads them must leave them out.
func (c *Chooser) Of(p string) Chosen {
	matches := func(pattern string) bool { ok, _ := doublestar.Match(pattern, p); return ok }
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

// isList tells whether the page is a list of pages: the index of a directory
// with pages below it or with a feed of its own, a further page of such a list,
// or a page of tags or categories.
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

// IsErrorPage tells whether the page is what a host shows in place of others:
// 404.html and its like at the top, or one level below for a language.
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

// IsFeed tells by the name of a file whether it is the feed of a list of pages.
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

// isIndex tells whether p is the index file of its directory.
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
