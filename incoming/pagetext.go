package incoming

import (
	"slices"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/sitelink/sitelink/internal/docroot"
	scanhtml "github.com/sitelink/sitelink/internal/scan/html"
)

// minText is the number of bytes that a text has at least if a page is recognised
// by it.
const minText = 100

// textHash returns the hash of what visitors read on a page, or 0 if that is too
// little to recognise the page by. The theme does not count: only the text of main,
// or of the only article, or of the body, without navigation and footers.
func textHash(page *html.Node) uint64 {
	root := page
	for _, name := range []atom.Atom{atom.Main, atom.Article, atom.Body} {
		if n := only(page, name); n != nil {
			root = n
			break
		}
	}
	h, size := xxhash.New(), 0
	scanhtml.Each(root, func(n *html.Node) bool {
		if text := scanhtml.TextOf(n); text != "" {
			size += len(text) + 1
			h.WriteString(text)
			h.Write([]byte{0})
		}
		return n == root || !slices.Contains([]atom.Atom{atom.Nav, atom.Aside, atom.Footer, atom.Script, atom.Style, atom.Template, atom.Head}, n.DataAtom)
	})
	if size < minText {
		return 0
	}
	return max(h.Sum64(), 1)
}

// only returns the only element of that name that is not inside another one, or nil.
func only(page *html.Node, name atom.Atom) (found *html.Node) {
	count := 0
	scanhtml.Each(page, func(n *html.Node) bool {
		if !scanhtml.IsElement(n, name) {
			return true
		}
		found, count = n, count+1
		return false
	})
	if count != 1 {
		return nil
	}
	return found
}

// WithText returns the URL of the only page with a text, or "" if no page or
// several pages have it. See [Page.Text].
func (s *Sites) WithText(text uint64) string {
	set := s.current.Load()
	if set == nil || text == 0 {
		return ""
	}
	url := ""
	for _, m := range set.manifests {
		node, ok := m.byText[text]
		if !ok {
			continue
		}
		if node == docroot.NoNode || url != "" {
			return ""
		}
		origin, path := m.host.Public(m.host.Href(node))
		url = origin + path
	}
	return url
}
