package check

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/redirect"
	"github.com/sitelink/sitelink/internal/scan"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/testkit"
)

const plain = "<!doctype html><title>x</title>"

// fixture is a docroot, with the links and file faults in it that have one
// code.
type fixture struct {
	name  string
	code  Code
	files files
	sopt  isite.Options
	opt   Options
	// make, if set, adds what files cannot express, and change alters the
	// docroot between Load and Run.
	make, change func(t testing.TB, root string)
	want         []string // in the form of brief
}

var exampleOrg = isite.Options{BaseURLs: []string{"https://example.org/sub/"}}

func mode(name string, m os.FileMode) func(t testing.TB, root string) {
	return func(t testing.TB, root string) { chmod(t, filepath.Join(root, name), m) }
}

func remove(name string) func(t testing.TB, root string) {
	return func(t testing.TB, root string) {
		testkit.Check(t, os.Remove(filepath.Join(root, name)))
	}
}

// fixtures contains every code at least once, which TestCodes checks.
var fixtures = []fixture{
	{name: "LL-61/missing_file", code: MissingFile, files: files{"p.html": "<!doctype html>\n <a href=gone.html>x</a> <img src='i.gif'>", "d/q.html": plain + "<a href='../gone.html?q#f'>"},
		want: []string{"d/q.html:1:41 error missing-file ../gone.html?q#f", "p.html:2:10 error missing-file gone.html", "p.html:2:36 error missing-file i.gif"}},
	{name: "LL-84/missing_directory", code: MissingDirectory, files: files{"p.html": plain + "<a href=nodir/>"}, want: []string{"p.html:1:40 error missing-directory nodir/"}},
	{name: "LL-79/missing_index", code: MissingIndex, files: files{"p.html": plain + "<a href=d/><a href=d>", "d/x.txt": ""},
		want: []string{"p.html:1:40 error missing-index d/", "p.html:1:51 error missing-index d"}},
	{name: "LL-63/missing_fragment", code: MissingFragment, files: files{"p.html": plain + "<a href=#nope><a href=q.html#nope><a href=q.html#yes>", "q.html": plain + "<p id=yes>"},
		want: []string{"p.html:1:40 error missing-fragment #nope", "p.html:1:54 error missing-fragment q.html#nope"}},
	{name: "LL-63/missing_map", code: MissingMap, files: files{"p.html": plain + "<map name=m1></map><img usemap=#m2><img usemap=#m1><img usemap=m1>"},
		want: []string{"p.html:1:63 error missing-map #m2", "p.html:1:95 error missing-map m1"}},
	{name: "LL-110/wrong_case", code: WrongCase, files: files{"p.html": plain + "<img src=Pic.PNG>", "pic.png": ""}, want: []string{"p.html:1:41 error wrong-case Pic.PNG"}},
	{name: "LL-71/outside_docroot", code: OutsideDocroot, files: files{"p.html": plain + "<a href=../outside.txt><a href=../p.html><a href=..%2fx>"},
		want: []string{"p.html:1:40 error outside-docroot ../outside.txt", "p.html:1:63 warning outside-docroot ../p.html", "p.html:1:81 error outside-docroot ..%2fx"}},
	{name: "outside_behind_symlink", code: OutsideDocroot, files: files{"p.html": plain + "<a href=out>", "out": "-> ../beside.txt"},
		make: func(t testing.TB, root string) { addFiles(t, filepath.Dir(root), files{"beside.txt": ""}) },
		want: []string{"p.html:1:40 warning outside-docroot out"}},
	{name: "broken_symlink", code: BrokenSymlink, files: files{"p.html": plain + "<a href=b><a href=l>", "b": "-> nowhere", "l": "-> l"},
		want: []string{"p.html:1:40 error broken-symlink b", "p.html:1:50 error broken-symlink l"}},
	{name: "LL-111/private", code: Unreadable, files: files{"p.html": plain + "<a href=q.html>", "q.html": plain}, make: mode("q.html", 0o600),
		want: []string{"p.html:1:40 warning unreadable q.html"}},
	{name: "unreadable", code: Unreadable, files: files{"p.html": plain + "<img src=i.gif>", "i.gif": ""}, make: mode("i.gif", 0), want: []string{"p.html:1:41 error unreadable i.gif"}},
	{name: "special_file", code: SpecialFile, files: files{"p.html": plain + "<a href=s>"},
		make: func(t testing.TB, root string) {
			t.(*testing.T).Chdir(root)
			l, err := net.Listen("unix", "s")
			if err != nil {
				t.Skip(err)
			}
			t.Cleanup(func() { l.Close() })
		},
		want: []string{"p.html:1:40 error special-file s"}},
	{name: "LL-73/bad_url", code: BadURL, files: files{"p.html": plain + "<a href=http://[><a href=p.html%00><a href=100%>"},
		want: []string{"p.html:1:40 error bad-url http://[", "p.html:1:57 error bad-url p.html%00", "p.html:1:75 error bad-url 100%"}},
	{name: "LL-75/empty_link", code: EmptyLink, files: files{"p.html": plain + "<img src=''><a href=''>"}, want: []string{"p.html:1:42 error empty-link"}},
	{name: "unclosed_comment", code: UnclosedComment, files: files{"p.html": "<!doctype html>\n<a href=p.html>x</a> <!-- x <a href=n.html>"}, want: []string{"p.html:2:22 warning unclosed-comment"}},
	{name: "unclosed_element", code: UnclosedElement, files: files{"p.html": plain + "<script src=\"s.js\"/><a href=n.html>", "s.js": ""}, want: []string{"p.html:1:32 warning unclosed-element"}},
	{name: "unclosed_tag", code: UnclosedTag, files: files{"p.html": plain + "<a href=p.html"}, want: []string{"p.html:1:32 warning unclosed-tag"}},
	{name: "not_well_formed", code: NotWellFormed, files: files{"p.html": plain, "x.xhtml": "<html xmlns=\"http://www.w3.org/1999/xhtml\">\n<p>x</b>"}, want: []string{"x.xhtml:2:5 warning not-well-formed"}},
	{name: "irregular_too_deep", code: TooLarge, files: files{"p.html": plain + "<form><form>" + strings.Repeat("<div>", 600) + "<a href=p.html>"}, want: []string{"p.html:1:1 warning too-large"}},
	{name: "svg_view", code: MissingFragment, files: files{"p.html": plain + "<a href='i.svg#svgView(viewBox(0,0,9,9))'><a href='#svgView(viewBox(0,0,9,9))'><a href='i.svg#svgView'>",
		"i.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>"}, want: []string{"p.html:1:83 error missing-fragment #svgView(viewBox(0,0,9,9))", "p.html:1:120 error missing-fragment i.svg#svgView"}},
	{name: "svg_media_fragment", code: MissingFragment, files: files{"p.html": plain + "<img src='i.svg#xywh=0,0,9,9'><img src='i.svg#t=1'><a href='#xywh=0,0,9,9'>", "i.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>"},
		want: []string{"p.html:1:92 error missing-fragment #xywh=0,0,9,9"}},
	{name: "svg_fragment_of_an_image", code: MissingFragment, files: files{"i.svg": "<svg xmlns='http://www.w3.org/2000/svg'><a href='#on'/><image href='o.svg#x'/></svg>", "o.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
		"p.css": "p{background:url(o.svg#x);filter:url(o.svg#f);-webkit-mask : url('o.svg#m')}", "p.html": plain + "<link rel=stylesheet href=p.css><img src='i.svg#x' srcset='i.svg#y 2x'><picture><source srcset='i.svg#z'></picture>" +
			"<p style='background:url(o.svg#a)'><svg><use href='o.svg#u'/></svg><object data='o.svg#d'></object><a href='o.svg#h'></a>"},
		want: []string{"p.css:1:38 error missing-fragment o.svg#f", "p.css:1:67 error missing-fragment o.svg#m", "p.html:1:198 error missing-fragment o.svg#u", "p.html:1:228 error missing-fragment o.svg#d", "p.html:1:255 error missing-fragment o.svg#h"}},
	{name: "svg_font", code: MissingFragment, files: files{"f.woff": "", "f.svg": "<svg xmlns='http://www.w3.org/2000/svg'><font id='f'/></svg>", "p.html": plain +
		"<style>@font-face{src:url(f.svg#a) format('svg'),url(f.woff)} @font-face{src:url('f.svg#b')} @font-face{src:url(f.svg#f)} p{filter:url(f.svg#c)}</style>"},
		want: []string{"p.html:1:114 warning missing-fragment f.svg#b", "p.html:1:167 error missing-fragment f.svg#c"}},
	{name: "anchor_in_noscript", code: MissingFragment, files: files{"p.html": plain + "<noscript><p id=x><a href='#x'></a></noscript><a href='#x'></a>"}, want: []string{"p.html:1:87 error missing-fragment #x"}},
	{name: "svg_that_is_only_an_image", code: MissingFile, files: files{"p.html": plain + "<img src=i.svg><style>p{background:url(i.svg)}</style><a href=o.svg></a><img src=o.svg>",
		"i.svg": "<svg xmlns='http://www.w3.org/2000/svg'><a href='n#x'/><a href='o.svg#n'/><image href='m'/></svg>", "o.svg": "<svg xmlns='http://www.w3.org/2000/svg'><a href='n'/></svg>"},
		want: []string{"i.svg:1:88 error missing-file m", "o.svg:1:50 error missing-file n"}},
	{name: "late_base", code: MissingFile, files: files{"d/p.html": plain + "<link rel=stylesheet href=a.css><script src=a.js></script><style>p{background:url(a.png)}</style><iframe srcdoc='<a href=a.html>'></iframe><link rel=next href=b.html>" +
		"<base href=/><link rel=stylesheet href=a.css><a href=b.html>", "d/a.css": "", "d/a.js": "", "d/a.png": "", "d/a.html": plain, "b.html": plain},
		want: []string{"d/p.html:1:237 error missing-file a.css"}},
	{name: "map_by_id", code: MissingMap, files: files{"p.html": plain + "<img src=p.html usemap='#m'><img src=p.html usemap='#n'><img src=p.html usemap='#o'><map id=m></map><map name=n id=k></map><p id=o>"},
		want: []string{"p.html:1:112 error missing-map #o"}},
	{name: "empty_link_of_spaces", code: EmptyLink, files: files{"p.html": plain + "<img src='  '><a href=' '>"}, want: []string{"p.html:1:42 error empty-link"}},
	{name: "A-LL-4/base_differs", code: BaseDiffers, files: files{"p.html": plain + "<a href=p.html><base href=/d/>", "d/p.html": plain}, want: []string{"p.html:0:0 warning base-differs"}},
	{name: "WO-19/credentials", code: Credentials, files: files{"p.html": plain + "<a href=http://JOE:Secret@H.example/><a href=//joe@h.example>"},
		want: []string{"p.html:1:40 warning credentials http://JOE:Secret@H.example/", "p.html:1:77 warning credentials //joe@h.example"}},
	{name: "WO-19/credentials_for_own_host", code: Credentials, sopt: exampleOrg, files: files{"p.html": plain + "<a href=https://joe@example.org/sub/p.html>"},
		want: []string{"p.html:1:40 warning credentials https://joe@example.org/sub/p.html"}},
	{name: "LL-72/backslash", code: Backslash, files: files{"p.html": plain + "<a href=d\\q.html>", "d/q.html": plain}, want: []string{"p.html:1:40 warning backslash d\\q.html"}},
	{name: "LL-72/double_slash", code: DoubleSlash, files: files{"p.html": plain + "<a href=d//q.html>", "d/q.html": plain}, want: []string{"p.html:1:40 warning double-slash d//q.html"}},
	{name: "LL-79/autoindex", code: Autoindex, sopt: isite.Options{Profile: host.Linklint}, files: files{"p.html": plain + "<a href=d/>", "d/x.txt": ""}, want: []string{"p.html:1:40 warning autoindex d/"}},
	{name: "script_fragment", code: ScriptFragment, files: files{"p.html": plain + "<a href=#/route><a href=q.html#!r>" + readsHash, "q.html": plain + readsHash},
		want: []string{"p.html:1:40 unchecked script-fragment #/route", "p.html:1:56 unchecked script-fragment q.html#!r"}},
	{name: "LL-93/mapping_loop", code: MappingLoop, sopt: isite.Options{Maps: []host.MapRule{{From: "/p", To: "/q"}, {From: "/q", To: "/p"}}}, files: files{"p.html": plain + "<a href=p/x>"},
		want: []string{"p.html:1:40 error mapping-loop p/x"}},
	{name: "too_large", code: TooLarge, sopt: isite.Options{MaxPageBytes: 100}, files: files{"p.html": plain + "<a href=q.html>", "q.html": plain + strings.Repeat(" ", 100)},
		want: []string{"q.html:0:0 warning too-large"}},
	{name: "read_error", code: ReadError, files: files{"p.html": plain + "<a href=#x><a href=q.html>", "q.html": plain}, change: remove("p.html"), want: []string{"p.html:0:0 error read-error"}},
	{name: "LL-96/bad_map_file", code: BadMapFile, files: files{"p.html": plain + "<a href=m.map>", "m.map": "rect /p.html 1,1 2,2\nwhat is this\n"}, want: []string{"m.map:2:1 warning bad-map-file"}},
	{name: "server_dependent", code: ServerDependent, files: files{"p.html": plain + "<a href=d%2fq.html>", "d/q.html": plain}, want: []string{"p.html:1:40 warning server-dependent d%2fq.html"}},
	{name: "changed", code: Changed, files: files{"p.html": plain + "<a href=#x>"},
		change: func(t testing.TB, root string) {
			addFiles(t, root, files{"p.html": plain + "<a href=y><a href=#x>"})
		},
		want: []string{"p.html:0:0 error changed"}},

	{name: "sitemap_entry", code: SitemapEntry, sopt: exampleOrg, files: files{"p.html": plain, "d/index.html": plain,
		"sitemap.xml": sitemap("https://example.org/sub/p.html", "http://example.org/sub/gone.html", "https://example.org/sub/d", "https://example.org/sub/P.html", "/sub/d/")},
		want: []string{"sitemap.xml:3:11 error sitemap-entry http://example.org/sub/gone.html", "sitemap.xml:5:11 error sitemap-entry https://example.org/sub/P.html",
			"sitemap.xml:4:11 warning sitemap-entry"}},
	{name: "sitemap_entry_elsewhere", code: SitemapEntry, sopt: exampleOrg, files: files{"p.html": plain,
		"sitemap.xml": sitemap("https://example.org/sub/p.html", "https://www.example.org/sub/p.html", "https://example.org/p.html", "https://example.org/other.html")},
		want: []string{"sitemap.xml:4:11 error sitemap-entry https://example.org/p.html", "sitemap.xml:3:11 warning sitemap-entry"}},
	{name: "sitemap_index_of_itself", code: SitemapEntry, sopt: exampleOrg, files: files{"p.html": plain, "s.xml": sitemap("https://example.org/sub/p.html"),
		"i.xml": sitemapIndex("https://example.org/sub/i.xml", "https://example.org/sub/j.xml", "https://example.org/sub/s.xml", "https://example.org/sub/p.html", "https://example.org/sub/l.txt"),
		"j.xml": sitemapIndex("https://example.org/sub/i.xml"), "l.txt": "https://example.org/sub/p.html\n"},
		want: []string{"i.xml:2:15 error sitemap-entry https://example.org/sub/i.xml", "i.xml:3:15 error sitemap-entry https://example.org/sub/j.xml",
			"i.xml:5:15 error sitemap-entry https://example.org/sub/p.html", "j.xml:2:15 error sitemap-entry https://example.org/sub/i.xml"}},
	{name: "feed_relative", code: FeedRelative, sopt: exampleOrg, files: files{"p/q.html": plain, "a.html": plain, "feed.xml": "<rss><channel><item><link>https://example.org/sub/p/q.html</link>" +
		"<description>&lt;a href=a.html>&lt;a href=./a.html></description></item></channel></rss>"},
		want: []string{"feed.xml:1:90 error feed-relative a.html", "feed.xml:1:108 error feed-relative ./a.html"}},
	{name: "feed_entry", code: FeedEntry, sopt: exampleOrg, files: files{"p.html": plain, "feed.xml": "<rss><channel><link>https://example.org/sub/gone/</link>\n" +
		"<item><link>https://example.org/sub/p.html</link></item>\n<item><link>https://example.org/sub/gone.html</link></item>\n<item><link>https://elsewhere.example/</link></item></channel></rss>",
		"f.json": `{"version":"https://jsonfeed.org/version/1.1","items":[{"url":"gone.html"}]}`},
		want: []string{`f.json:1:64 error feed-entry gone.html`, "feed.xml:3:13 error feed-entry https://example.org/sub/gone.html"}},
	{name: "noindex_in_sitemap", code: NoIndexInSitemap, sopt: exampleOrg, files: files{"p.html": plain, "q.html": plain + "<meta name=robots content=noindex>",
		"sitemap.xml": sitemap("https://example.org/sub/p.html", "https://example.org/sub/q.html")},
		want: []string{"sitemap.xml:3:11 warning noindex-in-sitemap https://example.org/sub/q.html"}},
	{name: "sitemap_limit", code: SitemapLimit, sopt: exampleOrg, files: files{"p.html": plain, "s.xml": sitemap(slices.Repeat([]string{"/sub/p.html"}, isite.MaxSitemapEntries+1)...)},
		want: []string{"s.xml:0:0 warning sitemap-limit"}},

	{name: "LL-19/external", code: External, files: files{"p.html": plain + "<a href=http://h.example/x><a href=//h.example/>"},
		want: []string{"p.html:1:40 unchecked external http://h.example/x", "p.html:1:67 unchecked external //h.example/"}},
	{name: "LL-28/mailto", code: Mailto, files: files{"p.html": plain + "<a href=mailto:x@y.z>"}, want: []string{"p.html:1:40 unchecked mailto mailto:x@y.z"}},
	{name: "LL-74/tel", code: Tel, files: files{"p.html": plain + "<a href=TEL:+123>"}, want: []string{"p.html:1:40 unchecked tel TEL:+123"}},
	{name: "LL-74/data", code: Data, files: files{"p.html": plain + "<img src=data:,x>"}, want: []string{"p.html:1:41 unchecked data data:,x"}},
	{name: "LL-74/javascript", code: JavaScript, files: files{"p.html": plain + "<a href=javascript:x()>"}, want: []string{"p.html:1:40 unchecked javascript javascript:x()"}},
	{name: "LL-28/other_scheme", code: OtherScheme, files: files{"p.html": plain + "<a href=ftp://h.example/>"}, want: []string{"p.html:1:40 unchecked other-scheme ftp://h.example/"}},
	{name: "inert", code: Inert, files: files{"p.html": plain + "<template><a href=gone.html></template>"}, want: []string{"p.html:1:50 unchecked inert gone.html"}},
	{name: "exempted", code: Exempted, files: files{"p.html": plain + `<a href=gone.html DATA-sitelink-ignore="not yet">x</a><img src=gone.png data-proofer-ignore>`},
		want: []string{"p.html:1:40 unchecked exempted gone.html", "p.html:1:95 unchecked exempted gone.png"}},
	{name: "exempted_inside", code: Exempted, files: files{"p.html": plain + `<p data-sitelink-ignore><a href=gone.html#x>x</a></p><a href=p.html>`, "p.svg": `<svg xmlns="http://www.w3.org/2000/svg"><g data-sitelink-ignore="x"><a href="gone"/></g></svg>`, "q.html": plain + "<a href=p.svg>"},
		want: []string{"p.html:1:64 unchecked exempted gone.html#x", "p.svg:1:78 unchecked exempted gone"}},
	{name: "LL-46/action", code: Action, files: files{"p.html": plain + "<form action=/cgi-bin/f.cgi>"}, want: []string{"p.html:1:45 unchecked action /cgi-bin/f.cgi"}},
	{name: "hint", code: Hint, files: files{"p.html": "<!doctype html><link rel=preconnect href=//h.example><link rel=dns-prefetch href=/nowhere>"},
		want: []string{"p.html:1:42 unchecked hint //h.example", "p.html:1:82 unchecked hint /nowhere"}},
	{name: "not_html", code: NotHTML, files: files{"p.html": plain + "<a href=t.txt#l3><a href=m.map#x>", "t.txt": "", "m.map": "default /p.html\n"},
		want: []string{"p.html:1:40 unchecked not-html t.txt#l3", "p.html:1:57 unchecked not-html m.map#x"}},
	{name: "pointer_of_git-lfs", code: NotScanned, files: files{"p.html": plain + "<a href=q.html#x>", "q.html": lfsPointer},
		want: []string{"p.html:1:40 unchecked not-scanned q.html#x"}},
	{name: "A-LL-11/not_scanned", code: NotScanned, sopt: isite.Options{MaxPageBytes: 100}, files: files{"p.html": plain + "<a href=q.html#x>", "q.html": plain + strings.Repeat(" ", 100)},
		want: []string{"p.html:1:40 unchecked not-scanned q.html#x"}},
	{name: "LL-109/orphan", code: Orphan, opt: Options{Orphans: true}, files: files{"index.html": plain + "<a href=p.html>", "p.html": plain, "old.html": plain, "i.gif": ""},
		want: []string{"i.gif:0:0 warning orphan", "old.html:0:0 warning orphan"}},
	{name: "LL-109/unreachable", code: Unreachable, opt: Options{Orphans: true}, files: files{"index.html": plain, "a.html": plain + "<a href=b.html>", "b.html": plain + "<a href=a.html>"},
		want: []string{"a.html:0:0 warning unreachable", "b.html:0:0 warning unreachable"}},
	{name: "A-LL-1/unmatched_linkset", code: UnmatchedLinkset, opt: Options{From: []string{"/@", "/no.html", "/d/x@"}}, files: files{"index.html": plain, "d/index.html": plain},
		want: []string{"d/x@:0:0 warning unmatched-linkset", "no.html:0:0 error unmatched-linkset"}},
	{name: "LL-23/limit_reached", code: LimitReached, opt: Options{Limit: 1}, files: files{"a.html": plain, "b.html": plain, "c.html": plain + "<a href=gone>"},
		want: []string{"b.html:0:0 warning limit-reached"}},
	{name: "A-LL-11/skipped", code: Skipped, opt: Options{Skip: []string{"/q.html"}}, files: files{"p.html": plain + "<a href=q.html#nope><a href=q.html>", "q.html": plain},
		want: []string{"p.html:1:40 unchecked skipped q.html#nope"}},
	{name: "LL-25/ignored", code: IgnoredByRule, opt: Options{Ignore: []Ignore{{URL: "/sub/**"}}}, files: files{"p.html": plain + "<a href=/sub/gone.html><a href=/other.html>"},
		want: []string{"p.html:1:40 unchecked ignored /sub/gone.html"}},
	{name: "fallback", code: Fallback, sopt: isite.Options{Profile: profileNamed("cloudflare-pages")}, files: files{"index.html": plain + "<a href=/gone>"},
		want: []string{"index.html:1:40 warning fallback /gone"}},
	{name: "fallback_of_a_site", code: Fallback, sopt: isite.Options{Profile: profileNamed("cloudflare-pages")}, files: files{"index.html": plain + "<a href=/gone>", "a/b.html": plain},
		want: []string{"index.html:1:40 error fallback /gone"}},
	{name: "redirect_loop", code: EndlessRedirect, sopt: isite.Options{Profile: circular()}, files: files{"p.html": plain + "<a href=/d/>", "d/index.html": plain},
		want: []string{"p.html:1:40 error endless-redirect /d/"}},
	{name: "via_redirect", code: ViaRedirect, sopt: ruled("/old /p.html\n/away https://other.example/\n"), files: files{"p.html": plain + "<a href=/old><a href=/away>"},
		want: []string{"p.html:1:40 warning via-redirect /old", "p.html:1:53 warning via-redirect /away"}},
	{name: "alias_page", code: ViaRedirect, files: files{"old/index.html": `<meta http-equiv=refresh content="0; url=/p.html">`, "slow.html": `<meta http-equiv=refresh content="5; url=/p.html">`,
		"script.html": `<noscript><meta http-equiv=refresh content="0; url=/p.html"></noscript>`, "self.html": `<meta http-equiv=refresh content="0; url=self.html">`,
		"p.html": plain + "<a href=/old/><a href=old><a href=slow.html><a href=script.html><a href=self.html>"},
		want: []string{"p.html:1:40 warning via-redirect /old/", "p.html:1:54 warning via-redirect old"}},
	{name: "redirect_syntax", code: RedirectSyntax, sopt: hosted("netlify"), files: files{"_redirects": "# no destination\n/old\n", "p.html": plain}, want: []string{"_redirects:2:1 error redirect-syntax"}},
	{name: "redirect_limit", code: RedirectLimit, sopt: hosted("cloudflare-pages"), files: files{"_redirects": "/a" + strings.Repeat("x", 1000) + " /p\n", "p.html": plain, "404.html": plain}, want: []string{"_redirects:1:1 warning redirect-limit"}},
	{name: "redirect_unjudged", code: RedirectUnjudged, sopt: hosted("apache"), files: files{"d/.htaccess": "RedirectMatch ^/(a)\\1$ /p.html\n", "p.html": plain}, want: []string{"d/.htaccess:1:1 warning redirect-unjudged"}},
	{name: "redirect_target_missing", code: RedirectMissing, sopt: hosted("netlify"), files: files{"_redirects": "/old /gone.html\n/a /p.html\n", "p.html": plain}, want: []string{"_redirects:1:1 error redirect-target-missing"}},
	{name: "redirect_loop_of_rules", code: RedirectLoop, sopt: hosted("netlify"), files: files{"_redirects": "/a /b\n/b /a\n", "p.html": plain}, want: []string{"_redirects:1:1 error redirect-loop", "_redirects:2:1 error redirect-loop"}},
	{name: "redirect_chain", code: RedirectChain, sopt: hosted("netlify"), files: files{"_redirects": "/a /b\n/b /p.html\n", "p.html": plain}, want: []string{"_redirects:1:1 warning redirect-chain"}},
	{name: "redirect_unreachable", code: RedirectHidden, sopt: hosted("netlify"), files: files{"_redirects": "/a/* /p.html\n/a/b /p.html\n", "p.html": plain}, want: []string{"_redirects:2:1 warning redirect-unreachable"}},
	{name: "redirect_shadowed", code: RedirectShadowed, sopt: hosted("netlify"), files: files{"_redirects": "/q.html /p.html\n", "p.html": plain, "q.html": plain}, want: []string{"_redirects:1:1 warning redirect-shadowed"}},
	{name: "via_redirect_of_the_page_itself", code: ViaRedirect, sopt: isite.Options{BaseURLs: []string{"https://example.org/"}, Profile: profileNamed("netlify")},
		files: files{"_redirects": "/moved/ /p.html 301!\n", "p.html": plain + "<a href=/old/>",
			"old/index.html":   `<title>t</title><meta property=og:url content=https://example.org/old/><meta http-equiv=refresh content="0; url=/p.html"><a href="#">x</a><a href=/old/#>x</a>`,
			"moved/index.html": "<title>t</title><link rel=canonical href=https://example.org/moved/><meta property=og:url content=https://example.org/moved/><a href=/old/>x</a>"},
		want: []string{"moved/index.html:1:134 warning via-redirect /old/", "p.html:1:40 warning via-redirect /old/"}},
	{name: "proxied", code: Proxied, sopt: ruled("/api/* https://api.example/:splat 200\n"), files: files{"p.html": plain + "<a href=/api/x>"},
		want: []string{"p.html:1:40 unchecked proxied /api/x"}},
	{name: "unresolved_ref", code: UnresolvedRef, sopt: isite.Options{RefNotFound: "/nf/"}, files: files{"p.html": plain + "<a href=/nf/><a href=/nf/#x>", "nf/index.html": plain},
		want: []string{"p.html:1:40 error unresolved-ref /nf/"}},
	{name: "livereload", code: Livereload, files: files{"p.html": plain + "<script src=\"/livereload.js?mindelay=10&amp;v=2&amp;port=1313\"></script><a href=/livereload.js>"},
		want: []string{"p.html:1:45 unchecked livereload /livereload.js?mindelay=10&v=2&port=1313"}},
	{name: "conditional", code: Conditional, sopt: ruled("/fr /p.html 302 Country=fr\n"), files: files{"p.html": plain + "<a href=/fr>"},
		want: []string{"p.html:1:40 unchecked conditional /fr"}},
	{name: "ping", code: Ping, files: files{"p.html": plain + "<a href=p.html ping=/track>"}, want: []string{"p.html:1:52 unchecked ping /track"}},
	{name: "missing_base", code: MissingBase, sopt: exampleOrg, files: files{"p.html": plain + "<a href=/p.html#x><a href=https://example.org/d/q.html><a href=/>", "d/q.html": plain + "<a href=../../p.html>", "index.html": plain,
		"m.css": "p{background:url(/p.html)}", "f.xml": `<rss version="2.0"><channel><title>t</title><link>https://example.org/sub/</link><item><description>&lt;img srcset="/p.html 2x"></description></item></channel></rss>`},
		want: []string{"d/q.html:1:40 error missing-base ../../p.html", "f.xml:1:117 error missing-base /p.html", "m.css:1:18 error missing-base /p.html",
			"p.html:1:40 error missing-base /p.html#x", "p.html:1:58 error missing-base https://example.org/d/q.html", "p.html:1:95 error missing-base /"}},
	{name: "missing_base_by_rule", code: MissingBase, sopt: isite.Options{BaseURLs: []string{"https://example.org/sub/"}, Profile: profileNamed("netlify")},
		files: files{"_redirects": "/old /sub/p.html\n/* /sub/index.html 200\n", "index.html": plain, "p.html": plain + "<a href=/old><a href=/p><a href=/other>"},
		want:  []string{"p.html:1:40 error missing-base /old", "p.html:1:53 error missing-base /p"}},
	{name: "missing_base_larger_site", code: MissingBase, sopt: exampleOrg, files: files{"index.html": plain, "p.html": plain + "<a href=/><a href=/pricing/><a href=/blog/><a href=/p.html>"},
		want: []string{"p.html:1:83 error missing-base /p.html"}},
	{name: "glued_base", code: MissingBase, sopt: exampleOrg, files: files{"index.html": plain, "a/index.html": plain + "<a href=/suba/#x><a href=/subb/><a href=/><img src=/subhttps://h.example/i>"},
		want: []string{"a/index.html:1:40 error missing-base /suba/#x", "a/index.html:1:72 error missing-base /", "a/index.html:1:83 error missing-base /subhttps://h.example/i"}},
	{name: "wrong_host", code: WrongHost, sopt: exampleOrg, files: files{"a/index.html": plain, "favicon.ico": "", "p.html": plain +
		"<a href=//a/#x><a href=///a/><a href=https:///a/b><a href=https://a/><a href=//b/><a href=https://http://h.example/><a href=https://example.orga/><a href=https://example.org.example/><link href=//favicon.ico><link href=//favicon.com><a href=//a:80/>"},
		want: []string{"p.html:1:40 error wrong-host //a/#x", "p.html:1:55 error wrong-host ///a/", "p.html:1:69 error wrong-host https:///a/b", "p.html:1:90 error wrong-host https://a/",
			"p.html:1:122 error wrong-host https://http://h.example/", "p.html:1:156 error wrong-host https://example.orga/", "p.html:1:226 error wrong-host //favicon.ico"}},
	{name: "wrong_host_one_slash", code: WrongHost, sopt: exampleOrg, files: files{"q.html": plain, "p.html": plain + "<a href=https:/h.example/x#f><a href=https:/other/><a href=https://example.orgq.html>"},
		want: []string{"p.html:1:40 error wrong-host https:/h.example/x#f", "p.html:1:91 error wrong-host https://example.orgq.html"}},
	{name: "wrong_host_without_base_url", code: WrongHost, files: files{"a/index.html": plain, "p.html": plain + "<a href=//a/><a href=http://a/>"}, want: []string{"p.html:1:40 error wrong-host //a/"}},
	{name: "local_address", code: LocalAddress, sopt: isite.Options{BaseURLs: []string{"https://example.org/"}, ServerPort: 4000}, files: files{"index.html": plain, "a/index.html": plain, "p.html": plain +
		"<link rel=canonical href=http://localhost:4000/p.html><meta property=og:url content=http://127.0.0.1/><img src=//10.1.2.3/i><script src=http://host.test/x></script><style>@import 'http://[::1]/'</style>" +
		"<a href=http://localhost:4000/a/><a href=http://127.0.0.1:4000/><a href=http://localhost:4001/a/><a href=http://localhost:4000/b/><blockquote cite=http://localhost/><iframe src=https://8.8.8.8/></iframe>",
		"feed.xml": `<rss><channel><link>http://localhost/</link><item><link>https://example.org/p.html</link><description>&lt;a href="http://localhost/">&lt;img src="http://localhost/i"></description></item></channel></rss>`},
		want: []string{"feed.xml:1:21 error local-address http://localhost/", "feed.xml:1:147 error local-address http://localhost/i", "p.html:1:57 error local-address http://localhost:4000/p.html",
			"p.html:1:116 error local-address http://127.0.0.1/", "p.html:1:143 error local-address //10.1.2.3/i", "p.html:1:168 error local-address http://host.test/x", "p.html:1:212 error local-address http://[::1]/",
			"p.html:1:242 warning local-address http://localhost:4000/a/"}},
	{name: "local_address_of_a_local_site", code: LocalAddress, sopt: isite.Options{BaseURLs: []string{"http://intranet/"}}, files: files{"p.html": plain + "<script src=http://localhost/x></script>"}},
	{name: "mixed_content", code: MixedContent, sopt: isite.Options{BaseURLs: []string{"https://example.org/"}}, files: files{"x.js": "", "p.css": "@import 'HTTP://h.example/c';p{background:url(http://h.example/i)}", "p.html": plain +
		"<script src=http://h.example/x></script><link rel=stylesheet href=http://h.example/c><link rel=icon href=http://h.example/i><iframe src=http://h.example/ longdesc=http://h.example/></iframe><img src=http://h.example/i><a href=http://h.example/>" +
		"<script src=http://example.org/x.js></script><object data=http:/h.example/o></object><script src=//h.example/x></script>"},
		want: []string{"p.css:1:10 warning mixed-content HTTP://h.example/c", "p.html:1:44 warning mixed-content http://h.example/x", "p.html:1:98 warning mixed-content http://h.example/c", "p.html:1:168 warning mixed-content http://h.example/",
			"p.html:1:288 warning mixed-content http://example.org/x.js", "p.html:1:334 warning mixed-content http:/h.example/o"}},
	{name: "mixed_content_without_https", code: MixedContent, sopt: isite.Options{BaseURLs: []string{"http://example.org/"}}, files: files{"p.html": plain + "<script src=http://h.example/x></script>"}},
	{name: "dead_scheme", code: DeadScheme, files: files{"p.html": plain + `<img src=file:///i><a href="C:\d\x"><a href=htp://h.example/><a href=ssh://h.example/><a href=sftp://h.example/><a href=httpd://h.example/>`},
		want: []string{"p.html:1:41 warning dead-scheme file:///i", `p.html:1:60 warning dead-scheme C:\d\x`, "p.html:1:76 warning dead-scheme htp://h.example/", "p.html:1:152 warning dead-scheme httpd://h.example/"}},
	{name: "no_recipient", code: EmptyLink, files: files{"p.html": plain + "<a href=mailto:><a href='tel: '><a href='mailto:?subject=x'><a href=tel:1>"}, want: []string{"p.html:1:40 warning empty-link mailto:", "p.html:1:57 warning empty-link tel:"}},
	{name: "one_slash", code: MissingFile, sopt: exampleOrg, files: files{"p.html": plain + "<a href=https:/h.example/><a href=http:/h.example/>"}},
	{name: "outside_base_many", code: OutsideBase, sopt: exampleOrg, files: files{"p.html": plain + "<a href=/a><a href=/b><a href=/c><a href=/d>"},
		want: []string{"p.html:1:40 unchecked outside-base /a", "p.html:1:51 unchecked outside-base /b", "p.html:1:62 unchecked outside-base /c", "p.html:1:73 unchecked outside-base /d", "p.html:1:40 warning outside-base"}},
	{name: "outside_base", code: OutsideBase, sopt: exampleOrg, files: files{"p.html": plain + "<a href=/other/><a href=https://example.org/>"},
		want: []string{"p.html:1:40 unchecked outside-base /other/", "p.html:1:56 unchecked outside-base https://example.org/"}},
}

