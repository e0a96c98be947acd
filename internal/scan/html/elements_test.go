package html

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/testkit"
)

// checkPlaces fails if an offset is not that of the value's first byte, or
// TagOff not that of its tag.
func checkPlaces(t *testing.T, p *scan.Page) {
	t.Helper()
	for i := range p.Links {
		l := &p.Links[i]
		if p.Text[l.TagOff] != '<' || l.TagOff >= l.Off {
			t.Errorf("%s: tag at %d, value at %d of %q", testkit.Row(p, l), l.TagOff, l.Off, p.Text)
		}
		first := p.Text[l.Off:]
		if len(l.Value) > 0 && !bytes.HasPrefix(first, l.Value) && first[0] != '&' && first[0] != '\\' &&
			!bytes.ContainsAny(first[:min(len(first), 2*len(l.Value)+8)], "&\\\r\n\x00") {
			t.Errorf("%s: text at %d is %q", testkit.Row(p, l), l.Off, clip(first))
		}
	}
}

type linkCase struct {
	name, page string
	want       []string
}

func runLinkCases(t *testing.T, opt scan.Options, cases []linkCase) {
	t.Helper()
	opt.Charset = "utf-8"
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var s Scanner
			for _, before := range []string{"", "<!DOCTYPE html>\n<title>x</title>\n"} {
				p := s.Scan([]byte(before+c.page), opt)
				if got := testkit.Rows(p); !slices.Equal(got, c.want) && len(got)+len(c.want) > 0 {
					t.Errorf("%s%s\n got %q\nwant %q", before, c.page, got, c.want)
				}
				checkPlaces(t, p)
				testkit.CheckPage(t, p)
			}
			// The same with names in upper case: LL-55.
			upper := upperNames(c.page)
			if strings.Contains(c.page, "x<y") {
				return // not a name
			}
			if got := testkit.Rows(s.Scan([]byte(upper), opt)); !slices.Equal(got, c.want) && len(got)+len(c.want) > 0 {
				t.Errorf("%s\n got %q\nwant %q", upper, got, c.want)
			}
		})
	}
}

// upperNames changes the tag names of page to upper case.
func upperNames(page string) string {
	b := []byte(page)
	for i := range b {
		if b[i] != '<' {
			continue
		}
		for j := i + 1; j < len(b) && (scan.Class[b[j]]&scan.ClassLetter != 0 || b[j] == '/'); j++ {
			if scan.Class[b[j]]&scan.ClassLetter != 0 {
				b[j] &^= 0x20
			}
		}
	}
	return string(b)
}

// both are the rows of linklint's table that mean the same in both tables. Rows
// for map and anchors (LL-39, LL-51) are in anchors_test.go.
var both = []linkCase{
	{"LL-38 a_href", `<a href=b.html>`, []string{"a href link b.html"}},
	{"LL-38 a_fragment", `<a href=#frag>`, []string{"a href link #frag"}},
	{"LL-40 applet_code", `<applet code=App>`, []string{"applet code link App"}},
	{"LL-41 applet_archive", `<applet code=A.class archive=a.jar codebase=/java/>`, []string{"applet archive link a.jar"}},
	{"LL-42 area_href", `<area href=b.html>`, []string{"area href link b.html"}},
	{"LL-43 bgsound_src", `<bgsound src=b.wav>`, []string{"bgsound src link b.wav"}},
	{"LL-44 body_background", `<BODY BACKGROUND = 'bg.gif'>`, []string{"body background link bg.gif"}},
	{"LL-45 embed_src", `<embed src=e.mid>`, []string{"embed src link e.mid"}},
	{"LL-46 form_action", `<form action=/cgi-bin/f.cgi>`, []string{"form action action /cgi-bin/f.cgi"}},
	{"LL-52 refresh_program_form", `<meta http-equiv=Refresh content="5; URL=/r.html">`, []string{"meta content refresh /r.html"}},
	{"LL-52 refresh_seed_form", `<meta http-equiv=refresh content="0; href=/r.html">`, []string{"meta content refresh /r.html"}},
	{"LL-54 single_quotes", `<meta http-equiv=refresh content='5; url=/x.html'>`, []string{"meta content refresh /x.html"}},
	{"LL-54 quotes_around_the_value", `<meta http-equiv=refresh content="5; url=' /x.html '">`, []string{"meta content refresh /x.html"}},
	{"LL-54 no_url", `<meta http-equiv=refresh content="5">`, nil},
	{"LL-54 other_http-equiv", `<meta http-equiv=refreshing content="5; url=/x.html">`, nil},
	{"LL-87 area_in_map", `<map name=m><area href=b.html></map>`, []string{"area href link b.html"}},
}

