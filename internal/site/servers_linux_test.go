package site

import (
	"cmp"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/hostcases"
)

// serverTables are the answers that TestServerAnswers of cmd/sitelink recorded.
var serverTables = map[string]host.Autoindex{"plain": host.AutoindexError, "listing": host.AutoindexList}

// TestServers: for every path edge case, the profile of each server gives the
// server's answer, and generic gives that of nginx: status, and path after
// redirects.
//
// Among the cases are LL-70 (dot segments), LL-73 (percent escapes are decoded
// once), LL-84 (absent directories) and LL-110 (letter case).
func TestServers(t *testing.T) {
	docroot := pathDocroot(t)
	cases := hostcases.Cases()
	for name, autoindex := range serverTables {
		text, err := os.ReadFile(filepath.Join("testdata", "servers", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		table, err := hostcases.ParseTable(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, profile := range append(slices.Clone(table.Servers), host.Generic.Name) {
			t.Run(profile+"/"+name, func(t *testing.T) {
				server := profile
				if server == host.Generic.Name {
					server = "nginx"
				}
				answers := table.Of(server)
				p, ok := host.ProfileByName(profile)
				if !ok {
					t.Fatalf("no profile %s", profile)
				}
				s, err := Load(t.Context(), docroot, Options{Profile: p, Autoindex: autoindex})
				if err != nil {
					t.Fatal(err)
				}
				all := details(t, s, hostcases.Page)
				records := s.Page(pageID(t, s, hostcases.Page)).All()
				if len(all) != len(cases) {
					t.Fatalf("%d links on the page, want %d", len(all), len(cases))
				}
				differ := 0
				for i, c := range cases {
					key := hostcases.Key(c.Target)
					want, ok := answers[key]
					if !ok {
						t.Fatalf("%s was never requested", key)
					}
					d := &all[i]
					got := hostcases.Answer{Status: d.Status, Final: hostcases.Key(cmp.Or(d.Final, d.Target))}
					if d.Target != c.Target || !hostcases.Agrees(server, c.Target, got, want) {
						differ++
						t.Errorf("%s: got %d %s, but %s answered %v", key, got.Status, got.Final, server, want)
					}
					if d.State.IsError() != (d.Status < 200 || d.Status >= 300) && d.State != host.StatePrivate {
						t.Errorf("%s: state %s with status %d", key, stateName(t, d.State), d.Status)
					}
					if state := s.State(&records[i]); state != d.State {
						t.Errorf("%s: the record has %s, but the detail has %s", key, stateName(t, state), stateName(t, d.State))
					}
				}
				if differ > 0 {
					t.Errorf("%d of %d predictions differ", differ, len(cases))
				}
			})
		}
	}
}

// pathDocroot creates the docroot of path edge cases.
func pathDocroot(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	docroot, err := hostcases.Make(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hostcases.Unlock(docroot) }) // else t.TempDir cannot remove it
	page := []byte("<!doctype html><meta charset=utf-8><title>links</title>\n")
	for _, c := range hostcases.Cases() {
		page = fmt.Appendf(page, "<a href=\"%s\">x</a>\n", html.EscapeString(c.Href))
	}
	if err := os.WriteFile(filepath.Join(docroot, hostcases.Page), page, 0o644); err != nil {
		t.Fatal(err)
	}
	return docroot
}

// serverRows are the kinds of request on which nginx, Apache, Caddy and
// lighttpd disagree, in this order, and some on which they agree. An answer is
// the final status and, after redirects, the final request after ">".
var serverRows = []struct {
	row      string
	requests string
	want     [4]string
}{
	{"directory_without_index", "/no-index/ /empty-dir/", [4]string{"403", "403", "404", "403"}},
	{"directory_without_index_and_slash", "/no-index", [4]string{"403>/no-index/", "403>/no-index/", "404", "403>/no-index/"}},
	{"only_index_txt", "/with-txt/", [4]string{"403", "403", "200", "403"}},
	{"index_is_unreadable", "/index-unreadable", [4]string{"403>/index-unreadable/", "403>/index-unreadable/", "403>/index-unreadable/", "403>/index-unreadable/"}},
	{"unlistable_directory_with_slash", "/no-list/", [4]string{"200", "200", "200", "200"}},
	{"query_on_a_directory", "/with-index?q=1", [4]string{"200>/with-index/?q=1", "200>/with-index/?q=1", "200>/with-index/", "200>/with-index/?q=1"}},
	{"percent_in_a_redirect", "/%2541-dir", [4]string{"200>/%2541-dir/", "200>/%2541-dir/", "404>/%41-dir/", "200>/%2541-dir/"}},
	{"question_mark_in_a_redirect", "/q%3F-dir", [4]string{"200>/q%3F-dir/", "200>/q%3F-dir/", "404>/q?-dir/", "200>/q%3F-dir/"}},
	{"slash_or_path_after_a_file", "/plain.html/ /plain.html/x /x.php/info //plain.html/", [4]string{"404", "404", "404", "200"}},
	{"slash_after_an_unreadable_file", "/unreadable.html/", [4]string{"404", "404", "404", "403"}},
	{"encoded_slash", "/with-index%2Findex.html /%2Fplain.html /with-index%2F", [4]string{"200", "404", "200", "200"}},
	{"encoded_slash_and_no_index", "/no-index%2F", [4]string{"403", "404", "404", "403"}},
	{"encoded_slash_after_a_file", "/plain.html%2F /plain.html%2Fx", [4]string{"404", "404", "404", "200"}},
	{"encoded_dots_inside_the_root", "/with-index/..%2Fplain.html /missing/..%2Fplain.html", [4]string{"200", "404", "200", "200"}},
	{"encoded_dots_above_the_root", "/..%2Fplain.html /%2e%2e%2f", [4]string{"400", "404", "200", "200"}},
	{"encoded_dots_to_what_lies_outside", "/..%2Foutside/out.html", [4]string{"400", "404", "404", "404"}},
	{"bad_percent_sign", "/plain.html% /%g0", [4]string{"400", "400", "400", "404"}},
	{"bad_percent_sign_in_a_name", "/100%.html /%zz.html /operator%.html", [4]string{"400", "400", "400", "200"}},
	{"bad_percent_sign_in_a_query", "/plain.html?%zz", [4]string{"200", "200", "200", "200"}},
	{"other_bytes_that_are_no_UTF-8", "/caf%E9-latin1.html", [4]string{"200", "200", "200", "200"}},
	{"name_that_begins_with_ht", "/.htaccess /.hta.html /.html", [4]string{"200", "403", "200", "200"}},
	{"missing_name_that_begins_with_ht", "/.ht-missing /no-index/.htnone", [4]string{"404", "403", "404", "404"}},
	{"other_hidden_files", "/.hidden /.git/config /.well-known/security.txt", [4]string{"200", "200", "200", "200"}},
	{"symlink_out_of_the_docroot", "/outside-link.html /outside-dir/", [4]string{"200", "200", "200", "200"}},
	{"path_after_a_file_out_of_the_docroot", "/outside-link.html/x", [4]string{"404", "404", "404", "200"}},
	{"unreadable_file", "/unreadable.html /no-search/a.html", [4]string{"403", "403", "403", "403"}},
	{"letter_case_LL-110", "/Plain.html /plain.HTML /case-dir/", [4]string{"404", "404", "404", "404"}},
	{"merged_slashes", "//plain.html /with-index//index.html", [4]string{"200", "200", "200", "200"}},
	{"merged_slashes_of_a_directory", "//with-index", [4]string{"200>/with-index/", "200>/with-index/", "200>/with-index/", "200>/with-index/"}},
	{"encoded_backslash", "/with-index%5Cindex.html", [4]string{"404", "404", "404", "404"}},
	{"final_dot_or_space", "/plain.html. /plain.html%20", [4]string{"404", "404", "404", "404"}},
	{"no_html_added", "/plain /clean.htm", [4]string{"404", "404", "404", "404"}},
	{"any_suffix_as_it_is", "/page.shtml /page.var /x.php /page.html.en /noext", [4]string{"200", "200", "200", "200"}},
	{"empty_file", "/empty.html", [4]string{"200", "200", "200", "200"}},
}

// TestServerRows: each profile gives the measured answer to each kind of
// request.
func TestServerRows(t *testing.T) {
	docroot := pathDocroot(t)
	for i, name := range []string{"nginx", "apache", "caddy", "lighttpd"} {
		p, ok := host.ProfileByName(name)
		if !ok {
			t.Fatalf("no profile %s", name)
		}
		s, err := Load(t.Context(), docroot, Options{Profile: p})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range serverRows {
			t.Run(name+"/"+row.row, func(t *testing.T) {
				for request := range strings.FieldsSeq(row.requests) {
					path, query := request, ""
					if at := strings.IndexByte(request, '?'); at >= 0 {
						path, query = request[:at], request[at:]
					}
					a := s.AnswerRequest(path, query)
					got := fmt.Sprint(a.Status)
					if a.Final != "" {
						got += ">" + a.Final
					}
					if got != row.want[i] {
						t.Errorf("%.100s: got %s, want %s", request, got, row.want[i])
					}
				}
			})
		}
	}
}

// TestPortable: if generic, which follows nginx, has no warning for a link,
// Apache, Caddy and lighttpd answer it too.
func TestPortable(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "servers", "plain.txt"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := hostcases.ParseTable(text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Load(t.Context(), pathDocroot(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]map[string]hostcases.Answer{}
	for _, server := range table.Servers {
		answers[server] = table.Of(server)
	}
	all := details(t, s, hostcases.Page)
	fine := 0
	for i, c := range hostcases.Cases() {
		d, key := &all[i], hostcases.Key(c.Target)
		if d.State.IsError() || d.State.IsWarning() {
			continue
		}
		fine++
		for _, server := range table.Servers {
			if a := answers[server][key]; a.Status != 200 && !hostcases.Peculiar(server, c.Target) {
				t.Errorf("%s: no warning, but %s answers %d", key, server, a.Status)
			}
		}
	}
	if fine < 500 {
		t.Errorf("%d links without a warning, want 500 or more", fine)
	}
}
