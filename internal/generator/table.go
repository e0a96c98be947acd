package generator

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// row describes one generator. Words in its commands stand for directories: SOURCE has
// the configuration, CONTENT the content, OUT is built into.
type row struct {
	name  Name
	title string
	Traits
	// packages are packages that need the generator, such as npm:astro, gem:jekyll or
	// pip:mkdocs. The first has the program. If no package has it, install says for a
	// person how to install it, and ci does so on a server: a line of the shell with %[1]s
	// for the version and SUDO for sudo where the user is not root.
	packages, install, ci string
	// build is the command that builds into OUT, or into the configured directory if
	// the program takes no other, without the npx of programs of npm. usual is what
	// people type where that differs.
	build, usual string
	// docroots are where the site can be by default, relative to SOURCE, the usual
	// one first.
	docroots []string
	// sources are directories below the project that may have the configuration
	// instead of the project itself.
	sources []string
	// static is what a project has to have for a build that writes a site of files, "" if
	// every build does.
	static string
	// files are the names of configuration files. The first that exists counts, or
	// with overrides all: a later one overrides those before it.
	files     []string
	overrides bool
	// The keys of the configuration with the docroot, the address and the path
	// below it, see [lookup]; the first of several that is set counts.
	docrootKeys, baseKey, pathKey string
	// form is how addresses are written by default, forms are what the configuration
	// says about it: the first in a file counts.
	form  weburl.Form
	forms []formKey
	// excludeKeys are keys with patterns that keep files out of the site, a line each as in
	// .gitignore. contentKey is the key of the directory that the patterns are relative to,
	// by default the first of content.
	excludeKeys, contentKey string
	// content are directories with names that are not part of the addresses of
	// pages.
	content []string
	// configs and command replace files and build, for generators that need more.
	configs func(tree fs.FS, names []string) []string
	command func(p Project, out string) Command
	// leaveOut is the work of [Project.LeaveOut], nil for a generator that does not read its
	// docroot when it builds elsewhere.
	leaveOut func(p Project, dir string) (file, text, flag string)
	// copies is set for one that reads it, and has no setting to leave it out: what it makes of
	// a file has the path of the file.
	copies bool
	// dirBuilder is the value of BUILDER in the command that makes a directory of each page.
	// The builders are the last names of docroots; "" for a generator that has one.
	dirBuilder string
	// strict are the flags that make a build fail at warnings. If no flag does so
	// reliably, warning is the beginning of a line with a warning.
	strict  []string
	warning string
	// lock is a file in SOURCE that the generator locks while it builds.
	lock string
	// baseFlags are the flags of the build that name the address, outFlags those
	// that name the directory to build into, quietFlags those that hide warnings, and
	// configFlags those that name configuration files, with commas between them.
	baseFlags, outFlags, quietFlags, configFlags []string
	// own are more flags that change what is built; those with a value end in "=".
	own []string
}

// formKey is a key of the configuration that decides the form of addresses: it has form
// where the key is value. Without a value, the key is a pattern of addresses.
type formKey struct {
	key   string
	value any
	form  weburl.Form
}

