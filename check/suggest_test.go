package check

import (
	"html"
	"maps"
	"testing"

	isite "github.com/sitelink/sitelink/internal/site"
)

// TestSuggestions: suggestions have the notation of the link, and they are
// correct: in the place of the link they give no finding.
func TestSuggestions(t *testing.T) {
	many := files{"a/p.html": ""}
	for _, d := range "bcdefghijk" {
		many[string(d)+"/index.html"] = plain
	}
	tests := []struct {
		name  string
		files files // "a/p.html" is the page, its text goes in front of the link
		opt   isite.Options
		raw   string
		want  string
	}{
		{"same_name_elsewhere", files{"img/pic.png": ""}, isite.Options{}, "pic.png", "../img/pic.png"},
		{"same_name_elsewhere_rooted", files{"img/pic.png": ""}, isite.Options{}, "/pic.png", "/img/pic.png"},
		{"same_name_nearest_place", files{"x/y/pic.png": "", "a/x/pic.png": ""}, isite.Options{}, "y/pic.png", "x/pic.png"},
		{"same_name_other_case_elsewhere", files{"img/Pic.PNG": ""}, isite.Options{}, "pic.png", "../img/Pic.PNG"},
		{"letter_case", files{"a/pic.png": ""}, isite.Options{}, "Pic.PNG", "pic.png"},
		{"letter_case_of_directory", files{"Sub/x.html": plain}, isite.Options{}, "../sub/x.html", "../Sub/x.html"},
		{"letter_case_keeps_query_and_fragment", files{"a/q.html": plain + "<p id=f>"}, isite.Options{}, "Q.html?x=1#f", "q.html?x=1#f"},
		{"letter_case_of_absolute_url", files{"a/q.html": plain}, isite.Options{BaseURLs: []string{"https://example.org/"}}, "https://example.org/a/Q.html", "https://example.org/a/q.html"},
		{"letter_case_of_network_path", files{"a/q.html": plain}, isite.Options{BaseURLs: []string{"https://example.org/"}}, "//example.org/a/Q.html", "//example.org/a/q.html"},
		{"letter_case_below_base_path", files{"a/q.html": plain}, isite.Options{BaseURLs: []string{"https://example.org/sub/"}}, "/sub/a/Q.html", "/sub/a/q.html"},
		{"relative_below_base_path", files{"a/q.html": plain}, isite.Options{BaseURLs: []string{"https://example.org/sub/"}}, "Q.html", "q.html"},
		{"html_missing", files{"a/about.html": plain}, isite.Options{}, "about", "about.html"},
		{"html_missing_rooted_with_slash", files{"about.html": plain}, isite.Options{}, "/about/", "/about.html"},
		{"htm_missing", files{"a/about.htm": plain}, isite.Options{}, "about", "about.htm"},
		{"html_too_much", files{"a/about/index.html": plain}, isite.Options{}, "about.html", "about/"},
		{"other_extension", files{"a/about.html": plain}, isite.Options{}, "about.md", "about.html"},
		{"typing_error", files{"a/installation.html": plain}, isite.Options{}, "instalation.html", "installation.html"},
		{"nearest_id", files{}, isite.Options{}, "#instalation", "#installation"},
		{"nearest_id_in_other_case", files{}, isite.Options{}, "#INSTALLATION", "#installation"},
		{"nearest_id_other_punctuation", files{}, isite.Options{}, "#get_started", "#get-started"},
		{"nearest_id_of_other_page", files{"a/q.html": plain + "<p id=usage>"}, isite.Options{}, "q.html?x#usages", "q.html?x#usage"},
		{"nearest_id_is_escaped", files{"a/q.html": plain + "<meta charset=utf-8><p id=\"größe b\">"}, isite.Options{}, "q.html#größe-b", "q.html#gr%C3%B6%C3%9Fe%20b"},
		{"mail_address", files{}, isite.Options{}, "me@example.org", "mailto:me@example.org"},
		{"host_name", files{}, isite.Options{}, "www.example.org/x", "https://www.example.org/x"},
		{"escaped_name", files{"img/a b#c.png": ""}, isite.Options{}, "a%20b%23c.png", "../img/a%20b%23c.png"},
		{"colon_in_first_segment", files{"a/c:D.html": plain}, isite.Options{}, "./c:d.html", "./c:D.html"},
		{"base_element", files{"a/p.html": "<base href=/x/y/>", "x/y/pic.png": ""}, isite.Options{}, "Pic.png", "/x/y/pic.png"},

		{"nothing_near", files{"zebra.txt": ""}, isite.Options{}, "giraffe.html", ""},
		{"nothing_near_id", files{}, isite.Options{}, "#zzz", ""},
		{"short_names_are_not_near", files{"a/x.a": ""}, isite.Options{}, "y.b", ""},
		{"index_html_says_nothing", many, isite.Options{}, "zz/index.html", ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			page := "<!doctype html><meta charset=utf-8>" + tc.files["a/p.html"] + "<p id=installation><p id=get-started>"
			build := func(raw string) *Result {
				fs := maps.Clone(tc.files)
				fs["a/p.html"] = page + `<a href="` + html.EscapeString(raw) + `">x</a>`
				return checkFiles(t, fs, tc.opt, Options{})
			}
			r := build(tc.raw)
			if len(r.Findings) != 1 {
				t.Fatalf("findings %v, want one", briefs(r.Findings))
			}
			if got := r.Findings[0].Suggestion; got != tc.want {
				t.Errorf("%s: suggestion %q, want %q", brief(&r.Findings[0]), got, tc.want)
			}
			if tc.want != "" {
				if again := build(r.Findings[0].Suggestion); len(again.Findings) > 0 {
					t.Errorf("the suggestion %q is a finding itself: %v", r.Findings[0].Suggestion, briefs(again.Findings))
				}
			}
		})
	}
}

// TestMapSuggestion: map names are suggested only for map names.
func TestMapSuggestion(t *testing.T) {
	r := checkFiles(t, files{"p.html": plain + "<map name=navigation></map><p id=navigations><img usemap=#navigatio>"}, isite.Options{}, Options{})
	if len(r.Findings) != 1 || r.Findings[0].Suggestion != "#navigation" {
		t.Errorf("got %+v", r.Findings)
	}
}

// TestRelative: references are as short as possible (RFC 3986, section 4.2),
// also from a page at the root.
func TestRelative(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"/a.html", "/b.html", "b.html"},
		{"/a.html", "/d/b.html", "d/b.html"},
		{"/a.html", "/", "./"},
		{"/d/a.html", "/b.html", "../b.html"},
		{"/d/a.html", "/d/b.html", "b.html"},
		{"/d/e/a.html", "/d/", "../"},
		{"/a.html", "/c:d.html", "./c:d.html"},
	} {
		if got := relative(c.from, c.to); got != c.want {
			t.Errorf("from %s to %s: %s, want %s", c.from, c.to, got, c.want)
		}
	}
}
