//go:build integration

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestLeaveOut: with the real generators, whichever way a configuration is written, a
// build beside an earlier one makes the same pages as the project's own first build, and so
// does the project's own build afterwards.
func TestLeaveOut(t *testing.T) {
	npm := os.Getenv("SITELINK_NPM")
	if npm == "" {
		t.Skip("SITELINK_NPM names no directory with Eleventy; .ci/run has it")
	}
	eleventy := filepath.Join(npm, "node_modules", ".bin", "eleventy")
	jekyll := testkit.Must(exec.LookPath("jekyll"))(t)
	const pkg = `{"devDependencies": {"@11ty/eleventy": "3"}}`
	for name, tc := range map[string]struct {
		build string
		args  []string
		files testkit.Files
	}{
		"none":             {eleventy, nil, testkit.Files{"package.json": pkg}},
		"ES, config":       {eleventy, nil, testkit.Files{"package.json": pkg, "eleventy.config.mjs": "export default async function (c) { c.addFilter('x', (v) => v); }\nexport const config = { dir: { output: 'out' } };\n"}},
		"ES, function":     {eleventy, nil, testkit.Files{"package.json": pkg, "eleventy.config.mjs": "export default (c) => ({ dir: { output: 'out' } });\n"}},
		"CommonJS":         {eleventy, nil, testkit.Files{"package.json": pkg, ".eleventy.js": "module.exports = (c) => ({ dir: { output: 'out' } });\n"}},
		"CommonJS, object": {eleventy, nil, testkit.Files{"package.json": pkg, ".eleventy.js": "module.exports = { dir: { output: 'out' } };\n"}},
		"Jekyll":           {jekyll, []string{"build"}, testkit.Files{"_config.yml": "destination: out\nexclude: [left.md]\n", "left.md": "---\n---\n# left\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			tc.files["index.md"], tc.files["about.md"] = "---\ntitle: t\n---\n[a](about.html)\n", "---\ntitle: a\n---\n# a\n"
			for name, text := range tc.files {
				testkit.Write(t, filepath.Join(dir, name), text)
			}
			if tc.build == eleventy {
				testkit.Check(t, os.MkdirAll(filepath.Join(dir, "node_modules"), 0o755))
				testkit.Check(t, os.Symlink(filepath.Dir(eleventy), filepath.Join(dir, "node_modules", ".bin")))
			}
			run := func(program string, args ...string) {
				t.Helper()
				cmd := exec.Command(program, args...)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != exitFindings {
					t.Fatalf("%s: %v\n%s", program, err, out)
				}
			}
			pages := func() (all []string) {
				for _, out := range []string{"_site", "out", ".sitelink/public", "node_modules/.sitelink/public"} {
					n := 0
					filepath.WalkDir(filepath.Join(dir, out), func(name string, _ os.DirEntry, err error) error {
						if filepath.Ext(name) == ".html" {
							n++
						}
						return nil
					})
					if n > 0 && n != 2 {
						t.Errorf("%s has %d pages", out, n)
					}
					if n > 0 {
						all = append(all, out)
					}
				}
				return all
			}
			run(tc.build, tc.args...)
			run("sitelink", "check", "--build")
			run("sitelink", "fix")
			run(tc.build, tc.args...)
			if got := pages(); len(got) != 2 {
				t.Errorf("built %q", got)
			}
		})
	}
}