// rows is the table of generators.
var rows = []row{
	hugoRow,
	{
		name: Jekyll, title: "Jekyll", packages: "gem:jekyll gem:github-pages", usual: "jekyll build", build: "jekyll build --destination OUT", command: jekyllCommand, leaveOut: jekyllLeaveOut,
		Traits: Traits{Port: 4000, Templates: Liquid, SourceTags: true, AliasKey: "redirect_from", AliasPlugin: "jekyll-redirect-from",
			Drafts: &Drafts{Values: []string{"published: false"}, Dir: "_drafts", Dates: []string{"date"}, DatedDir: "_posts"}},
		files: []string{"_config.yml", "_config.yaml", "_config.toml"}, docroots: []string{"_site"},
		docrootKeys: "destination", baseKey: "url", pathKey: "baseurl", content: []string{"_pages", "_drafts"},
		strict: []string{"--strict_front_matter"}, baseFlags: []string{"-b", "--baseurl"}, outFlags: []string{"-d", "--destination"},
		configFlags: []string{"--config"}, own: []string{"--drafts", "-D", "--future", "--unpublished"},
		form: weburl.FileForm, forms: []formKey{
			{"permalink", "pretty", weburl.SlashForm}, {"permalink", "date", weburl.FileForm}, {"permalink", "weekdate", weburl.FileForm},
			{"permalink", "ordinal", weburl.FileForm}, {"permalink", "none", weburl.FileForm}, {"permalink", nil, ""},
		},
	},
	{
		name: Eleventy, title: "Eleventy", packages: "npm:@11ty/eleventy", usual: "eleventy", build: "eleventy --output=OUT", leaveOut: wrapped("leave-out.cjs", eleventyLeavesOut),
		Traits: Traits{Leaves: true, Port: 8080, Templates: Nunjucks, ReadsAll: true, NoDrafts: "it makes a page of every file"},
		files:  append([]string{".eleventy.js"}, scripts("eleventy.config")...), docroots: []string{"_site"},
		docrootKeys: "setOutputDirectory( dir.output", pathKey: "pathPrefix", content: []string{"src", "content", "input", "site"},
		baseFlags: []string{"--pathprefix"}, outFlags: []string{"--output"}, configFlags: []string{"--config"}, own: []string{"--input=", "--formats="},
		form: weburl.SlashForm,
	},
	{
		name: Zola, title: "Zola", install: "see https://www.getzola.org/documentation/getting-started/installation/",
		Traits: Traits{Port: 1111, OwnContent: true, Version: "0.21.0", Templates: Tera, ContentRoot: "@/", Drafts: &Drafts{Values: []string{"draft: true"}}},
		ci:     "curl -sSfL https://github.com/getzola/zola/releases/download/v%[1]s/zola-v%[1]s-x86_64-unknown-linux-gnu.tar.gz | SUDO tar -xz -C /usr/local/bin",
		usual:  "zola build", build: "zola build --force --output-dir OUT", // forced, since the directory may exist and be empty
		files: []string{"zola.toml", "config.toml"}, docroots: []string{"public"}, docrootKeys: "output_dir", baseKey: "base_url", content: []string{"content"},
		baseFlags: []string{"-u", "--base-url"}, outFlags: []string{"-o", "--output-dir"}, own: []string{"--drafts"},
		form: weburl.SlashForm,
	},
	mkdocsRow(MkDocs, "MkDocs", "mkdocs", "mkdocs build --site-dir OUT", "mkdocs.yml", "mkdocs.yaml"),
	mkdocsRow("zensical", "Zensical", "zensical", "zensical build", "zensical.toml", "mkdocs.yml", "mkdocs.yaml"),
	mkdocsRow("properdocs", "ProperDocs", "properdocs", "properdocs build --site-dir OUT", "properdocs.yml", "properdocs.yaml", "mkdocs.yml", "mkdocs.yaml"),
	{
		name: Astro, title: "Astro", packages: "npm:astro", usual: "astro build", build: "astro build --outDir OUT",
		Traits: Traits{Port: 4321, InDirectories: true, Templates: AstroComponents, Imports: true, Drafts: &Drafts{Values: []string{"draft: true"}}},
		files:  scripts("astro.config"), docroots: []string{"dist"}, docrootKeys: "outDir", baseKey: "site", pathKey: "base",
		content:   []string{"src/content/docs", "src/content/pages", "src/content", "src/pages"},
		baseFlags: []string{"--site"}, outFlags: []string{"--outDir"}, configFlags: []string{"--config"}, own: []string{"--mode="},
		form: weburl.SlashForm, forms: []formKey{
			{"trailingSlash", "always", weburl.SlashForm}, {"trailingSlash", "never", weburl.BareForm},
			{"build.format", "file", weburl.FileForm}, {"build.format", "directory", weburl.SlashForm},
		},
	},
	{
		name: Docusaurus, title: "Docusaurus", packages: "npm:@docusaurus/core", usual: "docusaurus build", build: "docusaurus build --out-dir OUT",
		Traits: Traits{Port: 3000, InDirectories: true, ResolvesMarkdown: true, WantsFiles: true, Versions: true, NoTemplates: "the head is in the configuration, a program", HeadKey: "headTags", HeadItem: "{tagName: 'link', attributes: {rel: '%s', href: '%s'}}", Drafts: &Drafts{Values: []string{"draft: true"}}},
		files:  scripts("docusaurus.config"), docroots: []string{"build"}, baseKey: "url", pathKey: "baseUrl", content: []string{"src/pages", "docs", "i18n"},
		outFlags: []string{"--out-dir"},
		form:     weburl.BareForm, forms: []formKey{{"trailingSlash", true, weburl.SlashForm}, {"trailingSlash", false, weburl.BareForm}},
	},
	{
		name: "vitepress", title: "VitePress", packages: "npm:vitepress", build: "vitepress build SOURCE --outDir OUT", usual: "vitepress build SOURCE",
		Traits:  Traits{Port: 5173, ResolvesMarkdown: true, NoTemplates: "the head is in the configuration, a program", HeadKey: "head", HeadItem: "['link', {rel: '%s', href: '%s'}]", NoDrafts: "it makes a page of every file"},
		sources: []string{"docs"}, files: scripts(".vitepress/config", ".vitepress/config/index"), docroots: []string{".vitepress/dist"},
		docrootKeys: "outDir", pathKey: "base", content: []string{"docs", "src"}, baseFlags: []string{"--base"}, outFlags: []string{"--outDir"},
		form: weburl.FileForm, forms: []formKey{{"cleanUrls", true, weburl.BareForm}, {"cleanUrls", false, weburl.FileForm}},
	},
	{
		name: "vuepress", title: "VuePress", packages: "npm:vuepress npm:@vuepress/core", build: "vuepress build SOURCE --dest OUT", usual: "vuepress build SOURCE",
		Traits:  Traits{Port: 8080, ResolvesMarkdown: true, NoTemplates: "the head is in the configuration, a program", HeadKey: "head", HeadItem: "['link', {rel: '%s', href: '%s'}]", NoDrafts: "it makes a page of every file"},
		sources: []string{"docs"}, files: scripts(".vuepress/config"), docroots: []string{".vuepress/dist"},
		pathKey: "base", content: []string{"docs", "src"}, outFlags: []string{"-d", "--dest"},
		form: weburl.FileForm,
	},
	{
		name: "sphinx", title: "Sphinx", packages: "pip:sphinx", build: "sphinx-build -b BUILDER SOURCE OUT", dirBuilder: "dirhtml",
		Traits:  Traits{Port: 8000, ResolvesMarkdown: true, NoTemplates: "the templates are those of a Python package", NoDrafts: "it makes a page of every file"},
		sources: []string{"docs", "doc", "source", "docs/source", "doc/source"}, files: []string{"conf.py"},
		docroots: []string{"_build/html", "../build/html", "build/html", "../_build/html", "_build/dirhtml", "../build/dirhtml", "build/dirhtml", "../_build/dirhtml"},
		form:     weburl.FileForm, baseKey: "html_baseurl", own: []string{"-D=", "-t="}, content: []string{"docs/source", "doc/source", "docs", "doc", "source"},
	},
	{
		name: "pelican", title: "Pelican", packages: "pip:pelican[markdown]", build: "pelican CONTENT -o OUT -s CONFIG", usual: "pelican CONTENT -s CONFIG",
		Traits: Traits{Leaves: true, Port: 8000, OwnContent: true, NoTemplates: "the templates are those of a Python package", Drafts: &Drafts{Values: []string{"status: draft"}}},
		files:  []string{"pelicanconf.py", "publishconf.py"}, overrides: true, docroots: []string{"output"},
		docrootKeys: "OUTPUT_PATH", baseKey: "SITEURL", contentKey: "PATH", content: []string{"content/pages", "content"}, outFlags: []string{"-o", "--output"},
		form: weburl.FileForm, forms: []formKey{{"ARTICLE_URL", nil, ""}},
	},
	{
		name: "mdbook", title: "mdBook", install: "see https://rust-lang.github.io/mdBook/guide/installation.html",
		Traits: Traits{Port: 3000, Env: []string{"MDBOOK_BUILD__CREATE_MISSING=false"}, OwnContent: true, Version: "0.5.0", ResolvesMarkdown: true, NoTemplates: "the head is in the program", Drafts: &Drafts{ListFile: "SUMMARY.md"},
			Printed: &Printed{Page: "print.html", Between: `<div style="break-before: page; page-break-before: always;"></div>`}},
		ci:    "curl -sSfL https://github.com/rust-lang/mdBook/releases/download/v%[1]s/mdbook-v%[1]s-x86_64-unknown-linux-gnu.tar.gz | SUDO tar -xz -C /usr/local/bin",
		build: "mdbook build SOURCE --dest-dir OUT", usual: "mdbook build SOURCE", copies: true, sources: []string{"docs", "doc", "guide"},
		files: []string{"book.toml"}, docroots: []string{"book"}, docrootKeys: "build.build-dir", pathKey: "output.html.site-url", contentKey: "book.src",
		content: []string{"src", "docs/src", "doc/src", "guide/src"}, outFlags: []string{"-d", "--dest-dir"},
		form: weburl.FileForm,
	},
	{
		name: "quarto", title: "Quarto", packages: "pip:quarto-cli", build: "quarto render SOURCE --output-dir OUT", usual: "quarto render SOURCE", copies: true,
		Traits:  Traits{ResolvesMarkdown: true, NoTemplates: "the templates are those of Quarto", NoDrafts: "a draft is an empty page"},
		sources: []string{"docs", "doc"}, files: []string{"_quarto.yml", "_quarto.yaml"}, docroots: []string{"_site", "_book"},
		docrootKeys: "project.output-dir", baseKey: "website.site-url", outFlags: []string{"--output-dir"},
		form: weburl.FileForm,
	},
	{
		name: "antora", title: "Antora", packages: "npm:antora npm:@antora/cli", build: "antora --to-dir OUT antora-playbook.yml", usual: "antora antora-playbook.yml",
		Traits: Traits{NoTemplates: "the templates are in a bundle of another project", NoDrafts: "it makes a page of every file"},
		files:  []string{"antora-playbook.yml"}, docroots: []string{"build/site"}, docrootKeys: "output.dir", baseKey: "site.url", outFlags: []string{"--to-dir"},
		form: weburl.FileForm, forms: []formKey{{"urls.html_extension_style", "drop", weburl.BareForm}, {"urls.html_extension_style", "indexify", weburl.SlashForm}},
	},
	{
		name: "lume", title: "Lume", install: "see https://docs.deno.com/runtime/getting_started/installation/",
		Traits: Traits{Port: 3000, NoTemplates: "its templates have several languages", Drafts: &Drafts{Values: []string{"draft: true"}}},
		ci:     "(command -v unzip || SUDO apt-get install -y unzip) && curl -fsSL https://deno.land/install.sh | SUDO env DENO_INSTALL=/usr/local sh",
		build:  "deno task lume --dest=RELATIVE-OUT", usual: "deno task lume", leaveOut: wrapped("leave-out.mjs", lumeLeavesOut),
		files: scripts("_config"), docroots: []string{"_site"}, docrootKeys: "dest", baseKey: "URL(", content: []string{"src"}, outFlags: []string{"--dest"},
		form: weburl.SlashForm, forms: []formKey{{"prettyUrls", false, weburl.FileForm}},
	},
	{
		name: "hexo", title: "Hexo", packages: "npm:hexo", build: "hexo generate",
		Traits: Traits{Port: 4000, OwnContent: true, Caches: []string{"db.json"}, NoTemplates: "its templates have several languages", Drafts: &Drafts{Values: []string{"published: false"}, Dir: "_drafts"}},
		files:  []string{"_config.yml", "_config.yaml"}, docroots: []string{"public"}, docrootKeys: "public_dir", baseKey: "url", contentKey: "source_dir", configFlags: []string{"--config"}, own: []string{"--draft", "--drafts"},
		content: []string{"source/_posts", "source/_drafts", "source"},
		form:    weburl.SlashForm, forms: []formKey{{"permalink", nil, ""}},
	},
	{
		name: "next", title: "Next.js", packages: "npm:next", build: "next build",
		Traits: Traits{InDirectories: true, Port: 3000, NoTemplates: "its pages are components, which are programs", NoDrafts: "its pages are components, which are programs"},
		static: "output: 'export' in its configuration",
		files:  scripts("next.config"), docroots: []string{"out"}, docrootKeys: "distDir", pathKey: "basePath", content: []string{"content", "src/content", "docs", "pages"},
		form: weburl.BareForm, forms: []formKey{{"trailingSlash", true, weburl.SlashForm}, {"trailingSlash", false, weburl.BareForm}},
	},
	{
		name: "gatsby", title: "Gatsby", packages: "npm:gatsby", build: "gatsby build",
		Traits: Traits{InDirectories: true, Port: 8000, NoTemplates: "its pages are components, which are programs", NoDrafts: "its pages are components, which are programs"},
		files:  scripts("gatsby-config"), docroots: []string{"public"}, baseKey: "siteMetadata.siteUrl", own: []string{"--prefix-paths"}, content: []string{"content/blog", "content", "src/pages"},
		form: weburl.SlashForm, forms: []formKey{{"trailingSlash", "always", weburl.SlashForm}, {"trailingSlash", "never", weburl.BareForm}},
	},
	{
		name: "nuxt", title: "Nuxt", packages: "npm:nuxt npm:nuxt3", build: "nuxt generate",
		Traits: Traits{InDirectories: true, Port: 3000, NoTemplates: "its pages are components, which are programs", NoDrafts: "its pages are components, which are programs"},
		files:  scripts("nuxt.config"), docroots: []string{".output/public", "dist"}, pathKey: "app.baseURL", content: []string{"content"},
		form: weburl.BareForm,
	},
	{
		name: "sveltekit", title: "SvelteKit", packages: "npm:@sveltejs/kit", build: "vite build",
		Traits: Traits{InDirectories: true, Port: 5173, NoTemplates: "its pages are components, which are programs", NoDrafts: "its pages are components, which are programs"},
		static: "@sveltejs/adapter-static",
		files:  scripts("svelte.config"), docroots: []string{"build"}, pathKey: "paths.base", content: []string{"src/routes", "src/content"},
		form: weburl.BareForm,
	},
	{
		name: Vite, title: "Vite", packages: "npm:vite", build: "vite build --outDir OUT", usual: "vite build",
		Traits: Traits{Port: 5173, NoTemplates: "its pages are components, which are programs", NoDrafts: "its pages are components, which are programs"},
		files:  scripts("vite.config"), docroots: []string{"dist"}, docrootKeys: "build.outDir", pathKey: "base",
		baseFlags: []string{"--base"}, outFlags: []string{"--outDir"}, configFlags: []string{"--config", "-c"}, own: []string{"--mode=", "-m="},
	},
}

