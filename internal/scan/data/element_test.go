package data

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestXMLLinks checks which attributes are links, by namespace and exact name,
// what their values are, and that each offset is that of the value in the file.
func TestXMLLinks(t *testing.T) {
	const (
		head = `<html xmlns="http://www.w3.org/1999/xhtml" xmlns:l="http://www.w3.org/1999/xlink">`
		tail = `</html>`
		svg  = `<svg xmlns="http://www.w3.org/2000/svg">`
	)
	for _, c := range []struct {
		name, in string
		want     []string // element, attribute, value, and source text at the offset
	}{
		{"case", head + `<a href="x"/><A href="n"/><a HREF="n"/><image src="n"/>` + tail, []string{"a href x x"}},
		{"namespace", head + `<a xmlns="urn:x" href="n" style="background:url(n)"/><h:a xmlns:h="http://www.w3.org/1999/xhtml" href="x"/><a l:href="n"/>` + tail,
			[]string{"a href x x"}},
		{"svg", head + svg + `<a l:href="x1"/><image href="x2"/><use href="#x3"/><rect fill="url(#x4)"/></svg><img src="x5"/>` + tail,
			[]string{"a xlink:href x1 x1", "image href x2 x2", "use href #x3 #x3", "rect fill #x4 #x4", "img src x5 x5"}},
		{"svg_prefix", `<s:svg xmlns:s="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><s:a xlink:href="x"/></s:svg>`,
			[]string{"a xlink:href x x"}},
		{"xlink_by_name_only", svg + `<a xmlns:xlink="urn:other" xlink:href="n"/></svg>`, nil},
		{"svg_without_link", svg + `<rect href="n&amp;"/><base href="n"/><g xmlns:l="http://www.w3.org/1999/xlink" l:href="n"/><use xmlns:l="http://www.w3.org/1999/xlink" l:href="n" href="#x"/></svg>`,
			[]string{"use href #x #x"}},
		{"style_type", head + `<style type="text/less">a{b:url(n)}</style><style type="text/css">a{b:url(x)}</style>` + tail, []string{"style  x x"}},
		{"raw_text_is_markup", head + `<textarea><a href="x"/></textarea><![CDATA[<a href="n"/>]]><!-- <a href="n"/> -->` + tail, []string{"a href x x"}},
		{"references", head + `<a href="a&amp;b&#x63;&#10;"/><a href="` + "d\n\te" + `"/><a href="&amp;amp;&amp;copy="/>` + tail,
			[]string{"a href a&bc\n a&amp", "a href d  e d\n\te", "a href &amp;&copy= &amp;amp;&a"}},
		{"several_values", head + `<img alt="&lt;" srcset="a&amp;1 1x, b 2x" src="c&amp;d" longdesc=""/>` + tail,
			[]string{"img srcset a&1 a&a", "img srcset b b", "img src c&d c&a", "img longdesc  "}},
		{"style_attribute", head + `<p style="a:url(x?&#38;y); b:url(&quot;z&quot;)"/>` + tail,
			[]string{"p style x?&y x?&#", "p style z z"}},
		{"ping", head + `<a ping="x1` + "\r\n" + `x2"/>` + tail, []string{"a ping x1 x1", "a ping x2 x2"}},
		{"entity", `<!DOCTYPE a [<!ENTITY dir "d1 d2">]><a xmlns="http://www.w3.org/1999/xhtml" ping="x &dir; y"/>`,
			[]string{"a ping x x", "a ping d1 &d", "a ping d2 &d", "a ping y y"}},
		{"refresh", head + `<meta http-equiv="refresh" content="0;url=x?&amp;"/><meta property="og:image" content="y&amp;z"/>` + tail,
			[]string{"meta content x?& x?&", "meta content y&z y&a"}},
		{"style_text", head + `<style>@import "x1"; a{b:url(x2)}</style>` + tail, []string{"style  x1 x1", "style  x2 x2"}},
		{"style_cdata", head + `<style>/**/<![CDATA[a>b{c:url(x1)}]]>d{e:url(x2?&amp;)}</style>` + tail,
			[]string{"style  x1 x1", "style  x2?& x2?&"}},
		{"style_in_svg", svg + `<style><![CDATA[@import url(x);]]></style></svg>`, []string{"style  x x"}},
		{"style_elsewhere", `<style>@import "n";</style>`, nil},
		{"style_with_child", head + `<style>@import "x1";<a href="x2">@import "n";</a>a{b:url(x3)}</style>` + tail,
			[]string{"style  x1 x1", "a href x2 x2", "style  x3 x3"}},
		{"style_in_style", head + `<style>a{b:url(x1)}<style>a{b:url(x2)}</style>a{b:url(x3)}</style>` + tail,
			[]string{"style  x1 x1", "style  x2 x2", "style  x3 x3"}},
		{"json", head + `<script type="application/ld+json">{"@context":"https://schema.org","url":"/x?a&amp;b"}</script>` + tail,
			[]string{"script  /x?a&b /x?a&a"}},
		{"json_plain", head + `<script type="application/ld+json">{"url":"/x"}</script>` + tail, []string{"script  /x /x"}},
		{"stylesheet_instruction", `<?xml-stylesheet type="text/css" href="a&amp;b&#65;.css"?><?xml-stylesheet href='y' ?><?xml-stylesheet href=n?><?xml-stylesheet type="a"href="n"?><?xml-stylesheet href="&n;"?>` + head + `<?xml-stylesheet href="late"?>` + tail,
			[]string{"?xml-stylesheet href a&bA.css a&amp;b&", "?xml-stylesheet href y y"}},
		{"applet", head + `<applet codebase="d&amp;" code="c"/>` + tail, []string{"applet code c c"}},
		{"after_error", head + `<a href="x1"/><p><a href="x2"></p><a href="n"/>` + tail, []string{"a href x1 x1", "a href x2 x2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s XMLScanner
			p := s.XHTML([]byte(c.in), scan.Options{})
			testkit.CheckPage(t, p)
			var got []string
			for i := range p.Links {
				l := &p.Links[i]
				if l.Inert {
					t.Errorf("%s is inert", l.Value)
				}
				name := p.Element(l)
				name = name[strings.IndexByte(name, ':')+1:]
				at := string(p.Text[l.Off:min(int(l.Off)+len(l.Value), len(p.Text))])
				if strings.HasPrefix(at, "&dir") {
					at = at[:2]
				}
				got = append(got, fmt.Sprintf("%s %s %s %s", name, l.Attr, l.Value, at))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			if c.name == "applet" && string(p.Ref(&p.Links[0])) != "d&/c.class" {
				t.Errorf("applet refers to %q", p.Ref(&p.Links[0]))
			}
		})
	}
}

// TestXMLPage checks the other fields of a page.
func TestXMLPage(t *testing.T) {
	const (
		head = `<html xmlns="http://www.w3.org/1999/xhtml">`
		svg  = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink">`
	)
	for _, c := range []struct {
		name, in string
		script   bool
	}{
		{"source", head + `<script src="x"/></html>`, true},
		{"text", head + `<script>x</script></html>`, true},
		{"cdata", head + `<script type="text/javascript"><![CDATA[a<b]]></script></html>`, true},
		{"decoded_type", head + `<script type="&#109;odule">x</script></html>`, true},
		{"data", head + `<script type="x">x</script></html>`, false},
		{"empty", head + `<script/><script></script><script href="x"/></html>`, false},
		{"child_text_only", head + `<script><b>x</b></script></html>`, false},
		{"template", head + `<template><script>x</script></template></html>`, false},
		{"other_namespace", `<script>x</script>`, false},
		{"svg_text", svg + `<script>x</script></svg>`, true},
		{"svg_source", svg + `<script x:href="x"/></svg>`, true},
		{"never_closed", head + `<script>x`, false},
	} {
		t.Run("script/"+c.name, func(t *testing.T) {
			var s XMLScanner
			if p := s.XHTML([]byte(c.in), scan.Options{}); (len(p.Scripts) > 0) != c.script || p.Quirks {
				t.Errorf("scripts %v, quirks %v", p.Scripts, p.Quirks)
			}
		})
	}
	var s XMLScanner
	p := s.XHTML([]byte(head+`<base href="/a&amp;/"/><base href="b"/><template><base href="n"/><a href="x"/></template></html>`), scan.Options{})
	if len(p.Bases) != 2 || string(p.Bases[0].Value) != "/a&/" || string(p.Text[p.Bases[0].Off:][:4]) != "/a&a" || string(p.Bases[1].Value) != "b" {
		t.Errorf("bases %+v", p.Bases)
	}
	if len(p.Links) != 1 || !p.Links[0].Inert {
		t.Errorf("links %+v, want one inert", p.Links)
	}
	p = s.XHTML([]byte(head+`<a href="x" name="y"/><link href="n"/><style>@import "n";</style></html>`), scan.Options{Tags: scan.Linklint})
	if len(p.Links) != 1 || len(p.Anchors) != 1 {
		t.Errorf("linklint's table: %+v", p)
	}
}

// TestSVGElement: element names are reported without their prefix.
func TestSVGElement(t *testing.T) {
	var s XMLScanner
	p := s.XHTML([]byte(`<h:html xmlns:h="http://www.w3.org/1999/xhtml" xmlns:s="http://www.w3.org/2000/svg"><s:svg><s:use href="#a"/><s:image href="b"/></s:svg><h:p style="a:url(c)"/></h:html>`), scan.Options{})
	want := []string{"use href link #a", "image href link b", "p style link c"}
	if got := testkit.Rows(p); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAdverts(t *testing.T) {
	var s XMLScanner
	if p := s.XHTML([]byte(`<html xmlns="http://www.w3.org/1999/xhtml"><head><link rel="pingback" href="x&amp;y"/></head></html>`), scan.Options{}); len(p.Adverts) != 1 || p.Adverts[0].TagOff != 49 {
		t.Errorf("XHTML: %v", p.Adverts)
	}
}

// TestHostile_truncated cuts HTML pages at any byte and reads them as SVG. Only
// the bounds are certain.
func TestHostile_truncated(t *testing.T) {
	var s XMLScanner
	for _, page := range [][]byte{
		[]byte("<form><form>" + testkit.RichPage), testkit.UTF16(testkit.RichPage, "\xFF\xFE", false), testkit.UTF16(testkit.RichPage, "\xFE\xFF", true),
		[]byte("<svg><p>" + testkit.RichPage),
	} {
		for n := range len(page) {
			testkit.CheckPage(t, s.SVG(page[:n]))
		}
	}
}

// TestUnusedRules: a reference in a rule for a class that no element of an SVG
// file has is not looked for, as in browsers.
func TestUnusedRules(t *testing.T) {
	const begin, end = `<svg xmlns="http://www.w3.org/2000/svg"><style>`, `</style><g class="a b"/></svg>`
	for _, c := range []struct{ style, want string }{
		{".c{fill:url(#x);}", ""},
		{".d{opacity:1}\n\t.c , .d\n{fill:url(#x);filter:url(#y)}", ""},
		{"/* used: */ .c{fill:url(#x)}", ""},
		{".a{fill:url(#x);}", "#x"},
		{".c,.b{fill:url(#x);}", "#x"},
		{".c .a{fill:url(#x);}", "#x"},
		{"g.c{fill:url(#x);}", "#x"},
		{"@media print{.c{fill:url(#x)}}", ""},
		{".c{background:url(x.png)}", "x.png"},
		{"*{fill:url(#x);}.c{fill:url(#y)}", "#x"},
	} {
		for _, script := range []string{"", "<script>f()</script>"} {
			var s XMLScanner
			p := s.SVG([]byte(begin + c.style + strings.Replace(end, "<g", script+"<g", 1)))
			var got []string
			for i := range p.Links {
				got = append(got, string(p.Links[i].Value))
			}
			if n := strings.Count(c.style, "url("); script != "" && len(got) != n || script == "" && strings.Join(got, " ") != c.want {
				t.Errorf("%s%s: %q, want %q", script, c.style, got, c.want)
			}
		}
	}
}
