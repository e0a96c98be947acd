package check

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/testkit"

	isite "github.com/sitelink/sitelink/internal/site"
)

// page returns a page with links.
func page(links ...string) string {
	return plain + "<a href='" + strings.Join(links, "'></a><a href='") + "'></a>"
}

// steps returns the steps of a walk, each as "check /path".
func steps(t *testing.T, s *isite.Site, opt Options) []string {
	t.Helper()
	all := testkit.Must(Walk(context.Background(), handle(s), opt))(t)
	var out []string
	for _, st := range all {
		out = append(out, st.Kind.String()+" "+st.Path)
	}
	return out
}

// interlinked is the docroot of LL-8, in which all pages link to each other.
func interlinked() files {
	all := []string{"/", "/index.html", "/a.html", "/sub/", "/sub/index.html", "/sub/b.html", "/sub/deep/c.html", "/sub2/d.html"}
	fs := files{}
	for _, name := range []string{"index.html", "a.html", "sub/index.html", "sub/b.html", "sub/deep/c.html", "sub2/d.html"} {
		fs[name] = page(all...)
	}
	return fs
}

func TestReach(t *testing.T) {
	abc := files{
		"index.html": page("/a/x.html", "/b/y.html", "/c/z.html"), "a/x.html": page("/b/y.html"), "b/y.html": page("/c/z.html"),
		"c/z.html": page("/a/x.html"), "a/index.html": page("x.html", "/b/"), "b/index.html": page("y.html", "/"),
	}
	for _, tc := range []struct {
		name  string
		files files
		sopt  isite.Options
		opt   Options
		want  string // steps, separated by commas
	}{
		{"LL-1/any_of_several", abc, isite.Options{}, Options{From: []string{"/a/@", "/b/@"}},
			"check /a/,check /b/,check /a/x.html,check /b/y.html,skip /,skip /c/z.html"},
		{"LL-8/home", interlinked(), isite.Options{}, Options{From: []string{"/"}},
			"check /,skip /a.html,skip /sub/,skip /sub/b.html,skip /sub/deep/c.html,skip /sub2/d.html"},
		{"LL-8/root", interlinked(), isite.Options{}, Options{From: []string{"/#"}},
			"check /,check /a.html,skip /sub/,skip /sub/b.html,skip /sub/deep/c.html,skip /sub2/d.html"},
		{"LL-8/directory", interlinked(), isite.Options{}, Options{From: []string{"/sub/#"}},
			"check /sub/,skip /,skip /a.html,check /sub/b.html,skip /sub/deep/c.html,skip /sub2/d.html"},
		{"LL-8/below", interlinked(), isite.Options{}, Options{From: []string{"/sub/@"}},
			"check /sub/,skip /,skip /a.html,check /sub/b.html,check /sub/deep/c.html,skip /sub2/d.html"},
		{"LL-8/site", interlinked(), isite.Options{}, Options{From: []string{"/@"}},
			"check /,check /a.html,check /sub/,check /sub/b.html,check /sub/deep/c.html,check /sub2/d.html"},
		{"LL-9/address_not_file", files{"index.html": page("/sub/"), "sub/index.html": page("/gone.html")}, isite.Options{}, Options{From: []string{"/", "/#ub/index.html"}},
			"check /,skip /sub/"},
		{"LL-9/the_other_address", files{"index.html": page("/sub/", "/sub/index.html"), "sub/index.html": page("/gone.html")}, isite.Options{},
			Options{From: []string{"/", "/#ub/index.html"}}, "check /,skip /sub/,check /sub/index.html"},
		{"A-LL-2/parsed_once", files{"index.html": page("/", "/index.html", "index.html#x")}, isite.Options{}, Options{From: []string{"/@"}}, "check /"},
		{"LL-15/sorted_and_once", abc, isite.Options{}, Options{From: []string{"/b/@", "/a/@", "/a/#"}, Limit: 2},
			"check /a/,check /b/,limit /a/x.html,limit /b/y.html,skip /"},
		{"LL-16/directory_without_slash", files{"sub/index.html": plain}, isite.Options{}, Options{From: []string{"/sub"}}, "follow /sub/"},
		{"A-LL-1/seed_followed", files{"index.html": page("/a.html", "/a.txt"), "a.html": plain, "a.txt": ""}, isite.Options{}, Options{From: []string{"/@.html"}},
			"follow /,check /a.html"},
		{"A-LL-1/two_wildcards", files{"index.html": page("/sx/b.html"), "sx/b.html": plain}, isite.Options{}, Options{From: []string{"/s@/#"}},
			"follow /,check /sx/b.html"},
		{"LL-17/circle", files{"index.html": page("a.html"), "a.html": page("b.html"), "b.html": page("index.html")}, isite.Options{}, Options{From: []string{"/@"}},
			"check /,check /a.html,check /b.html"},
		{"LL-17/unreached", files{"index.html": plain, "a.html": plain}, isite.Options{}, Options{From: []string{"/@"}}, "check /"},
		{"LL-19/local_only", files{"index.html": page("http://h.example/a.html", "//h.example/a.html", "http://www.example.com/b.html"), "a.html": plain, "b.html": plain},
			isite.Options{BaseURLs: []string{"http://www.example.com/"}}, Options{From: []string{"/@"}}, "check /,check /b.html"},
		{"LL-20/no_links_collected", files{"index.html": page("/sub/b.html"), "sub/b.html": page("/c.html"), "c.html": plain}, isite.Options{}, Options{From: []string{"/#"}},
			"check /,skip /sub/b.html"},
		{"LL-22/skip", interlinked(), isite.Options{}, Options{From: []string{"/@"}, Skip: []string{"/sub/@", "/a.html"}},
			"check /,skip /a.html,skip /sub/,skip /sub/b.html,skip /sub/deep/c.html,check /sub2/d.html"},
		{"LL-22/without_linksets", interlinked(), isite.Options{}, Options{Skip: []string{"/sub/@"}},
			"check /a.html,check /,skip /sub/b.html,skip /sub/deep/c.html,skip /sub/,check /sub2/d.html"},
		{"LL-22/seed", files{"index.html": page("a.html"), "a.html": plain}, isite.Options{}, Options{From: []string{"/@"}, Skip: []string{"/"}}, "skip /"},
		{"LL-23/first_two", interlinked(), isite.Options{}, Options{From: []string{"/@"}, Limit: 2},
			"check /,check /a.html,limit /sub/,limit /sub/b.html,limit /sub/deep/c.html,limit /sub2/d.html"},
		{"A-LL-12/breadth_first", files{"index.html": page("z.html", "a.html"), "z.html": page("y.html"), "y.html": plain, "a.html": plain}, isite.Options{},
			Options{From: []string{"/@"}, Limit: 3}, "check /,check /z.html,check /a.html,limit /y.html"},
		{"LL-24/listing_outside", files{"index.html": page("noidx/"), "noidx/a.html": plain}, isite.Options{Profile: host.Linklint}, Options{From: []string{"/"}},
			"check /,skip /noidx/"},
		{"LL-24/listing_counts", files{"index.html": page("noidx/"), "noidx/a.html": plain, "noidx/.b.html": plain, "noidx/in/c.html": plain, "noidx/d.txt": ""},
			isite.Options{Profile: host.Linklint}, Options{From: []string{"/@"}, Limit: 3}, "check /,check /noidx/,check /noidx/a.html,limit /noidx/in/"},
		{"LL-24/map_file", files{"index.html": page("m.map"), "m.map": "default /a.html\n", "a.html": plain}, isite.Options{}, Options{From: []string{"/", "/@.map"}},
			"check /,check /m.map,skip /a.html"},
		{"LL-26/no_page", files{"index.html": page("i.gif", "t.txt"), "i.gif": "", "t.txt": ""}, isite.Options{}, Options{From: []string{"/@"}}, "check /"},
		{"LL-83/no_slash", files{"index.html": page("sub"), "sub/index.html": plain}, isite.Options{Profile: host.Linklint}, Options{From: []string{"/", "/sub/"}},
			"check /,check /sub/"},
		{"page_without_suffix", files{"index.html": page("/about", "/docs/setup.html"), "about.html": plain, "docs/setup.html": page("/about.html")},
			isite.Options{Profile: profileNamed("github-pages")}, Options{From: []string{"/", "/about", "/doc#/setup"}}, "check /,check /about,skip /docs/setup.html"},
		{"page_moved_by_the_host", files{"index.html": page("/about.html", "/docs/"), "about.html": plain, "docs/index.html": plain},
			isite.Options{Profile: profileNamed("cloudflare-pages")}, Options{From: []string{"/", "/about", "/docs/#"}}, "check /,check /about,check /docs/"},
		{"base_path", files{"index.html": page("/blog/a.html", "/b.html"), "a.html": plain, "b.html": plain}, isite.Options{BaseURLs: []string{"https://example.org/blog/"}},
			Options{From: []string{"/@"}}, "check /,check /a.html"},
		{"decoded", files{"index.html": page("a%20b.html", "%C3%A4/"), "a b.html": plain, "ä/index.html": plain}, isite.Options{}, Options{From: []string{"/", "/a b.html", "/ä/#"}},
			"check /,check /a b.html,check /ä/"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := load(t, tempDocroot(t, tc.files), tc.sopt)
			got := strings.Join(steps(t, s, tc.opt), ",")
			if got != tc.want {
				t.Errorf("got\n\t%s\nwant\n\t%s", got, tc.want)
			}
		})
	}
}

