package site

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/testkit"
)

// placed returns the links of a page as "line:column element attribute:
// answer".
func placed(t *testing.T, s *Site, path string) []string {
	t.Helper()
	out := []string{}
	for _, d := range details(t, s, path) {
		out = append(out, fmt.Sprintf("%d:%d %s %s: %s", d.Line, d.Column, d.Element, d.Attribute, answerOf(t, s, &d)))
	}
	return out
}

// TestFilesWithLinks: which files are read besides pages, as which kind, and
// where their links lead.
func TestFilesWithLinks(t *testing.T) {
	around := files{"p.html": plain, "d/q.html": plain, "d/i.png": "", "i.png": ""}
	for _, c := range []struct {
		name, file, text string
		kind             PageKind
		want             []string
	}{
		{"css", "d/a.css", "@import \"gone.css\";\na{b:url(i.png)}", PageCSS, []string{"1:10 @import : MissingFile 404 /d/gone.css", "2:9 url : OK 200 /d/i.png = d/i.png"}},
		{"css_fragment", "d/a.css", "a{b:url(#a)}", PageCSS, []string{"1:9 url : OK 200 /d/a.css = d/a.css # a"}},
		{"svg", "d/a.svg", `<svg xmlns="http://www.w3.org/2000/svg"><image href="i.png"/><rect fill="url(#a)"/></svg>`, PageSVG,
			[]string{"1:54 image href: OK 200 /d/i.png = d/i.png", "1:78 rect fill: OK 200 /d/a.svg = d/a.svg # a"}},
		{"feed", "d/index.xml", "<rss><channel><link>q.html</link><item><link>/p.html</link><description>&lt;img src=i.png></description></item></channel></rss>", PageFeed,
			[]string{"1:21 link : OK 200 /d/q.html = d/q.html", "1:46 link : OK 200 /p.html = p.html", "1:85 img src: OK 200 /i.png = i.png"}},
		{"feed_base", "f.atom", `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="d/"><link href="q.html"/></feed>`, PageFeed, []string{"1:69 link href: OK 200 /d/q.html = d/q.html"}},
		{"json_feed", "f.json", `{"version":"https://jsonfeed.org/version/1","items":[{"url":"d/q.html","content_html":"<img src='i.png'>"}]}`, PageJSONFeed,
			[]string{"1:62 items url: OK 200 /d/q.html = d/q.html", "1:98 img src: OK 200 /d/i.png = d/i.png"}},
		{"sitemap", "d/any.xml", `<urlset><url><loc>http://example.org/p.html</loc></url></urlset>`, PageSitemap, []string{"1:19 loc : OK 200 /p.html = p.html"}},
		{"sitemap_zipped", "s.XML.gz", gzipped(t, "<urlset>\n<url><loc>/gone</loc></url></urlset>"), PageSitemap, []string{"2:11 loc : MissingFile 404 /gone"}},
		{"index", "s.xml", `<sitemapindex><sitemap><loc>/s.xml</loc></sitemap></sitemapindex>`, PageIndex, []string{"1:29 loc : OK 200 /s.xml = s.xml"}},
		{"opml", "b.opml", `<opml><body><outline htmlUrl="p.html"/></body></opml>`, PageOPML, []string{"1:31 outline htmlurl: OK 200 /p.html = p.html"}},
		{"opensearch", "o.xml", `<OpenSearchDescription><Url template="/p.html?q={searchTerms}"/></OpenSearchDescription>`, PageOpenSearch, []string{"1:39 url template: OK 200 /p.html = p.html"}},
		{"manifest", "d/m.webmanifest", `{"start_url":"q.html","icons":[{"src":"gone.png"}]}`, PageManifest,
			[]string{"1:15 start_url : OK 200 /d/q.html = d/q.html", "1:40 icons src: MissingFile 404 /d/gone.png"}},
		{"json_ld", "x.jsonld", `{"@type":"Thing","url":"/p.html"}`, PageJSONLD, []string{"1:25 json-ld : OK 200 /p.html = p.html"}},
		{"robots", "robots.txt", "Sitemap: http://example.org/gone.xml", PageRobots, []string{"1:10 sitemap : MissingFile 404 /gone.xml"}},
		{"headers", "_headers", "/d/*\n  Link: <i.png>; rel=preload", PageHeaders, []string{"2:10 link : OK 200 /d/i.png = d/i.png"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs := files{c.file: c.text}
			for name, text := range around {
				fs[name] = text
			}
			opt := Options{BaseURLs: []string{"http://example.org/"}}
			s := loadFiles(t, fs, opt)
			if kind := s.Page(pageID(t, s, c.file)).Kind(); kind != c.kind {
				t.Errorf("read as %s, want %s", kind, c.kind)
			}
			if got := placed(t, s, c.file); !slices.Equal(got, c.want) {
				t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(c.want, "\n\t"))
			}
			if opt.Tags = scan.Linklint; c.kind != PageSVG {
				s = loadFiles(t, fs, opt)
				if n, _ := s.Lookup(c.file); s.tree.Nodes[n].Page != 0 {
					t.Error("LL-26: read under Linklint's table")
				}
			}
		})
	}
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	testkit.Must(z.Write([]byte(text)))(t)
	testkit.Check(t, z.Close())
	return b.String()
}

