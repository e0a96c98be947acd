package outgoing

import (
	"slices"
	"strings"
	"testing"

	scanhtml "github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/testkit"
)

// contentOf returns the content of a page that the parser read.
func contentOf(t *testing.T, r *rules, text string) (*content, bool) {
	t.Helper()
	return r.contentOf(testkit.Must(scanhtml.Parse([]byte(text), true))(t))
}

func (c *content) list(rel map[string]bool) (list []string) {
	c.anchors(rel, func(href string) { list = append(list, href) })
	return list
}

func TestContent(t *testing.T) {
	rules := testkit.Must(Options{Rel: DefaultRel}.compile())(t)
	tests := []struct {
		name, page string
		want       []string // links that count; nil for a list of entries
	}{
		{"body without navigation", `<nav><a href=n></a></nav><aside><a href=s></a></aside><p><a href=1></a></p><footer><a href=f></a></footer>`, []string{"1"}},
		{"main", `<a href=0></a><main><nav><a href=n></a></nav><a href=1></a></main>`, []string{"1"}},
		{"an article in main", `<main><a href=0></a><article><a href=1></a><footer><a href=tags></a></footer></article></main>`, []string{"1"}},
		{"comments are articles too", `<article><h1>T</h1><a href=1></a></article><article><a href=c></a></article>`, []string{"1"}},
		{"a list of articles", `<article><a href=1></a></article><article><a href=2></a></article>`, nil},
		{"e-content, all of it", `<article class=h-entry><a href=0></a><div class=e-content><aside><a href=1></a></aside></div></article>`, []string{"1"}},
		{"two parts of e-content", `<div class=h-entry><p class=e-content><a href=1></a></p><p class="x e-content"><a href=2></a></p></div>`, []string{"1", "2"}},
		{"what the entry answers", `<div class=h-entry><a class=u-in-reply-to href=r></a><a class=u-syndication href=s></a><div class=e-content><a href=1></a></div></div>`, []string{"r", "s", "1"}},
		{"whom the entry tags", `<div class=h-entry><a class="u-category h-card" href=p></a><a class=p-category href=t></a><a class="p-author h-card" href=me></a><div class=e-content><a href=1></a></div></div>`, []string{"p", "1"}},
		{"what the entry cites", `<div class=h-entry><div class="u-like-of h-cite"><a class=u-url href=l></a><a href=x></a></div><div class=e-content></div></div>`, []string{"l"}},
		{"comments in the entry", `<div class=h-entry><div class=e-content><a href=1></a></div><div class="p-comment h-cite"><div class=e-content><a href=c></a></div></div></div>`, []string{"1"}},
		{"responses in e-content", `<div class=h-entry><div class=e-content><a href=1></a><blockquote class=h-cite><a class=u-url href=2></a></blockquote><div class="u-comment h-cite"><a href=c></a></div><a class=u-like href=k></a></div></div>`, []string{"1", "2"}},
		{"responses in an entry without e-content", `<div class=h-entry><a class=u-in-reply-to href=r></a><p class="h-cite u-like-of"><a href=l></a></p><p class=h-cite><a href=c></a></p><ul class=webmentions><li><a href=c></a></ul></div>`, []string{"r", "l"}},
		{"comments in an article", `<article><h1>T</h1><a href=1></a><section class="wide comments"><ol><li><a href=c></a></ol></section></article>`, []string{"1"}},
		{"webmentions in an article", `<article><a href=1></a><div class=webmentions__list><a href=c></a></div><div class="u-comment h-cite"><a href=c></a></div></article>`, []string{"1"}},
		{"a section called comments", `<article><a href=1></a><section id=comments><h2>Comments</h2><a href=2></a></section></article>`, []string{"1", "2"}},
		{"comments are articles in a list", `<article><a href=1></a></article><div class=comments><article><a href=c></a></article><article><a href=c></a></article></div>`, []string{"1"}},
		{"comments are entries", `<div class=h-entry><a href=1></a></div><ul class=comment-list><li class=h-entry><a href=c></a></ul>`, []string{"1"}},
		{"a byline", `<article><a class="p-author h-card" href=me></a><a href=1></a></article>`, []string{"1"}},
		{"a footnote", `<article><a href=1></a><section class=footnotes role=doc-endnotes><ol><li><a href=2></a></ol></section></article>`, []string{"1", "2"}},
		{"an entry without e-content", `<div class=h-entry><a href=1></a><footer><a href=f></a></footer></div>`, []string{"1"}},
		{"a feed", `<div class=h-feed><div class=h-entry></div><div class=h-entry></div></div>`, nil},
		{"no recommendation", `<a rel="noopener UGC" href=0></a><a rel=nofollow href=0></a><a rel=sponsored href=0></a><a rel=noopener href=1></a>`, []string{"1"}},
		{"data-no-mention", `<a data-no-mention href=0></a><p data-no-mention><a href=0></a></p><a href=1></a>`, []string{"1"}},
		{"inert markup", `<template><a href=0></a></template><script>"<a href=0></a>"</script><!-- <a href=0> --><a href=1></a>`, []string{"1"}},
		{"image map", `<map><area href=1></map>`, []string{"1"}},
		{"no href", `<a name=x></a><a href=1></a>`, []string{"1"}},
	}
	for _, test := range tests {
		c, ok := contentOf(t, rules, test.page)
		switch {
		case !ok && test.want != nil:
			t.Errorf("%s: classified as a list", test.name)
		case ok && test.want == nil:
			t.Errorf("%s: classified as an entry", test.name)
		case ok:
			if got := c.list(rules.rel); !slices.Equal(got, test.want) {
				t.Errorf("%s: %v, want %v", test.name, got, test.want)
			}
		}
	}
}

