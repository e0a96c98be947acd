package outgoing

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	scanhtml "github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/testkit"
)

// contentOf returns the content of a page that the parser read.
func contentOf(t *testing.T, r *rules, text string) (*content, bool) {
	t.Helper()
	doc := testkit.Must(html.Parse(strings.NewReader(text)))(t)
	return r.contentOf(scanhtml.OutlineOf(doc))
}

func (c *content) list(rel map[string]bool) (list []string) {
	c.anchors(rel, func(href []byte) { list = append(list, string(href)) })
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
		{"what the entry answers", `<div class=h-entry><a class=u-in-reply-to href=r></a><a class=u-syndication href=s></a><div class=e-content><a href=1></a></div></div>`, []string{"r", "1"}},
		{"what the entry cites", `<div class=h-entry><div class="u-like-of h-cite"><a class=u-url href=l></a><a href=x></a></div><div class=e-content></div></div>`, []string{"l"}},
		{"comments in the entry", `<div class=h-entry><div class=e-content><a href=1></a></div><div class="p-comment h-cite"><div class=e-content><a href=c></a></div></div></div>`, []string{"1"}},
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
		sum := c.hash()
		var b scanhtml.OutlineReader
		if o, ok := b.Read([]byte(page)); !ok {
			t.Errorf("%s: not read in one pass", page)
		} else if c, _ := rules.contentOf(o, nil); c.hash() != sum {
			t.Errorf("%s: read in one pass it has another hash", page)
		}
		return sum
	}
	first := hash(`<nav>a</nav><main><p>One  two <a href=x>three</a></p></main>`)
	for _, same := range []string{
		`<nav>b</nav><main><p>One  two <a href=x>three</a></p></main>`,
		"<main class=m>\n  <p style='color:red'>One\n two <a class=y href=x>three</a>\n</p></main><script>1</script>",
		`<main><p>One &#116;wo <!-- not seen -->
			<a id=i href="&#120;">three</a></p></main>`,
	} {
		if hash(same) != first {
			t.Errorf("%s: another hash", same)
		}
	}
	for _, other := range []string{
		`<main><p>One two <a href=y>three</a></p></main>`,
		`<main><p>One two <a href=x>four</a></p></main>`,
		`<main><div>One two <a href=x>three</a></div></main>`,
		`<main><p>One two three</p></main>`,
		`<main><p>One two <a href=x>th</a>ree</p></main>`,
		`<main><p>One two <a href=x title=y>three</a></p></main>`,
	} {
		if hash(other) == first {
			t.Errorf("%s: the same hash", other)
		}
	}
}

func TestDeepNesting(t *testing.T) {
	rules := testkit.Must(Options{}.compile())(t)
	c, _ := contentOf(t, rules, strings.Repeat("<b>", 400)+`<a href=1>`)
	if got := c.list(nil); !slices.Equal(got, []string{"1"}) {
		t.Errorf("%v", got)
	}
}
