package site

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/testkit"
)

// shares reports whether a new version of a site shares records with the old
// version.
func shares(old, now *Site) bool { return now.hash == old.hash }

// TestUpdateKinds: after edits of files, even of the feeds and data that a
// generator writes at each build, the versions share records. All other changes
// reload the docroot.
func TestUpdateKinds(t *testing.T) {
	const feed = `<rss version="2.0"><channel><link>/</link></channel></rss>`
	const svg = `<svg xmlns="http://www.w3.org/2000/svg"><a href="gone#x"/><use href="a.svg#y"/></svg>`
	home := files{"n.md": "[x](gone)", "index.html": "<a href=a.html>a</a><img src=i.svg>", "i.svg": svg, "a.html": "<p id=x>", "feed.xml": feed, "search.json": `{"a": 1}`,
		"pic.png": "", "s/b.html": "", "m.map": "", "broken.html": "-> later.html"}
	for _, test := range []struct {
		name    string
		profile string
		change  func(root string) error
		paths   []string
		shared  bool
	}{
		{"a page", "", put("a.html", "<p id=y>"), []string{"a.html"}, true},
		{"a feed", "", put("feed.xml", feed+" "), []string{"feed.xml"}, true},
		{"a file that is no longer a feed", "", put("feed.xml", "<x/>"), []string{"feed.xml"}, false},
		{"data", "", put("search.json", `{"b": 1}`), []string{"search.json"}, true},
		{"data that is a feed now", "", put("search.json", `{"version": "https://jsonfeed.org/version/1.1"}`), []string{"search.json"}, false},
		{"a directory", "", put("s/b.html", "x"), []string{"s"}, false},
		{"created and removed again", "", func(string) error { return nil }, []string{"x.html"}, true},
		{"a new page", "", put("n.html", ""), []string{"n.html"}, false},
		{"a new page, on a host that serves pages without extension", "netlify", put("n.html", ""), []string{"n.html"}, false},
		{"a new directory", "", put("n/d/n.html", ""), []string{"n"}, false},
		{"a new picture", "", put("n.png", ""), []string{"n.png"}, false},
		{"a removed picture", "", gone("pic.png"), []string{"pic.png"}, false},
		{"a removed directory", "", gone("s"), []string{"s"}, false},
		{"a file in the place of a directory", "", func(root string) error {
			return errors.Join(gone("s")(root), put("s", "x")(root))
		}, []string{"s"}, false},
		{"rules", "netlify", put("_redirects", "/x /a.html\n"), []string{"_redirects"}, false},
		{"rules in a new directory", "", put("n/.htaccess", ""), []string{"n"}, false},
		{"a link to an image map", "", put("a.html", "<a href=m.map><img ismap src=pic.png></a>"), []string{"a.html"}, false},
		{"a link to Markdown", "", put("a.html", "<a href=n.md>"), []string{"a.html"}, false},
		{"a link that opens a picture", "", put("a.html", "<a href=i.svg>"), []string{"a.html"}, false},
		{"a picture", "", put("i.svg", svg+" "), []string{"i.svg"}, true},
		{"a manifest", "", put("a.html", "<link rel=manifest href=search.json>"), []string{"a.html"}, false},
		{"the target of a symbolic link", "", put("later.html", ""), []string{"later.html"}, false},
		{"a new symbolic link", "", func(root string) error { return os.Symlink("a.html", filepath.Join(root, "l.html")) }, []string{"l.html"}, false},
		{"many pages", "", func(root string) error {
			for i := range 20 {
				if err := put(fmt.Sprintf("p%d.html", i), "y")(root); err != nil {
					return err
				}
			}
			return nil
		}, manyPages(20), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := tempDocroot(t, home)
			for _, name := range manyPages(20) {
				testkit.Check(t, put(name, "x")(root))
			}
			opt := Options{}
			if test.profile != "" {
				opt.Profile, _ = host.ProfileByName(test.profile)
			}
			s := load(t, root, opt)
			testkit.Check(t, test.change(root))
			n := testkit.Must(s.Update(t.Context(), test.paths))(t)
			if got := shares(s, n); got != test.shared {
				t.Errorf("shared: %t, want %t", got, test.shared)
			}
			fresh := load(t, root, opt)
			for i := range n.pages {
				for j := range n.pages[i].links {
					if got, want := n.pages[i].links[j].State, fresh.pages[i].links[j].State; got != want {
						t.Errorf("%s: link %d is %v, want %v", n.Path(PageID(i)), j, got, want)
					}
				}
			}
			if n.Files() != fresh.Files() || n.Pages() != fresh.Pages() || n.Tree().Len() != fresh.Tree().Len() {
				t.Errorf("%d files, %d pages and %d names, want %d, %d and %d", n.Files(), n.Pages(), n.Tree().Len(),
					fresh.Files(), fresh.Pages(), fresh.Tree().Len())
			}
		})
	}
}

