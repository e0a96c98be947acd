package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.InMemory()
	m.Run()
}

// TestLocate: projects with the pages that were built from them. The file want
// has a line for each link: DOCROOT/PAGE RAW, and the position with the kind of
// file and "of MODULE", or "-" for none. Equal values on a page are its links
// in order.
func TestLocate(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	testkit.Check(t, err)
	others, err := filepath.Glob("testdata/generators/*.txtar")
	if names = append(names, others...); err != nil || len(names) < 9 {
		t.Fatalf("%d projects, %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			project, want := extract(t, name)
			docroot, _, _ := strings.Cut(want[0], "/")
			got := place(t, project, docroot, want)
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("got %s\nwant %s", got[i], want[i])
				}
			}
		})
	}
}

// extract writes the files of an archive and returns the lines of want.
func extract(t *testing.T, name string) (project string, want []string) {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	testkit.Check(t, err)
	project = t.TempDir()
	for _, f := range archive.Files {
		switch f.Name {
		case "want":
			want = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
			continue
		case "build": // for the integration test
			continue
		}
		file := filepath.Join(project, filepath.FromSlash(f.Name))
		testkit.Check(t, os.MkdirAll(filepath.Dir(file), 0o755))
		testkit.Check(t, os.WriteFile(file, f.Data, 0o644))
	}
	if len(want) == 0 {
		t.Fatal("nothing to place")
	}
	return project, want
}

// place locates the links that the lines of want name. A file base-url in the
// project has the site's base URL, and roots the directories with hosts of their own.
func place(t *testing.T, project, docroot string, want []string) (got []string) {
	t.Helper()
	dir := filepath.Join(project, docroot)
	var opt site.Options
	if base, err := os.ReadFile(filepath.Join(project, "base-url")); err == nil {
		opt.BaseURLs = []string{strings.TrimSpace(string(base))}
	}
	s, err := site.Load(t.Context(), dir, opt)
	testkit.Check(t, err)
	found, _ := generator.Detect(project, generator.None)
	roots, _ := os.ReadFile(filepath.Join(project, "roots"))
	m, err := Open(t.Context(), Options{Project: project, Docroot: dir, Roots: strings.Fields(string(roots)), Generator: found.Generator, Env: os.Environ()})
	testkit.Check(t, err)
	defer m.Close()
	r := s.NewReader()
	defer r.Close()
	m.site = s
	used := map[string]bool{}
	for _, line := range want {
		fields := strings.Fields(line)
		page, raw := strings.TrimPrefix(fields[0], docroot+"/"), fields[1]
		link := BuiltLink{Page: page, Raw: raw}
		found := false
		if id, ok := m.pageID(page); ok {
			err := r.Details(id, nil, func(_ int, d *site.Detail) {
				if key := fmt.Sprint(page, d.Offset); !found && d.Raw == raw && !used[key] {
					link.Offset, found, used[key] = d.Offset, true, true
				}
			})
			testkit.Check(t, err)
		}
		if !found {
			t.Fatalf("%s has no link %s", page, raw)
		}
		places, err := m.Locate(t.Context(), s, []BuiltLink{link})
		testkit.Check(t, err)
		got = append(got, fields[0]+" "+raw+" "+shown(places[0].Position))
	}
	return got
}

func shown(p *Position) string {
	if p == nil {
		return "-"
	}
	at := fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	if p.Kind != read.Content {
		at += " " + string(p.Kind)
	}
	if p.Module != "" {
		at += " of " + p.Module
	}
	return at
}

// TestHostile: no content of a project stops the work or leads out of the
// project.
func TestHostile(t *testing.T) {
	project, want := extract(t, "testdata/hugo-names.txtar")
	outside := filepath.Join(t.TempDir(), "secret.md")
	testkit.Check(t, os.WriteFile(outside, []byte("[a](/nowhere/)"), 0o644))
	if err := os.Symlink(outside, filepath.Join(project, "content", "unknown.md")); err != nil {
		t.Skip(err)
	}
	for name, text := range map[string]string{
		"content/broken.md":  "---\ntitle: [\n[a](/nowhere2/",
		"content/binary.md":  "\x00\xff\xfe[a](\x80)",
		"content/deep.md":    strings.Repeat("[", 20000) + strings.Repeat("> ", 5000),
		"content/tags.md":    strings.Repeat("{{< a \"", 2000),
		"layouts/empty.html": "",
	} {
		testkit.Check(t, os.WriteFile(filepath.Join(project, filepath.FromSlash(name)), []byte(text), 0o644))
	}
	got := place(t, project, "public", want)
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %s\nwant %s", got[i], want[i])
		}
	}
	if _, err := Open(t.Context(), Options{Project: filepath.Join(project, "none"), Docroot: project}); err == nil || !strings.Contains(err.Error(), "open project") {
		t.Errorf("no project: %v", err)
	}
}

