//go:build integration && linux

package main_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// A tenth of what a long test judges.
var (
	judgedReal  = 150 // pages of the corpora
	judgedBroad = 50  // pages of the corpora, with mutations
	judgedOdd   = 100 // pages made of odd pieces
)

const judgedAtOnce = 40

// judgeScript is the program of the frame around the pages. It loads pages into frames of its own and returns, for each,
// what its elements link to: [element, attribute, value, resolved URL, whether the page cannot do without].
const judgeScript = `
const attributes = {a: ["href"], area: ["href"], link: ["href"], img: ["src"], script: ["src"], iframe: ["src"], embed: ["src"],
	source: ["src"], track: ["src"], audio: ["src"], video: ["src", "poster"], input: ["src"], object: ["data"]};
const foreign = ["a", "image", "use"];
function collect(root, out) {
	for (const e of root.querySelectorAll("*")) {
		if (e.namespaceURI == "http://www.w3.org/1999/xhtml") {
			for (const a of attributes[e.localName] || []) {
				if (!e.hasAttribute(a) || e.localName == "input" && e.type != "image" || e.localName == "iframe" && e.hasAttribute("srcdoc")) continue;
				if (e.localName == "script" && e.type && !/^(module|text\/javascript)$/i.test(e.type.trim())) continue;
				const loads = e.localName == "script" || e.localName == "iframe" || e.localName == "link" && e.relList.contains("stylesheet") && !e.relList.contains("alternate") && !e.disabled ||
					e.localName == "img" && e.loading != "lazy" && !e.hasAttribute("srcset") && e.parentNode.localName != "picture";
				out.push([e.localName, a, e.getAttribute(a), e[a], loads]);
			}
		} else if (e.namespaceURI == "http://www.w3.org/2000/svg" && foreign.includes(e.localName)) {
			const a = e.hasAttribute("href") ? "href" : "xlink:href", v = e.getAttribute(a);
			const link = document.createElement("a"); // resolves in the encoding of the document
			e.ownerDocument.adoptNode(link).href = v;
			if (v != null) out.push([e.localName, a, v, link.href, false]);
		}
		if (e.shadowRoot) collect(e.shadowRoot, out);
		if (e.localName == "iframe" && e.hasAttribute("srcdoc") && e.contentDocument) collect(e.contentDocument, out);
	}
	return out;
}
async function judge(pages) {
	document.body.textContent = "";
	const frames = await Promise.all(pages.map(p => new Promise(loaded => {
		const f = document.createElement("iframe");
		f.style = "position:absolute; left:0; top:0; width:160px; height:120px";
		f.onload = () => loaded(f);
		f.src = p;
		document.body.append(f);
	})));
	await new Promise(requestAnimationFrame);
	await new Promise(requestAnimationFrame);
	return frames.map((f, i) => new URL(f.contentDocument.URL).pathname == new URL(pages[i], location).pathname ? collect(f.contentDocument, []) : null);
}
`

// domLink is one entry of what judge returns.
type domLink struct {
	element, attribute, raw, url string
	loads                        bool
}

func (l *domLink) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&l.element, &l.attribute, &l.raw, &l.url, &l.loads})
}

// requestLog collects, by page, the URLs that Chromium requests for it.
type requestLog struct {
	parent map[string]string // of a frame
	shown  map[string]string // the URL of the document in a frame
	of     map[string]map[string]bool
}

func (l *requestLog) event(method string, params json.RawMessage) {
	var e struct {
		FrameID, ParentFrameID, DocumentURL, Type string
		Request                                   struct{ URL string }
	}
	switch method {
	case "Page.frameAttached", "Network.requestWillBeSent":
		if err := json.Unmarshal(params, &e); err != nil {
			panic(err)
		}
	}
	switch method {
	case "Page.frameAttached":
		l.parent[e.FrameID] = e.ParentFrameID
	case "Network.requestWillBeSent":
		frame := e.FrameID
		if e.Type == "Document" {
			l.shown[frame] = e.Request.URL
			frame = l.parent[frame]
		}
		for l.shown[frame] == "" && frame != "" { // srcdoc
			frame = l.parent[frame]
		}
		page := l.shown[frame]
		if l.of[page] == nil {
			l.of[page] = map[string]bool{}
		}
		l.of[page][e.Request.URL] = true
	}
}

