package check

import (
	"html"
	"maps"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/weburl"
)

func named(profile string) host.Profile {
	p, _ := host.ProfileByName(profile)
	return p
}

// TestSuggestions: suggestions have the notation of the link, and they are
// correct: in the place of the link they give no finding.
func TestSuggestions(t *testing.T) {
	many := files{"a/p.html": ""}
	for _, d := range "bcdefghijk" {
		many[string(d)+"/index.html"] = plain
	}
	translated := files{"q.html": plain + "<h2 id=install><h2 id=feature-gate><h2 id=next>", "zh/q.html": plain + "<meta charset=utf-8><h2 id=安装><h2 id=特性门控><h2 id=下一步>"}
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
		{"markdown_copy_beside_directory", files{"setup/index.html": plain, "setup.md": "# S\n"}, isite.Options{}, "/setpu/", "/setup/"},
		{"markdown_copy_beside_page", files{"a/setup.html": plain, "a/setup.md": "# S\n", "a/setup.html.md": "# S\n"}, isite.Options{}, "setpu.html", "setup.html"},
		{"slash_for_hyphen", files{"o/index.html": plain, "o-auto/index.html": plain}, isite.Options{}, "/o/auto/", "/o-auto/"},
		{"hyphen_for_slash", files{"o/auto/index.html": plain}, isite.Options{}, "/o-auto/", "/o/auto/"},
		{"bracket_and_comma_behind", files{"a/guide.html": plain}, isite.Options{}, "guide.html),", "guide.html"},
		{"full_stop_behind_directory", files{"guide/index.html": plain}, isite.Options{}, "/guide/.)", "/guide/"},
		{"space_behind", files{"a/guide.html": plain}, isite.Options{}, "guide.html%20", "guide.html"},
		{"hard_space_behind", files{"a/guide.html": plain}, isite.Options{}, "guide.html\u00a0", "guide.html"},
		{"quote_behind_slash", files{"guide/index.html": plain}, isite.Options{}, "/guide/”", "/guide/"},
		{"decomposed_accent", files{"a/caf\u00e9.html": plain}, isite.Options{}, "cafe%CC%81.html", "caf%C3%A9.html"},
		{"composed_accent", files{"a/cafe\u0301.html": plain}, isite.Options{}, "caf%C3%A9.html", "cafe%CC%81.html"},
		{"form_of_the_site", files{"guide/setup.html": plain}, isite.Options{Profile: named("github-pages"), Form: weburl.BareForm}, "/guide/setpu/", "/guide/setup"},
		{"form_that_the_host_redirects", files{"guide/setup/index.html": plain}, isite.Options{Profile: named("github-pages"), Form: weburl.BareForm}, "/guide/setpu", "/guide/setup/"},
		{"form_that_no_host_answers", files{"guide/setup.html": plain}, isite.Options{Form: weburl.BareForm}, "/guide/setpu", "/guide/setup.html"},
		{"form_with_slash", files{"guide/setup.html": plain}, isite.Options{Profile: named("azure-static-web-apps"), Form: weburl.SlashForm}, "/guide/setpu", "/guide/setup/"},
		{"typing_error", files{"a/installation.html": plain}, isite.Options{}, "instalation.html", "installation.html"},
		{"nearest_id", files{}, isite.Options{}, "#instalation", "#installation"},
		{"nearest_id_in_other_case", files{}, isite.Options{}, "#INSTALLATION", "#installation"},
		{"nearest_id_other_punctuation", files{}, isite.Options{}, "#get_started", "#get-started"},
		{"nearest_id_of_other_page", files{"a/q.html": plain + "<p id=usage>"}, isite.Options{}, "q.html?x#usages", "q.html?x#usage"},
		{"nearest_id_is_escaped", files{"a/q.html": plain + "<meta charset=utf-8><p id=\"größe b\">"}, isite.Options{}, "q.html#größe-b", "q.html#größe%20b"},
		{"heading_of_a_translation", translated, isite.Options{}, "/zh/q.html#feature-gate", "/zh/q.html#特性门控"},
		{"heading_of_a_translation_from_english", files{"en/q.html": translated["q.html"], "zh/q.html": translated["zh/q.html"]}, isite.Options{}, "/zh/q.html#feature-gate", "/zh/q.html#特性门控"},
		{"section_of_a_translation", files{"q.html": plain + "<section id=one><h2>1</h2><section id=more> <h3>2</h3>", "de/q.html": plain + "<section id=eins><h2>1</h2><section id=mehr> <h3>2</h3>"}, isite.Options{}, "/de/q.html#more", "/de/q.html#mehr"},
		{"translation_with_other_headings", files{"q.html": translated["q.html"], "zh/q.html": translated["zh/q.html"] + "<h2 id=x>"}, isite.Options{}, "/zh/q.html#feature-gate", ""},
		{"translation_with_other_levels", files{"q.html": translated["q.html"], "zh/q.html": plain + "<h2 id=x><h3 id=y><h2 id=z>"}, isite.Options{}, "/zh/q.html#feature-gate", ""},
		{"mail_address", files{}, isite.Options{}, "me@example.org", "mailto:me@example.org"},
		{"host_name", files{}, isite.Options{}, "www.example.org/x", "https://www.example.org/x"},
		{"bracket_before_address", files{}, isite.Options{}, "(https://example.net/x", "https://example.net/x"},
		{"heading_of_a_translation_in_other_punctuation", translated, isite.Options{}, "/zh/q.html#Feature_gate", "/zh/q.html#特性门控"},
		{"semicolon_for_colon", files{}, isite.Options{}, "https;//www.example.net/x", "https://www.example.net/x"},
		{"own_address_before_another", files{}, isite.Options{BaseURLs: []string{"https://example.org/"}}, "https://example.org/https://example.net/x", "https://example.net/x"},
		{"escaped_fragment", files{"b/index.html": plain + "<p id=sec>"}, isite.Options{}, "/b/%23sec", "/b/#sec"},
		{"escaped_missing_fragment", files{"b/index.html": plain + "<p id=sec>"}, isite.Options{}, "/b/%23none", ""},
		{"escaped_name", files{"img/a b#c.png": ""}, isite.Options{}, "a%20b%23c.png", "../img/a%20b%23c.png"},
		{"colon_in_first_segment", files{"a/c:D.html": plain}, isite.Options{}, "./c:d.html", "./c:D.html"},
		{"without_base_path", files{"q.html": plain}, isite.Options{BaseURLs: []string{"https://example.org/sub/"}}, "/q.html?x", "/sub/q.html?x"},
		{"without_base_path_absolute", files{"q.html": plain + "<p id=f>"}, isite.Options{BaseURLs: []string{"https://example.org/sub/"}}, "https://example.org/q.html#f", "https://example.org/sub/q.html#f"},
		{"without_base_path_relative", files{"q.html": plain}, isite.Options{BaseURLs: []string{"https://example.org/sub/"}}, "../../q.html", "../q.html"},
		{"without_base_path_by_base_element", files{"a/p.html": "<base href=/>", "q.html": plain}, isite.Options{BaseURLs: []string{"https://example.org/sub/"}}, "q.html", "/sub/q.html"},
		{"without_base_path_of_root", files{"fr/x.html": plain}, isite.Options{Roots: []host.Root{{Dir: "", Base: "https://example.org/"}, {Dir: "fr", Base: "https://fr.example/sub/"}}}, "https://fr.example/x.html", "https://fr.example/sub/x.html"},
		{"base_element", files{"a/p.html": "<base href=/x/y/>", "x/y/pic.png": ""}, isite.Options{}, "Pic.png", "/x/y/pic.png"},

		{"missing_language", files{"en/posts/why-go/index.html": plain}, isite.Options{}, "/posts/why-go/", "/en/posts/why-go/"},
		{"missing_section", files{"docs/v1/config/annotations/index.html": plain}, isite.Options{}, "/docs/v1/annotations/", "/docs/v1/config/annotations/"},
		{"old_section", files{"guides/rate-limits/index.html": plain}, isite.Options{}, "/manual/rate-limits/", "/guides/rate-limits/"},
		{"missing_slash", files{"docs/x/y.html": plain}, isite.Options{}, "docs/x/y.html", "../docs/x/y.html"},
		{"typing_error_in_directory", files{"guides/x/y.html": plain}, isite.Options{}, "/giudes/x/y.html", "/guides/x/y.html"},
		{"in_the_same_version", files{"a/set-up/index.html": plain, "b/set-up/index.html": plain}, isite.Options{}, "/set-up/", "/a/set-up/"},
		{"page_with_the_fragment", files{"x/curses.html": plain, "y/curses.html": plain + "<p id=beep>"}, isite.Options{}, "/old/curses.html#beep", "/y/curses.html#beep"},
		{"missing_word", files{"a/install-velero-client.html": plain}, isite.Options{}, "install-client.html", "install-velero-client.html"},

		{"other_version", files{"docs/v1.0/restic/index.html": plain, "docs/v1.1/index.html": plain}, isite.Options{}, "/docs/v1.1/restic/", ""},
		{"other_language", files{"en/one/index.html": plain, "en/two/index.html": plain, "en/three/index.html": plain, "fr/one/index.html": plain, "fr/two/index.html": plain}, isite.Options{}, "/fr/three/", ""},
		{"other_section", files{"tutorial/venv.html": plain, "library/index.html": plain}, isite.Options{}, "/library/venv.html", ""},
		{"other_number", files{"a/upgrade-to-1.4.html": plain}, isite.Options{}, "upgrade-to-1.7.html", ""},
		{"common_name", files{"lib/filter/config.hpp": ""}, isite.Options{}, "/lib/python/config.hpp", ""},
		{"readme_elsewhere", files{"x/README.md": ""}, isite.Options{}, "/y/z/README.md", ""},
		{"directory_without_index", files{"a/guides/x.txt": ""}, isite.Options{}, "guidse/", ""},
		{"namesake_of_a_directory", files{"d/x.txt": "", "e/d/index.html": plain}, isite.Options{}, "/d/", ""},
		{"alias_page", files{"a/usages.html": `<!doctype html><meta http-equiv=refresh content="0;url=/a/p.html">`}, isite.Options{}, "usagess.html", ""},
		{"equally_near", files{"a/knots-a.html": plain, "a/knots-b.html": plain}, isite.Options{}, "knots-c.html", ""},
		{"fragment_on_no_page", files{"a/curses.html": plain}, isite.Options{}, "Curses.html#beep", ""},
		{"unknown_version_of_a_template", files{"docs/1.0/api/index.html": plain, "docs/1.1/api/index.html": plain}, isite.Options{}, "/docs/{{page.version}}/api/", ""},
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

// TestSuggestionOfThePageItself: the page that has the link is suggested only if
// nothing else is near.
func TestSuggestionOfThePageItself(t *testing.T) {
	fs := files{"guide/installing.html": plain + "<a href=/guide/instaling.html>"}
	for _, want := range []string{"/guide/installing.html", "/guide/old/instaling.html"} {
		r := checkFiles(t, fs, isite.Options{}, Options{})
		if len(r.Findings) != 1 || r.Findings[0].Suggestion != want {
			t.Errorf("%v, suggestion %q, want %q", briefs(r.Findings), r.Findings[0].Suggestion, want)
		}
		fs["guide/old/instaling.html"] = plain
	}
}

// TestSuggestionForFragment: the suggestion repairs the path of the link, too, if
// that deserves a finding of its own.
func TestSuggestionForFragment(t *testing.T) {
	r := checkFiles(t, files{"p.html": plain + "<a href=../t.html#instalation>", "t.html": plain + "<p id=installation>"}, isite.Options{}, Options{})
	if len(r.Findings) != 1 || r.Findings[0].Suggestion != "t.html#installation" {
		t.Errorf("%v, suggestion %q", briefs(r.Findings), r.Findings[0].Suggestion)
	}
}

// TestSuggestionOfOwnAnchors: a page whose links to another page all name ids of the
// page itself should have had links within the page. That is one cause, and a note.
// Fewer than three such links, or one id that the page lacks, say nothing.
func TestSuggestionOfOwnAnchors(t *testing.T) {
	const terms = plain + "<p id=one><p id=two><p id=three>"
	const links = "<a href=/de/#one>1</a> <a href=/de/#two>2</a> <a href=/de/#two>2</a> <a href=/de/#three>3</a>"
	for _, tc := range []struct {
		page string
		want string // suggestion of the first
	}{
		{terms + links, "#one"},
		{terms + "<a href=/de/#one>1</a> <a href=/de/#two>2</a>", ""},
		{terms + links + "<a href=/de/#other>o</a>", ""},
		{"<!doctype html><base href=/x/><p id=one><p id=two><p id=three>" + links, ""},
	} {
		loaded := load(t, tempDocroot(t, files{"de/index.html": plain, "de/terms/index.html": tc.page, "terms/index.html": tc.page}), isite.Options{})
		r := run(t, loaded, Options{})
		e, err := Explain(t.Context(), handle(loaded), Options{}, "terms/index.html", "/de/#one")
		if err != nil || e.Suggestion != tc.want {
			t.Errorf("%s: Explain: %v, suggestion %q, want %q", tc.page, err, e.Suggestion, tc.want)
		}
		if len(r.Findings) == 0 || r.Findings[0].Suggestion != tc.want {
			t.Errorf("%s: %v, suggestion %q, want %q", tc.page, briefs(r.Findings), r.Findings[0].Suggestion, tc.want)
		}
		if one := len(Causes(r.Findings)) == 1; one != (tc.want != "") {
			t.Errorf("%s: one cause: %v", tc.page, one)
		}
		if noted := len(r.Summary.Notes) == 1 && strings.HasPrefix(r.Summary.Notes[0], "8 links name an id of their own page"); noted != (tc.want != "") {
			t.Errorf("%s: notes %q", tc.page, r.Summary.Notes)
		}
	}
}

// TestSuggestionBehindRedirect: what a redirect leads to is not suggested if it is
// a finding itself.
func TestSuggestionBehindRedirect(t *testing.T) {
	alias := func(to string) string {
		return `<!doctype html><meta http-equiv=refresh content="0;url=` + to + `">`
	}
	for to, want := range map[string]string{"/new.html": "new.html", "/gone.html": "", "/other.html": ""} {
		r := checkFiles(t, files{"p.html": plain + "<a href=old.html>", "old.html": alias(to), "new.html": plain, "other.html": alias("/new.html")}, isite.Options{}, Options{})
		for _, f := range r.Findings {
			if f.Page == "p.html" && (f.Code != ViaRedirect || f.Suggestion != want) {
				t.Errorf("%s: %s, suggestion %q, want %q", to, brief(&f), f.Suggestion, want)
			}
		}
	}
}

// TestMapSuggestion: map names are suggested only for map names.
func TestMapSuggestion(t *testing.T) {
	r := checkFiles(t, files{"p.html": plain + "<map name=navigation></map><p id=navigations><img usemap=#navigatio>"}, isite.Options{}, Options{})
	if len(r.Findings) != 1 || r.Findings[0].Suggestion != "#navigation" {
		t.Errorf("got %+v", r.Findings)
	}
}

// TestSuggestionInLanguage: a page of a translation gets the page of its language, unless
// the link names another language, or there is no translation.
func TestSuggestionInLanguage(t *testing.T) {
	site := files{"guide/install.html": plain, "zh/guide/install.html": plain, "en/guide/install.html": plain, "guide/upgrade.html": plain}
	for raw, want := range map[string]string{
		"/guide/instal.html":    "/zh/guide/install.html",
		"/en/guide/instal.html": "/en/guide/install.html",
		"../guide/instal.html":  "guide/install.html",
		"/guide/upgrad.html":    "/guide/upgrade.html",
	} {
		fs := maps.Clone(site)
		fs["zh/a.html"] = plain + "<a href=" + raw + ">"
		r := checkFiles(t, fs, isite.Options{}, Options{})
		if len(r.Findings) != 1 || r.Findings[0].Suggestion != want {
			t.Errorf("%s: %v, suggestion %q, want %q", raw, briefs(r.Findings), r.Findings[0].Suggestion, want)
		}
	}
}

// TestOwnIDBehindBase: a base element leads #x away from the page that has x: the message
// says so, and the suggestion names the page. Messages leave text directives out.
func TestOwnIDBehindBase(t *testing.T) {
	r := checkFiles(t, files{"index.html": plain, "a.html": "<!doctype html><base href=/><p id=here><a href=#here>1</a><a href=#none:~:text=y>2</a>"}, isite.Options{}, Options{})
	if len(r.Findings) != 2 {
		t.Fatalf("findings %v, want two", briefs(r.Findings))
	}
	if f := r.Findings[0]; !strings.Contains(f.Message, "base element makes #here lead to index.html") || f.Suggestion != "/a.html#here" {
		t.Errorf("%s, suggestion %q", f.Message, f.Suggestion)
	}
	if f := r.Findings[1]; f.Message != `index.html has no element with id "none"` || f.Suggestion != "" {
		t.Errorf("%s, suggestion %q", f.Message, f.Suggestion)
	}
}