// TestLocateParallel: the positions do not depend on the number of processors.
func TestLocateParallel(t *testing.T) {
	project, _ := extract(t, "testdata/hugo-names.txtar")
	dir := filepath.Join(project, "public")
	s, err := site.Load(t.Context(), dir, site.Options{})
	testkit.Check(t, err)
	r := s.NewReader()
	defer r.Close()
	var links []BuiltLink
	for id := range site.PageID(s.Pages()) {
		err := r.Written(id, func(d *site.Detail) {
			links = append(links, BuiltLink{Page: s.Path(id), Offset: d.Offset, Raw: strings.Clone(d.Raw)})
		})
		testkit.Check(t, err)
	}
	locate := func(processors int) (text string, located int) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		m, err := Open(t.Context(), Options{Project: project, Docroot: dir, Generator: Hugo})
		testkit.Check(t, err)
		defer m.Close()
		places, err := m.Locate(t.Context(), s, links)
		testkit.Check(t, err)
		for i, p := range places {
			if p.Position != nil {
				located++
			}
			text += links[i].Page + " " + links[i].Raw + " " + shown(p.Position) + "\n"
		}
		return text, located
	}
	one, located := locate(1)
	if located < 5 {
		t.Errorf("%d of %d links have a position", located, len(links))
	}
	for range 5 {
		if got, _ := locate(8); got != one {
			t.Fatalf("with 8 processors:\n%s\nwith one:\n%s", got, one)
		}
	}
}

// TestStops: a call returns the cause of its context, and an error if the docroot is gone.
func TestStops(t *testing.T) {
	project, _ := extract(t, "testdata/hugo-names.txtar")
	dir := filepath.Join(project, "public")
	s, err := site.Load(t.Context(), dir, site.Options{})
	testkit.Check(t, err)
	m, err := Open(t.Context(), Options{Project: project, Docroot: dir, Generator: Hugo})
	testkit.Check(t, err)
	defer m.Close()
	page, ended := s.Path(0), errors.New("ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ended)
	calls := map[string]func(context.Context) error{
		"Locate":    func(ctx context.Context) error { _, err := m.Locate(ctx, s, []BuiltLink{{Page: page}}); return err },
		"Headings":  func(ctx context.Context) error { _, err := m.Headings(ctx, s, []Anchor{{page, "x"}}); return err },
		"Files":     func(ctx context.Context) error { _, err := m.Files(ctx, s, []string{page}); return err },
		"PageFiles": func(ctx context.Context) error { _, err := m.PageFiles(ctx, s); return err },
	}
	for name, call := range calls {
		if err := call(ctx); err != ended {
			t.Errorf("%s: %v after the end", name, err)
		}
	}
	if places, err := m.Locate(t.Context(), s, []BuiltLink{{Page: page, Offset: 1}, {Page: page, Offset: 1 << 30}, {Page: "none.html"}}); err != nil || slices.ContainsFunc(places, func(p Place) bool { return p.Position != nil }) {
		t.Errorf("no links: %v, %v", places, err)
	}
	Start(ctx, Options{Project: project, Docroot: dir}).Stop()
	if _, err := Open(ctx, Options{Project: project, Docroot: dir, Generator: Hugo}); err != ended {
		t.Errorf("Hugo: %v after the end", err)
	}
	testkit.Check(t, os.RemoveAll(dir))
	for name, call := range calls {
		if call(t.Context()) == nil {
			t.Errorf("%s: no error without the docroot", name)
		}
	}
	if _, err := Open(t.Context(), Options{Project: project, Docroot: dir}); err == nil || !strings.Contains(err.Error(), "open docroot") {
		t.Errorf("no docroot: %v", err)
	}
}
