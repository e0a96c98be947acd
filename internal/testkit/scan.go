package testkit

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/scan"
)

// Row writes one link as "element attribute kind value", with the kind in lower
// case, and with "inert " before it if it is inert.
func Row(p *scan.Page, l *scan.Link) string {
	kind := [...]string{scan.KindLink: "link", scan.KindResource: "resource", scan.KindAction: "action", scan.KindHint: "hint", scan.KindPing: "ping",
		scan.KindMap: "map", scan.KindRefresh: "refresh", scan.KindMetadata: "metadata", scan.KindReference: "reference", scan.KindPicture: "picture", scan.KindFont: "font",
		scan.KindCanonical: "canonical", scan.KindManifest: "manifest", scan.KindEntry: "entry", scan.KindUndefined: "undefined"}[l.Kind]
	attr := p.Attribute(l)
	if attr == "" && l.Attr == scan.AttrText {
		attr = "(text)"
	}
	out := fmt.Sprintf("%s %s %s %s", p.Element(l), attr, kind, l.Value)
	if l.Inert {
		out = "inert " + out
	}
	return out
}

func Rows(p *scan.Page) []string {
	out := []string{}
	for i := range p.Links {
		out = append(out, Row(p, &p.Links[i]))
	}
	return out
}

// RefRows writes links as Row does, and adds the reference and the source text
// if they differ from the value.
func RefRows(p *scan.Page) []string {
	var out []string
	for i := range p.Links {
		l := &p.Links[i]
		r := Row(p, l)
		if ref := p.Ref(l); string(ref) != string(l.Value) {
			r += " -> " + string(ref)
		}
		if at := string(p.Text[l.Off:min(int(l.Off)+len(l.Value), len(p.Text))]); at != string(l.Value) {
			r += " at " + at
		}
		out = append(out, r)
	}
	return out
}

func FaultNames(p *scan.Page) string {
	var names []string
	for _, f := range p.Faults {
		names = append(names, f.Name)
	}
	return strings.Join(names, "; ")
}

// CheckPage fails if an offset is outside the text, links are not sorted, or a
// name is empty.
func CheckPage(t *testing.T, p *scan.Page) {
	t.Helper()
	last := uint32(0)
	for i := range p.Links {
		l := &p.Links[i]
		if l.Off < last || int(l.Off) > len(p.Text) || l.TagOff > l.Off {
			t.Fatalf("link %d at %d after %d of %d bytes, tag at %d", i, l.Off, last, len(p.Text), l.TagOff)
		}
		if !utf8.Valid(l.Value) {
			t.Fatalf("value %q is not UTF-8", l.Value)
		}
		last = l.Off
		if p.Element(l) == "" {
			t.Fatal("link without element")
		}
	}
	for _, a := range p.Anchors {
		if len(a.Name) == 0 || !utf8.Valid(a.Name) {
			t.Fatalf("anchor %q", a.Name)
		}
	}
	if src := p.Source(uint32(len(p.Text))); src < 0 {
		t.Fatalf("end of text is at %d in the file", src)
	}
}

var PageSeeds = []string{
	`<a href="a&amp;b" href=c id=x>`, `<!--><a href=x>--><a href=y>`, `<!-- --!><a href=x>`, `<script><!--<script></script>--></script><a href=x>`,
	`<svg><title>x</title><a href=x/><style>a{}</style></svg><p>`, `<table><tr><td><table><tr><td id=x></table></table><td id=y>`,
	`<form id=a><form id=b></form><form id=c>`, `<select><option id=a><div id=b></select>`, `<math><mi>x</mi><mtext><b id=q></b></mtext></math>`,
	`<head id=a></head><head id=b><body id=c><body id=d>`, `<template id=a><td id=b></template><td id=c>`, `<a href=x<b id=c>`,
	`<table><link rel="pingback x" href=y><td><template><link rel=webmention></template>`, `<link rel=WEBMENTION rel=x><svg><link rel=pingback>`,
	`<div><template shadowrootmode=open><a href=x id=y></a></template><template shadowrootmode=open><a href=x></template></div>`, `<x-y><template shadowrootmode=closed><svg><use href=#a>`,
	`<textarea><a href=x></textarea><a href=y>`, `<title></titl></title ><a href=x>`, `<svg><![CDATA[<a href=x>]]><a href=y></a></svg>`,
}

// TreeTests returns the inputs of html5lib's tree construction tests, which
// golang.org/x/net contains.
func TreeTests(t testing.TB) [][]byte {
	var out [][]byte
	dir := os.DirFS(ModuleDir(t, "golang.org/x/net"))
	names, err := fs.Glob(dir, "html/testdata/html5lib-tests/tree-construction/*.dat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, err := fs.ReadFile(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range bytes.Split(b, []byte("#data\n"))[1:] {
			data, _, _ := bytes.Cut(c, []byte("\n#errors"))
			if !bytes.Contains(c, []byte("\n#document-fragment")) && !bytes.Contains(c, []byte("\n#script-on")) {
				out = append(out, data)
			}
		}
	}
	if len(out) < 1000 {
		t.Fatalf("only %d tree construction tests found", len(out))
	}
	return out
}

