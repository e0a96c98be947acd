package verify

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/testkit"
)

const (
	source = "https://a.example/blog/post.html"
	ours   = "https://b.example/doc"
)

// htmlPage returns a page as Fetch would.
func htmlPage(body string, header ...string) *Response {
	p := &Response{URL: source, body: []byte(body), header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}}
	for i := 0; i+1 < len(header); i += 2 {
		p.header.Set(header[i], header[i+1])
	}
	p.setKind()
	return p
}

// TestFindLink: what counts as a link to the target (PB-44, PB-56).
func TestFindLink(t *testing.T) {
	for _, c := range []struct {
		name, html, target string
		want               Result
	}{
		{"anchor", `<p>See <a href="https://b.example/doc">this</a>.`, ours, Linked},
		{"spelling", `<a href="HTTPS://B.example:443/%64oc?">x</a>`, ours + "?", Linked},
		{"spelling of the target", `<a href="https://b.example/~x">x</a>`, "https://B.example/%7Ex", Linked},
		{"area", `<map><area href="https://b.example/doc"></map>`, ours, Linked},
		{"img", `<img src="https://b.example/doc">`, ours, Linked},
		{"video", `<video src="https://b.example/doc"></video>`, ours, Linked},
		{"audio", `<audio src="https://b.example/doc"></audio>`, ours, Linked},
		{"source", `<video><source src="https://b.example/doc"></video>`, ours, Linked},
		{"iframe", `<iframe src="https://b.example/doc"></iframe>`, ours, Linked},
		{"citation", `<blockquote cite="https://b.example/doc">x</blockquote>`, ours, Linked},
		{"svg", `<svg><a xlink:href="https://b.example/doc"><text>x</text></a></svg>`, ours, Linked},
		{"noscript", `<noscript><a href="https://b.example/doc">x</a></noscript>`, ours, Linked},
		{"noscript in the head", `<head><noscript><a href="https://b.example/doc">x</a></noscript></head>`, ours, Linked},
		{"white space", "<a href=' \n https://b.example/\tdoc '>x</a>", ours, Linked},
		{"base", `<base href="https://b.example/x/"><a href="../doc">x</a>`, ours, Linked},
		{"second base", `<base href="https://c.example/"><base href="https://b.example/"><a href="doc">x</a>`, ours, NotLinked},
		{"relative", `<a href="../doc">x</a>`, "https://a.example/doc", Linked},
		{"scheme-relative", `<a href="//b.example/doc">x</a>`, ours, Linked},
		{"other letter case", `<a href="https://b.example/Doc">x</a>`, ours, NotLinked},
		{"other scheme", `<a href="http://b.example/doc">x</a>`, ours, NotLinked},
		{"other query", `<a href="https://b.example/doc?x">x</a>`, ours, NotLinked},
		{"longer", `<a href="https://b.example/doc/more">x</a>`, ours, NotLinked},
		{"in a query", `<a href="https://evil.example/?u=https://b.example/doc">x</a>`, ours, NotLinked},
		{"with a user name", `<a href="https://me@b.example/doc">x</a>`, ours, NotLinked},
		{"plain text", `<p>https://b.example/doc`, ours, NotLinked},
		{"comment", `<!-- <a href="https://b.example/doc">x</a> -->`, ours, NotLinked},
		{"script", `<script>"<a href='https://b.example/doc'>x</a>"</script>`, ours, NotLinked},
		{"style", `<style><a href="https://b.example/doc">x</a></style>`, ours, NotLinked},
		{"template", `<template><a href="https://b.example/doc">x</a></template>`, ours, NotLinked},
		{"textarea", `<textarea><a href="https://b.example/doc">x</a></textarea>`, ours, NotLinked},
		{"title", `<title><a href="https://b.example/doc">x</a></title>`, ours, NotLinked},
		{"iframe content", `<iframe><a href="https://b.example/doc">x</a></iframe>`, ours, NotLinked},
		{"xmp", `<xmp><a href="https://b.example/doc">x</a></xmp>`, ours, NotLinked},
		{"escaped code", `<code>&lt;a href="https://b.example/doc"&gt;</code>`, ours, NotLinked},
		{"attribute value", `<a title='href="https://b.example/doc"' href="/">x</a>`, ours, NotLinked},
		{"link element", `<link rel="canonical" href="https://b.example/doc">`, ours, NotLinked},
		{"data attribute", `<a data-href="https://b.example/doc">x</a>`, ours, NotLinked},
		{"empty page", ``, ours, NotLinked},

		// PB-69, A-PB-2
		{"same fragment", `<a href="https://b.example/doc#foo">x</a>`, ours + "#foo", Linked},
		{"fragment in another spelling", `<a href="https://b.example/doc#f%6fo">x</a>`, ours + "#foo", Linked},
		{"page only", `<a href="https://b.example/doc">x</a>`, ours + "#foo", NotLinked},
		{"another fragment", `<a href="https://b.example/doc#bar">x</a>`, ours + "#foo", NotLinked},
		{"any fragment", `<a href="https://b.example/doc#bar">x</a>`, ours, Linked},
		{"the second link has it", `<a href="https://b.example/doc">x</a><a href="https://b.example/doc#foo">x</a>`, ours + "#foo", Linked},

		{"deleted", `<meta http-equiv="Status" content="410 Gone"><a href="https://b.example/doc">x</a>`, ours, Gone},
		{"not deleted", `<meta http-equiv="Status" content="4100 bottles"><a href="https://b.example/doc">x</a>`, ours, Linked},
	} {
		e := htmlPage(c.html).Find(c.target)
		if e.Result != c.want {
			t.Errorf("%s: %q (%s), want %q", c.name, e.Result, e.Reason, c.want)
		}
		wantFault := map[Result]int{Linked: 0, NotLinked: 17, Gone: 16}[c.want]
		if e.Fault != wantFault || (e.Reason == "") != (c.want == Linked) {
			t.Errorf("%s: fault %d (%q), want %d with a reason", c.name, e.Fault, e.Reason, wantFault)
		}
	}
}

