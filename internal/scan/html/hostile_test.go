package html

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestHostile_truncated: a file that is cut at any byte has the links of the
// whole file up to that byte.
func TestHostile_truncated(t *testing.T) {
	for _, tags := range []scan.Tags{scan.Modern, scan.Linklint} {
		opt := scan.Options{Tags: tags}
		whole := new(Scanner).Scan([]byte(testkit.RichPage), opt)
		if len(whole.Links) < 11 || whole.Irregular || len(whole.Faults) > 0 {
			t.Fatalf("%d links, irregular %v, faults %v", len(whole.Links), whole.Irregular, whole.Faults)
		}
		want, wantAnchors := testkit.Rows(whole), anchorRows(whole)
		var s Scanner
		for n := range len(testkit.RichPage) {
			p := s.Scan([]byte(testkit.RichPage[:n]), opt)
			testkit.CheckPage(t, p)
			// A style sheet that is cut may end with a part of a URL.
			for _, f := range p.Faults {
				p.Links = slices.DeleteFunc(p.Links, func(l scan.Link) bool {
					return f.Kind == scan.FaultElement && l.Attr == scan.AttrText && l.TagOff == f.Off
				})
			}
			if i := len(p.Links); i > 0 && p.Links[i-1].Tag == scan.TagStyle && p.Links[i-1].Attr == scan.AttrText && !strings.Contains(testkit.RichPage[p.Links[i-1].Off:n], "</style") {
				p.Links = p.Links[:i-1] // also in svg, where style is not a text element
			}
			got, gotAnchors := testkit.Rows(p), anchorRows(p)
			if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
				t.Fatalf("first %d bytes, ending in %q\n got %q\nwant the start of %q", n, testkit.RichPage[max(0, n-40):n], got, want)
			}
			if len(gotAnchors) > len(wantAnchors) || !slices.Equal(gotAnchors, wantAnchors[:len(gotAnchors)]) {
				t.Fatalf("first %d bytes\n got %q\nwant the start of %q", n, gotAnchors, wantAnchors)
			}
		}
	}
}

// TestHostile_truncatedAnyhow cuts pages in other encodings and pages for the
// slow path at any byte. For those only the bounds are certain.
func TestHostile_truncatedAnyhow(t *testing.T) {
	var s Scanner
	for _, page := range [][]byte{
		[]byte("<form><form>" + testkit.RichPage), testkit.UTF16(testkit.RichPage, "\xFF\xFE", false), testkit.UTF16(testkit.RichPage, "\xFE\xFF", true),
		bytes.Replace([]byte(testkit.RichPage), []byte("utf-8"), []byte("gbk"), 1), bytes.Replace([]byte(testkit.RichPage), []byte("utf-8"), []byte("iso-2022-jp"), 1),
		[]byte("<svg><p>" + testkit.RichPage), []byte("<frameset>" + testkit.RichPage), []byte("<select>" + testkit.RichPage),
	} {
		step := testkit.Longer(7, 1)
		for n := 0; n < len(page); n += step {
			p := s.Scan(page[:n], scan.Options{})
			testkit.CheckPage(t, p)
			for i := range p.Links {
				if at := p.Source(p.Links[i].Off); at > int64(n) {
					t.Fatalf("%q is at %d of %d bytes", p.Links[i].Value, at, n)
				}
			}
		}
	}
}

// TestHostile_binary reads bytes that are not a page at all.
func TestHostile_binary(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	size := testkit.Longer(1<<17, 1<<20)
	anyByte := make([]byte, size)
	syntax := make([]byte, size)
	const chars = "<<<>>\"'=/!-?&;# \n\x00aAsSbi[](),.\xC3\xA9\xFF\x1B$"
	for i := range anyByte {
		anyByte[i] = byte(rnd.Uint32())
		syntax[i] = chars[rnd.IntN(len(chars))]
	}
	var words []byte
	for len(words) < size {
		words = append(words, []string{"<", "</", "<!--", "-->", "<!", "<![CDATA[", "]]>", "script", "style", "svg", "math", "table", "td", "select",
			"template", "form", "title", "plaintex", "a", " href=", " id=", " srcset=", " style=", "url(", "'", "\"", ">", "/>", "x", " ", "&amp;", "&#",
			"meta", " charset=", " content=", "base", "frameset", "noscript", "body", "html", "head", "option", "b", "p", "desc", "annotation-xml", "\x00"}[rnd.IntN(47)]...)
	}
	var s Scanner
	for name, text := range map[string][]byte{"any byte": anyByte, "syntax": syntax, "words": words, "NUL": make([]byte, 16*size), "0xFF": bytes.Repeat([]byte{0xFF}, size)} {
		for _, opt := range []scan.Options{{}, {Tags: scan.Linklint}, {Charset: "utf-8"}, {Charset: "utf-16le"}, {Charset: "shift_jis"}, {Charset: "iso-2022-jp"}, {Charset: "replacement"}} {
			start := time.Now()
			testkit.CheckPage(t, s.Scan(text, opt))
			t.Logf("%s, charset %q: %d links, irregular %v, %v", name, opt.Charset, len(s.el.Page.Links), s.el.Page.Irregular, time.Since(start).Round(time.Millisecond))
		}
	}
	// Many short texts reach more states than one long text.
	for i := 0; i+300 < len(words); i += 300 {
		testkit.CheckPage(t, s.Scan(words[i:i+300], scan.Options{}))
		testkit.CheckPage(t, s.Scan(syntax[i:i+300], scan.Options{}))
	}
}