func profileNamed(name string) host.Profile {
	p, _ := host.ProfileByName(name)
	return p
}

// ruled is a host with the rules of a _redirects file.
func ruled(rules string) isite.Options {
	return isite.Options{Rules: []*redirect.File{redirect.Netlify("_redirects", []byte(rules))}}
}

// hosted returns the options of a site on a host with rule files.
func hosted(profile string) isite.Options { return isite.Options{Profile: profileNamed(profile)} }

// circular is a host that redirects /d/ to /d and /d to /d/.
func circular() host.Profile {
	p := host.Generic
	p.DirectorySlash = host.Redirect
	return p
}

// load creates and loads the docroot of a fixture.
func (x *fixture) load(t testing.TB) *isite.Site {
	t.Helper()
	root := tempDocroot(t, x.files)
	if x.make != nil {
		x.make(t, root)
	}
	s := load(t, root, x.sopt)
	if x.change != nil {
		x.change(t, root)
	}
	return s
}

// TestCodes: every code is produced exactly where it should be: codes of links
// by rows, codes of file faults by findings. Every state of a link occurs and has a
// decision.
func TestCodes(t *testing.T) {
	produced, seen := map[Code]bool{}, map[host.State]bool{}
	for _, x := range fixtures {
		t.Run(x.name, func(t *testing.T) {
			s := x.load(t)
			for i := range s.Pages() {
				for j := range s.Page(isite.PageID(i)).All() {
					seen[s.State(&s.Page(isite.PageID(i)).All()[j])] = true
				}
			}
			all, r := rows(t, s, x.opt)
			all = append(all, r.Findings...)
			var got []Finding
			for _, f := range all {
				if f.Code == x.code {
					got = append(got, f)
				}
			}
			compareBriefs(t, got, x.want...)
			for _, f := range got {
				produced[f.Code] = true
			}
		})
	}
	for _, c := range declaredCodes(t) {
		if c == AcceptedByBaseline {
			continue // only the command sets it; tested by testdata/script/baseline.txtar
		}
		if strings.HasPrefix(string(c), "endpoint-") {
			continue // only the command sets it; tested by testdata/script/check_endpoints.txtar
		}
		switch c {
		case AddressGone, AnchorGone:
			continue // only a comparison finds them; tested by testdata/script/check_since.txtar
		case DeadLink, Doubtful, Moved, Blocked, Budget:
			continue // other sites have to answer; tested in package remote
		}
		if !produced[c] {
			t.Errorf("no fixture has the code %s", c)
		}
	}
	var names []string
	for _, c := range constants(t, filepath.Join("..", "internal", "host", "state.go")) {
		if strings.HasPrefix(c.name, "State") {
			names = append(names, c.name)
		}
	}
	if len(names) < 20 {
		t.Fatalf("only %d states in state.go", len(names))
	}
	for i, name := range names {
		if state := host.State(i); !seen[state] && state != host.StateRedirect && state != host.StateNotAsked { // tested in package crawl
			t.Errorf("no fixture has the state %s", name)
		}
		if j := decisions[host.State(i)]; j.verdict == OK && host.State(i) > host.StateRedirect {
			t.Errorf("%s has no decision", name)
		}
	}
}

