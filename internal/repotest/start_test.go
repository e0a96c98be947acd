package repotest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"text/template"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sitelink/sitelink/internal/testkit"
)

// starter is what differs between the pages of docs/start.
type starter struct {
	Name, Builder           string // the title, and "Hugo builds"
	Install, Build, Command string // command lines
	Config                  string
	Plugin                  string // how the plugin is set up, in Markdown
	Output, Code            string // of a check
}

const (
	npmPlugin = "The plugin checks at the end of each build, and a broken link fails it:\n\n```sh\nnpm install --save-dev PACKAGE\n```\n\n"
	moreOf    = "\n\n[Plugins](../guide/plugins.md) has the options."
)

// withNPM returns how a plugin of npm is set up.
func withNPM(pkg, file, language, code string) string {
	return strings.Replace(npmPlugin, "PACKAGE", pkg, 1) + "In `" + file + "`:\n\n```" + language + "\n" + code + "\n```" + moreOf
}

var starters = map[string]starter{
	"hugo": {Name: "Hugo", Builder: "Hugo builds", Install: "brew install sitelink/tap/sitelink      # or the deb, rpm or archive of a release",
		Build: "hugo", Command: "sitelink", Config: "hugo.toml",
		Plugin: "Hugo has no plugins that run after a build, so put the two commands where you build:\n\n```sh\nhugo --gc --minify && sitelink check\n```\n\n" +
			"[Hugo in depth](../guide/getting-started-hugo.md) explains Hugo's traps, such as pages that `hugo` leaves in `public`."},
	"jekyll": {Name: "Jekyll", Builder: "Jekyll builds", Install: "bundle add jekyll-sitelink", Build: "bundle exec jekyll build", Command: "bundle exec sitelink", Config: "_config.yml",
		Plugin: "You have installed the plugin. Name it in `_config.yml`, and a broken link fails the build:\n\n```yaml\nplugins: [jekyll-sitelink]\n```" + moreOf},
	"eleventy": {Name: "Eleventy", Builder: "Eleventy builds", Install: "npm install --save-dev sitelink", Build: "npx eleventy", Command: "npx sitelink", Config: "eleventy.config.mjs",
		Plugin: withNPM("eleventy-plugin-sitelink", "eleventy.config.mjs", "js", "import sitelink from \"eleventy-plugin-sitelink\";\n\nexport default (config) => {\n  config.addPlugin(sitelink);\n};")},
	"astro": {Name: "Astro and Starlight", Builder: "Astro builds", Install: "npm install --save-dev sitelink", Build: "npx astro build", Command: "npx sitelink", Config: "astro.config.mjs",
		Plugin: withNPM("astro-sitelink", "astro.config.mjs", "js", "import sitelink from \"astro-sitelink\";\n\nexport default { integrations: [sitelink()] };")},
	"vitepress": {Name: "VitePress", Builder: "VitePress builds", Install: "npm install --save-dev sitelink", Build: "npx vitepress build", Command: "npx sitelink", Config: ".vitepress/config.mjs",
		Plugin: withNPM("vitepress-plugin-sitelink", ".vitepress/config.mjs", "js", "import sitelink from \"vitepress-plugin-sitelink\";\n\nexport default { buildEnd: sitelink() };")},
	"docusaurus": {Name: "Docusaurus", Builder: "Docusaurus builds", Install: "npm install --save-dev sitelink", Build: "npx docusaurus build", Command: "npx sitelink", Config: "docusaurus.config.js",
		Plugin: withNPM("docusaurus-plugin-sitelink", "docusaurus.config.js", "js", "export default {\n  plugins: [\"docusaurus-plugin-sitelink\"],\n};")},
	"mkdocs": {Name: "MkDocs", Builder: "MkDocs builds", Install: "pip install mkdocs-sitelink", Build: "mkdocs build", Command: "sitelink", Config: "mkdocs.yml",
		Plugin: "You have installed the plugin. Name it in `mkdocs.yml`, and a broken link fails the build:\n\n```yaml\nplugins:\n  - search\n  - sitelink\n```" + moreOf},
	"sphinx": {Name: "Sphinx", Builder: "Sphinx builds", Install: "pip install sphinx-sitelink", Build: "sphinx-build -b html . _build/html", Command: "sitelink", Config: "conf.py",
		Plugin: "You have installed the extension. Name it in `conf.py`, and a broken link fails the build:\n\n```python\nextensions = [\"sphinx_sitelink\"]\n```" + moreOf},
	"netlify": {Name: "Netlify", Builder: "Netlify builds and serves", Install: "npm install --save-dev sitelink", Build: "npx netlify build", Command: "npx sitelink", Config: "netlify.toml",
		Plugin: "Check in the command of the build. A broken link fails it, and nothing is deployed. In `netlify.toml`:\n\n```toml\n[build]\ncommand = \"npm run build && npx sitelink check\"\n```\n\n" +
			"`npx sitelink init --ci netlify` prints this line for your generator."},
}

// TestStart: each page of docs/start is what start.tmpl makes, with what check
// prints in the project of that generator.
func TestStart(t *testing.T) {
	tmpl := testkit.Must(template.ParseFiles(filepath.Join("testdata", "start.tmpl")))(t)
	binary, dir := build(t, "./cmd/sitelink"), projects(t)
	for name, s := range starters {
		s.Output, _, _ = runSitelink(t, binary, filepath.Join(dir, name), "check")
		code := regexp.MustCompile(`\[([a-z-]+)\]`).FindStringSubmatch(s.Output)
		if code == nil {
			t.Errorf("%s: no finding\n%s", name, s.Output)
			continue
		}
		s.Code = code[1]
		var page bytes.Buffer
		testkit.Check(t, tmpl.Execute(&page, s))
		document := "docs/start/" + name + ".md"
		if *update {
			write(t, filepath.Join(root, filepath.FromSlash(document)), page.String())
		} else if readFile(t, document) != page.String() {
			t.Errorf("%s is not what testdata/start.tmpl makes; run go test ./internal/repotest -update", document)
		}
	}
}

// projects writes the projects of testdata/start.txtar, each a repository, and
// returns their directory.
func projects(t *testing.T) string {
	t.Helper()
	git := testkit.Must(exec.LookPath("git"))(t)
	// With git, and without the generators and settings of the developer's machine.
	bin := t.TempDir()
	testkit.Check(t, os.Symlink(git, filepath.Join(bin, "git")))
	t.Setenv("PATH", bin)
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	archive := testkit.Must(txtar.ParseFile(filepath.Join("testdata", "start.txtar")))(t)
	dir := t.TempDir()
	for _, f := range archive.Files {
		write(t, filepath.Join(dir, filepath.FromSlash(f.Name)), string(f.Data))
		name, _, _ := strings.Cut(f.Name, "/")
		if _, err := os.Stat(filepath.Join(dir, name, ".git")); err == nil {
			continue
		}
		testkit.Run(t, exec.Command(git, "init", "-q", filepath.Join(dir, name)))
	}
	return dir
}