// TestContentType: only HTML and XHTML are examined (PB-68).
func TestContentType(t *testing.T) {
	const link = `<html><body><a href="https://b.example/doc">x</a>`
	for field, want := range map[string]Result{
		"text/html": Linked, "TEXT/HTML;charset=": Linked, "text/html; charset=x; charset=y": Linked, "": Linked,
		"text/html; charset=x-unknown": NotHTML, "text/html; charset=utf-7": NotHTML,
		"application/xhtml+xml": Linked,
		"text/plain":            NotHTML, "image/png": NotHTML, "application/json": NotHTML, "text/htmlx": NotHTML, "garbage": NotHTML,
	} {
		e := htmlPage(link, "Content-Type", field).Find(ours)
		if e.Result != want {
			t.Errorf("%q: %q (%s), want %q", field, e.Result, e.Reason, want)
		}
		if want == NotHTML && e.Fault != FaultNoLink {
			t.Errorf("%q: fault %d, want 17", field, e.Fault)
		}
	}
}

// TestXHTML: an empty element of XHTML has no content, which HTML would give it. A
// page that is not well-formed is read like HTML.
func TestXHTML(t *testing.T) {
	const head = `<?xml version="1.0" encoding="iso-8859-1"?><html xmlns="http://www.w3.org/1999/xhtml" xml:lang="sl"><head><title>Na&scaron;</title><script src="x.js"/></head>`
	e := htmlPage(head+`<body><p>Glej <a href="https://b.example/doc">to</a>.</p></body></html>`, "Content-Type", "application/xhtml+xml").Find(ours)
	if e.Result != Linked || e.Title != "Naš" || e.Lang != "sl" || e.Excerpt != "Glej to." {
		t.Errorf("well-formed: %+v", e)
	}
	e = htmlPage(`<html><p><a href="https://b.example/doc">x</a><br>`, "Content-Type", "application/xhtml+xml").Find(ours)
	if e.Result != Linked {
		t.Errorf("not well-formed: %+v", e)
	}
	bomb := `<!DOCTYPE html [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><html xmlns="http://www.w3.org/1999/xhtml"><title>&b;</title><a href="https://b.example/doc">x</a></html>`
	if e = htmlPage(bomb, "Content-Type", "application/xhtml+xml").Find(ours); strings.Contains(e.Title, "aa") {
		t.Errorf("an entity of the document was expanded: %+v", e)
	}
}

