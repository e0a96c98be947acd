package data

import (
	"testing"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/testkit"
)

// All tests use one fileScanner: what it read before must not matter.
var fileScanner Scanner

func reading(read func(s *Scanner, text []byte, opt scan.Options) *scan.Page) func(text []byte) *scan.Page {
	return func(text []byte) *scan.Page { return read(&fileScanner, text, scan.Options{}) }
}

type fileCase struct {
	Name, In string
	Read     func(text []byte) *scan.Page
	Want     []string
	Fault    string
}

var fileCases = []fileCase{
	{"manifest", `{"name":"n","start_url":".?a=1","scope":"/","id":"/no","icons":[{"src":"i\/1.png","sizes":"1x1"},{"src":"i2.png"}],` +
		`"screenshots":[{"src":"s.png"}],"shortcuts":[{"name":"x","url":"/x","icons":[{"src":"xi.png"}]}],"related_applications":[{"url":"https://play/"}],` +
		`"share_target":{"action":"/share"},"protocol_handlers":[{"protocol":"web+a","url":"/h?%s"}],"extra":{"start_url":"no"}}`,
		reading((*Scanner).Manifest), []string{"start_url (text) link .?a=1", "scope (text) hint /", `icons src resource i/1.png at i\/1.pn`, "icons src resource i2.png", "screenshots src resource s.png",
			"shortcuts url link /x", "icons src resource xi.png", "related_applications url metadata https://play/", "share_target action action /share", "protocol_handlers url action /h?%s"}, ""},
	{"manifest_bom", "\xEF\xBB\xBF{\"start_url\":\"/\"}", reading((*Scanner).Manifest), []string{"start_url (text) link /"}, ""},
	{"manifest_cut_off", `{"start_url":"/","icons":[`, reading((*Scanner).Manifest), []string{"start_url (text) link /"}, "the file ends before the document is complete"},
	{"manifest_bad", `{"start_url":"/",}`, reading((*Scanner).Manifest), []string{"start_url (text) link /"}, "invalid character '}'"},
	{"manifest_twice", `{"start_url":"/"} {}`, reading((*Scanner).Manifest), []string{"start_url (text) link /"}, "there is text after the end of the document"},
	{"manifest_html", `<!doctype html>`, reading((*Scanner).Manifest), nil, "invalid character '<' looking for beginning of value"},
	{"manifest_no_object", `["start_url","/"]`, reading((*Scanner).Manifest), nil, ""},

	{"jsonfeed", `{"version":"https://jsonfeed.org/version/1.1","home_page_url":"https://h/","feed_url":"https://h/feed.json","icon":"/i.png","authors":[{"url":"/me","avatar":"a.png"}],` +
		`"items":[{"id":"https://h/no","content_html":"<a href=\"x\">\u003cimg src='\/i\u002epng'>","url":"https://h/p/1/","external_url":"https://o/","attachments":[{"url":"a.mp3"}]},` +
		`{"content_html":"<a href=y>","image":"i.png"},{"content_text":"<a href=n>"}]}`,
		reading((*Scanner).JSONFeed), []string{"home_page_url (text) link https://h/", "feed_url (text) link https://h/feed.json", "icon (text) link /i.png", "authors url link /me", "authors avatar link a.png",
			"a href link x -> https://h/p/1/x", `img src resource /i.png -> https://h/i.png at \/i\u0`, "items url entry https://h/p/1/", "items external_url link https://o/", "attachments url link a.mp3",
			"a href link y", "items image link i.png"}, ""},

	{"jsonld", `{"@context":"https://schema.org","@type":"Article","url":"/a","image":["/i.png"],"name":"/no"}`, reading((*Scanner).JSONLD),
		[]string{"json-ld (text) metadata /a", "json-ld (text) metadata /i.png"}, ""},

	{"robots", "# Sitemap: no\nUser-agent: *\r\nDisallow: /a\nSITEMAP :https://h/s.xml # x\n  Sitemap: /t.xml\nsitemap:\nNot-Sitemap: n", reading((*Scanner).Robots),
		[]string{"sitemap (text) link https://h/s.xml", "sitemap (text) link /t.xml"}, ""},
	{"headers", "# comment\n/*\n  Link: </a.css>; rel=preload; as=style, <b.js>;rel=\"preload\";title=\"<no>, x\", <https://h/>; rel=preconnect\n  X-Link: <no>\n" +
		"/blog/:id\n  link: <i.png>; rel=x\n/p/\n\tLink:<c>\n/q\n  Link: broken <no>\n  Link: <never", reading((*Scanner).Headers),
		[]string{"link (text) link /a.css", "link (text) link b.js -> /b.js", "link (text) hint https://h/", "link (text) link i.png -> /blog/i.png", "link (text) link c -> /p/c"}, ""},
}

