//go:build integration

package source

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/testkit"
)

// hugos returns the programs to test with: Debian's, and a newer one that
// .ci/run installs.
func hugos(t *testing.T) (names []string) {
	t.Helper()
	for _, name := range []string{"hugo", os.Getenv("SITELINK_HUGO")} {
		if path, err := exec.LookPath(name); err == nil {
			names = append(names, path)
		}
	}
	if len(names) == 0 {
		t.Skip("no hugo on PATH and no SITELINK_HUGO: .ci/run installs both")
	}
	return names
}

var hugoVersion = regexp.MustCompile(`v\d+\.\d+\.\d+`)

func versionOf(t *testing.T, hugo string) string {
	t.Helper()
	out, err := exec.Command(hugo, "version").Output()
	testkit.Check(t, err)
	return hugoVersion.FindString(string(out))
}

// minor returns the number that distinguishes versions of Hugo, 126 for
// v0.126.0.
func minor(t *testing.T, version string) (n int) {
	t.Helper()
	if _, err := fmt.Sscanf(strings.TrimPrefix(version, "v"), "0.%d.", &n); err != nil {
		t.Fatalf("version %q: %v", version, err)
	}
	return n
}

// TestHugoProjectsBuilt repeats [TestHugoProjects] with what each real Hugo
// builds and lists now.
func TestHugoProjectsBuilt(t *testing.T) {
	for _, hugo := range hugos(t) {
		version := versionOf(t, hugo)
		for _, file := range hugoProjects(t) {
			t.Run(version+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				p := unpackHugo(t, file)
				if since := strings.TrimSpace(p.entries["since"]); since != "" && minor(t, version) < minor(t, since) {
					t.Skipf("Hugo %s is older than %s", version, since)
				}
				testkit.Check(t, os.RemoveAll(filepath.Join(p.site(), "public")))
				cmd := exec.Command(hugo, "--quiet")
				cmd.Dir = p.site()
				testkit.Run(t, cmd)
				if *update {
					p.rewrite(t)
				}
				p.check(t)
				sameList(t, hugo, p.site(), filepath.Join(p.site(), "public"))
			})
		}
	}
}

// rewrite replaces what Hugo built in the archive.
func (p *hugoProject) rewrite(t *testing.T) {
	t.Helper()
	archive, err := txtar.ParseFile(p.file)
	testkit.Check(t, err)
	kept := archive.Files[:0]
	for _, f := range archive.Files {
		if !strings.HasPrefix(f.Name, "site/public/") {
			kept = append(kept, f)
		}
	}
	err = filepath.WalkDir(filepath.Join(p.site(), "public"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(p.work, name)
		kept = append(kept, txtar.File{Name: filepath.ToSlash(rel), Data: text})
		return err
	})
	testkit.Check(t, err)
	archive.Files = kept
	testkit.Check(t, os.WriteFile(p.file, txtar.Format(archive), 0o644))
}

// sameList compares the addresses of content files with those of `hugo list all`.
func sameList(t *testing.T, hugo, project, docroot string) {
	t.Helper()
	cmd := exec.Command(hugo, "list", "all")
	cmd.Dir = project
	out, err := cmd.Output()
	testkit.Check(t, err)
	_, out, _ = bytes.Cut(out, []byte("path,"))
	rows, err := csv.NewReader(bytes.NewReader(append([]byte("path,"), out...))).ReadAll()
	testkit.Check(t, err)
	link := slices.Index(rows[0], "permalink")
	want := map[string]string{}
	site, err := generator.Project{Generator: Hugo, Dir: project}.Hugo(os.Environ())
	testkit.Check(t, err)
	for _, row := range rows[1:] {
		for _, root := range site.Roots {
			if at, ok := strings.CutPrefix(row[link], root.Base); ok && !strings.HasSuffix(row[0], ".gotmpl") {
				at, err := url.PathUnescape(path.Join(root.Dir, at))
				testkit.Check(t, err)
				want[row[0]] = PageKey(at)
			}
		}
	}
	m, err := Open(t.Context(), Options{Project: project, Docroot: docroot, Generator: Hugo, Env: os.Environ()})
	testkit.Check(t, err)
	defer m.Close()
	got := map[string]string{}
	for _, f := range m.Content() {
		if f.Listed {
			got[f.File] = f.Page
		}
	}
	for file, at := range want {
		if got[file] != at {
			t.Errorf("%s: page %q, Hugo has %q", file, got[file], at)
		}
	}
	if version := versionOf(t, hugo); minor(t, version) >= 123 { // before, the list had no sections
		for file, at := range got {
			if _, ok := want[file]; !ok {
				t.Errorf("%s: page %q, Hugo has none", file, at)
			}
		}
	}
}