// TestChromiumRequests: for real pages, mutated ones and odd ones, the links that sitelink finds are those of Chromium's
// document, lead where they lead there, and include everything that Chromium requests.
func TestChromiumRequests(t *testing.T) {
	t.Parallel()
	times := testkit.Longer(1, 10)
	judgedReal, judgedBroad, judgedOdd = times*judgedReal, times*judgedBroad, times*judgedOdd
	docroot := t.TempDir()
	pages := judgedPages(t, docroot)
	rows := map[string][]row{}
	sheets := map[string]bool{}
	eachLink(t, docroot, nil, func(r *row) {
		if strings.HasSuffix(r.Page, ".css") {
			sheets[r.Target] = true
		} else if !r.isFault() {
			rows[r.Page] = append(rows[r.Page], *r)
		}
	})
	origin := serveJudged(t, docroot)
	log := requestLog{parent: map[string]string{}, shown: map[string]string{}, of: map[string]map[string]bool{}}
	// Otherwise Chromium looks ahead and requests what looks like a link, such as images in templates.
	b := testkit.StartBrowser(t, true, "--blink-settings=doHtmlPreloadScanning=false")
	b.OnEvent = log.event
	b.Call("Network.enable", nil, nil)
	b.Call("Network.setCacheDisabled", testkit.Params{"cacheDisabled": true}, nil)
	b.Load(origin + "/judge.html")
	compared, requests, differences := 0, 0, 0
	for part := range slices.Chunk(pages, judgedAtOnce) {
		paths, err := json.Marshal(part)
		testkit.Check(t, err)
		var found []*[]domLink
		b.Eval("judge("+string(paths)+")", &found)
		for i, links := range found {
			if links == nil {
				t.Errorf("%s shows another document", part[i])
				continue
			}
			page := judgedPage{path: part[i], origin: origin, rows: rows[part[i][1:]], dom: *links, sheets: sheets, requested: log.of[origin+part[i]]}
			if page.content, err = os.ReadFile(filepath.Join(docroot, part[i])); err != nil {
				t.Fatal(err)
			}
			for _, d := range page.differences() {
				if differences++; differences <= 60 {
					t.Errorf("%s: %s", part[i], d)
				}
			}
			compared += len(*links)
			requests += len(page.requested)
		}
	}
	t.Logf("%d pages, %d links, %d requests, %d differences", len(pages), compared, requests, differences)
	if compared < 10*len(pages) || requests < len(pages) {
		t.Errorf("only %d links and %d requests of %d pages", compared, requests, len(pages))
	}
}

// judgedPage is what sitelink and Chromium say about one page.
type judgedPage struct {
	path, origin string
	content      []byte
	rows         []row
	dom          []domLink
	requested    map[string]bool // by Chromium
	sheets       map[string]bool // the targets of links in style sheets
}

var (
	noscript = regexp.MustCompile(`(?is)<noscript.*?(</noscript|$)`)
	closed   = regexp.MustCompile(`(?i)shadowrootmode=.?closed`)
)

