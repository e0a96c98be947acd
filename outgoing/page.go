package outgoing

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/sitelink/sitelink/internal/scan/outline"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/weburl"
)

// pageWorker reads one page after the other.
type pageWorker struct {
	*reading
	reader   *site.Reader
	outliner outline.Reader
	// parser: pages are parsed even where the outliner would be sure.
	parser bool
}

func (r *reading) worker() (*pageWorker, error) {
	reader, err := r.s.NewReader()
	if err != nil {
		return nil, err
	}
	return &pageWorker{reading: r, reader: reader, parser: r.rules.content != nil}, nil
}

func (w *pageWorker) close() { w.reader.Close() }

// page makes the entry of a page, or says why there is none.
func (w *pageWorker) page(id site.PageID) (made, error) {
	p, path := w.s.Page(id), w.s.Path(id)
	feed := p.Kind() == site.PageFeed || p.Kind() == site.PageJSONFeed
	if !p.Kind().IsHTML() && !(feed && w.rules.opt.Hubs != nil) || p.Error().Err != nil {
		return made{}, nil
	}
	e := Entry{Page: path, URL: w.origin + w.s.Href(p.Node()), Feed: feed}
	_, known := w.known.pages[e.URL]
	switch {
	case !w.rules.takes(path):
		return made{entry: e, left: NotChosen}, nil
	case p.Alias() != "":
		return made{entry: e, left: Alias}, nil
	case path == "404.html" || strings.HasSuffix(path, "/404.html"):
		return made{entry: e, left: NotFound}, nil
	case p.Canonical() != site.NoNode && p.Canonical() != p.Node():
		return made{entry: e, left: Elsewhere}, nil
	case !feed && !known && !w.rules.opt.Internal && !leads(p):
		return made{}, nil
	}
	m, ok := w.cache.get(&e, p.Sum())
	if !ok || known && m.left == "" && m.entry.Hash == "" {
		var err error
		if m, err = w.read(id, e, known); err != nil {
			return made{}, err
		}
	}
	m.sum = p.Sum()
	m.silent = !known && m.left == "" && len(m.entry.Targets) == 0 && len(m.entry.Internal) == 0
	return m, nil
}

// read finds out what a page says from its text. Its content is hashed if it
// leads anywhere or the ledger knows the page: what says nothing has no
// changes.
func (w *pageWorker) read(id site.PageID, e Entry, known bool) (made, error) {
	text, err := w.reader.Text(id)
	if err != nil {
		return made{}, err
	}
	if e.Feed {
		e.Hash, e.Targets = fmt.Sprintf("%016x", w.s.Page(id).Sum()), w.rules.opt.Hubs(text)
		return made{entry: e}, nil
	}
	page, tree, err := w.outline(text)
	if err != nil { // the parser gives up at 512 open elements
		return made{entry: e, left: TooDeep}, nil
	}
	return w.say(e, page, tree, known), nil
}

// outline reads the tree of a page: in one pass, or, where that is not sure or
// a selector needs nodes, by the parser, which takes ten times as long.
func (w *pageWorker) outline(text []byte) (*outline.Outline, []*html.Node, error) {
	if !w.parser {
		if page, ok := w.outliner.Read(text); ok {
			return page, nil, nil
		}
	}
	doc, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	page, tree := outline.FromTree(doc)
	return page, tree, nil
}

// say tells what a page with this outline says.
func (w *pageWorker) say(e Entry, page *outline.Outline, tree []*html.Node, known bool) made {
	if (pageOutline{page}).isTombstone() {
		return made{entry: e, left: Tombstone}
	}
	c, ok := w.rules.contentOf(page, tree)
	if !ok {
		return made{entry: e, left: Listing}
	}
	w.links(&e, c)
	if known || len(e.Targets) > 0 || len(e.Internal) > 0 {
		e.Hash = c.hash()
	}
	return made{entry: e}
}

// leads tells whether the page has any link that leaves the docroot.
func leads(p *site.Page) bool {
	links := p.All()
	return slices.ContainsFunc(links, func(l site.Link) bool {
		return l.State == site.StateExternal || l.State == site.StateCredentials || l.State == site.StateOutsideBase
	})
}

// links notes the addresses that the content links to.
func (w *pageWorker) links(e *Entry, c *content) {
	base, err := weburl.Parse(e.URL)
	if err != nil {
		return // never: the address was made of a base URL that was parsed
	}
	if href, ok := (pageOutline{c.page}).baseHref(); ok {
		if u, err := base.Resolve(string(href)); err == nil && (u.Scheme() == "http" || u.Scheme() == "https") {
			base = u
		}
	}
	own := strings.TrimPrefix(strings.TrimPrefix(w.origin, "http://"), "https://")
	home := !w.rules.opt.Internal && authority(base) == own
	seen := make(map[string]bool)
	c.anchors(w.rules.rel, func(href []byte) {
		if home && isPath(href) {
			return
		}
		raw := strings.Trim(string(href), "\t\n\f\r ")
		u, err := base.Resolve(raw)
		if err != nil || u.Scheme() != "http" && u.Scheme() != "https" || u.HasCredentials() {
			return
		}
		if authority(u) == own {
			if w.rules.opt.Internal && u.Path() != base.Path() {
				e.Internal = append(e.Internal, u.Path())
			}
			return
		}
		target := u.String()
		if written(raw) {
			target = raw
		}
		if !w.rules.tells(u.Host(), target) || seen[key(target)] {
			return
		}
		seen[key(target)] = true
		e.Targets = append(e.Targets, target)
	})
	slices.Sort(e.Internal)
	e.Internal = slices.Compact(e.Internal)
}

// authority is the host of an address, and its port unless it is the scheme's.
func authority(u weburl.URL) string {
	if port := u.Port(); port != "" {
		return u.Host() + ":" + port
	}
	return u.Host()
}

// isPath tells whether a value is surely a path, query or fragment only, which
// stays on the host of the base: most links need not be resolved to know that.
func isPath(href []byte) bool {
	if len(href) > 1 && href[0] == '/' && href[1] == '/' {
		return false
	}
	for _, c := range href {
		if c <= ' ' || c == ':' || c == '\\' {
			return false
		}
	}
	return true
}

// written tells whether an absolute address can be sent as it stands on the
// page: who compares it with the page byte by byte then finds it.
func written(raw string) bool {
	scheme, _, ok := strings.Cut(raw, "://")
	if !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return false
	}
	return !strings.ContainsFunc(raw, func(c rune) bool { return c <= ' ' || c >= 0x7F || strings.ContainsRune(`"<>\^`+"`{|}", c) })
}
