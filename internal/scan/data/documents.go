package data

import (
	"bytes"
	"strings"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/html"
)

// IsJSONFeed reports whether a file is a JSON Feed, from its first bytes: it
// must be an object with a version of JSON Feed. The specification puts that
// member first, but any position in head is enough.
func IsJSONFeed(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF"))
	head = head[scan.SkipSpace(head, 0):]
	if len(head) == 0 || head[0] != '{' {
		return false
	}
	_, rest, ok := bytes.Cut(head, []byte(`"version"`))
	if !ok {
		return false
	}
	rest = bytes.TrimLeft(rest, scan.Space+":\"")
	rest = bytes.ReplaceAll(rest[:min(len(rest), 64)], []byte(`\/`), []byte("/"))
	rest = bytes.TrimPrefix(bytes.TrimPrefix(rest, []byte("https://")), []byte("http://"))
	return bytes.HasPrefix(rest, []byte("jsonfeed.org/version/"))
}

// JSONFeed reads a JSON Feed (https://www.jsonfeed.org/version/1.1/). The
// element of a link is the member of the feed that holds it, such as items, and
// its attribute is the member of the object inside, such as url. A link in
// content_html has the element and the attribute of the HTML. Its base URL is
// the item's url, as in feed readers. The url of an item has [scan.KindEntry].
// The links before a fault, a [scan.FaultJSON], are reported. text must not
// change while the page is in use, and must be shorter than 4 GiB.
func (s *Scanner) JSONFeed(text []byte, opt scan.Options) *scan.Page {
	var (
		address  []byte
		contents []html.Embedded
	)
	return s.readJSON(text, func(v *scan.JSONString) {
		path := strings.Join(v.Path, ".")
		if path == "items.content_html" {
			var c html.Embedded
			if c.Text, c.From = v.Places(); bytes.IndexByte(c.Text, '<') >= 0 {
				contents = append(contents, c)
			}
			return
		}
		kind, ok := jsonFeedMembers[path]
		if !ok || v.Text == "" {
			return
		}
		if kind == scan.KindEntry {
			address = []byte(v.Text)
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

// jsonFeedMembers are the members with a URL as value.
var jsonFeedMembers = map[string]scan.LinkKind{
	"home_page_url": scan.KindLink, "feed_url": scan.KindLink, "next_url": scan.KindLink, "icon": scan.KindLink, "favicon": scan.KindLink,
	"author.url": scan.KindLink, "author.avatar": scan.KindLink, "authors.url": scan.KindLink, "authors.avatar": scan.KindLink,
	"hubs.url":  scan.KindLink,
	"items.url": scan.KindEntry, "items.external_url": scan.KindLink, "items.image": scan.KindLink, "items.banner_image": scan.KindLink,
	"items.author.url": scan.KindLink, "items.author.avatar": scan.KindLink,
	"items.authors.url": scan.KindLink, "items.authors.avatar": scan.KindLink,
	"items.attachments.url": scan.KindLink,
}

// Manifest reads a web app manifest (https://www.w3.org/TR/appmanifest/, with
// its Application Information and shortcut extensions). The element of a link
// is the member of the manifest that holds it, such as icons, and its attribute
// is the member of the object inside, such as src. The links before a fault, a
// [scan.FaultJSON], are reported. text must not change while the page is in
// use, and must be shorter than 4 GiB.
func (s *Scanner) Manifest(text []byte, opt scan.Options) *scan.Page {
	return s.readJSON(text, func(v *scan.JSONString) {
		kind, ok := manifestMembers[strings.Join(v.Path, ".")]
		if !ok || v.Text == "" {
			return
		}
		if kind == scan.KindLink && strings.Contains(v.Text, "%s") {
			kind = scan.KindAction // a template that the browser fills in
		}
		s.member(v, kind)
	}, func([]string) {})
}

// manifestMembers are the members with a URL as value. A scope is a prefix of
// addresses and is never requested. Share targets and handlers are programs.
var manifestMembers = map[string]scan.LinkKind{
	"start_url": scan.KindLink, "scope": scan.KindHint,
	"icons.src": scan.KindResource, "screenshots.src": scan.KindResource,
	"shortcuts.url": scan.KindLink, "shortcuts.icons.src": scan.KindResource,
	"related_applications.url": scan.KindMetadata,
	"share_target.action":      scan.KindAction, "file_handlers.action": scan.KindAction,
	"file_handlers.icons.src": scan.KindResource,
	"protocol_handlers.url":   scan.KindLink, "note_taking.new_note_url": scan.KindLink,
	"serviceworker.src": scan.KindResource, "serviceworker.scope": scan.KindHint,
	"tab_strip.new_tab_button.url": scan.KindLink,
}

// JSONLD reads a file of JSON-LD. The element of its links is "json-ld", their
// attribute is empty. It never fails. text must not change while the page is in
// use, and must be shorter than 4 GiB.
func (s *Scanner) JSONLD(text []byte, opt scan.Options) *scan.Page {
	s.b.Reset(text, "utf-8")
	s.b.Page.Quirks = false
	scan.LinkedData(text, func(start, end int, value []byte) {
		s.b.Add(s.b.Value(text, start, end, value), uint32(start), scan.KindMetadata, "json-ld", "")
	})
	s.b.RepairUTF8()
	return &s.b.Page
}