// TestHostile_nesting: each open element costs a few bytes and no stack.
func TestHostile_nesting(t *testing.T) {
	testkit.Long(t)
	const depth = 100_000
	for _, open := range []string{"<div>", "<table>", "<table><tr><td>", "<svg>", "<svg><g>", "<math><mrow>", "<template>", "<b>", "<a href=x>", "<ul><li>",
		"<svg><foreignObject>", "<select>", "<form>", "<noscript>", "<object>", "<button>", "<font><p>"} {
		text := []byte(strings.Repeat(open, depth) + "<p id=x>")
		used := allocated(func() { testkit.CheckPage(t, new(Scanner).Scan(text, scan.Options{})) })
		if limit := uint64(200<<20 + 100*len(text)); used > limit {
			t.Errorf("%s: %d MB allocated for %d MB of text", open, used>>20, len(text)>>20)
		}
	}
	// If the slow path gives up, links and ids are those that the fast path
	// found.
	p := new(Scanner).Scan([]byte("<form><form>"+strings.Repeat("<div>", 1000)+"<a href=x id=y>"), scan.Options{})
	if got := append(testkit.Rows(p), anchorRows(p)...); !slices.Equal(got, []string{"a href link x", "id y"}) {
		t.Errorf("got %q", got)
	}
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, behind runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&behind)
	return behind.TotalAlloc - before.TotalAlloc
}

// TestHostile_hugeAttribute: an attribute of 100 MB costs nothing if its value is its
// source text, and a copy if references are decoded.
func TestHostile_hugeAttribute(t *testing.T) {
	testkit.Long(t)
	const size = 100 << 20
	for _, c := range []struct {
		name, before, unit, behind string
		links                      int
		limit                      uint64 // bytes allocated for each byte of the value
	}{
		{"href", `<a href="`, "x", `">`, 1, 0},
		{"unquoted", `<a href=`, "x", `>`, 1, 0},
		{"never closed", `<a href="`, "x", ``, 0, 0},
		{"tag name", `<a`, "x", ` href=y>`, 0, 0},
		{"attribute name", `<a `, "x", `=y>`, 0, 0},
		{"attributes", `<a `, "x=y ", `href=y>`, 1, 0},
		{"references", `<a href="`, "&amp;xxxx", `">`, 1, 8},
		{"id", `<p id="`, "&amp;xxxx", `">`, 0, 8},
		{"no reference", `<a href="&`, "x", `;">`, 1, 8},
		{"numeric reference", `<a href="&#`, "1", `;">`, 1, 1},
		{"style", `<p style="background:url(`, "x", `)">`, 1, 0},
		{"srcset", `<img srcset="`, "x", `">`, 1, 0},
		{"comment", `<!--`, "- ", `--><a href=x>`, 1, 0},
		{"text", ``, "x", `<a href=x>`, 1, 0},
		{"title", `<title>`, "< ", `</title><a href=x>`, 1, 0},
		{"doctype", `<!doctype html public "`, "x", `"><a href=x>`, 1, 8},
		{"meta content", `<meta http-equiv=content-type content="`, "charset ", `"><a href=x>`, 1, 0},
		{"meta property", `<meta content=http://x.example/ property="`, "x", `"><a href=x>`, 2, 2},
		{"script type", `<script type="`, "x", `"></script><a href=x>`, 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := slices.Grow([]byte(c.before), size+64)
			text = append(text, bytes.Repeat([]byte(c.unit), size/len(c.unit))...)
			text = append(text, c.behind...)
			var links int
			used := allocated(func() { links = len(new(Scanner).Scan(text, scan.Options{Charset: "utf-8"}).Links) })
			if links != c.links {
				t.Errorf("%d links, want %d", links, c.links)
			}
			if used > c.limit*uint64(size)+8<<20 {
				t.Errorf("%d MB allocated for %d MB", used>>20, size>>20)
			}
		})
	}
}

