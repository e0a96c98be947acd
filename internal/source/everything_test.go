package source

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/testkit"
)

var update = flag.Bool("update", false, "rewrite what the tests find in testdata, and what Hugo built and answered there")

// builtOn returns when the projects in testdata were built.
func builtOn() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// TestEverything prints all that the package says about the projects in testdata: the
// position of each link and heading, the file of each page, and what is written in each
// file. It must be as in testdata/everything; look at the differences before you keep
// them with -update.
func TestEverything(t *testing.T) {
	var names []string
	for _, pattern := range []string{"*.txtar", "generators/*.txtar", "headings/*.txtar", "hugo/*.txtar"} {
		found, err := filepath.Glob("testdata/" + pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d projects, %v", pattern, len(found), err)
		}
		names = append(names, found...)
	}
	for _, name := range names {
		stem := strings.TrimSuffix(filepath.Base(name), ".txtar")
		t.Run(stem, func(t *testing.T) {
			kind := path.Base(path.Dir(filepath.ToSlash(name)))
			var dir, project string
			if kind == "hugo" {
				p := unpackHugo(t, name)
				dir, project = p.work, p.site()
			} else {
				project, _ = extract(t, name)
				dir = project
			}
			got := strings.ReplaceAll(known(t, project), filepath.ToSlash(dir), "$WORK")
			golden := "testdata/everything/" + kind + "-" + stem
			if *update {
				testkit.Check(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			testkit.Check(t, err)
			had := strings.Split(string(want), "\n")
			for _, line := range strings.Split(got, "\n") {
				if i := slices.Index(had, line); i >= 0 {
					had = slices.Delete(had, i, i+1)
				} else {
					t.Errorf("not expected: %s", line)
				}
			}
			for _, line := range had {
				t.Errorf("missing: %s", line)
			}
		})
	}
}

// known returns all that is known about a project, a fact a line.
func known(t *testing.T, project string) string {
	t.Helper()
	detected, _ := generator.Detect(project, generator.None)
	docroot := ""
	for _, dir := range []string{"public", "_site", "dist", "site", "build"} {
		if _, err := os.Stat(filepath.Join(project, dir)); err == nil && docroot == "" {
			docroot = filepath.Join(project, dir)
		}
	}
	var opt site.Options
	if base, err := os.ReadFile(filepath.Join(project, "base-url")); err == nil {
		opt.BaseURLs = []string{strings.TrimSpace(string(base))}
	}
	s, err := site.Load(t.Context(), docroot, opt)
	testkit.Check(t, err)
	m, err := Open(t.Context(), Options{Project: project, Docroot: docroot, Generator: detected.Generator})
	testkit.Check(t, err)
	defer m.Close()
	r := s.NewReader()
	defer r.Close()
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }

	var links []BuiltLink
	var anchors []Anchor
	var pages []string
	for id := range site.PageID(s.Pages()) {
		name := s.Path(id)
		pages = append(pages, name)
		err := r.Written(id, func(d *site.Detail) {
			links = append(links, BuiltLink{Page: name, Offset: d.Offset, Raw: strings.Clone(d.Raw)})
		})
		testkit.Check(t, err)
		links = append(links, BuiltLink{Page: name, Element: "base"})
		text, err := os.ReadFile(filepath.Join(docroot, name))
		testkit.Check(t, err)
		for i, h := range read.ShownHeadings(text) {
			line("shown heading %d of %s: %q %q", i, name, h.Title, h.IDs)
			for _, id := range h.IDs {
				anchors = append(anchors, Anchor{name, id})
			}
		}
	}
	if rules, err := os.ReadFile(filepath.Join(docroot, "_redirects")); err == nil {
		for i := range strings.Split(string(rules), "\n") {
			links = append(links, BuiltLink{Page: "_redirects", Line: i + 1})
		}
	}
	places, err := m.Locate(t.Context(), s, links)
	testkit.Check(t, err)
	for i, l := range links {
		line("link %s:%d%.0d %s%s: %s by %q", l.Page, l.Offset, l.Line, l.Raw, l.Element, shown(places[i].Position), places[i].Rule)
		if p := places[i].Position; p != nil && l.Raw != "" {
			line("as its author writes it: %q; unpublished: %q", m.SourceForm(p, &l, "/docs/b/#x"), m.Unpublished(&l, "x", builtOn))
		}
	}
	headings, err := m.Headings(t.Context(), s, anchors)
	testkit.Check(t, err)
	for i, a := range anchors {
		line("heading %s#%s: %s", a.Page, a.ID, shownHeading(headings[i]))
	}
	files, err := m.Files(t.Context(), s, pages)
	testkit.Check(t, err)
	made, err := m.PageFiles(t.Context(), s)
	testkit.Check(t, err)
	content := m.Content()
	for i, name := range pages {
		line("page %s: %s, %d; static %q", name, shown(files[i]), made[i], m.Static(name))
		file, own := m.OwnLinks(r, name)
		line("own links of %s: %s %v", name, file, own)
	}
	for i, f := range content {
		line("content %d: %+v", i, f)
	}
	line("static %q", m.StaticDirs())

	err = fs.WalkDir(os.DirFS(project), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(filepath.Join(project, name), docroot) {
			return err
		}
		text, err := os.ReadFile(filepath.Join(project, name))
		for _, w := range read.Links(name, text, detected.Generator) {
			line("written in %s: %+v", name, w)
		}
		for _, h := range read.Headings(name, text, detected.Generator, "") {
			line("heading in %s: %+v", name, h)
		}
		return err
	})
	testkit.Check(t, err)
	return b.String()
}
