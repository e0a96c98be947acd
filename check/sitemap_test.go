package check

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"

	isite "github.com/sitelink/sitelink/internal/site"
)

// sitemap returns a sitemap of addresses, the first one in line 2.
func sitemap(addresses ...string) string {
	var b strings.Builder
	b.WriteString("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n")
	for _, a := range addresses {
		fmt.Fprintf(&b, "<url><loc>%s</loc></url>\n", a)
	}
	return b.String() + "</urlset>"
}

// sitemapIndex returns a sitemap index in the same form.
func sitemapIndex(addresses ...string) string {
	s := strings.NewReplacer("urlset", "sitemapindex", "url>", "sitemap>").Replace(sitemap(addresses...))
	return s
}

func zipped(t testing.TB, text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	testkit.Must(z.Write([]byte(text)))(t)
	testkit.Check(t, z.Close())
	return b.String()
}

// codes returns the findings as "page:line:column code".
func codes(fs []Finding) []string {
	var out []string
	for _, f := range fs {
		out = append(out, fmt.Sprintf("%s:%d:%d %s", f.Page, f.Line, f.Column, f.Code))
	}
	return out
}

func compareCodes(t *testing.T, got []Finding, want ...string) {
	t.Helper()
	if got := codes(got); !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// TestEntryMessages: every fault of an entry is reported, with a suggestion.
func TestEntryMessages(t *testing.T) {
	root := tempDocroot(t, files{"p.html": plain, "d/index.html": plain, "n.html": plain + "<meta name=robots content=noindex>", "harbour.html": plain,
		"s.xml": sitemap("https://example.org/sub/d", "/sub/Harbour.html", "/sub/harbor.html", "/sub/n.html", "https://h/"),
		"i.xml": sitemapIndex("/sub/i.xml", "/sub/j.xml", "/sub/p.html", "/sub/gone.xml"), "j.xml": sitemapIndex("/sub/s.xml"),
		"f.xml": "<rss><channel><item><link>/sub/gone/</link><description>&lt;a href=gone.html></description></item></channel></rss>"})
	r := run(t, load(t, root, exampleOrg), Options{})
	compareCodes(t, r.Findings,
		"f.xml:1:27 feed-entry",
		"f.xml:1:68 missing-file",
		"i.xml:2:15 sitemap-entry",
		"i.xml:3:15 sitemap-entry",
		"i.xml:4:15 sitemap-entry",
		"i.xml:5:15 sitemap-entry",
		"s.xml:2:11 sitemap-entry",
		"s.xml:3:11 sitemap-entry",
		"s.xml:4:11 sitemap-entry",
		"s.xml:5:11 noindex-in-sitemap",
		"s.xml:6:11 sitemap-entry")
	for i, want := range map[int]string{7: "/sub/harbour.html", 8: "/sub/harbour.html"} {
		if got := r.Findings[i].Suggestion; got != want {
			t.Errorf("%s: suggestion %q, want %q", r.Findings[i].Raw, got, want)
		}
	}
	all, links := rows(t, load(t, root, exampleOrg), Options{})
	agree(t, r, all, links)
}

// TestUnpublished: without a base URL, absolute entries are external, and a
// note names the option that changes this.
func TestUnpublished(t *testing.T) {
	x := files{"p.html": plain, "s.xml": sitemap("https://example.org/p.html", "https://example.org/gone.html", "/p.html"),
		"f.xml": "<rss><channel><item><link>https://example.org/gone/</link></item></channel></rss>"}
	r := run(t, load(t, tempDocroot(t, x), isite.Options{}), Options{})
	compareCodes(t, r.Findings)
	if s := r.Summary; len(s.Notes) != 1 || !strings.HasSuffix(s.Notes[0], ": 3; set base-url") || s.Unchecked != 3 || s.OK != 1 {
		t.Errorf("notes %q, %d unchecked, %d ok", s.Notes, s.Unchecked, s.OK)
	}
	published := run(t, load(t, tempDocroot(t, x), isite.Options{BaseURLs: []string{"https://example.org"}}), Options{})
	if len(published.Summary.Notes) > 0 || len(published.Findings) != 2 {
		t.Errorf("with base URL: notes %q, findings %q", published.Summary.Notes, codes(published.Findings))
	}
}

// What a generator writes by default is a note or one finding, not one for each page:
// the addresses of Docusaurus without trailingSlash, and the empty line of Hugo's own
// template.
func TestSitemapOfGenerator(t *testing.T) {
	slashes := files{"index.html": plain, "a/index.html": plain, "b/index.html": plain, "sitemap.xml": sitemap("https://example.org/", "https://example.org/a", "https://example.org/b")}
	hugo := hugoSitemap + `"http://www.w3.org/1999/xhtml"><url><loc>https://example.org/</loc></url></urlset>`
	for name, c := range map[string]struct {
		fs        files
		generator string
		finding   string // "" for none
		note      string
	}{
		"redirects":  {slashes, "", "the host redirects 2 of 3 entries, such as this one from /a to /a/; search engines want the final addresses", ""},
		"docusaurus": {slashes, "docusaurus", "", "the host redirects 2 of 3 addresses in sitemap.xml, such as /a to /a/, because trailingSlash is not set: set it to true in the configuration of Docusaurus"},
		"hugo": {files{"index.html": plain, "de/sitemap.xml": hugo, "en/sitemap.xml": hugo}, "", "",
			"de/sitemap.xml begins with an empty line, which strict programs reject: Hugo's own template writes it, and one of your own, layouts/sitemap.xml, replaces it"},
		"own template": {files{"index.html": plain, "sitemap.xml": "\n" + hugo}, "hugo",
			"white space precedes the XML declaration, so strict programs reject the whole file; remove it from the template that writes the file", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := checkFiles(t, c.fs, isite.Options{BaseURLs: published.BaseURLs, Generator: c.generator}, Options{})
			got := ""
			for _, f := range r.Findings {
				got += f.Message
			}
			if got != c.finding || strings.Join(r.Summary.Notes, "\n") != c.note || r.Summary.FileWarnings != len(r.Findings) {
				t.Errorf("findings %q, want %q; notes %q, want %q", got, c.finding, r.Summary.Notes, c.note)
			}
		})
	}
}

