package data

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/testkit"
)

const (
	sitemapHead = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml" ` +
		`xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:v="http://www.google.com/schemas/sitemap-video/1.1">`
	atomHead = `<feed xmlns="http://www.w3.org/2005/Atom">`
)

var feedCases = []struct {
	name, in string
	want     []string
	fault    string
}{
	{"sitemap", sitemapHead + `<url><loc> https://h/a?x&amp;y </loc><lastmod>2026</lastmod>` +
		`<xhtml:link rel="alternate" hreflang="de" href="https://h/de/"/>` +
		`<image:image><image:loc>https://h/i.png</image:loc><image:title>t</image:title></image:image>` +
		`<v:video><v:thumbnail_loc>/t.png</v:thumbnail_loc><v:player_loc><![CDATA[/p]]></v:player_loc></v:video></url>` +
		`<url><loc></loc></url></urlset>`,
		[]string{"loc (text) entry https://h/a?x&y at https://h/a?x&a", "link href link https://h/de/", "image:loc (text) link https://h/i.png",
			"v:thumbnail_loc (text) link /t.png", "v:player_loc (text) link /p"}, ""},
	{"sitemap_without_namespace", `<urlset><url><loc>/a</loc></url></urlset>`, []string{"loc (text) entry /a"}, ""},
	{"sitemap_old_namespace", `<urlset xmlns="http://www.google.com/schemas/sitemap/0.84"><url><loc>/a</loc></url></urlset>`, []string{"loc (text) entry /a"}, ""},
	{"sitemap_index", `<?xml version="1.0"?><sitemapindex><sitemap><loc>/s.xml</loc></sitemap></sitemapindex>`, []string{"loc (text) entry /s.xml"}, ""},
	{"sitemap_space_before_declaration", "\n \n<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><urlset><url><loc>/\xE9</loc></url></urlset>", []string{"loc (text) entry /é"}, "white space before the XML declaration"},
	{"sitemap_cut_off", `<urlset><url><loc>/a</loc></url><url><loc>/b`, []string{"loc (text) entry /a"}, "element <loc> is never closed"},
	{"sitemap_ampersand", "<urlset><url><loc>/a</loc></url>\n<url><loc>/b?c&d</loc></url></urlset>", []string{"loc (text) entry /a"}, `"&" does not begin a reference`},
	{"rss", `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/" xmlns:i="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel>` +
		`<link>https://h/</link><atom:link href="/feed.xml" rel="self"/><image><url>/i.png</url><link>/</link></image><i:image href="/pod.jpg"/>` +
		`<description>No &lt;markup here</description><docs>/docs</docs>` +
		`<item><guid>https://h/p/1</guid><link>https://h/p/1/</link><comments>/c</comments><enclosure url="/e.mp3" length="1" type="audio/mpeg"/>` +
		`<media:content url="m.mp4"/><media:thumbnail url="m.png"/><source url="/other.xml">o</source></item>` +
		`<item><guid isPermaLink="False">https://h/no</guid></item><item><guid>42</guid></item></channel></rss>`,
		[]string{"link (text) link https://h/", "atom:link href link /feed.xml", "url (text) link /i.png", "link (text) link /", "i:image href link /pod.jpg",
			"docs (text) link /docs", "guid (text) entry https://h/p/1", "link (text) entry https://h/p/1/", "comments (text) link /c",
			"enclosure url link /e.mp3", "media:content url link m.mp4", "media:thumbnail url link m.png", "source url link /other.xml"}, ""},
	{"rss_guid_repeats", `<rss><channel><item><link>https://h/1</link><enclosure url="e"/><guid>https://h/1</guid></item>` +
		`<item><guid> https://h/2</guid><description>&lt;a href=x></description><link>https://h/2</link></item><item><guid>https://h/3</guid></item></channel></rss>`,
		[]string{"link (text) entry https://h/1", "enclosure url link e", "a href link x -> https://h/x", "link (text) entry https://h/2", "guid (text) entry https://h/3"}, ""},
	{"rss_content", `<rss xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><item>` +
		`<description>&lt;a href="x.html"&gt;x&lt;/a&gt;&lt;svg&gt;&lt;use href="#u"/&gt;&lt;rect fill="url(#g)"/&gt;</description>` +
		`<content:encoded><![CDATA[<img src="i.png" srcset="a.png 1x, /b.png 2x"><a href="#n">n</a><img src=""><template><a href=t></a></template>]]></content:encoded>` +
		`<link>https://h/p/1/</link></item><item><link>/p/2</link><description><![CDATA[<a href=y>]]></description></item></channel></rss>`,
		[]string{`a href link x.html -> https://h/p/1/x.html`, `use href link #u -> https://h/p/1/#u`,
			"img src resource i.png -> https://h/p/1/i.png", "img srcset resource a.png -> https://h/p/1/a.png", "img srcset resource /b.png -> https://h/b.png",
			"a href link #n -> https://h/p/1/#n", "img src resource ", "inert a href link t -> https://h/p/1/t",
			"link (text) entry https://h/p/1/", "link (text) entry /p/2", "a href link y -> /p/y"}, ""},
	{"rss_content_base", `<rss xml:base="/blog/"><channel><item><link>p/1/</link><description xml:base="deep/">&lt;a href="../x"></description></item></channel></rss>`,
		[]string{"link (text) entry p/1/ -> /blog/p/1/", "a href link ../x -> /blog/deep/../x"}, ""},
	{"rdf", `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel rdf:about="x"><link>/</link></channel>` +
		`<item rdf:about="/p"><link>/p</link></item></rdf:RDF>`, []string{"link (text) link /", "link (text) entry /p"}, ""},
	{"atom", atomHead + `<link href="/"/><link rel="self" href="atom.xml"/><icon>/i.ico</icon><logo>/l.png</logo><generator uri="https://g/">g</generator>` +
		`<author><uri>https://a/</uri></author><id>tag:x</id><entry><link href="p/1"/><link rel="alternate" href="/p/1.pdf"/><link rel="enclosure" href="e.mp3"/>` +
		`<link rel="http://www.iana.org/assignments/relation/related" href="r"/><id>https://h/id</id><source><link href="/src"/></source>` +
		`<summary>text &lt;a href="n"></summary><content type="html">&lt;a href="q?a&amp;amp;b">&lt;/a></content></entry>` +
		`<entry><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><a id="i" href="../z">z</a></div></content></entry><entry><content src="c.html"/></entry></feed>`,
		[]string{"link href link /", "link href link atom.xml", "icon (text) link /i.ico", "logo (text) link /l.png", "generator uri link https://g/", "uri (text) link https://a/",
			"link href entry p/1", "link href entry /p/1.pdf", "link href link e.mp3", "link href link r", "link href link /src",
			"a href link q?a&b at q?a&a", "a href link ../z", "content src link c.html"}, ""},
	{"atom_base", `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://h/blog/"><entry xml:base="p/1/"><link href="."/>` +
		`<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><a href="../z">z</a></div></content><content type="html" xml:base="q/">&lt;a href="w"></content></entry><link href="x"/></feed>`,
		[]string{"link href entry . -> https://h/blog/p/1/.", "a href link ../z -> https://h/blog/p/1/../z", "a href link w -> https://h/blog/p/1/q/w", "link href link x -> https://h/blog/x"}, ""},
	{"opml", `<opml version="2.0"><head><title>t</title></head><body><outline text="g"><outline text="a" type="rss" xmlUrl="/a.xml" htmlUrl="/a/"/></outline><outline url="b.opml"/></body></opml>`,
		[]string{"outline xmlurl link /a.xml", "outline htmlurl link /a/", "outline url link b.opml"}, ""},
	{"opensearch", `<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/"><Image height="16">/i.ico</Image>` +
		`<Url type="text/html" template="/search/?q={searchTerms}"/><Url template="/s/{searchTerms}"/></OpenSearchDescription>`,
		[]string{"image (text) link /i.ico", "url template metadata /search/?q={searchTerms} -> /search/"}, ""},
	{"another_document", `<project><url>https://h/</url><loc>x</loc></project>`, nil, ""},
	{"entities", `<!DOCTYPE rss [<!ENTITY h "https://h">]><rss><channel><link>&h;/a</link></channel></rss>`, []string{"link (text) link https://h/a at &h;/a</link"}, ""},
	{"latin1", "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?><rss><channel><link>/caf\xe9</link></channel></rss>", []string{"link (text) link /café"}, ""},
	{"not_utf8", "<rss><channel><link>/a</link><link>/caf\xe9</link></channel></rss>", []string{"link (text) link /a"}, "byte 0xE9 is not UTF-8"},
	{"no_xml", `{"a": 1}`, nil, "text outside the root element"},
}

