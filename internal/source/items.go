package source

import (
	"bytes"
	"cmp"
	"encoding/json"
	"html"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/text"
)

// item is a part of a page that shows another page: an item of a feed, or a chapter on the
// page with all of them.
type item struct {
	from, to int          // offsets in the page
	address  string       // of that page
	chapter  *contentFile // nil for an item of a feed
}

var (
	itemTag  = text.Regexp(`<(item|entry)[\s>]`)
	itemLink = text.Regexp(`<link>\s*(?:<!\[CDATA\[)?\s*([^<\]]+)`)
	// atomLink matches a link element of Atom, and relOf its relation.
	atomLink = text.Regexp(`<link\s([^>]*)>`)
	hrefOf   = text.Regexp(`\bhref\s*=\s*["']([^"']*)`)
	relOf    = text.Regexp(`\brel\s*=\s*["']?([\w-]+)`)
	itemGUID = text.Regexp(`<(?:guid|id)[^>]*>\s*([^<]+)`)
)

// feedItems returns the items of a feed in RSS, Atom or JSON.
func feedItems(text []byte) (items []item) {
	if bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n\uFEFF"), []byte("{")) {
		var feed struct{ Items []json.RawMessage }
		_ = json.Unmarshal(bytes.TrimPrefix(text, read.Bom), &feed) // a file that is not a feed has no items
		at := 0
		for _, raw := range feed.Items {
			at += bytes.Index(text[at:], raw)
			var of struct{ URL, ID string }
			_ = json.Unmarshal(raw, &of)
			items = append(items, item{at, at + len(raw), cmp.Or(of.URL, of.ID), nil})
			at += len(raw)
		}
		return items
	}
	for _, at := range itemTag().FindAllSubmatchIndex(text, -1) {
		it := item{from: at[0], to: len(text)}
		if n := bytes.Index(text[at[0]:], []byte("</"+string(text[at[2]:at[3]])+">")); n >= 0 {
			it.to = at[0] + n
		}
		part := text[it.from:it.to]
		var address []byte // of the link in RSS or Atom, or else the id
		if l := itemLink().FindSubmatch(part); l != nil {
			address = l[1]
		}
		for _, l := range atomLink().FindAllSubmatch(part, -1) {
			rel, href := relOf().FindSubmatch(l[1]), hrefOf().FindSubmatch(l[1])
			if address == nil && href != nil && (rel == nil || string(rel[1]) == "alternate") {
				address = href[1]
			}
		}
		if id := itemGUID().FindSubmatch(part); address == nil && id != nil {
			address = id[1]
		}
		it.address = html.UnescapeString(strings.TrimSpace(string(address)))
		items = append(items, it)
	}
	return items
}

// chapters returns those on the page that shows all of them, in the order of the list. It
// returns none if the page has more or fewer.
func (m *Map) chapters(text []byte) (items []item) {
	t := m.opt.Generator.Traits()
	list, _ := m.content.named(t.Drafts.ListFile)
	parts := bytes.Split(text, []byte(t.Printed.Between))
	at := 0
	for _, l := range m.document(list).Links {
		f, ok := m.content.namedIn(list.display, l.Value)
		switch {
		case !ok:
			continue
		case len(items) == len(parts):
			return nil
		}
		n := len(parts[len(items)])
		items = append(items, item{at, at + n, strings.TrimPrefix(f.name, path.Dir(list.name)+"/"), &f})
		at += n + len(t.Printed.Between)
	}
	if len(items) != len(parts) {
		return nil
	}
	return items
}

// onPrinted turns the addresses of the links of a chapter into those on the page that shows
// all of them, see [generator.Printed].
func (m *Map) onPrinted(page string, addresses []address) {
	for i := range addresses {
		switch a := &addresses[i]; {
		case a.target == "":
		case a.fragment != "" && len(m.content.makersOf(PageKey(a.target))) > 0:
			*a = m.address("#"+a.fragment, page)
		default:
			*a = m.address(strings.TrimSuffix(strings.Replace(a.target[1:], ".md", ".html", 1)+"#"+a.fragment, "#"), page)
		}
	}
}

// itemPairs returns the place of each link of a page that an item's own page has, none for
// the others. Items without any of the links, which are sorted by offset, are left out.
func (m *Map) itemPairs(r *site.Reader, name string, text []byte, all []pageLink, links []BuiltLink) (places []answer) {
	var items []item
	if p := m.opt.Generator.Traits().Printed; p != nil && name == p.Page {
		items = m.chapters(text)
	} else if !read.IsHTMLName(name) {
		items = feedItems(text)
	}
	if len(items) > 0 {
		places = make([]answer, len(all))
	}
	from := func(offset int) int {
		return sort.Search(len(all), func(i int) bool { return all[i].offset >= int64(offset) })
	}
	for _, it := range items {
		wanted := sort.Search(len(links), func(i int) bool { return links[i].Offset >= int64(it.from) })
		if wanted == len(links) || links[wanted].Offset >= int64(it.to) {
			continue
		}
		first := from(it.from)
		ofItem := slices.Clone(all[first:from(it.to)])
		var doc *document
		page, basePath := it.address, m.basePath
		if it.chapter != nil {
			doc = m.document(*it.chapter)
		} else {
			a := m.address(it.address, name)
			if page = m.pageOf(&a); page == "" {
				continue
			}
			shown := m.built(r, page)
			doc = m.fileOf(page, shown, findMarkers(shown).file, m.pageLinks(r, page, shown))
			if doc == nil {
				continue
			}
			// The links of an item are relative to the page, whatever the address of the
			// feed is. The base URL's path may be before those of the author.
			basePath = ""
			for i := range ofItem {
				l := &ofItem[i]
				l.label, l.region, l.addr = "", 0, m.address(l.raw, page)
			}
		}
		written, owners := m.withIncluded(doc)
		addresses := make([]address, len(written))
		for i := range written {
			addresses[i] = addressOf(written[i].Value, m.base, basePath)
			addresses[i].target = addresses[i].resolved(page)
		}
		if it.chapter != nil {
			m.onPrinted(name, addresses)
		}
		pairs, _ := align(written, addresses, ofItem)
		last := map[string]int{} // of each value; an item has its summary and its text
		for i, j := range pairs {
			if j >= 0 {
				last[ofItem[i].raw] = j
			}
		}
		for i, j := range pairs {
			if again, ok := last[ofItem[i].raw]; j < 0 && ok {
				j = again
			}
			if j >= 0 {
				places[first+i] = answer{at: owners[j].position(written[j].At), source: written[j].Value}
			}
		}
	}
	return places
}