// differences compares both.
func (p *judgedPage) differences() (list []string) {
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	// With scripts, Chromium reads no elements in noscript.
	scriptless := noscript.FindAllIndex(p.content, -1)
	known, hidden := map[string]bool{}, map[[3]string]bool{}
	// Whether Chromium loads the images above a late base element with or without it depends on how much it has read.
	based, guessed := bytes.Contains(p.content, []byte("<base href")), map[string]bool{}
	address, err := url.Parse(p.origin + p.path)
	if err != nil {
		panic(err)
	}
	ours := map[[3]string][]row{}
	for _, r := range p.rows {
		if r.Code == "inert" {
			continue
		}
		known[p.url(&r)] = true
		key := [3]string{r.Element, r.Attribute, r.Raw}
		if slices.ContainsFunc(scriptless, func(at []int) bool { return int(r.Offset) >= at[0] && int(r.Offset) < at[1] }) {
			hidden[key] = true // inside svg, noscript is an ordinary element
			continue
		}
		if own, err := address.Parse(r.Raw); based && err == nil && r.Element != "a" {
			guessed[own.String()] = true
		}
		ours[key] = append(ours[key], r)
	}
	for u := range p.requested {
		u, _, _ := strings.Cut(u, "#")
		if !known[u] && !guessed[u] && !p.sheets[strings.TrimPrefix(u, p.origin)] && !strings.HasPrefix(u, "data:") {
			say("Chromium requests %s, to which sitelink finds no link", u)
		}
	}
	seen := map[[3]string]bool{}
	for _, l := range p.dom {
		key := [3]string{l.element, l.attribute, l.raw}
		seen[key] = true
		same := ours[key]
		if len(same) == 0 {
			if !hidden[key] {
				say("Chromium has %q, sitelink has not", key)
			}
			continue
		}
		wanted, fragment, _ := strings.Cut(l.url, "#")
		if !slices.ContainsFunc(same, func(r row) bool {
			if r.Target == "" { // not to be resolved: a bad URL, an empty link or another scheme
				return true
			}
			// What was requested above a late base element has another address in the document.
			u := p.url(&r)
			return u == wanted && r.Fragment == fragment && (!l.loads || based || p.requested[u]) || based && p.requested[u] && !p.requested[wanted]
		}) {
			say("%q leads to %s in Chromium, in sitelink to %s#%s", key, l.url, p.url(&same[0]), same[0].Fragment)
		}
	}
	if closed.Match(p.content) {
		return list // scripts cannot look into closed shadow roots
	}
	for key := range ours {
		if !seen[key] && comparable[key[0]+" "+key[1]] {
			say("sitelink has %q, Chromium has not", key)
		}
	}
	slices.Sort(list)
	return list
}

// comparable are the elements and attributes that judge returns.
var comparable = func() map[string]bool {
	m := map[string]bool{}
	for _, s := range strings.Split("a href,area href,link href,img src,script src,iframe src,embed src,source src,track src,audio src,video src,"+
		"video poster,input src,object data,a xlink:href,image href,image xlink:href,use href,use xlink:href", ",") {
		m[s] = true
	}
	return m
}()

// url returns the target of a row as Chromium writes it.
func (p *judgedPage) url(r *row) string {
	if r.isInternal() {
		return p.origin + r.Target
	}
	return r.Target
}

// serveJudged serves the pages below docroot: without their inline scripts, and with empty ones in place of scripts and of
// the documents in their frames.
func serveJudged(t *testing.T, docroot string) (origin string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Type", cmp.Or(contentTypes[filepath.Ext(r.URL.Path)], "application/octet-stream"))
		switch {
		case r.URL.Path == "/judge.html":
			// A frame inherits this encoding.
			header.Set("Content-Type", "text/html; charset=windows-1252")
			fmt.Fprintf(w, "<!doctype html><title>x</title><body><script>%s</script>", judgeScript)
			return
		case r.Header.Get("Sec-Fetch-Dest") == "script":
			header.Set("Content-Type", "text/javascript")
			return
		case !strings.HasSuffix(r.Header.Get("Referer"), "/judge.html") && r.Header.Get("Sec-Fetch-Mode") == "navigate":
			header.Set("Content-Type", "text/html")
			return
		}
		content, err := os.ReadFile(filepath.Join(docroot, filepath.FromSlash(r.URL.Path)))
		if err != nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		header.Set("Content-Security-Policy", "script-src http: https:")
		w.Write(content)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// judgedPages writes the pages and their style sheets below docroot and returns the paths of the pages.
func judgedPages(t *testing.T, docroot string) (paths []string) {
	t.Helper()
	corpora := os.Getenv("SITELINK_CORPORA")
	var files []string
	for _, name := range []string{"python3.11-doc", "postgresql-doc-15", "scala-doc", "clang-16-doc", "llvm-19-doc"} {
		err := filepath.WalkDir(filepath.Join(corpora, name), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			info, err := d.Info()
			switch ext := filepath.Ext(path); {
			case err != nil:
				return err
			case ext == ".html" && info.Size() < 24<<10:
				files = append(files, path)
			case ext == ".css":
				content, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				writeJudged(t, docroot, path[len(corpora):], content)
			}
			return nil
		})
		if err != nil {
			t.Fatalf("read the corpora in SITELINK_CORPORA: %v", err)
		}
	}
	rnd := rand.New(rand.NewPCG(22, 19))
	rnd.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	if len(files) < judgedReal+judgedBroad {
		t.Fatalf("only %d pages in the corpora", len(files))
	}
	for i, file := range files {
		content := testkit.Read(t, file)
		name := file[len(corpora):]
		switch {
		case len(paths) == judgedReal+judgedBroad:
		case bytes.Contains(content, []byte("refresh")):
			continue
		case len(paths) >= judgedReal:
			content = mutate(rnd, content)
			name = strings.TrimSuffix(name, ".html") + ".mutated.html"
		}
		if i > 0 && len(paths) == judgedReal+judgedBroad {
			break
		}
		writeJudged(t, docroot, name, content)
		paths = append(paths, (&url.URL{Path: name}).EscapedPath())
	}
	for i := range judgedOdd {
		name := fmt.Sprintf("/odd/%d/p.html", i)
		writeJudged(t, docroot, name, oddPage(rnd))
		paths = append(paths, name)
	}
	return paths
}

