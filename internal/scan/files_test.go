package scan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// fileCases are files of the formats that are neither HTML nor XML.
var fileCases = []struct {
	name, in string
	read     func(s *Scanner, text []byte, opt Options) *Page
	want     []string
	fault    string
}{
	{"css", "@import 'a.css';\n@import url(b.css) screen;\nbody{background:url( \"i\\2e png\" ) } /* url(no) */\np{cursor:image-set('x.png' 1x,url(y.png) 2x)}\n@namespace url(http://no/);",
		(*Scanner).CSS, []string{"@import (text) link a.css", "@import (text) link b.css", `url (text) link i.png at i\2e `, "url (text) link x.png", "url (text) link y.png"}, ""},
	{"css_bom", "\xEF\xBB\xBFa{b:url(x)}", (*Scanner).CSS, []string{"url (text) link x"}, ""},
	{"css_charset", "@charset \"windows-1252\";a{b:url(caf\xe9)}", (*Scanner).CSS, []string{"url (text) link café"}, ""},
	{"css_charset_is_utf8", "@charset \"utf-16\";a{b:url(é)}", (*Scanner).CSS, []string{"url (text) link é"}, ""},
	{"css_not_utf8", "a{b:url(caf\xe9)}", (*Scanner).CSS, []string{"url (text) link caf\uFFFD at caf\xe9)}"}, ""},
	{"css_utf16", "\xFF\xFE" + "a\x00{\x00b\x00:\x00u\x00r\x00l\x00(\x00x\x00)\x00}\x00", (*Scanner).CSS, []string{"url (text) link x"}, ""},
	{"css_unclosed_string", "a{b:url(x)}\nc{d:url(\"never\n}e{f:url(y)}", (*Scanner).CSS, []string{"url (text) link x", "url (text) link y"}, "a string does not end in its line"},
	{"css_unclosed_comment", "a{b:url(x)} /* c{d:url(y)}", (*Scanner).CSS, []string{"url (text) link x"}, "a comment is never closed"},
	{"css_bad_url", "a{b:url(x y)}c{d:url(z)}", (*Scanner).CSS, []string{"url (text) link z"}, "white space, a quote or a parenthesis in url() without quotes"},
	{"css_cut_off", "a{b:url(x)}c{d:url(z", (*Scanner).CSS, []string{"url (text) link x", "url (text) link z"}, "url( is never closed"},
	{"css_source_map", "a{b:url(x)}\n/*# sourceMappingURL=a.css.map */", (*Scanner).CSS, []string{"url (text) link x"}, ""},

	{"manifest", `{"name":"n","start_url":".?a=1","scope":"/","id":"/no","icons":[{"src":"i\/1.png","sizes":"1x1"},{"src":"i2.png"}],` +
		`"screenshots":[{"src":"s.png"}],"shortcuts":[{"name":"x","url":"/x","icons":[{"src":"xi.png"}]}],"related_applications":[{"url":"https://play/"}],` +
		`"share_target":{"action":"/share"},"protocol_handlers":[{"protocol":"web+a","url":"/h?%s"}],"extra":{"start_url":"no"}}`,
		(*Scanner).Manifest, []string{"start_url (text) link .?a=1", "scope (text) hint /", `icons src resource i/1.png at i\/1.pn`, "icons src resource i2.png", "screenshots src resource s.png",
			"shortcuts url link /x", "icons src resource xi.png", "related_applications url metadata https://play/", "share_target action action /share", "protocol_handlers url action /h?%s"}, ""},
	{"manifest_bom", "\xEF\xBB\xBF{\"start_url\":\"/\"}", (*Scanner).Manifest, []string{"start_url (text) link /"}, ""},
	{"manifest_cut_off", `{"start_url":"/","icons":[`, (*Scanner).Manifest, []string{"start_url (text) link /"}, "the file ends in the middle"},
	{"manifest_bad", `{"start_url":"/",}`, (*Scanner).Manifest, []string{"start_url (text) link /"}, "invalid character '}'"},
	{"manifest_twice", `{"start_url":"/"} {}`, (*Scanner).Manifest, []string{"start_url (text) link /"}, "text follows the end"},
	{"manifest_html", `<!doctype html>`, (*Scanner).Manifest, nil, "invalid character '<' looking for beginning of value"},
	{"manifest_no_object", `["start_url","/"]`, (*Scanner).Manifest, nil, ""},

	{"jsonfeed", `{"version":"https://jsonfeed.org/version/1.1","home_page_url":"https://h/","feed_url":"https://h/feed.json","icon":"/i.png","authors":[{"url":"/me","avatar":"a.png"}],` +
		`"items":[{"id":"https://h/no","content_html":"<a href=\"x\">\u003cimg src='\/i\u002epng'>","url":"https://h/p/1/","external_url":"https://o/","attachments":[{"url":"a.mp3"}]},` +
		`{"content_html":"<a href=y>","image":"i.png"},{"content_text":"<a href=n>"}]}`,
		(*Scanner).JSONFeed, []string{"home_page_url (text) link https://h/", "feed_url (text) link https://h/feed.json", "icon (text) link /i.png", "authors url link /me", "authors avatar link a.png",
			"a href link x -> https://h/p/1/x", `img src resource /i.png -> https://h/i.png at \/i\u0`, "items url entry https://h/p/1/", "items external_url link https://o/", "attachments url link a.mp3",
			"a href link y", "items image link i.png"}, ""},

	{"jsonld", `{"@context":"https://schema.org","@type":"Article","url":"/a","image":["/i.png"],"name":"/no"}`, (*Scanner).JSONLD,
		[]string{"json-ld (text) metadata /a", "json-ld (text) metadata /i.png"}, ""},

	{"robots", "# Sitemap: no\nUser-agent: *\r\nDisallow: /a\nSITEMAP :https://h/s.xml # x\n  Sitemap: /t.xml\nsitemap:\nNot-Sitemap: n", (*Scanner).Robots,
		[]string{"sitemap (text) link https://h/s.xml", "sitemap (text) link /t.xml"}, ""},
	{"headers", "# comment\n/*\n  Link: </a.css>; rel=preload; as=style, <b.js>;rel=\"preload\";title=\"<no>, x\", <https://h/>; rel=preconnect\n  X-Link: <no>\n" +
		"/blog/:id\n  link: <i.png>; rel=x\n/p/\n\tLink:<c>\n/q\n  Link: broken <no>\n  Link: <never", (*Scanner).Headers,
		[]string{"link (text) link /a.css", "link (text) link b.js -> /b.js", "link (text) hint https://h/", "link (text) link i.png -> /blog/i.png", "link (text) link c -> /p/c"}, ""},
}

