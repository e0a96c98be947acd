package check

import (
	"testing"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestRepairs: the rules that need only the built site, what they write, and when they
// write nothing: with several targets, a temporary redirect, or none. The other rules are
// in TestRefs (ref), fix_since.txtar (renamed-heading and moved-page by an earlier build),
// fix_rename.txtar (moved-page by git), TestFixOtherSites and TestSuggestion
// (remote-moved), and fix_input.txtar has places that are not exactly known.
func TestRepairs(t *testing.T) {
	based := isite.Options{BaseURLs: []string{"https://example.org/sub/"}}
	netlify := hosted("netlify")
	tests := []struct {
		name  string
		files files // "a/p.html" is the page with the link
		opt   isite.Options
		raw   string
		want  string // rule, level and value or reason; "" for none
	}{
		{"letter_case", files{"img/Logo.png": ""}, isite.Options{}, "/img/logo.PNG", "wrong-case /img/Logo.png"},
		{"letter_case_of_directory", files{"Docs/x/index.html": plain}, isite.Options{}, "../docs/X/", "wrong-case ../Docs/x/"},
		{"two_letter_cases", files{"i/Logo.png": "", "i/LOGO.png": ""}, isite.Options{}, "/i/logo.png", "wrong-case: it may mean several pages or files: /i/LOGO.png or /i/Logo.png"},
		{"slash_by_redirect", files{"docs/index.html": plain}, isite.Options{}, "/docs#x", "renamed-heading: no id of the page is similar"},
		{"slash_by_redirect_with_id", files{"docs/index.html": plain + "<p id=x>"}, isite.Options{}, "/docs?q#x", "slash /docs/?q#x"},
		{"slash_too_much", files{"about.html": plain}, isite.Options{}, "/about.html/", "slash /about.html"},
		{"index_missing_beside_html", files{"about.html": plain, "about/index.html": plain}, isite.Options{}, "/about/index", "index-file /about/"},
		{"slash_with_two_pages", files{"about.html": plain, "about/about.html": plain}, isite.Options{}, "/about.html/", "slash /about.html"},
		{"slash_without_page", files{"about/x.html": plain}, isite.Options{}, "/about", ""},
		{"html_missing", files{"about.html": plain}, isite.Options{}, "../about", "html-extension ../about.html"},
		{"html_too_much", files{"about/index.html": plain}, isite.Options{}, "../about.html", "html-extension ../about/"},
		{"index_too_much", files{"about.html": plain}, isite.Options{}, "/about/index.html", "index-file /about.html"},
		{"alias", files{"old/index.html": `<meta http-equiv=refresh content="0; url=/new/">`, "new/index.html": plain}, isite.Options{}, "../old/", "alias ../new/"},
		{"alias_home", files{"index.html": `<meta http-equiv=refresh content="0; url=/en/">`, "en/index.html": plain}, isite.Options{}, "../", "alias ../en/"},
		{"alias_by_a_rule_for_all", files{"index.html": `<meta http-equiv=refresh content="0; url=/en/">`, "en/index.html": plain, "_redirects": "/* /index.html 200\n"},
			hosted("netlify"), "/en/gone/", "alias: what the redirect leads to depends on the query or fragment, or does not work"},
		{"alias_without_slash", files{"old/index.html": `<meta http-equiv=refresh content="0; url=/new">`, "new/index.html": plain}, isite.Options{}, "/old/", "alias /new/"},
		{"alias_behind_its_directory", files{"old/index.html": `<meta http-equiv=refresh content="0; url=/new/">`, "new/index.html": plain + "<p id=x>"}, isite.Options{}, "/old", "alias /new/"},
		{"fragment_behind_both", files{"old/index.html": `<meta http-equiv=refresh content="0; url=/new/">`, "new/index.html": plain + "<p id=x>"}, isite.Options{}, "/old#x", "alias /new/#x"},
		{"html_too_much_of_two", files{"about/index.html": plain, "About.html": plain}, isite.Options{}, "/about.html", "html-extension: it may mean several pages or files: /About.html or /about/"},
		{"html_too_much_without_page", files{}, isite.Options{}, "/about.html", ""},
		{"index_name_without_extension", files{"about/index.html": plain}, isite.Options{}, "/about/index", "index-file /about/"},
		{"index_too_much_of_two", files{"about.html": plain, "about/index.htm": plain}, isite.Options{}, "/about/index.html", "index-file /about.html"},
		{"index_without_page", files{}, isite.Options{}, "/about/index.html", ""},
		{"alias_to_nothing", files{"old/index.html": `<meta http-equiv=refresh content="0; url=/new/">`}, isite.Options{}, "/old/", "alias: what the redirect leads to depends on the query or fragment, or does not work"},
		{"alias_to_another_site", files{"old/index.html": `<meta http-equiv=refresh content="0; url=https://other.example/">`}, isite.Options{}, "/old/", "alias https://other.example/"},
		{"alias_of_alias", files{"old/index.html": `<meta http-equiv=refresh content="0; url=/mid/">`, "mid/index.html": `<meta http-equiv=refresh content="0; url=/new/">`, "new/index.html": plain}, isite.Options{}, "/old/", "alias: what the redirect leads to depends on the query or fragment, or does not work"},
		{"permanent_rule_to_another_site", files{"_redirects": "/old https://other.example/ 301\n"}, netlify, "/old", "redirect: it is a short address of the site for a page elsewhere"},
		{"permanent_rule_to_nothing", files{"_redirects": "/old /new/ 301\n"}, netlify, "/old", ""},
		{"permanent_then_temporary", files{"_redirects": "/old /mid 301\n/mid /new/ 302\n", "new/index.html": plain}, netlify, "/old", "redirect: the redirect is temporary"},
		{"permanent_rule", files{"_redirects": "/old /new/ 301\n", "new/index.html": plain}, netlify, "/old", "redirect /new/"},
		{"temporary_rule", files{"_redirects": "/old /new/ 302\n", "new/index.html": plain}, netlify, "/old", "redirect: the redirect is temporary"},
		{"rule_with_query", files{"_redirects": "/old /new/?x 301\n", "new/index.html": plain}, netlify, "/old?y", "redirect: what the redirect leads to depends on the query or fragment, or does not work"},
		{"markdown", files{"a/b/index.html": plain}, isite.Options{}, "b.md", "markdown-path b/"},
		{"markdown_of_two", files{"a/b/index.html": plain, "b/index.html": plain}, isite.Options{}, "b.md", "markdown-path: it may mean several pages or files: b/ or ../b/"},
		{"markdown_of_none", files{}, isite.Options{}, "b.md", ""},
		{"http", files{"x.html": plain}, based, "http://example.org/sub/x.html", "own-address https://example.org/sub/x.html"},
		{"www", files{"x.html": plain}, based, "https://WWW.example.org/sub/x.html", "own-address https://example.org/sub/x.html"},
		{"www_and_case", files{"x.html": plain}, based, "http://example.org/sub/X.html", "wrong-case https://example.org/sub/x.html"},
		{"www_broken", files{}, based, "https://www.example.org/sub/gone", ""},
		{"other_host", files{"x.html": plain}, based, "https://blog.example.org/sub/x.html", ""},
		{"own_already", files{"x.html": plain}, based, "//example.org/sub/x.html", ""},
		{"heading", files{"x.html": plain + `<h2 id=installation>`}, isite.Options{}, "/x.html#instalation", "renamed-heading likely /x.html#installation"},
		{"no_heading", files{"x.html": plain}, isite.Options{}, "/x.html#other", "renamed-heading: no id of the page is similar"},
		{"typo", files{"guides/installation/index.html": plain}, isite.Options{}, "/guides/instalation/", "moved-page likely /guides/installation/"},
		{"heading_of_two", files{"x.html": plain + `<h2 id=setup-a></h2><h2 id=setup-b>`}, isite.Options{}, "/x.html#setup-c", "renamed-heading: no id of the page is similar"},
		{"typo_of_two", files{"guides/setup-a/index.html": plain, "guides/setup-b/index.html": plain}, isite.Options{}, "/guides/setup-c/", ""},
		{"nothing", files{}, isite.Options{}, "/gone/", ""},
	}
	for _, tt := range tests {
		fs := files{"a/p.html": plain + `<a href="` + tt.raw + `">`}
		for name, text := range tt.files {
			fs[name] = text
		}
		s := load(t, tempDocroot(t, fs), tt.opt)
		r := run(t, s, Options{})
		all := testkit.Must(Repairs(t.Context(), handle(s), Options{}, r))(t)
		got := ""
		for _, r := range all {
			if r.Finding.Raw != tt.raw {
				continue
			}
			if got = string(r.Rule); r.Why == "the redirect is temporary" && r.Finding.Suggestion != "" {
				t.Errorf("%s: suggests %s", tt.name, r.Finding.Suggestion)
			}
			if r.Likely && r.Value != "" {
				got += " likely"
			}
			if r.Value != "" {
				got += " " + r.Value
			} else {
				got += ": " + r.Why
			}
		}
		if got != tt.want {
			t.Errorf("%s: %s\ngot  %q\nwant %q", tt.name, tt.raw, got, tt.want)
		}
	}
}
