//go:build integration && linux

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// plugin is a package of plugins/ for one generator. Its example is built as it is, and
// after shell scripts that change it.
type plugin struct {
	dir            string // below plugins/
	install, build string // install gets the package with the client of its language
	index          string // a built page, which no finding removes
	mistake        string // makes a mistake in a page
	finding        string // what the report then begins with
	never          string // sets the option fail-on to never
	unknown        string // sets an option that does not exist
	isUnknown      string // and the answer
	twice          string // uses the plugin twice
	isTwice        string // and the answer
	fails          string // makes a page that the generator cannot build
	isFailure      string // and the answer
	late           string // adds another plugin after it, which writes late.txt, and a link to that
	watch          string // builds after each change
	again          string // makes a second mistake
	earlier        string // a major version of the generator that npm refuses
}

var plugins = []plugin{
	{dir: "npm/eleventy-plugin-sitelink", late: `sed -i 's,config.addPlugin.*,&; config.on("eleventy.after", async () => { await new Promise((r) => setTimeout(r, 500)); (await import("fs")).writeFileSync("_site/late.txt"\, "") });,' eleventy.config.mjs && echo '[b](/late.txt)' >>index.md`, install: `npm_install eleventy-plugin-sitelink`, build: `$NPM/.bin/eleventy`, index: "_site/index.html",
		mistake: `sed -i s,/install/,/instal/, index.md`, finding: "index.md:3:17: error: directory not found: /instal/",
		never:   `sed -i 's/(sitelink/&, { failOn: "never" }/' eleventy.config.mjs`,
		unknown: `sed -i 's/(sitelink/&, { ignored: [] }/' eleventy.config.mjs`, isUnknown: `unknown option "ignored"; the options are failOn, ignore`,
		twice: `sed -i 's/.*addPlugin.*/&&/' eleventy.config.mjs`, isTwice: "eleventy-plugin-sitelink is added twice",
		fails: `echo '{% bad %}' >bad.md`, isFailure: `tag "bad" not found`,
		watch: `$NPM/.bin/eleventy --watch`, again: `echo '[b](/also/)' >>index.md`, earlier: "@11ty/eleventy@1.0.2"},
	{dir: "npm/astro-sitelink", late: `sed -i 's/sitelink()/&, { name: "late", hooks: { "astro:build:done": async () => (await import("fs")).writeFileSync("dist\/late.txt", "") } }/' astro.config.mjs && echo '[b](/late.txt)' >>src/pages/index.md`, install: `npm_install astro-sitelink`, build: `$NPM/.bin/astro build`, index: "dist/index.html",
		mistake: `sed -i s,/install/,/instal/, src/pages/index.md`, finding: "src/pages/index.md:3:17: error: directory not found: /instal/",
		never:   `sed -i 's/sitelink()/sitelink({ failOn: "never" })/' astro.config.mjs`,
		unknown: `sed -i 's/sitelink()/sitelink({ ignored: [] })/' astro.config.mjs`, isUnknown: `unknown option "ignored"`,
		twice: `sed -i 's/sitelink()/&, &/' astro.config.mjs`, isTwice: "astro-sitelink is used twice",
		fails: `printf -- '---\nthrow new Error("broken by hand");\n---\n' >src/pages/bad.astro`, isFailure: "broken by hand", earlier: "astro@3.6.5"},
	{dir: "npm/vitepress-plugin-sitelink", install: `npm_install vitepress-plugin-sitelink`, build: `$NPM/.bin/vitepress build docs`, index: "docs/.vitepress/dist/index.html",
		mistake: `sed -i s/#requirements/#requirments/ docs/index.md`, finding: "docs/index.md:3:17: error: ",
		never:   `sed -i 's/sitelink()/sitelink({ failOn: "never" })/' docs/.vitepress/config.mjs`,
		unknown: `sed -i 's/sitelink()/sitelink({ ignored: [] })/' docs/.vitepress/config.mjs`, isUnknown: `unknown option "ignored"`,
		fails: `echo '<b>{{ ' >docs/bad.md`, isFailure: "docs/bad.md", earlier: "vitepress@0.22.4"},
	{dir: "npm/vite-plugin-sitelink", install: `npm_install vite-plugin-sitelink`, build: `$NPM/.bin/vite build`, index: "dist/index.html",
		mistake: `sed -i s,/install.html,/instal.html, index.html`, finding: "dist/index.html:3:19: error: file not found: /instal.html",
		never:   `sed -i 's/sitelink()/sitelink({ failOn: "never" })/' vite.config.mjs`,
		unknown: `sed -i 's/sitelink()/sitelink({ ignored: [] })/' vite.config.mjs`, isUnknown: `unknown option "ignored"`,
		twice: `sed -i 's/sitelink()/&, &/' vite.config.mjs`, isTwice: "vite-plugin-sitelink is used twice",
		fails: `echo '<script type="module" src="/nowhere.js"></script>' >>index.html`, isFailure: "nowhere.js",
		watch: `$NPM/.bin/vite build --watch`, again: `echo '<a href="/also/">b</a>' >>index.html`, earlier: "vite@3.2.11"},
	{dir: "npm/docusaurus-plugin-sitelink", late: `sed -i 's/plugins: .*/plugins: ["docusaurus-plugin-sitelink", () => ({ name: "late", async postBuild() { await new Promise((r) => setTimeout(r, 500)); (await import("fs")).writeFileSync("build\/late.txt", "") } })],/' docusaurus.config.mjs && echo '<a href="/late.txt">b</a>' >>docs/index.md`, install: `npm_install docusaurus-plugin-sitelink`, build: `$NPM/.bin/docusaurus build --no-minify`, index: "build/index.html",
		mistake: `sed -i s/#requirements/#requirments/ docs/index.md`, finding: "docs/index.md:7:17: error: ",
		never:   `sed -i 's/plugins: \["[^"]*"/plugins: [["docusaurus-plugin-sitelink", { failOn: "never" }]/' docusaurus.config.mjs`,
		unknown: `sed -i 's/plugins: \["[^"]*"/plugins: [["docusaurus-plugin-sitelink", { ignored: [] }]/' docusaurus.config.mjs`, isUnknown: `unknown option "ignored"`,
		twice: `sed -i 's/plugins: \["[^"]*"/&, "docusaurus-plugin-sitelink"/' docusaurus.config.mjs`, isTwice: "used 2 times", earlier: "@docusaurus/core@1.14.7"},
	{dir: "npm/netlify-plugin-sitelink", install: `npm_install netlify-plugin-sitelink && git init -q .`, build: `$NPM/.bin/netlify-build --offline`, index: "public/index.html",
		mistake: `sed -i s,/install,/instal, public/index.html`, finding: "public/index.html:3:19: error: file not found: /instal",
		never:   `printf '[plugins.inputs]\nfailOn = "never"\n' >>netlify.toml`,
		unknown: `printf '[plugins.inputs]\nignored = "x"\n' >>netlify.toml`, isUnknown: `Unknown inputs for plugin "netlify-plugin-sitelink": "ignored"`},
	{dir: "python/mkdocs-sitelink", install: `pip_install mkdocs_sitelink`, build: `$PYTHON/mkdocs build`, index: "site/index.html",
		mistake: `sed -i s/#requirements/#requirments/ docs/index.md`, finding: "docs/index.md:3:17: error: ",
		never:   `printf '      fail_on: never\n' >>mkdocs.yml && sed -i 's/- sitelink/&:/' mkdocs.yml`,
		unknown: `printf '      ignored: []\n' >>mkdocs.yml && sed -i 's/- sitelink/&:/' mkdocs.yml`, isUnknown: "Unrecognised configuration name: ignored",
		twice: `echo '  - sitelink' >>mkdocs.yml`, isTwice: "specified multiple times",
		fails: `echo 'hooks: [bad.py]' >>mkdocs.yml && echo 'def on_page_markdown(*a, **b): raise ValueError("broken by hand")' >bad.py`, isFailure: "broken by hand",
		watch: `$PYTHON/mkdocs serve --dev-addr 127.0.0.1:0`, again: `echo '<a href="/also/">b</a>' >>docs/index.md`},
	{dir: "python/sphinx-sitelink", late: `printf 'def setup(app): app.connect("build-finished", lambda app, e: open(str(app.outdir) + "/late.txt", "w").close())\n' >>conf.py && printf '\n.. raw:: html\n\n   <a href="/late.txt">b</a>\n' >>index.rst`, install: `pip_install sphinx_sitelink`, build: `$PYTHON/sphinx-build -b html . _build/html`, index: "_build/html/index.html",
		mistake: `sed -i s/#requirements/#requirments/ index.rst`, finding: "index.rst:4:17: error: ",
		never: `echo 'sitelink_fail_on = "never"' >>conf.py`,
		twice: `sed -i 's/"sphinx_sitelink"/&, &/' conf.py`, isTwice: "ok: checked",
		fails: `printf 'def setup(app): app.connect("source-read", lambda *a: 1 / 0)\n' >>conf.py`, isFailure: "division by zero"},
	{dir: "ruby/jekyll-sitelink", install: `gem install --silent --local --ignore-dependencies --no-document --install-dir vendor $OUT/sitelink-*.gem $OUT/jekyll-sitelink-*.gem && rm Gemfile`,
		build: `jekyll build`, index: "_site/index.html",
		mistake: `sed -i s,/install.html,/instal.html, index.md`, finding: "index.md:6:17: error: file not found: /instal.html",
		never:   `printf 'sitelink: {fail_on: never}\n' >>_config.yml`,
		unknown: `printf 'sitelink: {ignored: []}\n' >>_config.yml`, isUnknown: `unknown option "ignored"`,
		twice: `sed -i 's/\[jekyll-sitelink/&, jekyll-sitelink/' _config.yml`, isTwice: "ok: checked",
		fails: `printf -- '---\n---\n{%% bad %%}\n' >bad.md`, isFailure: "Unknown tag 'bad'",
		watch: `jekyll build --watch`, again: `echo '[b](/also.html)' >>index.md`},
}