// TestFiles: where files that are neither HTML nor XML hold links.
func TestFiles(t *testing.T) {
	var s Scanner
	for _, c := range fileCases {
		t.Run(c.name, func(t *testing.T) {
			p := c.read(&s, []byte(c.in), Options{})
			checkBounds(t, p)
			if got := dataRows(p); !slices.Equal(got, c.want) {
				t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(c.want, "\n\t"))
			}
			if got := faultNames(p); !strings.HasPrefix(got, c.fault) || (got == "") != (c.fault == "") {
				t.Errorf("fault %q, want %q", got, c.fault)
			}
		})
	}
}

// TestIsJSONFeed: the version tells, wherever it stands in the head.
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

// TestRelations: what link elements are for, as far as it is told apart.
func TestRelations(t *testing.T) {
	var s Scanner
	for rel, want := range map[string]Kind{
		"preconnect": KindHint, "dns-prefetch PRECONNECT": KindHint, "preconnect stylesheet": KindLink, "": KindLink, "stylesheet": KindLink,
		"canonical": KindCanonical, " Canonical\n": KindCanonical, "manifest": KindManifest, "canonicals": KindLink,
	} {
		p := s.HTML(fmt.Appendf(nil, "<!doctype html><link rel=\"%s\" href=x>", rel), Options{})
		if len(p.Links) != 1 || p.Links[0].Kind != want {
			t.Errorf("rel=%q: %q, want kind %d", rel, rows(p), want)
		}
	}
}

// TestNoIndex: what a robots meta element says.
func TestNoIndex(t *testing.T) {
	var s Scanner
	for in, want := range map[string]bool{
		`<meta name=robots content="NOINDEX, nofollow">`: true, `<meta content=noindex name=Robots>`: true, `<meta name=robots content=index>`: false,
		`<meta name=description content=noindex>`: false, `<template><meta name=robots content=noindex></template>`: false, "": false,
	} {
		if got := s.HTML([]byte("<!doctype html>"+in), Options{}).NoIndex; got != want {
			t.Errorf("%s: %t, want %t", in, got, want)
		}
	}
}

// TestSVGElement: an element's name is told without its prefix.
func TestSVGElement(t *testing.T) {
	var s Scanner
	p := s.XML([]byte(`<h:html xmlns:h="http://www.w3.org/1999/xhtml" xmlns:s="http://www.w3.org/2000/svg"><s:svg><s:use href="#a"/><s:image href="b"/></s:svg><h:p style="a:url(c)"/></h:html>`), Options{})
	want := []string{"use href link #a", "image href link b", "p style link c"}
	if got := rows(p); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzFiles: any bytes give links inside the text, in order, for every format.
func FuzzFiles(f *testing.F) {
	for _, c := range fileCases {
		f.Add([]byte(c.in))
	}
	var s Scanner
	f.Fuzz(func(t *testing.T, text []byte) {
		IsJSONFeed(text)
		for _, read := range []func(*Scanner, []byte, Options) *Page{(*Scanner).CSS, (*Scanner).Manifest, (*Scanner).JSONFeed, (*Scanner).JSONLD, (*Scanner).Robots, (*Scanner).Headers} {
			p := read(&s, text, Options{})
			checkBounds(t, p)
			for _, fault := range p.Faults {
				if fault.Kind != FaultJSON && fault.Kind != FaultCSS || fault.Name == "" || int(fault.Off) > len(p.Text) {
					t.Fatalf("fault %+v", fault)
				}
			}
		}
	})
}
