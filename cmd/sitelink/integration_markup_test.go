//go:build integration && linux

package main_test

import (
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// foreignTemplates are pages with HTML templates inside svg and math.
var foreignTemplates = map[string]string{
	"foreignobject": `<svg><foreignObject><template><a href=t1 id=t1>t</a></template><a href=a1>x</a></foreignObject></svg><a href=a2 id=i2>x</a>`,
	"svg-title":     `<svg><title><template><b><table><tr></template></title></svg><a href=a1 id=i1>x</a>`,
	"mtext":         `<math><mtext><template><p></template></mtext></math><a href=a1 id=i1>x</a>`,
	"nested":        `<svg><desc><template><svg><desc><template><a href=t1></template></desc></svg><a href=t2></template></desc></svg><a href=a1>x</a>`,
	"several":       `<p>` + strings.Repeat(`<svg><title><template>x</template></title></svg><a href=a1>x</a>`, 40) + `<a href=a2 id=last>x</a>`,
	"not-html":      `<svg><template><a href=a1 id=i1></a></template></svg><form><form><a href=a2>x</a>`,
	"in-comment":    `<svg><desc><p></desc></svg><a href=a1>x</a><!-- <template> <a href=n> -->`,
	"in-template":   `<template><svg><desc><template><a href=t1></template></desc></svg><a href=t2></a></template><a href=a1>x</a><form><form>`,
	"deep":          `<form><form>` + strings.Repeat("<div>", 600) + `<svg><desc><p></desc></svg><a href=a1 id=i1>x</a>`,
	"large":         `<svg><desc><p>x</p></desc></svg><a href=a1 id=i1>x</a>` + strings.Repeat(" ", 5<<20) + `<a href=a2>x</a>`,
}

// TestChromiumForeignTemplates: of pages with templates inside svg and math,
// and of irregular pages without a tree, sitelink has the links and ids that
// Chromium has.
func TestChromiumForeignTemplates(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for name, content := range foreignTemplates {
		files[name+".html"] = "<!doctype html><meta charset=utf-8><title>x</title><body>" + content
	}
	docroot := writeFixtures(t, files)
	got := map[string][]string{}
	eachLink(t, docroot, nil, func(r *row) {
		page := strings.TrimSuffix(r.Page, ".html")
		if r.Element == "a" && r.Code != "inert" {
			got[page] = append(got[page], r.Raw)
		}
	})
	b := startChromium(t)
	origin := serveFixtures(t, docroot)
	for name := range foreignTemplates {
		b.Load(origin + "/" + name + ".html")
		var want []string
		b.Eval(`[...document.querySelectorAll("a")].map(a => a.getAttribute("href"))`, &want)
		if len(want) == 0 || !slices.Equal(got[name], want) {
			t.Errorf("%s: sitelink finds the links %q, Chromium %q", name, got[name], want)
		}
	}
}

// serveAndLog serves docroot until the test ends. It returns its origin, and a
// function that returns and forgets the paths requested so far, sorted.
func serveAndLog(t *testing.T, docroot string) (origin string, requested func() []string) {
	t.Helper()
	var mu sync.Mutex
	var paths []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		paths = append(paths, r.URL.Path)
		mu.Unlock()
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", contentTypes[path.Ext(r.URL.Path)])
		http.ServeFile(w, r, filepath.Join(docroot, filepath.FromSlash(path.Clean("/"+r.URL.Path))))
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		got := paths
		paths = nil
		slices.Sort(got)
		return slices.Compact(got)
	}
}

// TestChromiumLateBase: a base element applies to all links of a page, but
// Chromium has already requested what the head loads above it.
func TestChromiumLateBase(t *testing.T) {
	t.Parallel()
	docroot := writeFixtures(t, map[string]string{"p.html": `<!doctype html><title>x</title><link rel=stylesheet href=a.css>` +
		`<script src=a.js></script><link id=l rel=next href=n><style>body{background:url(c)}</style><iframe src=d></iframe><iframe srcdoc="<img src=e>"></iframe>` +
		`<link rel=preload as=image href=f><svg><use href="g#x" /></svg><base href=/y/><link rel=stylesheet href=b.css><script src=b.js></script><a href=x>x</a>`})
	b := testkit.StartBrowser(t, true)
	origin, requested := serveAndLog(t, docroot)
	b.Load(origin + "/p.html")
	got := slices.DeleteFunc(requested(), func(p string) bool { return p == "/favicon.ico" })
	if want := []string{"/a.css", "/a.js", "/c", "/d", "/e", "/f", "/g", "/p.html", "/y/b.css", "/y/b.js"}; !slices.Equal(got, want) {
		t.Errorf("Chromium requests %q, want %q", got, want)
	}
	var links []string
	b.Eval(`[document.querySelector("#l").href, document.querySelector("a").href]`, &links)
	if want := []string{origin + "/y/n", origin + "/y/x"}; !slices.Equal(links, want) {
		t.Errorf("links lead to %q, want %q", links, want)
	}
}