// pluginShell has what the scripts of the plugins call.
const pluginShell = `set -eu
npm_install() {
	echo '{"private": true}' >package.json # Docusaurus cannot build a project of type module
	npm install --offline --legacy-peer-deps --no-audit --no-fund --no-update-notifier --loglevel error \
		$OUT/sitelink-[0-9]*.tgz $OUT/sitelink-linux-*.tgz $OUT/$1-*.tgz >&2
	ln -s -t node_modules $NPM/*
}
pip_install() { $PYTHON/python -m pip install --quiet --disable-pip-version-check --no-index --no-deps --target lib $OUT/sitelink-*.whl $OUT/$1-*.whl >&2; }
export PYTHONPATH="$PWD/lib" GEM_PATH="$PWD/vendor:$(gem env gempath)"
`

// pluginBench has the packages of plugins/, made from the program as it is.
type pluginBench struct {
	root string
	env  []string
}

func newPluginBench(t *testing.T) *pluginBench {
	t.Helper()
	npm, python := os.Getenv("SITELINK_NPM"), os.Getenv("SITELINK_PYTHON")
	if npm == "" || python == "" {
		t.Fatal("SITELINK_NPM or SITELINK_PYTHON is not set: bash .ci/run installs what the plugins need")
	}
	root := testkit.Must(filepath.Abs("../.."))(t)
	dist, out := t.TempDir(), t.TempDir()
	// Behind a proxy that does not answer: no package downloads anything.
	b := &pluginBench{root, append(os.Environ(), "PATH="+filepath.Dir(python)+":"+os.Getenv("PATH"), "OUT="+out, "NPM="+filepath.Join(npm, "node_modules"),
		"PYTHON="+filepath.Dir(python), "CI=true", "NO_COLOR=1", "ASTRO_TELEMETRY_DISABLED=1", "PYTHONUNBUFFERED=1",
		"http_proxy=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9")}
	const version = "1.2.3-dev.abc"
	if text, err := b.shell(t, root, `set -eu
		go build -trimpath -ldflags "-s -w" -o `+dist+`/sitelink ./cmd/sitelink
		cp cmd/sitelink/licenses.txt `+dist+`
		tar -C `+dist+` -czf `+dist+`/sitelink_`+version+`_linux_`+runtime.GOARCH+`.tar.gz sitelink licenses.txt
		SITELINK_PLATFORMS=linux_`+runtime.GOARCH+` bash plugins/pack `+version+` `+dist+` `+out); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return b
}

