package scan

import (
	"bytes"
	"strings"
)

// IsJSONFeed tells from the first bytes of a file whether it is a JSON Feed: an
// object whose member version says so. The specification puts it first; that it
// stands in head is asked for.
func IsJSONFeed(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF"))
	head = head[skipASCIISpace(head, 0):]
	if len(head) == 0 || head[0] != '{' {
		return false
	}
	_, rest, ok := bytes.Cut(head, []byte(`"version"`))
	if !ok {
		return false
	}
	rest = bytes.TrimLeft(rest, asciiSpace+":\"")
	rest = bytes.ReplaceAll(rest[:min(len(rest), 64)], []byte(`\/`), []byte("/"))
	rest = bytes.TrimPrefix(bytes.TrimPrefix(rest, []byte("https://")), []byte("http://"))
	return bytes.HasPrefix(rest, []byte("jsonfeed.org/version/"))
}

// JSONFeed reads a feed by https://www.jsonfeed.org/version/1.1/. The element
// of a link is the member of the feed that holds it, such as items, its
// attribute the member of the object inside, such as url; a link in content_html
// has the element and attribute of the HTML. Relative links in it start at the
// item's url, as feed readers have it. The url of an item has [KindEntry].
// Faults end the reading with a [FaultJSON]. text must stay unchanged while the
// page is in use, and be shorter than 4 GiB.
func (s *Scanner) JSONFeed(text []byte, opt Options) *Page {
	var (
		address  []byte
		contents []content
	)
	return s.readJSON(text, opt, func(v *jsonValue) {
		path := strings.Join(v.path, ".")
		if path == "items.content_html" {
			var c content
			if c.text, c.from = v.places(); bytes.IndexByte(c.text, '<') >= 0 {
				contents = append(contents, c)
			}
			return
		}
		kind, ok := jsonFeedMembers[path]
		if !ok || v.value == "" {
			return
		}
		if kind == KindEntry {
			address = []byte(v.value)
		}
		s.member(v, kind)
	}, func(path []string) {
		if len(path) != 1 || path[0] != "items" {
			return
		}
		for _, c := range contents {
			c.base = address
			s.html(c)
		}
		address, contents = nil, contents[:0]
	})
}

// jsonFeedMembers are the members whose value is a URL.
var jsonFeedMembers = map[string]Kind{
	"home_page_url": KindLink, "feed_url": KindLink, "next_url": KindLink, "icon": KindLink, "favicon": KindLink,
	"author.url": KindLink, "author.avatar": KindLink, "authors.url": KindLink, "authors.avatar": KindLink,
	"hubs.url":  KindLink,
	"items.url": KindEntry, "items.external_url": KindLink, "items.image": KindLink, "items.banner_image": KindLink,
	"items.author.url": KindLink, "items.author.avatar": KindLink,
	"items.authors.url": KindLink, "items.authors.avatar": KindLink,
	"items.attachments.url": KindLink,
}