// TestChromiumMaps: usemap finds a map by its name or id, as in Chromium.
func TestChromiumMaps(t *testing.T) {
	t.Parallel()
	const pixel = `<img width=100 height=100 src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=" usemap="#m">`
	files := map[string]string{}
	for name, tag := range map[string]string{"id": `<map id=m>`, "name": `<map name=m>`, "both": `<map id=m name=n>`, "none": `<map id=n>`, "not-a-map": `<p id=m><map>`} {
		files[name+".html"] = "<!doctype html><title>x</title><body style='margin:0'>" + pixel + tag + `<area shape=rect coords="0,0,100,100" href=id.html></map>`
	}
	docroot := writeFixtures(t, files)
	got := map[string]bool{}
	eachLink(t, docroot, nil, func(r *row) {
		if r.Attribute == "usemap" {
			got[r.Page] = r.Verdict == "ok"
		}
	})
	b := startChromium(t)
	origin := serveFixtures(t, docroot)
	for name := range files {
		b.Load(origin + "/" + name)
		var element string
		b.Eval(`document.elementFromPoint(50, 50).localName`, &element)
		if want := element == "area"; got[name] != want {
			t.Errorf("%s: sitelink finds the map: %v, Chromium: %v", name, got[name], want)
		}
	}
}

// TestChromiumSVGView: Chromium applies the view that a fragment of an SVG file
// describes.
func TestChromiumSVGView(t *testing.T) {
	t.Parallel()
	docroot := writeFixtures(t, map[string]string{
		"s.svg":  `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100" viewBox="0 0 100 100"><rect width="9" height="9"/></svg>`,
		"p.html": `<!doctype html><title>x</title><a href="s.svg#svgView(viewBox(0,0,10,10))">x</a><a href="p.html#svgView(viewBox(0,0,10,10))">x</a>`,
	})
	got := map[string]string{}
	eachLink(t, docroot, nil, func(r *row) { got[r.Target] = strings.TrimSpace(r.Verdict + " " + r.Code) })
	if got["/s.svg"] != "ok" || got["/p.html"] != "error missing-fragment" {
		t.Errorf("verdicts %v", got)
	}
	b := startChromium(t)
	origin := serveFixtures(t, docroot)
	for fragment, want := range map[string]float64{"": 1, "#svgView(viewBox(0,0,10,10))": 10} {
		b.Load(origin + "/s.svg" + fragment)
		var scale float64
		b.Eval(`document.documentElement.getScreenCTM().a`, &scale)
		if scale != want {
			t.Errorf("s.svg%s: scale %v, want %v", fragment, scale, want)
		}
	}
}