// TestFeed checks where feeds, sitemaps, outlines and search descriptions hold
// links, and what relative ones are resolved against.
func TestFeed(t *testing.T) {
	var s XMLScanner
	for _, c := range feedCases {
		t.Run(c.name, func(t *testing.T) {
			p := s.Feed([]byte(c.in), scan.Options{})
			testkit.CheckPage(t, p)
			if got := testkit.RefRows(p); !slices.Equal(got, c.want) {
				t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(c.want, "\n\t"))
			}
			if got := testkit.FaultNames(p); got != c.fault {
				t.Errorf("fault %q, want %q", got, c.fault)
			}
		})
	}
}

// TestRootOf: the root element decides what a document is, if it is in the
// head.
func TestRootOf(t *testing.T) {
	for in, want := range map[string]Root{
		"":           RootOther,
		"plain text": RootOther,
		"<html>":     RootOther,
		"<rss>":      RootRSS,
		"\xEF\xBB\xBF<?xml version='1.0'?>\n<!-- <feed> -->\n<rss version='2.0'>": RootRSS,
		"<?xml version='1.0'?><!DOCTYPE opml [<!ENTITY a '>'>]><opml>":            RootOPML,
		"<!DOCTYPE rss PUBLIC '-//x' 'y'><rss>":                                   RootRSS,
		"<a:feed xmlns:a='http://www.w3.org/2005/Atom'>":                          RootAtom,
		"<urlset>":                RootSitemap,
		"<s:sitemapindex>":        RootSitemapIndex,
		"<OpenSearchDescription>": RootOpenSearch,
		"<rdf:RDF xmlns='http://purl.org/rss/1.0/'>":        RootRDF,
		"<rdf:RDF xmlns:foaf='http://xmlns.com/foaf/0.1/'>": RootOther,
		"<!-- never closed <rss>":                           RootOther,
		"<!DOCTYPE never":                                   RootOther,
		"<RSS>":                                             RootOther,
		"\xFF\xFE<\x00u\x00r\x00l\x00s\x00e\x00t\x00>\x00":  RootSitemap,
	} {
		if got := RootOf([]byte(in)); got != want {
			t.Errorf("%q: root %d, want %d", in, got, want)
		}
	}
}

