package check

import (
	"context"
	"slices"
	"strings"
	"testing"

	isite "github.com/sitelink/sitelink/internal/site"
)

var ignoreFiles = files{
	"p.html":     plain + "<a href=gone.html?q#f><a href=/sub/gone.html><a href=#n%6Fpe><a href=t.html#a/b><img src=Pic.png>",
	"d/e/q.html": plain + "<a href=../../gone.html><a href=d//x>", "d/e/d/x": "", "t.html": plain + "<!-- open", "pic.png": "",
}

// TestIgnoreRules: which findings a rule accepts. All others stay.
func TestIgnoreRules(t *testing.T) {
	tests := []struct {
		name string
		rule Ignore
		want []string // what is ignored, by raw value or code
	}{
		{"url/as_written", Ignore{URL: "gone.html?q#f"}, []string{"gone.html?q#f"}},
		{"url/question_mark_is_any_character", Ignore{URL: "gone.htm?[?]q#f"}, []string{"gone.html?q#f"}},
		{"url/escaped_question_mark", Ignore{URL: `gone.htm\?\?q#f`}, nil},
		{"url/target_without_query", Ignore{URL: "/gone.html"}, []string{"../../gone.html", "gone.html?q#f"}},
		{"url/target_with_query", Ignore{URL: "/gone.html[?]q"}, []string{"gone.html?q#f"}},
		{"url/star_stays_in_segment", Ignore{URL: "/*.html"}, []string{"../../gone.html", "gone.html?q#f", "#n%6Fpe", "t.html#a/b"}},
		{"url/double_star", Ignore{URL: "/**/gone.html"}, []string{"../../gone.html", "gone.html?q#f", "/sub/gone.html"}},
		{"LL-25/url_below", Ignore{URL: "/sub/**"}, []string{"/sub/gone.html"}},
		{"url/other_case", Ignore{URL: "/SUB/**"}, nil},
		{"page/exact", Ignore{Page: "d/e/q.html"}, []string{"../../gone.html", "d//x"}},
		{"page/pattern", Ignore{Page: "d/**"}, []string{"../../gone.html", "d//x"}},
		{"page/star_stays_in_segment", Ignore{Page: "*"}, []string{"gone.html?q#f", "/sub/gone.html", "#n%6Fpe", "t.html#a/b", "Pic.png", "unclosed-comment"}},
		{"page/leading_slash_is_none", Ignore{Page: "/p.html"}, nil},
		{"fragment/decoded", Ignore{Fragment: "nope"}, []string{"#n%6Fpe"}},
		{"fragment/as_written", Ignore{Fragment: "n%6Fpe"}, []string{"#n%6Fpe"}},
		{"fragment/pattern", Ignore{Fragment: "a/*"}, []string{"t.html#a/b"}},
		{"code", Ignore{Code: MissingFile}, []string{"../../gone.html", "gone.html?q#f", "/sub/gone.html"}},
		{"code/warning", Ignore{Code: DoubleSlash}, []string{"d//x"}},
		{"code/fault_of_a_file", Ignore{Code: UnclosedComment}, []string{"unclosed-comment"}},
		{"code/fault_of_a_file_by_page", Ignore{Code: UnclosedComment, Page: "t.html"}, []string{"unclosed-comment"}},
		{"combined/all_match", Ignore{URL: "/gone.html", Page: "p.html", Fragment: "f", Code: MissingFile}, []string{"gone.html?q#f"}},
		{"combined/page_differs", Ignore{URL: "/gone.html", Page: "x.html"}, nil},
		{"combined/code_differs", Ignore{URL: "/gone.html", Code: WrongCase}, nil},
		{"combined/url_and_page", Ignore{URL: "/gone.html", Page: "d/**"}, []string{"../../gone.html"}},
	}
	s := load(t, tempDocroot(t, ignoreFiles), isite.Options{})
	everything := run(t, s, Options{})
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			opt := Options{Ignore: []Ignore{tc.rule}}
			r := run(t, s, opt)
			kept := map[string]bool{}
			for _, f := range r.Findings {
				kept[brief(&f)] = true
			}
			var got []string
			links := 0
			for _, f := range everything.Findings {
				if kept[brief(&f)] {
					continue
				}
				if f.Raw == "" {
					got = append(got, string(f.Code))
				} else {
					got = append(got, f.Raw)
					links++
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("ignored %q, want %q", got, tc.want)
			}
			if r.Summary.Ignored != links {
				t.Errorf("%d counted as ignored, want %d", r.Summary.Ignored, links)
			}
			if unused := r.Summary.UnusedIgnores; (len(unused) == 0) != (len(tc.want) > 0) {
				t.Errorf("unused rules %q", unused)
			}
			addsUp(t, &r.Summary)
			all, l := rows(t, s, opt)
			agree(t, r, all, l)
		})
	}
}

