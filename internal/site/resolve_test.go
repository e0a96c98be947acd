package site

import (
	"strings"
	"testing"
)

const plain = "<!doctype html><title>x</title>"

// TestLinksAreLocal proves which links stay in the docroot: section
// "Resolving Links" of the seed, read with A-LL-3.
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
			{"own_host_outside_base", "/a.html", "OutsideBase 0 /a.html"},
			{"segments_not_prefix", "/subway/a.html", "OutsideBase 0 /subway/a.html"},
			{"base_without_slash", "/sub", "Redirect 200 /sub = index.html > /sub/"},
			{"base_with_slash", "/sub/", "OK 200 /sub/ = index.html"},
			{"second_base", "https://mirror.example/a.html", "OK 200 /a.html = a.html"},
			{"directory", "https://example.org/sub/x/../d", "Redirect 200 /sub/d = d/index.html > /sub/d/"},
			{"above_base", "../../a.html", "OutsideBase 0 /a.html"},
		})
	})
}

// TestBrowserRules proves how paths are made absolute and looked up.
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

// TestSchemes: LL-28, what happens to a link by its scheme.
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

// TestHosts rebuilds what nginx answered on a docroot of path edge cases
// (reference: what four web servers really answer); where the others differ
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
		{"index_is_directory", "/index-is-dir/", "ServerDependent 200 /index-is-dir/ = index-is-dir/index.html/index.html > /index-is-dir/index.html/"},
		{"index_is_directory_without_index", "/index-is-dir-2/", "MissingIndex 403 /index-is-dir-2/ > /index-is-dir-2/index.html/"},
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
		{"control_byte", "/ta%09b.html", "ServerDependent 200 /ta%09b.html = ta\tb.html"},
		{"delete_byte", "/del%7F.html", "ServerDependent 200 /del%7F.html = del\x7F.html"},
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