func writeJudged(t *testing.T, docroot, name string, content []byte) {
	t.Helper()
	file := filepath.Join(docroot, name)
	testkit.Check(t, os.MkdirAll(filepath.Dir(file), 0o755))
	testkit.Check(t, os.WriteFile(file, content, 0o644))
}

// mutate changes a page in a few places: it adds odd pieces between tags, and removes tags and quotes.
func mutate(rnd *rand.Rand, page []byte) []byte {
	var out []byte
	tags := bytes.SplitAfter(page, []byte(">"))
	for _, tag := range tags {
		switch rnd.IntN(1 + len(tags)/2) {
		case 0:
			piece := oddPiece(rnd, 2)
			for foreignRoot.MatchString(piece) || strings.Contains(piece, "shadowrootmode") { // see oddPage
				piece = oddPiece(rnd, 2)
			}
			out = append(append(out, tag...), piece...)
		case 1:
		case 2:
			out = append(out, bytes.Replace(tag, []byte(`"`), nil, 1)...)
		default:
			out = append(out, tag...)
		}
	}
	return out
}

// foreignRoot matches a shadow root after HTML inside svg, or a style sheet in a template
// there. sitelink replaces the templates of such a page before it builds the tree. So it
// does not know that an element has a shadow root already or is a table, nor that a style
// element belongs to svg.
var foreignRoot = regexp.MustCompile(`(?is)<svg><(foreignobject|desc|title).*(shadowrootmode|<template.*<style)`)

// oddPage makes a page of odd pieces. Left out is where sitelink follows the standard, and Chromium does not: base elements
// with an invalid URL, which Chromium does not ignore. Left out are frame sets, too, which golang.org/x/net/html reads wrongly,
// and shadow hosts inside a formatting element that ends in them: the parser moves the template away from its host.
func oddPage(rnd *rand.Rand) []byte {
	page := []string{"", "<!doctype html>", "<!doctype html><meta charset=utf-8>", "<!doctype html><head>", "<html><body>"}[rnd.IntN(5)]
	for range 4 + rnd.IntN(12) {
		page += oddPiece(rnd, 3)
	}
	if foreignRoot.MatchString(page) {
		return oddPage(rnd)
	}
	return []byte(page)
}

