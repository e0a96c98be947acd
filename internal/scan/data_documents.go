package scan

import (
	"bytes"
	"strings"

	"github.com/sitelink/sitelink/internal/scan/ascii"
)

// IsJSONFeed tells from the first bytes of a file whether it is a JSON Feed: an
// object whose member version says so. The specification puts it first; that it
// stands in head is asked for.
func IsJSONFeed(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF"))
	head = head[ascii.SkipSpace(head, 0):]
	if len(head) == 0 || head[0] != '{' {
		return false
	}
	_, rest, ok := bytes.Cut(head, []byte(`"version"`))
	if !ok {
		return false
	}
	rest = bytes.TrimLeft(rest, ascii.Space+":\"")
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
func (s *DataScanner) JSONFeed(text []byte, opt Options) *Page {
	var (
		address  []byte
		contents []Embedded
	)
	return s.readJSON(text, func(v *jsonValue) {
		path := strings.Join(v.path, ".")
		if path == "items.content_html" {
			var c Embedded
			if c.Text, c.From = v.places(); bytes.IndexByte(c.Text, '<') >= 0 {
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
			c.Base = address
			c.AddTo(&s.b, &s.inner, opt.Tags)
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

// Manifest reads a web app manifest (https://www.w3.org/TR/appmanifest/, with
// its Application Information and shortcut extensions). The element of a link
// is the member of the manifest that holds it, such as icons; its attribute the
// member of the object inside, such as src. Faults end the reading with a
// [FaultJSON]. text must stay unchanged while the page is in use, and be
// shorter than 4 GiB.
func (s *DataScanner) Manifest(text []byte, opt Options) *Page {
	return s.readJSON(text, func(v *jsonValue) {
		kind, ok := manifestMembers[strings.Join(v.path, ".")]
		if !ok || v.value == "" {
			return
		}
		if kind == KindLink && strings.Contains(v.value, "%s") {
			kind = KindAction // a template that the browser fills in
		}
		s.member(v, kind)
	}, func([]string) {})
}

// manifestMembers are the members whose value is a URL. A scope is a prefix of
// addresses, and nothing asks for it; share targets and handlers are programs.
var manifestMembers = map[string]Kind{
	"start_url": KindLink, "scope": KindHint,
	"icons.src": KindResource, "screenshots.src": KindResource,
	"shortcuts.url": KindLink, "shortcuts.icons.src": KindResource,
	"related_applications.url": KindMetadata,
	"share_target.action":      KindAction, "file_handlers.action": KindAction,
	"file_handlers.icons.src": KindResource,
	"protocol_handlers.url":   KindLink, "note_taking.new_note_url": KindLink,
	"serviceworker.src": KindResource, "serviceworker.scope": KindHint,
	"tab_strip.new_tab_button.url": KindLink,
}

// JSONLD reads a file of JSON-LD: the links that [DataScanner.HTML] finds in a
// script element of that type. Their element is "json-ld", their attribute
// empty. It never fails. text must stay unchanged while the page is in use, and
// be shorter than 4 GiB.
func (s *DataScanner) JSONLD(text []byte, opt Options) *Page {
	s.b.Reset(text, "utf-8")
	s.b.Page.Quirks = false
	jsonLD(text, func(start, end int, value []byte) {
		s.b.Add(s.b.Value(text, start, end, value), uint32(start), KindMetadata, "json-ld", "")
	})
	s.b.RepairUTF8()
	return &s.b.Page
}
