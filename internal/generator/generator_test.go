package generator

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestDetect: every generator is recognised by its files, the surest first.
func TestDetect(t *testing.T) {
	for _, tc := range []struct {
		files   string
		want    Name
		docroot string
		configs string
	}{
		{"hugo.toml", Hugo, "public", "hugo.toml"},
		{"hugo.json config/_default/params.toml", Hugo, "public", "hugo.json config/_default/params.toml"},
		{"config/_default/hugo.yaml config/production/hugo.yaml", Hugo, "public", "config/_default/hugo.yaml config/production/hugo.yaml"},
		{"hugo.toml config.toml", Hugo, "public", "hugo.toml"},
		{"config.yaml themes/x/theme.toml", Hugo, "public", "config.yaml"},
		{"config.toml content/a.md", Hugo, "public", "config.toml"},
		{"config.toml content/a.md templates/base.html", Zola, "public", "config.toml"},
		{"zola.toml", Zola, "public", "zola.toml"},
		{"_config.yml", Jekyll, "_site", "_config.yml"},
		{".eleventy.js", Eleventy, "_site", ".eleventy.js"},
		{"eleventy.config.mjs", Eleventy, "_site", "eleventy.config.mjs"},
		{"mkdocs.yml", MkDocs, "site", "mkdocs.yml"},
		{"astro.config.ts", Astro, "dist", "astro.config.ts"},
		{"docusaurus.config.js", Docusaurus, "build", "docusaurus.config.js"},
		{"gatsby-config.ts", "gatsby", "public", "gatsby-config.ts"},
		{"antora-playbook.yml", "antora", "build/site", "antora-playbook.yml"},
		{"pelicanconf.py publishconf.py", "pelican", "output", "pelicanconf.py publishconf.py"},
		{"book.toml", "mdbook", "book", "book.toml"},
		{"docs/book.toml", "mdbook", "docs/book", "docs/book.toml"},
		{"docs/.vitepress/config.mts", "vitepress", "docs/.vitepress/dist", "docs/.vitepress/config.mts"},
		{".vitepress/theme/index.ts", "vitepress", ".vitepress/dist", ""},
		{"docs/.vuepress/config.js", "vuepress", "docs/.vuepress/dist", "docs/.vuepress/config.js"},
		{"config.toml", None, "", ""},
		{"conf.py next.config.js nuxt.config.ts svelte.config.js package.json _config.ts _quarto.yml", None, "", ""},
		{"index.html", None, "", ""},
	} {
		files := map[string]string{}
		for f := range strings.FieldsSeq(tc.files) {
			files[f] = ""
		}
		dir := testkit.MakeDocroot(t, files)
		p, ok := Detect(dir, None)
		if ok != (tc.want != None) || p.Generator != tc.want || p.Docroot != tc.docroot || strings.Join(p.Configs, " ") != tc.configs {
			t.Errorf("%s: got %+v, %v", tc.files, p, ok)
		}
		if ok && p.Dir != dir {
			t.Errorf("%s: directory %s, want %s", tc.files, p.Dir, dir)
		}
	}
	if p, ok := Detect(filepath.Join(t.TempDir(), "none"), None); ok {
		t.Errorf("a directory that is not there: %+v", p)
	}
}

// TestFind: what a configuration marks wins over a nearer directory with
// Markdown.
func TestFind(t *testing.T) {
	dir := testkit.MakeDocroot(t, map[string]string{"a/content/x.md": "", "hugo.toml": "", "b/docs/x.MD": "", "c/x.html": ""})
	at := func(names ...string) (dirs []string) {
		for _, n := range names {
			dirs = append(dirs, filepath.Join(dir, n))
		}
		return dirs
	}
	for _, tc := range []struct {
		above, others []string
		want          Name
		dir           string
	}{
		{at("a", "."), nil, Hugo, "."},
		{at("a"), at("."), Hugo, "."},
		{at("c", "b"), nil, Plain, "b"},
		{at("c"), at("b"), None, ""},
	} {
		p, ok := Find(tc.above, tc.others, None)
		if ok != (tc.want != None) || p.Generator != tc.want || ok && p.Dir != filepath.Join(dir, tc.dir) {
			t.Errorf("%q, %q: got %+v", tc.above, tc.others, p)
		}
	}
}