// mkdocsRow is MkDocs, or a generator that reads its configuration; that of Zensical is
// also a table of TOML.
func mkdocsRow(name Name, title, pkg, build string, files ...string) row {
	r := row{
		name: name, title: title, packages: "pip:" + pkg, build: build, usual: pkg + " build",
		Traits: Traits{Port: 8000, OwnContent: true, Templates: Jinja, ResolvesMarkdown: true, WantsFiles: true},
		files:  files, docroots: []string{"site"}, docrootKeys: "project.site_dir site_dir", baseKey: "project.site_url site_url", content: []string{"docs"},
		excludeKeys: "project.exclude_docs exclude_docs project.draft_docs draft_docs", contentKey: "project.docs_dir docs_dir",
		strict: []string{"--strict"}, outFlags: []string{"-d", "--site-dir"}, configFlags: []string{"--config-file", "-f"}, form: weburl.SlashForm,
		own: []string{"--theme=", "-t=", "--use-directory-urls", "--no-directory-urls"},
	}
	for _, key := range []string{"project.use_directory_urls", "use_directory_urls"} {
		r.forms = append(r.forms, formKey{key, true, weburl.SlashForm}, formKey{key, false, weburl.FileForm})
	}
	return r
}

// scripts returns the names of a configuration that is a program.
func scripts(names ...string) (all []string) {
	for _, name := range names {
		for _, ext := range []string{".js", ".ts", ".mjs", ".mts", ".cjs"} {
			all = append(all, name+ext)
		}
	}
	return all
}

