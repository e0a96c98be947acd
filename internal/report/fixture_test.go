package report

import (
	"fmt"
	"strings"

	"github.com/sitelink/sitelink/check"
)

// fixture is a result and the options for its text.
type fixture struct {
	name   string
	opt    TextOptions
	result check.Result
}

// results are the reports with golden files: what people usually see, and what
// hostile pages try.
func results() []fixture {
	public := TextOptions{Prefix: "public"}
	return []fixture{
		{"clean", public, check.Result{Summary: check.Summary{
			Docroot: "public", Profile: "generic", Files: 40, Pages: 12, Bytes: 61234,
			Links: 1340, Anchors: 98, OK: 1325, Unchecked: 15, Redirected: 2,
			Reasons: []check.CodeCount{{Code: check.External, Count: 12}, {Code: check.Mailto, Count: 3}},
		}}},
		{"clean_with_ignores", TextOptions{}, check.Result{Summary: check.Summary{
			Docroot: "public", Profile: "linklint", Files: 1, Pages: 1, Bytes: 20, Links: 1, Ignored: 1,
			UnusedIgnores: []string{`sitelink.toml:12: url "/old/**"`, "--ignore code=wrong-case"},
			Skipped:       []string{"files/", "old.html"}, // LL-21
		}}},
		{"baseline", public, baselined()},
		{"clean_with_baseline", public, check.Result{Summary: check.Summary{
			Docroot: "public", Profile: "generic", Files: 3, Pages: 2, Bytes: 300, Links: 9, OK: 4,
			Baseline: &check.BaselineSummary{Name: "known.jsonl", Links: 5},
		}}},
		{"files", public, check.Result{Summary: check.Summary{
			Docroot: "public", Profile: "generic", Files: 2400, Pages: 12, Bytes: 61234, Links: 1340, Anchors: 98, OK: 1340, Canonical: 3,
			Read:    []check.KindCount{{Kind: "svg", Count: 1200}, {Kind: "css", Count: 2}, {Kind: "sitemap index", Count: 1}},
			NotRead: []check.KindCount{{Kind: "source-map", Count: 4}},
			ScriptFragments: []check.ScriptFragmentCount{
				{Evidence: "scaladoc (lib/index.js)", Fragments: 97717, Pages: 1, Links: 101095}, {Evidence: "e2", Fragments: 3, Pages: 2, Links: 3},
				{Evidence: "e3", Fragments: 2, Pages: 2, Links: 2}, {Evidence: "e4", Fragments: 1, Pages: 1, Links: 2}, {Evidence: "e5", Fragments: 1, Pages: 1, Links: 1},
				{Evidence: "e6", Fragments: 1, Pages: 1, Links: 1},
			}, Notes: []string{"something was not checked; set base-url"},
		}}},
		{"few", public, few()},
		{"template", public, fromTemplate()},
		{"sources", public, sources()},
		{"faults", TextOptions{Prefix: "./public/"}, faults()},
		{"hostile", TextOptions{}, hostile()},
	}
}

// baselined has one new finding, one with an expired entry, and a list that is
// longer than what text shows.
func baselined() check.Result {
	r := few()
	r.Findings = r.Findings[:2]
	r.Findings[1].Message += "; the baseline accepted it until 2026-12-31 (before the move)"
	r.Summary.Errors = 2
	r.Summary.Baseline = &check.BaselineSummary{Name: "known\u202e.jsonl", Links: 1, Faults: 2, Expired: 1}
	for i := range 12 {
		r.Summary.Baseline.Unneeded = append(r.Summary.Baseline.Unneeded, fmt.Sprintf("known.jsonl:%d: a\x1b.html: missing-file /%d", i+2, i))
	}
	return r
}

