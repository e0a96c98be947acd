package outgoing

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/site"
)

// entries reads the docroot of the world, loaded as other modules do: without
// the hashes of files, which deploy uses.
func (w *world) entries() *Entries {
	w.t.Helper()
	s := testkit.Must(site.Load(w.t.Context(), w.dir, site.Options{BaseURLs: []string{base}}))(w.t)
	e := testkit.Must(Read(w.t.Context(), s, &w.snap, w.opt, w.cache))(w.t)
	return e
}

func TestTargets(t *testing.T) {
	for _, test := range []struct {
		name, body string
		want       []string
	}{
		{"as it is written", a("HTTPS://X.example:443/a/../b?q=1&amp;r#f"), []string{"HTTPS://X.example:443/a/../b?q=1&r#f"}},
		{"white space around it", a(" https://x.example/a\n"), []string{"https://x.example/a"}},
		{"what cannot be sent so", a("https://x.example/ä b"), []string{"https://x.example/%C3%A4%20b"}},
		{"without scheme", a("//x.example/a"), []string{"https://x.example/a"}},
		{"each once", a("https://x.example/a#1") + a("https://x.example/a#2") + a("https://X.example/a"), []string{"https://x.example/a#1"}},
		{"the own host, whatever the scheme", a("/b/") + a("http://me.example/c/") + a("https://x.example/"), []string{"https://x.example/"}},
		{"another port is another host", a("https://me.example:8443/"), []string{"https://me.example:8443/"}},
		{"no web address", a("mailto:a@x.example") + a("ftp://x.example/") + a("javascript:1") + a("https://x.example/"), []string{"https://x.example/"}},
		{"credentials are not sent", a("https://u:p@x.example/") + a("https://x.example/"), []string{"https://x.example/"}},
		{"no URL", a("https://x.example:99999/") + a("https://x.example/"), []string{"https://x.example/"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.write("p/index.html", post("P", test.body))
			e := w.entries()
			if len(e.List) != 1 || !slices.Equal(e.List[0].Targets, test.want) {
				t.Errorf("entries %+v, want targets %q", e.List, test.want)
			}
		})
	}
}

func TestBaseElement(t *testing.T) {
	w := newWorld(t)
	w.write("p.html", "<base href=https://x.example/dir/><main><a href=a>1</a>"+a("https://y.example/")+"</main>")
	if got := w.entries().List[0].Targets; !slices.Equal(got, []string{"https://x.example/dir/a", "https://y.example/"}) {
		t.Errorf("targets %q", got)
	}
}

func TestLegacyEncoding(t *testing.T) {
	w := newWorld(t)
	w.write("p.html", "<meta charset=iso-8859-1><main>caf\xe9 "+a("https://x.example/caf\xe9")+"</main>")
	if got := w.entries().List[0].Targets; !slices.Equal(got, []string{"https://x.example/caf%C3%A9"}) {
		t.Errorf("targets %q", got)
	}
}

func TestAllowAndDeny(t *testing.T) {
	w := newWorld(t)
	w.write("p.html", post("P", a("https://a.example/"), a("https://sub.b.example/x"), a("https://c.example/no/1"), a("https://c.example/yes")))
	for _, test := range []struct {
		allow, deny []string
		want        []string
	}{
		{nil, []string{"*.b.example", "https://c.example/no/**"}, []string{"https://a.example/", "https://c.example/yes"}},
		{[]string{"c.example"}, nil, []string{"https://c.example/no/1", "https://c.example/yes"}},
		{[]string{"{a,c}.example"}, []string{"c.example"}, []string{"https://a.example/"}},
	} {
		w.opt.Allow, w.opt.Deny = test.allow, test.deny
		if got := w.entries().List[0].Targets; !slices.Equal(got, test.want) {
			t.Errorf("allow %v, deny %v: %v, want %v", test.allow, test.deny, got, test.want)
		}
	}
}

