package source

import (
	"bytes"
	"html"
	"path"
	"regexp"
	"strings"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/site"
)

// feedItem is the part of a feed that shows one page.
type feedItem struct {
	from, to int // offsets in the feed
	address  string
}

var (
	itemTag  = regexp.MustCompile(`<(item|entry)[\s>]`)
	itemLink = regexp.MustCompile(`<link>\s*(?:<!\[CDATA\[)?\s*([^<\]]+)`)
	// atomLink matches a link element of Atom, and relOf its relation.
	atomLink = regexp.MustCompile(`<link\s([^>]*)>`)
	hrefOf   = regexp.MustCompile(`\bhref\s*=\s*("[^"]*"|'[^']*')`)
	relOf    = regexp.MustCompile(`\brel\s*=\s*["']?([\w-]+)`)
	itemGUID = regexp.MustCompile(`<(?:guid|id)[^>]*>\s*([^<]+)`)
	jsonURL  = regexp.MustCompile(`"(?:url|id)"\s*:\s*"([^"]+)"`)
)

// feedItems returns the items of a feed in RSS, Atom or JSON.
func feedItems(text []byte) (items []feedItem) {
	if trimmed := bytes.TrimLeft(text, " \t\r\n\uFEFF"); bytes.HasPrefix(trimmed, []byte("{")) {
		return jsonItems(text)
	}
	for _, at := range itemTag.FindAllSubmatchIndex(text, -1) {
		it := feedItem{from: at[0], to: len(text)}
		if n := bytes.Index(text[at[0]:], []byte("</"+string(text[at[2]:at[3]])+">")); n >= 0 {
			it.to = at[0] + n
		}
		part := text[it.from:it.to]
		if l := itemLink.FindSubmatch(part); l != nil {
			it.address = string(l[1])
		}
		for _, l := range atomLink.FindAllSubmatch(part, -1) {
			rel, href := relOf.FindSubmatch(l[1]), hrefOf.FindSubmatch(l[1])
			if it.address == "" && href != nil && (rel == nil || string(rel[1]) == "alternate") {
				it.address = strings.Trim(string(href[1]), `"'`)
			}
		}
		if it.address == "" {
			if id := itemGUID.FindSubmatch(part); id != nil {
				it.address = string(id[1])
			}
		}
		it.address = html.UnescapeString(strings.TrimSpace(it.address))
		items = append(items, it)
	}
	return items
}

// jsonItems returns the objects in the array "items".
func jsonItems(text []byte) (items []feedItem) {
	start := bytes.Index(text, []byte(`"items"`))
	if start < 0 {
		return nil
	}
	depth, from, quoted := 0, 0, false
	for i := start + len(`"items"`); i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			if depth++; depth == 1 {
				from = i
			}
		case c == '}':
			if depth--; depth == 0 {
				it := feedItem{from: from, to: i}
				if u := jsonURL.FindSubmatch(text[from:i]); u != nil {
					it.address = unescape(string(u[1]))
				}
				items = append(items, it)
			}
		case c == ']' && depth == 0:
			return items
		}
	}
	return items
}

// feedPairs returns the position of each link of a feed that an item's own page
// has, nil for the others. wanted reports which links matter.
func (m *Map) feedPairs(r *site.Reader, name string, text []byte, all []pageLink, wanted func(i int) bool) []*Position {
	places := make([]*Position, len(all))
	for _, it := range feedItems(text) {
		first, last, any := len(all), 0, false
		for i := range all {
			if all[i].offset >= int64(it.from) && all[i].offset < int64(it.to) {
				first, last = min(first, i), i+1
				any = any || wanted(i)
			}
		}
		if !any || it.address == "" {
			continue
		}
		a := m.address(it.address, name)
		page := m.pageOf(&a)
		if page == "" {
			continue
		}
		shown, err := disk.ReadFS(m.docroot, page, maxSourcePage)
		if err != nil {
			continue
		}
		doc, file := m.fileOf(page, shown, findMarkers(shown).file, m.pageLinks(r, page, shown))
		if doc == nil {
			continue
		}
		// The links of an item are relative to the page, whatever the address of
		// the feed is. The base URL's path may be before those of the author.
		links := make([]pageLink, last-first)
		for i := range links {
			links[i] = all[first+i]
			links[i].label, links[i].region = "", 0
			links[i].addr = m.address(links[i].raw, page)
		}
		written := m.withIncluded(doc, file)
		if written == nil {
			written = doc.links
		}
		addresses := make([]address, len(written))
		for i := range written {
			addresses[i] = addressOf(written[i].dest, m.base, "")
			addresses[i].target = addresses[i].resolved(page)
		}
		pairs, _ := align(written, addresses, links)
		for i, j := range pairs {
			switch {
			case j < 0:
			case written[j].owner != nil:
				places[first+i] = written[j].owner.position(written[j].file, written[j].at)
			default:
				places[first+i] = doc.position(file, written[j].at)
			}
		}
	}
	return places
}

// pageOf returns the page that an address leads to, "" if it leads to none.
func (m *Map) pageOf(a *address) string {
	p, _, _ := strings.Cut(a.target, "?")
	p = strings.TrimPrefix(p, "/")
	for _, name := range []string{path.Join(p, "index.html"), p, p + ".html", path.Join(p, "index.htm")} {
		if _, ok := m.pageID(name); ok && a.target != "" {
			return name
		}
	}
	return ""
}
