//go:build integration

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	bin := t.TempDir() // stand-ins for Lume, which the packages of npm do not have, and Quarto
	testkit.Write(t, filepath.Join(bin, "deno"), lumeStandIn)
	testkit.Write(t, filepath.Join(bin, "quarto"), quartoStandIn)
	for _, name := range []string{"deno", "quarto"} {
		testkit.Check(t, os.Chmod(filepath.Join(bin, name), 0o755))
	}
	mdbook := filepath.Dir(os.Getenv("SITELINK_SPHINX"))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH")+string(os.PathListSeparator)+mdbook)
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
		"Lume":             {"deno", []string{"task", "lume"}, testkit.Files{"deno.json": "{}", "package.json": `{"type": "module"}`, "_config.js": "export default lume({ dest: 'out' });\n"}},
		"Quarto":           {"quarto", []string{"render", "."}, testkit.Files{"_quarto.yml": "project:\n  type: website\n  output-dir: out\n"}},
		"mdBook":           {filepath.Join(mdbook, "mdbook"), []string{"build"}, testkit.Files{"book.toml": "[book]\nsrc = '.'\n[build]\nbuild-dir = 'out'\n[output.html.print]\nenable = false\n", "SUMMARY.md": "- [a](index.md)\n- [b](about.md)\n"}},
		"Jekyll":           {jekyll, []string{"build"}, testkit.Files{"_config.yml": "destination: out\nexclude: [left.md]\n", "left.md": "---\n---\n# left\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
			want := 2
			if name == "mdBook" {
				want = 4
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
					if n > 0 && n != want {
						t.Errorf("%s has %d pages, want %d", out, n, want)
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
			if name != "mdBook" { // it copies .sitelink, and .git, where the project itself has the content
				run(tc.build, tc.args...)
			}
			if got := pages(); len(got) != 2 {
				t.Errorf("built %q", got)
			}
		})
	}
}

// TestMissingChapter: mdBook writes an empty chapter where SUMMARY.md names a file that is
// missing. A build by sitelink fails instead, and writes nothing into the sources.
func TestMissingChapter(t *testing.T) {
	t.Setenv("PATH", os.Getenv("PATH")+string(os.PathListSeparator)+filepath.Dir(os.Getenv("SITELINK_SPHINX")))
	dir := testkit.MakeDocroot(t, testkit.Files{"book.toml": "[book]\ntitle = 't'\n", "src/SUMMARY.md": "- [a](a.md)\n- [b](parts/bb.md)\n- [draft]()\n", "src/a.md": "# a\n", ".gitignore": "/.sitelink/\n"})
	testkit.Git(t, dir, "init", "-q", "-b", "main")
	testkit.Git(t, dir, "add", "-A")
	testkit.Git(t, dir, "commit", "-q", "-m", "a")
	for _, args := range [][]string{{"check", "--build"}, {"hook", "run"}} {
		if code, out := runAll(dir, os.Environ(), []string{"sitelink " + strings.Join(args, " ")}); code != exitFailed || !strings.Contains(out, "parts/bb.md") {
			t.Errorf("%s: left with %d\n%s", args, code, out)
		}
	}
	if status := testkit.Git(t, dir, "status", "--porcelain"); status != "" {
		t.Errorf("written into the sources: %s", status)
	}
}

// lumeStandIn is deno with a task that behaves like Lume 3, according to its sources: every
// path is below the directory. It leaves out the directory that it builds into, names that
// begin with an underscore or a dot, and what the configuration ignores.
const lumeStandIn = `#!/usr/bin/env node
const fs = require("node:fs"), path = require("node:path");
const arg = (name) => process.argv.find((a) => a.startsWith("--" + name + "="))?.split("=")[1];
const below = (...names) => path.join(process.cwd(), ...names);
globalThis.lume = (options) => ({ dest: arg("dest") ?? options.dest, ignored: [], src: below, root: below, ignore(f) { this.ignored.push(f); } });
import(path.resolve(arg("config") ?? "_config.js")).then(({ default: site }) => {
  const out = below(site.dest);
  const walk = (dir) => {
    for (const e of fs.readdirSync(below(dir), { withFileTypes: true })) {
      const name = path.join(dir, e.name);
      if (/^[_.]/.test(e.name) || below(name) === out || site.ignored.some((f) => f(name))) continue;
      if (e.isDirectory()) walk(name);
      if (!/\.(md|html)$/.test(name)) continue;
      fs.mkdirSync(path.join(out, dir), { recursive: true });
      fs.writeFileSync(path.join(out, name.replace(/\.md$/, ".html")), "<p>");
    }
  };
  walk("/");
});
`

// quartoStandIn behaves like Quarto, according to its documentation and sources: every
// Markdown file is input, except names that begin with an underscore or a dot, and files in
// the directory that it builds into. The project has its pages also as Markdown.
const quartoStandIn = `#!/bin/sh
out=$(sed -n 's/ *output-dir: //p' _quarto.yml)
while [ $# -gt 0 ]; do [ "$1" != --output-dir ] || out=$2; shift; done
find . -name '[_.]?*' -prune -o -path "./$out" -prune -o -name '*.md' -print | while read -r f; do
  mkdir -p "$out/$(dirname "$f")" && cp "$f" "$out/$f" && echo '<p>' >"$out/${f%.md}.html"
done
`
