package check

import (
	"context"
	"strings"
	"testing"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/testkit"
)

var (
	published     = isite.Options{BaseURLs: []string{"https://example.org/"}}
	relativeFeeds = isite.Options{BaseURLs: published.BaseURLs, Generator: "hugo", RelativeURLs: true}
)

// rss returns an RSS feed with one item at an address.
func rss(address, html string) string {
	html = strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(html)
	return `<rss version="2.0"><channel><item><link>` + address + `</link><description>` + html + `</description></item></channel></rss>`
}

// Links that only work relative to their feed, as Hugo's relativeURLs writes
// them, are one finding that says so and how to repair it, whatever their
// number. A link that works nowhere is a finding of its own.
func TestFeedRelative(t *testing.T) {
	fs := files{
		"index.html": plain, "docs/a/index.html": plain, "docs/b/index.html": plain, "blog/post/index.html": plain,
		"blog/index.xml": rss("https://example.org/blog/post/", `<a href="../docs/a/">a</a> <a href="./../docs/b/">b</a> <a href="../nowhere/">n</a>`),
		"index.xml":      rss("https://example.org/blog/post/", `<a href="docs/a/">a</a>`),
	}
	r := checkFiles(t, fs, relativeFeeds, Options{})
	compareBriefs(t, r.Findings, "blog/index.xml:1:103 error feed-relative ../docs/a/", "blog/index.xml:1:183 error missing-directory ../nowhere/")
	f := &r.Findings[0]
	for _, want := range []string{"3 links of 2 feeds ", "against the address of the item", "relativeURLs = true: set it to false", "xml:base"} {
		if !strings.Contains(f.Message, want) {
			t.Errorf("the message %q does not contain %q", f.Message, want)
		}
	}
	if want := "; the address was resolved against https://example.org/blog/post/"; !strings.HasSuffix(r.Findings[1].Message, want) {
		t.Errorf("the message %q does not end with %q", r.Findings[1].Message, want)
	}
	if f.Count != 3 || r.Summary.Errors != 4 || len(Causes(r.Findings)) != 2 {
		t.Errorf("%d links, %d errors, %d causes", f.Count, r.Summary.Errors, len(Causes(r.Findings)))
	}
	all, _ := rows(t, load(t, tempDocroot(t, fs), published), Options{})
	n := 0
	for i := range all {
		if all[i].Code == FeedRelative {
			n++
		}
	}
	if n != 3 {
		t.Errorf("%d rows of links are relative to a feed, want 3", n)
	}
}

// A link that the page of the item has as well is wrong there in the same way: one
// cause, without advice about a setting. Without relativeURLs, there is none either.
func TestFeedRepeatsPage(t *testing.T) {
	for _, link := range []string{`<a href="docs/a/">`, `<a href='docs/a/'>`, `<a href=docs/a/>`} {
		r := checkFiles(t, files{"index.html": plain, "docs/a/index.html": plain, "blog/post/index.html": plain + link,
			"index.xml": rss("https://example.org/blog/post/", link)}, relativeFeeds, Options{})
		if len(r.Findings) != 2 || r.Findings[1].Code != MissingDirectory || len(Causes(r.Findings)) != 1 {
			t.Errorf("%s: findings %q of %d causes", link, briefs(r.Findings), len(Causes(r.Findings)))
		}
	}
	r := checkFiles(t, files{"index.html": plain, "docs/a/index.html": plain, "blog/post/index.html": plain + `<a href="docs/ax/">`,
		"docs/ax/index.html": plain, "index.xml": rss("https://example.org/blog/post/", `<a href="docs/a/">`)}, published, Options{})
	if len(r.Findings) != 2 || r.Findings[1].Code != FeedRelative || strings.Contains(r.Findings[1].Message, "relativeURLs") || !strings.Contains(r.Findings[1].Message, "; add xml:base") {
		t.Errorf("findings %q, %s", briefs(r.Findings), r.Findings[1].Message)
	}
}