// TestScope: findings, rows and counts contain only links of the pages in
// scope.
func TestScope(t *testing.T) {
	fs := files{
		"index.html": page("/a.html", "/zz.html", "/sub/b.html"), "a.html": page("/gone1.html"),
		"sub/b.html": page("/gone.html"), "lost.html": page("/gone2.html") + "<!-- x", "sub/deep/c.html": page("/sub/gone.html"),
	}
	s := load(t, tempDocroot(t, fs), isite.Options{})
	for _, tc := range []struct {
		name string
		opt  Options
		want []string // the targets of findings, or the code of a finding without target
		left string
	}{
		{"LL-10/all_files_by_default", Options{}, []string{"/gone1.html", "/zz.html", "unclosed-comment", "/gone2.html", "/gone.html", "/sub/gone.html"}, ""},
		{"LL-18/seeds", Options{From: []string{"/@"}}, []string{"/gone1.html", "/zz.html", "/gone.html"}, ""},
		{"LL-20/linkset", Options{From: []string{"/#"}}, []string{"/gone1.html", "/zz.html"}, "sub/b.html"},
		{"LL-21/skipped_and_missing", Options{From: []string{"/"}}, []string{"/zz.html"}, "a.html sub/b.html"},
		{"LL-22/skip", Options{From: []string{"/@"}, Skip: []string{"/sub/@"}}, []string{"/gone1.html", "/zz.html"}, "sub/b.html"},
		{"LL-23/zero_is_no_limit", Options{From: []string{"/@"}, Limit: 0}, []string{"/gone1.html", "/zz.html", "/gone.html"}, ""},
		{"LL-13/named_pages", Options{From: []string{"/a.html", "/lost.html"}}, []string{"/gone1.html", "unclosed-comment", "/gone2.html"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := run(t, s, tc.opt)
			var got []string
			for _, f := range r.Findings {
				if f.Target == "" {
					got = append(got, string(f.Code))
				} else {
					got = append(got, f.Target)
				}
			}
			slices.Sort(got)
			slices.Sort(tc.want)
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if left := strings.Join(r.Summary.Skipped, " "); left != tc.left {
				t.Errorf("skipped %q, want %q", left, tc.left)
			}
			addsUp(t, &r.Summary)
			all, l := rows(t, s, tc.opt)
			agree(t, r, all, l)
		})
	}
}

