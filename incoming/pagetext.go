package incoming

import (
	"bytes"
	"slices"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/sitelink/sitelink/internal/docroot"
	scanhtml "github.com/sitelink/sitelink/internal/scan/html"
)

// outlineOf returns the tree of one of our pages, or nil if it is nested too
// deeply.
func outlineOf(text []byte, fast *scanhtml.OutlineReader) *scanhtml.Outline {
	if o, ok := fast.Read(text); ok {
		return o
	}
	doc, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		return nil
	}
	o, _ := scanhtml.OutlineOf(doc)
	return o
}

// minText is the number of bytes that a text has at least if a page is recognised
// by it.
const minText = 100

// textHash returns the hash of what visitors read on a page, or 0 if that is too
// little to recognise the page by. The theme does not count: only the text of main,
// or of the only article, or of the body, without navigation and footers.
func textHash(o *scanhtml.Outline) uint64 {
	from, to := 0, o.Len()
	for _, tag := range []atom.Atom{atom.Main, atom.Article, atom.Body} {
		if i, ok := only(o, tag); ok {
			from, to = i+1, o.End(i)
			break
		}
	}
	h, n := xxhash.New(), 0
	var buf []byte
	for i := from; i < to; {
		switch {
		case o.IsText(i):
			buf = append(o.AppendText(buf[:0], i), 0)
			n += len(buf)
			h.Write(buf)
		case slices.Contains([]atom.Atom{atom.Nav, atom.Aside, atom.Footer, atom.Script, atom.Style, atom.Template, atom.Head}, o.Tag(i)):
			i = o.End(i)
			continue
		}
		i++
	}
	if n < minText {
		return 0
	}
	return max(h.Sum64(), 1)
}

// only returns the only element of that name that is not inside another one.
func only(o *scanhtml.Outline, tag atom.Atom) (at int, ok bool) {
	if !o.Has(tag) {
		return 0, false
	}
	n := 0
	for i := 0; i < o.Len(); {
		if o.IsText(i) || o.Tag(i) != tag || o.Foreign(i) {
			i++
			continue
		}
		at, n, i = i, n+1, o.End(i)
	}
	return at, n == 1
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
