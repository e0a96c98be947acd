//go:build integration && linux

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// plugin is a package of plugins/ in a new project of its generator.
type plugin struct {
	name string
	// install gets the package from $OUT with the client of its language, and makes a
	// project that uses it. build builds the project.
	install, build string
	page           string // gets the broken link
	source         bool   // the report names the page
}

// plugins: NPM is the directory of packages from npm, PYTHON that of programs of Python.
var plugins = []plugin{
	{"eleventy", `npm_install eleventy-plugin-sitelink && printf '# Hello\n' >index.md &&
		echo 'import sitelink from "eleventy-plugin-sitelink"; export default (c) => { c.addPlugin(sitelink) }' >eleventy.config.mjs`,
		`$NPM/.bin/eleventy`, "index.md", true},
	{"astro", `npm_install astro-sitelink && mkdir -p src/pages && printf '# Welcome\n' >src/pages/index.md &&
		echo 'import sitelink from "astro-sitelink"; export default { integrations: [sitelink()] }' >astro.config.mjs`,
		`$NPM/.bin/astro build`, "src/pages/index.md", true},
	{"vitepress", `npm_install vite-plugin-sitelink && mkdir -p docs/.vitepress && printf '# Hello\n' >docs/index.md &&
		echo 'import sitelink from "vite-plugin-sitelink"; export default { title: "x", ignoreDeadLinks: true, buildEnd: sitelink.vitepress() }' >docs/.vitepress/config.mjs`,
		`$NPM/.bin/vitepress build docs`, "docs/index.md", true},
	{"vite", `npm_install vite-plugin-sitelink && printf '<!doctype html><title>x</title>\n' >index.html &&
		echo 'import sitelink from "vite-plugin-sitelink"; export default { plugins: [sitelink()] }' >vite.config.mjs`,
		`$NPM/.bin/vite build`, "index.html", false},
	{"mkdocs", `pip_install mkdocs_sitelink && mkdir docs && printf '# Hello\n' >docs/index.md && printf 'site_name: x\nplugins: [sitelink]\n' >mkdocs.yml`,
		`$PYTHON/mkdocs build`, "docs/index.md", true},
	{"sphinx", `pip_install sphinx_sitelink && printf 'Hello\n=====\n' >index.rst && echo 'extensions = ["sphinx_sitelink"]' >conf.py`,
		`$PYTHON/sphinx-build -b html . _build/html`, "index.rst", false},
	{"jekyll", `gem install --silent --local --ignore-dependencies --no-document --install-dir gems $OUT/sitelink-*.gem $OUT/jekyll-sitelink-*.gem &&
		printf -- '---\n---\n# Hello\n' >index.md && printf 'plugins: [jekyll-sitelink]\nexclude: [gems]\n' >_config.yml`,
		`GEM_PATH="$PWD/gems:$(gem env gempath)" jekyll build`, "index.md", true},
}

// pluginShell has what the scripts of the plugins call.
const pluginShell = `set -eu
npm_install() {
	echo '{"private": true, "type": "module"}' >package.json
	npm install --offline --legacy-peer-deps --no-audit --no-fund --no-update-notifier --loglevel error \
		$OUT/sitelink-[0-9]*.tgz $OUT/sitelink-linux-*.tgz $OUT/$1-*.tgz >&2
	for package in $NPM/*; do [ -e node_modules/${package##*/} ] || ln -s $package node_modules/; done
}
pip_install() { $PYTHON/python -m pip install --quiet --disable-pip-version-check --no-index --no-deps --target lib $OUT/sitelink-*.whl $OUT/$1-*.whl >&2; }
export PYTHONPATH="$PWD/lib"
`

// TestPlugins makes the packages of plugins/, installs them with the ordinary clients, and
// builds a good and a broken site with each generator.
func TestPlugins(t *testing.T) {
	npm, python := os.Getenv("SITELINK_NPM"), os.Getenv("SITELINK_PYTHON")
	if npm == "" || python == "" {
		t.Fatal("SITELINK_NPM or SITELINK_PYTHON is not set: bash .ci/run installs what the plugins need")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dist, out := t.TempDir(), t.TempDir()
	env := append(os.Environ(), "PATH="+filepath.Dir(python)+":"+os.Getenv("PATH"), "OUT="+out, "NPM="+filepath.Join(npm, "node_modules"),
		"PYTHON="+filepath.Dir(python), "CI=true", "NO_COLOR=1", "ASTRO_TELEMETRY_DISABLED=1")
	shell := func(t *testing.T, dir, script string) (string, error) {
		t.Helper()
		command := exec.CommandContext(t.Context(), "bash", "-c", script)
		command.Dir, command.Env = dir, env
		text, err := command.CombinedOutput()
		return string(text), err
	}
	const version = "1.2.3-dev.abc"
	if text, err := shell(t, root, `set -eu
		go build -trimpath -ldflags "-s -w" -o `+dist+`/sitelink ./cmd/sitelink
		cp cmd/sitelink/licenses.txt `+dist+`
		tar -C `+dist+` -czf `+dist+`/sitelink_`+version+`_linux_`+runtime.GOARCH+`.tar.gz sitelink licenses.txt
		SITELINK_PLATFORMS=linux_`+runtime.GOARCH+` bash plugins/pack `+version+` `+dist+` `+out); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, p := range plugins {
		t.Run(p.name, func(t *testing.T) {
			dir := t.TempDir()
			if text, err := shell(t, dir, pluginShell+p.install); err != nil {
				t.Fatalf("install: %v\n%s", err, text)
			}
			text, err := shell(t, dir, pluginShell+p.build)
			if err != nil || !strings.Contains(text, "ok: checked ") && p.name != "sphinx" { // Sphinx prints no more than its own lines
				t.Errorf("a good site: %v\n%s", err, text)
			}
			page := filepath.Join(dir, p.page)
			before, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			link := "\n<a href=\"/gone/\">gone</a>\n"
			if p.name == "sphinx" {
				link = "\n`gone </gone/>`_\n"
			}
			if err := os.WriteFile(page, append(before, link...), 0o644); err != nil {
				t.Fatal(err)
			}
			text, err = shell(t, dir, pluginShell+p.build)
			if err == nil || !strings.Contains(text, "directory not found: /gone/ [missing-directory]") || p.source && !strings.Contains(text, p.page+":") {
				t.Errorf("a broken site: %v\n%s", err, text)
			}
			// Nothing to run: one error, in the form of the generator.
			text, err = shell(t, dir, "export SITELINK_BINARY=/nowhere/sitelink\n"+pluginShell+p.build)
			if err == nil || !strings.Contains(text, "sitelink could not be started: ") {
				t.Errorf("without the program: %v\n%s", err, text)
			}
		})
	}
}
