package generator

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// settingsText is what a test compares: the directory, the addresses, the
// languages, and what says so.
func settingsText(s Settings) string {
	var roots []string
	for _, r := range s.Roots {
		roots = append(roots, r.Dir+"@"+r.Base)
	}
	text := fmt.Sprintf("%s %s %s (%s)", s.Docroot, strings.Join(roots, " "), strings.Join(s.Languages, ","), s.From)
	if s.RefNotFound != "" {
		text += " ref " + s.RefNotFound
	}
	if s.HeadingIDs != "" {
		text += " ids " + string(s.HeadingIDs)
	}
	if s.FormFrom != "" {
		text += " writes " + string(s.Form) + " (" + s.FormFrom + ")"
	}
	return text
}

// TestSettings reads the settings of the site from the configuration files of
// each generator, without running a program.
func TestSettings(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		env   []string
		args  string
		want  string
	}{
		"hugo/nothing": {files: map[string]string{"hugo.toml": ""}, want: "public @  (hugo.toml)"},
		"hugo/toml": {files: map[string]string{"hugo.toml": "baseURL = 'https://example.org/sub'\npublishDir = './out/'\nrefLinksNotFoundURL = '/nf/'\n"},
			want: "out @https://example.org/sub/  (hugo.toml) ref /nf/"},
		"hugo/yaml":        {files: map[string]string{"hugo.yaml": "BaseURL: https://example.org/\nlanguages:\n  fr: {weight: 2}\n  en: {weight: 1}\n"}, want: "public @https://example.org/ en,fr (hugo.yaml)"},
		"hugo/json":        {files: map[string]string{"hugo.json": `{"baseurl": "https://example.org/"}`}, want: "public @https://example.org/  (hugo.json)"},
		"hugo/ids":         {files: map[string]string{"hugo.toml": "[markup.goldmark.parser]\nautoIDType = 'github'\n"}, want: "public @  (hugo.toml)"},
		"hugo/ascii_ids":   {files: map[string]string{"hugo.toml": "[markup.goldmark.parser]\nautoHeadingIDType = 'GitHub-ASCII'\n"}, want: "public @  (hugo.toml) ids github-ascii"},
		"hugo/no_ids":      {files: map[string]string{"hugo.yaml": "markup: {goldmark: {parser: {autoHeadingID: false}}}\n"}, want: "public @  (hugo.yaml) ids none"},
		"hugo/first_file":  {files: map[string]string{"hugo.yaml": "baseURL: https://b.example/", "config.toml": "baseURL = 'https://a.example/'"}, want: "public @https://b.example/  (hugo.yaml)"},
		"hugo/path_alone":  {files: map[string]string{"hugo.toml": "baseURL = '/sub'"}, want: "public @/sub/  (hugo.toml)"},
		"hugo/no_host":     {files: map[string]string{"hugo.toml": "baseURL = '/'"}, want: "public @  (hugo.toml)"},
		"hugo/protocol":    {files: map[string]string{"hugo.toml": "baseURL = '//example.org'"}, want: "public @https://example.org/  (hugo.toml)"},
		"hugo/byte_order":  {files: map[string]string{"hugo.toml": "\xef\xbb\xbfbaseURL = 'https://example.org/'"}, want: "public @https://example.org/  (hugo.toml)"},
		"hugo/environment": {files: map[string]string{"hugo.toml": "baseURL = 'https://example.org/'"}, env: []string{"HUGO_BASEURL=https://env.example/", "HUGO_PUBLISHDIR=dist"}, want: "dist @https://env.example/  (HUGO_PUBLISHDIR)"},
		"hugo/directory": {files: map[string]string{
			"config/_default/hugo.toml": "baseURL = 'https://default.example/'\n", "config/_default/languages.toml": "[en]\n[de]\nweight = 1\n",
			"config/production/config.yaml": "baseURL: https://production.example/\n", "config/staging/hugo.toml": "baseURL = 'https://staging.example/'\n"},
			want: "public @https://production.example/ en,de (config/production/config.yaml)"},
		"hugo/staging": {files: map[string]string{"config/_default/hugo.toml": "baseURL = 'https://default.example/'\n",
			"config/production/hugo.toml": "baseURL = 'https://production.example/'\n", "config/staging/hugo.toml": "publishDir = 'staging'\n"},
			args: "-e staging", want: "staging @https://default.example/  (config/staging/hugo.toml)"},
		"hugo/multihost": {files: map[string]string{"hugo.toml": "baseURL = 'https://example.org/'\n[languages.en]\nbaseURL = 'https://en.example'\n[languages.fr]\nbaseURL = 'https://fr.example/sub/'\nweight = 9\n[languages.xx]\ndisabled = true\n"},
			want: "public en@https://en.example/ fr@https://fr.example/sub/ en,fr (hugo.toml)"},
		"hugo/disabled": {files: map[string]string{"hugo.toml": "disableLanguages = ['fr']\n[languages.en]\n[languages.fr]\n"}, want: "public @ en (hugo.toml)"},
		"hugo/argument": {files: map[string]string{"hugo.toml": "baseURL = 'https://example.org/'"}, args: "--minify --baseURL=https://arg.example/x", want: "public @https://arg.example/x/  (--baseURL)"},

		"jekyll/both":     {files: map[string]string{"_config.yml": "url: https://example.org\nbaseurl: /sub\ndestination: ./out\n"}, want: "out @https://example.org/sub/  (_config.yml)"},
		"jekyll/path":     {files: map[string]string{"_config.yml": "baseurl: /sub\n"}, want: "_site @/sub/  (_config.yml)"},
		"jekyll/nothing":  {files: map[string]string{"_config.yml": "# empty\n"}, want: "_site @  (_config.yml)"},
		"jekyll/argument": {files: map[string]string{"_config.yml": "url: https://example.org\nbaseurl: /sub\n"}, args: "-b /other", want: "_site @https://example.org/other/  (_config.yml)"},

		"eleventy/dir":    {files: map[string]string{".eleventy.js": "module.exports = function (c) {\n  // dir: { output: 'no' }\n  return { dir: { input: 'src', output: \"dist\" }, pathPrefix: '/sub/' };\n};\n"}, want: "dist @/sub/  (.eleventy.js)"},
		"eleventy/method": {files: map[string]string{"eleventy.config.js": "export default (c) => { c.setOutputDirectory('web'); };"}, want: "web @  (eleventy.config.js)"},
		"eleventy/plain":  {files: map[string]string{"eleventy.config.js": "export default () => ({})"}, want: "_site @  (eleventy.config.js)"},

		"zola/both":     {files: map[string]string{"config.toml": "base_url = 'https://example.org'\noutput_dir = 'docs'\n", "templates/index.html": ""}, want: "docs @https://example.org/  (config.toml)"},
		"zola/argument": {files: map[string]string{"zola.toml": "base_url = 'https://example.org'\n"}, args: "-uhttps://arg.example", want: "public @https://arg.example/  (zola.toml)"},

		"mkdocs/tags": {files: map[string]string{"mkdocs.yml": "site_name: x\nsite_url: https://example.org/docs/\nsite_dir: build\nplugins:\n  - x: !!python/name:a.b\n  - y: !ENV [A, B]\n"}, want: "build @https://example.org/docs/  (mkdocs.yml)"},
		"mkdocs/env":  {files: map[string]string{"mkdocs.yml": "site_url: !ENV [URL, 'https://x.example']\n"}, want: "site @  (mkdocs.yml)"},

		"astro/both":       {files: map[string]string{"astro.config.mjs": "import { defineConfig } from 'astro/config';\nexport default defineConfig({\n  site: 'https://example.org', // here\n  base: '/docs',\n  outDir: './out',\n  image: { site: 'no', domains: ['astro.build'] },\n});\n"}, want: "out @https://example.org/docs/  (astro.config.mjs)"},
		"astro/computed":   {files: map[string]string{"astro.config.ts": "export default defineConfig({ site: process.env.URL ?? 'https://no.example', base: `/${x}` })"}, want: "dist @  (astro.config.ts)"},
		"docusaurus/both":  {files: map[string]string{"docusaurus.config.js": "const config = {\n  title: 'url: https://no.example',\n  url: 'https://example.org',\n  baseUrl: '/docs/',\n  presets: [['x', { url: 'no' }]],\n};\nmodule.exports = config;\n"}, want: "build @https://example.org/docs/  (docusaurus.config.js)"},
		"docusaurus/typed": {files: map[string]string{"docusaurus.config.ts": "const config: Config = {\n  'url': \"https://example.org\",\n  baseUrl: '/',\n};"}, want: "build @https://example.org/  (docusaurus.config.ts)"},

		"vitepress/root":     {files: map[string]string{"docs/.vitepress/config.mts": "export default defineConfig({ base: '/repo/', outDir: '../public', sitemap: { base: 'no' } })"}, want: "public @/repo/  (docs/.vitepress/config.mts)"},
		"vitepress/relative": {files: map[string]string{".vitepress/config.js": "export default { base: './' }"}, want: ".vitepress/dist @  (.vitepress/config.js)"},
		"vuepress/base":      {files: map[string]string{"docs/.vuepress/config.js": "module.exports = { base: '/x/' }"}, want: "docs/.vuepress/dist @/x/  (docs/.vuepress/config.js)"},
		"vitepress/clean":    {files: map[string]string{"docs/.vitepress/config.mts": "export default {\n  cleanUrls: true,\n}"}, want: "docs/.vitepress/dist @  (docs/.vitepress/config.mts) writes /a (docs/.vitepress/config.mts:2)"},
		"vitepress/other":    {files: map[string]string{"docs/.vitepress/config.mts": "export default { x: { cleanUrls: true }, cleanUrls: !true }"}, want: "docs/.vitepress/dist @  (docs/.vitepress/config.mts)"},
		"docusaurus/bare":    {files: map[string]string{"docusaurus.config.js": "const config = {\n  trailingSlash: false, // here\n};\n"}, want: "build @  (docusaurus.config.js) writes /a (docusaurus.config.js:2)"},
		"astro/never":        {files: map[string]string{"astro.config.mjs": "export default { build: { format: 'file' },\n trailingSlash: 'never' }"}, want: "dist @  (astro.config.mjs) writes /a (astro.config.mjs:2)"},
		"astro/format":       {files: map[string]string{"astro.config.mjs": "export default { build: {\n format: 'file' } }"}, want: "dist @  (astro.config.mjs) writes /a.html (astro.config.mjs:2)"},
		"mkdocs/files":       {files: map[string]string{"mkdocs.yaml": "site_name: x\nuse_directory_urls: false\n"}, want: "site @  (mkdocs.yaml) writes /a.html (mkdocs.yaml:2)"},
		"jekyll/pretty":      {files: map[string]string{"_config.yml": "# permalink\npermalink: pretty\n"}, want: "_site @  (_config.yml) writes /a/ (_config.yml:2)"},
		"jekyll/pattern":     {files: map[string]string{"_config.yml": "permalink: /:year/:title:output_ext\n"}, want: "_site @  (_config.yml) writes /a.html (_config.yml:1)"},
		"hugo/ugly":          {files: map[string]string{"hugo.toml": "title = 'x'\nuglyurls = true\n"}, want: "public @  (hugo.toml) writes /a.html (hugo.toml:2)"},
		"hexo/permalink":     {files: map[string]string{"_config.yml": "public_dir: public\npermalink: :title.html\n"}, want: "public @  (_config.yml) writes /a.html (_config.yml:2)"},
		"next/slash":         {files: map[string]string{"next.config.mjs": "export default { output: 'export', trailingSlash: true };"}, want: "out @  (next.config.mjs) writes /a/ (next.config.mjs:1)"},
		"antora/drop":        {files: map[string]string{"antora-playbook.yml": "urls:\n  html_extension_style: drop\n"}, want: "build/site @  (antora-playbook.yml) writes /a (antora-playbook.yml:2)"},
		"sphinx/flat":        {files: map[string]string{"docs/conf.py": "project = 'x'\nhtml_baseurl = \"https://example.org/en/\"  # here\nhtml_base_url = 'https://no.example'\n"}, want: "docs/_build/html @https://example.org/en/  (docs/conf.py)"},
		"sphinx/separate":    {files: map[string]string{"source/conf.py": "extensions = []\n", "build/html/index.html": ""}, want: "build/html @  (source/conf.py)"},
		"pelican/publish":    {files: map[string]string{"pelicanconf.py": "SITEURL = ''\nOUTPUT_PATH = 'www'\n", "publishconf.py": "SITEURL = 'https://example.org/blog'\n"}, want: "www @https://example.org/blog/  (publishconf.py)"},
		"mdbook/path":        {files: map[string]string{"book.toml": "[build]\nbuild-dir = 'out'\n[output.html]\nsite-url = '/book/'\n"}, want: "out @/book/  (book.toml)"},
		"quarto/website":     {files: map[string]string{"_quarto.yml": "project:\n  type: website\n  output-dir: docs\nwebsite:\n  site-url: https://example.org\n"}, want: "docs @https://example.org/  (_quarto.yml)"},
		"antora/site":        {files: map[string]string{"antora-playbook.yml": "site:\n  url: https://docs.example.org\noutput:\n  dir: public\n"}, want: "public @https://docs.example.org/  (antora-playbook.yml)"},
		"lume/location":      {files: map[string]string{"_config.ts": "import lume from 'lume/mod.ts';\nexport default lume({ dest: 'www', location: new URL('https://example.org/x/') });"}, want: "www @https://example.org/x/  (_config.ts)"},
		"hexo/both":          {files: map[string]string{"_config.yml": "url: https://example.org/blog\npublic_dir: dist\n"}, want: "dist @https://example.org/blog/  (_config.yml)"},
		"next/export":        {files: map[string]string{"next.config.mjs": "const nextConfig = { output: 'export', basePath: '/repo', distDir: 'dist' };\nexport default nextConfig;"}, want: "dist @/repo/  (next.config.mjs)"},
		"gatsby/url":         {files: map[string]string{"gatsby-config.js": "module.exports = { siteMetadata: { siteUrl: 'https://example.org' } }"}, want: "public @https://example.org/  (gatsby-config.js)"},
		"nuxt/generate":      {files: map[string]string{"nuxt.config.ts": "export default defineNuxtConfig({ app: { baseURL: '/x/' } })", "package.json": `{"scripts": {"generate": "nuxt generate"}, "dependencies": {"nuxt": "3"}}`}, want: ".output/public @/x/  (nuxt.config.ts)"},
		"sveltekit/static":   {files: map[string]string{"svelte.config.js": "export default { kit: { adapter: adapter(), paths: { base: '/x' } } };", "package.json": `{"devDependencies": {"@sveltejs/adapter-static": "3", "@sveltejs/kit": "2"}}`}, want: "build @/x/  (svelte.config.js)"},
	} {
		t.Run(name, func(t *testing.T) {
			p, ok := Detect(testkit.MakeDocroot(t, tc.files), None)
			if generator, _, _ := strings.Cut(name, "/"); !ok || string(p.Generator) != generator {
				t.Fatalf("detected %+v", p)
			}
			s, err := p.Settings(tc.env, strings.Fields(tc.args)...)
			if got := settingsText(s); err != nil || got != tc.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, tc.want)
			}
		})
	}
}

