package html

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/testkit"
)

// pageRows lists everything that a page has, with offsets.
func pageRows(p *scan.Page) []string {
	var out []string
	for i := range p.Links {
		l := &p.Links[i]
		out = append(out, fmt.Sprintf("%d %d %s ref %q", l.TagOff, l.Off, testkit.Row(p, l), p.Ref(l)))
	}
	anchors := slices.Clone(p.Anchors)
	slices.SortFunc(anchors, func(a, b scan.Anchor) int { return int(a.Off) - int(b.Off) })
	for _, a := range anchors {
		out = append(out, fmt.Sprintf("%d anchor %d %q", a.Off, a.Kind, a.Name))
	}
	for _, b := range p.Bases {
		out = append(out, fmt.Sprintf("%d base %q", b.Off, b.Value))
	}
	for _, f := range p.Faults {
		out = append(out, fmt.Sprintf("%d fault %d %s", f.Off, f.Kind, f.Name))
	}
	return append(out, fmt.Sprintf("scripts %v quirks %v charset %s", p.Scripts, p.Quirks, p.Charset()))
}

// comparePaths checks that the slow path finds exactly the same as the fast
// path on a regular page. It reports whether the page could be compared.
func comparePaths(t *testing.T, s *Scanner, text []byte, opt scan.Options) bool {
	t.Helper()
	p := s.Scan(text, opt)
	if p.Irregular || s.reg.irregular {
		return false
	}
	fast := pageRows(p)
	s.el.Page.Text = text
	s.noscript = s.noscript[:0]
	s.slow(0)
	s.runScripts()
	if !s.el.Page.Irregular {
		return false // nested too deep for the slow path
	}
	slow := pageRows(&s.el.Page)
	if !slices.Equal(fast, slow) {
		t.Errorf("%q\n only fast %q\n only slow %q", clip(text), diff(fast, slow), diff(slow, fast))
	}
	return true
}

func TestPaths(t *testing.T) {
	var s Scanner
	for _, page := range [][]byte{[]byte(testkit.RichPage), testkit.RustdocPage(20), testkit.SphinxPage(20)} {
		for _, tags := range []scan.Tags{scan.Modern, scan.Linklint} {
			if !comparePaths(t, &s, page, scan.Options{Charset: "utf-8", Tags: tags}) {
				t.Errorf("%q was not compared", clip(page))
			}
		}
	}
}

// FuzzPaths compares the two paths: every kind of link, offsets, names and
// faults. FuzzPage covers fewer kinds, and no offsets.
func FuzzPaths(f *testing.F) {
	for _, text := range testkit.TreeTests(f) {
		f.Add(text)
	}
	for _, c := range testkit.PageSeeds {
		f.Add([]byte(c))
	}
	f.Add([]byte(testkit.RichPage))
	f.Add(testkit.RustdocPage(2))
	f.Add(testkit.SphinxPage(2))
	var s Scanner
	f.Fuzz(func(t *testing.T, text []byte) {
		lower := bytes.ToLower(text)
		if !utf8.Valid(text) || bytes.Contains(lower, []byte("<frame")) || bytes.IndexByte(text, 0) >= 0 || escapedLess(lower) {
			return // see oracleIsWrong
		}
		if bytes.Contains(lower, []byte("<caption")) && bytes.Contains(lower, []byte("<th")) {
			return // x/net/html ignores th in a caption, unlike HTML 13.2.6.4.11
		}
		comparePaths(t, &s, text, scan.Options{Charset: "utf-8"})
		comparePaths(t, &s, text, scan.Options{Charset: "utf-8", Tags: scan.Linklint})
		if probed := probe(text); !oracleIsWrong(probed) {
			comparePaths(t, &s, probed, scan.Options{Charset: "utf-8"})
		}
	})
}

// FuzzQuick compares the quick path with the reading of every single tag. The
// whole page must be the same, even if a tag extends over two chunks of the
// index.
func FuzzQuick(f *testing.F) {
	for _, text := range quickSeeds {
		f.Add([]byte(text))
	}
	for _, text := range testkit.PageSeeds {
		f.Add([]byte(text))
	}
	f.Add(testkit.RustdocPage(2))
	f.Add(testkit.SphinxPage(2))
	// Single quotes are not in the index, so a value may continue in the next
	// chunk.
	f.Add([]byte("<a id='x\ry' href='" + strings.Repeat("x", 600) + "'>z</a>"))
	f.Add([]byte("<a id='12345678901234567890123456789012345\ry'>z</a>"))
	var quick, careful Scanner
	careful.careful = true
	f.Fuzz(func(t *testing.T, text []byte) {
		text = append(text[:len(text):len(text)], bytes.Repeat([]byte(" "), quickMargin)...)
		sameReading(t, &quick, &careful, text)
		if fill := chunkBytes - len(text)/2; fill > 0 {
			sameReading(t, &quick, &careful, append(bytes.Repeat([]byte("."), fill), text...))
		}
	})
}