func put(name, text string) func(root string) error {
	return func(root string) error {
		name := filepath.Join(root, name)
		return errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644))
	}
}

func gone(name string) func(root string) error {
	return func(root string) error { return os.RemoveAll(filepath.Join(root, name)) }
}

func manyPages(n int) (paths []string) {
	for i := range n {
		paths = append(paths, fmt.Sprintf("p%d.html", i))
	}
	return paths
}

// TestUpdateFails: a failed update leaves the site unchanged, and a later one
// finds everything that has changed.
func TestUpdateFails(t *testing.T) {
	root := tempDocroot(t, files{"index.html": "<a href=a.html>a</a><a href=n.html>n</a>", "a.html": ""})
	s := load(t, root, Options{})
	states := func(s *Site) (out []host.State) {
		for _, d := range details(t, s, "index.html") {
			out = append(out, d.State)
		}
		return out
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, change := range []struct {
		do    func(string) error
		paths []string
		want  []host.State
	}{
		{put("n.html", ""), []string{"n.html"}, []host.State{host.StateOK, host.StateOK}},
		{gone("a.html"), []string{"a.html"}, []host.State{host.StateMissingFile, host.StateOK}},
		{put("a.html", "x"), []string{"a.html"}, []host.State{host.StateOK, host.StateOK}},
	} {
		before := states(s)
		testkit.Check(t, change.do(root))
		if _, err := s.Update(ctx, change.paths); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want a cancelled context", err)
		}
		if got := states(s); fmt.Sprint(got) != fmt.Sprint(before) {
			t.Errorf("%s: %v after a failed update, want %v", change.paths, got, before)
		}
		n := testkit.Must(s.Update(t.Context(), change.paths))(t)
		if s = n; fmt.Sprint(states(s)) != fmt.Sprint(change.want) {
			t.Errorf("%s: %v, want %v", change.paths, states(s), change.want)
		}
	}
}

// TestUpdateStats: the permissions of a file that is not a page are read when
// the first link leads to it, and again when the file changes.
func TestUpdateStats(t *testing.T) {
	root := tempDocroot(t, files{"index.html": "", "pic.png": ""})
	testkit.Check(t, os.Chmod(filepath.Join(root, "pic.png"), 0o600))
	s := load(t, root, Options{})
	last := host.StateOK
	for _, step := range []struct {
		change func(string) error
		path   string
		want   host.State
	}{
		{put("index.html", "<img src=pic.png>"), "index.html", host.StatePrivate},
		{put("index.html", "<img src=pic.png> "), "index.html", host.StatePrivate}, // the page is read again while the file is private
		{func(root string) error { return os.Chmod(filepath.Join(root, "pic.png"), 0o644) }, "pic.png", host.StateOK},
		{func(root string) error { return os.Chmod(filepath.Join(root, "pic.png"), 0o600) }, "pic.png", host.StatePrivate},
	} {
		testkit.Check(t, step.change(root))
		n, err := s.Update(t.Context(), []string{step.path})
		if err != nil || !shares(s, n) {
			t.Fatalf("%v, or nothing shared", err)
		}
		state := func(s *Site) host.State {
			if links := s.Page(pageID(t, s, "index.html")).All(); len(links) > 0 {
				return s.State(&links[0])
			}
			return host.StateOK
		}
		if got := state(n); got != step.want {
			t.Errorf("%s: %s, want %s", step.path, stateName(t, got), stateName(t, step.want))
		}
		if got := state(s); got != last {
			t.Errorf("%s: the old version has %s, want %s", step.path, stateName(t, got), stateName(t, last))
		}
		s, last = n, step.want
	}
}