// TestLimitIsSeen: LL-23, a limit is always reported, so that it cannot make a
// failing site pass unnoticed.
func TestLimitIsSeen(t *testing.T) {
	fs := files{"index.html": page("a.html", "b.html"), "a.html": plain, "b.html": page("gone.html")}
	for _, tc := range []struct {
		name string
		opt  Options
		seen bool
	}{
		{"LL-23/cut", Options{From: []string{"/@"}, Limit: 2}, true},
		{"LL-23/enough", Options{From: []string{"/@"}, Limit: 3}, false},
		{"LL-23/cut_without_linksets", Options{Limit: 2}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := checkFiles(t, fs, isite.Options{}, tc.opt)
			i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Code == LimitReached })
			if i >= 0 != tc.seen {
				t.Fatalf("findings %q", briefs(r.Findings))
			}
			if tc.seen && (!r.HasWarnings() || !strings.Contains(r.Findings[i].Message, "pages left out: 1")) {
				t.Errorf("%+v", r.Findings[i])
			}
		})
	}
}

// TestUnmatchedLinksets: A-LL-1, a linkset that checks nothing is reported, and
// it is an error if nothing was checked at all.
func TestUnmatchedLinksets(t *testing.T) {
	fs := files{"index.html": page("a.html"), "a.html": plain, "sub/index.html": plain, "i.gif": "", "noidx/a.txt": ""}
	for _, tc := range []struct {
		name, set  string
		with       string // another linkset, which matches a page
		verdict    Verdict
		message    string
		suggestion string
	}{
		{"LL-16/slash_missing", "/sub", "/", Warning, "address of sub/index.html is /sub/", "/sub/"},
		{"A-LL-1/alone", "/sub", "", Error, "matches no page", "/sub/"},
		{"A-LL-1/nothing_linked", "/x@", "/", Warning, "links from its seed /", ""},
		{"A-LL-1/nothing_linked_alone", "/x@", "", Error, "matches no page", ""},
		{"A-LL-1/no_seed", "/nodir/@", "/", Error, "nothing answers its seed /nodir/", ""},
		{"A-LL-1/no_index", "/noidx/@", "/", Error, "nothing answers its seed /noidx/", ""},
		{"LL-2/no_page", "/i.gif", "/", Warning, "a file without links", ""},
		{"LL-2/missing", "/gone.html", "/", Error, "nothing answers its seed /gone.html", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			opt := Options{From: []string{tc.set}}
			if tc.with != "" {
				opt.From = append(opt.From, tc.with)
			}
			r := checkFiles(t, fs, isite.Options{}, opt)
			if len(r.Findings) != 1 {
				t.Fatalf("findings %q, want one", briefs(r.Findings))
			}
			f := r.Findings[0]
			if f.Code != UnmatchedLinkset || f.Verdict != tc.verdict || f.Suggestion != tc.suggestion || !strings.Contains(f.Message, tc.message) {
				t.Errorf("%+v", f)
			}
			if r.HasErrors() != (tc.verdict == Error) || !r.HasErrors() && !r.HasWarnings() {
				t.Errorf("summary %+v", r.Summary)
			}
		})
	}
}

// An invalid linkset makes the call fail, and so does a cancelled context.
func TestReachErrors(t *testing.T) {
	s := load(t, tempDocroot(t, interlinked()), isite.Options{})
	for _, opt := range []Options{{From: []string{"http://h.example/"}}, {Skip: []string{""}}, {Orphans: true, From: []string{"/\xff@"}}} {
		if r, err := Run(context.Background(), handle(s), opt); err == nil || r != nil {
			t.Errorf("%v: got %v, %v", opt, r, err)
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("stop")
	cancel(stop)
	if _, err := Walk(ctx, handle(s), Options{From: []string{"/@"}}); !errors.Is(err, stop) {
		t.Errorf("got %v, want %v", err, stop)
	}
	if all, err := Walk(context.Background(), handle(s), Options{}); err != nil || all != nil {
		t.Errorf("a walk that leaves nothing out: %v, %v", all, err)
	}
}
