package scan

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkHTML reads pages like those that rustdoc and Sphinx write. The
// third one is the first with a nested form, which the slow path reads.
func BenchmarkHTML(b *testing.B) {
	rustdoc := rustdocPage(200)
	for _, c := range []struct {
		name string
		page []byte
	}{
		{"rustdoc", rustdoc},
		{"sphinx", sphinxPage(200)},
		{"irregular", append([]byte("<form><form>"), rustdoc...)},
	} {
		b.Run(c.name, func(b *testing.B) {
			var s Scanner
			if p := s.HTML(c.page, Options{}); len(p.Links) < 200 || len(p.Anchors) < 200 {
				b.Fatalf("%d links, %d anchors", len(p.Links), len(p.Anchors))
			}
			b.SetBytes(int64(len(c.page)))
			b.ReportAllocs()
			for b.Loop() {
				s.HTML(c.page, Options{})
			}
		})
	}
}

// rustdocPage makes a page of n methods as rustdoc writes them: long lines,
// quoted attributes, an id and some links in each.
func rustdocPage(n int) []byte {
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

// sphinxPage makes a page of n functions as Sphinx writes them.
func sphinxPage(n int) []byte {
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