// oddPieces are markup in which NAME stands for a new name, CSS for a style sheet, and MORE for other pieces.
var oddPieces = []string{
	`<a href="NAME">x</a>`, `<a href=NAME?q=a&amp;b=c#f>x</a>`, `<a href='NAME'class=x>x</a>`, `<a id=x href=NAME href=no>x</a>`, `</a>`, `<a href=" NAME ">x</a>`, `<a href="">x</a>`,
	`<a href="#NAME">x</a>`, `<a href="?NAME">x</a>`, `<a href="//127.0.0.1:1/NAME">x</a>`, `<a href="../../../NAME/./b/../%7e%zz">x</a>`, "<a href='a\tb\nNAME c'>x</a>", `<a href="http:NAME">x</a>`,
	`<a href="é NAME?é">x</a>`, `<a href=NAME&copy=1&notit;&amp>x</a>`, `<a href="/x\NAME">x</a>`, `<area href=NAME>`, `<map name=m><area href=NAME></map>`,
	`<img src=NAME.png>`, `<img src=NAME.png srcset="NAME.png 1x, NAME.png 2x">`, `<img srcset="NAME.png 300w,NAME.png 900w" sizes=100px>`, `<img srcset="NAME.png 1q, NAME.png">`, `<image src=NAME.png>`,
	`<picture><source srcset=NAME.png><img src=NAME.png></picture>`, `<picture><source srcset=NAME.png media="(max-width: 1px)"><source srcset=NAME.png type=image/no><img src=NAME.png></picture>`, `<img loading=lazy src=NAME.png>`,
	`<script src=NAME.js></script>`, `<script type=module src=NAME.js></script>`, `<script type=text/plain src=NAME.js></script>`, `<script async src=NAME.js></script>`, `<script><!--<script></script><img src=NAME.png>--></script>`,
	`<link rel=stylesheet href=NAME.css>`, `<link rel="preload" as=image href=NAME.png>`, `<link rel=preload as=image imagesrcset="NAME.png 1x">`, `<link rel=modulepreload href=NAME.js>`, `<link rel=prefetch href=NAME.html>`,
	`<link rel="alternate stylesheet" title=t href=NAME.css>`, `<link rel=next href=NAME>`, `<link rel=icon href=NAME.ico>`, `<link rel=preload as=style href=NAME.css>`, `<link rel="STYLESHEET x" media=print href=NAME.css>`, `<link rel=manifest href=NAME.json>`,
	`<style>CSS</style>`, `<style type=text/css>CSS</style>`, `<style media=print>CSS</style>`, `<style type=text/x>CSS</style>`, `<p style="background:url(NAME.png)">x`, `<p style='background:image-set("NAME.png" 1x)'>x`,
	`<iframe src=NAME.html></iframe>`, `<iframe srcdoc="<img src=NAME.png><a href='NAME'>x</a>"></iframe>`, `<iframe srcdoc="<base href=/b/><img src=NAME.png><a href=NAME>x</a>"></iframe>`, `<iframe src=NAME.html srcdoc="<a href=#x>"></iframe>`,
	`<object data=NAME.png type=image/png></object>`, `<embed src=NAME.png type=image/png>`, `<video src=NAME.webm poster=NAME.png></video>`, `<video poster=NAME.png><source src=NAME.webm><track src=NAME.vtt></video>`, `<audio src=NAME.mp3></audio>`,
	`<input type=image src=NAME.png>`, `<input type="image " src=NAME.png>`, `<input type=IMAGE src=NAME.png>`, `<input src=NAME.png>`, `<table background=NAME.png><tr><td background=NAME.png>x</table>`, `<body background=NAME.png>`,
	`<template>MORE</template>`, `<template>MORE`, `<div><template shadowrootmode=open>MORE</template>MORE</div>`, `<p><template shadowrootmode=CLOSED>MORE</template>`, `<section><template shadowrootmode=open>MORE`,
	`<a><template shadowrootmode=open>MORE</template></a>`, `<x-y><template shadowrootmode="open">MORE</template><template shadowrootmode=open>MORE</template></x-y>`, `<div><template shadowrootmode=other>MORE</template></div>`,
	`<template shadowrootmode=open>MORE</template>`, `<div><template shadowrootmode=open><div><template shadowrootmode=open>MORE</template></div></template></div>`, `<table><template shadowrootmode=open>MORE</template><td>x</table>`, `</template>`,
	`<base href="/NAME/">`, `<base href="NAME/">`, `<base target=x>`, `<base href="data:x">`, `<base href="http://127.0.0.1:1/NAME/">`, `<base href="">`,
	`<svg><a href=NAME>x</a><image href=NAME.png width=9 height=9 /></svg>`, `<svg><a xlink:href=NAME>x</a><style>CSS</style></svg>`, `<svg><rect cursor="url(NAME.cur),auto" fill="url(#a)" width=9 height=9 /></svg>`, `<svg><use href="NAME.svg#a" /></svg>`,
	`<svg><desc>MORE</desc></svg>`, `<svg><foreignObject><div>MORE</div></foreignObject></svg>`, `<svg><script href=NAME.js></script></svg>`, `<svg><img src=NAME.png></svg>`, `<svg><title><template>MORE</template></title></svg>`, `<svg>`, `</svg>`,
	`<math><mi href=NAME>x</mi></math>`, `<math><mtext><a href=NAME>x</a></mtext></math>`, `<table><tr><a href=NAME>x</a><td>x</table>`, `<table>MORE`, `<td>MORE`, `</table>`, `<select><option>x<a href=NAME>x</a></select>`, `<form><form>MORE</form>`,
	`<noscript><img src=NAME.png></noscript>`, `<textarea><a href=NAME></textarea>`, `<title><a href=NAME></title>`, `<xmp><a href=NAME></xmp>`, `<!-- <a href=NAME> -->`, `<!--><a href=NAME>x</a>-->`, `<!-- --!><a href=NAME>x</a>`, `<![CDATA[<a href=NAME>]]>`,
	`"`, `<`, `</p>`, `</div>`, `</body></html>`, `<head>`, `<button formaction=NAME>x</button>`, `<q cite=NAME>x</q>`, `<p>some words`, `<li>x`, `<b><i>x</b>MORE</i>`,
}