// few has three findings of three kinds.
func few() check.Result {
	return check.Result{
		Findings: []check.Finding{
			{Page: "blog/index.html", Line: 12, Column: 18, Offset: 311, Element: "a", Attribute: "href",
				Raw: "/blog/fooo/", Target: "/blog/fooo/", Verdict: check.Error, Code: check.MissingDirectory,
				Status: 404, Message: "no directory /blog/fooo/", Suggestion: "/blog/foo/", Count: 1},
			{Page: "blog/index.html", Line: 14, Column: 18, Offset: 402, Element: "a", Attribute: "href",
				Raw: "../about.html#teem", Target: "/about.html", Fragment: "teem", Verdict: check.Error,
				Code: check.MissingFragment, Status: 200, Message: "/about.html has no anchor teem",
				Suggestion: "../about.html#team", Count: 1},
			{Page: "index.html", Line: 3, Column: 22, Offset: 60, Element: "img", Attribute: "srcset",
				Raw: "img/Photo.PNG", Target: "/img/Photo.PNG", Verdict: check.Error, Code: check.WrongCase,
				Status: 404, Message: "the file is named photo.png", Suggestion: "img/photo.png", Count: 1},
		},
		Summary: check.Summary{Docroot: "public", Profile: "generic", Files: 30, Pages: 9, Bytes: 40000,
			Links: 210, Anchors: 41, OK: 206, Errors: 3, Unchecked: 1,
			Reasons: []check.CodeCount{{Code: check.External, Count: 1}}},
	}
}

// fromTemplate has the same broken links on many pages, and one finding that
// represents many links.
func fromTemplate() check.Result {
	var r check.Result
	add := func(page, raw, target, fragment string, code check.Code, count int) {
		verdict, message := check.Error, "file not found: "+target
		if code == check.ScriptFragment {
			verdict = check.Warning
			message = "1,204 of 1,210 fragments asked for are not on the page, which has scripts"
		}
		r.Findings = append(r.Findings, check.Finding{Page: page, Line: 7, Column: 10, Offset: int64(90 + len(r.Findings)),
			Element: "a", Attribute: "href", Raw: raw, Target: target, Fragment: fragment,
			Verdict: verdict, Code: code, Message: message, Count: count})
	}
	for i := range 8 {
		page := fmt.Sprintf("post/%d.html", i)
		add(page, "/old/", "/old/", "", check.MissingFile, 1)
		add(page, "/old/", "/old/", "", check.MissingFile, 1) // twice on a page is one page
		for j := range 6 {
			if i > j+1 {
				target := fmt.Sprintf("/gone-%d.css", j)
				add(page, target, target, "", check.MissingFile, 1)
			}
		}
		if i < 4 {
			add(page, "/a.html#x", "/a.html", "x", check.MissingFragment, 1)
			add(page, "/a.html#"+page, "/a.html", page, check.MissingFragment, 1)
		}
	}
	add("src/view.html", "#L10", "/src/view.html", "L10", check.ScriptFragment, 1204)
	r.Summary = check.Summary{Docroot: "public", Profile: "generic", Files: 40000, Pages: 32101, Bytes: 478000000,
		Links: 2512003, Anchors: 1203400, OK: 2500000, Errors: len(r.Findings) - 1, Warnings: 1204, Unchecked: 10236, Ignored: 4,
		Reasons: []check.CodeCount{{Code: check.External, Count: 10233}, {Code: check.Mailto, Count: 3}}}
	return r
}