// lfsPointer is what git-lfs has in git instead of a file.
const lfsPointer = "version https://git-lfs.github.com/spec/v1\noid sha256:2cf4acac8f061d36f417efc468a390240d1d0fce70928a677c477b505ec2a70c\nsize 55\n"

// TestSummaryOfFiles: files read besides pages are counted by kind, and files
// not read by reason. The count of pages is unaffected.
func TestSummaryOfFiles(t *testing.T) {
	root := tempDocroot(t, files{"p.html": plain + "<link rel=canonical href=q.html><link rel=canonical href=p.html><link rel=manifest href=m.json>",
		"q.html": plain + "<link rel=canonical href=q.html>", "r.html": plain + "<link rel=canonical href=gone.html>", "i.svg": "<svg/>",
		"a.css": "", "b.CSS": "", "m.json": "{}", "n.webmanifest": "{}", "data.json": `{"version": 1}`, "feed.json": `{"version":"https://jsonfeed.org/version/1"}`,
		"f.xml": "<rss/>", "g.atom": "<feed/>", "s.xml": sitemap(), "t.xml.gz": zipped(t, sitemap()), "i.xml": sitemapIndex(), "o.opml": "<opml/>", "e.xml": "<project/>", "e.rdf": "no",
		"l.jsonld": "{}", "robots.txt": "", "d/robots.txt": "", "_headers": "", "a.css.map": "{}", "s.js.map": "{}", "x.map": "", "lfs.html": lfsPointer, "lfs.svg": lfsPointer, "os.xml": "<OpenSearchDescription/>", "x.gz": ""})
	sum := run(t, load(t, root, isite.Options{}), Options{}).Summary
	want := []KindCount{{"svg", 1}, {"css", 2}, {"feed", 2}, {"json feed", 1}, {"sitemap", 2}, {"sitemap index", 1}, {"opml", 1}, {"opensearch", 1},
		{"web manifest", 2}, {"json-ld", 1}, {"robots.txt", 1}, {"_headers", 1}}
	if !slices.Equal(sum.Read, want) {
		t.Errorf("read %v, want %v", sum.Read, want)
	}
	if want := []KindCount{{"other-xml", 2}, {"source-map", 2}, {"git-lfs", 2}}; !slices.Equal(sum.NotRead, want) {
		t.Errorf("not read %v, want %v", sum.NotRead, want)
	}
	if sum.Pages != 3 || sum.Canonical != 1 || sum.Errors != 1 {
		t.Errorf("%d pages, %d with another canonical address, %d errors", sum.Pages, sum.Canonical, sum.Errors)
	}
}

// TestZippedSitemaps: compressed sitemaps are read like others, and one that
// inflates beyond the limit is rejected before it fills the memory.
func TestZippedSitemaps(t *testing.T) {
	testkit.Long(t)
	bomb := zipped(t, sitemap("/p.html")+strings.Repeat(" ", 2*isite.MaxSitemapBytes))
	root := tempDocroot(t, files{"p.html": plain, "ok.xml.gz": zipped(t, sitemap("/p.html", "/gone.html")), "bomb.xml.gz": bomb,
		"cut.xml.gz": zipped(t, sitemap(strings.Fields(strings.Repeat("/p.html ", 9000))...))[:500], "none.xml.gz": "<urlset>"})
	r := run(t, load(t, root, isite.Options{}), Options{})
	compareCodes(t, r.Findings,
		"bomb.xml.gz:0:0 sitemap-limit",
		"cut.xml.gz:0:0 read-error",
		"ok.xml.gz:3:11 sitemap-entry")
	all, links := rows(t, load(t, root, isite.Options{}), Options{})
	agree(t, r, all, links)
}