// TestUnusedIgnores: rules that match nothing are listed as the user wrote
// them. A rule counts as used even if other rules accept all that it matches.
func TestUnusedIgnores(t *testing.T) {
	s := load(t, tempDocroot(t, ignoreFiles), isite.Options{})
	r := run(t, s, Options{Ignore: []Ignore{
		{URL: "/gone.html", Origin: "sitelink.toml:3", Reason: "soon"},
		{URL: "/never.html", Page: "p.html", Origin: "sitelink.toml:7"},
		{Code: MissingFile},
		{Fragment: "x", Code: MissingFragment, Origin: "--ignore"},
		{Code: Backslash},
	}})
	want := []string{"sitelink.toml:7: url=/never.html,page=p.html", "--ignore: fragment=x,code=missing-fragment", "code=backslash"}
	if !slices.Equal(r.Summary.UnusedIgnores, want) {
		t.Errorf("got %q, want %q", r.Summary.UnusedIgnores, want)
	}
}

// TestIgnoreScriptFragments: a rule for fragments of scripts accepts the
// warning, and all links that it stands for are ignored.
func TestIgnoreScriptFragments(t *testing.T) {
	s := load(t, tempDocroot(t, files{"p.html": plain + "<a href=#/a><a href=#/b>" + readsHash, "q.html": plain + "<a href=p.html#/c>"}), isite.Options{})
	for _, mode := range []ScriptFragments{ScriptWarn, ScriptSilent} {
		opt := Options{Ignore: []Ignore{{Code: ScriptFragment}}, ScriptFragments: mode}
		r := run(t, s, opt)
		if len(r.Findings) != 0 {
			t.Errorf("mode %d: %v", mode, briefs(r.Findings))
		}
		if mode == ScriptWarn && (r.Summary.Ignored != 3 || r.Summary.Unchecked != 0 || len(r.Summary.Reasons) != 0) {
			t.Errorf("mode %d: %+v", mode, r.Summary)
		}
		addsUp(t, &r.Summary)
		all, l := rows(t, s, opt)
		agree(t, r, all, l)
	}
}

// TestBadIgnores: an invalid pattern, and a rule that would accept everything,
// are errors that contain the rule.
func TestBadIgnores(t *testing.T) {
	s := load(t, tempDocroot(t, files{"p.html": plain}), isite.Options{})
	for _, rule := range []Ignore{{URL: "[a"}, {Page: "{a"}, {Fragment: `a\`}, {}, {Reason: "all of it"}} {
		rule.Origin = "sitelink.toml:12"
		opt := Options{Ignore: []Ignore{{Code: MissingFile}, rule}}
		_, err := Run(context.Background(), handle(s), opt)
		if err == nil || !strings.HasPrefix(err.Error(), "sitelink.toml:12: ") {
			t.Errorf("%+v: got %v", rule, err)
		}
		if p := rule.URL + rule.Page + rule.Fragment; err != nil && p != "" && !strings.Contains(err.Error(), `"`+strings.ReplaceAll(p, `\`, `\\`)+`"`) {
			t.Errorf("%+v: %v does not contain the pattern", rule, err)
		}
		if _, lerr := WriteLinks(context.Background(), handle(s), opt, Query{}, LinkWriter{&strings.Builder{}, render}); lerr == nil || lerr.Error() != err.Error() {
			t.Errorf("%+v: Links gives %v, Run %v", rule, lerr, err)
		}
	}
}

// TestIgnoreScriptFragmentsByPage: the rule applies to the target page of the
// finding, both in Run and in the rows of Links.
func TestIgnoreScriptFragmentsByPage(t *testing.T) {
	s := load(t, tempDocroot(t, files{"p.html": plain + "<a href=#/a><a href=#/b>" + readsHash, "q.html": plain + "<a href=p.html#/c>"}), isite.Options{})
	for _, page := range []string{"p.html", "q.html"} {
		opt := Options{Ignore: []Ignore{{Code: ScriptFragment, Page: page}}}
		r := run(t, s, opt)
		all, l := rows(t, s, opt)
		agree(t, r, all, l)
		if r.HasWarnings() != l.HasWarnings() {
			t.Errorf("rule for %s: Run warns %v, Links %v", page, r.HasWarnings(), l.HasWarnings())
		}
	}
}