// TestRows: every generator has all that its row needs, and is recognised.
func TestRows(t *testing.T) {
	for _, r := range rows {
		if r.name == "" || r.title == "" || r.build == "" || len(r.docroots) == 0 || len(r.files) == 0 || r.packages+r.install == "" || rowOf(r.name) == nil {
			t.Errorf("incomplete: %+v", r.name)
		}
		if !slices.ContainsFunc(marks, func(m mark) bool { return m.generator == r.name }) {
			t.Errorf("%s: no mark identifies it", r.name)
		}
	}
}

// TestInstalled: the program is looked for in the project, then on the path.
func TestInstalled(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for i := range rows {
		p := Project{Generator: rows[i].name, Dir: t.TempDir(), Docroot: "out"}
		if p.Installed() {
			t.Errorf("%s is installed nowhere", p.Generator)
		}
		if _, npm := rows[i].program("npm"); !npm {
			continue
		}
		bin := filepath.Join(p.Dir, "node_modules", ".bin")
		testkit.Check(t, os.MkdirAll(bin, 0o755))
		testkit.Check(t, os.WriteFile(filepath.Join(bin, strings.Fields(rows[i].build)[0]), nil, 0o755))
		if !p.Installed() {
			t.Errorf("%s is installed in the project", p.Generator)
		}
	}
}

// TestForeign: what tools and builds keep has no files of an author; a section of content
// with such a name does.
func TestForeign(t *testing.T) {
	tree := os.DirFS(testkit.MakeDocroot(t, map[string]string{"vendor/modules.txt": "", "content/vendor/a.md": "", "_vendor/modules.txt": "", "php/vendor/autoload.php": "", "gems/vendor/bundle/x": ""}))
	for _, tc := range []struct {
		generator Name
		foreign   string
		own       string
	}{
		{Hugo, ".git node_modules a/node_modules vendor _vendor public resources php/vendor gems/vendor a/__pycache__", ". content content/vendor content/public content/resources testdata"},
		{MkDocs, "vendor site", "docs docs/site docs/public public"},
		{Jekyll, "_site vendor", "docs/_site public"},
		{None, "vendor .git", "public content/vendor"},
	} {
		for name := range strings.FieldsSeq(tc.foreign) {
			if !tc.generator.Foreign(tree, name) {
				t.Errorf("%s: %s counts as the author's", tc.generator, name)
			}
		}
		for name := range strings.FieldsSeq(tc.own) {
			if tc.generator.Foreign(tree, name) {
				t.Errorf("%s: %s does not count as the author's", tc.generator, name)
			}
		}
	}
}

// TestEarlierSite: a build elsewhere names the directory as the generator reads names, and
// what it makes of an earlier site within the sources has a path to remove.
func TestEarlierSite(t *testing.T) {
	for _, tc := range []struct {
		file, text, dir, copied, command string
	}{
		{"_config.ts", "import lume from 'lume/mod.ts';", "www", "", "deno task lume --dest=.sitelink/public"},
		{"_quarto.yml", "project:\n  type: website\n", "docs", "docs", "quarto render . --output-dir OUT"},
		{"docs/_quarto.yml", "project:\n  type: website\n", "docs/www", "www", "quarto render docs --output-dir OUT"},
		{"docs/_quarto.yml", "project:\n  type: website\n", "docs", "", "quarto render docs --output-dir OUT"},
		{"book.toml", "[book]\nsrc = '.'", "book", "book", "mdbook build . --dest-dir OUT"},
		{"book.toml", "[book]\nsrc = 'text'", "text/book", "book", "mdbook build . --dest-dir OUT"},
		{"book.toml", "[book]\ntitle = 'x'", "book", "", "mdbook build . --dest-dir OUT"},
		{"docs/book.toml", "", "docs/src/book", "book", "mdbook build docs --dest-dir OUT"},
	} {
		dir := testkit.MakeDocroot(t, map[string]string{tc.file: tc.text})
		p, _ := Detect(dir, None)
		out := filepath.Join(dir, ".sitelink", "public")
		if got := p.Command(out, false, nil).String(); got != strings.ReplaceAll(tc.command, "OUT", out) {
			t.Errorf("%s: %s", tc.file, got)
		}
		if got := filepath.ToSlash(p.Copied(tc.dir)); got != tc.copied {
			t.Errorf("%s, %q: copied to %q, want %q", tc.file, tc.text, got, tc.copied)
		}
	}
}