// ModuleDir returns the directory of a module that go.mod requires.
func ModuleDir(t testing.TB, module string) string {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatalf("go list -m %s: %v", module, err)
	}
	return strings.TrimSpace(string(out))
}

// RustdocPage makes a page of n methods in the style of rustdoc: long lines,
// quoted attributes, an id and some links in each.
func RustdocPage(n int) []byte {
	rnd := rand.New(rand.NewPCG(1, 1))
	var w bytes.Buffer
	w.WriteString(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1.0">` +
		`<meta name="generator" content="rustdoc"><title>Thing in krate - Rust</title><link rel="stylesheet" type="text/css" href="../static/normalize.css">` +
		`<link rel="stylesheet" type="text/css" href="../static/rustdoc.css" id="mainThemeStyle"><script id="default-settings" ></script>` +
		`<script defer src="../main.js"></script><noscript><link rel="stylesheet" href="../static/noscript.css"></noscript></head><body class="rustdoc struct">` +
		`<nav class="sidebar"><a class="sidebar-logo" href="../krate/index.html"><img src="../static/logo.svg" alt="logo"></a><ul class="block method">`)
	for i := range n {
		fmt.Fprintf(&w, `<li><a href="#method.call_%d">call_%d</a></li>`, i, i)
	}
	w.WriteString(`</ul></nav><main><section id="main-content" class="content">`)
	for i := range n {
		fmt.Fprintf(&w, `<details class="rustdoc-toggle method-toggle" open><summary><section id="method.call_%d" class="method has-srclink">`+
			`<span class="rightside"><a class="srclink" href="../src/krate/lib.rs.html#%d-%d">source</a></span><a href="#method.call_%d" class="anchor"></a>`+
			`<h4 class="code-header">pub fn <a href="#method.call_%d" class="fnname">call_%d</a>&lt;T&gt;(self, value: T) -&gt; `+
			`<a class="enum" href="../core/option/enum.Option.html" title="enum core::option::Option">Option</a>&lt;T&gt;</h4></section></summary>`+
			`<div class="docblock"><p>`, i, i*7, i*7+5, i, i, i)
		for range 20 + rnd.IntN(40) {
			w.WriteString([]string{"value ", "of the ", "thing, ", "<code>None</code> ", "returns ", "whether "}[rnd.IntN(6)])
		}
		w.WriteString("</p>\n<div class=\"example-wrap\"><pre class=\"rust rust-example-rendered\"><code><span class=\"kw\">let</span> <span class=\"ident\">x</span> " +
			"<span class=\"op\">=</span> <span class=\"number\">1</span>;\n</code></pre></div></div></details>")
	}
	w.WriteString("</section></main></body></html>")
	return w.Bytes()
}

// SphinxPage makes a page of n functions in the style of Sphinx.
func SphinxPage(n int) []byte {
	rnd := rand.New(rand.NewPCG(2, 2))
	var w bytes.Buffer
	w.WriteString("<!DOCTYPE html>\n\n<html lang=\"en\">\n  <head>\n    <meta charset=\"utf-8\" />\n    <title>module &#8212; Documentation</title>\n" +
		"    <link rel=\"stylesheet\" type=\"text/css\" href=\"../_static/pygments.css\" />\n    <script src=\"../_static/jquery.js\"></script>\n" +
		"    <link rel=\"canonical\" href=\"https://docs.example.org/3/library/module.html\" />\n    <style>\n      @media only screen { table.full-width-table { width: 100%; } }\n" +
		"    </style>\n  </head><body>\n<section id=\"module\">\n<h1>Module<a class=\"headerlink\" href=\"#module\" title=\"Permalink to this headline\">¶</a></h1>\n")
	for i := range n {
		fmt.Fprintf(&w, "<dl class=\"py function\">\n<dt class=\"sig sig-object py\" id=\"module.f%d\">\n<span class=\"sig-prename descclassname\"><span class=\"pre\">module.</span></span>"+
			"<span class=\"sig-name descname\"><span class=\"pre\">f%d</span></span><span class=\"sig-paren\">(</span><em class=\"sig-param\"><span class=\"n\">"+
			"<span class=\"pre\">x</span></span></em><span class=\"sig-paren\">)</span><a class=\"headerlink\" href=\"#module.f%d\" title=\"Permalink to this definition\">¶</a></dt>\n<dd><p>", i, i, i)
		for range 30 + rnd.IntN(60) {
			w.WriteString([]string{"value ", "of the\n", "thing, ", "<code class=\"docutils literal notranslate\"><span class=\"pre\">None</span></code> ", "returns ",
				"<a class=\"reference internal\" href=\"functions.html#print\" title=\"print\"><code class=\"xref py py-func docutils literal notranslate\"><span class=\"pre\">print()</span></code></a> "}[rnd.IntN(6)])
		}
		w.WriteString("</p>\n</dd></dl>\n\n")
	}
	w.WriteString("</section>\n</body>\n</html>\n")
	return w.Bytes()
}

