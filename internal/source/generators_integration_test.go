//go:build integration

package source

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestGeneratorsBuilt repeats [TestLocate] with what real generators build now,
// for those that .ci/run installs. The file build of an archive is the command.
func TestGeneratorsBuilt(t *testing.T) {
	programs := map[string]string{}
	for name, env := range map[string]string{"eleventy": "SITELINK_NPM", "mkdocs": "SITELINK_MKDOCS"} {
		if at := os.Getenv(env); at != "" {
			programs[name] = map[string]string{"eleventy": filepath.Join(at, "node_modules", ".bin", "eleventy"), "mkdocs": at}[name]
		}
	}
	if jekyll, err := exec.LookPath("jekyll"); err == nil {
		programs["jekyll"] = jekyll
	}
	names, err := filepath.Glob("testdata/generators/*.txtar")
	testkit.Check(t, err)
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		testkit.Check(t, err)
		var build []string
		for _, f := range archive.Files {
			if f.Name == "build" {
				build = strings.Fields(string(f.Data))
			}
		}
		if build == nil {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			program, ok := programs[build[0]]
			if !ok {
				t.Skipf("%s is missing; .ci/run installs it", build[0])
			}
			project, want := extract(t, name)
			docroot, _, _ := strings.Cut(want[0], "/")
			testkit.Check(t, os.RemoveAll(filepath.Join(project, docroot)))
			cmd := exec.Command(program, build[1:]...)
			cmd.Dir = project
			testkit.Run(t, cmd)
			if *update {
				rewriteBuilt(t, name, archive, project, docroot)
			}
			for i, got := range place(t, project, docroot, want) {
				if got != want[i] {
					t.Errorf("got %s\nwant %s", got, want[i])
				}
			}
		})
	}
}

// rewriteBuilt replaces the built pages in the archive with those of the
// generator.
func rewriteBuilt(t *testing.T, name string, archive *txtar.Archive, project, docroot string) {
	t.Helper()
	var files []txtar.File
	for _, f := range archive.Files {
		if !strings.HasPrefix(f.Name, docroot+"/") {
			files = append(files, f)
		}
	}
	err := filepath.WalkDir(filepath.Join(project, docroot), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".html" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(project, name)
		files = append(files, txtar.File{Name: filepath.ToSlash(rel), Data: append(bytes.TrimRight(text, "\n"), '\n')})
		return err
	})
	testkit.Check(t, err)
	archive.Files = files
	testkit.Check(t, os.WriteFile(name, txtar.Format(archive), 0o644))
}