func (b *pluginBench) shell(t *testing.T, dir, script string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "bash", "-c", script)
	command.Dir, command.Env = dir, b.env
	text, err := command.CombinedOutput()
	// Jekyll does not know NO_COLOR.
	return regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(string(text), ""), err
}

// install copies the example of a plugin, and installs the plugin there.
func (b *pluginBench) install(t *testing.T, p plugin) string {
	t.Helper()
	// A blank, as in the paths of many users of Windows.
	dir := filepath.Join(t.TempDir(), "my site")
	testkit.Check(t, os.CopyFS(dir, os.DirFS(filepath.Join(b.root, "plugins", p.dir, "example"))))
	if text, err := b.shell(t, dir, pluginShell+p.install); err != nil {
		t.Fatalf("install: %v\n%s", err, text)
	}
	return dir
}

// copyOf copies an installed example, for one case.
func (b *pluginBench) copyOf(t *testing.T, dir, name string) string {
	t.Helper()
	site := dir + " " + name
	if text, err := b.shell(t, dir, `cp -a . "`+site+`"`); err != nil {
		t.Fatal(err, text)
	}
	return site
}

// TestPlugins makes the packages of plugins/, installs them with the ordinary clients, and
// builds the example of each: as it is, with a mistake, with what can go wrong, and after
// changes. The README of each plugin shows what the mistake is answered with (-update rewrites it).
func TestPlugins(t *testing.T) {
	t.Parallel()
	bench := newPluginBench(t)
	// What the plugins of a language share is tried with its first one, which is fast.
	shared := []string{"fail-on never", "a build of sitelink", "no program for the platform", "a program that does not start", "a site that cannot be checked", "a read-only cache"}
	tried := map[string]bool{}
	for _, p := range plugins {
		others := tried[filepath.Dir(p.dir)]
		tried[filepath.Dir(p.dir)] = true
		t.Run(filepath.Base(p.dir), func(t *testing.T) {
			t.Parallel()
			dir := bench.install(t, p)
			reported := regexp.QuoteMeta(p.finding) + `(.*\n)+?\s*checked .*: 1 error`
			for _, test := range []struct {
				name, change string
				ok           bool
				want         string // a regular expression; the case does not apply if it is empty
			}{
				{"a good site", "true", true, map[bool]string{true: "ok: checked "}[p.late == ""]},
				{"a mistake", p.mistake, false, reported},
				{"fail-on never", p.mistake + "\n" + p.never, true, reported},
				{"an unknown option", p.unknown, false, regexp.QuoteMeta(p.isUnknown)},
				{"used twice", p.twice, false, regexp.QuoteMeta(p.isTwice)},
				{"files of other plugins", p.late, true, map[bool]string{true: "ok: checked "}[p.late != ""]},
				{"a build that fails", p.fails, false, regexp.QuoteMeta(p.isFailure)},
				{"no program for the platform", `rm -rf node_modules/@sitelink lib/sitelink/bin vendor/gems/sitelink-*/libexec`, false, "set SITELINK_BINARY to a sitelink that you built"},
				{"a program that does not start", `export SITELINK_BINARY=/nowhere/sitelink`, false, "sitelink could not be started: "},
				{"a site that cannot be checked", `echo 'no-such-key = 1' >sitelink.toml`, false, `sitelink could not check \S+ \(exit code 2\):\s+(.*\s+)?.*no-such-key`},
				{"a read-only cache", `export XDG_CACHE_HOME=/dev/null/cache`, true, "ok: checked "},
				{"a build of sitelink", p.mistake + "\nexport SITELINK_OUT=$PWD/out", true, "sitelink started this build, and checks the site itself"},
			} {
				if test.want == "" || others && slices.Contains(shared, test.name) {
					continue
				}
				t.Run(test.name, func(t *testing.T) {
					site := bench.copyOf(t, dir, test.name)
					text, err := bench.shell(t, site, pluginShell+test.change+"\n"+p.build)
					// Generators take some of these inputs with a warning.
					if test.ok && err != nil || !test.ok && err == nil && test.name != "used twice" && !strings.HasPrefix(p.isUnknown, "Unrecognised") {
						t.Errorf("exit: %v", err)
					}
					report := regexp.MustCompile(test.want).FindString(text)
					if report == "" || test.name == "a mistake" && strings.Count(text, "\n"+p.finding)+strings.Count(text, " "+p.finding) > 1 {
						t.Errorf("not one %q in\n%s", test.want, text)
					}
					if _, err := os.Stat(filepath.Join(site, p.index)); err != nil && (test.ok || test.name == "a mistake") {
						t.Errorf("the build is lost: %v", err)
					}
					if test.name == "a mistake" {
						readmeShows(t, filepath.Join(bench.root, "plugins", p.dir, "README.md"), report)
					}
				})
			}
			if p.watch != "" {
				t.Run("watch", func(t *testing.T) { bench.watch(t, p, bench.copyOf(t, dir, "watch")) })
			}
		})
	}
	t.Run("another major version", func(t *testing.T) {
		t.Parallel()
		for _, p := range plugins {
			if p.earlier == "" {
				continue
			}
			dir, at := t.TempDir(), strings.LastIndex(p.earlier, "@")
			name, version, plugin := p.earlier[:at], p.earlier[at+1:], filepath.Base(p.dir)
			testkit.Write(t, filepath.Join(dir, "old", "package.json"), `{"name": "`+name+`", "version": "`+version+`"}`)
			text, err := bench.shell(t, dir, `npm init -y >/dev/null && npm install --offline --legacy-peer-deps --no-audit --install-links ./old $OUT/sitelink-[0-9]*.tgz $OUT/sitelink-linux-*.tgz $OUT/`+plugin+`-*.tgz
				npm ls `+name)
			if err == nil || !strings.Contains(text, `" from node_modules/`+plugin) {
				t.Errorf("%s: %v\n%s", p.earlier, err, text)
			}
		}
	})
}