func TestContentSelector(t *testing.T) {
	rules := testkit.Must(Options{Content: ".post > p, #links"}.compile())(t)
	c, ok := contentOf(t, rules, `<article class=post><a href=0></a><p><a href=1></a></p></article><article></article><ul id=links><li><a rel=nofollow href=2></a></ul>`)
	if got := c.list(rules.rel); !ok || !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("%v, want 1 and 2", got)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, test := range []struct {
		opt  Options
		want string
	}{
		{Options{Content: "p["}, `content: "p["`},
		{Options{Pages: []string{"a[b"}}, `pages: "a[b"`},
		{Options{Deny: []string{"{a"}}, `deny: "{a"`},
	} {
		if err := test.opt.Check(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, want %s", test.opt, err, test.want)
		}
	}
}

// TestHash: the hash depends on what a reader of the entry sees, not on the theme.
func TestHash(t *testing.T) {
	rules := testkit.Must(Options{}.compile())(t)
	hash := func(page string) string {
		c, _ := contentOf(t, rules, page)
		return c.hash("https://me.example", "/a/post/")
	}
	first := hash(`<nav>a</nav><main><p>One  two <a href=https://x.example/1>three</a></p></main>`)
	for _, same := range []string{
		`<nav>b</nav><main><p>One  two <a href=https://x.example/1>three</a></p></main>`,
		"<main class=m>\n  <p style='color:red'>One\n two <a class=y href=https://x.example/1>three</a>\n</p></main><script>1</script>",
		`<main><p>One &#116;wo <!-- not seen -->
			<a id=i href="https://&#120;.example/1">three</a></p></main>`,
		`<main><div>One two <b><a href=https://x.example/1>three</a></b></div></main>`,
		// What the theme adds.
		`<main><time datetime=2026-11-28>28 November</time><p>One two <a href=https://x.example/1>three</a></p><img src=/pixel.af3e.png></main>`,
		`<main><p>One two <a href=https://x.example/1>three</a></p><a href=/b/>Next: B</a> <a href="https://me.example/tags/go/">go</a></main>`,
		`<main><p>One two <a href=https://x.example/1>three</a></p><ol class=comments><li>Great! <a href=https://y.example/>Bob</a></ol></main>`,
	} {
		if hash(same) != first {
			t.Errorf("%s: another hash", same)
		}
	}
	for _, other := range []string{
		`<main><p>One two <a href=https://x.example/2>three</a></p></main>`,
		`<main><p>One two <a href=https://x.example/1>four</a></p></main>`,
		`<main><p>One two three</p></main>`,
		`<main><p>One two <a href=https://x.example/1>th</a>ree</p></main>`,
		`<main><p>One two <a href=https://x.example/1 title=y>three</a></p></main>`,
		`<main><p>One two <a href=https://x.example/1>three</a></p><img src=https://x.example/pixel.png></main>`,
		`<main><p>One two <a href=https://x.example/1>three</a></p><h1><a href="/a/post/">Title</a></h1></main>`,
		`<main><p>One two <a href=https://x.example/1>three</a></p><a href="#more">More</a></main>`,
		`<main><p>One two <a href=https://x.example/1>three</a></p><a href="https://me.example.org/">Another site</a></main>`,
	} {
		if hash(other) == first {
			t.Errorf("%s: the same hash", other)
		}
	}
}