// TestSettingsFaults: a configuration that is broken is named with its line.
func TestSettingsFaults(t *testing.T) {
	for _, tc := range []struct{ file, text, want string }{
		{"hugo.toml", "title = 'x'\nbaseURL = \n", "hugo.toml:2: "},
		{"hugo.yaml", "a: 1\nb: [\n", "hugo.yaml:2: "},
		{"hugo.yaml", "- a\n", "hugo.yaml:1: not a table of keys"},
		{"hugo.json", "{\n\"a\": 1,\n}", "hugo.json:3: "},
		{"hugo.json", "[]", "hugo.json:1: "},
		{"_config.yml", "a: \"\n", "_config.yml:"},
		{"mkdocs.yml", "a: {b: &x [*x]}\n", ""},
		{"mkdocs.yml", strings.Repeat("x", maxConfig+1), "read mkdocs.yml: larger than 131072 bytes"},
		{"zola.toml", "a = 1\na = 2\n", "zola.toml:2: "},
	} {
		p, _ := Detect(testkit.MakeDocroot(t, map[string]string{tc.file: tc.text}), None)
		_, err := p.Settings(nil)
		switch {
		case tc.want == "":
			continue // refused or not: no crash, and it ends
		case err == nil || !strings.HasPrefix(err.Error(), tc.want):
			t.Errorf("%s %.20q: got %v, want %s", tc.file, tc.text, err, tc.want)
		}
	}
}

