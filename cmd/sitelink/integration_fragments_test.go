//go:build integration && linux

package main_test

import (
	"fmt"
	"html"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// fragmentPage is a page and the fragments that are asked of it, as they are
// written behind the # of a link.
type fragmentPage struct {
	name    string
	content string
	ask     []string
}

// minFragments keeps TestChromiumFragments from passing on nothing.
const minFragments = 500

// unlike are the links with another verdict than Chromium's, and why.
var unlike = map[string]string{
	"rawtext.html#w33": "a style that begins in noscript ends there where scripts run; sitelink also reads the links in noscript, and then it does not",
}

// TestChromiumFragments: for every fixture page and fragment, sitelink says
// that the fragment is missing exactly when Chromium does not find it (LL-63;
// LL-39 in the pages names*.html).
func TestChromiumFragments(t *testing.T) {
	t.Parallel()
	var hrefs []string
	files := map[string]string{}
	for _, p := range fragmentPages() {
		if _, ok := files[p.name]; ok {
			t.Fatalf("fixture %s occurs twice", p.name)
		}
		files[p.name] = p.content
		for _, f := range p.ask {
			hrefs = append(hrefs, p.name+"#"+f)
		}
	}
	hrefs = append(hrefs, roundaboutLinks...)
	var page strings.Builder
	page.WriteString("<!doctype html><meta charset=utf-8><title>links</title>\n")
	for _, href := range hrefs {
		fmt.Fprintf(&page, "<a href=\"%s\">x</a>\n", html.EscapeString(href))
	}
	files["links.html"] = page.String()
	docroot := writeFixtures(t, files)

	b := &browser{testkit.StartBrowser(t, true), t} // what is in noscript is text only where scripts run
	origin := serveFixtures(t, docroot)
	b.Load(origin + "/links.html")
	var urls []string
	b.Eval(`[...document.querySelectorAll("a")].map(a => a.href)`, &urls)
	if len(urls) != len(hrefs) {
		t.Fatalf("links.html holds %d links, Chromium sees %d", len(hrefs), len(urls))
	}
	var rows []row
	eachLink(t, docroot, []string{"--script-fragments", "error"}, func(r *row) {
		if r.Page == "links.html" && !r.isFault() {
			rows = append(rows, *r)
		}
	})
	if len(rows) != len(hrefs) {
		t.Fatalf("links.html holds %d links, sitelink shows %d", len(hrefs), len(rows))
	}

	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	differ, found := 0, 0
	shown := ""
	answers := map[string]bool{} // going where one is already would be a reload
	for i, url := range urls {
		r := rows[i]
		if _, ok := answers[url]; !ok {
			answers[url] = b.findsFragment(url, &shown, r.Code != "missing-fragment")
		}
		want := "missing"
		if answers[url] {
			want = "found"
			found++
		}
		got := r.Verdict + " " + r.Code
		switch {
		case got == "error missing-fragment":
			got = "missing"
		case r.Verdict == "ok", r.Code == "backslash": // a warning about the path alone
			got = "found"
		}
		resolved, fragment, _ := strings.Cut(url, "#")
		same := got == want && r.Fragment == fragment && origin+r.Target == resolved && r.Status == 200
		if _, known := unlike[hrefs[i]]; same == known {
			differ++
			fmt.Fprintf(w, "%q\t%s\t%s\t%s\t%d\n", clip(hrefs[i]), want, got, clip(r.Target+"#"+r.Fragment), r.Status)
		}
	}
	w.Flush()
	t.Logf("compared %d fragments on %d pages; Chromium finds %d", len(urls), len(files)-1, found)
	if differ > 0 {
		t.Errorf("%d of %d verdicts differ (link, Chromium, sitelink):\n%s", differ, len(urls), table.String())
	}
	if len(urls) < minFragments || found < minFragments/3 || len(urls)-found < minFragments/3 {
		t.Errorf("compared %d fragments, %d of them found: want at least %d, a third of each kind", len(urls), found, minFragments)
	}
}

// Chromium looks for the text of a fragment directive for half a second at most
// before it goes on to the element. Where sitelink expects no element, it has this
// long to find one, and otherwise as long as a busy machine may need.
const (
	directivePatience = 1500 * time.Millisecond
	expectedPatience  = 30 * time.Second
)

// findsFragment reports whether a visitor of url gets what its fragment names:
// an element becomes :target or, for an empty fragment and top, a page that
// was scrolled down goes back to its top. shown is the document in the tab.
//
// The test cannot see the top with a fragment directive, because that makes the
// browser scroll too, or in framesets, because they are loaded again. Then the
// Standard's rule decides.
func (b *browser) findsFragment(url string, shown *string, expected bool) bool {
	b.t.Helper()
	document, fragment, hasFragment := strings.Cut(url, "#")
	if !hasFragment {
		return true
	}
	id, _, directive := strings.Cut(fragment, ":~:")
	byRule := id == "" || strings.EqualFold(id, "top")
	const hasTarget = `document.querySelector(":target") !== null`
	found := false
	if directive {
		*shown = ""
		b.Load(url)
		limit := directivePatience
		if expected && !byRule {
			limit = expectedPatience
		}
		for start := time.Now(); !found && time.Since(start) < limit; time.Sleep(50 * time.Millisecond) {
			b.Eval(hasTarget, &found)
		}
		return found || byRule
	}
	if *shown != document {
		b.Load(document)
		b.Eval(`document.documentElement.style.paddingBottom = "20000px", null`, new(any))
		*shown = document
	}
	var before, after float64
	b.Eval(`scrollTo(0, 5000), scrollY`, &before)
	event := b.Navigate(url)
	if b.Eval(hasTarget, &found); found {
		return true
	}
	if event == testkit.Loaded {
		return byRule
	}
	b.Eval(`scrollY`, &after)
	return after == 0 && before > 0
}