// quickSeeds are tags that the quick path accepts, and tags that differ from
// those by little.
var quickSeeds = []string{
	`<a href="x" id="y" class=z title="<b>">`, `<a class="c" href="a?b&amp;c" href="second">`, `<p id = "x">`, `<p id ="x"><p id= "x">`, `<p id><p id/><p id id="x">`,
	`<a href='x"y' id='<z>'>`, `<a href="x"id="y">`, `<a href="x" / id="y"/>`, `<br/><br /><br id="x" /><a/href="x">`, "<a\n\thref=\"x\"\r\n  ID=\"y\" \f>",
	`<details open><details open="" id="x"><details open  id="x">`, `<h1 id="a"></h1><h7 id="b"></h7><H2 ID="c">`, `<a aria-hidden="true" data-x.y:z="1" href="x">`,
	`<a style="background:url(x)" href="y">`, `<div background="x"><td background="x"><table background="y">`, `<a name="x" href="y"><a name="">`, `<a ping="x y" href="z">`,
	`<select><a href="x"></select><a href="y">`, `<svg/><a href="x"><svg><a href="y"/></svg><a href="z">`, `<template><a href="x"></template><a href="y">`,
	`</a href="x"><a href="y"></p/></div ></div id="<a href=z>">`, `<a href="caf` + "\xc3\xa9" + `"><a href="` + "\xe9" + `"><a href="x` + "\r\n" + `y">`, `<a href="#&#35;&quot;">`, `<a title="unclosed href=x>`,
	`<link rel="canonical" href="x"><meta name="robots" content="noindex"><script src="x"></script><img src="x" srcset="a 1x, b 2x">`, `<a =href="x" ="y"><a href=="x">`,
}

func sameReading(t *testing.T, quick, careful *Scanner, text []byte) {
	t.Helper()
	for _, opt := range []scan.Options{{}, {Tags: scan.Linklint}} {
		got, want := *quick.Scan(text, opt), *careful.Scan(text, opt)
		if !reflect.DeepEqual(normal(got), normal(want)) {
			t.Fatalf("%q:\nquick    %+v\ncarefully %+v", bytes.TrimLeft(text, "."), got, want)
		}
	}
}

// normal replaces empty lists by nil. Whether a buffer was used before does not
// matter.
func normal(p scan.Page) scan.Page {
	if len(p.Links) == 0 {
		p.Links = nil
	}
	if len(p.Anchors) == 0 {
		p.Anchors = nil
	}
	if len(p.Faults) == 0 {
		p.Faults = nil
	}
	if len(p.Bases) == 0 {
		p.Bases = nil
	}
	if len(p.Adverts) == 0 {
		p.Adverts = nil
	}
	for i := range p.Links {
		if len(p.Links[i].Value) == 0 {
			p.Links[i].Value = nil
		}
	}
	return p
}

// TestForeignTemplates: x/net/html ignores everything after an HTML template
// inside svg or math. The links after it and in it are found nevertheless.
func TestForeignTemplates(t *testing.T) {
	for _, c := range []struct {
		page string
		want []string
	}{
		{`<svg><foreignObject><template><a href=t></template></foreignObject></svg><a href=x id=i>`, []string{"inert a href link t", "a href link x", "id i"}},
		{`<svg><title><template id=i></template></title></svg><a href=x>`, []string{"a href link x", "id i"}},
		{`<math><mtext><TEMPLATE id=i /><table><tr></template></mtext></math><a href=x>`, []string{"a href link x", "id i"}},
		{`<svg><desc><template><svg><desc><template><a href=t></template></desc></svg><a href=u></template></desc></svg><a href=x>`,
			[]string{"inert a href link t", "inert a href link u", "a href link x"}},
		{`<svg><template><a href=x id=i></a></template></svg><form><form><a href=y>`, []string{"a href link x", "a href link y", "id i"}},
		{`<svg><desc><p></desc></svg><!-- <template> <a href=n> -->`, nil},
		{`<svg><desc><template></template></desc></svg><a href=x><!-- <template> <a href=n>`, []string{"a href link x"}},
		{`<svg><desc><template><a href=t>`, []string{"inert a href link t"}},
	} {
		var s Scanner
		p := s.Scan([]byte(c.page), scan.Options{})
		if got := append(testkit.Rows(p), anchorRows(p)...); !slices.Equal(got, c.want) && len(got)+len(c.want) > 0 {
			t.Errorf("%s\n got %q\nwant %q", c.page, got, c.want)
		}
		testkit.CheckPage(t, p)
	}
}