// deadMarkup has links that Chromium requests, named y..., and others that it
// does not, named n....
var deadMarkup = map[string]string{
	"style-type":  `<style type="text/less">body{background:url(n1)}</style><style type="TEXT/CSS">body{background:url(y1)}</style><svg><style type="text/less">body{background:url(n2)!important}</style></svg>`,
	"script-type": `<script type="text/template" src=n1></script><script type=application/json src=n2></script><script src=y1></script><script type=" text/javascript " src=y2></script><svg><script type=text/template href=y4></script><script href=y3></script></svg>`,
	"import":      `<style><!-- @charset "utf-8"; @layer a; @import "y1"; @unknown x; @import url(y2) screen; p{color:red} @import "n1"; @media all { @import "n2"; body{background:url(y3)} }</style><style>@font-face{font-family:x} @import "n3";</style><style>@namespace "x"; @import "n4";</style><style>@layer a{} @import "n5";</style>`,
	"invalid":     `<style>@unknown x; {} 1bad{} p,{} > p{} @import "y1"; @layer a; @import "n1";</style><style>@layer a; @layer b{} @import "n2";</style><style>@media; @layer; .1{} @import "y2"; @page{} @import "n3";</style>`,
	"shadow":      `<div><template shadowrootmode=open><img src=y1><base href=/n/></template></div><p><template shadowrootmode=closed><img src=y2><template><img src=n1></template></template></p><div><template shadowrootmode=other><img src=n2></template></div><section><template shadowrootmode=open><img src=y3></section><img src=y4>`,
	"svg-cursor":  `<svg><rect cursor="url(y1),auto" width=9 height=9 /></svg>`,
	"svg-base":    `<img src=y1><svg><base href="/n1/"></base></svg>`,
	"svg-href":    `<svg><rect href=n1 /><g xlink:href=n2><desc href=n3></desc></g><image href=y1 width=9 height=9 /><image xlink:href=y2 width=9 height=9 /></svg>`,
	"svg-both":    `<svg><image xlink:href=n1 href=y1 width=9 height=9 /></svg>`,
	"input":       `<input type=text src=n1><input src=n2><input type="image " src=n3><input type=image src=y1>`,
	"object":      `<object codebase="n1/" data=y1></object>`,
	"srcset": `<img srcset="n1 1q"><img srcset="n2 0w"><img srcset="n3 1w 1x"><img srcset="n4 1h"><img srcset="n5 1.x"><img srcset="n6 +1x"><img srcset="n7 -1x"><img srcset="n8 x"><img srcset="n9 1X">` +
		`<img srcset="nA 1x 2x"><img srcset="nB 1.5w"><img srcset="nC nD 2x"><img srcset="nE (1x)"><img srcset="y1"><img srcset="y2 1.5x"><img srcset="y3 .5x"><img srcset="y4 2e0x"><img srcset="y5 9w 7h"><img srcset="y6 007w"><img srcset="n1 1q, y7 1x">`,
	"srcdoc":        `<iframe src=n1 srcdoc="<img src=y1><img src=/srcdoc/y2><style>body{background:url(y4)}</style><iframe srcdoc='<img src=y3>'></iframe>"></iframe><iframe src=n3 srcdoc></iframe><template><iframe srcdoc="<img src=n4>"></iframe></template>`,
	"importmap":     `<script type=importmap>{"imports":{"a":"./y1","b":"n1","c/":"./","d":"/importmap/y2"},"integrity":{"./n2":""}}</script><script type=module>import "a"; import "c/y3"; import "d"</script><script type=module>import "b"</script><script type=module src=y3></script>`,
	"importmap-bad": `<script type=importmap>{"imports":{"a":"./n1",}}</script><script type=module>import "a"</script><img src=y1>`,
	"speculation":   `<script type=speculationrules>{"prefetch":[{"source":"list","urls":["y1","/speculation/y2"],"eagerness":"immediate"},{"source":"document","where":{"href_matches":"/n*"}}],"prerender":[{"urls":["y3"]}]}</script>`,
	"white-space":   `<img src="  "><img src=y1><script src=" "></script>`,
}

// TestChromiumDeadMarkup: the links that sitelink finds in the markup above are
// those that Chromium requests.
func TestChromiumDeadMarkup(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for name, content := range deadMarkup {
		files[name+"/index.html"] = "<!doctype html><meta charset=utf-8><title>x</title><body>" + content
	}
	docroot := writeFixtures(t, files)
	got := map[string][]string{}
	eachLink(t, docroot, nil, func(r *row) {
		if r.Code != "empty-link" && r.Code != "hint" && r.Code != "inert" {
			name := path.Dir(r.Page)
			got[name] = append(got[name], r.Target)
		}
	})
	b := testkit.StartBrowser(t, true)
	origin, requested := serveAndLog(t, docroot)
	for name := range deadMarkup {
		requested()
		page := "/" + name + "/"
		b.Load(origin + page)
		var want []string
		slices.Sort(got[name])
		// Some requests, such as those of modules and speculation, can come after
		// the page is loaded.
		ours := slices.Compact(got[name])
		for try := 0; try == 0 || try < 300 && len(want) < len(ours); try++ {
			if try > 0 {
				time.Sleep(100 * time.Millisecond)
			}
			want = append(want, slices.DeleteFunc(requested(), func(p string) bool { return p == "/favicon.ico" || p == page })...)
			slices.Sort(want)
			want = slices.Compact(want)
		}
		var base string
		if b.Eval(`document.baseURI`, &base); base != origin+page {
			t.Errorf("%s: the base URL is %s", name, base)
		}
		if len(want) == 0 || !slices.Equal(ours, want) {
			t.Errorf("%s: sitelink finds %q, Chromium requests %q", name, ours, want)
		}
		for _, p := range want {
			if !strings.HasPrefix(path.Base(p), "y") {
				t.Errorf("%s: Chromium requests %s", name, p)
			}
		}
	}
}

