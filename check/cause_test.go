package check

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
	isite "github.com/sitelink/sitelink/internal/site"
)

// causesOf checks a docroot and returns a line for each cause: its counts and
// the link of its first finding.
func causesOf(t *testing.T, fs files) []string {
	t.Helper()
	r := checkFiles(t, fs, isite.Options{BaseURLs: []string{"https://example.org/"}}, Options{})
	var lines []string
	findings := 0
	ids := map[string]bool{}
	for _, c := range Causes(r.Findings) {
		f := &r.Findings[c.First]
		lines = append(lines, fmt.Sprintf("%d/%d %d pages %d feeds %s %s", c.Errors, c.Warnings, c.Pages, c.Feeds, f.Page, f.Raw))
		findings += len(c.Findings)
		if ids[c.ID] || len(c.ID) != 16 {
			t.Errorf("the ID %q is not unique, or not 16 digits", c.ID)
		}
		ids[c.ID] = true
	}
	if findings != len(r.Findings) {
		t.Errorf("%d findings in causes, want %d", findings, len(r.Findings))
	}
	return lines
}

func wantCauses(t *testing.T, fs files, want ...string) {
	t.Helper()
	if got := causesOf(t, fs); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("causes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const nav = `<nav><ul><li><a class="item" href="/gone/">x</a></li></ul></nav>`

// The same link in the same context of many pages is one cause; in another
// context it is another, and different links are different causes.
func TestCausesByContext(t *testing.T) {
	wantCauses(t, files{
		"index.html": nav + `<p>see <a href="/gone/">this</a> and <a href="/other/">that</a>`,
		"a.html":     nav,
		"b.html":     "<p>longer</p>" + nav + `<p><a href="/gone/">this</a>`,
	}, "3/0 3 pages 0 feeds a.html /gone/", "2/0 2 pages 0 feeds b.html /gone/", "1/0 1 pages 0 feeds index.html /other/")
}

// A menu with relative links writes one target in several ways, and one value
// leads to several targets: each is one cause.
func TestCausesRelative(t *testing.T) {
	menu := func(up string) string { return `<ul><li><a href="` + up + `gone.html">x</a></ul>` }
	wantCauses(t, files{"index.html": menu(""), "a/index.html": menu("../"), "a/b/index.html": menu("../../")},
		"3/0 3 pages 0 feeds a/b/index.html ../../gone.html")
	wantCauses(t, files{"index.html": "x", "en/index.html": menu(""), "fr/index.html": menu("")},
		"2/0 2 pages 0 feeds en/index.html gone.html")
}

// A page and the feeds that repeat it are one cause. Its first finding is on
// the page.
func TestCausesFeeds(t *testing.T) {
	feed := `<rss version="2.0"><channel><item><link>https://example.org/post/</link><description>&lt;a href="https://example.org/gone/"&gt;x&lt;/a&gt;</description></item></channel></rss>`
	wantCauses(t, files{"index.html": "x", "a.xml": feed, "post/index.xml": feed, "post/index.html": `<p><a href="/gone/">x</a>`},
		"3/0 1 pages 2 feeds post/index.html /gone/")
	// Two links of pages may be repeated: nothing says which.
	wantCauses(t, files{"index.html": nav, "a.xml": feed, "post/index.html": `<p><a href="/gone/">x</a>`},
		"1/0 0 pages 1 feeds a.xml https://example.org/gone/", "1/0 1 pages 0 feeds index.html /gone/", "1/0 1 pages 0 feeds post/index.html /gone/")
}

// Positions in the sources decide: one place is one cause, whatever it writes,
// and two places are two.
func TestCausesBySource(t *testing.T) {
	r := checkFiles(t, files{"index.html": nav + `<a href="/v1/">1</a><a href="/v2/">2</a>`, "a.html": nav}, isite.Options{}, Options{})
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Source = &Position{File: "layouts/a.html", Line: 4, Column: 3}
		if f.Raw == "/gone/" {
			f.Source = &Position{File: "content/" + f.Page, Line: 4, Column: 3}
		}
	}
	var got []string
	for _, c := range Causes(r.Findings) {
		got = append(got, fmt.Sprintf("%s %d %v %d", r.Findings[c.First].Source.File, c.Errors, c.SameLink, len(c.Targets)))
	}
	if fmt.Sprint(got) != "[layouts/a.html 2 false 2 content/a.html 1 true 1 content/index.html 1 true 1]" {
		t.Errorf("causes %v", got)
	}
}

// The same link in the same file of several versions is one cause; another link
// there, or another file, is another.
func TestCausesOfVersions(t *testing.T) {
	r := checkFiles(t, files{"a.html": `<a href="/gone/">1</a><a href="/other/">2</a>`, "b.html": `<a href="/gone/">1</a>`, "c.html": `<a href="/gone/">1</a>`,
		"d.html": `<a href="/gone/">1</a>`}, isite.Options{}, Options{})
	places := map[string]string{"a.html": "data/v1-19-0-toc.yml", "b.html": "data/v1-19-1-toc.yml", "c.html": "content/v2/a.md", "d.html": "content/x/a.md"}
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Source = &Position{File: places[f.Page], Line: 4 + i, Column: 3}
	}
	var got []string
	for _, c := range Causes(r.Findings) {
		f := &r.Findings[c.First]
		got = append(got, fmt.Sprintf("%s %s %d errors in %d files", f.Source.File, f.Raw, c.Errors, c.Files))
	}
	want := "[data/v1-19-0-toc.yml /gone/ 2 errors in 2 files content/v2/a.md /gone/ 1 errors in 1 files content/x/a.md /gone/ 1 errors in 1 files data/v1-19-0-toc.yml /other/ 1 errors in 1 files]"
	if fmt.Sprint(got) != want {
		t.Errorf("causes\n%v\nwant\n%s", got, want)
	}
}