// TestFiles checks where files that are neither HTML nor XML hold links.
func TestFiles(t *testing.T) {
	for _, c := range fileCases {
		testkit.RunFile(t, testkit.FileCase(c))
	}
}

// TestIsJSONFeed: the version decides, wherever it is in the head.
func TestIsJSONFeed(t *testing.T) {
	for in, want := range map[string]bool{
		`{"version":"https://jsonfeed.org/version/1"}`:                                     true,
		"\xEF\xBB\xBF\n{ \"version\" : \"https://jsonfeed.org/version/1.1\", \"items\": [": true,
		`{"title":"t","version":"https:\/\/jsonfeed.org\/version\/1.1"`:                    true,
		`{"version":"1.0"}`: false, `["version","https://jsonfeed.org/version/1"]`: false, "": false, `{"versions":3}`: false,
	} {
		if got := IsJSONFeed([]byte(in)); got != want {
			t.Errorf("%q: %t, want %t", in, got, want)
		}
	}
}

// FuzzFiles: any bytes give links inside the text, in order, for every format.
func FuzzFiles(f *testing.F) {
	for _, c := range fileCases {
		f.Add([]byte(c.In))
	}
	var s Scanner
	f.Fuzz(func(t *testing.T, text []byte) {
		IsJSONFeed(text)
		for _, read := range []func(*Scanner, []byte, scan.Options) *scan.Page{(*Scanner).Manifest, (*Scanner).JSONFeed, (*Scanner).JSONLD, (*Scanner).Robots, (*Scanner).Headers} {
			p := read(&s, text, scan.Options{})
			testkit.CheckPage(t, p)
			for _, fault := range p.Faults {
				if fault.Kind != scan.FaultJSON || fault.Name == "" || int(fault.Off) > len(p.Text) {
					t.Fatalf("fault %+v", fault)
				}
			}
		}
	})
}

// TestFiles_linear reads files that repeat one unit.
func TestFiles_linear(t *testing.T) {
	for _, c := range []struct {
		Name           string
		Read           func(text []byte) *scan.Page
		Before, Repeat string
	}{
		{"manifest", reading((*Scanner).Manifest), `{"icons":[`, `{"src":"a"},`},
		{"manifest objects", reading((*Scanner).Manifest), "", `{"icons":`},
		{"manifest arrays", reading((*Scanner).Manifest), "", `[`},
		{"manifest keys", reading((*Scanner).Manifest), "{", `"start_url":"a",`},
		{"json feed", reading((*Scanner).JSONFeed), `{"items":[`, `{"url":"http://h/","content_html":"<a href=\u0062>"},`},
		{"json feed contents", reading((*Scanner).JSONFeed), `{"items":[{`, `"content_html":"<a href=\u0062>",`},
		{"json-ld", reading((*Scanner).JSONLD), "", `{"url":["/a",`},
		{"robots", reading((*Scanner).Robots), "", "Sitemap: a\n"},
		{"robots line", reading((*Scanner).Robots), "Sitemap: ", " #"},
		{"headers", reading((*Scanner).Headers), "", "/a\n Link: <b>; rel=c, <d>\n"},
		{"header targets", reading((*Scanner).Headers), "/a\n Link: ", "<b>,"},
		{"header parameters", reading((*Scanner).Headers), "/a\n Link: <b>", `;c="d\"`},
	} {
		testkit.CheckRepetition(t, testkit.Repetition(c))
	}
}
