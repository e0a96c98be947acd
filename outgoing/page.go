package outgoing

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/weburl"
)

// pageWorker reads one page after the other.
type pageWorker struct {
	*reading
	reader *site.Reader
}

func (r *reading) worker() (*pageWorker, error) {
	reader, err := r.s.NewReader()
	if err != nil {
		return nil, err
	}
	return &pageWorker{r, reader}, nil
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
	if !ok {
		var err error
		if m, err = w.read(id, e); err != nil {
			return made{}, err
		}
	}
	m.sum = p.Sum()
	m.silent = !known && m.left == "" && len(m.entry.Targets) == 0 && len(m.entry.Internal) == 0
	return m, nil
}

// read finds out what a page says from its text.
func (w *pageWorker) read(id site.PageID, e Entry) (made, error) {
	text, err := w.reader.Text(id)
	if err != nil {
		return made{}, err
	}
	if e.Feed {
		e.Hash, e.Targets = fmt.Sprintf("%016x", w.s.Page(id).Sum()), w.rules.opt.Hubs(text)
		return made{entry: e}, nil
	}
	doc, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		return made{}, err
	}
	if isTombstone(doc) {
		return made{entry: e, left: Tombstone}, nil
	}
	c, ok := w.rules.contentOf(doc)
	if !ok {
		return made{entry: e, left: Listing}, nil
	}
	w.links(&e, doc, c)
	e.Hash = c.hash()
	return made{entry: e}, nil
}

// leads tells whether the page has any link that leaves the docroot.
func leads(p *site.Page) bool {
	links := p.All()
	return slices.ContainsFunc(links, func(l site.Link) bool {
		return l.State == site.StateExternal || l.State == site.StateCredentials || l.State == site.StateOutsideBase
	})
}

// links notes the addresses that the content links to.
func (w *pageWorker) links(e *Entry, doc *html.Node, c *content) {
	base, err := weburl.Parse(e.URL)
	if err != nil {
		return // never: the address was made of a base URL that was parsed
	}
	if href, ok := baseHref(doc); ok {
		if u, err := base.Resolve(href); err == nil && (u.Scheme() == "http" || u.Scheme() == "https") {
			base = u
		}
	}
	own := strings.TrimPrefix(strings.TrimPrefix(w.origin, "http://"), "https://")
	seen := make(map[string]bool)
	for _, a := range c.anchors(w.rules.rel) {
		raw := strings.Trim(a, "\t\n\f\r ")
		u, err := base.Resolve(raw)
		if err != nil || u.Scheme() != "http" && u.Scheme() != "https" || u.HasCredentials() {
			continue
		}
		host := u.Host()
		if port := u.Port(); port != "" {
			host += ":" + port
		}
		if host == own {
			if w.rules.opt.Internal && u.Path() != base.Path() {
				e.Internal = append(e.Internal, u.Path())
			}
			continue
		}
		target := u.String()
		if written(raw) {
			target = raw
		}
		if !w.rules.tells(u.Host(), target) || seen[key(target)] {
			continue
		}
		seen[key(target)] = true
		e.Targets = append(e.Targets, target)
	}
	slices.Sort(e.Internal)
	e.Internal = slices.Compact(e.Internal)
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
