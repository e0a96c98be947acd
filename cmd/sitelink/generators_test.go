//go:build unix

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/testkit"
)

// cell is what TestGenerators needs to know about one generator.
type cell struct {
	// quick are the files of a new project as its program leaves them, without a build.
	quick testkit.Files
	// docroot is where the site goes; page is the content file of a page, which built is
	// made of, and moved another name for it.
	docroot, page, built, moved string
	// config and its text give the site an address. check then says "published at base".
	config, text, base string
	// draft is a file that makes no page, at address; draftText and what it needs.
	draft, address string
	draftFiles     testkit.Files
}

func npm(dependencies string) string { return `{"dependencies": {` + dependencies + `}}` }

// cells has a row for each generator of the table.
var cells = map[generator.Name]cell{
	"hugo": {quick: testkit.Files{"hugo.toml": "baseURL = 'https://example.org/'\nlanguageCode = 'en-us'\ntitle = 'My New Hugo Site'\n", "archetypes/default.md": "+++\n+++\n"},
		docroot: "public", page: "content/a.md", built: "a/index.html", moved: "content/b.md", config: "hugo.toml", text: "baseURL = 'https://e.example/x/'\n", base: "https://e.example/x/",
		draft: "content/d.md", address: "/d/", draftFiles: testkit.Files{"content/d.md": "---\ndraft: true\n---\n"}},
	"jekyll": {quick: testkit.Files{"Gemfile": "source \"https://rubygems.org\"\ngem \"jekyll\", \"~> 4.4\"\n", "_config.yml": "title: x\nbaseurl: \"\"\nurl: \"\"\n", "index.markdown": "---\n---\n"},
		docroot: "_site", page: "about.markdown", built: "about/index.html", moved: "us.markdown", config: "_config.yml", text: "url: https://e.example\nbaseurl: /x\n", base: "https://e.example/x/",
		draft: "_posts/2020-01-02-d.md", address: "/2020/01/02/d.html", draftFiles: testkit.Files{"_posts/2020-01-02-d.md": "---\npublished: false\n---\n"}},
	"eleventy": {quick: testkit.Files{"package.json": npm(`"@11ty/eleventy": "^3"`), "index.md": "# Heading\n"},
		docroot: "_site", page: "a.md", built: "a/index.html", moved: "b.md", config: "eleventy.config.js", text: "export default () => ({ pathPrefix: '/x/' })\n", base: "/x/"},
	"zola": {quick: testkit.Files{"config.toml": "base_url = \"https://example.com\"\n", "templates/index.html": ""},
		docroot: "public", page: "content/a.md", built: "a/index.html", moved: "content/b.md", config: "config.toml", text: "base_url = \"https://e.example/x\"\n", base: "https://e.example/x/",
		draft: "content/d.md", address: "/d/", draftFiles: testkit.Files{"content/d.md": "+++\ndraft = true\n+++\n"}},
	"mkdocs": {quick: testkit.Files{"mkdocs.yml": "site_name: My Docs\n", "docs/index.md": "# Welcome\n"},
		docroot: "site", page: "docs/a.md", built: "a/index.html", moved: "docs/b.md", config: "mkdocs.yml", text: "site_url: https://e.example/x/\n", base: "https://e.example/x/",
		draft: "docs/d.md", address: "/d/", draftFiles: testkit.Files{"docs/d.md": "", "mkdocs.yml": "exclude_docs: d.md\n"}},
	"zensical": {quick: testkit.Files{"zensical.toml": "[project]\nsite_name = \"Documentation\"\n", "docs/index.md": "# Get started\n"},
		docroot: "site", page: "docs/a.md", built: "a/index.html", moved: "docs/b.md", config: "zensical.toml", text: "[project]\nsite_url = \"https://e.example/x/\"\n", base: "https://e.example/x/",
		draft: "docs/d.md", address: "/d/", draftFiles: testkit.Files{"docs/d.md": "", "zensical.toml": "[project]\nexclude_docs = \"d.md\"\n"}},
	"properdocs": {quick: testkit.Files{"properdocs.yml": "site_name: My Docs\n", "docs/index.md": "# Welcome\n"},
		docroot: "site", page: "docs/a.md", built: "a/index.html", moved: "docs/b.md", config: "properdocs.yml", text: "site_url: https://e.example/x/\n", base: "https://e.example/x/",
		draft: "docs/d.md", address: "/d/", draftFiles: testkit.Files{"docs/d.md": "", "properdocs.yml": "exclude_docs: d.md\n"}},
	"astro": {quick: testkit.Files{"package.json": npm(`"astro": "^5"`), "astro.config.mjs": "import { defineConfig } from 'astro/config';\nexport default defineConfig({});\n"},
		docroot: "dist", page: "src/pages/a.md", built: "a/index.html", moved: "src/pages/b.md", config: "astro.config.mjs", text: "export default { site: 'https://e.example', base: '/x' };\n", base: "https://e.example/x/",
		draft: "src/content/docs/d.md", address: "/d/", draftFiles: testkit.Files{"src/content/docs/d.md": "---\ndraft: true\n---\n"}},
	"docusaurus": {quick: testkit.Files{"package.json": npm(`"@docusaurus/core": "3"`), "docusaurus.config.js": "export default { url: 'https://your-docusaurus-site.example.com', baseUrl: '/' };\n"},
		docroot: "build", page: "docs/a.md", built: "docs/a/index.html", moved: "docs/b.md", config: "docusaurus.config.js", text: "export default { url: 'https://e.example', baseUrl: '/x/' };\n", base: "https://e.example/x/",
		draft: "docs/d.md", address: "/docs/d/", draftFiles: testkit.Files{"docs/d.md": "---\ndraft: true\n---\n"}},
	"vitepress": {quick: testkit.Files{"package.json": npm(`"vitepress": "1"`), "docs/.vitepress/config.mts": "export default defineConfig({ title: \"x\" })\n", "docs/index.md": "# Home\n"},
		docroot: "docs/.vitepress/dist", page: "docs/a.md", built: "a.html", moved: "docs/b.md", config: "docs/.vitepress/config.mts", text: "export default { base: '/x/' }\n", base: "/x/"},
	"vuepress": {quick: testkit.Files{"package.json": npm(`"vuepress": "2"`), "docs/.vuepress/config.js": "export default defineUserConfig({})\n", "docs/README.md": "# Home\n"},
		docroot: "docs/.vuepress/dist", page: "docs/a.md", built: "a.html", moved: "docs/b.md", config: "docs/.vuepress/config.js", text: "export default { base: '/x/' }\n", base: "/x/"},
	"sphinx": {quick: testkit.Files{"conf.py": "project = 'Starter'\nextensions = []\n", "index.rst": "Starter\n=======\n", "Makefile": "%: Makefile\n\t@$(SPHINXBUILD) -M $@ \"$(SOURCEDIR)\"\n"},
		docroot: "_build/html", page: "a.md", built: "a.html", moved: "b.md", config: "conf.py", text: "project = 'x'\nhtml_baseurl = 'https://e.example/x/'\n", base: "https://e.example/x/"},
	"pelican": {quick: testkit.Files{"pelicanconf.py": "AUTHOR = 'Me'\nSITENAME = 'Starter'\nSITEURL = \"\"\n", "publishconf.py": "SITEURL = \"\"\n"},
		docroot: "output", page: "content/a.md", built: "a.html", moved: "content/b.md", config: "publishconf.py", text: "SITEURL = 'https://e.example/x'\n", base: "https://e.example/x/",
		draft: "content/d.md", address: "/d.html", draftFiles: testkit.Files{"content/d.md": "Title: D\nStatus: draft\n\nText\n"}},
	"mdbook": {quick: testkit.Files{"book.toml": "[book]\ntitle = \"Starter\"\n", "src/SUMMARY.md": "# Summary\n\n- [A](./a.md)\n"},
		docroot: "book", page: "src/a.md", built: "a.html", moved: "src/b.md", config: "book.toml", text: "[output.html]\nsite-url = \"/x/\"\n", base: "/x/",
		draft: "src/d.md", address: "/d.html", draftFiles: testkit.Files{"src/d.md": "# D\n"}},
	"quarto": {quick: testkit.Files{"_quarto.yml": "project:\n  type: website\n", "index.qmd": "---\ntitle: x\n---\n"},
		docroot: "_site", page: "a.md", built: "a.html", moved: "b.md", config: "_quarto.yml", text: "project:\n  type: website\nwebsite:\n  site-url: https://e.example/x\n", base: "https://e.example/x/"},
	"antora": {quick: testkit.Files{"antora-playbook.yml": "site:\n  title: x\n"},
		docroot: "build/site", page: "docs/a.md", built: "docs/a.html", moved: "docs/b.md", config: "antora-playbook.yml", text: "site:\n  url: https://e.example/x\n", base: "https://e.example/x/"},
	"lume": {quick: testkit.Files{"deno.json": `{"imports": {"lume/": "https://deno.land/x/lume@v3/"}}`, "_config.ts": "import lume from \"lume/mod.ts\";\nexport default lume();\n"},
		docroot: "_site", page: "a.md", built: "a/index.html", moved: "b.md", config: "_config.ts", text: "import lume from \"lume/mod.ts\";\nexport default lume({ location: new URL(\"https://e.example/x/\") });\n", base: "https://e.example/x/",
		draft: "d.md", address: "/d/", draftFiles: testkit.Files{"d.md": "---\ndraft: true\n---\n"}},
	"hexo": {quick: testkit.Files{"package.json": npm(`"hexo": "^8"`), "_config.yml": "title: Hexo\nurl: http://example.com\npermalink: :year/:month/:day/:title/\n", "source/_posts/hello-world.md": "---\ntitle: Hello World\n---\n"},
		docroot: "public", page: "source/a.md", built: "a/index.html", moved: "source/b.md", config: "_config.yml", text: "url: https://e.example/x\n", base: "https://e.example/x/",
		draft: "source/_drafts/d.md", address: "/d/", draftFiles: testkit.Files{"source/_drafts/d.md": "# D\n"}},
	"next": {quick: testkit.Files{"package.json": npm(`"next": "15"`), "next.config.mjs": "const nextConfig = { output: \"export\" };\nexport default nextConfig;\n"},
		docroot: "out", page: "content/a.md", built: "a.html", moved: "content/b.md", config: "next.config.mjs", text: "export default { output: 'export', basePath: '/x' };\n", base: "/x/"},
	"gatsby": {quick: testkit.Files{"package.json": npm(`"gatsby": "5"`), "gatsby-config.js": "module.exports = { siteMetadata: { siteUrl: `https://www.yourdomain.tld` } }\n"},
		docroot: "public", page: "content/a.md", built: "a/index.html", moved: "content/b.md", config: "gatsby-config.js", text: "module.exports = { siteMetadata: { siteUrl: 'https://e.example' } }\n", base: "https://e.example/"},
	"nuxt": {quick: testkit.Files{"package.json": `{"scripts": {"generate": "nuxt generate"}, "dependencies": {"nuxt": "4"}}`, "nuxt.config.ts": "export default defineNuxtConfig({})\n"},
		docroot: ".output/public", page: "content/a.md", built: "a/index.html", moved: "content/b.md", config: "nuxt.config.ts", text: "export default { app: { baseURL: '/x/' } }\n", base: "/x/"},
	"sveltekit": {quick: testkit.Files{"package.json": npm(`"@sveltejs/kit": "2", "@sveltejs/adapter-static": "3"`), "vite.config.js": "export default defineConfig({ plugins: [sveltekit()] });\n"},
		docroot: "build", page: "src/content/a.md", built: "a.html", moved: "src/content/b.md", config: "svelte.config.js", text: "export default { kit: { paths: { base: '/x' } } };\n", base: "/x/"},
	"vite": {quick: testkit.Files{"package.json": npm(`"vite": "7"`), "index.html": "<!doctype html>\n"},
		docroot: "dist", page: "content/a.md", built: "a.html", moved: "content/b.md", config: "vite.config.js", text: "export default { base: '/x/' }\n", base: "/x/"},
}

