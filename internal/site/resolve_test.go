package site

import (
	"slices"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
)

const plain = "<!doctype html><title>x</title>"

// TestBrowserRules tests how paths are made absolute and looked up.
func TestBrowserRules(t *testing.T) {
	fs := files{
		"sub/b.html": plain, "q.html": plain, "a/b": "", "a/c": "", "d/index.html": plain, "d/a": "", "d/c": "", "d/q.html": plain,
		"back/slash.html": plain, "sub/d.html": plain, "a b.html": plain, "a+b.html": plain, "a%20c.html": plain, "ü.html": plain,
		"plain.html": plain, "c:d.html": plain, "d/c:d.html": plain,
	}
	t.Run("from_sub", func(t *testing.T) {
		table(t, fs, Options{}, "sub/a.html", []row{
			{"LL-64/name", "b.html", "OK 200 /sub/b.html = sub/b.html"},
			{"LL-64/dot", "./b.html", "OK 200 /sub/b.html = sub/b.html"},
			{"LL-64/rooted", "/sub/b.html", "OK 200 /sub/b.html = sub/b.html"},
			{"LL-64/up_and_down", "x/../b.html", "OK 200 /sub/b.html = sub/b.html"},
			{"LL-64/white_space_around", " \t b.html \n", "OK 200 /sub/b.html = sub/b.html"},
			{"LL-64/tab_and_newline_inside", "b.h\tt\nml", "OK 200 /sub/b.html = sub/b.html"},
		})
	})
	t.Run("from_d", func(t *testing.T) {
		table(t, fs, Options{}, "d/p.html", []row{
			{"LL-69/query_and_fragment", "q.html?x=1#f", "OK 200 /d/q.html?x=1 = d/q.html # f"},
			{"LL-69/empty_query", "q.html?#f", "OK 200 /d/q.html? = d/q.html # f"},
			{"LL-69/question_mark_in_fragment", "q.html#f?x=1", "OK 200 /d/q.html = d/q.html # f?x=1"},
			{"LL-70/dot_segment", "/a/./b", "OK 200 /a/b = a/b"},
			{"LL-70/double_dot", "/a/b/../c", "OK 200 /a/c = a/c"},
			{"LL-70/double_dot_at_end", "y/..", "OK 200 /d/ = d/index.html"},
			{"LL-70/dot_at_end", ".", "OK 200 /d/ = d/index.html"},
			{"LL-70/last_name_kept", "./a", "OK 200 /d/a = d/a"},
			{"LL-70/too_many_up", "../../../../d/a", "AboveRoot 200 /d/a = d/a"},
			{"LL-70/encoded_dots", "%2e%2E/q.html", "OK 200 /q.html = q.html"},
			{"LL-72/backslash", "..\\back\\slash.html", "Backslash 200 /back/slash.html = back/slash.html"},
			{"LL-72/double_slash", "../sub//d.html", "DoubleSlash 200 /sub//d.html = sub/d.html"},
			{"LL-73/escape", "../a%20b.html", "OK 200 /a%20b.html = a b.html"},
			{"LL-73/space", "../a b.html", "OK 200 /a%20b.html = a b.html"},
			{"LL-73/plus_is_plus", "/a+b.html", "OK 200 /a+b.html = a+b.html"},
			{"LL-73/plus_is_no_space", "/a+%20b.html", "MissingFile 404 /a+%20b.html"},
			{"LL-73/decoded_once", "/a%2520c.html", "OK 200 /a%2520c.html = a%20c.html"},
			{"LL-73/decoded_once_missing", "/a%20c.html", "MissingFile 404 /a%20c.html"},
			{"LL-73/nul", "../plain.html%00", "BadURL 400 /plain.html%00"},
			{"LL-73/encoded_slash_above_root", "/..%2foutside.txt", "OutsideDocroot 400 /..%2foutside.txt"},
			{"LL-73/utf8", "/%c3%bc.html", "OK 200 /%c3%bc.html = ü.html"},
			{"LL-73/utf8_raw", "/ü.html", "OK 200 /%C3%BC.html = ü.html"},
			{"LL-74/tel", "TEL:+123", "Tel 0 tel:+123"},
			{"LL-74/data", "data:text/plain,x", "Data 0 data:text/plain,x"},
			{"LL-74/javascript", "JavaScript:void(0)", "JavaScript 0 javascript:void(0)"},
			{"LL-74/ftp", "FTP://Host/x", "OtherScheme 0 ftp://host/x"},
			{"LL-74/colon_in_first_segment", "c:d.html", "DeadScheme 0 c:d.html"},
			{"LL-74/colon_behind_dot", "./c:d.html", "OK 200 /d/c:d.html = d/c:d.html"},
			{"LL-74/colon_in_later_segment", "/c:d.html", "OK 200 /c:d.html = c:d.html"},
			{"LL-75/empty", "", "OK 200 /d/p.html = d/p.html"},
			{"LL-75/query_alone", "?q=1", "OK 200 /d/p.html?q=1 = d/p.html"},
			{"LL-75/fragment_alone", "#x", "OK 200 /d/p.html = d/p.html # x"},
			{"LL-75/white_space_alone", " \n ", "OK 200 /d/p.html = d/p.html"},
			{"bad_host", "http://[::1/", "BadURL 0 "},
			{"bad_port", "http://example.com:99999/", "BadURL 0 "},
			{"no_host", "http://", "BadURL 0 "},
		})
	})
}