// TestLinkTable_linklint checks LL-38 to LL-54 with linklint's own table.
func TestLinkTable_linklint(t *testing.T) {
	runLinkCases(t, scan.Options{Tags: scan.Linklint}, append(slices.Clone(both), []linkCase{
		{"LL-47 frame_src", `<frameset><frame src=f.html></frameset>`, []string{"frame src link f.html"}},
		{"LL-48 img", `<img src=i.gif lowsrc=l.gif dynsrc=d.avi>`,
			[]string{"img src link i.gif", "img lowsrc link l.gif", "img dynsrc link d.avi"}},
		{"LL-49 img_usemap", `<img src=i.gif usemap="#m1">`, []string{"img src link i.gif", "img usemap map #m1"}},
		{"LL-50 input_src", `<input type=image src=in.gif>`, []string{"input src link in.gif"}},
		{"LL-53 script_src", `<script src=s.js></script>`, []string{"script src link s.js"}},
		{"LL-59 other_tags_and_attributes", `<link rel=stylesheet href=s.css><iframe src=i.html></iframe><object data=o></object>` +
			`<video src=v poster=p></video><audio src=a></audio><source src=s srcset="y 2x"><img srcset="x 2x"><a data-href=n.html ping=p>` +
			`<form><button formaction=f></button></form><q cite=c></q><table background=b></table><p style="background:url(u)">` +
			`<style>@import "i.css"</style><script type=application/ld+json>{"url":"/j"}</script>` +
			`<meta property=og:url content=http://example.com/><svg><a href=g /><use xlink:href=#h /></svg>`, nil},
	}...))
}

