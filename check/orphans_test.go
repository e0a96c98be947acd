package check

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/host"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/testkit"
)

func TestOrphans(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files files
		sopt  isite.Options
		from  []string
		want  string // paths, separated by blanks; "?" in front of an unreachable page
	}{
		{"LL-109/unlinked", files{"index.html": page("a.html"), "a.html": plain, "old.html": plain, "old.gif": ""}, isite.Options{}, nil, "old.gif old.html"},
		{"LL-109/whole_directory", files{"index.html": plain, "d/index.html": page("b.html"), "d/b.html": plain}, isite.Options{}, nil, "?d/b.html d/index.html"},
		{"LL-109/index_file", files{"index.html": page("sub/"), "sub/index.html": page("/")}, isite.Options{}, nil, ""},
		{"LL-109/second_index", files{"index.html": page("sub/"), "sub/home.html": plain, "sub/index.html": plain}, isite.Options{Profile: host.Linklint}, nil, "sub/index.html"},
		{"LL-109/link_to_itself", files{"index.html": plain, "a.html": page("a.html", "#x")}, isite.Options{}, nil, "a.html"},
		{"LL-109/listing", files{"index.html": page("noidx/"), "noidx/a.txt": "", "noidx/.b.txt": "", "noidx/in/c.txt": "", "noidx/d/index.html": plain, "x/e.txt": ""},
			isite.Options{Profile: host.Linklint}, nil, "x/e.txt"},
		{"LL-109/refused_listing", files{"index.html": page("noidx/"), "noidx/a.txt": ""}, isite.Options{}, nil, "noidx/a.txt"},
		{"LL-109/wrong_case", files{"index.html": page("Pic.PNG"), "pic.png": ""}, isite.Options{}, nil, ""},
		{"LL-109/circle", files{"index.html": plain, "a.html": page("b.html"), "b.html": page("a.html", "i.gif"), "i.gif": ""}, isite.Options{}, nil, "?a.html ?b.html"},
		{"LL-109/no_home_page", files{"a.html": page("b.html"), "b.html": page("a.html"), "c.html": plain}, isite.Options{}, nil, "c.html"},
		{"LL-109/linksets", files{"index.html": plain, "d/index.html": page("a.html"), "d/a.html": plain, "d/b.html": plain, "e/c.html": plain}, isite.Options{},
			[]string{"/d/@"}, "d/b.html"},
		{"LL-109/reached_outside_the_linksets", files{"d/index.html": page("/e.html"), "e.html": page("/d/a.html"), "d/a.html": plain}, isite.Options{}, []string{"/d/@"}, ""},
		{"asked_by_name", files{"index.html": plain, "robots.txt": "", "favicon.ico": "", "404.html": plain, "de/404.html": plain, "sitemap.xml": "", "CNAME": "",
			".well-known/x": "", "_redirects": "", "sub/robots.txt": "", "google0123.html": plain}, isite.Options{}, nil, "sub/robots.txt"},
		{"copies", files{"index.html": page("a.js"), "a.js": "", "a.js.gz": "", "a.js.br": "", "a.js.map": "", "b.gz": "", "b.js.map": "", "c.css.map": ""}, isite.Options{}, nil,
			"b.gz b.js.map c.css.map"},
		{"svg_is_no_page", files{"index.html": plain, "i.svg": "<svg/>"}, isite.Options{}, nil, "i.svg"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := load(t, tempDocroot(t, tc.files), tc.sopt)
			all := testkit.Must(Orphans(context.Background(), handle(s), tc.from))(t)
			var got []string
			for _, o := range all {
				mark := ""
				if o.Linked {
					mark = "?"
				}
				got = append(got, mark+o.Path)
				if want := strings.HasSuffix(o.Path, ".html"); o.IsPage != want {
					t.Errorf("%s: IsPage is %t", o.Path, o.IsPage)
				}
			}
			if g := strings.Join(got, " "); g != tc.want {
				t.Errorf("got %q, want %q", g, tc.want)
			}
		})
	}
}

// TestAliases: LL-109, a page with a meta refresh is listed with the page that
// it leads to, and does not count as a finding.
func TestAliases(t *testing.T) {
	s := load(t, tempDocroot(t, files{
		"index.html": plain, "old/index.html": plain + `<link rel=canonical href=/><meta http-equiv=refresh content="0; url=/new.html">`, "new.html": plain,
	}), isite.Options{})
	all := testkit.Must(Orphans(context.Background(), handle(s), nil))(t)
	if len(all) != 2 || all[0].Path != "new.html" || !all[0].Linked || all[1].Path != "old/index.html" || all[1].Alias != "/new.html" {
		t.Errorf("got %+v", all)
	}
	compareBriefs(t, run(t, s, Options{Orphans: true}).Findings, "new.html:0:0 warning unreachable")
}

// TestOrphansSymlink: a link to a symbolic link also uses its target.
func TestOrphansSymlink(t *testing.T) {
	root := tempDocroot(t, files{"index.html": page("a.txt"), "real.txt": ""})
	if err := os.Symlink("real.txt", filepath.Join(root, "a.txt")); err != nil {
		t.Skip(err)
	}
	all, err := Orphans(context.Background(), handle(load(t, root, isite.Options{})), nil)
	if err != nil || len(all) != 0 {
		t.Errorf("got %+v, %v", all, err)
	}
}

// TestOrphansIgnored: an ignore rule accepts orphans like any other finding.
func TestOrphansIgnored(t *testing.T) {
	fs := files{"index.html": plain, "a/b.html": plain, "c.html": plain}
	r := checkFiles(t, fs, isite.Options{}, Options{Orphans: true, Ignore: []Ignore{{Page: "a/**", Code: Orphan}}})
	compareBriefs(t, r.Findings, "c.html:0:0 warning orphan")
	if r.Summary.FileWarnings != 1 || !r.HasWarnings() || r.HasErrors() || len(r.Summary.UnusedIgnores) != 0 {
		t.Errorf("%+v", r.Summary)
	}
}

// TestListsAreNoWay: sitemaps and feeds are for programs, so a page that only
// they link to is an orphan. Style sheets, image maps and manifests count as
// part of a page.
func TestListsAreNoWay(t *testing.T) {
	fs := files{
		"index.html": plain + "<link rel=stylesheet href=s.css><link rel=manifest href=app.json>",
		"s.css":      "a{background:url(i.png)}", "i.png": "", "app.json": `{"icons":[{"src":"icon.png"}]}`, "icon.png": "",
		"sitemap.xml": `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://example.org/sub/a.html</loc></url></urlset>`,
		"feed.xml":    `<rss version="2.0"><channel><item><link>https://example.org/sub/b.html</link></item></channel></rss>`,
		"a.html":      plain, "b.html": plain,
	}
	r := checkFiles(t, fs, exampleOrg, Options{Orphans: true})
	compareBriefs(t, r.Findings, "a.html:0:0 warning orphan", "b.html:0:0 warning orphan", "feed.xml:0:0 warning orphan")
}