// TestShadowRoots: links in a declarative shadow root count, its names and
// references do not. Whether a template is one depends on its parent.
func TestShadowRoots(t *testing.T) {
	for _, c := range []struct {
		page string
		want []string
	}{
		{`<p><template id=n shadowrootmode=CLOSED><a href=x id=n name=n></a><map name=n></map></template><a href=y id=i>`, []string{"a href link x", "a href link y", "id i"}},
		{`<div><template shadowrootmode=open><a href=x id=n></a><p id=n>unclosed`, []string{"a href link x"}},
		{`<div><template shadowrootmode=open><a href=x id=n></a></div><a href=y id=n>`, []string{"a href link x", "a href link y"}},
		{`<x-y><template shadowrootmode=open><a href=x></template><template shadowrootmode=open id=i><a href=n></template></x-y>`, []string{"a href link x", "inert a href link n", "id i"}},
		{`<a><template shadowrootmode=open id=i><a href=n></template></a>`, []string{"inert a href link n", "id i"}},
		{`<font-face><template shadowrootmode=open><a href=n></template></font-face>`, []string{"inert a href link n"}},
		{`<div><template shadowrootmode=other><a href=n></template></div>`, []string{"inert a href link n"}},
		{`<template><div><template shadowrootmode=open><a href=n></template></div></template>`, []string{"inert a href link n"}},
		{`<div><template shadowrootmode=open><template><a href=n></template><div><template shadowrootmode=open><a href=x></template></div></template></div>`,
			[]string{"inert a href link n", "a href link x"}},
		{`<div><template shadowrootmode=open><base href=n><img usemap=#n src=x><svg><use href=#n /><a href=#y></a></svg><p style="fill:url(#n)"></template></div>`,
			[]string{"img src resource x", "a href link #y"}},
		{`<svg><foreignObject><div><template shadowrootmode=open><a href=x id=n></a></template></div><a href=y></a></foreignObject></svg>`, []string{"a href link x", "a href link y"}},
		{`<svg><desc><template shadowrootmode=open><a href=n></template></desc></svg>`, []string{"inert a href link n"}},
	} {
		var s Scanner
		p := s.Scan([]byte(c.page), scan.Options{})
		if got := append(testkit.Rows(p), anchorRows(p)...); !slices.Equal(got, c.want) || len(p.Bases) > 0 {
			t.Errorf("%s\n got %q, bases %v\nwant %q", c.page, got, p.Bases, c.want)
		}
		testkit.CheckPage(t, p)
	}
}

// TestWithoutTree: an irregular page is read loosely, and reported, if its tree
// cannot be built.
func TestWithoutTree(t *testing.T) {
	const links = `<svg><desc><p id=i></desc><use href=#u /></svg><img src=y><svg><image href=z /></svg>`
	count := testkit.Longer(2_000, 40_000)
	templates := links + strings.Repeat("<svg><desc><template></template></desc></svg>", count)
	pages := map[string]string{
		"nested more than 512 deep":            strings.Repeat("<div>", 600) + links,
		"full of elements that are not closed": links + strings.Repeat("<body title=x>", 65),
	}
	if testkit.Longer(false, true) {
		pages["larger than 4 MiB"] = links + strings.Repeat("<p>some words</p>", maxSlowBytes/10)
		pages[errManyTemplates.Error()] = templates
	}
	// The same with a smaller limit, which is reached sooner.
	tree := treeReader{text: []byte(templates), budget: 3 * len(templates)}
	if err := tree.read(0, nil); err != errManyTemplates {
		t.Errorf("a page full of templates: %v", err)
	}
	for reason, page := range pages {
		var s Scanner
		p := s.Scan([]byte(page), scan.Options{})
		if got, want := append(testkit.Rows(p), anchorRows(p)...), []string{"img src resource y", "image href link z", "id i"}; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", reason, got, want)
		}
		if len(p.Faults) != 1 || p.Faults[0].Kind != scan.FaultTree || p.Faults[0].Name != reason {
			t.Errorf("faults %v, want one: %s", p.Faults, reason)
		}
	}
}