// TestSitemapSize: a sitemap above the protocol's limit gets a warning, and one
// far above it is not read at all. A lower limit of the user takes precedence.
func TestSitemapSize(t *testing.T) {
	testkit.Long(t)
	root := tempDocroot(t, files{"p.html": plain, "s.xml": sitemap("/p.html", "/gone.html") + strings.Repeat(" ", isite.MaxSitemapBytes),
		"t.xml": sitemap("/p.html") + strings.Repeat(" ", 2*isite.MaxSitemapBytes)})
	compareCodes(t, run(t, load(t, root, isite.Options{}), Options{}).Findings,
		"s.xml:0:0 sitemap-limit",
		"s.xml:3:11 sitemap-entry",
		"t.xml:0:0 sitemap-limit")
	compareCodes(t, run(t, load(t, root, isite.Options{MaxPageBytes: 1 << 20}), Options{}).Findings,
		"s.xml:0:0 too-large",
		"t.xml:0:0 too-large")
}

// TestBadFiles: a file that cannot be read to its end is reported with the
// position of the fault, and the links before the fault count.
func TestBadFiles(t *testing.T) {
	root := tempDocroot(t, files{"p.html": plain + "<link rel=manifest href=m.json>", "f.xml": "<rss><channel>\n<link>gone</link><title>a & b</title></channel></rss>",
		"m.json": "{\n \"start_url\": \"gone\",\n}", "a.css": "a{b:url(\"gone\n}", "s.svg": "<svg xmlns='http://www.w3.org/2000/svg'><a href='gone'/><b></svg>"})
	r := run(t, load(t, root, isite.Options{}), Options{})
	compareCodes(t, r.Findings,
		"a.css:1:9 not-well-formed",
		"f.xml:2:7 missing-file",
		"f.xml:2:27 not-well-formed",
		"m.json:2:16 missing-file",
		"m.json:3:1 not-well-formed",
		"s.svg:1:50 missing-file",
		"s.svg:1:60 not-well-formed")
}

// TestPageExtensions (LL-27): the user can set the list of extensions.
func TestPageExtensions(t *testing.T) {
	x := files{"p.html": plain + "<a href=gone1>", "q.PHP": plain + "<a href=gone2>", "r.htm": plain + "<a href=gone3>", "s.xhtml": "<html xmlns='http://www.w3.org/1999/xhtml'><a href='gone4'/></html>"}
	for _, c := range []struct {
		extensions []string
		want       int
	}{{nil, 3}, {[]string{"html"}, 1}, {[]string{".php", "HTML", "xhtml"}, 3}, {[]string{"php"}, 1}} {
		r := run(t, load(t, tempDocroot(t, x), isite.Options{PageExtensions: c.extensions}), Options{})
		if r.Summary.Errors != c.want || r.Summary.Pages != c.want {
			t.Errorf("%q: %d errors on %d pages, want %d", c.extensions, r.Summary.Errors, r.Summary.Pages, c.want)
		}
	}
}

// TestChangedCounts: the broken links of a page that has changed since it was
// loaded are neither listed nor counted as errors.
func TestChangedCounts(t *testing.T) {
	x := fixture{files: files{"p.html": plain + "<a href=#x><a href=#y><a href=p.html>", "q.html": plain + "<a href=#z>"},
		change: func(t testing.TB, root string) { addFiles(t, root, files{"p.html": plain}) }}
	s := x.load(t)
	r := run(t, s, Options{})
	compareBriefs(t, r.Findings, "p.html:0:0 error changed", "q.html:1:40 error missing-fragment #z")
	sum := r.Summary
	if sum.Errors != 1 || sum.FileErrors != 1 || sum.Unchecked != 2 || sum.OK != 1 || sum.Links != sum.OK+sum.Errors+sum.Warnings+sum.Unchecked+sum.Ignored ||
		!slices.Equal(sum.Reasons, []CodeCount{{Changed, 2}}) {
		t.Errorf("summary %+v", sum)
	}
	links, err := Links(t.Context(), handle(s), Options{}, Query{}, func(*Link) error { return nil })
	if err != nil || !reflect.DeepEqual(links.Summary, sum) {
		t.Errorf("summary of Links %+v (%v), of Run %+v", links.Summary, err, sum)
	}
}