// TestTopBesideOthers: beside links to other sites of the host, one to its top means
// their home page.
func TestTopBesideOthers(t *testing.T) {
	table(t, files{"index.html": plain, "a.html": plain}, Options{BaseURLs: []string{"https://example.org/sub/"}}, "p.html", []row{
		{"without_base", "/a.html?q", "MissingBase 0 /a.html?q = a.html"},
		{"other", "/x.html", "OutsideBase 0 /x.html"},
		{"another", "/y.html", "OutsideBase 0 /y.html"},
		{"top", "/#x", "OutsideBase 0 / # x"},
	})
}

// TestMemo: the answer for a value does not depend on the values before it,
// although the resolver remembers the part before the fragment.
func TestMemo(t *testing.T) {
	s := loadFiles(t, files{"d/p.html": plain, "a": "", "a ": "", "d/q.html": plain}, Options{})
	p := &s.pages[pageID(t, s, "d/p.html")]
	values := []string{"/a #x", "/a ", " /a", "/a#x ", "/a", "/a #", "http://[bad", "http://[bad#top", "http://[bad", "#x", "#", "", "?q#x", "?q",
		"q.html#%zz", "q.html #x", "q.html", "mailto:a#b", "mailto:a", "data:,x#y", "javascript:a#b", "//h/#x", "//h/", "./#a", "./", "../#b", ".."}
	for _, first := range values {
		for _, second := range values {
			page, l := &scan.Page{}, &scan.Link{}
			with, without := resolver{s: s, PathResolver: host.NewPathResolver(s.Host)}, resolver{s: s, PathResolver: host.NewPathResolver(s.Host)}
			with.open(p, page)
			with.startMemo()
			without.open(p, page)
			for _, v := range []string{first, second} {
				l.Value = []byte(v)
				got, want := with.resolved(page, l, &Link{}), without.resolved(page, l, &Link{})
				if got != want {
					t.Errorf("%q after %q: %+v, want %+v", v, first, got, want)
				}
			}
		}
	}
}

// baseFixture is the page of LL-35: /d/b.html with one link before the base and
// three after it.
const baseFixture = `<!doctype html>
<a href=p.html><base href="http://www.example.com/x/y/z.html"><a href=r.html><a href=/s.html><a href=../u.html>`