// TestUpdateImmutable: old and new versions of a site can be read while another
// version is made. Run it with -race.
func TestUpdateImmutable(t *testing.T) {
	root := tempDocroot(t, files{"index.html": "<a href=a.html#x>a</a><a href=A.html>a</a>", "a.html": "<p id=x>", "b.html": "<a href=gone.html>b</a>"})
	s := load(t, root, Options{})
	describe := func(s *Site) string {
		r := s.NewReader()
		defer r.Close()
		var b strings.Builder
		for id := range PageID(s.Pages()) {
			p := s.Page(id)
			ask, _ := s.ParseFragment("x")
			fmt.Fprint(&b, s.Path(id), p.Anchors(), p.Has(ask.Exact))
			for i := range p.All() {
				fmt.Fprint(&b, s.State(&p.All()[i]), " ")
			}
			if s.Path(id) != "a.html" { // which is being edited
				_ = r.Details(id, nil, func(link int, d *Detail) { fmt.Fprint(&b, d.State, d.Target, d.Note) })
			}
		}
		return b.String()
	}
	var readers sync.WaitGroup
	for i := range 20 {
		want := describe(s)
		testkit.Check(t, put("a.html", strings.Repeat("<p id=x><a href=b.html>", i%3))(root))
		old := s
		readers.Go(func() {
			for range 20 {
				if got := describe(old); got != want {
					t.Errorf("an old version changed from\n%s\nto\n%s", want, got)
				}
			}
		})
		var err error
		if s, err = s.Update(t.Context(), []string{"a.html"}); err != nil {
			t.Fatal(err)
		}
	}
	readers.Wait()
}

// TestUpdateManifest: a manifest links to files although its name does not
// identify it as a manifest. Its links remain known when the docroot is listed
// again.
func TestUpdateManifest(t *testing.T) {
	root := tempDocroot(t, files{"index.html": "<link rel=manifest href=m.json>", "m.json": `{"icons": [{"src": "pic.png"}]}`, "pic.png": ""})
	s := load(t, root, Options{})
	testkit.Check(t, errors.Join(os.Chmod(filepath.Join(root, "pic.png"), 0o600), put("n.map", "")(root)))
	s = testkit.Must(s.Update(t.Context(), []string{"n.map", "pic.png"}))(t)
	if got := s.State(&s.Page(pageID(t, s, "m.json")).All()[0]); got != host.StatePrivate {
		t.Errorf("%s, want private", stateName(t, got))
	}
}

// TestNoFragment: a value that is not a URL has no fragment, even if its
// beginning was resolved before.
func TestNoFragment(t *testing.T) {
	s := loadFiles(t, files{"a.html": "<a href='http://['>a</a><a href='http://[#x'>b</a><a href='%zz'>c</a><a href='%zz#x'>d</a>"}, Options{})
	for i, want := range []string{"", "", "", "x"} {
		if d := details(t, s, "a.html")[i]; d.State != host.StateBadURL || d.Fragment != want {
			t.Errorf("%s: %s, fragment %q, want %q", d.Raw, stateName(t, d.State), d.Fragment, want)
		}
	}
}