// rowOf returns the row of a generator, one with zero values for another name.
func rowOf(n Name) *row {
	for i := range rows {
		if rows[i].name == n {
			return &rows[i]
		}
	}
	return &row{}
}

// mark identifies a generator: one of names, which are the files of the row if there
// are none. Where also is set, one of those must exist beside it; where says is set,
// it must match the text of the first file that exists. Where depends is set, the project
// must depend on a package of the row.
type mark struct {
	generator   Name
	names, also []string
	says        string
	depends     bool
}

// marks identify the generators, the surest first: what is later counts where nothing
// before it does.
var marks = []mark{
	{Hugo, []string{"hugo.toml", "hugo.yaml", "hugo.yml", "hugo.json", "config/_default"}, nil, "", false},
	// Zola has themes as well, but no Hugo project has this key.
	{Zola, []string{"config.toml"}, []string{"templates", "content", "themes"}, `(?m)^\s*base_url\s*=`, false},
	{Hugo, hugoOldFiles, []string{"layouts", "themes", "archetypes", "_vendor"}, "", false},
	{"hexo", nil, nil, `(?m)^(public_dir|skip_render|source_dir)\s*:`, false},
	{"hexo", nil, nil, "", true},
	{Jekyll, nil, nil, "", true},
	{Eleventy, nil, nil, "", false},
	{Zola, []string{"zola.toml"}, nil, "", false},
	{Zola, []string{"config.toml"}, []string{"templates"}, "", false},
	{"zensical", []string{"zensical.toml"}, nil, "", false},
	{"properdocs", []string{"properdocs.yml", "properdocs.yaml"}, nil, "", false},
	{"zensical", nil, nil, "", true},
	{"properdocs", nil, nil, "", true},
	{MkDocs, nil, nil, "", false},
	{Astro, nil, nil, "", false},
	{Docusaurus, nil, nil, "", false},
	{"gatsby", nil, nil, "", false},
	{"antora", nil, nil, "", false},
	{"pelican", nil, nil, "", false},
	{"lume", nil, nil, `\blume\b`, false},
	{"quarto", nil, nil, `(?m)^\s*type:\s*['"]?(website|book|manuscript)`, false},
	{"next", nil, nil, `\boutput['"]?\s*:\s*['"` + "`" + `]export`, false},
	{"nuxt", []string{"package.json"}, nil, `\bnux[ti] generate`, true},
	{"sveltekit", []string{"package.json"}, nil, `@sveltejs/adapter-static`, true},
	{Jekyll, nil, nil, "", false}, // GitHub Pages; a file that is left over beside other generators
	{"mdbook", nil, nil, "", false},
	{"vitepress", []string{".vitepress"}, nil, "", false},
	{"vuepress", []string{".vuepress"}, nil, "", false},
	{"sphinx", nil, nil, `(?m)^\s*(extensions|html_theme|project|master_doc|root_doc)\s*=`, false},
	{Hugo, hugoOldFiles, []string{"content"}, "", false},
	// Without a configuration file.
	{Eleventy, []string{"package.json"}, nil, "", true},
	{Astro, []string{"package.json"}, nil, "", true},
	{"gatsby", []string{"package.json"}, nil, "", true},
	{"lume", []string{"deno.json", "deno.jsonc"}, nil, `\blume/`, false},
	{"vitepress", []string{"index.md"}, nil, "", true},
	{Jekyll, []string{"Gemfile"}, nil, "", true},
	{"sveltekit", []string{"package.json"}, nil, "", true}, // its configuration can be that of Vite
	{Vite, []string{"index.html"}, nil, "", true},
}

