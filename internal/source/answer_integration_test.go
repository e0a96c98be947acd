//go:build integration

package source

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestAnswerNeverStale edits a site in every way that changes addresses, and
// compares the positions found with the answers of earlier runs with those of a
// fresh run, after each edit, with each installed Hugo.
func TestAnswerNeverStale(t *testing.T) {
	for _, hugo := range hugos(t) {
		t.Run(versionOf(t, hugo), func(t *testing.T) { testAnswerNeverStale(t, hugo) })
	}
}

func testAnswerNeverStale(t *testing.T, hugo string) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	testkit.Check(t, err)
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, filepath.FromSlash(name))
		testkit.Write(t, name, text)
	}
	do := func(err error) {
		t.Helper()
		testkit.Check(t, err)
	}
	in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	page := func(matter, id string) string {
		return "---\ntitle: " + id + "\n" + matter + "---\nText [x](/gone-" + id + "/) and [y](/gone-all/)\n"
	}
	base := "baseURL = 'https://example.org/'\ndisableKinds = ['taxonomy', 'term', 'RSS', 'sitemap']\n"
	write("hugo.toml", base)
	write("layouts/_default/single.html", "<main>{{ .Content }}</main>")
	write("layouts/_default/list.html", "<main>{{ .Content }}</main>")
	for i := range 4 {
		for _, section := range []string{"post", "news"} {
			write(fmt.Sprintf("content/%s/p%d.md", section, i), page("date: 2024-02-03\n", fmt.Sprintf("%s%d", section, i)))
		}
	}
	// The same names in a theme and in a directory that is mounted later.
	write("themes/one/content/theme/a.md", page("", "one"))
	write("themes/two/content/theme/a.md", page("", "two"))
	write("other/p1.md", page("", "other"))
	cache := filepath.Join(t.TempDir(), "sources")
	for _, s := range []struct {
		name string
		edit func()
	}{
		{"first run", func() {}},
		{"nothing", func() {}},
		{"text", func() { write("content/post/p1.md", "\n\n"+page("date: 2024-02-03\n", "post1")) }},
		{"slugs exchanged", func() {
			write("content/post/p1.md", page("slug: p2\n", "post1"))
			write("content/post/p2.md", page("slug: p1\n", "post2"))
		}},
		{"url", func() { write("content/news/p3.md", page("url: /post/p9/\n", "news3")) }},
		{"url exchanged", func() {
			write("content/news/p3.md", page("url: /x/\n", "news3"))
			write("content/news/p0.md", page("url: /post/p9/\n", "news0"))
		}},
		{"permalinks", func() { write("hugo.toml", base+"[permalinks]\nnews = '/:year/:title/'\n") }},
		{"titles exchanged", func() {
			write("content/news/p1.md", page("date: 2024-02-03\n", "news2"))
			write("content/news/p2.md", page("date: 2024-02-03\n", "news1"))
		}},
		{"date", func() { write("content/news/p1.md", page("date: 2021-02-03\n", "news2")) }},
		{"new file", func() { write("content/post/p7.md", page("", "post7")) }},
		{"renamed files", func() {
			do(os.Rename(in("content/post/p1.md"), in("content/post/keep.md")))
			do(os.Rename(in("content/post/p2.md"), in("content/post/p1.md")))
			do(os.Rename(in("content/post/keep.md"), in("content/post/p2.md")))
		}},
		{"removed file", func() { do(os.Remove(in("content/post/p7.md"))) }},
		{"bundle", func() {
			do(os.Remove(in("content/post/p0.md")))
			write("content/post/p0/index.md", page("", "post0"))
		}},
		{"theme", func() { write("hugo.toml", base+"theme = 'one'\n") }},
		{"another theme", func() { write("hugo.toml", base+"theme = 'two'\n") }},
		{"configuration of the theme", func() {
			write("themes/two/hugo.toml", "[[module.mounts]]\nsource = 'content/theme'\ntarget = 'content/theme2'\n")
		}},
		{"mount", func() {
			write("hugo.toml", base+"[[module.mounts]]\nsource = 'content'\ntarget = 'content'\n[[module.mounts]]\nsource = 'other'\ntarget = 'content/other'\n")
		}},
		{"mounts exchanged", func() {
			write("hugo.toml", base+"[[module.mounts]]\nsource = 'other'\ntarget = 'content/post'\n[[module.mounts]]\nsource = 'content/post'\ntarget = 'content/other'\n")
		}},
		{"content directory", func() { write("hugo.toml", base+"contentDir = 'other'\n") }},
		{"mounted directory that appears", func() {
			write("hugo.toml", base+"[[module.mounts]]\nsource = 'content'\ntarget = 'content'\n[[module.mounts]]\nsource = 'late'\ntarget = 'content/late'\n")
		}},
		{"its file", func() { write("late/p1.md", page("", "late")) }},
		{"cascade", func() { write("content/post/_index.md", "---\ncascade:\n  url: /same/:contentbasename/\n---\n") }},
		{"ugly", func() { write("hugo.toml", base+"uglyURLs = true\n") }},
	} {
		s.edit()
		do(os.RemoveAll(in("public")))
		cmd := exec.Command(hugo, "--quiet")
		cmd.Dir = dir
		testkit.Run(t, cmd)
		kept, n := brokenPlaces(t, dir, hugo, cache)
		fresh, _ := brokenPlaces(t, dir, hugo, "")
		if kept != fresh || n < 2 {
			t.Errorf("%s: %d positions, with the answer of an earlier run:\n%s\nfresh:\n%s", s.name, n, kept, fresh)
		}
	}
}

// brokenPlaces returns the positions of all links to /gone- of a project, and
// how many have one.
func brokenPlaces(t *testing.T, dir, hugo, cache string) (text string, n int) {
	t.Helper()
	docroot := filepath.Join(dir, "public")
	s, err := site.Load(t.Context(), docroot, site.Options{BaseURLs: []string{"https://example.org/"}})
	testkit.Check(t, err)
	r := s.NewReader()
	defer r.Close()
	var links []Link
	for id := range site.PageID(s.Pages()) {
		err := r.Details(id, nil, func(_ int, d *site.Detail) {
			if strings.HasPrefix(d.Raw, "/gone-") {
				links = append(links, Link{Page: s.Path(id), Offset: d.Offset, Raw: strings.Clone(d.Raw)})
			}
		})
		testkit.Check(t, err)
	}
	m, err := Open(t.Context(), Options{Project: dir, Docroot: docroot, Generator: Hugo, Hugo: hugo, Env: os.Environ(), Cache: cache})
	testkit.Check(t, err)
	defer m.Close()
	for _, note := range m.Notes {
		t.Error(note)
	}
	places, err := m.Locate(t.Context(), s, links)
	testkit.Check(t, err)
	var b strings.Builder
	for i, p := range places {
		if p != nil {
			n++
		}
		fmt.Fprintln(&b, links[i].Page, links[i].Raw, shown(p))
	}
	return b.String(), n
}