// TestCommandInPlace: a generator that cannot write elsewhere is not asked to copy its
// docroot onto itself.
func TestCommandInPlace(t *testing.T) {
	dir := testkit.MakeDocroot(t, map[string]string{"gatsby-config.js": ""})
	p, _ := Detect(dir, None)
	for out, want := range map[string]string{
		filepath.Join(dir, "public"): `npx --no-install gatsby build "$@"`,
		"/elsewhere":                 `npx --no-install gatsby build "$@" && mkdir -p /elsewhere && cp -R ./public/. /elsewhere`,
	} {
		if got := p.Command(out, false, nil).Args[2]; got != want {
			t.Errorf("into %s: %s", out, got)
		}
	}
}

// TestCommand: the usual command of each generator, into a directory.
func TestCommand(t *testing.T) {
	for _, tc := range []struct {
		files  string
		strict bool
		args   []string
		want   string
	}{
		{"hugo.toml", false, nil, "hugo --destination '/o ut'"},
		{"hugo.toml", true, []string{"--minify", "-b", "https://x.example/?'"}, `hugo --destination '/o ut' --printPathWarnings --minify -b 'https://x.example/?'\'''`},
		{"_config.yml", false, nil, "jekyll build --destination '/o ut'"},
		{"_config.yml Gemfile", true, nil, "bundle exec jekyll build --destination '/o ut' --strict_front_matter"},
		{".eleventy.js", false, nil, "npx --no-install eleventy '--output=/o ut'"},
		{".eleventy.js .pnp.cjs", false, nil, "yarn run eleventy '--output=/o ut'"},
		{"zola.toml", false, nil, "zola build --force --output-dir '/o ut'"},
		{"mkdocs.yml", true, nil, "mkdocs build --site-dir '/o ut' --strict"},
		{"astro.config.mjs node_modules/.bin/astro", false, nil, "DIR/node_modules/.bin/astro build --outDir '/o ut'"},
		{"docusaurus.config.js", false, nil, "npx --no-install docusaurus build --out-dir '/o ut'"},
		{"pelicanconf.py", false, nil, "pelican content -o '/o ut' -s pelicanconf.py"},
		{"pelicanconf.py:PATH='.'", false, nil, "pelican . -o '/o ut' -s pelicanconf.py"},
		{"pelicanconf.py publishconf.py", false, nil, "pelican content -o '/o ut' -s publishconf.py"},
	} {
		files := map[string]string{}
		for f := range strings.FieldsSeq(tc.files) {
			name, text, _ := strings.Cut(f, ":")
			files[name] = text
		}
		dir := testkit.MakeDocroot(t, files)
		p, _ := Detect(dir, None)
		got := strings.ReplaceAll(p.Command("/o ut", tc.strict, tc.args).String(), dir, "DIR")
		if filepath.ToSlash(got) != tc.want || !p.Builds() || p.UsualCommand() == "" {
			t.Errorf("got  %s\nwant %s", got, tc.want)
		}
	}
	if (Project{Generator: Plain}).Builds() {
		t.Error("no generator builds plain Markdown")
	}
}