// namesIn returns the names in a directory, in lower case, as the file system may fold them: to
// ask for each name of the table costs 200 calls. nil if the directory cannot be listed.
func namesIn(dir string) map[string]bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	there := make(map[string]bool, len(entries))
	for _, e := range entries {
		there[strings.ToLower(e.Name())] = true
	}
	return there
}

// marked reports whether mark i identifies a project in dir, and by which files. source
// is the directory of the configuration, and there are the [namesIn] dir.
func marked(dir string, there map[string]bool, i int, source string) (by string, ok bool) {
	m, tree := &marks[i], os.DirFS(dir)
	names := m.names
	if names == nil {
		names = rowOf(m.generator).files
	}
	for _, name := range names {
		name = path.Join(source, name)
		first, _, _ := strings.Cut(name, "/")
		if there != nil && !there[strings.ToLower(first)] {
			continue
		}
		if _, err := fs.Stat(tree, name); err != nil {
			continue
		}
		if m.says != "" {
			text, err := system.ReadFS(tree, name, maxConfig)
			if err != nil || !regexp.MustCompile(m.says).Match(text) {
				return "", false
			}
		}
		if m.also != nil && !slices.ContainsFunc(m.also, func(also string) bool {
			_, err := fs.Stat(tree, path.Join(source, also))
			return err == nil
		}) {
			return "", false
		}
		if !m.depends {
			return name, true
		}
		pkg, file := Depends(dir, rowOf(m.generator).packages)
		if file == name {
			return pkg + " in " + file, pkg != ""
		}
		return name + ", and " + pkg + " in " + file, pkg != ""
	}
	return "", false
}

