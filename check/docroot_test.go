package check

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/docroot/docroottest"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/site"
)

func TestMain(m *testing.M) {
	docroottest.InMemory()
	m.Run()
}

// files describes a docroot: slash path -> contents. A path that ends in a
// slash is an empty directory, and contents of the form "-> TARGET" create a
// symbolic link.
type files map[string]string

// tempDocroot creates the files in a new directory that all users may read. In
// a private directory, the permissions of files would not matter.
func tempDocroot(t testing.TB, fs files) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "docroot")
	mkdir(t, root)
	addFiles(t, root, fs)
	return root
}

func addFiles(t testing.TB, root string, fs files) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(fs)) {
		full := filepath.Join(root, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			mkdir(t, full)
			continue
		}
		mkdir(t, filepath.Dir(full))
		if target, ok := strings.CutPrefix(fs[name], "-> "); ok {
			if err := os.Symlink(target, full); err != nil {
				t.Skipf("no symbolic links here: %v", err)
			}
			continue
		}
		if err := os.WriteFile(full, []byte(fs[name]), 0o644); err != nil {
			t.Fatal(err)
		}
		chmod(t, full, 0o644)
	}
}

func mkdir(t testing.TB, name string) {
	t.Helper()
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return
	}
	mkdir(t, filepath.Dir(name))
	if err := os.Mkdir(name, 0o755); err != nil {
		t.Fatal(err)
	}
	chmod(t, name, 0o755)
}

func chmod(t testing.TB, name string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

func load(t testing.TB, root string, opt isite.Options) *isite.Site {
	t.Helper()
	s, err := isite.Load(context.Background(), root, opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// handle returns the site as other modules see it.
func handle(s *isite.Site) *site.Site { return isite.Wrap(s).(*site.Site) }

func run(t testing.TB, s *isite.Site, opt Options) *Result {
	t.Helper()
	r, err := Run(context.Background(), handle(s), opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// render writes a link as one line.
func render(dst []byte, l *Link) []byte {
	b, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	return append(append(dst, b...), '\n')
}

// rows returns all links as findings, and the result with them.
func rows(t testing.TB, s *isite.Site, opt Options) ([]Finding, *Result) {
	t.Helper()
	var all []Finding
	r, err := Links(context.Background(), handle(s), opt, Query{}, func(l *Link) error {
		f := l.Finding()
		f.node, f.linkCode = 0, ""
		all = append(all, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, r
}

// checkFiles is tempDocroot, load and run in one.
func checkFiles(t testing.TB, fs files, sopt isite.Options, opt Options) *Result {
	t.Helper()
	return run(t, load(t, tempDocroot(t, fs), sopt), opt)
}

// brief writes a finding as "page:line:column verdict code raw".
func brief(f *Finding) string {
	return strings.TrimSpace(fmt.Sprintf("%s:%d:%d %s %s %s", f.Page, f.Line, f.Column, f.Verdict, f.Code, f.Raw))
}

func briefs(fs []Finding) []string {
	out := []string{}
	for i := range fs {
		out = append(out, brief(&fs[i]))
	}
	return out
}

// compareBriefs compares findings with lines in the form that brief writes.
func compareBriefs(t testing.TB, got []Finding, want ...string) {
	t.Helper()
	if b := briefs(got); !slices.Equal(b, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(b, "\n\t"), strings.Join(want, "\n\t"))
	}
}
