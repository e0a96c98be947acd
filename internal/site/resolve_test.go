package site

import (
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
)

const plain = "<!doctype html><title>x</title>"

// TestLinksAreLocal tests which links stay in the docroot: section "Resolving
// Links" of the seed, read with A-LL-3.
func TestLinksAreLocal(t *testing.T) {
	fs := files{"x/y.html": plain, "index.html": plain, "a.html": plain, "s.html": plain, "n.html": plain, "d/index.html": plain}
	t.Run("no_host", func(t *testing.T) {
		table(t, fs, Options{}, "d/p.html", []row{
			{"LL-19/no_host_set", "http://www.example.com/a.html", "External 0 http://www.example.com/a.html"},
			{"LL-19/bare_path", "/a.html", "OK 200 /a.html = a.html"},
			{"LL-67/network_path", "//www.example.com/n.html", "External 0 http://www.example.com/n.html"},
		})
	})
	t.Run("host", func(t *testing.T) {
		table(t, fs, Options{BaseURLs: []string{"https://www.example.com/"}}, "d/p.html", []row{
			{"LL-19/host_set", "http://www.example.com/a.html", "OK 200 /a.html = a.html"},
			{"LL-65/prefix_removed", "http://www.example.com/x/y.html#f", "OK 200 /x/y.html = x/y.html # f"},
			{"LL-65/bare_host_is_the_root", "http://www.example.com", "OK 200 / = index.html"},
			{"LL-65/bare_host_and_query", "http://www.example.com?q", "OK 200 /?q = index.html"},
			{"LL-66/default_port_http", "http://www.example.com:80/a.html", "OK 200 /a.html = a.html"},
			{"LL-66/default_port_https", "https://www.example.com:443/a.html", "OK 200 /a.html = a.html"},
			{"LL-66/other_port", "http://www.example.com:8080/a.html", "External 0 http://www.example.com:8080/a.html"},
			{"LL-66/letter_case", "HTTP://WWW.Example.COM/a.html", "OK 200 /a.html = a.html"},
			{"LL-67/https", "https://www.example.com/s.html", "OK 200 /s.html = s.html"},
			{"LL-67/network_path", "//www.example.com/n.html", "OK 200 /n.html = n.html"},
			{"LL-68/not_a_prefix", "http://www.example.com.evil.org/e", "External 0 http://www.example.com.evil.org/e"},
			{"LL-68/not_a_suffix", "http://evil.www.example.com/e", "External 0 http://evil.www.example.com/e"},
			{"LL-68/user", "http://user@www.example.com/u", "Credentials 0 http://user@www.example.com/u"},
			{"WO-19/user_and_password", "http://JOE:Secret@H.example/", "Credentials 0 http://JOE:Secret@h.example/"},
			{"relative_scheme", "https:a.html", "External 0 https://a.html/"},
		})
	})
	t.Run("port", func(t *testing.T) {
		table(t, fs, Options{BaseURLs: []string{"http://www.example.com:8080"}}, "d/p.html", []row{
			{"LL-66/same_port", "http://www.example.com:8080/a.html", "OK 200 /a.html = a.html"},
			{"LL-66/no_port", "http://www.example.com/a.html", "External 0 http://www.example.com/a.html"},
			{"LL-66/same_port_https", "https://www.example.com:8080/a.html", "OK 200 /a.html = a.html"},
		})
	})
	t.Run("base_path", func(t *testing.T) {
		table(t, fs, Options{BaseURLs: []string{"https://example.org/sub/", "https://mirror.example/"}}, "d/p.html", []row{
			{"relative", "../a.html", "OK 200 /sub/a.html = a.html"},
			{"rooted", "/sub/a.html", "OK 200 /sub/a.html = a.html"},
			{"own_host_outside_base", "/x.html", "OutsideBase 0 /x.html"},
			{"without_base", "/a.html?q", "MissingBase 0 /a.html?q = a.html"},
			{"without_base_directory", "/d", "MissingBase 0 /d = d/index.html"},
			{"top_beside_others", "/#x", "OutsideBase 0 / # x"},
			{"top_of_named_host", "https://example.org", "OutsideBase 0 /"},
			{"top_of_named_host_network_path", "//example.org/", "OutsideBase 0 /"},
			{"segments_not_prefix", "/subway/a.html", "OutsideBase 0 /subway/a.html"},
			{"base_without_slash", "/sub", "Redirect 200 /sub = index.html > /sub/"},
			{"base_with_slash", "/sub/", "OK 200 /sub/ = index.html"},
			{"second_base", "https://mirror.example/a.html", "OK 200 /a.html = a.html"},
			{"directory", "https://example.org/sub/x/../d", "Redirect 200 /sub/d = d/index.html > /sub/d/"},
			{"above_base", "../../a.html", "MissingBase 0 /a.html = a.html"},
			{"far_above_base", "../../../x.html", "OutsideBase 0 /x.html"},
		})
	})
}

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
			{"LL-74/colon_in_first_segment", "c:d.html", "OtherScheme 0 c:d.html"},
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