// firstOf returns the first of names that exists: the one that the generator
// reads.
func firstOf(tree fs.FS, names []string) []string {
	for _, name := range names {
		if info, err := fs.Stat(tree, name); err == nil && !info.IsDir() {
			return []string{name}
		}
	}
	return nil
}

// read reads the keys of a row in the project's configuration files. Running
// them is the only way to know what a program among them computes, so only plain
// strings count.
func (r *row) read(p Project) (Settings, error) {
	docroot, base, sub := "", "", ""
	s := Settings{Form: r.form}
	if r.dirBuilder != "" && p.Builder == r.dirBuilder {
		s.Form, s.FormFrom = weburl.SlashForm, p.Docroot
	}
	for _, name := range p.Configs {
		get, err := lookup(p, name)
		if err != nil {
			return Settings{}, err
		}
		s.From = name
		if dir := firstText(get, r.docrootKeys); dir != "" {
			docroot = path.Join(p.Source, slashed(dir))
		}
		base, sub = cmp.Or(firstText(get, r.baseKey), base), cmp.Or(firstText(get, r.pathKey), sub)
		for _, k := range r.forms {
			value, form := get(k.key), k.form
			if pattern, ok := value.(string); ok && k.value == nil {
				form = weburl.FormOf(pattern)
			} else if value == nil || value != k.value {
				continue
			}
			s.Form, s.FormFrom = form, keyPlace(p, name, k.key)
			break
		}
	}
	if strings.HasPrefix(sub, ".") {
		sub = "" // relative addresses, which work below any path
	}
	if base != "" || sub != "" {
		base = joinBase(base, sub)
	}
	s.Docroot, s.Roots = slashed(docroot), []Root{{Base: tidyBase(base)}}
	return s, nil
}