// TestLinkTable_modern checks linklint's rows with their current meaning, and
// the rest of the modern table.
func TestLinkTable_modern(t *testing.T) {
	runLinkCases(t, scan.Options{}, append(slices.Clone(both), []linkCase{
		{"LL-47 frame_src", `<frameset><frame src=f.html longdesc=l.html></frameset>`,
			[]string{"frame src link f.html", "frame longdesc link l.html"}},
		{"LL-48 img", `<img src=i.gif lowsrc=l.gif dynsrc=d.avi longdesc=l.html>`,
			[]string{"img src resource i.gif", "img lowsrc link l.gif", "img dynsrc link d.avi", "img longdesc link l.html"}},
		{"LL-49 img_usemap", `<img src=i.gif usemap="#m1">`, []string{"img src resource i.gif", "img usemap map #m1"}},
		{"LL-49 input_object_usemap", `<input usemap=#m><object usemap=#n></object>`, []string{"input usemap map #m", "object usemap map #n"}},
		{"LL-50 input_src", `<input src=in.gif><input type=text src=in.gif>`, nil},
		{"LL-50 input_image_src", `<input type="IMAGE" src=in.gif><input type="image " src=no.gif>`, []string{"input src resource in.gif"}},
		{"LL-53 script_src", `<script src=s.js></script>`, []string{"script src resource s.js"}},
		{"LL-59 today", `<link rel=stylesheet href=s.css><iframe src=i.html></iframe><object data=o></object>` +
			`<video src=v></video><img srcset="x 2x"><a data-href=n.html>`,
			[]string{"link href link s.css", "iframe src link i.html", "object data link o", "video src resource v", "img srcset resource x"}},
		{"ping", `<a href=x ping=" /a&#32;/b "><area ping=/c>`,
			[]string{"a href link x", "a ping ping /a", "a ping ping /b", "area ping ping /c"}},
		{"media", `<audio src=a></audio><video src=v poster=p><source src=s><track src=t></video>`, []string{"audio src resource a",
			"video src resource v", "video poster link p", "source src resource s", "track src resource t"}},
		{"cite", `<blockquote cite=a></blockquote><q cite=b></q><ins cite=c></ins><del cite=d></del><p cite=e>`, []string{
			"blockquote cite metadata a", "q cite metadata b", "ins cite metadata c", "del cite metadata d"}},
		{"background", `<table background=a><thead background=b><tr background=c><th background=d></th></tr></thead><tbody background=e>` +
			`<tr><td background=f></td></tr></tbody><tfoot background=g></tfoot></table><p background=h>`, []string{"table background link a",
			"thead background link b", "tr background link c", "th background link d", "tbody background link e", "td background link f",
			"tfoot background link g"}},
		{"frames", `<iframe src=a longdesc=b></iframe>`, []string{"iframe src link a", "iframe longdesc link b"}},
		{"object", `<object data=a classid=b codebase=c archive="d e"></object>`, []string{"object data link a", "object classid link b",
			"object archive link d", "object archive link e"}},
		{"button_input_formaction", `<form action=a><button formaction=b></button><input formaction=c></form>`, []string{
			"form action action a", "button formaction action b", "input formaction action c"}},
		{"link_hints", `<link rel=preconnect href=//a.example><link rel="dns-prefetch PreConnect" href=//b.example>` +
			`<link rel="preconnect stylesheet" href=c.css><link href=d><link rel="" href=e>`, []string{"link href hint //a.example",
			"link href hint //b.example", "link href link c.css", "link href link d", "link href link e"}},
		{"link_hint_after_href", `<link href=//a.example rel=preconnect>`, []string{"link href hint //a.example"}},
		{"imagesrcset", `<link rel=preload as=image href=a imagesrcset="b 1x, c 2x">`, []string{"link href link a",
			"link imagesrcset resource b", "link imagesrcset resource c"}},
		{"srcset", `<img srcset="a.png 1x, b.png 2x,c.png,d,e 3w" src=f><source srcset=" g&amp;h 1x , , data:x,y 2x">`, []string{
			"img srcset resource a.png", "img srcset resource b.png", "img srcset resource c.png,d,e", "img src resource f",
			"source srcset resource g&h", "source srcset resource data:x,y"}},
		{"image_is_img", `<image src=a srcset=b>`, []string{"img src resource a", "img srcset resource b"}},
		{"applet_without_archive", `<applet codebase=/java code=A.class></applet>`, []string{"applet code link A.class"}},
		{"meta_refresh", `<meta content="0;url=a&amp;b" http-equiv=REFRESH>`, []string{"meta content refresh a&b"}},
		{"open_graph_twitter", `<meta property=og:image content=/i.png><meta name=twitter:image content=t.png><meta name="OG:URL" content=u>` +
			`<meta property=og:title content="a title"><meta name=description content=/not><meta name=x content=" https://example.com/a ">` +
			`<meta name=x content="see https://example.com/"><meta itemprop=image content=p><meta name=og:image content=" ">`, []string{
			"meta content metadata /i.png", "meta content metadata t.png", "meta content metadata u",
			"meta content metadata  https://example.com/a ", "meta content metadata p"}},
		{"json_ld", `<script type="application/ld+json">{"@context":"https://schema.org","url":"https:\/\/example.com\/a","image":["/b","no"]}` +
			`</script>`, []string{`script (text) metadata https://example.com/a`, "script (text) metadata /b"}},
		{"style_attribute", `<p style="background:url(a&amp;b.png);color:red"><div style="background:image-set('c.png' 1x, url(d) 2x)">`,
			[]string{"p style link a&b.png", "div style link c.png", "div style link d"}},
		{"style_attribute_fragment", `<p style="filter:url(#f)">`, []string{"p style reference #f"}},
		{"style_element", `<style>@import "a.css"; @import url(b.css); p{background:url("c.png")} q{background:url( d\2epng )}</style>`,
			[]string{"style (text) link a.css", "style (text) link b.css", "style (text) link c.png", "style (text) link d.png"}},
		{"svg", `<svg><a href=a></a><image xlink:href=b /><image href=c /><use href=#d /><feImage href=e /><script href=f /></svg>`, []string{
			"a href link a", "image xlink:href link b", "image href link c", "use href link #d", "feimage href link e", "script href link f"}},
		{"svg_references", `<svg><rect fill="url(#a)" stroke='url("#b")' clip-path=url(#c) mask=url(#d) filter=url(x.svg#e) ` +
			`marker-start=url(#f) marker-mid=url(#g) marker-end=url(#h) style="fill:url(#i)"/><image clip-path=url(#j) style="mask:url(k)" /></svg>`,
			[]string{"rect fill reference #a", "rect stroke reference #b", "rect clip-path reference #c", "rect mask reference #d",
				"rect filter reference x.svg#e", "rect marker-start reference #f", "rect marker-mid reference #g",
				"rect marker-end reference #h", "rect style reference #i", "image clip-path reference #j", "image style link k"}},
		{"svg_style_element", `<svg><style>a{fill:url(b.svg)}</style><style><![CDATA[@import "c.css";]]></style></svg>`, []string{
			"style (text) link b.svg", "style (text) link c.css"}},
		{"tag_as_attribute_name", `<form></form><p <style>a{b:url(n)}<p <a href=n><a href=y>`, []string{"a href link y"}},
		{"tag_as_attribute_name_on_the_slow_path", `<form><form><p <style>a{b:url(n)}<p <a href=n><a href=y>`, []string{"a href link y"}},
		{"end_behind_a_bracket", `<form></form><title>a<b</title><!--<b--><a href=x><!--<b--!><a href=y><svg><![CDATA[<b]]><a href=z>`,
			[]string{"a href link x", "a href link y", "a href link z"}},
		{"end_behind_a_bracket_on_the_slow_path", `<form><form><title>a<b</title><!--<b--><a href=x><!--<b--!><a href=y><svg><![CDATA[<b]]><a href=z>`,
			[]string{"a href link x", "a href link y", "a href link z"}},
		{"bracket_in_a_tag_name", `<form></form><li<a href=n></li><li</li id=z><a href=y>`, []string{"a href link y"}},
		{"bracket_in_a_tag_name_on_the_slow_path", `<form><form><li<a href=n></li><li</li id=z><a href=y>`, []string{"a href link y"}},
		{"type_of_style", `<style type="text/less">a{b:url(n)}</style><style type=TEXT/CSS>a{b:url(x)}</style><style type="">a{b:url(y)}</style>` +
			`<style type=" text/css">a{b:url(n)}</style><svg><style type=text/less>a{b:url(n)}</style></svg>`, []string{"style (text) link x", "style (text) link y"}},
		{"type_of_script", `<script type=text/template src=n></script><script type=module src=x></script><script type=" text/javascript" src=y></script>` +
			`<script type="" src=z></script><script src=n type=importmap></script><svg><script type=text/x href=r /><script href=s /></svg>`,
			[]string{"script src resource x", "script src resource y", "script src resource z", "script href link r", "script href link s"}},
		{"svg_base_and_others", `<svg href=n><base href=n /><rect href=n /><g xlink:href=n /><title href=n></title><linearGradient href=#g /><textPath xlink:href=#t /></svg>`,
			[]string{"lineargradient href link #g", "textpath xlink:href link #t"}},
		{"svg_both_hrefs", `<svg><a xlink:href=n href=a></a><use href=#u xlink:href=n /><a xlink:href=b href></a></svg>`,
			[]string{"a href link a", "use href link #u", "a href link "}},
		{"math_without_link", `<math><none href=n /><semantics href=n><mi href=x></mi><mo xlink:href=n></mo></semantics></math>`, []string{"mi href link x"}},
		{"srcdoc", `<iframe src=n srcdoc="<a href=&quot;a?x&amp;amp;y&quot; id=n><img src=b><b></b><iframe srcdoc='<link rel=canonical href=c>'></iframe><svg><path fill='url(#n)'></svg>"></iframe><a href=d>`,
			[]string{"a href link a?x&y", "img src resource b", "link href link c", "a href link d"}},
		{"srcdoc_base", `<iframe srcdoc="<base href=/e/><a href=a><base href=/n/>"></iframe><a href=b>`, []string{"a href link a", "a href link b"}},
		{"srcdoc_inert", `<template><iframe srcdoc="<a href=a>"></iframe></template><iframe src=n srcdoc></iframe>`, []string{"inert a href link a"}},
		{"srcdoc_on_the_slow_path", `<form><form><iframe src=n srcdoc="<form><form><a href=a>"></iframe>`, []string{"a href link a"}},
		{"srcdoc_of_others", `<embed srcdoc="<a href=n>"><svg><iframe srcdoc="<a href=n>"></iframe></svg>`, nil},
		{"importmap", `<script type=importmap>{"imports":{"a":"./a.js","b":"n","c/":"/c/","d":"https:\/\/h\/d","e":null},"scopes":{"/n/":{"f":"../f.js"}},"integrity":{"./n.js":"n"}}</script>`,
			[]string{"script (text) resource ./a.js", "script (text) hint /c/", `script (text) resource https://h/d`, "script (text) resource ../f.js"}},
		{"importmap_bad", `<script type=importmap>{"imports":{"a":"./n.js",}}</script><script type=importmap src=n>{"imports":{"a":"./n.js"}}</script>`, nil},
		{"speculationrules", `<script type=SpeculationRules>{"prefetch":[{"urls":["a","/b"]},{"where":{"href_matches":"/n*"}}],"prerender":[{"source":"list","urls":["c"]}],"tag":"n"}</script>`,
			[]string{"script (text) link a", "script (text) link /b", "script (text) link c"}},
		{"import_too_late", `<style>a{b:c} @import "n"; @media x { @import "n"; } d{e:url(x)}</style>`, []string{"style (text) link x"}},
		{"svg_fill_in_html", `<p fill=url(#a) xlink:href=b><rect href=c>`, nil},
		{"math_href", `<math href=a><mrow href=b></mrow></math>`, []string{"math href link a", "mrow href link b"}},
		{"values_in_order_of_the_text", `<img srcset=a style="x:url(b)" usemap=#c src=d><img style="x:url(e)" srcset=f>`, []string{
			"img srcset resource a", "img style link b", "img usemap map #c", "img src resource d", "img style link e", "img srcset resource f"}},
		{"empty_values", `<a href><a href=""><img src="" srcset=" , "><a ping=" ">`, []string{"a href link ", "a href link ", "img src resource "}},
		{"link_in_body_of_noscript", `<noscript><a href=a><img src=b></noscript><a href=c>`, []string{"a href link a", "img src resource b",
			"a href link c"}},
		{"inert_in_template", `<template><a href=a></a><template><a href=b></a></template><style>x{y:url(c)}</style></template><a href=d>`,
			[]string{"inert a href link a", "inert a href link b", "inert style (text) link c", "a href link d"}},
		{"declarative_shadow_root", `<div><template shadowrootmode=open><a href=a></a></template></div><a href=b>`, []string{
			"a href link a", "a href link b"}},
		{"svg_cursor", `<svg><rect cursor="url(a.cur),auto" /></svg>`, []string{"rect cursor link a.cur"}},
	}...))
}