// TestOwnFlags: a build has the flags of the project's own command that change what is built,
// without those that sitelink sets, those that change nothing in the site, and what only a
// shell or another directory knows. The settings are those of the files that it names.
func TestOwnFlags(t *testing.T) {
	for _, tc := range []struct{ files, words, want, settings string }{
		{"hugo.toml", "hugo --gc --minify --themesDir ../.. -e staging -d dist --baseURL https://x.example/ -t=a -D", "hugo --destination /out --minify --themesDir ../.. -e staging -t a -D", ""},
		{"hugo.toml", "hugo build -D=$X --minify=false --environment $ENV --theme --quiet -c", "hugo --destination /out --minify=false", ""},
		{"hugo.toml prod.toml:baseURL='https://prod.example/'", "hugo --config hugo.toml,prod.toml", "hugo --destination /out --config=hugo.toml,prod.toml", "public @https://prod.example/  (prod.toml)"},
		{"hugo.toml config/_default/params.toml", "hugo --config=hugo.toml", "hugo --destination /out", "public @  (hugo.toml)"},
		{"site/hugo.toml site/a.toml:publishDir='x'", "hugo -s site --config a.toml --themesDir ..", "hugo --destination /out --themesDir .. --config=a.toml", "x @  (a.toml)"},
		{"site/hugo.toml a.toml:publishDir='x'", "hugo -s site --config ../a.toml", "hugo --destination /out", "public @  (hugo.toml)"},
		{"hugo.toml", "hugo --config made.toml --configDir conf", "hugo --destination /out --configDir conf", ""},
		{"_config.yml _prod.yml:baseurl: /prod", "jekyll build --config _config.yml,_prod.yml --drafts -q", "jekyll build --destination /out --drafts --config=_config.yml,_prod.yml", "_site @/prod/  (_prod.yml)"},
		{"docs/_config.yml docs/b.yml:url: https://b.example", "jekyll build -s docs --config docs/b.yml", "jekyll build --destination /out --config=b.yml", "_site @https://b.example/  (b.yml)"},
		{"mkdocs.yml m.yml:site_url: https://m.example/m/", "mkdocs build --strict -f m.yml -t x", "mkdocs build --site-dir /out -t x --config-file=m.yml", "site @https://m.example/m/  (m.yml)"},
		{"docs/mkdocs.yml", "mkdocs build -f docs/mkdocs.yml", "mkdocs build --site-dir /out", "site @  (mkdocs.yml)"},
		{"eleventy.config.js e.js", "eleventy --input=src --config=e.js --output=x --quiet", "npx --no-install eleventy --output=/out --input src --config=e.js", "_site @  (e.js)"},
		{"conf.py:project='x'", "sphinx-build -W -b html -D language=de -t web . _build/html", "sphinx-build -b html . /out -D language=de -t web", ""},
		{"zola.toml", "zola build --drafts --base-url /x", "zola build --force --output-dir /out --drafts", ""},
		{"gatsby-config.js", "gatsby build --prefix-paths", `sh -c 'npx --no-install gatsby build "$@" && mkdir -p /out && cp -R ./public/. /out' sh --prefix-paths`, ""},
	} {
		files := map[string]string{}
		for f := range strings.FieldsSeq(strings.ReplaceAll(tc.files, ": ", "::")) {
			name, text, _ := strings.Cut(f, ":")
			files[name] = strings.ReplaceAll(text, "::", ": ")
		}
		p, _, ok := OfCommand(testkit.MakeDocroot(t, files), strings.Fields(tc.words))
		if got := p.Command("/out", false, nil).String(); !ok || filepath.ToSlash(got) != tc.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tc.words, got, tc.want)
		}
		s, err := p.Settings(nil)
		if got := settingsText(s); tc.settings != "" && (err != nil || got != tc.settings) {
			t.Errorf("%s:\ngot  %s, %v\nwant %s", tc.words, got, err, tc.settings)
		}
	}
	if _, out, _ := OfCommand(t.TempDir(), strings.Fields("hugo -s site -d ../public")); out != "public" {
		t.Errorf("hugo writes to %s", out)
	}
}

