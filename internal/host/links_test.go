package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestLinksAreLocal tests which links stay in the docroot: section "Resolving
// Links" of the seed, read with A-LL-3.
func TestLinksAreLocal(t *testing.T) {
	fs := testkit.Files{"x/y.html": page, "index.html": page, "a.html": page, "s.html": page, "n.html": page, "d/index.html": page}
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
			{"relative_scheme", "https:a.html", "MissingFile 404 /d/a.html"},
			{"another_scheme", "http:a.html", "WrongHost 0 http://a.html/ = a.html"},
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
			{"top", "/#x", "MissingBase 0 / = index.html # x"},
			{"top_of_named_host", "https://example.org", "OutsideBase 0 /"},
			{"top_of_named_host_network_path", "//example.org/", "OutsideBase 0 /"},
			{"segments_not_prefix", "/subway/a.html", "OutsideBase 0 /subway/a.html"},
			{"base_without_slash", "/sub", "Redirect 200 /sub = index.html > /sub/"},
			{"base_without_slash_and_query", "/sub?q", "Redirect 200 /sub?q = index.html > /sub/?q"},
			{"base_with_slash", "/sub/", "OK 200 /sub/ = index.html"},
			{"second_base", "https://mirror.example/a.html", "OK 200 /a.html = a.html"},
			{"directory", "https://example.org/sub/x/../d", "Redirect 200 /sub/d = d/index.html > /sub/d/"},
			{"above_base", "../../a.html", "MissingBase 0 /a.html = a.html"},
			{"far_above_base", "../../../x.html", "OutsideBase 0 /x.html"},
		})
	})
}

// TestSchemes: LL-28, how the scheme of a link decides about it.
func TestSchemes(t *testing.T) {
	table(t, testkit.Files{}, Options{}, "p.html", []row{
		{"LL-28/http", "http://h.example/", "External 0 http://h.example/"},
		{"LL-28/https", "https://h.example/x#y", "External 0 https://h.example/x # y"},
		{"LL-28/ftp", "ftp://h.example/", "OtherScheme 0 ftp://h.example/"},
		{"LL-28/javascript", "javascript:x()", "JavaScript 0 javascript:x()"},
		{"LL-28/mailto", "mailto:x@y.z", "Mailto 0 mailto:x@y.z"},
		{"LL-28/gopher", "gopher://h.example/1", "OtherScheme 0 gopher://h.example/1"},
		{"LL-28/file", "file:///etc/passwd", "DeadScheme 0 file:///etc/passwd"},
		{"LL-28/news", "news:comp.lang.go", "OtherScheme 0 news:comp.lang.go"},
		{"LL-28/view-source", "view-source:http://h.example/", "OtherScheme 0 view-source:http://h.example/"},
		{"LL-28/about", "about:blank", "OtherScheme 0 about:blank"},
		{"LL-28/blob", "blob:http://h.example/1", "OtherScheme 0 blob:http://h.example/1"},
		{"LL-28/tel", "tel:1", "Tel 0 tel:1"},
		{"LL-28/data", "data:,x", "Data 0 data:,x"},
		{"LL-28/scheme_alone", "mailto:", "NoRecipient 0 mailto:"},
		{"LL-28/address", "http://127.1/", "External 0 http://127.0.0.1/"},
	})
}