// keyPlace returns the file and line that set a key, see [lookup]; the file alone if the
// line is not found.
func keyPlace(p Project, name, key string) string {
	text, _ := readConfig(p, name) // it was read before
	at := 0
	for word := range strings.SplitSeq(key, ".") {
		i := regexp.MustCompile(`(?i)\b` + word + `["']?\s*[:=]`).FindIndex(text[at:])
		if i == nil {
			return name
		}
		at += i[0]
	}
	return fmt.Sprintf("%s:%d", name, 1+strings.Count(string(text[:at]), "\n"))
}

// pythonText matches the assignments of plain strings in a Python program.
var pythonText = text.Regexp(`(?m)^([A-Za-z_]+)\s*=\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)')\s*(?:#.*)?$`)

// lookup reads a configuration file, and returns the function that gets the plain
// string, true or false of a key; nil if it has no such value. In "a.b", b is inside of
// a; "f(" is the argument of a call.
func lookup(p Project, name string) (get func(key string) any, err error) {
	switch path.Ext(name) {
	case ".toml", ".yaml", ".yml", ".json":
		d, err := readDocument(p, name)
		return func(key string) any {
			words := strings.Split(strings.ToLower(key), ".")
			at := d
			for _, w := range words[:len(words)-1] {
				at = tableOf(at[w])
			}
			return at[words[len(words)-1]]
		}, err
	case ".py":
		text, err := readConfig(p, name)
		return func(key string) (value any) {
			for _, m := range pythonText().FindAllStringSubmatch(string(text), -1) {
				if m[1] == key {
					value = m[2] + m[3]
				}
			}
			return value
		}, err
	}
	text, err := readConfig(p, name)
	all := scriptProperties(string(text))
	return func(key string) (value any) {
		object, name, inner := strings.Cut(key, ".")
		for _, p := range all {
			switch n := len(p.within); {
			case inner && p.name == name && n > 0 && p.within[n-1] == object:
				return p.value // of the object with that name
			case inner || p.name != key:
			case strings.HasSuffix(key, "("):
				value = p.value
			case strings.Join(p.within, "") == "":
				return p.value // of the configuration itself: no object with a name is around it
			}
		}
		return value
	}, err
}