// RichPage has one of everything that the fast path reads.
const RichPage = "<!DOCTYPE html>\n<!-- <a href=no> --!>\n<html manifest=m lang=en><head profile=\"p q\"><meta charset=utf-8>\n" +
	"<base href='/b/'><title>a <b></title><link rel=icon href=i.png imagesrcset=\"j.png 1x, k&amp;.png 2x\">\n" +
	"<style>@import \"s.css\"; a{b:url( t\\2e png )}</style><meta http-equiv=refresh content='3; url=\"r.html\"'>\n" +
	"<script src=x.js>\"<!--<script></script>-->\"</script><script type=application/ld+json>{\"url\":\"https:\\/\\/e.example/é\"}</script>\n" +
	"</head><body background=b.gif><noscript><img src=n.png></noscript><p id=é style=\"x:url(é.png)\">ä<a name=n href=\"a&copy;&#38;\r\nb\">\n" +
	"<svg><style>a{b:url(#g)}</style><![CDATA[<a href=no>]]><use xlink:href=#u fill='url(#f)'/></svg><math><mi id=mi>x</mi></math>\n" +
	"<table><tr><td background=t>x</table><template><a href=in></a></template><img srcset=\"1.png 1x, 2.png,3.png\" usemap=#m>\n" +
	"<map name=m><area href=ar ping='p1 p2'></map><applet codebase=c archive=a,b></applet><object archive='o p' data=d></object>\n" +
	"<textarea><a href=no></textarea><![CDATA[<p>]]><?pi><a/href=end id=end>\n"

func UTF16(text, mark string, big bool) []byte {
	out := []byte(mark)
	for _, u := range utf16.Encode([]rune(text)) {
		if big {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return out
}

// A FileCase is a file, and the links and the fault that a scanner must find
// in it.
type FileCase struct {
	Name, In string
	Read     func(text []byte) *scan.Page
	Want     []string // as RefRows writes links
	Fault    string   // the start of the fault's name, or ""
}

// RunFile runs the case.
func RunFile(t *testing.T, c FileCase) {
	t.Helper()
	t.Run(c.Name, func(t *testing.T) {
		p := c.Read([]byte(c.In))
		CheckPage(t, p)
		if got := RefRows(p); !slices.Equal(got, c.Want) {
			t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(c.Want, "\n\t"))
		}
		if got := FaultNames(p); !strings.HasPrefix(got, c.Fault) || (got == "") != (c.Fault == "") {
			t.Errorf("fault %q, want %q", got, c.Fault)
		}
	})
}

// CheckLinear fails if read takes much more than eight times as long for eight
// times the text. page returns a text of about size bytes, small is the smaller
// size.
func CheckLinear(t *testing.T, small int, page func(size int) []byte, read func(text []byte)) {
	t.Helper()
	const limit = 40 // quadratic time gives 64; linear time has given 26 on a busy machine
	// Below two milliseconds the ratio means nothing.
	const shortest = 2 * time.Millisecond
	once := func(text []byte) time.Duration { return CPUTime(func() { read(text) }) }
	// Repeat the expensive reading of the long text only if the first one is too
	// slow: the fastest of several can only be faster.
	long := page(8 * small)
	after := once(long)
	if after < limit*shortest {
		t.Logf("%d KB in %v", len(long)>>10, after)
		return
	}
	short := page(small)
	var before time.Duration
	for range 5 {
		before = max(shortest, min(once(short), once(short), once(short)))
		if after < limit*before {
			t.Logf("%d KB in %v, %d KB in %v", len(short)>>10, before, len(long)>>10, after)
			return
		}
		after = min(once(long), once(long), once(long))
	}
	t.Errorf("eight times the text takes %.1f times as long", float64(after)/float64(before))
}

// A Repetition is a text that repeats one unit, as an attacker might write it.
type Repetition struct {
	Name           string
	Read           func(text []byte) *scan.Page
	Before, Repeat string
}

// CheckRepetition calls CheckLinear for the text.
func CheckRepetition(t *testing.T, c Repetition) {
	t.Helper()
	if testing.Short() {
		t.Skip("measures time")
	}
	t.Run(c.Name, func(t *testing.T) {
		CheckLinear(t, 1<<16, func(size int) []byte {
			return []byte(c.Before + strings.Repeat(c.Repeat, size/len(c.Repeat)))
		}, func(text []byte) { c.Read(text) })
	})
}