// standIn is a program that makes the page of a file wherever that has the other name, in
// the directory that sitelink chooses, or in the generator's own.
const standIn = `#!/bin/sh
out=${IN_PLACE:-$SITELINK_OUT} page=$BUILT
[ -e "$PAGE" ] || page=$MOVED
mkdir -p "$out/$(dirname "$page")"
printf '<!doctype html><title>x</title><h1>A</h1><p>See <a href="/gone/">this</a>.</p>' >"$out/$page"
printf '<!doctype html><title>x</title><p>Home</p>' >"$out/index.html"
`

// TestGenerators: each generator of the table is recognised in its new project, is built,
// and everything else that sitelink does for a generator works, or its row says why not.
// The programs are stand-ins; TestStarters has the real ones.
func TestGenerators(t *testing.T) {
	for _, n := range generator.Names() {
		if _, ok := cells[generator.Name(n)]; !ok {
			t.Errorf("no cells for %s", n)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cells)) {
		c := cells[name]
		t.Run(string(name), func(t *testing.T) {
			bin := t.TempDir()
			for _, program := range []string{name.Program(), "npx", "bundle"} {
				testkit.Check(t, os.WriteFile(filepath.Join(bin, program), []byte(standIn), 0o755))
			}
			t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
			files := maps.Clone(c.quick)
			files[".git/HEAD"] = ""
			files[c.page] = "# A\n\nSee [this](/gone/).\n"
			files["sitelink.toml"] = "[templates]\npingback = \"https://e.example/pingback\"\n"
			fresh := func(more testkit.Files) generator.Project {
				t.Helper()
				maps.Copy(files, more)
				dir := testkit.MakeDocroot(t, files)
				t.Chdir(dir)
				p, ok := generator.Detect(dir, generator.None)
				if !ok || p.Generator != name || p.Docroot != c.docroot {
					t.Fatalf("recognised as %s, docroot %s", p.Generator, p.Docroot)
				}
				return p
			}
			said := func(code int, want []string, args ...string) {
				t.Helper()
				got, stdout, stderr := runIn(t, args...)
				for _, want := range want {
					if !strings.Contains(stdout+stderr, want) {
						t.Errorf("%q: no %q in:\n%s%s", args, want, stdout, stderr)
					}
				}
				if got != code {
					t.Errorf("%q: exit code %d, want %d\n%s%s", args, got, code, stdout, stderr)
				}
			}
			t.Setenv("PAGE", c.page)
			t.Setenv("BUILT", c.built)
			t.Setenv("MOVED", strings.ReplaceAll(c.built, strings.TrimSuffix(filepath.Base(c.page), filepath.Ext(c.page)), strings.TrimSuffix(filepath.Base(c.moved), filepath.Ext(c.moved))))

			p := fresh(nil)
			if command := p.Command("OUT", false, nil); strings.Contains(command.String(), "cp -R") {
				t.Setenv("IN_PLACE", c.docroot)
			}
			place := c.page + ":3:"
			said(exitFindings, []string{place}, "check", "--build")
			moved := []string{"rename to " + c.moved}
			if plugin := name.Traits().AliasPlugin; plugin != "" {
				moved = append(moved, "hint: add the plugin "+plugin+" to the configuration, or a file")
			}
			said(exitFindings, moved, "mv", c.page, c.moved)
			if traits := name.Traits(); traits.NoTemplates != "" {
				said(exitFailed, []string{traits.NoTemplates}, "inject")
			} else if traits.Templates == "" {
				t.Error("nothing says why no element is inserted")
			}

			site := testkit.Files{c.docroot + "/" + c.built: "<!doctype html><title>x</title><h1>A</h1><p>See <a href=\"/gone/\">this</a>.</p>", c.docroot + "/index.html": "<!doctype html><title>x</title>"}
			fresh(site)
			said(exitFindings, []string{place, p.Generator.Title() + " site", ": checking " + c.docroot}, "check")

			if traits := name.Traits(); c.draft == "" && traits.NoDrafts == "" {
				t.Error("nothing says why no unpublished page is explained")
			} else if c.draft != "" {
				page := c.docroot + "/" + c.built
				files[page] = strings.Replace(files[page], "/gone/", c.address, 1)
				fresh(c.draftFiles)
				said(exitFindings, []string{c.draft}, "check")
			}
			fresh(testkit.Files{c.config: c.text})
			code := exitFindings
			said(code, []string{fmt.Sprintf("published at %s", c.base)}, "check")
		})
	}
}
