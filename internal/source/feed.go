package source

import (
	"bytes"
	"cmp"
	"encoding/json"
	"html"
	"slices"
	"sort"
	"strings"

	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// feedItem is the part of a feed that shows one page.
type feedItem struct {
	from, to int // offsets in the feed
	address  string
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
func feedItems(text []byte) (items []feedItem) {
	if bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n\uFEFF"), []byte("{")) {
		var feed struct{ Items []json.RawMessage }
		_ = json.Unmarshal(bytes.TrimPrefix(text, read.Bom), &feed) // a file that is not a feed has no items
		at := 0
		for _, raw := range feed.Items {
			at += bytes.Index(text[at:], raw)
			var item struct{ URL, ID string }
			_ = json.Unmarshal(raw, &item)
			items = append(items, feedItem{at, at + len(raw), cmp.Or(item.URL, item.ID)})
			at += len(raw)
		}
		return items
	}
	for _, at := range itemTag().FindAllSubmatchIndex(text, -1) {
		it := feedItem{from: at[0], to: len(text)}
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

// feedPairs returns the place of each link of a feed that an item's own page
// has, none for the others. Items without any of the links, which are sorted by
// offset, are left out.
func (m *Map) feedPairs(r *site.Reader, name string, text []byte, all []pageLink, links []Link) []answer {
	places := make([]answer, len(all))
	from := func(offset int) int {
		return sort.Search(len(all), func(i int) bool { return all[i].offset >= int64(offset) })
	}
	for _, it := range feedItems(text) {
		wanted := sort.Search(len(links), func(i int) bool { return links[i].Offset >= int64(it.from) })
		a := m.address(it.address, name)
		page := m.pageOf(&a)
		if wanted == len(links) || links[wanted].Offset >= int64(it.to) || page == "" {
			continue
		}
		shown, _ := system.ReadFS(m.docroot, page, maxSourcePage)
		doc := m.fileOf(page, shown, findMarkers(shown).file, m.pageLinks(r, page, shown))
		if doc == nil {
			continue
		}
		// The links of an item are relative to the page, whatever the address of
		// the feed is. The base URL's path may be before those of the author.
		first := from(it.from)
		ofItem := slices.Clone(all[first:from(it.to)])
		for i := range ofItem {
			l := &ofItem[i]
			l.label, l.region, l.addr = "", 0, m.address(l.raw, page)
		}
		written, owners := m.withIncluded(doc)
		addresses := make([]address, len(written))
		for i := range written {
			addresses[i] = addressOf(written[i].Value, m.base, "")
			addresses[i].target = addresses[i].resolved(page)
		}
		pairs, _ := align(written, addresses, ofItem)
		for i, j := range pairs {
			if j >= 0 {
				places[first+i] = answer{at: owners[j].position(written[j].At), source: written[j].Value}
			}
		}
	}
	return places
}
