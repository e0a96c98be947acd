package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sitelink/sitelink/internal/testkit"
)

// hugoProject is an archive of testdata/hugo, unpacked. Its files are below
// site, the project, and beside it. The other entries are
//
//	want            what to locate, as in [TestLocate]; $WORK is the directory of site
//	want DOCROOT    the same for a docroot within public
//	since           the first version of Hugo that supports it
type hugoProject struct {
	file, work string
	entries    map[string]string
}

func hugoProjects(t *testing.T) []string {
	names, err := filepath.Glob("testdata/hugo/*.txtar")
	if err != nil || len(names) < 7 {
		t.Fatalf("%d projects, %v", len(names), err)
	}
	return names
}

func unpackHugo(t *testing.T, file string) *hugoProject {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	testkit.Check(t, err)
	work, err := filepath.EvalSymlinks(t.TempDir())
	testkit.Check(t, err)
	p := &hugoProject{file, filepath.ToSlash(work), map[string]string{}}
	for _, f := range archive.Files {
		if !strings.Contains(f.Name, "/") || strings.HasPrefix(f.Name, "want ") {
			p.entries[f.Name] = string(f.Data)
			continue
		}
		name := filepath.Join(work, filepath.FromSlash(f.Name))
		testkit.Check(t, os.MkdirAll(filepath.Dir(name), 0o755))
		testkit.Check(t, os.WriteFile(name, f.Data, 0o644))
	}
	return p
}

func (p *hugoProject) site() string { return filepath.Join(p.work, "site") }

// check locates the links that the project wants.
func (p *hugoProject) check(t *testing.T) {
	t.Helper()
	for entry, text := range p.entries {
		if !strings.HasPrefix(entry, "want") {
			continue
		}
		docroot := "public"
		if _, other, ok := strings.Cut(entry, " "); ok {
			docroot = other
		}
		want := strings.Split(strings.TrimSpace(text), "\n")
		got := place(t, p.site(), docroot, want)
		for i := range want {
			if line := strings.ReplaceAll(got[i], p.work, "$WORK"); line != want[i] {
				t.Errorf("%s:\n got %s\nwant %s", entry, line, want[i])
			}
		}
	}
}

// TestHugoProjects uses builds of a real Hugo: languages by file and by directory,
// hosts, bundles, mounts, modules outside of the project, content adapters.
func TestHugoProjects(t *testing.T) {
	for _, file := range hugoProjects(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			unpackHugo(t, file).check(t)
		})
	}
}