// TestChromiumSrcdoc: links of documents in srcdoc lead where they lead in
// Chromium: relative to the base URL of the page or of the document itself.
func TestChromiumSrcdoc(t *testing.T) {
	t.Parallel()
	const links = `<p id=in><a href=x>x</a><a href='#in'>x</a><a href='#out'>x</a><a href=''>x</a><a href='?q'>x</a><a href='/y'>x</a>`
	docroot := writeFixtures(t, map[string]string{
		"d/plain.html":   `<!doctype html><title>x</title><p id=out><iframe srcdoc="` + links + `"></iframe>`,
		"d/base.html":    `<!doctype html><title>x</title><base href="/e/b"><iframe srcdoc="` + links + `"></iframe>`,
		"d/own.html":     `<!doctype html><title>x</title><base href="/e/"><iframe srcdoc="<base href='f/'>` + links + `"></iframe>`,
		"d/escaped.html": `<!doctype html><title>x</title><iframe srcdoc="&lt;a href=&quot;x?a&amp;amp;b&quot;>x&lt;/a>"></iframe>`,
	})
	got := map[string][]string{}
	eachLink(t, docroot, nil, func(r *row) {
		link := r.Target
		if r.Fragment != "" {
			link += "#" + r.Fragment
		}
		got[r.Page] = append(got[r.Page], link)
		if r.Page == "d/plain.html" && r.Fragment != "" && (r.Verdict == "ok") != (r.Fragment == "out") {
			t.Errorf("the fragment %s of the page is %s", r.Fragment, r.Verdict)
		}
	})
	b := startChromium(t)
	origin := serveFixtures(t, docroot)
	for page, links := range got {
		b.Load(origin + "/" + page)
		var want []string
		b.Eval(`[...document.querySelector("iframe").contentDocument.querySelectorAll("a")].map(a => a.href)`, &want)
		for i := range want {
			want[i] = strings.TrimPrefix(want[i], origin)
		}
		if !slices.Equal(links, want) {
			t.Errorf("%s: links lead to %q, in Chromium to %q", page, links, want)
		}
	}
	if len(got) != 4 {
		t.Errorf("links of %d pages", len(got))
	}
}

// TestChromiumMathLinks: Chromium follows no href of MathML elements. Firefox
// follows it on most (MathML 3, 2.1.6), so sitelink checks those, and no
// xlink:href.
func TestChromiumMathLinks(t *testing.T) {
	t.Parallel()
	docroot := writeFixtures(t, map[string]string{"p.html": `<!doctype html><title>x</title><math href=m><mi href=m>x</mi><mo xlink:href=n>x</mo><none href=n /><mprescripts href=n />` +
		`<semantics href=n><annotation href=n>x</annotation><annotation-xml href=n encoding="text/html"><a href=y1>x</a></annotation-xml></semantics><mtext><a href=y2>x</a></mtext></math>`})
	var ours, html []string
	eachLink(t, docroot, nil, func(r *row) {
		if ours = append(ours, r.Raw); r.Element == "a" {
			html = append(html, r.Raw)
		}
	})
	if want := []string{"m", "m", "y1", "y2"}; !slices.Equal(ours, want) {
		t.Errorf("sitelink finds %q, want %q", ours, want)
	}
	b := startChromium(t)
	b.Load(serveFixtures(t, docroot) + "/p.html")
	var want []string
	if b.Eval(`[...document.querySelectorAll(":any-link")].map(a => a.getAttribute("href"))`, &want); !slices.Equal(html, want) {
		t.Errorf("HTML links %q, Chromium %q", html, want)
	}
}
