//go:build integration

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestWatchBuildGenerators: watch --build, with real generators, names the source line of a
// link that an edit breaks, and that it is repaired after the next.
func TestWatchBuildGenerators(t *testing.T) {
	npm := os.Getenv("SITELINK_NPM")
	for name, tc := range map[string]struct {
		program string // in node_modules/.bin of npm, or a path
		files   testkit.Files
		page    string // the source that is edited
		head    string
	}{
		"mkdocs": {os.Getenv("SITELINK_MKDOCS"), testkit.Files{"mkdocs.yml": "site_name: t\n", "docs/index.md": "# Home\n"}, "docs/guide.md", "# Guide\n\n"},
		"sphinx": {os.Getenv("SITELINK_SPHINX"), testkit.Files{"conf.py": "project = 't'\n", "index.rst": "Home\n====\n\n.. toctree::\n\n   guide\n"}, "guide.rst", "Guide\n=====\n\n"},
		"astro": {"astro", testkit.Files{"package.json": `{"type": "module", "dependencies": {"astro": "5"}}`, "src/pages/index.md": "# Home\n"},
			"src/pages/guide.md", "# Guide\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := tc.program
			if filepath.Base(program) == program && npm != "" {
				program = filepath.Join(npm, "node_modules", ".bin", program)
			}
			if _, err := os.Stat(program); err != nil {
				t.Skipf("%s is not installed; .ci/run has it", name)
			}
			repo := t.TempDir()
			testkit.Check(t, os.Mkdir(filepath.Join(repo, ".git"), 0o755))
			w := &watched{t: t, root: filepath.Join(repo, "site")}
			for file, text := range tc.files {
				w.write(file, text)
			}
			link := func(to string) string {
				if strings.HasSuffix(tc.page, ".rst") {
					return tc.head + "`there <" + to + ">`_\n"
				}
				return tc.head + "[there](" + to + ")\n"
			}
			w.write(tc.page, link("/planted/"))
			if program != tc.program {
				testkit.Check(t, os.Symlink(filepath.Join(npm, "node_modules"), filepath.Join(w.root, "node_modules")))
			}
			w.start(func(cmd *exec.Cmd) {
				cmd.Dir, cmd.Args = w.root, []string{"sitelink", "watch", "--build", "--color", "never"}
				cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
			})
			for _, want := range []string{"error: ", "fixed: "} {
				if got := strings.Join(w.check(), "\n"); !strings.Contains(got, tc.page+":") || !strings.Contains(got, want) || !strings.Contains(got, "/planted/") {
					t.Fatalf("want %q: %s", want, got)
				}
				w.write(tc.page, link("https://example.net/"))
			}
			w.interrupted(10 * time.Second)
		})
	}
}
