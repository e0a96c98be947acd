package site

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
)

// TestMapFiles proves which files are read as server-side image maps, and
// what they link to.
func TestMapFiles(t *testing.T) {
	tests := []struct {
		name, file, text string
		want             []string // answers to the links of the file; nil: not parsed
	}{
		{"LL-88/parsed", "maps/m.map", "rect /a.html 19,12 75,75\n", []string{"OK 200 /a.html = a.html"}},
		{"LL-88/upper_case_suffix", "maps/M.MAP", "rect /a.html 19,12 75,75\n", []string{"OK 200 /a.html = a.html"}},
		{"LL-88/script_source_map", "app.js.map", "rect /a.html 19,12 75,75\n", nil},
		{"LL-88/module_source_map", "app.mjs.map", "rect /a.html 19,12 75,75\n", nil},
		{"LL-88/style_source_map", "app.css.map", "rect /a.html 19,12 75,75\n", nil},
		{"LL-88/json", "bundle.map", `{"version":3,"sources":["/a.html"]}`, []string{}},
		{"LL-95/rect_absolute", "m.map", "rect http://h/x 0,0 1,1\n", []string{"External 0 http://h/x"}},
		{"LL-95/path_targets_today", "m.map", "rect /gone.html 0,0 1,1\n", []string{"MissingFile 404 /gone.html"}},
		{"LL-95/comments_skipped_today", "m.map", "# see http://h/c\nrect /a.html 0,0 1,1\n", []string{"OK 200 /a.html = a.html"}},
		{"LL-96/all_shapes", "m.map", "default /a.html\ncircle /a.html 1,1 2,2\nrect /a.html 1,1 2,2\npoly /a.html 1,1 2,2 3,3\npoint /gone.html 1,1\noval /a.html 1,1 2,2\n",
			[]string{"OK 200 /a.html = a.html", "OK 200 /a.html = a.html", "OK 200 /a.html = a.html", "OK 200 /a.html = a.html", "MissingFile 404 /gone.html", "OK 200 /a.html = a.html"}},
		{"LL-96/nocontent_is_no_link", "m.map", "default nocontent\nrect /a.html 1,1 2,2\n", []string{"OK 200 /a.html = a.html"}},
		{"LL-96/base", "maps/m.map", "base /dir/\nrect b.html 1,1 2,2\n", []string{"OK 200 /dir/b.html = dir/b.html"}},
		{"LL-96/base_uri", "maps/m.map", "base_uri /dir/\nrect b.html 1,1 2,2\n", []string{"OK 200 /dir/b.html = dir/b.html"}},
		{"LL-96/relative_to_the_map_file", "dir/m.map", "rect b.html 1,1 2,2\n", []string{"OK 200 /dir/b.html = dir/b.html"}},
		{"LL-97/all_shapes", "m.map", "default /a.html\ncircle (1,1) 5 /a.html\nrectangle (1,1) (2,2) /a.html\npolygon (1,2) (3,4) (5,6) /dir/b.html\n",
			[]string{"OK 200 /a.html = a.html", "OK 200 /a.html = a.html", "OK 200 /a.html = a.html", "OK 200 /dir/b.html = dir/b.html"}},
		{"LL-97/short_names", "m.map", "def /a.html\ncirc (1,1) 5 /a.html\nrect (1,1) (2,2) /gone.html\npoly (1,2) (3,4) /dir/b.html\n",
			[]string{"OK 200 /a.html = a.html", "OK 200 /a.html = a.html", "MissingFile 404 /gone.html", "OK 200 /dir/b.html = dir/b.html"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			s := loadFiles(t, files{"p.html": `<a href="/` + tc.file + `"><img ismap src=i.gif></a>`, "i.gif": "", tc.file: tc.text, "a.html": plain, "dir/b.html": plain}, Options{})
			n, ok := s.Lookup(tc.file)
			if !ok {
				t.Fatal("the map file is not there")
			}
			_, parsed := s.PageOf(n)
			if parsed != (tc.want != nil) {
				t.Fatalf("parsed: %t, want %t", parsed, tc.want != nil)
			}
			if !parsed {
				return
			}
			got := []string{}
			for _, d := range details(t, s, tc.file) {
				got = append(got, answerOf(t, s, &d))
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
		})
	}
}

// TestMapFilesFromDocroot: LL-89, a map file is read from the docroot however
// it is addressed; one that nothing links to is no image map.
func TestMapFilesFromDocroot(t *testing.T) {
	const m = "rect /gone.html 0,0 1,1\n"
	s := loadFiles(t, files{"p.html": `<a href="http://example.org/m.map">`, "m.map": m, "unlinked.map": m}, Options{BaseURLs: []string{"https://example.org/"}})
	if d := details(t, s, "m.map"); len(d) != 1 || d[0].State != host.StateMissingFile {
		t.Errorf("LL-89: %+v", d)
	}
	if n, _ := s.Lookup("unlinked.map"); s.tree.Nodes[n].Page != 0 {
		t.Error("LL-88: a map file without link was parsed")
	}
}

// TestMapFilePlace: a link of a map file knows its line and column, and the
// lines that cannot be read are named.
func TestMapFilePlace(t *testing.T) {
	s := loadFiles(t, files{"p.html": `<a href=m.map>`, "m.map": "# x\r\n  rect /gone.html 0,0 1,1\nwhat is this\ndefault\n"}, Options{})
	d := details(t, s, "m.map")
	if len(d) != 1 || d[0].Line != 2 || d[0].Column != 8 || d[0].Offset != 12 || d[0].Raw != "/gone.html" || d[0].Element != "" {
		t.Errorf("got %+v, want line 2, column 8, offset 12", d)
	}
	if bad := s.Page(pageID(t, s, "m.map")).BadLines(); !slices.Equal(bad, []int{3, 4}) {
		t.Errorf("bad lines %v, want 3 and 4", bad)
	}
}

// TestMapRules proves --map.
func TestMapRules(t *testing.T) {
	fs := files{"dir/info.map": "rect /gone.html 0,0 1,1\n", "new.html": plain, "b/x.html": plain, "imagemap.exe/x.map": "", "q/x.html": plain, "cgi-bin/imagemapper": ""}
	tests := []struct {
		name  string
		rules []host.MapRule
		rows  []row
	}{
		{"LL-90/prefix_removed", []host.MapRule{{From: "/cgi-bin/imagemap"}}, []row{
			{"call", "/cgi-bin/imagemap/dir/info.map", "OK 200 /cgi-bin/imagemap/dir/info.map = dir/info.map"},
			{"query_and_fragment", "/cgi-bin/imagemap/dir/info.map?1,2#f", "OK 200 /cgi-bin/imagemap/dir/info.map?1,2 = dir/info.map # f"},
			{"relative_link", "cgi-bin/imagemap/new.html", "OK 200 /cgi-bin/imagemap/new.html = new.html"},
		}},
		{"LL-90/without_the_option", nil, []row{
			{"call", "/cgi-bin/imagemap/dir/info.map", "MissingFile 404 /cgi-bin/imagemap/dir/info.map"},
		}},
		{"LL-91/replaced", []host.MapRule{{From: "/old/x.html", To: "/new.html"}, {From: "/a", To: "/b"}}, []row{
			{"file", "/old/x.html", "OK 200 /old/x.html = new.html"},
			{"directory", "/a/x.html", "OK 200 /a/x.html = b/x.html"},
			{"second_rule_too", "/a/x.html?q", "OK 200 /a/x.html?q = b/x.html"},
			{"no_rule", "/new.html", "OK 200 /new.html = new.html"},
		}},
		{"LL-92/slash_added", []host.MapRule{{From: "cgi-bin/htimage"}, {From: "/cgi-bin/imagemap"}, {From: "/cgi-bin/imagemap.exe/"}}, []row{
			{"htimage", "/cgi-bin/htimage/dir/info.map", "OK 200 /cgi-bin/htimage/dir/info.map = dir/info.map"},
			{"imagemap", "/cgi-bin/imagemap/dir/info.map", "OK 200 /cgi-bin/imagemap/dir/info.map = dir/info.map"},
			{"imagemap_exe", "/cgi-bin/imagemap.exe/dir/info.map", "OK 200 /cgi-bin/imagemap.exe/dir/info.map = dir/info.map"},
		}},
		{"LL-93/whole_segments", []host.MapRule{{From: "/cgi-bin/imagemap"}}, []row{
			{"longer_name", "/cgi-bin/imagemap.exe/dir/info.map", "MissingFile 404 /cgi-bin/imagemap.exe/dir/info.map"},
			{"file_of_longer_name", "/cgi-bin/imagemapper", "OK 200 /cgi-bin/imagemapper = cgi-bin/imagemapper"},
		}},
		{"LL-93/longest_first", []host.MapRule{{From: "/p", To: "/nowhere"}, {From: "/p/deep", To: "/b"}}, []row{
			{"deep", "/p/deep/x.html", "OK 200 /p/deep/x.html = b/x.html"},
		}},
		{"LL-93/repeats", []host.MapRule{{From: "/one", To: "/two"}, {From: "/two", To: "/b"}}, []row{
			{"twice", "/one/x.html", "OK 200 /one/x.html = b/x.html"},
		}},
		{"LL-93/circle", []host.MapRule{{From: "/p", To: "/q"}, {From: "/q", To: "/p"}}, []row{
			{"ends", "/p/x.html", "MappingLoop 0 /p/x.html"},
			{"others_untouched", "/new.html", "OK 200 /new.html = new.html"},
		}},
		{"LL-93/growing", []host.MapRule{{From: "/old", To: "/old/x"}}, []row{
			{"ends", "/old/a.html", "MappingLoop 0 /old/a.html"},
		}},
		{"LL-93/itself", []host.MapRule{{From: "/b", To: "/b"}}, []row{
			{"ends", "/b/x.html", "MappingLoop 0 /b/x.html"},
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) { table(t, fs, Options{Maps: tc.rules}, "p.html", tc.rows) })
	}
}

// TestMappedMapIsParsed: LL-90, the map file that a rule leads to is read.
func TestMappedMapIsParsed(t *testing.T) {
	fs := files{"p.html": `<a href=/cgi-bin/imagemap/dir/info.map>`, "dir/info.map": "rect /gone.html 0,0 1,1\n"}
	s := loadFiles(t, fs, Options{Maps: []host.MapRule{{From: "/cgi-bin/imagemap"}}})
	if d := details(t, s, "dir/info.map"); len(d) != 1 || d[0].State != host.StateMissingFile {
		t.Errorf("LL-90: %+v", d)
	}
	s = loadFiles(t, fs, Options{})
	if s.Pages() != 1 {
		t.Errorf("LL-90: %d pages without the rule, want 1", s.Pages())
	}
}

// TestMapsUnderWrongRoot: LL-94, with the wrong docroot a map is missing and
// nothing worse happens.
func TestMapsUnderWrongRoot(t *testing.T) {
	root := tempDocroot(t, files{"sub/p.html": `<a href=/maps/m.map>`, "maps/m.map": "rect /a.html 0,0 1,1\n"})
	s := load(t, root+"/sub", Options{})
	if d := details(t, s, "p.html"); d[0].State != host.StateMissingFile {
		t.Errorf("LL-94: got %s", answerOf(t, s, &d[0]))
	}
	if _, err := Load(context.Background(), root+"/maps", Options{}); !errors.Is(err, ErrNoPages) {
		t.Errorf("LL-94: got %v, want %v", err, ErrNoPages)
	}
}

// TestClientSideMap: LL-87, the areas of a map are links and nothing more is
// needed.
func TestClientSideMap(t *testing.T) {
	s := loadFiles(t, files{"p.html": `<!doctype html><map name=m><area href=b.html></map><img src=i.gif usemap="#m">`, "b.html": plain, "i.gif": ""}, Options{})
	d := details(t, s, "p.html")
	for i, want := range []string{"OK 200 /b.html = b.html", "OK 200 /i.gif = i.gif", "OK 200 /p.html = p.html # m"} {
		if got := answerOf(t, s, &d[i]); got != want {
			t.Errorf("LL-87: got %s, want %s", got, want)
		}
	}
}