// TestLinkTable_page checks the rows that apply only to the first tag of its
// name: html and head.
func TestLinkTable_page(t *testing.T) {
	var s Scanner
	p := s.Scan([]byte(`<!DOCTYPE html><html manifest=m><head profile="a b"><body background=c>`), scan.Options{Charset: "utf-8"})
	want := []string{"html manifest link m", "head profile metadata a", "head profile metadata b", "body background link c"}
	if got := testkit.Rows(p); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	checkPlaces(t, p)
}

// TestEmbedded: the base URL of a document in srcdoc applies to its links alone,
// and a script of data that is not JSON is a fault.
func TestEmbedded(t *testing.T) {
	var s Scanner
	for in, want := range map[string]string{
		`<iframe srcdoc="<base href=/e/><a href=a><base href=/n/>"></iframe><a href=b>`:                                                 "a href link a -> /e/a, a href link b",
		`<iframe srcdoc='<iframe srcdoc="<base href=/e/><a href=a>"></iframe><a href=b>'></iframe>`:                                     "a href link a -> /e/a, a href link b",
		`<script type=importmap>{"imports":{"a":"./n.js",}}</script><form><form>`:                                                       ", import map: invalid character '}' looking for beginning of object key string",
		`<script type=speculationrules>{"prefetch":[{"urls":["n"]}]</script>`:                                                           ", speculation rules: the file ends before the document is complete",
		`<script type=importmap>{"imports":{"a":"./é.js"}}</script>`:                                                                    "script (text) resource ./é.js",
		`<iframe srcdoc='<a href=a><iframe srcdoc="<a href=b><iframe srcdoc=&amp;amp;lt;a&amp;amp;#32;href=c&amp;amp;gt;>">'></iframe>`: "a href link a, a href link b, a href link c",
	} {
		p := s.Scan([]byte(in), scan.Options{Charset: "utf-8"})
		got := strings.Join(testkit.RefRows(p), ", ")
		if faults := testkit.FaultNames(p); faults != "" {
			got += ", " + faults
		}
		if i := strings.Index(got, " at "); i >= 0 {
			got = got[:i]
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

// TestLinkTable_complete checks that every rule of both tables gives a link.
func TestLinkTable_complete(t *testing.T) {
	for _, table := range []struct {
		tags  scan.Tags
		rules *[scan.TagCount][]rule
	}{{scan.Modern, &modernTable}, {scan.Linklint, &linklintTable}} {
		n := 0
		for tag := range table.rules {
			for _, r := range table.rules[tag] {
				n++
				name := scan.Tag(tag).String()
				page := fmt.Sprintf(`<%s %s="v">`, name, r.attr)
				switch scan.Tag(tag) {
				case scan.TagInput:
					page = fmt.Sprintf(`<%s type=image %s="v">`, name, r.attr)
				case scan.TagTable, scan.TagHTML, scan.TagHead, scan.TagBody:
				case scan.TagTbody, scan.TagThead, scan.TagTfoot:
					page = "<table>" + page
				case scan.TagTr:
					page = "<table><tbody>" + page
				case scan.TagTd, scan.TagTh:
					page = "<table><tbody><tr>" + page
				case scan.TagFrame:
					page = "<frameset>" + page
				case scan.TagImage:
					name = "img"
				}
				var s Scanner
				p := s.Scan([]byte(page), scan.Options{Tags: table.tags, Charset: "utf-8"})
				kind := p.Links
				if len(kind) != 1 || string(kind[0].Value) != "v" || kind[0].Attr != r.attr || kind[0].Kind != r.kind || p.Element(&kind[0]) != name {
					t.Errorf("tags %d: %s: got %q", table.tags, page, testkit.Rows(p))
				}
			}
		}
		if n < 13 {
			t.Errorf("table %d has only %d rules", table.tags, n)
		}
	}
}

// TestRef checks what is resolved instead of the value (LL-40 and LL-41).
func TestRef(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"LL-40 class_added", `<applet code=App>`, "App.class"},
		{"LL-40 class_there", `<applet code=App.class>`, "App.class"},
		{"LL-41 codebase", `<applet code=A.class codebase=/java/>`, "/java/A.class"},
		{"LL-41 codebase_without_slash", `<applet code=A codebase=/java>`, "/java/A.class"},
		{"LL-41 archive_replaces_code", `<applet code=A archive=a.jar codebase=/java/>`, "/java/a.jar"},
		{"LL-41 two_archives", `<applet codebase=j archive=" a.jar , b&amp;c.jar">`, "j/a.jar j/b&c.jar"},
		{"no_applet", `<a href=x.html>`, "x.html"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, tags := range []scan.Tags{scan.Modern, scan.Linklint} {
				p := new(Scanner).Scan([]byte(c.page), scan.Options{Tags: tags})
				var got []string
				for i := range p.Links {
					got = append(got, string(p.Ref(&p.Links[i])))
				}
				if got := strings.Join(got, " "); got != c.want {
					t.Errorf("tags %d: %s: got %q, want %q", tags, c.page, got, c.want)
				}
			}
		})
	}
}