// TestFilesWithoutLinks: files that only resemble feeds and sitemaps are not
// read.
func TestFilesWithoutLinks(t *testing.T) {
	names := files{"a.xml": "<project/>", "b.xml": strings.Repeat(" ", sniffBytes) + "<rss/>", "c.json": `{"version":"1"}`,
		"d.json": `{"x":"` + strings.Repeat("x", sniffJSONBytes) + `","version":"https://jsonfeed.org/version/1"}`, "e.xml.gz": "<urlset/>", "f.gz": gzipped(t, "<urlset/>"),
		"d/robots.txt": "Sitemap: /x", "d/_headers": "/\n  Link: </x>", "g.css.map": "{}", "css": "", "empty.xml": "", "h.scss": "", "i.rss": "<html/>"}
	fs := files{"p.html": plain}
	for name, text := range names {
		fs[name] = text
	}
	s := loadFiles(t, fs, Options{})
	for name := range names {
		if n, _ := s.Lookup(name); s.tree.Nodes[n].Page != 0 {
			t.Errorf("%s was read as %s", name, s.Page(PageID(s.tree.Nodes[n].Page-1)).Kind())
		}
	}
	if xml, maps, _ := s.Unread(); s.Pages() != 1 || xml != 5 || maps != 1 {
		t.Errorf("%d pages, %d other XML files, %d source maps", s.Pages(), xml, maps)
	}
}

// TestSniffFault: a file that may be a feed but cannot be read is reported.
func TestSniffFault(t *testing.T) {
	root := tempDocroot(t, files{"p.html": plain, "a.xml": "<project/>", "b.json": "{}"})
	s := load(t, root, Options{})
	for _, name := range []string{"a.xml", "b.json"} {
		n, _ := s.Lookup(name)
		kind, _ := s.kindOf(&s.tree.Nodes[n])
		s.pages = append(s.pages, Page{node: n, kind: kind})
		testkit.Check(t, os.Remove(filepath.Join(root, name)))
	}
	dir := testkit.Must(docroot.Open(s.Real()))(t)
	defer dir.Close()
	testkit.Check(t, (&loader{Site: s, dir: dir}).sniff(t.Context()))
	if f := s.Faults(); len(f) != 1 || f[0].Path != "a.xml" || !strings.Contains(f[0].Err.Error(), "vanished") || len(s.pages) != 1 {
		t.Errorf("faults %v, %d pages", f, len(s.pages))
	}
}