// TestBase tests both interpretations of <base href> (A-LL-4).
func TestBase(t *testing.T) {
	bases := []string{"http://www.example.com/"}
	tests := []struct {
		name string
		rule host.BaseRule
		page string
		want []string // targets, in order
	}{
		{"LL-35/document_order", host.BaseDocumentOrder, baseFixture, []string{"/d/p.html", "/x/y/r.html", "/s.html", "/x/u.html"}},
		{"LL-35/html5_rules_what_is_before", host.BaseHTML5, baseFixture, []string{"/x/y/p.html", "/x/y/r.html", "/s.html", "/x/u.html"}},
		{"LL-35/document_order_later_overrides", host.BaseDocumentOrder,
			`<!doctype html><base href=/one/><a href=a><base href=/two/><a href=a>`, []string{"/one/a", "/two/a"}},
		{"LL-35/html5_first_wins", host.BaseHTML5,
			`<!doctype html><base href=/one/><a href=a><base href=/two/><a href=a>`, []string{"/one/a", "/one/a"}},
		{"LL-35/document_order_second_base_from_page", host.BaseDocumentOrder,
			`<!doctype html><base href=/one/><base href=sub/><a href=a>`, []string{"/d/sub/a"}},
		{"LL-36/html5", host.BaseHTML5, `<!doctype html><base href="http://other.example/q/"><a href=r.html><a href=/s.html><a href="?z"><a href="//h.example/">`,
			[]string{"http://other.example/q/r.html", "http://other.example/s.html", "http://other.example/q/?z", "http://h.example/"}},
		{"LL-36/document_order", host.BaseDocumentOrder, `<!doctype html><base href="http://other.example/q/"><a href=r.html><a href=/s.html>`,
			[]string{"http://other.example/q/r.html", "http://other.example/s.html"}},
		{"LL-36/scheme_alone_from_base", host.BaseHTML5, `<!doctype html><base href="https://other.example/q/"><a href="//www.example.com/d/">`, []string{"/d/"}},
		{"LL-37/html5_without_scheme", host.BaseHTML5, `<!doctype html><base href="/x/y/z.html"><a href=r.html>`, []string{"/x/y/r.html"}},
		{"LL-37/document_order_without_scheme", host.BaseDocumentOrder, `<!doctype html><base href="/x/y/z.html"><a href=r.html>`, []string{"/x/y/r.html"}},
		{"LL-37/target_only_html5", host.BaseHTML5, `<!doctype html><base target=_top><a href=r.html>`, []string{"/d/r.html"}},
		{"LL-37/target_only_document_order", host.BaseDocumentOrder, `<!doctype html><base target=_top><a href=r.html>`, []string{"/d/r.html"}},
		{"HTML_4.2.3/first_base_with_href", host.BaseHTML5, `<!doctype html><base target=_top><base href=/x/><a href=r.html>`, []string{"/x/r.html"}},
		{"HTML_4.2.3/data_is_no_base", host.BaseHTML5, `<!doctype html><base href="data:,x"><a href=r.html>`, []string{"/d/r.html"}},
		{"HTML_4.2.3/javascript_is_no_base", host.BaseHTML5, `<!doctype html><base href="javascript:1"><a href=r.html>`, []string{"/d/r.html"}},
		{"HTML_4.2.3/bad_url_is_no_base", host.BaseHTML5, `<!doctype html><base href="http://[/"><a href=r.html>`, []string{"/d/r.html"}},
		{"HTML_4.2.3/base_in_template_is_none", host.BaseHTML5, `<!doctype html><template><base href=/x/></template><a href=r.html>`, []string{"/d/r.html"}},
		{"browser/fragment_leads_to_base", host.BaseHTML5, `<!doctype html><base href=/x/y.html><a href="#f">`, []string{"/x/y.html"}},
		{"browser/empty_leads_to_base", host.BaseHTML5, `<!doctype html><base href=/x/y.html><a href="">`, []string{"/x/y.html"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			s := loadFiles(t, files{"d/b.html": tc.page}, Options{BaseURLs: bases, Base: tc.rule})
			if got := targets(t, s, "d/b.html"); !slices.Equal(got, tc.want) {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
		})
	}
}

// TestLinklintProfileBase: the profile linklint reads base in document order
// without an option.
func TestLinklintProfileBase(t *testing.T) {
	s := loadFiles(t, files{"d/b.html": baseFixture}, Options{BaseURLs: []string{"http://www.example.com/"}, Profile: host.Linklint})
	want := []string{"/d/p.html", "/x/y/r.html", "/s.html", "/x/u.html"}
	if got := targets(t, s, "d/b.html"); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestBaseOwnURL: a base that is the page's own URL changes nothing. Neither
// does a base that is only a fragment.
func TestBaseOwnURL(t *testing.T) {
	for _, base := range []string{"b.html", "#x", "", "/d/b.html", "./"} {
		page := `<!doctype html><base href="` + base + `"><a href=c.html><a href="../e.html#f">`
		s := loadFiles(t, files{"d/b.html": page, "d/c.html": plain, "e.html": plain}, Options{})
		for i, want := range []string{"OK 200 /d/c.html = d/c.html", "OK 200 /e.html = e.html # f"} {
			d := details(t, s, "d/b.html")
			if got := answerOf(t, s, &d[i]); got != want {
				t.Errorf("base %q: got %s, want %s", base, got, want)
			}
		}
	}
}

// TestBaseDiffers: A-LL-4, pages on which the two interpretations could differ
// are marked, and no others.
func TestBaseDiffers(t *testing.T) {
	tests := []struct {
		name, page string
		want       bool
	}{
		{"link_before", `<a href=x><base href=/y/>`, true},
		{"second_base", `<base href=/y/><base href=/z/><a href=x>`, true},
		{"one_base_in_front", `<base href=/y/><a href=x>`, false},
		{"none", `<a href=x>`, false},
		{"requested_before", `<link rel=stylesheet href=a.css><script src=a.js></script><base href=/y/><a href=x>`, false},
		{"target_only", `<a href=x><base target=_top>`, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			s := loadFiles(t, files{"p.html": "<!doctype html>" + tc.page}, Options{})
			if got := s.Page(0).BaseDiffers(); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
		})
	}
}

// TestRecordsFollowBase: the records of a page, made when it is loaded, and its
// details, read later, use the same base.
func TestRecordsFollowBase(t *testing.T) {
	page := `<!doctype html><a href=a.html><base href=/x/><a href=a.html><base href=/y/><a href=a.html>`
	fs := files{"p.html": page, "x/a.html": plain}
	for rule, want := range map[host.BaseRule][]host.State{
		host.BaseHTML5:         {host.StateOK, host.StateOK, host.StateOK},
		host.BaseDocumentOrder: {host.StateMissingFile, host.StateOK, host.StateMissingFile},
	} {
		s := loadFiles(t, fs, Options{Base: rule})
		for i, d := range details(t, s, "p.html") {
			if d.State != want[i] || s.Page(pageID(t, s, "p.html")).All()[i].State != want[i] {
				t.Errorf("rule %d, link %d: detail %s, want %s", rule, i, stateName(t, d.State), stateName(t, want[i]))
			}
		}
	}
}

// TestListedFilesAreChecked: LL-78, pages of a directory without index file
// are read like any other.
func TestListedFilesAreChecked(t *testing.T) {
	s := loadFiles(t, files{"p.html": `<a href=noidx/>`, "noidx/two.html": `<a href=gone.html>`, "noidx/inner/three.html": `<a href=gone.html>`},
		Options{Profile: host.Linklint})
	for _, page := range []string{"noidx/two.html", "noidx/inner/three.html"} {
		if d := details(t, s, page); len(d) != 1 || d[0].State != host.StateMissingFile {
			t.Errorf("LL-78: %s: %+v, want one missing file", page, d)
		}
	}
}

// TestListedFilesAreLinked: LL-78, a listing links to all files of the
// directory and, by the same rule, to those in its subdirectories: an image map
// among them is parsed. Names that begin with a dot are not listed (LL-79).
func TestListedFilesAreLinked(t *testing.T) {
	const m = "rect /gone.html 1,1 2,2\n"
	fs := files{"p.html": `<a href=noidx/>`, "noidx/m.map": m, "noidx/.hidden.map": m, "noidx/inner/m.map": m, "noidx/indexed/index.html": plain, "noidx/indexed/m.map": m, "other/m.map": m}
	s := loadFiles(t, fs, Options{Profile: host.Linklint})
	for name, want := range map[string]bool{"noidx/m.map": true, "noidx/inner/m.map": true, "noidx/.hidden.map": false, "noidx/indexed/m.map": false, "other/m.map": false} {
		n, _ := s.Lookup(name)
		if _, parsed := s.PageOf(n); parsed != want {
			t.Errorf("LL-78, LL-79: %s parsed: %t, want %t", name, parsed, want)
		}
	}
}

// TestLinksOfIndexFile: LL-86, links in an index file are relative to its
// directory. The file is parsed once and answers for both addresses (A-LL-2).
func TestLinksOfIndexFile(t *testing.T) {
	for _, p := range host.Profiles() {
		s := loadFiles(t, files{"p.html": `<a href=sub/><a href=sub/index.html>`, "sub/index.html": `<a href=deep/x.html>`, "sub/deep/x.html": plain},
			Options{Profile: p})
		d := details(t, s, "sub/index.html")
		want := "OK 200 /sub/deep/x.html = sub/deep/x.html"
		if p.PageFile == host.Redirect {
			want = "Redirect 200 /sub/deep/x.html = sub/deep/x.html > /sub/deep/x"
		}
		if got := answerOf(t, s, &d[0]); got != want {
			t.Errorf("LL-86, %s: got %s, want %s", p.Name, got, want)
		}
		two := details(t, s, "p.html")
		if two[0].Target == two[1].Target || two[0].Node != two[1].Node {
			t.Errorf("A-LL-2, %s: %s and %s", p.Name, answerOf(t, s, &two[0]), answerOf(t, s, &two[1]))
		}
		if s.Pages() != 3 {
			t.Errorf("A-LL-2, %s: %d pages parsed, want 3", p.Name, s.Pages())
		}
	}
}