// TestSchemes: LL-28, how the scheme of a link decides about it.
func TestSchemes(t *testing.T) {
	table(t, files{}, Options{}, "p.html", []row{
		{"LL-28/http", "http://h.example/", "External 0 http://h.example/"},
		{"LL-28/https", "https://h.example/x#y", "External 0 https://h.example/x # y"},
		{"LL-28/ftp", "ftp://h.example/", "OtherScheme 0 ftp://h.example/"},
		{"LL-28/javascript", "javascript:x()", "JavaScript 0 javascript:x()"},
		{"LL-28/mailto", "mailto:x@y.z", "Mailto 0 mailto:x@y.z"},
		{"LL-28/gopher", "gopher://h.example/1", "OtherScheme 0 gopher://h.example/1"},
		{"LL-28/file", "file:///etc/passwd", "OtherScheme 0 file:///etc/passwd"},
		{"LL-28/news", "news:comp.lang.go", "OtherScheme 0 news:comp.lang.go"},
		{"LL-28/view-source", "view-source:http://h.example/", "OtherScheme 0 view-source:http://h.example/"},
		{"LL-28/about", "about:blank", "OtherScheme 0 about:blank"},
		{"LL-28/blob", "blob:http://h.example/1", "OtherScheme 0 blob:http://h.example/1"},
		{"LL-28/tel", "tel:1", "Tel 0 tel:1"},
		{"LL-28/data", "data:,x", "Data 0 data:,x"},
		{"LL-28/scheme_alone", "mailto:", "Mailto 0 mailto:"},
		{"LL-28/address", "http://127.1/", "External 0 http://127.0.0.1/"},
	})
}

