package check

import (
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"

	isite "github.com/sitelink/sitelink/internal/site"
)

// messageCache remembers the messages of redirected links of one directory. The
// pages of a directory repeat each other's links, and thousands of links can
// lead to a redirect or an alias page (rust-doc: 39,691 links to 170 alias
// pages). It belongs to one goroutine.
type messageCache struct {
	s     *isite.Site
	page  *isite.Page
	path  string // of page
	dir   docroot.NodeID
	known map[string]cachedMessage // by the link's value
}

// cachedMessage is what a finding says, with all that it depends on besides
// value and directory.
type cachedMessage struct {
	resolved                           host.Resolved
	judged                             judgement
	based                              bool
	raw, fragment, message, suggestion string
}

// maxCachedMessages bounds the cache.
const maxCachedMessages = 1 << 12

// open makes page id the one whose links are described next.
func (c *messageCache) open(id isite.PageID) {
	c.page, c.path = c.s.Page(id), c.s.Path(id)
	if dir := c.s.Tree().Parent(c.page.Node()); dir != c.dir || c.known == nil || len(c.known) >= maxCachedMessages {
		c.dir, c.known = dir, map[string]cachedMessage{}
	}
}

// describe returns the finding about a link of the page, with its suggestion if
// that takes no search.
func (c *messageCache) describe(d *isite.Detail, j judgement) Finding {
	if j.code != ViaRedirect {
		return c.compose(d, j)
	}
	if m, ok := c.known[d.Raw]; ok && m.resolved == d.Resolved && m.judged == j && m.based == c.page.HasBase() {
		l := linkOf(c.s, c.path, d, j)
		l.Raw, l.Fragment, l.Message = m.raw, m.fragment, m.message
		f := l.Finding()
		f.Suggestion, f.based = m.suggestion, m.based
		return f
	}
	f := c.compose(d, j)
	m := cachedMessage{d.Resolved, j, f.based, f.Raw, f.Fragment, f.Message, f.Suggestion}
	m.resolved.Fragment = f.Fragment // the string of d does not last
	c.known[f.Raw] = m
	return f
}

// compose is describe without looking into the cache.
func (c *messageCache) compose(d *isite.Detail, j judgement) Finding {
	f := finding(c.s, c.path, d, j)
	f.based = c.page.HasBase()
	suggestAtOnce(c.s, &f)
	return f
}