// TestHostile_millionsOfLinks reads a page with five million links.
func TestHostile_millionsOfLinks(t *testing.T) {
	testkit.Long(t)
	const n = 5_000_000
	text := bytes.Repeat([]byte("<a href=x.html id=y>\n"), n)
	p := new(Scanner).Scan(text, scan.Options{})
	if len(p.Links) != n || len(p.Anchors) != n {
		t.Fatalf("%d links, %d anchors", len(p.Links), len(p.Anchors))
	}
	if last := p.Links[n-1]; int(last.TagOff) != len(text)-21 || string(last.Value) != "x.html" {
		t.Errorf("last link is %q at %d", last.Value, last.TagOff)
	}
}

// TestHostile_linear: for eight times the text, the scanner takes at most 24
// times as long, whatever the text is.
func TestHostile_linear(t *testing.T) {
	testkit.Long(t)
	repeat := func(unit string) func(n int) string {
		return func(n int) string { return strings.Repeat(unit, n/len(unit)+1) }
	}
	within := func(before, unit, behind string) func(n int) string {
		return func(n int) string { return before + strings.Repeat(unit, n/len(unit)+1) + behind }
	}
	type pattern struct {
		name string
		page func(n int) string
	}
	patterns := []pattern{
		{"links", repeat(`<a href="x.html#y" id=z>x</a>`)},
		{"lists of links", func(n int) string {
			urls := strings.Repeat("url(a)", n/12)
			return `<img style="` + urls + `" srcset="` + strings.Repeat("b, ", n/6) + `">`
		}},
		{"lists of links with references", func(n int) string {
			return `<object usemap=x archive="` + strings.Repeat("&amp;b ", n/14) + `" style="` + strings.Repeat("url(&amp;)", n/20) + `">`
		}},
		{"archives", within(`<applet codebase=x archive="`, "a,", `">`)},
		{"applets", repeat(`<applet codebase=x code=y>`)},
		{"comment, then heads", func(n int) string {
			return "<!--" + strings.Repeat("x", n/2) + "-->" + strings.Repeat("<head id=x>", n/22)
		}},
		{"comment, then doctypes", func(n int) string {
			return "<!--" + strings.Repeat("x", n/2) + "-->" + strings.Repeat("<!doctype html>", n/30)
		}},
		{"html tags", repeat(`<html id=x>`)},
		{"references", within(`<a href="`, "&notin", `">`)},
		{"numeric references", within(`<a href="`, "&#x41", `">`)},
		{"ampersands", within(`<a href="`, "&", `">`)},
		{"attributes", within(`<a `, "href=x id=y ", `>`)},
		{"charset", within(`<meta http-equiv=content-type content="`, "charset= ", `">`)},
		{"charset metas", repeat(`<meta http-equiv=content-type content="charset='x">`)},
		{"rel", within(`<link href=x rel="`, "preconnect ", `">`)},
		{"json", within(`<script type=application/ld+json>`, `{"url":["/a",`, `</script>`)},
		{"json quotes", within(`<script type=application/ld+json>`, `"\`, ``)},
		{"css", within(`<style>`, `@import "a";b{c:url(d) image-set("e" 1x)`, ``)},
		{"css parentheses", within(`<style>`, `url(`, ``)},
		{"css comments", within(`<style>`, `/*`, ``)},
		{"css escapes", within(`<style>`, `\75rl(a`, ``)},
		{"styles", repeat(`<style>a{b:url(c)}</style>`)},
		{"svg styles", repeat(`<svg><style><![CDATA[`)},
		{"svg styles closed", repeat(`<svg><style>a</style></svg>`)},
		{"svg breakouts", repeat(`<svg><p>`)},
		{"escaped script", repeat(`<script><!--<script>`)},
		{"dashes in script", within(`<script><!--`, "- ", ``)},
		{"tables", repeat("<table><tr><td>")}, {"templates", repeat("<template><tr id=x>")}, {"templates closed", repeat("<template></template>")},
	}
	for _, u := range []string{"<", "</", "<!", "<!-", "<!--", "<!-->", "-->", "<?", "<a", "<a ", "<a href", "<a href=", `<a href="`, `<a href='x" `, "<a/", "<a id=x ", "</a ",
		"<script>", "<style>", "<title>", "<textarea>", "</title", "<![CDATA[", "<svg><![CDATA[", "]]>", "&amp;", "\x00", "\r", "é", "<meta charset=x>", "<base href=x>"} {
		patterns = append(patterns, pattern{fmt.Sprintf("%q", u), repeat(u)})
	}
	var s Scanner
	// On the slow path the tree takes a thousand times as long, so the texts
	// are shorter.
	for _, path := range []struct {
		before string
		size   int
	}{{"", 1 << 17}, {"<form><form>", 1 << 13}} {
		for _, c := range patterns {
			t.Run(path.before+c.name, func(t *testing.T) {
				testkit.CheckLinear(t, path.size, func(size int) []byte { return []byte(path.before + c.page(size)) },
					func(text []byte) { s.Scan(text, scan.Options{}) })
			})
		}
	}
}