// The fingerprint of the finding does not depend on the number of links.
func TestFeedRelativeFingerprint(t *testing.T) {
	one := files{"index.html": plain, "a/index.html": plain, "p/q/index.html": plain, "index.xml": rss("https://example.org/p/q/", `<a href="a/">a</a>`)}
	two := files{"0/index.xml": rss("https://example.org/p/q/", `<a href="../a/">a</a>`)}
	for name, text := range one {
		two[name] = text
	}
	before, after := checkFiles(t, one, published, Options{}), checkFiles(t, two, published, Options{})
	if len(before.Findings) != 1 || len(after.Findings) != 1 {
		t.Fatalf("findings %v and %v", briefs(before.Findings), briefs(after.Findings))
	}
	if d := Compare(before.Findings, after.Findings); len(d.New)+len(d.Fixed) > 0 {
		t.Errorf("new %v, fixed %v", briefs(d.New), briefs(d.Fixed))
	}
}

// A message names the base of a relative address where that is not the address
// of the page.
func TestMessageNamesBase(t *testing.T) {
	const named = "; the address was resolved against "
	for name, c := range map[string]struct {
		fs   files
		want string // base, "" for none
	}{
		"page":          {files{"d/p.html": plain + `<a href="gone">x</a>`}, ""},
		"base element":  {files{"d/p.html": `<!doctype html><base href="/e/"><a href="gone">x</a>`}, "/e/"},
		"from the root": {files{"d/p.html": `<!doctype html><base href="/e/"><a href="/gone">x</a>`}, ""},
		"item":          {files{"p.html": plain, "f.xml": rss("https://example.org/p.html", `<a href="x/gone">x</a>`)}, "https://example.org/p.html"},
		"xml:base": {files{"p.html": plain, "f.xml": `<rss version="2.0" xml:base="/b/"><channel><item><link>https://example.org/p.html</link><description>&lt;a href="gone"></description></item></channel></rss>`},
			"/b/"},
		"atom": {files{"d/f.xml": `<feed xmlns="http://www.w3.org/2005/Atom"><entry><content type="html">&lt;a href="gone"></content></entry></feed>`, "p.html": plain},
			"/d/f.xml"},
	} {
		t.Run(name, func(t *testing.T) {
			r := checkFiles(t, c.fs, published, Options{})
			if len(r.Findings) != 1 {
				t.Fatalf("findings %v", briefs(r.Findings))
			}
			_, base, _ := strings.Cut(r.Findings[0].Message, named)
			if base != c.want {
				t.Errorf("the message %q names the base %q, want %q", r.Findings[0].Message, base, c.want)
			}
		})
	}
}

// Explain and Run agree about every link of a feed.
func TestExplainFeeds(t *testing.T) {
	fs := files{
		"index.html": plain, "docs/a/index.html": plain, "blog/post/index.html": plain, "blog/post/own/index.html": plain,
		"blog/index.xml": rss("https://example.org/blog/post/", `<a href="../docs/a/">a</a> <a href="own/">o</a> <a href="../nowhere/">n</a> <a href="/docs/a/#no">f</a> <img src="gone.png">`),
		"gone.xml":       rss("https://example.org/gone/", `<a href="/gone/">a</a>`),
		"atom.xml":       `<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="https://example.org/x/"/><content type="html">&lt;a href="blog/">&lt;a href="blog/nope"></content></entry></feed>`,
		"sitemap.xml":    sitemap("https://example.org/nowhere/", "https://example.org/docs/a/"),
	}
	s := load(t, tempDocroot(t, fs), published)
	all, _ := rows(t, s, Options{})
	n := 0
	for i := range all {
		l := &all[i]
		if !strings.HasSuffix(l.Page, ".xml") {
			continue
		}
		n++
		e := testkit.Must(Explain(context.Background(), handle(s), Options{}, l.Page, l.Raw))(t)
		first := l
		for j := range all { // the same value may occur twice: the one that is wrong is explained
			if other := &all[j]; other.Page == l.Page && other.Raw == l.Raw && other.Verdict == Error {
				first = other
				break
			}
		}
		if e.Link.Verdict != first.Verdict || e.Link.Code != first.Code || e.Link.Message != first.Message || e.Link.Target != first.Target {
			t.Errorf("%s %s: explain says %s %s %q of %s, check %s %s %q of %s", l.Page, l.Raw, e.Link.Verdict, e.Link.Code, e.Link.Message, e.Link.Target,
				first.Verdict, first.Code, first.Message, first.Target)
		}
	}
	if n < 10 {
		t.Errorf("only %d links", n)
	}
}