// A link that names the version of its own file is the same link in the file of
// another version. A link that names another version is not.
func TestCausesOfVersionedLinks(t *testing.T) {
	r := checkFiles(t, files{"a.html": `<a href="/docs/v1.1/gone/">1</a>`, "b.html": `<a href="/docs/v1.2/gone/">1</a>`,
		"c.html": `<a href="/docs/v1.1/gone/">1</a>`, "d.html": `<a href="/docs/v1.2.1/gone/">1</a>`}, isite.Options{}, Options{})
	places := map[string]string{"a.html": "docs/v1.1/a.md", "b.html": "docs/v1.2/a.md", "c.html": "docs/v1.3/a.md", "d.html": "docs/v1.2/a.md"}
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Source = &Position{File: places[f.Page], Line: 4 + i, Column: 3}
	}
	var got []string
	for _, c := range Causes(r.Findings) {
		got = append(got, fmt.Sprintf("%s %d", r.Findings[c.First].Raw, c.Errors))
	}
	want := "[/docs/v1.1/gone/ 2 /docs/v1.2.1/gone/ 1 /docs/v1.1/gone/ 1]"
	if fmt.Sprint(got) != want {
		t.Errorf("causes %v, want %s", got, want)
	}
}

// A fault of many pages that one place of a template makes is one cause.
func TestCauseOfFaultInTemplate(t *testing.T) {
	r := checkFiles(t, files{"a.html": "<p><!-- a", "b.html": "<p><!-- b", "c.html": "<p><!-- c"}, isite.Options{}, Options{})
	for i := range r.Findings {
		kind := InTemplate
		if r.Findings[i].Page == "c.html" {
			kind = InContent
		}
		r.Findings[i].Source = &Position{File: "layouts/head.html", Line: 10, Column: 2, Kind: kind}
	}
	if causes := Causes(r.Findings); len(causes) != 2 || causes[0].Pages != 2 {
		t.Errorf("%v: %+v", briefs(r.Findings), causes)
	}
}

// The ID of a cause is the same in every run, and when findings elsewhere come
// and go.
func TestCauseIDs(t *testing.T) {
	id := func(fs files) string {
		r := checkFiles(t, fs, isite.Options{BaseURLs: []string{"https://example.org/"}}, Options{})
		for _, c := range Causes(r.Findings) {
			if r.Findings[c.First].Raw == "/gone/" {
				return c.ID
			}
		}
		t.Fatal("no cause")
		return ""
	}
	first := id(files{"index.html": nav, "a.html": nav})
	if again := id(files{"index.html": nav, "b.html": nav, "0.html": `<a href="/more/">x</a>` + nav}); again != first {
		t.Errorf("the ID was %s and is %s", first, again)
	}
}

// Pages of one directory at addresses of several mean other redirects by the same value. For a
// page that the host moves, no relative value is suggested.
func TestSuggestionsOfMovedPages(t *testing.T) {
	profile := named("netlify")
	profile.Page, profile.PageFile, profile.PageSlash = host.Redirect, host.Redirect, host.Serve // /d/b.html is at /d/b/
	r := checkFiles(t, files{
		"_redirects": "/d/old /d/new.css 301!\n/d/b/old /d/b/other.css 301!\n", "d/new.css": "", "d/b/other.css": "",
		"d/a/index.html": plain + "<a href=old>x</a>", "d/index.html": plain + "<a href=old>x</a>", "d/b.html": plain + "<a href=old>x</a>",
	}, isite.Options{BaseURLs: []string{"https://example.org/"}, Profile: profile}, Options{})
	got := map[string]string{}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Code == ViaRedirect {
			got[f.Page] = f.Target + " " + f.Suggestion
		}
	}
	if want := map[string]string{"d/index.html": "/d/old new.css", "d/b.html": "/d/b/old "}; !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Links that one rule of the host redirects have the rule in common, and pages of a sitemap
// that ask not to be indexed are one cause: one setting writes the robots element of all.
func TestCausesOfOneSetting(t *testing.T) {
	const noindex = plain + "<meta name=robots content=noindex>"
	r := checkFiles(t, files{
		"_redirects": "/old/* /new/:splat 301\n/x /new/a.html 301\n", "new/a.html": noindex, "new/b.html": noindex,
		"index.html":  plain + "<a href=/old/a.html>a</a> <p><a href=/old/b.html>b</a> <em><a href=/x>x</a></em>",
		"sitemap.xml": `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://example.org/new/a.html</loc></url><url><loc>https://example.org/new/b.html</loc></url></urlset>`,
	}, isite.Options{BaseURLs: []string{"https://example.org/"}, Profile: named("netlify")}, Options{})
	var got []string
	for _, c := range Causes(r.Findings) {
		got = append(got, fmt.Sprint(r.Findings[c.First].Code, " ", len(c.Findings), " ", c.Family))
	}
	want := []string{"noindex-in-sitemap 2 /new/a.html", "via-redirect 1 _redirects:1", "via-redirect 1 _redirects:1", "via-redirect 1 _redirects:2"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
