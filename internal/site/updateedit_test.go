package site

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// edited is what became of a change: the site itself was brought up to date, a
// new one has a few other names, or everything was renumbered.
func edited(old, now *Site, c *Change) string {
	switch {
	case c.Renumbered:
		return "anew"
	case now == old:
		return "edit"
	}
	return "names"
}

// TestUpdateKinds: how far a change reaches. Whatever is not understood is
// loaded anew, and what a generator writes at each build is not.
func TestUpdateKinds(t *testing.T) {
	const feed = `<rss version="2.0"><channel><link>/</link></channel></rss>`
	home := files{"index.html": "<a href=a.html>a</a>", "a.html": "<p id=x>", "feed.xml": feed, "search.json": `{"a": 1}`,
		"pic.png": "", "s/b.html": "", "m.map": "", "broken.html": "-> later.html"}
	for _, test := range []struct {
		name    string
		profile string
		change  func(root string) error
		paths   []string
		want    string
	}{
		{"a page", "", put("a.html", "<p id=y>"), []string{"a.html"}, "edit"},
		{"a feed", "", put("feed.xml", feed+" "), []string{"feed.xml"}, "edit"},
		{"a feed that is none any more", "", put("feed.xml", "<x/>"), []string{"feed.xml"}, "anew"},
		{"data", "", put("search.json", `{"b": 1}`), []string{"search.json"}, "edit"},
		{"data that is a feed now", "", put("search.json", `{"version": "https://jsonfeed.org/version/1.1"}`), []string{"search.json"}, "anew"},
		{"a directory that was only touched", "", put("s/b.html", "x"), []string{"s"}, "edit"},
		{"came and went", "", func(string) error { return nil }, []string{"x.html"}, "edit"},
		{"a new page", "", put("n.html", ""), []string{"n.html"}, "names"},
		{"a new page, on a host that serves pages without extension", "netlify", put("n.html", ""), []string{"n.html"}, "anew"},
		{"a new directory", "", put("n/d/n.html", ""), []string{"n"}, "names"},
		{"a new picture", "", put("n.png", ""), []string{"n.png"}, "names"},
		{"a picture that went", "", gone("pic.png"), []string{"pic.png"}, "names"},
		{"a directory that went", "", gone("s"), []string{"s"}, "names"},
		{"a file in the place of a directory", "", func(root string) error {
			return errors.Join(gone("s")(root), put("s", "x")(root))
		}, []string{"s"}, "anew"},
		{"rules", "netlify", put("_redirects", "/x /a.html\n"), []string{"_redirects"}, "anew"},
		{"rules in a new directory", "", put("n/.htaccess", ""), []string{"n"}, "anew"},
		{"a link to an image map", "", put("a.html", "<a href=m.map><img ismap src=pic.png></a>"), []string{"a.html"}, "anew"},
		{"a manifest", "", put("a.html", "<link rel=manifest href=search.json>"), []string{"a.html"}, "anew"},
		{"the target of a symbolic link", "", put("later.html", ""), []string{"later.html"}, "anew"},
		{"a new symbolic link", "", func(root string) error { return os.Symlink("a.html", filepath.Join(root, "l.html")) }, []string{"l.html"}, "anew"},
		{"too many names", "", func(root string) error {
			for i := range maxFew + 1 {
				if err := put(fmt.Sprintf("n/%d.html", i), "")(root); err != nil {
					return err
				}
			}
			return nil
		}, manyPaths(maxFew + 1), "anew"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := tempDocroot(t, home)
			opt := Options{}
			if test.profile != "" {
				opt.Profile, _ = ProfileByName(test.profile)
			}
			s := load(t, root, opt)
			if err := test.change(root); err != nil {
				t.Fatal(err)
			}
			n, c, err := s.Update(t.Context(), test.paths)
			if err != nil {
				t.Fatal(err)
			}
			if got := edited(s, n, c); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			if fresh := load(t, root, opt); n.Files() != fresh.Files() || n.Pages() != fresh.Pages() {
				t.Errorf("%d files and %d pages, want %d and %d", n.Files(), n.Pages(), fresh.Files(), fresh.Pages())
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

func manyPaths(n int) (paths []string) {
	for i := range n {
		paths = append(paths, fmt.Sprintf("n/%d.html", i))
	}
	return paths
}

// TestUpdateFails: after an update that did not work the site is what it was,
// and a later one finds all that has changed.
func TestUpdateFails(t *testing.T) {
	root := tempDocroot(t, files{"index.html": "<a href=a.html>a</a><a href=n.html>n</a>", "a.html": ""})
	s := load(t, root, Options{})
	states := func(s *Site) (out []State) {
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
		want  []State
	}{
		{put("n.html", ""), []string{"n.html"}, []State{StateOK, StateOK}},
		{gone("a.html"), []string{"a.html"}, []State{StateMissingFile, StateOK}},
		{put("a.html", "x"), []string{"a.html"}, []State{StateOK, StateOK}},
	} {
		before := states(s)
		if err := change.do(root); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Update(ctx, change.paths); !errors.Is(err, context.Canceled) {
			t.Fatalf("%v, want that it was cancelled", err)
		}
		if got := states(s); fmt.Sprint(got) != fmt.Sprint(before) {
			t.Errorf("%s: %v after a failed update, want %v", change.paths, got, before)
		}
		n, _, err := s.Update(t.Context(), change.paths)
		if err != nil {
			t.Fatal(err)
		}
		if s = n; fmt.Sprint(states(s)) != fmt.Sprint(change.want) {
			t.Errorf("%s: %v, want %v", change.paths, states(s), change.want)
		}
	}
}

// TestUpdateStats: the permissions of a file that is no page are asked for when
// the first link leads there, and again when it changes.
func TestUpdateStats(t *testing.T) {
	root := tempDocroot(t, files{"index.html": "", "pic.png": ""})
	if err := os.Chmod(filepath.Join(root, "pic.png"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := load(t, root, Options{})
	last := StateOK
	for _, step := range []struct {
		change func(string) error
		path   string
		want   State
	}{
		{put("index.html", "<img src=pic.png>"), "index.html", StatePrivate},
		{put("index.html", "<img src=pic.png> "), "index.html", StatePrivate}, // read again while it is
		{func(root string) error { return os.Chmod(filepath.Join(root, "pic.png"), 0o644) }, "pic.png", StateOK},
		{func(root string) error { return os.Chmod(filepath.Join(root, "pic.png"), 0o600) }, "pic.png", StatePrivate},
	} {
		if err := step.change(root); err != nil {
			t.Fatal(err)
		}
		n, c, err := s.Update(t.Context(), []string{step.path})
		if err != nil || n != s {
			t.Fatalf("%v, %s", err, edited(s, n, c))
		}
		link := &s.Page(pageID(t, s, "index.html")).All()[0]
		if got := s.State(link); got != step.want {
			t.Errorf("%s: %s, want %s", step.path, stateName(t, got), stateName(t, step.want))
		}
		before := StateOK
		c.Before(func(old *Site) {
			if links := old.Page(pageID(t, old, "index.html")).All(); len(links) > 0 {
				before = old.State(&links[0])
			}
		})
		if before != last {
			t.Errorf("%s: before it %s, want %s", step.path, stateName(t, before), stateName(t, last))
		}
		last = step.want
	}
}

// TestUpdateForgets: names that went do not pile up.
func TestUpdateForgets(t *testing.T) {
	root := tempDocroot(t, files{"index.html": "<a href=n0.html>x</a>", "a.html": "", "b.html": ""})
	s := load(t, root, Options{})
	for i := range 60 {
		name := fmt.Sprintf("n%d.html", i)
		for _, change := range []func(string) error{put(name, ""), gone(name)} {
			if err := change(root); err != nil {
				t.Fatal(err)
			}
			n, _, err := s.Update(t.Context(), []string{name})
			if err != nil {
				t.Fatal(err)
			}
			s = n
		}
		if s.Tree().Len() > 12 || s.Pages() != 3 {
			t.Fatalf("%d nodes and %d pages after %d names", s.Tree().Len(), s.Pages(), i)
		}
	}
}

// TestUpdateManifest: a manifest leads to files, too, although its name does not
// tell that it is one; where all names are listed again they are not forgotten.
func TestUpdateManifest(t *testing.T) {
	root := tempDocroot(t, files{"index.html": "<link rel=manifest href=m.json>", "m.json": `{"icons": [{"src": "pic.png"}]}`, "pic.png": ""})
	s := load(t, root, Options{})
	if err := errors.Join(os.Chmod(filepath.Join(root, "pic.png"), 0o600), put("n.map", "")(root)); err != nil {
		t.Fatal(err)
	}
	s, _, err := s.Update(t.Context(), []string{"n.map", "pic.png"})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.State(&s.Page(pageID(t, s, "m.json")).All()[0]); got != StatePrivate {
		t.Errorf("%s, want private", stateName(t, got))
	}
}

// TestNoFragment: a value that is no URL has no fragment, however often its
// beginning was seen.
func TestNoFragment(t *testing.T) {
	s := loadFiles(t, files{"a.html": "<a href='http://['>a</a><a href='http://[#x'>b</a><a href='%zz'>c</a><a href='%zz#x'>d</a>"}, Options{})
	for i, want := range []string{"", "", "", "x"} {
		if d := details(t, s, "a.html")[i]; d.State != StateBadURL || d.Fragment != want {
			t.Errorf("%s: %s, fragment %q, want %q", d.Raw, stateName(t, d.State), d.Fragment, want)
		}
	}
}