// TestParsing checks LL-30 to LL-34 and LL-55 to LL-62: which tags are tags,
// and what the value of an attribute is.
func TestParsing(t *testing.T) {
	runLinkCases(t, scan.Options{Tags: scan.Linklint}, []linkCase{
		{"LL-30 comment", `<!-- <a href=no.html> --><a href=yes.html>`, []string{"a href link yes.html"}},
		{"LL-30 multi_line_comment", "<!--\n<a href=no.html>\n-- > -->\n<a href=yes.html>", []string{"a href link yes.html"}},
		{"LL-31 odd_comment_end", `<!-- x --!><a href=y.html>`, []string{"a href link y.html"}},
		{"LL-31 empty_comments", `<!--><a href=a><!---><a href=b><!----><a href=c><!--!><a href=n>--><a href=d>`, []string{"a href link a",
			"a href link b", "a href link c", "a href link d"}},
		{"LL-31 unclosed_comment", `<a href=y.html><!-- x <a href=n.html>`, []string{"a href link y.html"}},
		{"LL-32 script", `<script src=s.js>document.write("<a href=n.html>")</script><a href=y.html>`, []string{"script src link s.js",
			"a href link y.html"}},
		{"LL-32 escaped_script", `<script><!--<script><a href=n></script><a href=m>--></script><a href=y>`, []string{"a href link y"}},
		{"13_2_5_23_escaped_script_stays_escaped", `<script><!-- a < b <script></script><a href=n>--></script><a href=y>`, []string{"a href link y"}},
		{"13_2_5_26_script_double_escaped_by_name", `<script><!--<scriptx></script><a href=y>--><script><!--<script/></script><a href=n>--></script>`,
			[]string{"a href link y"}},
		{"LL-33 self_closing_script", `<script src="s.js"/><a href=n.html>`, []string{"script src link s.js"}},
		{"LL-34 text_elements", `<style><a href=n></style><textarea><a href=n></textarea><title><a href=n></title><xmp><a href=n></xmp>` +
			`<iframe><a href=n></iframe><noembed><a href=n></noembed><noframes><a href=n></noframes><a href=y><plaintext><a href=n>`,
			[]string{"a href link y"}},
		{"LL-55 letter_case", `<A HREF=a.html><a hReF=b.html><ImG SrC=c>`, []string{"a href link a.html", "a href link b.html", "img src link c"}},
		{"LL-56 quoting", `<a href=a.html><a href="b.html"><a href='c.html'><a href='q"u.html'><a href="r's">`, []string{"a href link a.html",
			"a href link b.html", "a href link c.html", `a href link q"u.html`, "a href link r's"}},
		{"LL-57 angle_brackets_in_quotes", `<a title="x > y < z" href=g.html>`, []string{"a href link g.html"}},
		{"LL-57 unquoted_angle_bracket", `<a href=x<y.html>`, []string{"a href link x<y.html"}},
		{"LL-58 white_space", "<a\n href\n =\n \"w.html\"  ><a\thref\f=\r\n'x'\n>", []string{"a href link w.html", "a href link x"}},
		{"LL-59 unknown_names", `<aa href=n><a hrefs=n><a xhref=n><a href-x=n><a data-href=n><ab src=n>`, nil},
		{"LL-60 no_text_search", `<a title="t href=no.html" href=yes.html>`, []string{"a href link yes.html"}},
		{"LL-61 every_link", `<img src=dead.png><a href=dead.html>`, []string{"img src link dead.png", "a href link dead.html"}},
		{"LL-62 references", `<a href="a&amp;b.html"><a href="a&lt;&gt;&quot;&nbsp;"><a href="a&#38;c.html"><a href=a&#x26;d>`, []string{
			"a href link a&b.html", "a href link a<>\"\u00A0", "a href link a&c.html", "a href link a&d"}},
		{"LL-62 references_all", `<a href="&copy=1&copy;&notit;&amp&#128;&#0;&#xD800;&#x110000;&nGt;">`, []string{
			"a href link &copy=1©&notit;&€\uFFFD\uFFFD\uFFFD≫⃒"}},
		{"13_2_5_33_first_duplicate_wins", `<a href=a href=b HREF=c><img src="" src=d>`, []string{"a href link a", "img src link "}},
		{"13_2_5_32_slashes", `<a/href=a><a / href=b / ><a href=c/><a href="d"/><a href=e /x=1>`, []string{"a href link a", "a href link b",
			"a href link c/", "a href link d", "a href link e"}},
		{"13_2_5_36_no_space_between", `<a title="x"href="a"id='y'href='b'>`, []string{"a href link a"}},
		{"13_2_5_32_equals_first", `<a =href=a href=b><a =href>`, []string{"a href link b"}},
		{"13_2_5_38_quotes_in_unquoted", "<a href=a\"b><a href=x=1><a href=`c`>", []string{"a href link a\"b", "a href link x=1", "a href link `c`"}},
		{"13_2_3_5_newlines", "<a href='a\r\nb\rc'>", []string{"a href link a\nb\nc"}},
		{"13_2_5_38_NUL", "<a href=a\x00b>", []string{"a href link a\uFFFDb"}},
		{"13_2_5_6_no_tags", `< a href=n><1 href=n></ a href=n></a href=n><!a href=n><?a href=n><a href=y>`, []string{"a href link y"}},
		{"13_2_5_42_bogus_comments", `<![CDATA[<a href=n>]]><a href=a><!-x <a href=n><a href=b>`, []string{"a href link a", "a href link b"}},
		{"13_2_5_69_CDATA", `<svg><![CDATA[<a href=n>]]></svg><a href=y>`, []string{"a href link y"}},
		{"13_2_5_unterminated_tag", `<a href=y><a href=n `, []string{"a href link y"}},
	})
}

