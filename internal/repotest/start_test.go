package repotest

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"text/template"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/testkit"
)

// starter is what differs between the pages of docs/start. The table of generators has the
// title, the command that builds, and the file of configuration where they are empty.
type starter struct {
	Install, Plugin      string // command lines, and how each build is checked, in Markdown
	Title, Build, Config string

	Command, Output, Code string // how sitelink is called, and what check prints
}

const npm = "npm install --save-dev sitelink"

// plugin returns how a plugin is set up; install is "" if it is installed already.
func plugin(install, file, language, code string) string {
	if install != "" {
		install = "```sh\nnpm install --save-dev " + install + "\n```\n\n"
	}
	return "The plugin checks at the end of each build, and a broken link fails it:\n\n" + install +
		"In `" + file + "`:\n\n```" + language + "\n" + code + "\n```\n\n[Plugins](../guide/plugins.md) has the options."
}

var starters = map[string]starter{
	"hugo": {Install: "brew install sitelink/tap/sitelink      # or the deb, rpm or archive of a release",
		Plugin: "```sh\nhugo --gc --minify && sitelink check\n```\n\n[Hugo in depth](../guide/getting-started-hugo.md) explains Hugo's traps, such as pages that `hugo` leaves in `public`."},
	"jekyll":     {Install: "bundle add jekyll-sitelink", Plugin: plugin("", "_config.yml", "yaml", "plugins: [jekyll-sitelink]")},
	"eleventy":   {Install: npm + "\necho /_site/ >>.gitignore     # or Eleventy reads an earlier build as input", Plugin: plugin("eleventy-plugin-sitelink", "eleventy.config.mjs", "js", "import sitelink from \"eleventy-plugin-sitelink\";\n\nexport default (config) => {\n  config.addPlugin(sitelink);\n};")},
	"astro":      {Install: npm, Title: "Astro and Starlight", Plugin: plugin("astro-sitelink", "astro.config.mjs", "js", "import sitelink from \"astro-sitelink\";\n\nexport default { integrations: [sitelink()] };")},
	"vitepress":  {Install: npm, Plugin: plugin("vitepress-plugin-sitelink", "docs/.vitepress/config.mjs", "js", "import sitelink from \"vitepress-plugin-sitelink\";\n\nexport default { buildEnd: sitelink() };")},
	"docusaurus": {Install: npm, Plugin: plugin("docusaurus-plugin-sitelink", "docusaurus.config.js", "js", "export default {\n  plugins: [\"docusaurus-plugin-sitelink\"],\n};")},
	"mkdocs":     {Install: "pip install mkdocs-sitelink", Plugin: plugin("", "mkdocs.yml", "yaml", "plugins:\n  - search\n  - sitelink")},
	"sphinx":     {Install: "pip install sphinx-sitelink", Plugin: plugin("", "conf.py", "python", "extensions = [\"sphinx_sitelink\"]")},
	"netlify": {Install: npm, Title: "Netlify", Build: "npx netlify build", Config: "netlify.toml",
		Plugin: "A broken link fails the build, and nothing is deployed. In `netlify.toml`:\n\n```toml\n[build]\ncommand = \"npm run build && npx sitelink check\"\n```\n\n" +
			"`npx sitelink init --ci netlify` prints this line for your generator."},
}

// TestStart: each page of docs/start is what start.tmpl makes, with what check
// prints in the project of that generator. TestStartPages runs its commands.
func TestStart(t *testing.T) {
	tmpl := testkit.Must(template.ParseFiles(filepath.Join("testdata", "start.tmpl")))(t)
	binary, dir := build(t, "./cmd/sitelink"), projects(t)
	for name, s := range starters {
		in := filepath.Join(dir, name)
		s.Output, _, _ = runSitelink(t, binary, in, "check")
		code := regexp.MustCompile(`\[([a-z-]+)\]`).FindStringSubmatch(s.Output)
		if code == nil {
			t.Errorf("%s: no finding\n%s", name, s.Output)
			continue
		}
		s.Code = code[1]
		if p, ok := generator.Detect(in, ""); ok {
			s.Title, s.Build, s.Config = cmp.Or(s.Title, p.Generator.Title()), cmp.Or(s.Build, p.UsualCommand()), cmp.Or(s.Config, strings.Join(p.Configs, ", "))
		}
		switch program, _, _ := strings.Cut(s.Install, " "); program {
		case "npm":
			s.Command = "npx sitelink"
		case "bundle":
			s.Command, s.Build = "bundle exec sitelink", "bundle exec "+s.Build
		default:
			s.Command = "sitelink"
		}
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