// TestChange: the change of a page is the same wherever it is and whatever the page has, so
// that a common change differs from an edit; and a hash of an earlier version shows none.
func TestChange(t *testing.T) {
	rules := testkit.Must(Options{}.compile())(t)
	hash := func(page string) string {
		c, _ := contentOf(t, rules, page)
		return c.hash("https://me.example", "/a/post/")
	}
	of := func(before, now string) uint64 {
		t.Helper()
		what, changed := change(hash(before), hash(now))
		if !changed {
			t.Errorf("%s: no change to %s", before, now)
		}
		return what
	}
	date := of(`<main><p>One<p>Built on 27 November</main>`, `<main><p>One<p>Built on 28 November</main>`)
	if other := of(`<main><i>Built on 1 November</i><p>Two</main>`, `<main><p>Two<b>Built on 30 November</b></main>`); other != date {
		t.Error("the same change of two pages is not the same")
	}
	if edit := of(`<main><p>One<p>Built on 27 November</main>`, `<main><p>One more<p>Built on 28 November</main>`); edit == date {
		t.Error("an edit is not seen beside the common change")
	}
	if minutes := of(`<main><p>One</main>`, `<main><p>5 min read<p>One</main>`); minutes != of(`<main><p>Two</main>`, `<main><p>7 min read<p>Two</main>`) {
		t.Error("reading times that differ are not the same change")
	}
	if _, changed := change("5f2ebc9d97cdd847b30a89004f29de8d", hash(`<main>One</main>`)); changed {
		t.Error("a hash of another version shows a change")
	}
	if _, changed := change("5f2ebc9d97cdd847", "5f2ebc9d97cdd848"); !changed {
		t.Error("a feed that changed has not")
	}
}

func TestDeepNesting(t *testing.T) {
	rules := testkit.Must(Options{}.compile())(t)
	c, _ := contentOf(t, rules, strings.Repeat("<b>", 400)+`<a href=1>`)
	if got := c.list(nil); !slices.Equal(got, []string{"1"}) {
		t.Errorf("%v", got)
	}
}

// TestIsSilent: a page that is left unread has no targets and is nothing that is counted, and
// those of most sites are left unread.
func TestIsSilent(t *testing.T) {
	const out = "https://x.example/"
	link := a(out)
	w := &pageWorker{reading: &reading{rules: testkit.Must(Options{}.compile())(t), base: base, origin: strings.TrimSuffix(base, "/")}}
	for _, test := range []struct {
		page   string
		silent bool
	}{
		{"<h1>T</h1><p>x</p><footer><p>By " + link + "<br><small>x</small><!-- </footer> --></p></footer>", true},
		{"<nav><ul><li>" + link + "</li></ul></nav><main>x</main><aside>" + link + "</aside>", true},
		{"<link rel=me href=" + out + "><script src=" + out + "></script><p>x", true},
		{"<script>'<footer>'</script><noscript><a></noscript><h2><a id=x>T</a></h2><footer>" + link + "</footer>", true},
		{link + "<footer>x</footer>", false},
		{"<!-- <footer> -->" + link + "<!-- </footer> -->", false},
		{"<script>'<footer>'</script>" + link + "<script>'</footer>'</script>", false},
		{"<p title='<footer>'>" + link + "<p title='</footer>'>", false},
		{"<div><footer>x</div>" + link + "</footer>", false},
		{"<footer><p>" + link + "</footer>", false},
		{"<footer><table>" + link + "</table></footer>", false},
		{"<footer><form>" + link + "</form></footer>", false},
		{"<h1><a href=/b/>T</a></h1><footer>" + link + "</footer>", false},
		{"<h1> <b><a href=/b/>T</a></b></h1><footer>" + link + "</footer>", false},
		{"<article></article><article></article><footer>" + link + "</footer>", false},
		{"<div class=h-entry><div class=e-content><footer>" + link + "</footer></div></div>", false},
		{`<meta http-equiv=status content="410"><footer>` + link + "</footer>", false},
	} {
		var links []int
		for i := 0; ; {
			k := strings.Index(test.page[i:], out)
			if k < 0 {
				break
			}
			links = append(links, i+k)
			i += k + 1
		}
		if got := isSilent([]byte(test.page), links); got != test.silent {
			t.Errorf("%s: silent is %v", test.page, got)
		}
		if m := w.read(Entry{URL: base + "p/"}, []byte(test.page), 0, false); test.silent && (m.excluded != "" || len(m.entry.Targets) > 0) {
			t.Errorf("%s: silent, but read as %+v", test.page, m)
		}
	}
}