func TestLeftOut(t *testing.T) {
	w := newWorld(t)
	link := a("https://x.example/")
	w.write("index.html", "<article>"+link+"</article><article>"+link+"</article>")
	w.write("404.html", post("404", link))
	w.write("tags/post.html", `<h1>Tag</h1><article><h2><a href="/post.html">P</a></h2>`+link+"</article>")
	w.write("page/2.html", `<main><article><h4><a href="/tags/">News</a></h4><h2 class=t><a href="`+base+`post.html"><b>P</b></a></h2>`+link+"</article></main>")
	w.write("feed.html", `<div class=h-feed><div class=h-entry><a class=u-url href=post.html>P</a><div class=e-content>`+link+"</div></div></div>")
	w.write("copy.html", `<link rel=canonical href=/post.html>`+link)
	w.write("post.html", post("P", link))
	w.write("moved.html", `<meta http-equiv=refresh content="0; url=/post.html">`)
	w.write("draft/a.html", post("D", link))
	w.write("grave.html", TombstonePage+link)
	w.write("deep.html", strings.Repeat("<div>", 600)+link)
	w.opt.Exclude = []string{"draft/**"}
	e := w.entries()
	if len(e.List) != 1 || e.List[0].URL != base+"post.html" { // its title is not a link
		t.Errorf("entries %+v", e.List)
	}
	var got []string
	for _, l := range e.Excluded {
		got = append(got, fmt.Sprint(l.Pages, " ", l.Reason))
	}
	want := []string{"1 alias", "1 canonical address elsewhere", "3 entry of another page", "1 error page", "1 list of several entries", "1 not chosen", "1 tombstone", "1 too large or too deep to be parsed"}
	if !slices.Equal(got, want) {
		t.Errorf("left out:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A title may link to its own page, to the home page or to what the post is about.
func TestTitlesThatLink(t *testing.T) {
	link := a("https://x.example/")
	for _, title := range []string{
		`<div class=h-entry><a class="u-url u-shortlink" href="/s/1/">s</a><a class="u-url" href=".">P</a><h1>P</h1>`,
		`<h1><a href="/p/">P</a></h1>`, `<h1><a href="https://me.example/p/index.html#top">P</a></h1>`, `<h1><a href="/">Blog</a></h1><h2>P</h2>`,
		`<h1><a href="https://x.example/">P</a></h1>`, `<h1>P, part of <a href="/series/">a series</a></h1>`, `<h4><a href="/news/">News</a></h4><h1>P</h1>`,
	} {
		w := newWorld(t)
		w.write("p/index.html", "<article>"+title+link+"</article>")
		w.write("index.html", "<p>home")
		if e := w.entries(); len(e.List) != 1 || len(e.List[0].Targets) != 1 {
			t.Errorf("%s: entries %+v, left out %v", title, e.List, e.Excluded)
		}
	}
}

// TestExcerptsInAPage: a list of posts sends for its own text alone, as with the theme that
// hugo new theme makes, and minima's list items.
func TestExcerptsInAPage(t *testing.T) {
	own, other := a("https://own.example/"), a("https://other.example/")
	title := func(level string) string { return "<" + level + `><a href="/p/">P</a></` + level + ">" }
	for _, test := range []struct {
		page string
		want string
	}{
		{"<main><h1>Posts</h1>" + own + "<section>" + title("h2") + other + "<h3>more</h3>" + other + "</section></main>", "own"},
		{"<h1>Posts</h1><section>" + title("h2") + other + "</section><p>" + own, "own"},
		{"<h1>Posts</h1><ul><li><h3><a href=/p/>P</a></h3>" + other + "</ul>" + own, "own"},
		{"<h1>Posts</h1><div>" + title("h2") + "</div>" + other + "<h2>Elsewhere</h2>" + own, "own"},
		{"<h1>Posts</h1>" + title("h2") + other, ""},
		{"<h1>Post</h1><h2>About <a href=/p/>P</a></h2>" + own, "own"},
		{"<h1>Post</h1><h2><a href=/q/>Q</a></h2>" + own, "own"}, // itself
		{"<div class=h-entry><div class=e-content><h1>Post</h1>" + title("h2") + own + "</div></div>", "own"},
	} {
		w := newWorld(t)
		w.write("q/index.html", test.page)
		w.write("p/index.html", "<p>p")
		got := ""
		for _, e := range w.entries().List {
			for _, target := range e.Targets {
				got += strings.TrimSuffix(strings.TrimPrefix(target, "https://"), ".example/")
			}
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.page, got, test.want)
		}
	}
}

func TestInternalLinks(t *testing.T) {
	w := newWorld(t)
	w.opt.Internal = true
	w.write("a/index.html", post("A", a("/b/#x"), a("../b/"), a("#self")))
	w.write("b/index.html", post("B", a("https://x.example/")))
	e := w.entries()
	if len(e.List) != 2 || !slices.Equal(e.List[0].Internal, []string{"/b/"}) || len(e.List[0].Targets) != 0 {
		t.Errorf("entries %+v", e.List)
	}
}

func TestFeedTellsItsHub(t *testing.T) {
	w := newWorld(t)
	w.opt.Hubs = func(feed []byte) []string {
		if strings.Contains(string(feed), "hub") {
			return []string{"https://hub.example/"}
		}
		return nil
	}
	feed := func(title string) string {
		return `<rss version="2.0"><channel><title>` + title + `</title><!-- hub --></channel></rss>`
	}
	w.write("index.xml", feed("1"))
	w.write("p.html", post("P", a("https://x.example/")))
	w.deploy()
	w.expect()
	w.write("index.xml", feed("2"))
	w.expect("updated index.xml hub.example/")
	if n := w.snap.Notices[0]; n.Protocol != ledger.WebSub {
		t.Errorf("protocol %q", n.Protocol)
	}
}

func TestNoBaseURL(t *testing.T) {
	w := newWorld(t)
	w.write("p.html", post("P"))
	s := testkit.Must(site.Load(t.Context(), w.dir, site.Options{}))(t)
	if _, err := Read(t.Context(), s, &w.snap, w.opt, nil); !errors.Is(err, ErrNoBase) {
		t.Errorf("error %v, want ErrNoBase", err)
	}
}