// FuzzData: any bytes give links and faults inside the text, in order, and the
// same ones when read twice. A sitemap has the entries that encoding/xml finds.
func FuzzData(f *testing.F) {
	for _, c := range feedCases {
		f.Add([]byte(c.in))
	}
	for _, c := range xmlCases {
		f.Add([]byte(c.in))
	}
	var s XMLScanner
	f.Fuzz(func(t *testing.T, text []byte) {
		RootOf(text)
		p := s.Feed(text, scan.Options{})
		testkit.CheckPage(t, p)
		if len(p.Anchors)+len(p.Bases) > 0 {
			t.Fatal("a document other than a page has anchors or a base")
		}
		again := fmt.Sprint(testkit.RefRows(p), testkit.FaultNames(p))
		if got := s.Feed(text, scan.Options{}); fmt.Sprint(testkit.RefRows(got), testkit.FaultNames(got)) != again {
			t.Fatalf("read again: %q, before %q", testkit.RefRows(got), again)
		}
		if len(p.Faults) > 0 || !comparableXML(text) {
			return
		}
		want, err := sitemapOracle(text)
		if err != nil {
			t.Fatalf("encoding/xml: %v", err)
		}
		if got := sitemapEntries(p); want != nil && !slices.Equal(got, want) {
			t.Fatalf("entries %q, encoding/xml has %q", got, want)
		}
	})
}

// sitemapEntries returns the addresses that a sitemap lists.
func sitemapEntries(p *scan.Page) []string {
	out := []string{}
	for i := range p.Links {
		if l := &p.Links[i]; l.Kind == scan.KindEntry {
			out = append(out, oneSpace(string(l.Value)))
		}
	}
	slices.Sort(out)
	return out
}

// sitemapOracle returns the same by encoding/xml, or nil if text is not a
// sitemap.
func sitemapOracle(text []byte) ([]string, error) {
	var out []string
	var space string
	type open struct {
		name xml.Name
		text string
	}
	var stack []open
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			slices.Sort(out)
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		switch e := token.(type) {
		case xml.StartElement:
			if len(stack) == 0 {
				if e.Name.Local != "urlset" && e.Name.Local != "sitemapindex" || strings.HasPrefix(e.Name.Space, "http://www.w3.org/") {
					return nil, nil // in the namespaces of XHTML and SVG it is one of their elements
				}
				space, out = e.Name.Space, []string{}
			}
			stack = append(stack, open{name: e.Name})
		case xml.CharData:
			if n := len(stack); n > 0 {
				stack[n-1].text += string(e)
			}
		case xml.EndElement:
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			value := strings.Trim(top.text, scan.Space)
			switch top.name.Space {
			case "", space, "http://www.sitemaps.org/schemas/sitemap/0.9":
				if top.name.Local == "loc" && value != "" {
					out = append(out, oneSpace(value))
				}
			}
		}
	}
}

// TestFeed_linear reads documents that repeat one unit.
func TestFeed_linear(t *testing.T) {
	read := func(text []byte) *scan.Page { return new(XMLScanner).Feed(text, scan.Options{}) }
	for _, c := range []struct {
		Name           string
		Read           func(text []byte) *scan.Page
		Before, Repeat string
	}{
		{"entries", read, "<urlset>", "<url><loc>/a?b&amp;c</loc></url>"},
		{"items", read, "<rss>", "<item><link>/a</link><guid>http://h/</guid><description>&lt;a href=b></description></item>"},
		{"nested items", read, "<rss>", "<item><guid>http://h/</guid><link>http://h/</link>"},
		{"links of one item", read, "<rss><item>", "<guid>http://h/</guid><link>http://h/</link>"},
		{"contents of one item", read, "<rss><item>", "<description>&lt;a href=b></description>"},
		{"bases", read, "<feed>", `<link xml:base="a/" href="b"/>`},
		{"nested bases", read, "<feed>", `<a xml:base="aaaaaaaaaaaaaaaa/"><link href="b"/>`},
		{"references in content", read, "<rss><item><description>", "&lt;a href=&quot;&amp;amp;&quot;>"},
		{"element names", read, "<opml>", "<outline url='a'/><outlinE url='b'/>"},
		{"one base, many links", read, "<feed xml:base='/" + strings.Repeat("a/", 400) + "'>", "<link href='b'/>"},
	} {
		testkit.CheckRepetition(t, testkit.Repetition(c))
	}
}