// TestDestination: an argument that chooses where to build is found in all its
// forms.
func TestDestination(t *testing.T) {
	hugo := Project{Generator: Hugo}
	for args, want := range map[string]string{
		"-d x": "-d", "--destination=x": "--destination", "--minify -dx": "-d", "-D --minify": "", "--destinationx y": "", "": "",
	} {
		if got := hugo.OutputFlag(strings.Fields(args)); got != want {
			t.Errorf("%q: got %q, want %q", args, got, want)
		}
	}
}

// TestHostileConfigs: configuration files of the largest size that is read end in
// a moment, whatever they hold.
func TestHostileConfigs(t *testing.T) {
	testkit.Long(t)
	fill := func(unit string) string { return strings.Repeat(unit, maxConfig/len(unit)) }
	for _, tc := range []struct{ file, text string }{
		{"astro.config.mjs", fill("{a:'b',")}, {"astro.config.mjs", fill("'")}, {"astro.config.mjs", fill("''   ")}, {"astro.config.mjs", fill("/*")}, {"astro.config.mjs", fill("a(")},
		{"_config.yml", fill("[")}, {"_config.yml", fill("{a: ")}, {"_config.yml", fill("- ")}, {"_config.yml", fill("a: 1\n")},
		{"_config.yml", "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e]\n"},
		{"hugo.toml", manyKeys()}, {"hugo.json", fill("[")}, {"hugo.json", fill(`{"a":`)},
	} {
		p, _ := Detect(testkit.MakeDocroot(t, map[string]string{tc.file: tc.text}), None)
		began := time.Now()
		p.Settings(nil) // an error or none, and it comes back
		t.Logf("%s %.20q: %v", tc.file, tc.text, time.Since(began))
	}
}

// manyKeys is a TOML table of the largest size.
func manyKeys() string {
	var b strings.Builder
	for i := 0; b.Len() < maxConfig-20; i++ {
		fmt.Fprintf(&b, "k%d=1\n", i)
	}
	return b.String()
}