// TestManifestByLink: a file that a page links as its manifest is read as a
// manifest, with any name and any form of link. A file with the name of a page
// remains a page.
func TestManifestByLink(t *testing.T) {
	const m = `{"start_url":"gone"}`
	s := loadFiles(t, files{"p.html": plain + `<link rel=manifest href=site.json><link rel="manifest" href=/sub/m><link rel=manifest href=q.html><link rel=manifest href=alias.json>`,
		"q.html": plain, "site.json": m, "sub/m": m, "other.json": m, "target.json": m, "alias.json": "-> target.json"}, Options{})
	var got []string
	for i := range s.Pages() {
		if id := PageID(i); s.Page(id).Kind() == PageManifest {
			got = append(got, s.Path(id)+" "+strings.Join(targets(t, s, s.Path(id)), " "))
		}
	}
	if want := []string{"site.json /gone", "sub/m /sub/gone", "target.json /gone"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestUnzip: an inflated file is cut off exactly at the limit.
func TestUnzip(t *testing.T) {
	data := []byte(gzipped(t, strings.Repeat("x", 1000)))
	if text, err := unzip(data, 1000); err != nil || len(text) != 1000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if _, err := unzip(data, 999); !errors.Is(err, docroot.ErrTooLarge) {
		t.Errorf("above the limit: %v", err)
	}
	for _, bad := range [][]byte{nil, []byte("x"), data[:len(data)-9], data[:12]} {
		if _, err := unzip(bad, 1000); err == nil || errors.Is(err, docroot.ErrTooLarge) {
			t.Errorf("%d bytes: %v", len(bad), err)
		}
	}
}

// TestCanonical: the first canonical address with a file counts.
func TestCanonical(t *testing.T) {
	s := loadFiles(t, files{"p.html": plain + "<link rel=canonical href=gone><link rel=canonical href=http://example.org/q.html><link rel=canonical href=p.html>", "q.html": plain},
		Options{BaseURLs: []string{"https://example.org"}})
	if got := s.Page(pageID(t, s, "p.html")).Canonical(); got == docroot.NoNode || s.tree.Path(got) != "q.html" {
		t.Errorf("node %d", got)
	}
	if got := s.Page(pageID(t, s, "q.html")).Canonical(); got != docroot.NoNode {
		t.Errorf("q.html: node %d", got)
	}
}

// TestMapFiles tests which files are read as server-side image maps, and where
// their links lead.
func TestMapFiles(t *testing.T) {
	tests := []struct {
		name, file, text string
		want             []string // answers to the links of the file; nil: not parsed
	}{
		{"LL-88/parsed", "maps/m.map", "rect /a.html 19,12 75,75\n", []string{"OK 200 /a.html = a.html"}},
		{"LL-88/upper_case_suffix", "maps/M.MAP", "rect /a.html 19,12 75,75\n", []string{"OK 200 /a.html = a.html"}},
		{"LL-88/script_source_map", "app.js.map", "rect /a.html 19,12 75,75\n", nil},
		{"LL-88/module_source_map", "app.mjs.map", "rect /a.html 19,12 75,75\n", nil},
		{"LL-88/style_source_map", "app.css.map", "rect /a.html 19,12 75,75\n", nil},
		{"LL-88/json", "bundle.map", `{"version":3,"sources":["/a.html"]}`, []string{}},
		{"LL-95/rect_absolute", "m.map", "rect http://h/x 0,0 1,1\n", []string{"External 0 http://h/x"}},
		{"LL-95/path_targets_today", "m.map", "rect /gone.html 0,0 1,1\n", []string{"MissingFile 404 /gone.html"}},
		{"LL-95/comments_skipped_today", "m.map", "# see http://h/c\nrect /a.html 0,0 1,1\n", []string{"OK 200 /a.html = a.html"}},
		{"LL-96/all_shapes", "m.map", "default /a.html\ncircle /a.html 1,1 2,2\nrect /a.html 1,1 2,2\npoly /a.html 1,1 2,2 3,3\npoint /gone.html 1,1\noval /a.html 1,1 2,2\n",
			[]string{"OK 200 /a.html = a.html", "OK 200 /a.html = a.html", "OK 200 /a.html = a.html", "OK 200 /a.html = a.html", "MissingFile 404 /gone.html", "OK 200 /a.html = a.html"}},
		{"LL-96/nocontent_is_no_link", "m.map", "default nocontent\nrect /a.html 1,1 2,2\n", []string{"OK 200 /a.html = a.html"}},
		{"LL-96/base", "maps/m.map", "base /dir/\nrect b.html 1,1 2,2\n", []string{"OK 200 /dir/b.html = dir/b.html"}},
		{"LL-96/base_uri", "maps/m.map", "base_uri /dir/\nrect b.html 1,1 2,2\n", []string{"OK 200 /dir/b.html = dir/b.html"}},
		{"LL-96/relative_to_the_map_file", "dir/m.map", "rect b.html 1,1 2,2\n", []string{"OK 200 /dir/b.html = dir/b.html"}},
		{"LL-97/all_shapes", "m.map", "default /a.html\ncircle (1,1) 5 /a.html\nrectangle (1,1) (2,2) /a.html\npolygon (1,2) (3,4) (5,6) /dir/b.html\n",
			[]string{"OK 200 /a.html = a.html", "OK 200 /a.html = a.html", "OK 200 /a.html = a.html", "OK 200 /dir/b.html = dir/b.html"}},
		{"LL-97/short_names", "m.map", "def /a.html\ncirc (1,1) 5 /a.html\nrect (1,1) (2,2) /gone.html\npoly (1,2) (3,4) /dir/b.html\n",
			[]string{"OK 200 /a.html = a.html", "OK 200 /a.html = a.html", "MissingFile 404 /gone.html", "OK 200 /dir/b.html = dir/b.html"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			s := loadFiles(t, files{"p.html": `<a href="/` + tc.file + `"><img ismap src=i.gif></a>`, "i.gif": "", tc.file: tc.text, "a.html": plain, "dir/b.html": plain}, Options{})
			n, ok := s.Lookup(tc.file)
			if !ok {
				t.Fatal("the map file does not exist")
			}
			_, parsed := s.PageOf(n)
			if parsed != (tc.want != nil) {
				t.Fatalf("parsed: %t, want %t", parsed, tc.want != nil)
			}
			if !parsed {
				return
			}
			got := []string{}
			for _, d := range details(t, s, tc.file) {
				got = append(got, answerOf(t, s, &d))
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
		})
	}
}

// TestMapFilesFromDocroot: LL-89, a map file is read from the docroot whatever
// form its address has; a map file that nothing links to is not read as an
// image map.
func TestMapFilesFromDocroot(t *testing.T) {
	const m = "rect /gone.html 0,0 1,1\n"
	s := loadFiles(t, files{"p.html": `<a href="http://example.org/m.map">`, "m.map": m, "unlinked.map": m}, Options{BaseURLs: []string{"https://example.org/"}})
	if d := details(t, s, "m.map"); len(d) != 1 || d[0].State != host.StateMissingFile {
		t.Errorf("LL-89: %+v", d)
	}
	if n, _ := s.Lookup("unlinked.map"); s.tree.Nodes[n].Page != 0 {
		t.Error("LL-88: a map file without link was parsed")
	}
}

// TestMarkdownFiles: llms.txt is read by its name where there are pages, other
// Markdown when anything that is read links to it.
func TestMarkdownFiles(t *testing.T) {
	in := files{
		"index.html": `<link rel=alternate type=text/markdown href=a.md><a href=README.MD>`, "robots.txt": "Sitemap: /s.txt", "s.txt": "http://example.org/listed.md",
		"a.md": "[b](b.md)", "b.md": "[c](d/c.markdown)", "d/c.markdown": "[a](../a.md)", "README.MD": "", "listed.md": "", "feed.xml": "<rss><channel><link>/fed.md</link></channel></rss>", "fed.md": "",
		"llms.txt": "[x](x.md)", "x.md": "", "s/index.html": "", "s/llms-full.txt": "", "lib/llms.txt": "[y](y.md)", "lib/y.md": "", "lib/README.md": "[z](../z.md)", "z.md": "", "llmsx.txt": "", "a.txt": "",
	}
	s := loadFiles(t, in, Options{BaseURLs: []string{"http://example.org/"}})
	var got []string
	for i := range s.Pages() {
		if id := PageID(i); s.Page(id).Kind() == PageMarkdown {
			got = append(got, s.Path(id))
		}
	}
	want := []string{"README.MD", "a.md", "b.md", "d/c.markdown", "fed.md", "listed.md", "llms.txt", "s/llms-full.txt", "x.md"}
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for i := range s.Pages() {
		if id := PageID(i); s.PageAt(s.Page(id).Node()) != id {
			t.Errorf("page %d, %s, has another number", i, s.Path(id))
		}
	}
}

// TestMapFilePlace: a link of a map file has its line and column, and
// unreadable lines are listed.
func TestMapFilePlace(t *testing.T) {
	s := loadFiles(t, files{"p.html": `<a href=m.map>`, "m.map": "# x\r\n  rect /gone.html 0,0 1,1\nwhat is this\ndefault\n"}, Options{})
	d := details(t, s, "m.map")
	if len(d) != 1 || d[0].Line != 2 || d[0].Column != 8 || d[0].Offset != 12 || d[0].Raw != "/gone.html" || d[0].Element != "" {
		t.Errorf("got %+v, want line 2, column 8, offset 12", d)
	}
	if bad := s.Page(pageID(t, s, "m.map")).BadLines(); !slices.Equal(bad, []int{3, 4}) {
		t.Errorf("bad lines %v, want 3 and 4", bad)
	}
}

// TestMappedMapIsParsed: LL-90, the map file that a rule leads to is read.
func TestMappedMapIsParsed(t *testing.T) {
	fs := files{"p.html": `<a href=/cgi-bin/imagemap/dir/info.map>`, "dir/info.map": "rect /gone.html 0,0 1,1\n"}
	s := loadFiles(t, fs, Options{Maps: []host.MapRule{{From: "/cgi-bin/imagemap"}}})
	if d := details(t, s, "dir/info.map"); len(d) != 1 || d[0].State != host.StateMissingFile {
		t.Errorf("LL-90: %+v", d)
	}
	s = loadFiles(t, fs, Options{})
	if s.Pages() != 1 {
		t.Errorf("LL-90: %d pages without the rule, want 1", s.Pages())
	}
}

// TestMapsUnderWrongRoot: LL-94, with the wrong docroot a map is missing, and
// nothing else breaks.
func TestMapsUnderWrongRoot(t *testing.T) {
	root := tempDocroot(t, files{"sub/p.html": `<a href=/maps/m.map>`, "maps/m.map": "rect /a.html 0,0 1,1\n"})
	s := load(t, root+"/sub", Options{})
	if d := details(t, s, "p.html"); d[0].State != host.StateMissingFile {
		t.Errorf("LL-94: got %s", answerOf(t, s, &d[0]))
	}
	if _, err := Load(context.Background(), root+"/maps", Options{}); !errors.Is(err, ErrNoPages) {
		t.Errorf("LL-94: got %v, want %v", err, ErrNoPages)
	}
}

// TestClientSideMap: LL-87, the areas of a map are links of the page.
func TestClientSideMap(t *testing.T) {
	s := loadFiles(t, files{"p.html": `<!doctype html><map name=m><area href=b.html></map><img src=i.gif usemap="#m">`, "b.html": plain, "i.gif": ""}, Options{})
	d := details(t, s, "p.html")
	for i, want := range []string{"OK 200 /b.html = b.html", "OK 200 /i.gif = i.gif", "OK 200 /p.html = p.html # m"} {
		if got := answerOf(t, s, &d[i]); got != want {
			t.Errorf("LL-87: got %s, want %s", got, want)
		}
	}
}

// TestReaderText: the text of a page is UTF-8 without byte order mark, whether
// or not the site knows that the file already has this form.
func TestReaderText(t *testing.T) {
	const decl = "<meta charset=utf-8>"
	for _, test := range []struct {
		name, file, want string
		plain            bool
	}{
		{"UTF-8", decl + "ä", decl + "ä", true},
		{"byte order mark", "\xEF\xBB\xBF<p>ä", "<p>ä", true},
		{"Latin-1", "<meta charset=iso-8859-1>\xE4", "<meta charset=iso-8859-1>ä", false},
		{"no declaration", "<p>\xE4", "<p>ä", false},
		{"Latin-1 in a link", "<meta charset=iso-8859-1><a href=\xE4>", "<meta charset=iso-8859-1><a href=ä>", false},
		{"UTF-16", "\xFF\xFE<\x00p\x00>\x00", "<p>", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, sums := range []bool{false, true} {
				s := loadFiles(t, files{"p.html": test.file}, Options{Sums: sums})
				if got := s.Page(0).plain; got != test.plain {
					t.Errorf("plain is %t", got)
				}
				r := s.NewReader()
				defer r.Close()
				text, err := r.Text(0)
				if err != nil || string(text) != test.want {
					t.Errorf("sums %t: text %q, error %v, want %q", sums, text, err, test.want)
				}
			}
		})
	}
}