// pythonPackages are the packages of PyPI with themes, plugins and extensions of MkDocs
// and Sphinx, by the first word of the names in their configuration: pymdownx.emoji,
// material/blog.
var pythonPackages = map[string]string{
	"material": "mkdocs-material", "pymdownx": "pymdown-extensions", "awesome-pages": "mkdocs-awesome-pages-plugin", "macros": "mkdocs-macros-plugin",
	"git-revision-date-localized": "mkdocs-git-revision-date-localized-plugin", "minify": "mkdocs-minify-plugin", "redirects": "mkdocs-redirects",
	"mkdocstrings": "'mkdocstrings[python]'", "section-index": "mkdocs-section-index", "literate-nav": "mkdocs-literate-nav", "gen-files": "mkdocs-gen-files",
	"glightbox": "mkdocs-glightbox", "rss": "mkdocs-rss-plugin", "i18n": "mkdocs-static-i18n", "mike": "mike", "mermaid2": "mkdocs-mermaid2-plugin",
	"include-markdown": "mkdocs-include-markdown-plugin", "exclude": "mkdocs-exclude", "table-reader": "mkdocs-table-reader-plugin", "sitelink": "mkdocs-sitelink",
	"furo": "furo", "sphinx_sitelink": "sphinx-sitelink", "sphinx_rtd_theme": "sphinx-rtd-theme", "pydata_sphinx_theme": "pydata-sphinx-theme", "sphinx_book_theme": "sphinx-book-theme",
	"myst_parser": "myst-parser", "sphinx_copybutton": "sphinx-copybutton", "sphinx_design": "sphinx-design", "sphinx_tabs": "sphinx-tabs", "nbsphinx": "nbsphinx",
}

// configWord matches a name in mkdocs.yml or a text in conf.py.
var configWord = text.Regexp(`(?m)(?:^\s*-\s+|^theme:[ \t]*|^\s+name:\s*|["'])([\w-]+)`)

// Packages returns the packages of PyPI that the project needs, as words of the shell: the
// generator's own, and those that its configuration names, such as mkdocs-material for
// "theme: material". It leaves out what text lists, which is the content of file: lines of
// requirements, or pyproject.toml. Generators that are not on PyPI have none.
func (p Project) Packages(file string, text []byte) (all []string) {
	_, own, _, _ := p.Generator.Install("")
	if own == "" {
		return nil
	}
	if file == "pyproject.toml" { // pip installs no other table of it
		d, _ := ParseDocument(".toml", text) // without it, nothing is known
		text = []byte(strings.Join(textsOf(tableOf(d["project"])["dependencies"]), "\n"))
	}
	add := func(pkg string) {
		name, _, _ := strings.Cut(strings.Trim(pkg, "'"), "[")
		if pkg != "" && !slices.Contains(all, pkg) && !lists("", text, pythonLine, name) {
			all = append(all, pkg)
		}
	}
	add(own)
	for _, name := range p.Configs {
		text, _ := readConfig(p, name) // without it, nothing is known
		for _, m := range configWord().FindAllSubmatch(text, -1) {
			add(pythonPackages[string(m[1])])
		}
	}
	return all
}

// jekyllCommand: a Gemfile fixes the versions. Without it, jekyll runs by itself.
func jekyllCommand(p Project, out string) Command {
	program := []string{"jekyll"}
	if _, err := fs.Stat(os.DirFS(p.Dir), "Gemfile"); err == nil && (onPath("bundle") || !onPath("jekyll")) {
		program = []string{"bundle", "exec", "jekyll"}
	}
	return Command{Args: append(program, "build", "--destination", out)}
}