// oddSheets are pieces of style sheets.
var oddSheets = []string{
	`@import "NAME.css";`, `@import url(NAME.css);`, `@import url("NAME.css") screen;`, `@import 'NAME.css' layer(x);`, `@import "NAME.css" supports(display: block);`, `@IMPORT "NAME.css" print;`, `@\69mport "NAME.css";`, `@import/**/"NAME.css";`,
	`@layer a;`, `@layer a, b.c;`, `@layer a{}`, `@layer;`, `@charset "utf-8";`, `@namespace "x";`, `@unknown x;`, `@unknown x{y{}}`, `@unknown{@import "NAME.css";}`, `{}`, `1bad{}`, `p{}`, `p{color:red}`, `.x,#y>z{}`, `<!-- `, `--> `, `/* x */`, `/* @import "NAME.css"; */`,
	`body{background:url(NAME.png)}`, `html{background:url( "NAME.png" )}`, `p{background:u\72l(NAME.png)}`, `@media all{body{background:url(NAME.png)}}`, `@media all{@import "NAME.css";}`, `@font-face{font-family:x;src:url(NAME.woff)}`, `@supports (x:url(NAME)){}`,
	`p{;}`, `}`, `;`, `x;`, `p{`, `p{a:b;@import "NAME.css";}`, `a:hover{}`, `::before{}`, `[x="]"]{}`, `*|*{}`, `&{}`, `> p{}`, `p,{}`, `p q!{}`, `.1{}`, `#1{}`, `@media;`, `@font-face;`, `@page{}`, `@keyframes x{}`, `@import "";`, `@import "NAME`, "\n",
}

var oddNames = regexp.MustCompile(`NAME|CSS|MORE`)

// oddPiece returns a random piece in which pieces are nested up to depth.
func oddPiece(rnd *rand.Rand, depth int) string {
	return oddNames.ReplaceAllStringFunc(oddPieces[rnd.IntN(len(oddPieces))], func(word string) (s string) {
		switch {
		case word == "NAME":
			return fmt.Sprintf("n%d", rnd.IntN(1e6))
		case word == "CSS":
			for range 1 + rnd.IntN(5) {
				s += strings.ReplaceAll(oddSheets[rnd.IntN(len(oddSheets))], "NAME", fmt.Sprintf("n%d", rnd.IntN(1e6)))
			}
		case depth > 0:
			for range 1 + rnd.IntN(3) {
				s += oddPiece(rnd, depth-1)
			}
		}
		return s
	})
}