// declaredCodes are the constants of type Code.
func declaredCodes(t *testing.T) []Code {
	var out []Code
	for _, v := range constants(t, "code.go") {
		if v.value != "" {
			out = append(out, Code(v.value))
		}
	}
	if len(out) < 30 {
		t.Fatalf("only %d codes in code.go", len(out))
	}
	return out
}

type constant struct{ name, value string }

// constants returns the names declared as constants in a file, in order, with
// their values if these are strings.
func constants(t *testing.T, name string) []constant {
	t.Helper()
	f := testkit.Must(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
	var out []constant
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, spec := range g.Specs {
			vs := spec.(*ast.ValueSpec)
			for i, n := range vs.Names {
				c := constant{name: n.Name}
				if i < len(vs.Values) {
					if lit, ok := vs.Values[i].(*ast.BasicLit); ok && lit.Kind == token.STRING {
						c.value = strings.Trim(lit.Value, `"`)
					}
				}
				out = append(out, c)
			}
		}
	}
	return out
}

// TestReferrers: LL-18, every distinct link is looked up in the names that were
// listed once, and all its referrers are reported.
func TestReferrers(t *testing.T) {
	root := tempDocroot(t, files{"a.html": plain + "<a href=x.html>", "d/b.html": plain + "<a href=../x.html><a href=/x.html>", "c.html": plain + "<a href=a.html>"})
	s := load(t, root, isite.Options{})
	addFiles(t, root, files{"x.html": plain}) // the file system is not read again
	var referrers []string
	for _, f := range run(t, s, Options{}).Findings {
		if f.Target != "/x.html" || f.Code != MissingFile {
			t.Errorf("LL-18: %s leads to %s", brief(&f), f.Target)
		}
		referrers = append(referrers, f.Page)
	}
	if want := []string{"a.html", "d/b.html", "d/b.html"}; !slices.Equal(referrers, want) {
		t.Errorf("LL-18: referrers %q, want %q", referrers, want)
	}
}