// sources has findings with positions in the author's files.
func sources() check.Result {
	return check.Result{
		Findings: []check.Finding{
			{Page: "post/a/index.html", Line: 30, Column: 9, Offset: 1200, Element: "a", Attribute: "href",
				Raw: "../b", Target: "/post/b", Verdict: check.Error, Code: check.MissingFile, Status: 404,
				Source: &check.Position{File: "content/post/a.md", Line: 12, Column: 7}, Suggestion: "../c",
				Message: "file not found: /post/b", Count: 1},
			{Page: "post/a/index.html", Line: 31, Column: 9, Offset: 1250, Element: "link", Attribute: "href",
				Raw: "http://u:p@example.org/", Target: "http://u:p@example.org/", Verdict: check.Warning, Code: check.Credentials,
				Source: &check.Position{File: "layouts/head.html"}, Message: "the URL holds a password", Count: 1},
			{Page: "post/a/index.html", Line: 32, Column: 9, Offset: 1290, Element: "a", Attribute: "href",
				Raw: "/c/#tope", Target: "/c/", Fragment: "tope", Verdict: check.Error, Code: check.MissingFragment, Status: 200, File: "c/index.html",
				Source:  &check.Position{File: "themes/nice/layouts/nav.html", Line: 4, Column: 10, Kind: check.InTemplate, Module: "nice"},
				Related: &check.Related{Position: check.Position{File: "content/c.md", Line: 7, Column: 4}, Text: "heading \"The top\""},
				Message: "c/index.html has no element with id \"tope\"", Suggestion: "/c/#top", Count: 1},
		},
		Summary: check.Summary{Docroot: "public", Profile: "generic", Files: 2, Pages: 1, Bytes: 2000, Links: 4,
			OK: 1, Errors: 2, Warnings: 1},
	}
}

// faults has findings about files, with and without a position, and links that
// another path answers.
func faults() check.Result {
	return check.Result{
		Findings: []check.Finding{
			{Page: "big.html", Verdict: check.Warning, Code: check.TooLarge, Message: "larger than max-page-size, not read", Count: 1},
			{Page: "list.html", Line: 2, Column: 10, Offset: 25, Element: "a", Attribute: "href", Raw: "files", Target: "/files",
				Verdict: check.Warning, Code: check.Autoindex, Status: 200, Final: "/files/",
				Message: "only a directory listing answers", Count: 1},
			{Page: "m.map", Line: 4, Offset: 70, Verdict: check.Error, Code: check.BadMapFile, Message: "no shape and URL in this line", Count: 1},
			{Page: "open.html", Line: 9, Column: 1, Offset: 300, Verdict: check.Error, Code: check.UnclosedComment,
				Message: "the comment that begins here never ends", Count: 1},
			{Page: "style.html", Line: 5, Column: 12, Offset: 90, Element: "style", Raw: "bg.png", Target: "/bg.png",
				Verdict: check.Error, Code: check.MissingFile, Status: 404, Message: "file not found: /bg.png", Count: 1},
			{Page: "style.html", Line: 6, Column: 12, Offset: 99, Element: "img", Attribute: "src",
				Verdict: check.Error, Code: check.EmptyLink, Message: "src is empty", Count: 1},
		},
		Summary: check.Summary{Docroot: "./public/", Profile: "generic", Files: 9, Pages: 5, Bytes: 900, Links: 9,
			OK: 6, Errors: 2, Warnings: 1, FileErrors: 2, FileWarnings: 1},
	}
}

// hostile has what a page could try against a terminal, a log or a parser.
func hostile() check.Result {
	finding := func(page, raw string) check.Finding {
		return check.Finding{Page: page, Line: 1, Column: 10, Offset: 9, Element: "a", Attribute: "href", Raw: raw,
			Verdict: check.Error, Code: check.BadURL, Message: "no URL: " + raw, Count: 1}
	}
	return check.Result{
		Findings: []check.Finding{
			finding("a\nb.html", "\x1b]0;owned\x07\x1b[31mred\r\nb.html:1:1: error: forged [x]"),
			finding("bell\x07\xff.html", "c1 \u009b31m, del \x7f, nul \x00, bytes \xc3\x28 \xff"),
			finding("bidi.html", "\u202egnp.exe\u2066 \u200b \ufeff \U000e0041 \u2028 \ufffd"),
			finding("long.html", "data:image/png;base64,"+strings.Repeat("iVBORw0KGgo", 9310)),
			finding("long.html", strings.Repeat("\u00e4\u4e16", 80)+"\U0001f600"),
			finding("quote.html", `"><script>alert('x & y')</script>\b`+"\t\b\f"),
		},
		Summary: check.Summary{Docroot: "pub\x1blic", Profile: "generic", Files: 5, Pages: 5, Links: 6, Errors: 6,
			UnusedIgnores: []string{"\x1b[2J"}},
	}
}