// TestCharset: the page is decoded before it is searched, and relative links to
// queries are encoded like the page.
func TestCharset(t *testing.T) {
	for field, body := range map[string]string{
		"text/html; charset=iso-8859-1": "<title>Caf\xe9</title><a href='https://b.example/doc'>x</a>",
		"text/html":                     "<meta charset=windows-1252><title>Caf\xe9</title><a href='https://b.example/doc'>x</a>",
		"text/html; charset=utf-16":     "\xfe\xff" + utf16("<title>Café</title><a href='https://b.example/doc'>x</a>"),
	} {
		if e := htmlPage(body, "Content-Type", field).Find(ours); e.Result != Linked || e.Title != "Café" {
			t.Errorf("%s: %+v", field, e)
		}
	}
	p := htmlPage("<a href='https://b.example/?q=\xe9'>x</a>", "Content-Type", "text/html; charset=iso-8859-1")
	if e := p.Find("https://b.example/?q=%E9"); e.Result != Linked {
		t.Errorf("query: %+v", e)
	}
}

func utf16(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteByte(byte(r >> 8))
		b.WriteByte(byte(r))
	}
	return b.String()
}

// TestDescribe: what is shown next to a link (PB-68).
func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		name, html string
		header     []string
		want       Evidence
	}{
		{name: "plain page",
			html: `<html lang="de"><title> Mein
Titel </title><meta name="author" content="Eva M."><nav>Menü</nav><p>Davor <b>steht</b> <a href="https://b.example/doc">ein Link</a>, danach nichts.<p>Mehr.`,
			want: Evidence{Title: "Mein Titel", Excerpt: "Davor steht ein Link, danach nichts.", Lang: "de", AuthorName: "Eva M."}},
		{name: "language of the response",
			html: `<title>T</title><p><a href="https://b.example/doc">x</a>`, header: []string{"Content-Language", "sl, en"},
			want: Evidence{Title: "T", Excerpt: "x", Lang: "sl"}},
		{name: "nearest language",
			html: `<html lang=en><title>T</title><p lang=fr>Voir <a href="https://b.example/doc">ici</a>`, header: []string{"Content-Language", "sl"},
			want: Evidence{Title: "T", Excerpt: "Voir ici", Lang: "fr"}},
		{name: "not a language", html: `<html lang='"><script>'><title>T</title><a href="https://b.example/doc">x</a>`,
			want: Evidence{Title: "T", Excerpt: "x"}},
		{name: "h-entry",
			html: `<title>Site</title><article class="h-entry"><h1 class="p-name">Reply</h1>
<a class="p-author h-card" href="/about"><img class="u-photo" src="/me.jpg" alt="Ann">Ann</a>
<div class="e-content"><p>I like <a href="https://b.example/doc">this</a>.</p></div></article>`,
			want: Evidence{Title: "Reply", Excerpt: "I like this.", AuthorName: "Ann", AuthorURL: "https://a.example/about"}},
		{name: "reply outside of the content",
			html: `<div class="h-entry"><p>In reply to <a class="u-in-reply-to" href="https://b.example/doc">b.example</a></p>
<div class="p-author h-card"><span class="p-name">Bo</span> <a class="u-url" href="https://bo.example/">home</a></div>
<div class="e-content">I do not agree.</div></div>`,
			want: Evidence{Excerpt: "I do not agree.", AuthorName: "Bo", AuthorURL: "https://bo.example/"}},
		{name: "the entry around the link counts",
			html: `<div class="h-feed"><div class="h-entry"><p class="p-name">One</p></div><div class="h-entry"><p class="p-name">Two</p><p class="e-content"><a href="https://b.example/doc">x</a></p></div></div>`,
			want: Evidence{Title: "Two", Excerpt: "x"}},
		{name: "properties of an item inside are its own",
			html: `<div class="h-entry"><div class="h-cite"><p class="p-name">Cited</p><a class="p-author" href="/x">Y</a></div><p class="p-name">Own</p><p class="e-content"><a href="https://b.example/doc">x</a></p></div>`,
			want: Evidence{Title: "Own", Excerpt: "x"}},
		{name: "dangerous author", html: `<div class="h-entry"><a class="p-author h-card" href="javascript:alert(1)">M</a><p class="e-content"><a href="https://b.example/doc">x</a></p></div>`,
			want: Evidence{Excerpt: "x", AuthorName: "M"}},
		{name: "invisible text", html: `<title>T</title><div>a<script>b</script><style>c</style><p>One<p>Two <a href="https://b.example/doc">x</a><br>three<template>d</template><span hidden>e</span></div>`,
			want: Evidence{Title: "T", Excerpt: "Two x three"}},
		{name: "control and bidi characters", html: "<title>a\u202eb\u0007c\u2066d</title><p>1\u202e2\u200b3\ue000 <a href=\"https://b.example/doc\">x</a>",
			want: Evidence{Title: "abcd", Excerpt: "12 3 x"}},
		{name: "markup in text stays text", html: `<title>&lt;script&gt;alert(1)&lt;/script&gt;</title><p>&lt;b&gt; <a href="https://b.example/doc">x</a>`,
			want: Evidence{Title: "<script>alert(1)</script>", Excerpt: "<b> x"}},
	} {
		c.want.Result = Linked
		if got := htmlPage(c.html, c.header...).Find(ours); got != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

// TestTextsAreBounded: a page cannot make what is stored long (PB-60).
func TestTextsAreBounded(t *testing.T) {
	long := strings.Repeat("Überlange Wörter ", 20000)
	p := htmlPage(`<html lang="` + strings.Repeat("x", 100) + `"><title>` + long + `</title><div class="h-entry"><a class="p-author h-card" href="https://e.example/` +
		strings.Repeat("y", 3000) + `">` + long + `</a><p class="e-content">` + long + `<a href="https://b.example/doc">this link</a> ` + long)
	e := p.Find(ours)
	for _, text := range []struct {
		name, text string
		most       int
	}{{"title", e.Title, 200}, {"excerpt", e.Excerpt, 320}, {"author", e.AuthorName, 100}} {
		if n := utf8.RuneCountInString(text.text); n > text.most || n < text.most/2 || !strings.HasSuffix(text.text, "…") {
			t.Errorf("%s has %d characters: %q", text.name, n, text.text)
		}
	}
	if !strings.Contains(e.Excerpt, "this link") || !strings.HasPrefix(e.Excerpt, "…") {
		t.Errorf("excerpt without the link: %q", e.Excerpt)
	}
	if e.Lang != "" || e.AuthorURL != "" {
		t.Errorf("kept: %+v", e)
	}
	huge := htmlPage(`<p><a href="https://b.example/doc">` + long + `</a>`).Find(ours)
	if n := utf8.RuneCountInString(huge.Excerpt); n > 320 || !strings.HasPrefix(huge.Excerpt, "Überlange") {
		t.Errorf("a long link: %d characters, %q", n, huge.Excerpt)
	}
}

func numberedTags(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// hostilePages are pages that have stopped other receivers.
func hostilePages() map[string]string {
	const link = `<a href="https://b.example/doc">x</a>`
	return map[string]string{
		"stray end tag":         "</p>" + link,
		"stray end tags":        strings.Repeat("</p></a></div></table></body></html>", 10000) + link,
		"deep":                  strings.Repeat("<div>", 200000) + link,
		"deep formatting":       strings.Repeat("<b><i><a href=x>", 60000) + link,
		"deep tables":           strings.Repeat("<table><tr><td>", 60000) + link,
		"deep templates":        strings.Repeat("<template>", 100000) + link,
		"deep svg":              strings.Repeat("<svg><foreignObject>", 50000) + link,
		"misnested":             strings.Repeat("<a><b><p>", 300) + strings.Repeat("</a></b>", 20000) + link,
		"many bodies":           numberedTags("<body a%d>", 80000) + link,
		"opened again":          "<p>" + numberedTags("<b a%d>", 480) + strings.Repeat("<p>x", 200000) + link,
		"many attributes":       "<a " + strings.Repeat("a=b ", 200000) + ">" + link,
		"many different":        "<a" + numbered(100000) + ">" + link,
		"nul":                   "\x00\x00<a\x00 href='https://b.example/doc'>" + link,
		"endless attribute":     `<a href="` + strings.Repeat("x", 900000),
		"endless comment":       "<!--" + strings.Repeat("--!", 300000),
		"entities":              strings.Repeat("&amp", 200000) + link,
		"many links":            strings.Repeat(`<a href="//b.example/dod">x</a>`, 30000),
		"classes":               `<div class="` + strings.Repeat("h-entry ", 100000) + `">` + link,
		"items":                 strings.Repeat(`<p class="h-card"></p>`, 40000) + `<div class=h-entry>` + strings.Repeat(`<p class="h-card p-x">`, 30000) + link,
		"base without URL":      `<base href="javascript:alert(1)">` + link,
		"select":                strings.Repeat("<select><option>", 60000) + link,
		"frameset":              "<frameset>" + link,
		"plaintext":             "<plaintext>" + link,
		"xml declaration":       "<?xml version='1.0'?>" + link,
		"unclosed h-entry":      "<div class=h-entry><p class=p-name><p class='p-author h-card'><a class=u-url>" + link,
		"invalid UTF-8":         "\xff\xfe\xfd" + link,
		"only a byte order":     "\xef\xbb\xbf",
		"nested lists":          strings.Repeat("<ul><li>", 240) + link,
		"formatting in p":       strings.Repeat("<p><b><i><u><s><em>", 10000) + link,
		"caption":               strings.Repeat("<table><caption>", 50000) + link,
		"foster parents":        "<table>" + strings.Repeat("<a href=x>y", 20000) + link,
		"entries in entries":    strings.Repeat(`<div class="h-entry p-name e-content">`, 400) + link,
		"language tags":         strings.Repeat(`<i lang=x>`, 400) + link,
		"block in long excerpt": "<div>" + strings.Repeat("<br>x", 150000) + link,
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(" a")
		for ; i > 0; i /= 26 {
			b.WriteByte(byte('a' + i%26))
		}
	}
	return b.String()
}

// TestHostilePages: no page stops the receiver or keeps it busy (notifiers.md,
// "crash by crafted HTML").
func TestHostilePages(t *testing.T) {
	for name, body := range hostilePages() {
		for _, media := range []string{"text/html", "application/xhtml+xml"} {
			most := testkit.Longer(64<<10, 1<<20) // as much as is read of a page
			body := body[:min(len(body), most)]
			begin := time.Now()
			e := htmlPage(body, "Content-Type", media).Find(ours)
			if took := time.Since(begin); took > 10*time.Second {
				t.Errorf("%s as %s took %s", name, media, took)
			} else if took > 300*time.Millisecond {
				t.Logf("%s as %s took %s", name, media, took)
			}
			if e.Result == "" {
				t.Errorf("%s as %s has no result", name, media)
			}
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, body := range hostilePages() {
		if len(body) < 1000 {
			f.Add(body, true)
		}
	}
	f.Add(`<html lang=de><base href="//b.example"><div class="h-entry"><a class="p-author h-card" href="/x">A</a><p class=e-content>x <a href="doc">y</a> z`, false)
	f.Fuzz(func(t *testing.T, body string, xhtml bool) {
		media := "text/html"
		if xhtml {
			media = "application/xhtml+xml"
		}
		p := htmlPage(body, "Content-Type", media)
		doc, err := p.parse()
		if err == nil {
			for n := range doc.elements() {
				doc.describe(n)
			}
		}
		e := p.Find(ours)
		for text, most := range map[string]int{e.Title: maxTitle, e.Excerpt: maxExcerpt, e.AuthorName: maxName, e.Lang: maxLang} {
			if utf8.RuneCountInString(text) > most || !utf8.ValidString(text) || strings.ContainsAny(text, "\u202e\u2066\x00\n\x1b") {
				t.Errorf("%q", text)
			}
		}
		if e.Result == "" || (e.Result == Linked) != (e.Fault == 0) {
			t.Errorf("%+v", e)
		}
	})
}

// TestUnknownEncoding: a page in an encoding that is not known is refused, with its reason (PB-57).
func TestUnknownEncoding(t *testing.T) {
	for _, meta := range []string{`<meta charset="x-unknown">`, `<meta http-equiv="Content-Type" content="text/html; charset=x-unknown">`} {
		e := htmlPage("<!doctype html>"+meta+`<a href="https://b.example/doc">x</a>`, "Content-Type", "text/html").Find(ours)
		if e.Result != NotHTML || e.Fault != FaultNoLink || !strings.Contains(e.Reason, `"x-unknown"`) {
			t.Errorf("%s: %+v", meta, e)
		}
	}
}