// TestLists: LL-107. The rows contain everything that Linklint lists: found and
// missing files, directories with the file that answers (LL-85), remote links
// by scheme, anchors and maps found and missing, actions, ignored and mapped
// links, each with its page.
func TestLists(t *testing.T) {
	fs := files{
		"index.html": plain + `<a href=sub/>1</a><a href=gone.html>2</a><a href=#here id=here>3</a><a href=#nope>4</a><map name=m1></map><img src=i.gif usemap=#m1>` +
			`<img src=j.gif usemap=#m2><form action=/cgi-bin/f></form><a href=mailto:x@y.z>5</a><a href=/old.html>6</a><a href=skip.html>7</a>`,
		"sub/index.html": plain + `<a href=/gone.html>x</a>`, "i.gif": "", "new.html": plain,
	}
	s := load(t, tempDocroot(t, fs), isite.Options{Maps: []host.MapRule{{From: "/old.html", To: "/new.html"}}})
	all, _ := rows(t, s, Options{Ignore: []Ignore{{URL: "skip.html"}}})
	var got []string
	for _, f := range all {
		line := strings.Join([]string{f.Page, f.Element + " " + f.Attribute, f.Raw, f.Target, f.Fragment, f.Verdict.String(), string(f.Code), f.File}, "|")
		got = append(got, line)
	}
	want := []string{
		"index.html|a href|sub/|/sub/||ok||sub/index.html",
		"index.html|a href|gone.html|/gone.html||error|missing-file|",
		"index.html|a href|#here|/index.html|here|ok||",
		"index.html|a href|#nope|/index.html|nope|error|missing-fragment|",
		"index.html|img src|i.gif|/i.gif||ok||",
		"index.html|img usemap|#m1|/index.html|m1|ok||",
		"index.html|img src|j.gif|/j.gif||error|missing-file|",
		"index.html|img usemap|#m2|/index.html|m2|error|missing-map|",
		"index.html|form action|/cgi-bin/f|/cgi-bin/f||unchecked|action|",
		"index.html|a href|mailto:x@y.z|mailto:x@y.z||unchecked|mailto|",
		"index.html|a href|/old.html|/old.html||ok||",
		"index.html|a href|skip.html|/skip.html||unchecked|ignored|",
		"sub/index.html|a href|/gone.html|/gone.html||error|missing-file|",
	}
	if !slices.Equal(got, want) {
		t.Errorf("LL-107: got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// TestNoFragments: LL-63, the check of fragments and map names can be turned
// off. Paths are still checked.
func TestNoFragments(t *testing.T) {
	fs := files{"p.html": plain + "<a href=#nope><a href=#/route><img usemap=#m2><a href=gone.html#x><a href=t.txt#x>", "t.txt": ""}
	r := checkFiles(t, fs, isite.Options{}, Options{NoFragments: true})
	compareBriefs(t, r.Findings, "p.html:1:86 error missing-file gone.html#x")
	if r.Summary.OK != 4 || r.Summary.Unchecked != 0 {
		t.Errorf("LL-63: %+v, want 4 ok", r.Summary)
	}
	r = checkFiles(t, fs, isite.Options{}, Options{ScriptFragments: ScriptError})
	if r.Summary.Errors != 4 || r.Summary.Unchecked != 1 {
		t.Errorf("LL-63: %+v, want 4 errors", r.Summary)
	}
}

// TestLinklintTable: LL-63 with the old table of tags: links that both tables
// accept get the same verdict.
func TestLinklintTable(t *testing.T) {
	fs := files{"p.html": plain + "<a href=#nope><a name=yes href=#yes><img src=i.gif usemap=#m2><link rel=stylesheet href=gone.css>", "i.gif": ""}
	r := checkFiles(t, fs, isite.Options{Tags: scan.Linklint}, Options{})
	compareBriefs(t, r.Findings, "p.html:1:40 error missing-fragment #nope", "p.html:1:90 error missing-map #m2")
}

// TestHasErrors tests the values that determine the exit code.
func TestHasErrors(t *testing.T) {
	for _, tc := range []struct {
		name             string
		files            files
		errors, warnings bool
	}{
		{"clean", files{"p.html": plain + "<a href=p.html>"}, false, false},
		{"missing_file", files{"p.html": plain + "<a href=gone.html>"}, true, false},
		{"missing_anchor", files{"p.html": plain + "<a href=#x>"}, true, false},
		{"missing_map", files{"p.html": plain + "<img usemap=#x>"}, true, false},
		{"warning", files{"p.html": plain + "<a href=../p.html>"}, false, true},
		{"warning_of_a_file", files{"p.html": plain + "<!-- x"}, false, true},
		{"unchecked", files{"p.html": plain + "<a href=mailto:x>"}, false, false},
		{"script_fragment", files{"p.html": plain + "<a href=#/x>" + readsHash}, false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := checkFiles(t, tc.files, isite.Options{}, Options{})
			if r.HasErrors() != tc.errors || r.HasWarnings() != tc.warnings {
				t.Errorf("errors %t, warnings %t; %+v", r.HasErrors(), r.HasWarnings(), r.Summary)
			}
		})
	}
}