// TestHosts repeats the answers of nginx for a docroot of path edge cases
// (reference: what four web servers really answer). Where other servers differ,
// a note names them.
func TestHosts(t *testing.T) {
	fs := testkit.Files{
		"index.html": page, "plain.html": page, "x.php": "", "with-index/index.html": page, "no-index/a.txt": "",
		"with-txt/index.txt": "", "index-is-dir/index.html/index.html": page, "index-is-dir-2/index.html/x": "", "ta\tb.html": page, "del\x7F.html": page,
		"operator%.html": page, ".htaccess": "", ".hta.html": page, ".html": page, ".hidden": "", "empty.html": "", "name.": "", "name ": "",
		"Case.html": page, "üAZaz09/index.html": page, "page.html": page, "a.var": "", "b.html.en": "", `\`: "",
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
		{"encoding_of_redirect", "/%c3%bcAZaz09", "Redirect 200 /%c3%bcAZaz09 = üAZaz09/index.html > /%C3%BCAZaz09/"},
		{"slash_after_file", "/plain.html/", "MissingFile 404 /plain.html/"},
		{"path_after_file", "/plain.html/x", "MissingFile 404 /plain.html/x"},
		{"path_info", "/x.php/info", "MissingFile 404 /x.php/info"},
		{"encoded_slash", "/with-index%2Findex.html", "ServerDependent 200 /with-index%2Findex.html = with-index/index.html"},
		{"encoded_slash_no_index", "/no-index%2F", "MissingIndex 403 /no-index%2F"},
		{"encoded_slash_after_file", "/plain.html%2F", "MissingFile 404 /plain.html%2F"},
		{"encoded_up_inside", "/missing/..%2Fplain.html", "ServerDependent 200 /missing/..%2Fplain.html = plain.html"},
		{"encoded_up_at_end", "/with-index%2F..", "ServerDependent 200 /with-index%2F.. = index.html"},
		{"encoded_up_to_directory", "/with-index%2Fx%2F..", "ServerDependent 200 /with-index%2Fx%2F.. = with-index/index.html"},
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

// seedIndex are the default index files of LL-77, in the seed's order.
var seedIndex = []string{"home.html", "index.html", "index.shtml", "index.htm", "index.cgi", "wwwhome.html", "welcome.html"}

// TestIndexOrder: LL-77. Of the seven names, the first in the list answers.
// Each is tested beside all later ones.
func TestIndexOrder(t *testing.T) {
	for i, want := range seedIndex {
		t.Run("LL-77/"+want, func(t *testing.T) {
			fs := testkit.Files{}
			for _, name := range seedIndex[i:] {
				fs["d/"+name] = page
			}
			table(t, fs, Options{Profile: Linklint}, "p.html", []row{{"link", "d/", "OK 200 /d/ = d/" + want}})
		})
	}
	if !slices.Equal(Linklint.Index, seedIndex) {
		t.Errorf("LL-77: the profile has %q", Linklint.Index)
	}
	t.Run("LL-77/generic_knows_index_html_only", func(t *testing.T) {
		table(t, testkit.Files{"d/home.html": page, "d/index.html": page, "e/index.htm": page}, Options{}, "p.html", []row{
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
		fs   testkit.Files
		opt  Options
		rows []row
	}{
		{"LL-78/linklint", testkit.Files{"noidx/one.txt": "", "noidx/two.html": page, "noidx/inner/x.txt": ""}, Options{Profile: Linklint}, []row{
			{"listing_answers", "noidx/", "Autoindex 200 /noidx/ = noidx"},
			{"inner_by_the_same_rule", "noidx/inner/", "Autoindex 200 /noidx/inner/ = noidx/inner"},
			{"without_slash", "noidx", "Autoindex 200 /noidx = noidx"},
		}},
		{"LL-79/generic_default_is_error", testkit.Files{"noidx/one.txt": ""}, Options{}, []row{
			{"link", "noidx/", "MissingIndex 403 /noidx/"},
		}},
		{"LL-79/generic_list", testkit.Files{"noidx/one.txt": ""}, Options{Autoindex: AutoindexList}, []row{
			{"link", "noidx/", "Autoindex 200 /noidx/ = noidx"},
			{"redirected", "noidx", "Autoindex 200 /noidx = noidx > /noidx/"},
			{"fragment", "noidx/#x", "Autoindex 200 /noidx/ = noidx # x"},
		}},
		{"LL-79/linklint_error", testkit.Files{"noidx/one.txt": ""}, Options{Profile: Linklint, Autoindex: AutoindexError}, []row{
			{"link", "noidx/", "MissingIndex 403 /noidx/"},
		}},
		{"LL-80/replaces_the_list", testkit.Files{"index.html": page, "d/main.html": page, "d/index.html": page}, Options{Index: []string{"main.html"}}, []row{
			{"old_name_no_longer_answers", "/", "MissingIndex 403 /"},
			{"new_name_answers", "d/", "OK 200 /d/ = d/main.html"},
		}},
		{"LL-80/replaces_linklints_list", testkit.Files{"index.html": page, "d/main.html": page}, Options{Profile: Linklint, Index: []string{"main.html"}}, []row{
			{"old_name_no_longer_answers", "/", "Autoindex 200 / = "},
			{"new_name_answers", "d/", "OK 200 /d/ = d/main.html"},
		}},
		{"A-LL-8/order_given", testkit.Files{"d/one.txt": "", "d/two.html": page}, Options{Profile: Linklint, Index: []string{"two.html", "one.txt"}}, []row{
			{"first", "d/", "OK 200 /d/ = d/two.html"},
		}},
		{"A-LL-8/order_reversed", testkit.Files{"d/one.txt": "", "d/two.html": page}, Options{Profile: Linklint, Index: []string{"one.txt", "two.html"}}, []row{
			{"first", "d/", "OK 200 /d/ = d/one.txt"},
		}},
		{"LL-81/built_in_list_ignores_case", testkit.Files{"d/Index.HTML": page}, Options{Profile: Linklint}, []row{
			{"link", "d/", "OK 200 /d/ = d/Index.HTML"},
		}},
		{"LL-81/lower_case_option_ignores_case", testkit.Files{"d/Index.HTML": page}, Options{Profile: Linklint, Index: []string{"index.html"}}, []row{
			{"link", "d/", "OK 200 /d/ = d/Index.HTML"},
		}},
		{"LL-81/upper_case_option_exact_found", testkit.Files{"d/Index.HTML": page}, Options{Profile: Linklint, Index: []string{"Index.HTML"}}, []row{
			{"link", "d/", "OK 200 /d/ = d/Index.HTML"},
		}},
		{"LL-81/upper_case_option_exact_missing", testkit.Files{"d/index.html": page}, Options{Profile: Linklint, Index: []string{"Index.HTML"}}, []row{
			{"link", "d/", "Autoindex 200 /d/ = d"},
		}},
		{"LL-81/one_upper_case_name_makes_all_exact", testkit.Files{"d/HOME.html": page}, Options{Profile: Linklint, Index: []string{"home.html", "Index.html"}}, []row{
			{"link", "d/", "Autoindex 200 /d/ = d"},
		}},
		{"LL-81/today_servers_compare_exactly", testkit.Files{"d/Index.HTML": page}, Options{}, []row{
			{"link", "d/", "MissingIndex 403 /d/"},
		}},
		{"A-LL-9/lower_case_wins", testkit.Files{"d/INDEX.HTML": page, "d/Index.html": page, "d/index.html": page}, Options{Profile: Linklint}, []row{
			{"link", "d/", "OK 200 /d/ = d/index.html"},
		}},
		{"A-LL-9/else_first_in_byte_order", testkit.Files{"d/Index.html": page, "d/INDEX.html": page, "d/iNDEX.html": page}, Options{Profile: Linklint}, []row{
			{"link", "d/", "OK 200 /d/ = d/INDEX.html"},
		}},
		{"LL-82/linklint_takes_files_only", testkit.Files{"d/index.html/x.txt": "", "d/index.htm": page}, Options{Profile: Linklint}, []row{
			{"next_name_answers", "d/", "OK 200 /d/ = d/index.htm"},
		}},
		{"LL-82/linklint_directory_does_not_answer", testkit.Files{"d/index.html/index.html": page}, Options{Profile: Linklint}, []row{
			{"link", "d/", "Autoindex 200 /d/ = d"},
		}},
		{"LL-82/generic", testkit.Files{"d/index.html/index.html": page}, Options{}, []row{
			{"link", "d/", "MissingIndex 403 /d/"},
		}},
		{"LL-83/linklint_as_if_it_had_it", testkit.Files{"sub/index.html": page}, Options{Profile: Linklint}, []row{
			{"link", "sub", "OK 200 /sub = sub/index.html"},
			{"with_slash", "sub/", "OK 200 /sub/ = sub/index.html"},
		}},
		{"LL-83/generic_redirects", testkit.Files{"sub/index.html": page}, Options{}, []row{
			{"link", "sub", "Redirect 200 /sub = sub/index.html > /sub/"},
			{"fragment", "sub#f", "Redirect 200 /sub = sub/index.html > /sub/ # f"},
		}},
		{"LL-84/generic", testkit.Files{"x.txt": ""}, Options{}, []row{
			{"absent", "nodir/", "MissingDirectory 404 /nodir/"},
			{"absent_below", "nodir/sub/", "MissingDirectory 404 /nodir/sub/"},
			{"absent_file_below", "nodir/x.html", "MissingFile 404 /nodir/x.html"},
			{"file_with_slash", "x.txt/", "MissingFile 404 /x.txt/"},
		}},
		{"LL-84/linklint", testkit.Files{}, Options{Profile: Linklint}, []row{
			{"absent", "nodir/", "MissingDirectory 404 /nodir/"},
		}},
		{"LL-85/link_as_written_and_answering_file", testkit.Files{"sub/index.html": page}, Options{}, []row{
			{"link", "/sub/", "OK 200 /sub/ = sub/index.html"},
		}},
		{"root/empty_docroot_index", testkit.Files{"index.html": page}, Options{}, []row{
			{"slash", "/", "OK 200 / = index.html"},
			{"dot", ".", "OK 200 / = index.html"},
			{"file", "index.html", "OK 200 /index.html = index.html"},
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) { table(t, tc.fs, tc.opt, "p.html", tc.rows) })
	}
}

// TestProfiles: ProfileByName finds exactly the names that --profile accepts.
func TestProfiles(t *testing.T) {
	for _, p := range Profiles() {
		if got, ok := ProfileByName(p.Name); !ok || got.Name != p.Name {
			t.Errorf("%s: got %v, %t", p.Name, got.Name, ok)
		}
	}
	if _, ok := ProfileByName("Generic"); ok {
		t.Error("Generic is a profile, but only generic should be")
	}
}

// TestRoots: languages with hosts of their own (Hugo's multihost) are roots of
// one docroot. Links from one host to another are internal.
func TestRoots(t *testing.T) {
	fs := testkit.Files{
		"en/index.html":   "en",
		"en/x/index.html": "x",
		"en/a.css":        "",
		"fr/index.html":   "fr",
		"fr/x/index.html": "x",
		"fr/seul.html":    "seul",
		"frx/index.html":  "none of fr's",
		"index.html":      "no root",
	}
	cases := []struct {
		page, link string
		state      State
		target     string
	}{
		{"en/x/index.html", "/x/", StateOK, "/en/x/"},
		{"en/x/index.html", "../a.css", StateOK, "/en/a.css"},
		{"en/x/index.html", "../../a.css", StateOK, "/en/a.css"},
		{"en/x/index.html", "/en/x/", StateMissingDirectory, "/en/en/x/"},
		{"en/x/index.html", "", StateOK, "/en/x/index.html"},
		{"en/x/index.html", "http://fr.example:8080/sub/seul.html", StateOK, "/fr/seul.html"},
		{"en/x/index.html", "//fr.example:8080/sub/none.html", StateMissingFile, "/fr/none.html"},
		{"en/x/index.html", "http://fr.example:8080/sub/x", StateRedirect, "/fr/x"},
		{"en/x/index.html", "http://fr.example:8080/sub", StateRedirect, "/fr"},
		{"en/x/index.html", "http://fr.example:8080/seul.html", StateMissingBase, "/seul.html"},
		{"en/x/index.html", "http://fr.example/sub/seul.html", StateExternal, "http://fr.example/sub/seul.html"},
		{"en/x/index.html", "https://en.example", StateOK, "/en/"},
		{"fr/x/index.html", "/sub/seul.html", StateOK, "/fr/seul.html"},
		{"fr/x/index.html", "../seul.html", StateOK, "/fr/seul.html"},
		{"fr/x/index.html", "/x/", StateMissingBase, "/x/"},
		{"fr/x/index.html", "/none/", StateOutsideBase, "/none/"},
		{"fr/x/index.html", "https://en.example/a.css", StateOK, "/en/a.css"},
		{"index.html", "en/x/", StateOK, "/en/x/"},
		{"frx/index.html", "/frx/", StateOK, "/frx/"},
	}
	s := loadHost(t, testkit.MakeDocroot(t, fs), Options{Roots: []Root{{Dir: "en", Base: "https://en.example/"}, {Dir: "/fr/", Base: "http://fr.example:8080/sub/"}}})
	for _, tc := range cases {
		if got, want := answerOf(t, s, tc.page, tc.link), stateName(t, tc.state)+" "; !strings.HasPrefix(got, want) || strings.Fields(got)[2] != tc.target {
			t.Errorf("%s on %s: %s; want %s%s", tc.link, tc.page, got, want, tc.target)
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
	if res, err := s.Request("/fr/seul.html"); err != nil || res.State != StateOK {
		t.Errorf("a path in the docroot: %+v, %v", res, err)
	}
	if _, err := Load(t.Context(), t.TempDir(), Options{Roots: []Root{{Dir: "en", Base: "ftp://en.example/"}}}); err == nil {
		t.Error("a root at ftp: no error")
	}
}

// TestBasePathAlone: the base path can be known while the host is unknown.
func TestBasePathAlone(t *testing.T) {
	s := loadHost(t, testkit.MakeDocroot(t, testkit.Files{"index.html": page, "a/index.html": ""}), Options{BasePath: "/sub/"})
	compareRows(t, s, "index.html", []row{
		{"with", "/sub/a/", "OK 200 /sub/a/ = a/index.html"},
		{"without", "/a/", "MissingBase 0 /a/ = a/index.html"},
		{"relative", "a/", "OK 200 /sub/a/ = a/index.html"},
		{"missing", "/b/", "OutsideBase 0 /b/"},
	})
	if s.Published() || s.Authority() != "" || s.BaseURL() != "" {
		t.Errorf("no host is known, got %q, %q", s.Authority(), s.BaseURL())
	}
}

// TestMapRules tests --map.
func TestMapRules(t *testing.T) {
	fs := testkit.Files{"dir/info.map": "rect /gone.html 0,0 1,1\n", "new.html": page, "b/x.html": page, "imagemap.exe/x.map": "", "q/x.html": page, "cgi-bin/imagemapper": ""}
	tests := []struct {
		name  string
		rules []MapRule
		rows  []row
	}{
		{"LL-90/prefix_removed", []MapRule{{From: "/cgi-bin/imagemap"}}, []row{
			{"call", "/cgi-bin/imagemap/dir/info.map", "OK 200 /cgi-bin/imagemap/dir/info.map = dir/info.map"},
			{"query_and_fragment", "/cgi-bin/imagemap/dir/info.map?1,2#f", "OK 200 /cgi-bin/imagemap/dir/info.map?1,2 = dir/info.map # f"},
			{"relative_link", "cgi-bin/imagemap/new.html", "OK 200 /cgi-bin/imagemap/new.html = new.html"},
		}},
		{"LL-90/without_the_option", nil, []row{
			{"call", "/cgi-bin/imagemap/dir/info.map", "MissingFile 404 /cgi-bin/imagemap/dir/info.map"},
		}},
		{"LL-91/replaced", []MapRule{{From: "/old/x.html", To: "/new.html"}, {From: "/a", To: "/b"}}, []row{
			{"file", "/old/x.html", "OK 200 /old/x.html = new.html"},
			{"directory", "/a/x.html", "OK 200 /a/x.html = b/x.html"},
			{"second_rule_too", "/a/x.html?q", "OK 200 /a/x.html?q = b/x.html"},
			{"no_rule", "/new.html", "OK 200 /new.html = new.html"},
		}},
		{"LL-92/slash_added", []MapRule{{From: "cgi-bin/htimage"}, {From: "/cgi-bin/imagemap"}, {From: "/cgi-bin/imagemap.exe/"}}, []row{
			{"htimage", "/cgi-bin/htimage/dir/info.map", "OK 200 /cgi-bin/htimage/dir/info.map = dir/info.map"},
			{"imagemap", "/cgi-bin/imagemap/dir/info.map", "OK 200 /cgi-bin/imagemap/dir/info.map = dir/info.map"},
			{"imagemap_exe", "/cgi-bin/imagemap.exe/dir/info.map", "OK 200 /cgi-bin/imagemap.exe/dir/info.map = dir/info.map"},
		}},
		{"LL-93/whole_segments", []MapRule{{From: "/cgi-bin/imagemap"}}, []row{
			{"longer_name", "/cgi-bin/imagemap.exe/dir/info.map", "MissingFile 404 /cgi-bin/imagemap.exe/dir/info.map"},
			{"file_of_longer_name", "/cgi-bin/imagemapper", "OK 200 /cgi-bin/imagemapper = cgi-bin/imagemapper"},
		}},
		{"LL-93/longest_first", []MapRule{{From: "/p", To: "/nowhere"}, {From: "/p/deep", To: "/b"}}, []row{
			{"deep", "/p/deep/x.html", "OK 200 /p/deep/x.html = b/x.html"},
		}},
		{"LL-93/repeats", []MapRule{{From: "/one", To: "/two"}, {From: "/two", To: "/b"}}, []row{
			{"twice", "/one/x.html", "OK 200 /one/x.html = b/x.html"},
		}},
		{"LL-93/circle", []MapRule{{From: "/p", To: "/q"}, {From: "/q", To: "/p"}}, []row{
			{"ends", "/p/x.html", "MappingLoop 0 /p/x.html"},
			{"others_untouched", "/new.html", "OK 200 /new.html = new.html"},
		}},
		{"LL-93/growing", []MapRule{{From: "/old", To: "/old/x"}}, []row{
			{"ends", "/old/a.html", "MappingLoop 0 /old/a.html"},
		}},
		{"LL-93/itself", []MapRule{{From: "/b", To: "/b"}}, []row{
			{"ends", "/b/x.html", "MappingLoop 0 /b/x.html"},
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) { table(t, fs, Options{Maps: tc.rules}, "p.html", tc.rows) })
	}
}

// TestWrongCase: LL-110, letter case is compared exactly on every platform, and
// the intended file is known.
func TestWrongCase(t *testing.T) {
	fs := testkit.Files{"pic.png": "", "Sub/Index.html": page, "Sub/A.html": page, "b/X.html": page, "b/x.HTML": page}
	for _, p := range Profiles() {
		if p.AnyCase {
			continue // TestAnyCase
		}
		table(t, fs, Options{Profile: p}, "p.html", []row{
			{"LL-110/" + p.Name + "/file", "Pic.PNG", "WrongCase 404 /Pic.PNG = pic.png"},
			{"LL-110/" + p.Name + "/exact", "pic.png", "OK 200 /pic.png = pic.png"},
			{"LL-110/" + p.Name + "/directory", "sub/A.html", "WrongCase 404 /sub/A.html = Sub/A.html"},
			{"LL-110/" + p.Name + "/both", "SUB/a.HTML", "WrongCase 404 /SUB/a.HTML = Sub/A.html"},
			{"LL-110/" + p.Name + "/first_in_byte_order", "b/x.html", "WrongCase 404 /b/x.html = b/X.html"},
			{"LL-110/" + p.Name + "/directory_itself", "sub/", "WrongCase 404 /sub/ = Sub"},
			{"LL-110/" + p.Name + "/nothing_alike", "pics.png", "MissingFile 404 /pics.png"},
		})
	}
}

// TestOptionsErrors: the error for an invalid option names the option and the
// cause.
func TestOptionsErrors(t *testing.T) {
	root := testkit.MakeDocroot(t, testkit.Files{"p.html": page})
	for _, base := range []string{"", "example.org", "/sub/", "ftp://example.org/", "mailto:x@y", "http://", "http://exa mple.org/", "http://[::1/", "https://example.org:99999/"} {
		_, err := Load(context.Background(), root, Options{BaseURLs: []string{"https://ok.example/", base}})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", base)) {
			t.Errorf("base URL %q: got %v", base, err)
		}
	}
}

// TestBasePath: the path of a base URL is that of a directory, with or without
// a final slash.
func TestBasePath(t *testing.T) {
	root := testkit.MakeDocroot(t, testkit.Files{"p.html": page})
	for base, want := range map[string]string{
		"https://example.org": "", "https://example.org/": "", "https://example.org/sub": "/sub", "https://example.org/sub/": "/sub",
		"https://example.org/sub/index.html": "/sub", "https://example.org/a/b//": "/a/b", "https://example.org/a?q#f": "/a",
	} {
		if got := loadHost(t, root, Options{BaseURLs: []string{base}}).BasePath(); got != want {
			t.Errorf("%s: got %q, want %q", base, got, want)
		}
	}
}

// TestAnyCase: LL-110 does not apply to a host that ignores letter case. The
// link works on that host, but it gets a warning because it would fail on
// others.
func TestAnyCase(t *testing.T) {
	fs := testkit.Files{"pic.png": "", "Sub/A.html": page, "Sub/index.html": page, "a/x.html": page, "a/X.html": page}
	table(t, fs, Options{Profile: builtin("netlify")()}, "p.html", []row{
		{"exact", "pic.png", "OK 200 /pic.png = pic.png"},
		{"file", "Pic.PNG", "ServerDependent 200 /Pic.PNG = pic.png"},
		{"directory", "sub/A.html", "ServerDependent 200 /sub/A.html = Sub/A.html"},
		{"directory_redirected", "SUB", "ServerDependent 200 /SUB = Sub/index.html > /SUB/"},
		{"page", "sub/a", "ServerDependent 200 /sub/a = Sub/A.html"},
		{"exact_first", "a/X.html", "OK 200 /a/X.html = a/X.html"},
		{"missing", "Pic.gif", "MissingFile 404 /Pic.gif"},
	})
}

// A changed profile counts as another host.
func TestChangedProfile(t *testing.T) {
	p, _ := ProfileByName("nginx")
	for key, value := range map[string]string{"page": "serve", "page-file": "redirect", "deny": "secret*", "denied": "404", "slashes": "redirect"} {
		testkit.Check(t, p.Set(key, []string{value}))
	}
	table(t, testkit.Files{"a/page.html": page, "secret.html": page, "index.html": page}, Options{Profile: p}, "index.html", []row{
		{"page", "/a/page", "OK 200 /a/page = a/page.html"},
		{"page-file", "/a/page.html", "Redirect 200 /a/page.html = a/page.html > /a/page"},
		{"page-slash", "/a/page/", "MissingDirectory 404 /a/page/"},
		{"deny", "/secret.html", "Unreadable 404 /secret.html"},
		{"slashes", "/a//page", "Redirect 200 /a//page = a/page.html > /a/page"},
	})
}

// TestRuleFiles: the host's rule files decide, both in the docroot and in the
// project.
func TestRuleFiles(t *testing.T) {
	host := func(name string) Options {
		p, ok := ProfileByName(name)
		if !ok {
			t.Fatal(name)
		}
		return Options{Profile: p}
	}
	t.Run("netlify", func(t *testing.T) {
		table(t, testkit.Files{
			"_redirects": "/old /new.html\n/blog/* /posts/:splat 301\n/forced.html /new.html 302!\n/app/* /new.html 200\n/away https://other.example/x\n/twice /old\n/own https://example.org/new.html#top\n",
			"new.html":   page, "posts/a.html": page, "forced.html": page, "p.html": page, "blog/there.html": page,
		}, func() Options { o := host("netlify"); o.BaseURLs = []string{"https://example.org"}; return o }(), "p.html", []row{
			{"exact", "/old", "ViaRedirect 200 /old = new.html > /new.html"},
			{"splat", "/blog/a.html", "ViaRedirect 200 /blog/a.html = posts/a.html > /posts/a.html"},
			{"file_first", "/blog/there.html", "OK 200 /blog/there.html = blog/there.html"},
			{"forced", "/forced.html", "ViaRedirect 200 /forced.html = new.html > /new.html"},
			{"forced_relative", "forced.html", "ViaRedirect 200 /forced.html = new.html > /new.html"},
			{"rewrite", "/app/x/y", "OK 200 /app/x/y = new.html"},
			{"away", "/away", "RedirectsAway 0 /away > https://other.example/x"},
			{"chain", "/twice", "ViaRedirect 200 /twice = new.html > /new.html"},
			{"own_address", "/own", "ViaRedirect 200 /own = new.html > /new.html"},
			{"to_nothing", "/blog/gone", "MissingFile 404 /blog/gone > /posts/gone"},
		})
	})
	t.Run("apache", func(t *testing.T) {
		table(t, testkit.Files{
			".htaccess": "Redirect 301 /old /new.html\nRewriteEngine on\nRewriteRule ^r/(.*)$ /new.html [L]\nOptions +Indexes\nRewriteCond %{HTTP_HOST} !^www\nRewriteRule ^www$ /new.html [R]\n",
			"new.html":  page, "p.html": page, "list/x.txt": "", "d/.htaccess": "DirectoryIndex start.html\n", "d/start.html": page, "d/index.html": page, "d/e/start.html": page,
			"closed/.htaccess": "Options -Indexes\n", "closed/x.txt": "", "noslash/.htaccess": "DirectorySlash Off\n", "noslash/index.html": page,
		}, host("apache"), "p.html", []row{
			{"redirect", "/old", "ViaRedirect 200 /old = new.html > /new.html"},
			{"rewrite", "/r/x", "OK 200 /r/x = new.html"},
			{"host_unknown", "/www", "MissingFile 404 /www"},
			{"listing", "/list/", "Autoindex 200 /list/ = list"},
			{"no_listing", "/closed/", "MissingIndex 403 /closed/"},
			{"index", "/d/", "OK 200 /d/ = d/start.html"},
			{"index_inherited", "/d/e/", "OK 200 /d/e/ = d/e/start.html"},
			{"index_by_redirect", "d", "Redirect 200 /d = d/start.html > /d/"},
		})
	})
	t.Run("apache below a base path", func(t *testing.T) {
		o := host("apache")
		o.BaseURLs = []string{"https://example.org/blog/"}
		table(t, testkit.Files{
			".htaccess": "RewriteEngine on\nRewriteRule ^old$ new.html\nRewriteRule ^gone$ none.html\nRewriteRule ^root$ /new.html\n" +
				"Redirect /blog/moved /blog/new.html\nRedirect /top /blog/new.html\nRedirectMatch ^/blog/(a+)/$ https://example.org/blog/new.html\nRedirect /blog/away /\nRedirect 400 /blog/bad\n",
			"new.html": page, "p.html": page, "app/.htaccess": "FallbackResource start.html\n", "app/start.html": page,
		}, o, "p.html", []row{
			{"redirect", "moved", "ViaRedirect 200 /blog/moved = new.html > /blog/new.html"},
			{"redirect_of_host", "top", "MissingFile 404 /blog/top"},
			{"match", "aa/", "ViaRedirect 200 /blog/aa/ = new.html > /blog/new.html"},
			{"redirect_to_host", "away", "RedirectsAway 0 /blog/away > https://example.org/"},
			{"status", "bad", "MissingFile 400 /blog/bad"},
			{"relative", "old", "OK 200 /blog/old = new.html"},
			{"relative_to_nothing", "gone", "MissingFile 404 /blog/gone"},
			{"absolute", "root", "Proxied 0 /blog/root"},
			{"fallback", "app/x", "OK 200 /blog/app/x = app/start.html"},
		})
	})
	t.Run("apache with a host for each root", func(t *testing.T) {
		o := host("apache")
		o.Roots = []Root{{"fr", "https://fr.example/"}, {"de", "https://example.org/de/"}}
		rules := func(base string) string {
			return "Redirect " + base + "/old " + base + "/new.html\nRedirect /de/x /\nRewriteEngine on\nRewriteRule ^b(\\d)$ " + base + "/new.html\nRewriteRule ^c$ new.html [R]\n"
		}
		table(t, testkit.Files{
			"fr/.htaccess": rules(""), "fr/new.html": page, "fr/p.html": page, "fr/app/.htaccess": "FallbackResource /app/start.html\n", "fr/app/start.html": page,
			"de/.htaccess": rules("/de"), "de/new.html": page, "de/p.html": page, "new.html": page,
		}, o, "fr/p.html", []row{
			{"redirect", "/old", "ViaRedirect 200 /fr/old = fr/new.html > /fr/new.html"},
			{"redirect_with_docroot_path", "https://fr.example/de/x", "MissingIndex 403 /fr/de/x > /fr/"},
			{"rewrite", "b1", "OK 200 /fr/b1 = fr/new.html"},
			{"relative_redirect", "c", "ViaRedirect 200 /fr/c = fr/new.html > /fr/new.html"},
			{"fallback", "app/x", "OK 200 /fr/app/x = fr/app/start.html"},
			{"root_with_its_path", "https://example.org/de/old", "ViaRedirect 200 /de/old = de/new.html > /de/new.html"},
			{"rewrite_with_its_path", "https://example.org/de/b1", "OK 200 /de/b1 = de/new.html"},
		})
	})
	t.Run("netlify with a host for each root", func(t *testing.T) {
		o := host("netlify")
		o.Roots = []Root{{"fr", "https://fr.example/"}, {"de", "https://example.org/de/"}, {"en", "https://en.example/"}}
		files := testkit.Files{"fr/_redirects": "/old /new.html\n/app/* /new.html 200\n/gone /none.html\n", "fr/new.html": page, "fr/p.html": page,
			"de/_redirects": "/old /de/new.html\n", "de/new.html": page, "en/_redirects": "/old https://fr.example/new.html\n", "en/p.html": page}
		table(t, files, o, "fr/p.html", []row{
			{"redirect", "/old", "ViaRedirect 200 /fr/old = fr/new.html > /fr/new.html"},
			{"rewrite", "/app/x", "OK 200 /fr/app/x = fr/new.html"},
			{"not_the_top_of_its_host", "https://example.org/de/old", "MissingFile 404 /de/old"},
			{"to_another_root", "https://en.example/old", "ViaRedirect 200 /en/old = fr/new.html > /fr/new.html"},
		})
		faults := loadHost(t, testkit.MakeDocroot(t, files), o).RuleFaults()
		if len(faults) != 1 || faults[0].File != "fr/_redirects" || faults[0].Line != 3 {
			t.Errorf("faults %v", faults)
		}
		files["_redirects"] = "https://fr.example/* /fr/:splat 200!\n"
		table(t, files, o, "fr/p.html", []row{{"rules_of_all_hosts", "/old", "MissingFile 404 /fr/old"}})
	})
	t.Run("netlify below a base path", func(t *testing.T) {
		o := host("netlify")
		o.BaseURLs = []string{"https://example.org/caf%C3%A9/"}
		files := testkit.Files{
			"_redirects": "/old /caf%C3%A9/new.html\n/away /new.html\n/app/* /new.html 200\n/x/* /caf%C3%A9/x/:splat\n/gone /caf%C3%A9/none\n/small /caf%c3%a9/none\n", "new.html": page, "p.html": page,
		}
		table(t, files, o, "p.html", []row{
			{"redirect", "old", "ViaRedirect 200 /caf%C3%A9/old = new.html > /caf%C3%A9/new.html"},
			{"redirect_to_host", "away", "RedirectsAway 0 /caf%C3%A9/away > https://example.org/new.html"},
			{"rewrite", "app/x", "OK 200 /caf%C3%A9/app/x = new.html"},
			{"escapes_in_small_letters", "/caf%c3%a9/new.html", "OK 200 /caf%c3%a9/new.html = new.html"},
			{"needless_escape", "/%63af%C3%A9/new.html", "OK 200 /%63af%C3%A9/new.html = new.html"},
		})
		s := loadHost(t, testkit.MakeDocroot(t, files), o)
		var faults []string
		for _, f := range s.RuleFaults() {
			faults = append(faults, fmt.Sprint(f.Line, " ", f.Code))
		}
		if got := fmt.Sprint(faults, s.RulePaths()); got != "[4 redirect-loop 5 redirect-target-missing 6 redirect-target-missing] [/old /away /gone /small]" {
			t.Errorf("faults and paths %s", got)
		}
	})
	t.Run("project", func(t *testing.T) {
		project := t.TempDir()
		if err := os.WriteFile(filepath.Join(project, "vercel.json"), []byte(`{"cleanUrls": true, "redirects": [{"source": "/old/:x", "destination": "/new"}, {"source": "/a", "destination": "/gone"}]}`), 0o644); err != nil {
			t.Fatal(err)
		}
		o := host("vercel")
		o.Project = project
		table(t, testkit.Files{"new.html": page, "p.html": page}, o, "p.html", []row{
			{"clean", "/new", "OK 200 /new = new.html"},
			{"clean_file", "/new.html", "Redirect 200 /new.html = new.html > /new"},
			{"redirect", "/old/1", "ViaRedirect 200 /old/1 = new.html > /new"},
		})
		s := loadHost(t, testkit.MakeDocroot(t, testkit.Files{"new.html": page}), o)
		faults := s.RuleFaults()
		if len(faults) != 1 || faults[0].Code != "redirect-target-missing" || faults[0].Line != 1 || filepath.Base(faults[0].File) != "vercel.json" {
			t.Errorf("faults %+v", faults)
		}
		o.NoRuleFiles = true
		if s := loadHost(t, testkit.MakeDocroot(t, testkit.Files{"new.html": page}), o); s.Rules() != nil {
			t.Error("rule files were read")
		}
	})
	t.Run("other_host", func(t *testing.T) {
		table(t, testkit.Files{"_redirects": "/old /p.html\n", "p.html": page}, host("nginx"), "p.html", []row{
			{"not_read", "/old", "MissingFile 404 /old"},
		})
	})
}

// TestSymlinks: links that stay in the docroot are aliases of their target.
// Links that leave it are followed only to find out whether the file exists.
func TestSymlinks(t *testing.T) {
	fs := testkit.Files{
		"a/x.html": `<!doctype html><a id=x href=y.html>`, "a/y.html": page, "a/index.html": page, "up/top": "-> ..", "lnk": "-> a", "lnk.html": "-> a/x.html", "chain.html": "-> lnk.html",
		"abs": "-> ABSOLUTE", "broken.html": "-> nowhere", "broken-dir": "-> no/where", "loop.html": "-> loop.html", "loop1": "-> loop2", "loop2": "-> loop1",
		"b/index.html": "-> ../nowhere", "c/index.html": "-> ../a/x.html", "itself": "-> .",
	}
	for i := range 45 {
		fs[fmt.Sprintf("l%02d.html", i)] = fmt.Sprintf("-> l%02d.html", i+1)
	}
	fs["l45.html"] = page
	root := testkit.MakeDocroot(t, fs)
	os.Remove(filepath.Join(root, "abs"))
	testkit.AddFiles(t, root, testkit.Files{"abs": "-> " + filepath.Join(root, "a")})
	rows := []row{
		{"directory", "lnk/", "OK 200 /lnk/ = a/index.html"},
		{"directory_no_slash", "lnk", "Redirect 200 /lnk = a/index.html > /lnk/"},
		{"below_directory", "lnk/x.html", "OK 200 /lnk/x.html = a/x.html"},
		{"file", "lnk.html#x", "OK 200 /lnk.html = lnk.html # x"},
		{"chain", "chain.html", "OK 200 /chain.html = chain.html"},
		{"absolute", "abs/x.html", "OK 200 /abs/x.html = a/x.html"},
		{"up_to_the_root", "up/top/a/x.html", "OK 200 /up/top/a/x.html = a/x.html"},
		{"dots_are_gone_before", "lnk/../a/x.html", "OK 200 /a/x.html = a/x.html"},
		{"itself", "itself/itself/a/x.html", "OK 200 /itself/itself/a/x.html = a/x.html"},
		{"itself_too_often", strings.Repeat("itself/", 41) + "a/x.html", "BrokenSymlink 404 /" + strings.Repeat("itself/", 41) + "a/x.html"},
		{"itself_forty_times", strings.Repeat("itself/", 40) + "a/x.html", "OK 200 /" + strings.Repeat("itself/", 40) + "a/x.html = a/x.html"},
		{"broken", "broken.html", "BrokenSymlink 404 /broken.html"},
		{"broken_directory", "broken-dir/", "BrokenSymlink 404 /broken-dir/"},
		{"broken_below", "broken-dir/x.html", "BrokenSymlink 404 /broken-dir/x.html"},
		{"loop", "loop.html", "BrokenSymlink 404 /loop.html"},
		{"loop_of_two", "loop1", "BrokenSymlink 404 /loop1"},
		{"too_many", "l00.html", "BrokenSymlink 404 /l00.html"},
		{"just_forty", "l05.html", "OK 200 /l05.html = l05.html"},
		{"index_is_broken_symlink", "b/", "MissingIndex 403 /b/"},
		{"index_is_symlink", "c/", "OK 200 /c/ = c/index.html"},
	}
	testkit.AddFiles(t, root, testkit.Files{"p.html": page})
	s := loadHost(t, root, Options{})
	compareRows(t, s, "p.html", rows)
}
