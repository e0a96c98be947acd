package site

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/scan"
)

// placed are the links of a page as "line:column element attribute: answer".
func placed(t *testing.T, s *Site, path string) []string {
	t.Helper()
	out := []string{}
	for _, d := range details(t, s, path) {
		out = append(out, fmt.Sprintf("%d:%d %s %s: %s", d.Line, d.Column, d.Element, d.Attribute, answerOf(t, s, &d)))
	}
	return out
}

// TestFilesWithLinks: which files are read besides pages, as what, and where
// their links lead.
func TestFilesWithLinks(t *testing.T) {
	around := files{"p.html": plain, "d/q.html": plain, "d/i.png": "", "i.png": ""}
	for _, c := range []struct {
		name, file, text string
		kind             PageKind
		want             []string
	}{
		{"css", "d/a.css", "a{b:url(i.png)}\n@import \"gone.css\";", PageCSS, []string{"1:9 url : OK 200 /d/i.png = d/i.png", "2:10 @import : MissingFile 404 /d/gone.css"}},
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
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestFilesWithoutLinks: files that only look like those are not read.
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
	if s.Pages() != 1 || s.OtherXML() != 5 || s.SourceMaps() != 1 {
		t.Errorf("%d pages, %d other XML files, %d source maps", s.Pages(), s.OtherXML(), s.SourceMaps())
	}
}

// TestSniffFault: what may be a feed and cannot be read is said.
func TestSniffFault(t *testing.T) {
	root := tempDocroot(t, files{"p.html": plain, "a.xml": "<project/>", "b.json": "{}"})
	s := load(t, root, Options{})
	for _, name := range []string{"a.xml", "b.json"} {
		n, _ := s.Lookup(name)
		kind, _ := s.kindOf(&s.tree.Nodes[n])
		s.pages = append(s.pages, Page{node: n, kind: kind})
		if err := os.Remove(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := docroot.Open(s.Real())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if err := s.sniff(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if f := s.Faults(); len(f) != 1 || f[0].Path != "a.xml" || !strings.Contains(f[0].Err.Error(), "vanished") || len(s.pages) != 1 {
		t.Errorf("faults %v, %d pages", f, len(s.pages))
	}
}

// TestManifestByLink: what a page calls its manifest is one, whatever its name
// and however it is linked; what is a page by its name stays one.
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

// TestUnzip: an inflated file is cut at the limit, not behind it.
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

// TestCanonical: the first canonical address that something answers counts.
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