// TestHosts repeats the answers of nginx for a docroot of path edge cases
// (reference: what four web servers really answer). Where other servers differ,
// a note names them.
func TestHosts(t *testing.T) {
	fs := files{
		"index.html": plain, "plain.html": plain, "x.php": "", "with-index/index.html": plain, "no-index/a.txt": "",
		"with-txt/index.txt": "", "index-is-dir/index.html/index.html": plain, "index-is-dir-2/index.html/x": "", "ta\tb.html": plain, "del\x7F.html": plain,
		"operator%.html": plain, ".htaccess": "", ".hta.html": plain, ".html": plain, ".hidden": "", "empty.html": "", "name.": "", "name ": "",
		"Case.html": plain, "ü/index.html": plain, "page.html": plain, "a.var": "", "b.html.en": "", `\`: "",
	}
	table(t, fs, Options{}, "links.html", []row{
		{"no_index", "/no-index/", "MissingIndex 403 /no-index/"},
		{"no_index_no_slash", "/no-index", "MissingIndex 403 /no-index > /no-index/"},
		{"only_index_txt", "/with-txt/", "MissingIndex 403 /with-txt/"},
		{"index_is_directory", "/index-is-dir/", "MissingIndex 403 /index-is-dir/"},
		{"index_is_directory_without_index", "/index-is-dir-2/", "MissingIndex 403 /index-is-dir-2/"},
		{"directory_no_slash", "/with-index", "Redirect 200 /with-index = with-index/index.html > /with-index/"},
		{"directory_slash", "/with-index/", "OK 200 /with-index/ = with-index/index.html"},
		{"query_kept_by_redirect", "/with-index?q=1", "Redirect 200 /with-index?q=1 = with-index/index.html > /with-index/?q=1"},
		{"encoding_of_redirect", "/%c3%bc", "Redirect 200 /%c3%bc = ü/index.html > /%C3%BC/"},
		{"slash_after_file", "/plain.html/", "MissingFile 404 /plain.html/"},
		{"path_after_file", "/plain.html/x", "MissingFile 404 /plain.html/x"},
		{"path_info", "/x.php/info", "MissingFile 404 /x.php/info"},
		{"encoded_slash", "/with-index%2Findex.html", "ServerDependent 200 /with-index%2Findex.html = with-index/index.html"},
		{"encoded_slash_no_index", "/no-index%2F", "MissingIndex 403 /no-index%2F"},
		{"encoded_slash_after_file", "/plain.html%2F", "MissingFile 404 /plain.html%2F"},
		{"encoded_up_inside", "/missing/..%2Fplain.html", "ServerDependent 200 /missing/..%2Fplain.html = plain.html"},
		{"encoded_up_at_end", "/with-index%2F..", "ServerDependent 200 /with-index%2F.. = index.html"},
		{"encoded_up_above", "/..%2Fplain.html", "OutsideDocroot 400 /..%2Fplain.html"},
		{"encoded_up_to_nothing", "/..%2Foutside/out.html", "OutsideDocroot 400 /..%2Foutside/out.html"},
		{"percent_at_end", "/100%", "BadURL 400 /100%"},
		{"percent_no_hex", "/%zz", "BadURL 400 /%zz"},
		{"percent_literal_name", "/operator%.html", "BadURL 400 /operator%.html"},
		{"percent_name_escaped", "/operator%25.html", "OK 200 /operator%25.html = operator%.html"},
		{"percent_in_query", "/plain.html?%", "OK 200 /plain.html?% = plain.html"},
		{"control_byte", "/ta%09b.html", "OK 200 /ta%09b.html = ta\tb.html"},
		{"delete_byte", "/del%7F.html", "OK 200 /del%7F.html = del\x7F.html"},
		{"control_byte_no_file", "/plain.html%0A", "MissingFile 404 /plain.html%0A"},
		{"never_utf8", "/%FF.html", "MissingFile 404 /%FF.html"},
		{"ht_name", "/.htaccess", "ServerDependent 200 /.htaccess = .htaccess"},
		{"ht_name_html", "/.html", "ServerDependent 200 /.html = .html"},
		{"hidden_name", "/.hidden", "OK 200 /.hidden = .hidden"},
		{"empty_file", "/empty.html", "OK 200 /empty.html = empty.html"},
		{"final_dot_counts", "/name.", "OK 200 /name. = name."},
		{"final_dot_missing", "/plain.html.", "MissingFile 404 /plain.html."},
		{"final_space_counts", "/name%20", "OK 200 /name%20 = name "},
		{"no_html_added", "/page", "MissingFile 404 /page"},
		{"exact_case", "/case.html", "WrongCase 404 /case.html = Case.html"},
		{"double_slash_in_front", "/.//with-index/", "DoubleSlash 200 //with-index/ = with-index/index.html"},
		{"encoded_backslash", "/%5C", `OK 200 /%5C = \`},
		{"any_suffix", "/b.html.en", "OK 200 /b.html.en = b.html.en"},
		{"long_name", "/" + strings.Repeat("m", 300), "MissingFile 404 /" + strings.Repeat("m", 300)},
		{"long_request", "/plain.html?" + strings.Repeat("q", 9000), "BadURL 414 /plain.html?" + strings.Repeat("q", 9000)},
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

// seedIndex are the default index files of LL-77, in the seed's order.
var seedIndex = []string{"home.html", "index.html", "index.shtml", "index.htm", "index.cgi", "wwwhome.html", "welcome.html"}

// TestIndexOrder: LL-77. Of the seven names, the first in the list answers.
// Each is tested beside all later ones.
func TestIndexOrder(t *testing.T) {
	for i, want := range seedIndex {
		t.Run("LL-77/"+want, func(t *testing.T) {
			fs := files{}
			for _, name := range seedIndex[i:] {
				fs["d/"+name] = plain
			}
			table(t, fs, Options{Profile: host.Linklint}, "p.html", []row{{"link", "d/", "OK 200 /d/ = d/" + want}})
		})
	}
	if !slices.Equal(host.Linklint.Index, seedIndex) {
		t.Errorf("LL-77: the profile has %q", host.Linklint.Index)
	}
	t.Run("LL-77/generic_knows_index_html_only", func(t *testing.T) {
		table(t, files{"d/home.html": plain, "d/index.html": plain, "e/index.htm": plain}, Options{}, "p.html", []row{
			{"index_html", "d/", "OK 200 /d/ = d/index.html"},
			{"index_htm", "e/", "MissingIndex 403 /e/"},
		})
	})
}

// TestIndexFiles tests the rest of "Default Index Files", with the profile that
// follows the seed and with the one that follows current servers.
func TestIndexFiles(t *testing.T) {
	tests := []struct {
		name string
		fs   files
		opt  Options
		rows []row
	}{
		{"LL-78/linklint", files{"noidx/one.txt": "", "noidx/two.html": plain, "noidx/inner/x.txt": ""}, Options{Profile: host.Linklint}, []row{
			{"listing_answers", "noidx/", "Autoindex 200 /noidx/ = noidx"},
			{"inner_by_the_same_rule", "noidx/inner/", "Autoindex 200 /noidx/inner/ = noidx/inner"},
			{"without_slash", "noidx", "Autoindex 200 /noidx = noidx"},
		}},
		{"LL-79/generic_default_is_error", files{"noidx/one.txt": ""}, Options{}, []row{
			{"link", "noidx/", "MissingIndex 403 /noidx/"},
		}},
		{"LL-79/generic_list", files{"noidx/one.txt": ""}, Options{Autoindex: host.AutoindexList}, []row{
			{"link", "noidx/", "Autoindex 200 /noidx/ = noidx"},
			{"redirected", "noidx", "Autoindex 200 /noidx = noidx > /noidx/"},
			{"fragment", "noidx/#x", "Autoindex 200 /noidx/ = noidx # x"},
		}},
		{"LL-79/linklint_error", files{"noidx/one.txt": ""}, Options{Profile: host.Linklint, Autoindex: host.AutoindexError}, []row{
			{"link", "noidx/", "MissingIndex 403 /noidx/"},
		}},
		{"LL-80/replaces_the_list", files{"index.html": plain, "d/main.html": plain, "d/index.html": plain}, Options{Index: []string{"main.html"}}, []row{
			{"old_name_no_longer_answers", "/", "MissingIndex 403 /"},
			{"new_name_answers", "d/", "OK 200 /d/ = d/main.html"},
		}},
		{"LL-80/replaces_linklints_list", files{"index.html": plain, "d/main.html": plain}, Options{Profile: host.Linklint, Index: []string{"main.html"}}, []row{
			{"old_name_no_longer_answers", "/", "Autoindex 200 / = "},
			{"new_name_answers", "d/", "OK 200 /d/ = d/main.html"},
		}},
		{"A-LL-8/order_given", files{"d/one.txt": "", "d/two.html": plain}, Options{Profile: host.Linklint, Index: []string{"two.html", "one.txt"}}, []row{
			{"first", "d/", "OK 200 /d/ = d/two.html"},
		}},
		{"A-LL-8/order_reversed", files{"d/one.txt": "", "d/two.html": plain}, Options{Profile: host.Linklint, Index: []string{"one.txt", "two.html"}}, []row{
			{"first", "d/", "OK 200 /d/ = d/one.txt"},
		}},
		{"LL-81/built_in_list_ignores_case", files{"d/Index.HTML": plain}, Options{Profile: host.Linklint}, []row{
			{"link", "d/", "OK 200 /d/ = d/Index.HTML"},
		}},
		{"LL-81/lower_case_option_ignores_case", files{"d/Index.HTML": plain}, Options{Profile: host.Linklint, Index: []string{"index.html"}}, []row{
			{"link", "d/", "OK 200 /d/ = d/Index.HTML"},
		}},
		{"LL-81/upper_case_option_exact_found", files{"d/Index.HTML": plain}, Options{Profile: host.Linklint, Index: []string{"Index.HTML"}}, []row{
			{"link", "d/", "OK 200 /d/ = d/Index.HTML"},
		}},
		{"LL-81/upper_case_option_exact_missing", files{"d/index.html": plain}, Options{Profile: host.Linklint, Index: []string{"Index.HTML"}}, []row{
			{"link", "d/", "Autoindex 200 /d/ = d"},
		}},
		{"LL-81/one_upper_case_name_makes_all_exact", files{"d/HOME.html": plain}, Options{Profile: host.Linklint, Index: []string{"home.html", "Index.html"}}, []row{
			{"link", "d/", "Autoindex 200 /d/ = d"},
		}},
		{"LL-81/today_servers_compare_exactly", files{"d/Index.HTML": plain}, Options{}, []row{
			{"link", "d/", "MissingIndex 403 /d/"},
		}},
		{"A-LL-9/lower_case_wins", files{"d/INDEX.HTML": plain, "d/Index.html": plain, "d/index.html": plain}, Options{Profile: host.Linklint}, []row{
			{"link", "d/", "OK 200 /d/ = d/index.html"},
		}},
		{"A-LL-9/else_first_in_byte_order", files{"d/Index.html": plain, "d/INDEX.html": plain, "d/iNDEX.html": plain}, Options{Profile: host.Linklint}, []row{
			{"link", "d/", "OK 200 /d/ = d/INDEX.html"},
		}},
		{"LL-82/linklint_takes_files_only", files{"d/index.html/x.txt": "", "d/index.htm": plain}, Options{Profile: host.Linklint}, []row{
			{"next_name_answers", "d/", "OK 200 /d/ = d/index.htm"},
		}},
		{"LL-82/linklint_directory_does_not_answer", files{"d/index.html/index.html": plain}, Options{Profile: host.Linklint}, []row{
			{"link", "d/", "Autoindex 200 /d/ = d"},
		}},
		{"LL-82/generic", files{"d/index.html/index.html": plain}, Options{}, []row{
			{"link", "d/", "MissingIndex 403 /d/"},
		}},
		{"LL-83/linklint_as_if_it_had_it", files{"sub/index.html": plain}, Options{Profile: host.Linklint}, []row{
			{"link", "sub", "OK 200 /sub = sub/index.html"},
			{"with_slash", "sub/", "OK 200 /sub/ = sub/index.html"},
		}},
		{"LL-83/generic_redirects", files{"sub/index.html": plain}, Options{}, []row{
			{"link", "sub", "Redirect 200 /sub = sub/index.html > /sub/"},
			{"fragment", "sub#f", "Redirect 200 /sub = sub/index.html > /sub/ # f"},
		}},
		{"LL-84/generic", files{"x.txt": ""}, Options{}, []row{
			{"absent", "nodir/", "MissingDirectory 404 /nodir/"},
			{"absent_below", "nodir/sub/", "MissingDirectory 404 /nodir/sub/"},
			{"absent_file_below", "nodir/x.html", "MissingFile 404 /nodir/x.html"},
			{"file_with_slash", "x.txt/", "MissingFile 404 /x.txt/"},
		}},
		{"LL-84/linklint", files{}, Options{Profile: host.Linklint}, []row{
			{"absent", "nodir/", "MissingDirectory 404 /nodir/"},
		}},
		{"LL-85/link_as_written_and_answering_file", files{"sub/index.html": plain}, Options{}, []row{
			{"link", "/sub/", "OK 200 /sub/ = sub/index.html"},
		}},
		{"root/empty_docroot_index", files{"index.html": plain}, Options{}, []row{
			{"slash", "/", "OK 200 / = index.html"},
			{"dot", ".", "OK 200 / = index.html"},
			{"file", "index.html", "OK 200 /index.html = index.html"},
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) { table(t, tc.fs, tc.opt, "p.html", tc.rows) })
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

// TestProfiles: ProfileByName finds exactly the names that --profile accepts.
func TestProfiles(t *testing.T) {
	for _, p := range host.Profiles() {
		if got, ok := host.ProfileByName(p.Name); !ok || got.Name != p.Name {
			t.Errorf("%s: got %v, %t", p.Name, got.Name, ok)
		}
	}
	if _, ok := host.ProfileByName("Generic"); ok {
		t.Error("Generic is a profile, but only generic should be")
	}
}

// TestRoots: languages with hosts of their own (Hugo's multihost) are roots of
// one docroot. Links from one host to another are internal.
func TestRoots(t *testing.T) {
	fs := files{
		"en/index.html":     "en",
		"en/x/index.html":   "x",
		"en/a.css":          "",
		"fr/index.html":     "fr",
		"fr/x/index.html":   "x",
		"fr/seul.html":      "seul",
		"frx/index.html":    "none of fr's",
		"index.html":        "no root",
		"en/deep/base.html": `<base href="https://fr.example/sub/">`,
	}
	cases := []struct {
		page, link string
		state      host.State
		target     string
	}{
		{"en/x/index.html", "/x/", host.StateOK, "/en/x/"},
		{"en/x/index.html", "../a.css", host.StateOK, "/en/a.css"},
		{"en/x/index.html", "../../a.css", host.StateAboveRoot, "/en/a.css"},
		{"en/x/index.html", "/en/x/", host.StateMissingDirectory, "/en/en/x/"},
		{"en/x/index.html", "", host.StateOK, "/en/x/index.html"},
		{"en/x/index.html", "http://fr.example:8080/sub/seul.html", host.StateOK, "/fr/seul.html"},
		{"en/x/index.html", "//fr.example:8080/sub/none.html", host.StateMissingFile, "/fr/none.html"},
		{"en/x/index.html", "http://fr.example:8080/sub/x", host.StateRedirect, "/fr/x"},
		{"en/x/index.html", "http://fr.example:8080/sub", host.StateRedirect, "/fr"},
		{"en/x/index.html", "http://fr.example:8080/seul.html", host.StateMissingBase, "/seul.html"},
		{"en/x/index.html", "http://fr.example/sub/seul.html", host.StateExternal, "http://fr.example/sub/seul.html"},
		{"en/x/index.html", "https://en.example", host.StateOK, "/en/"},
		{"fr/x/index.html", "/sub/seul.html", host.StateOK, "/fr/seul.html"},
		{"fr/x/index.html", "../seul.html", host.StateOK, "/fr/seul.html"},
		{"fr/x/index.html", "/x/", host.StateMissingBase, "/x/"},
		{"fr/x/index.html", "/none/", host.StateOutsideBase, "/none/"},
		{"fr/x/index.html", "https://en.example/a.css", host.StateOK, "/en/a.css"},
		{"en/deep/base.html", "seul.html", host.StateExternal, "https://fr.example/sub/seul.html"},
		{"index.html", "en/x/", host.StateOK, "/en/x/"},
		{"frx/index.html", "/frx/", host.StateOK, "/frx/"},
	}
	for _, tc := range cases {
		fs[tc.page] += `<a href="` + tc.link + `">`
	}
	root := tempDocroot(t, fs)
	s := load(t, root, Options{Roots: []host.Root{{Dir: "en", Base: "https://en.example/"}, {Dir: "/fr/", Base: "http://fr.example:8080/sub/"}}})
	seen := map[string]int{}
	for _, tc := range cases {
		d := details(t, s, tc.page)[seen[tc.page]]
		if seen[tc.page]++; d.State != tc.state || d.Target != tc.target {
			t.Errorf("%s on %s: %s, target %s; want %s, %s", tc.link, tc.page, stateName(t, d.State), d.Target, stateName(t, tc.state), tc.target)
		}
	}
	for path, want := range map[string]string{"/en/x/": "https://en.example/x/", "/fr": "http://fr.example:8080/sub", "/frx/": "/frx/"} {
		if origin, on := s.Public(path); origin+on != want {
			t.Errorf("%s is published as %s, want %s", path, origin+on, want)
		}
	}
	if !s.Published() || s.BasePath() != "" || s.BaseURL() != "" {
		t.Error("a rooted site has addresses, but no single one")
	}
	if res, err := s.Request("/fr/seul.html"); err != nil || res.State != host.StateOK {
		t.Errorf("a path in the docroot: %+v, %v", res, err)
	}
	if _, err := Load(t.Context(), root, Options{Roots: []host.Root{{Dir: "en", Base: "ftp://en.example/"}}}); err == nil {
		t.Error("a root at ftp: no error")
	}
}

// TestBasePathAlone: the base path can be known while the host is unknown.
func TestBasePathAlone(t *testing.T) {
	s := loadFiles(t, files{"index.html": `<a href="/sub/a/"><a href="/a/"><a href="a/"><a href="/b/">`, "a/index.html": ""}, Options{BasePath: "/sub/"})
	for i, want := range []host.State{host.StateOK, host.StateMissingBase, host.StateOK, host.StateOutsideBase} {
		if d := details(t, s, "index.html")[i]; d.State != want {
			t.Errorf("%s: %s, want %s", d.Raw, stateName(t, d.State), stateName(t, want))
		}
	}
	if s.Published() || s.Authority() != "" || s.BaseURL() != "" {
		t.Errorf("no host is known, got %q, %q", s.Authority(), s.BaseURL())
	}
}