// TestFaults checks the warnings of LL-31 and LL-33, and that both paths report
// each defect once.
func TestFaults(t *testing.T) {
	// A nested form makes the page irregular.
	const irregular = `<form><form id=x></form>`
	for _, c := range []struct{ name, page, want string }{
		{"LL-31 unclosed_comment", `<p><!-- x <a href=n.html>`, "3 comment "},
		{"LL-31 unclosed_empty_comment", `<p><!--`, "3 comment "},
		{"LL-31 unclosed_comment_with_part_of_its_end", `<p><!-- x! --!`, "3 comment "},
		{"LL-31 unclosed_comment_of_lines", "<p><!--\r\nx\ry", "3 comment "},
		{"LL-31 unclosed_comment_after_others", "<p><!-- x --><table><tr><!-- y -->z<td></table><!-- v", "47 comment "},
		{"equals_sign_as_attribute_name", `<p ="x><!--`, "7 comment "},
		{"end_behind_a_bracket", `<title>a<b</title><!--<b--><!--<b--!><svg><![CDATA[<b]]></svg><script><!--<script:</script>`, ""},
		{"tag_as_attribute_name", `<p <script><p <textarea><p <a href=x>`, ""},
		{"LL-31 closed_comment", `<p><!-- x --!>`, ""},
		{"LL-33 unclosed_script", `<p><script src="s.js"/><a href=n.html>`, "3 element script"},
		{"LL-33 closed_script", `<script></script >`, ""},
		{"LL-34 unclosed_textarea", `<TextArea><a href=n>`, "0 element textarea"},
		{"LL-34 unclosed_style", `<style></style<a href=n>`, "0 element style"},
		{"unterminated_tag", `<p><a href="n`, "3 tag "},
		{"unterminated_end_tag", `<p></a `, "3 tag "},
		{"plaintext_has_no_end", `<plaintext>`, ""},
		{"svg_script_is_no_text", `<svg><script>a</svg>`, ""},
		{"comment_in_script", `<script>"<!--"</script><p>`, ""},
		{"comment_in_script_after_foreign_content_ends", `<svg><p></p></svg><script>"<!--"</script><p>`, ""},
		{"text_after_foreign_content_ends", `<svg><g><p></p><textarea><!-- </textarea><title><a </title>`, ""},
		{"html_in_foreign_content", `<svg><desc><p></p></desc><style/><title/></svg>`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, before := range []string{"", irregular} {
				p := new(Scanner).Scan([]byte(before+c.page), scan.Options{})
				var got []string
				for _, f := range p.Faults {
					kind := [...]string{scan.FaultComment: "comment", scan.FaultElement: "element", scan.FaultTag: "tag"}[f.Kind]
					got = append(got, fmt.Sprintf("%d %s %s", int(f.Off)-len(before), kind, f.Name))
				}
				if got := strings.Join(got, ", "); got != c.want {
					t.Errorf("%s%s: got %q, want %q", before, c.page, got, c.want)
				}
			}
		})
	}
}

