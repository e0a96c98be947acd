package site

import (
	"slices"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
)

// seedIndex are the default index files of LL-77, in the seed's order.
var seedIndex = []string{"home.html", "index.html", "index.shtml", "index.htm", "index.cgi", "wwwhome.html", "welcome.html"}

// TestIndexOrder: LL-77. Of the seven names, the first in the list answers;
// each is tried with all later ones beside it.
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

// TestIndexFiles proves the rest of "Default Index Files", under the profile
// that reads them as the seed did and under the one that answers as today's
// servers do.
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
		{"LL-82/generic_redirects_as_nginx", files{"d/index.html/index.html": plain}, Options{}, []row{
			{"link", "d/", "ServerDependent 200 /d/ = d/index.html/index.html > /d/index.html/"},
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
// directory and, by the same rule, of those below: an image map among them is
// parsed. Names that begin with a dot are not listed (LL-79).
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

// TestLinksOfIndexFile: LL-86, links inside an index file resolve against the
// directory, which is parsed once and answers for both addresses (A-LL-2).
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

// TestProfiles: what --profile takes is found by name, and nothing else is.
func TestProfiles(t *testing.T) {
	for _, p := range host.Profiles() {
		if got, ok := host.ProfileByName(p.Name); !ok || got.Name != p.Name {
			t.Errorf("%s: got %v, %t", p.Name, got.Name, ok)
		}
	}
	if _, ok := host.ProfileByName("Generic"); ok {
		t.Error("Generic is a profile, want generic only")
	}
}