// TestPluginsWindows: on Windows, the packages of npm and PyPI find sitelink.exe, and npm's
// shortens a docroot below the working directory.
func TestPluginsWindows(t *testing.T) {
	dir := t.TempDir()
	testkit.Check(t, os.CopyFS(dir, os.DirFS("../../plugins/python/sitelink")))
	testkit.Check(t, os.Remove(filepath.Join(dir, "README.md"))) // both have one
	testkit.Check(t, os.CopyFS(dir, os.DirFS("../../plugins/npm/sitelink")))
	testkit.Write(t, filepath.Join(dir, "node_modules/@sitelink/win32-x64/bin/sitelink.exe"), "x")
	testkit.Write(t, filepath.Join(dir, "sitelink/bin/sitelink.exe"), "x")
	for program, test := range map[string][2]string{
		"python3": {`import os, sitelink; os.name = "nt"; print(sitelink.binary())`, dir + "/sitelink/bin/sitelink.exe\n"},
		"node": {`Object.defineProperty(process, "platform", { value: "win32" });
			Object.defineProperty(process, "arch", { value: "x64" });
			const sitelink = require("./index.js"), path = require("node:path");
			console.log(sitelink.binary());
			Object.assign(path, path.win32);
			process.cwd = () => "C:\\me\\my site";
			process.env.SITELINK_BINARY = "/bin/echo";
			(async () => {
				for (const docroot of ["C:\\me\\my site\\site\\public", "D:\\public"]) console.log((await sitelink.check(docroot)).report);
			})()`, dir + "/node_modules/@sitelink/win32-x64/bin/sitelink.exe\ncheck site\\public --format text\ncheck D:\\public --format text\n"},
	} {
		if got := command(t, dir, program, map[string]string{"node": "-e", "python3": "-c"}[program], test[0]); got != test[1] {
			t.Errorf("%s: %s, want %s", program, got, test[1])
		}
	}
}