// TestBase checks the scanner's part of LL-35 to LL-37: each base with href, in
// order and with its offset. Package site applies them to links.
func TestBase(t *testing.T) {
	for _, c := range []struct {
		name, page string
		want       []string
	}{
		{"LL-35 in_order", `<a href=p.html><base href="http://www.example.com/x/y/z.html"><a href=r.html><base href="/q&amp;/">`,
			[]string{"http://www.example.com/x/y/z.html", "/q&/"}},
		{"LL-36 other_host", `<base href=http://other.example/q/><a href=r.html>`, []string{"http://other.example/q/"}},
		{"LL-37 path_only", `<base href="/x/y/z.html"><a href=r.html>`, []string{"/x/y/z.html"}},
		{"LL-37 target_only", `<base target=_top><a href=r.html>`, nil},
		{"in_template", `<template><base href=x></template>`, nil},
		{"in_svg", `<svg><base href=x></base></svg>`, nil},
		{"in_comment", `<!--<base href=x>-->`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, tags := range []scan.Tags{scan.Modern, scan.Linklint} {
				p := new(Scanner).Scan([]byte(c.page), scan.Options{Tags: tags, Charset: "utf-8"})
				var got []string
				for _, b := range p.Bases {
					got = append(got, string(b.Value))
					if !bytes.HasPrefix(p.Text[b.Off:], b.Value[:1]) {
						t.Errorf("base %q is not at %d of %s", b.Value, b.Off, c.page)
					}
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("%s: got %q, want %q", c.page, got, c.want)
				}
			}
		})
	}
}

// TestHasScript checks whether the page runs scripts, which affects the verdict
// on unknown fragments.
func TestHasScript(t *testing.T) {
	for _, c := range []struct {
		page string
		want bool
	}{
		{`<p>`, false}, {`<script src=a></script>`, true}, {`<script>a</script>`, true}, {`<script></script>`, false},
		{`<script type=module>a</script>`, true}, {`<script type=text/template>a</script>`, false},
		{`<script type=" Text/JavaScript ">a</script>`, true}, {`<script type=application/ld+json>{}</script>`, false},
		{`<template><script>a</script></template>`, false}, {`<!--<script>a</script>-->`, false},
		{`<form><form><script>a</script>`, true}, {`<p <script>a`, false}, {`<form><form><p <script>a`, false}, {`<form><form><template><script>a</script></template>`, false},
	} {
		if got := new(Scanner).Scan([]byte(c.page), scan.Options{}).Scripts; (len(got) > 0) != c.want {
			t.Errorf("%s: got %v, want %v", c.page, got, c.want)
		}
	}
}

// srcsetURLs returns the URLs that srcset finds.
func srcsetURLs(value string) []string {
	urls := []string{}
	srcset([]byte(value), func(start, end int) { urls = append(urls, value[start:end]) })
	return urls
}

