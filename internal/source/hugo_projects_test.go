package source

import (
	"fmt"
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
//	want-names      the same without Hugo, if it differs from want
//	since           the first version of Hugo that supports it
//	list, mounts    what Hugo answered
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

// check locates the links that the project wants, with a Hugo and without.
func (p *hugoProject) check(t *testing.T, hugo string) {
	t.Helper()
	for entry, text := range p.entries {
		if !strings.HasPrefix(entry, "want") {
			continue
		}
		docroot := "public"
		if _, other, ok := strings.Cut(entry, " "); ok {
			docroot = other
		}
		asked := []string{hugo}
		switch _, differs := p.entries["want-names"]; {
		case entry == "want-names":
			asked = []string{""}
		case entry == "want" && !differs:
			asked = append(asked, "")
		}
		want := strings.Split(strings.TrimSpace(text), "\n")
		for _, ask := range asked {
			got := place(t, p.site(), docroot, ask, want)
			for i := range want {
				if line := strings.ReplaceAll(got[i], p.work, "$WORK"); line != want[i] {
					t.Errorf("%s, Hugo %q:\n got %s\nwant %s", entry, ask, line, want[i])
				}
			}
		}
	}
}

// heldHugo is what Hugo says about a configuration that lets content adapters do
// nothing.
const heldHugo = `{
"security": {"exec": {"allow": "none"}, "http": {"urls": ["none"]}, "funcs": {"getenv": "none"}}}`

// TestHugoProjects uses recorded answers and builds of a real Hugo: languages
// by file and by directory, hosts, bundles, mounts, modules outside of the
// project, content adapters.
func TestHugoProjects(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no shell available to replace Hugo")
	}
	for _, file := range hugoProjects(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			p := unpackHugo(t, file)
			script := "#!/bin/sh\ncase \"$*\" in\n"
			for args, entry := range map[string]string{"list all": "list", "config mounts": "mounts"} {
				answer, ok := p.entries[entry]
				if !ok {
					t.Fatalf("no entry %s: rewrite the archive with the integration test and -update", entry)
				}
				name := filepath.Join(p.work, entry)
				testkit.Check(t, os.WriteFile(name, []byte(strings.ReplaceAll(answer, "$WORK", p.work)), 0o644))
				script += fmt.Sprintf("'%s') cat '%s';;\n", args, name)
			}
			hugo := filepath.Join(p.work, "hugo")
			if err := os.WriteFile(hugo, []byte(script+"'config --format json'*) echo '"+heldHugo+"';;\n*) exit 3;;\nesac\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			p.check(t, hugo)
		})
	}
}