// readmeShows compares the first block of a README with a report.
func readmeShows(t *testing.T, name, report string) {
	t.Helper()
	text := testkit.Read(t, name)
	// Netlify indents, and does not leave lines empty.
	report = strings.ReplaceAll(report, "\u200b", "")
	margin := regexp.MustCompile(`\s*`).FindString(report[strings.LastIndex(report, "\n")+1:])
	report = strings.ReplaceAll(report, "\n"+margin, "\n")
	block := regexp.MustCompile("(?s)```text\n.*?```")
	now := block.ReplaceAllLiteralString(string(text), "```text\n"+report+"\n```")
	if *update {
		testkit.Write(t, name, now)
	} else if now != string(text) {
		t.Errorf("%s shows another report than\n%s\n(go test -update rewrites it)", name, report)
	}
}

// watch starts what builds the copy of an example after each change: a plugin prints what is
// new since the last build, and the build goes on.
func (b *pluginBench) watch(t *testing.T, p plugin, dir string) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	log := testkit.Must(os.Create(filepath.Join(t.TempDir(), "log")))(t)
	defer log.Close()
	command := exec.CommandContext(ctx, "bash", "-c", pluginShell+p.mistake+"\nexec "+p.watch)
	command.Dir, command.Env, command.Stdout, command.Stderr = dir, b.env, log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) }
	testkit.Check(t, command.Start())
	defer func() { cancel(); command.Wait() }()
	await := func(want string) string {
		for {
			text := testkit.Read(t, log.Name())
			if strings.Contains(string(text), want) {
				return string(text)
			}
			select {
			case <-ctx.Done():
				t.Fatalf("no %q in\n%s", want, text)
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	await(": error: ")
	// Some generators look for changes only after they printed this.
	time.Sleep(time.Second)
	if text, err := b.shell(t, dir, p.again); err != nil {
		t.Fatal(err, text)
	}
	if text := await("/also"); strings.Count(text, p.finding) != 1 {
		t.Errorf("the first mistake is not reported once:\n%s", text)
	}
}

// TestHugoModule builds the example of the module for Hugo, with the module from its
// directory. README.md shows the elements of a page.
func TestHugoModule(t *testing.T) {
	hugo := os.Getenv("SITELINK_HUGO")
	if hugo == "" {
		t.Fatal("SITELINK_HUGO is not set: bash .ci/run builds it")
	}
	module := testkit.Must(filepath.Abs("../../plugins/hugo"))(t)
	dir := t.TempDir()
	testkit.Check(t, os.CopyFS(dir, os.DirFS(filepath.Join(module, "example"))))
	command := exec.Command(hugo, "--panicOnWarning")
	command.Dir, command.Env = dir, append(os.Environ(), "HUGO_MODULE_REPLACEMENTS=github.com/sitelink/sitelink/plugins/hugo -> "+module, "GOPROXY=off")
	if text, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for page, kind := range map[string]string{"index.html": "home", "install/index.html": "page", "404.html": ""} {
		text, err := os.ReadFile(filepath.Join(dir, "public", page))
		if kind == "" && os.IsNotExist(err) {
			continue
		}
		testkit.Check(t, err)
		elements := regexp.MustCompile(`<link rel="pingback".*`).FindString(string(text))
		section := regexp.MustCompile(`(?s)<section.*</section>`).FindString(string(text))
		if (elements == "") != (kind == "") || (section == "") != (kind != "page") {
			t.Errorf("%s has the elements %q and the section %q", page, elements, section)
		}
		if kind == "page" {
			readmeShows(t, filepath.Join(module, "README.md"), elements+"\n"+section)
		}
	}
	check := exec.Command("sitelink", "check", "--fail-on", "warning")
	check.Dir = dir
	if text, err := check.CombinedOutput(); err != nil {
		t.Errorf("check: %v\n%s", err, text)
	}
}