// The cases follow the steps of
// https://html.spec.whatwg.org/multipage/images.html#parse-a-srcset-attribute
// and cover web-platform-tests' parse-a-srcset-attribute.html.
func TestHTML_srcset(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		// Splitting loop.
		{"empty", "", nil},
		{"white_space", " \t\r\n\f ", nil},
		{"only_commas", ",, ,", nil},
		{"one", "a.png", []string{"a.png"}},
		{"one_with_space", " \ta.png\n\f", []string{"a.png"}},
		{"one_in_tabs", "\t\ta.png\t\t1x\t\t", []string{"a.png"}},
		{"one_in_line_feeds", "\n\na.png\n\n1x\n\n", []string{"a.png"}},
		{"one_in_form_feeds", "\f\fa.png\f\f1x\f\f", []string{"a.png"}},
		{"one_in_carriage_returns", "\r\ra.png\r\r1x\r\r", []string{"a.png"}},
		{"vertical_tab_is_no_space", "\va.png\v1x", []string{"\va.png\v1x"}},
		{"controls_are_no_space", "\x0ea\x0f1x\x10", []string{"\x0ea\x0f1x\x10"}},
		{"no_break_space_is_no_space", "\u00a0a\u00a0", []string{"\u00a0a\u00a0"}},
		{"comma_behind", "a.png,", []string{"a.png"}},
		{"commas_behind", "a.png,,,", []string{"a.png"}},
		{"commas_and_spaces_behind", "a.png,, , ", []string{"a.png"}},
		{"space_then_comma", "a.png ,", []string{"a.png"}},
		{"commas_before", ",,,a.png", []string{"a.png"}},
		{"commas_and_spaces_before", " , ,,a.png", []string{"a.png"}},
		{"comma_closes_candidate", "a.png, b.png 2x", []string{"a.png", "b.png"}},
		{"comma_inside_url", "data:,a", []string{"data:,a"}},
		{"no_space_behind_comma", "a.png,b.png 2x", []string{"a.png,b.png"}},
		{"data_url", "data:image/png;base64,AA,B= 1x, b.png 2x", []string{"data:image/png;base64,AA,B=", "b.png"}},
		{"three", "a-1.jpg 100w, a-2.jpg 200w,a-3.jpg 300w", []string{"a-1.jpg", "a-2.jpg", "a-3.jpg"}},
		{"no_comma_at_all", "a.png b.png 2x", nil},

		// Descriptor tokenizer.
		{"descriptor", "a 1x", []string{"a"}},
		{"descriptor_and_space", "a 1x ", []string{"a"}},
		{"descriptor_and_comma", "a 1x,", []string{"a"}},
		{"comma_in_parentheses", "a 1x ( , b 1x, ), c", []string{"c"}},
		{"parentheses_do_not_nest", "a 1x ((( , b 1x, ), c", []string{"c"}},
		{"parenthesis_within_descriptor", "a 1x(,b), c", []string{"c"}},
		{"parentheses_closed_first", "a ), b", []string{"b"}},
		{"brackets_are_nothing_special", "a [ , b 1x, c ]", []string{"b"}},
		{"braces_are_nothing_special", "a { , b 1x, c }", []string{"b"}},
		{"quotes_are_nothing_special", "a \" , b 1x, c \"", []string{"b"}},
		{"backslash_is_nothing_special", "a 1x \\,data:;\\,b, c", []string{"data:;\\,b", "c"}},
		{"comments_are_nothing_special", "a /*, b, c */", []string{"b"}},
		{"open_parenthesis_takes_the_rest", "a (, b", nil},
		{"open_parenthesis_at_end", "a, b (", []string{"a"}},
		{"open_parenthesis_and_space", "a, b (  ", []string{"a"}},
		{"open_parenthesis_and_comma", "a, b (,", []string{"a"}},
		{"parenthesis_in_url", "a(b,c) 1x, d", []string{"a(b,c)", "d"}},

		// Descriptor parser: a candidate with invalid descriptors is dropped.
		{"width_and_height", "a 5w 7h, b 7h 5w, c 5w 5w, d 5w 0h", []string{"a", "b"}},
		{"densities", "a 1.5x, b .5x, c 2e0x, d 0x, e -1x, f 1.x, g +1x, h x, i 1X", []string{"a", "b", "c", "d"}},
		{"widths", "a 1.5w, b -1w, c 007w, d w, e 1W", []string{"c"}},
		{"unknown_descriptor", "a foo, b 1x", []string{"b"}},
		{"zero_width", "a 0w, b 1x", []string{"b"}},
		{"width_and_density", "a 1w 1x, b", []string{"b"}},
		{"height_alone", "a 1h, b", []string{"b"}},
		{"two_densities", "a 1x 1.5e1x", nil},
		{"control_in_descriptor", "a 1\x01w", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := srcsetURLs(c.in)
			if !slices.Equal(got, c.want) {
				t.Errorf("srcset(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func FuzzSrcset(f *testing.F) {
	for _, s := range []string{"", "a 1x, b 2x", ",,a,,", "a (,b), c", "data:,a 1w 2h,\tb", "a\v,b"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		testkit.Linear(t, value, func(value []byte) { srcset(value, func(int, int) {}) })
		last := 0
		srcset(value, func(start, end int) {
			if start < last || start >= end || end > len(value) {
				t.Fatalf("range [%d,%d) after %d of %d bytes", start, end, last, len(value))
			}
			last = end
			url := value[start:end]
			if bytes.ContainsAny(url, " \t\n\r\f") || url[0] == ',' || url[len(url)-1] == ',' {
				t.Fatalf("%q is not the URL of a candidate", url)
			}
		})
	})
}
