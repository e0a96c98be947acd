package setup

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/sitelink/sitelink/internal/testkit"
	"go.yaml.in/yaml/v3"
)

// projects are one of each kind, and some with odd names.
func projects() map[string]Facts {
	has := func(names ...string) func(string) bool {
		return func(name string) bool { return slices.Contains(names, name) }
	}
	return map[string]Facts{
		"hugo":       {Generator: "hugo", Title: "Hugo", Version: "0.150.1", Usual: "hugo", Build: `hugo --destination "$SITELINK_OUT"`, Docroot: "public", DocrootBy: "hugo.toml"},
		"hugo+npm":   {Generator: "hugo", Usual: "hugo", Docroot: "public", Script: "npm run build", Has: has("package-lock.json")},
		"jekyll":     {Generator: "jekyll", Usual: "jekyll build", Docroot: "_site", Has: has("Gemfile")},
		"eleventy":   {Generator: "eleventy", Usual: "npx eleventy", Docroot: "_site", Has: has("yarn.lock")},
		"zola":       {Generator: "zola", Usual: "zola build", Docroot: "public"},
		"mkdocs":     {Generator: "mkdocs", Usual: "mkdocs build", Docroot: "site", Packages: []string{"mkdocs", "mkdocs-material"}, Python: "requirements.txt"},
		"astro":      {Generator: "astro", Usual: "npx astro build", Docroot: "dist", Script: "npm run build", Has: has("pnpm-lock.yaml")},
		"own":        {Generator: "astro", Usual: "npx astro build", Docroot: "dist", Own: "npx sitelink", Plugin: true},
		"docusaurus": {Generator: "docusaurus", Usual: "npx docusaurus build", Docroot: "build"},
		"committed":  {Generator: "hugo", Usual: "hugo", Docroot: "docs", Committed: true},
		"plain":      {Docroot: "."},
		"nothing":    {},
		"below":      {Generator: "hugo", Usual: "hugo", Docroot: "public", Below: "docs/site", Has: has("../../.gitlab-ci.yml")},
		"odd": {Generator: "hugo", Usual: "hugo", Docroot: "it's \"out\": #1\n", Below: "{a} b", Profile: "netlify", ProfileBy: "a\nb",
			BaseURLs: []string{"https://example.org/\"x\"/", "https://b.example/"}, Version: "0.1"},
	}
}

func server(t *testing.T, name string) Server {
	t.Helper()
	for _, s := range Servers() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no server %s", name)
	return Server{}
}

// Every workflow is YAML of the form that GitHub reads, checks out, builds unless
// the site is committed, and checks the directory that was built.
func TestGitHub(t *testing.T) {
	type workflow struct {
		Name        string
		On          map[string]*struct{ Branches []string }
		Permissions map[string]string
		Jobs        map[string]struct {
			RunsOn   string `yaml:"runs-on"`
			Defaults struct {
				Run struct {
					Dir string `yaml:"working-directory"`
				}
			}
			Steps []struct {
				Uses, Run string
				With, Env map[string]string
			}
		}
	}
	for name, p := range projects() {
		p.Release, p.Branches = "v9.8.7", []string{"trunk"}
		advice := server(t, "github").Advice(&p)
		var w workflow
		if err := yaml.Unmarshal([]byte(advice.File.Text), &w); err != nil {
			t.Errorf("%s: %v\n%s", name, err, advice.File.Text)
			continue
		}
		job := w.Jobs["links"]
		if len(w.Jobs) != 1 || job.RunsOn == "" || w.Permissions["contents"] != "read" || len(w.Permissions) != 1 || len(w.On) != 2 || !slices.Equal(w.On["push"].Branches, []string{"trunk"}) || job.Defaults.Run.Dir != p.Below {
			t.Errorf("%s: %+v", name, w)
		}
		var runs []string
		for _, s := range job.Steps {
			if s.Run != "" {
				runs = append(runs, s.Run)
			}
			if stands := s.Env[standBack] != ""; stands != (p.Plugin && s.Run == p.buildLine()) {
				t.Errorf("%s: %q has %v", name, s.Run, s.Env)
			}
		}
		if builds := p.Usual != ""; builds != (len(runs) > 0) {
			t.Errorf("%s runs %q", name, runs)
		} else if builds && runs[len(runs)-1] != p.buildLine() {
			t.Errorf("%s builds by %q", name, runs[len(runs)-1])
		}
		first, last := job.Steps[0], job.Steps[len(job.Steps)-1]
		if !strings.HasPrefix(first.Uses, "actions/checkout@") || last.Uses != "sitelink/sitelink@v9.8.7" {
			t.Errorf("%s: first %q, last %q", name, first.Uses, last.Uses)
		}
		want := strings.TrimPrefix(p.Below+"/"+p.docrootOr("."), "/")
		if last.With["docroot"] != path.Clean(want) {
			t.Errorf("%s checks %q, want %q", name, last.With["docroot"], want)
		}
		if args := last.With["args"]; p.Below != "" && args != "--config\n"+p.Below+"/sitelink.toml\n" {
			t.Errorf("%s: arguments %q", name, args)
		}
		for _, line := range runs {
			if strings.Contains(line, "SUDO") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}

// The same for GitLab. If the project has a file of its own, sitelink writes another
// one that it can include.
func TestGitLab(t *testing.T) {
	type job struct {
		Image     any // a name, or a map with one
		Needs     []string
		Script    []string
		Artifacts struct {
			Paths   []string
			When    string
			Reports map[string]string
		}
	}
	for name, p := range projects() {
		p.Release = "v9.8.7"
		advice := server(t, "gitlab").Advice(&p)
		jobs := map[string]job{}
		if err := yaml.Unmarshal([]byte(advice.File.Text), &jobs); err != nil {
			t.Errorf("%s: %v\n%s", name, err, advice.File.Text)
			continue
		}
		check, build := jobs["sitelink"], jobs["sitelink-build"]
		if p.Own != "" { // one job has all packages
			last := check.Script[len(check.Script)-1]
			if len(jobs) != 1 || !strings.HasPrefix(last, p.Own+" check ") || check.Script[len(check.Script)-2] != standBack+"=. "+p.buildLine() || !strings.HasPrefix(check.Image.(string), "node:") {
				t.Errorf("%s checks by %+v", name, jobs)
			}
			continue
		}
		if builds := p.Usual != ""; builds != (len(build.Script) > 0) || builds != (len(check.Needs) == 1) {
			t.Errorf("%s: %+v", name, jobs)
		} else if builds && (build.Script[len(build.Script)-1] != p.buildLine() || build.Image == nil || len(build.Artifacts.Paths) != 1) {
			t.Errorf("%s builds by %+v", name, build)
		}
		n := len(check.Script)
		if image, _ := check.Image.(map[string]any); image["name"] != "ghcr.io/sitelink/sitelink:v9.8.7" || !strings.HasPrefix(check.Script[n-1], "sitelink check") || len(check.Artifacts.Reports) != 2 {
			t.Errorf("%s checks by %+v", name, check)
		}
		if entered := p.Below != ""; entered != strings.HasPrefix(check.Script[0], "cd ") {
			t.Errorf("%s: %q", name, check.Script)
		}
		if own := name == "below"; own != strings.HasSuffix(advice.File.Path, "../../.gitlab/sitelink.yml") || own != strings.Contains(advice.Add, "- local: /.gitlab/sitelink.yml") {
			t.Errorf("%s: %s, %q", name, advice.File.Path, advice.Add)
		}
	}
}

// netlify.toml is TOML, and an existing one is not touched.
func TestHosts(t *testing.T) {
	for name, p := range projects() {
		p.Release = "v9.8.7"
		advice := server(t, "netlify").Advice(&p)
		var file struct {
			Build struct{ Base, Publish, Command string }
		}
		if err := toml.Unmarshal([]byte(advice.File.Text), &file); err != nil {
			t.Errorf("%s: %v\n%s", name, err, advice.File.Text)
		}
		if b := file.Build; b.Publish != p.docrootOr("public") || b.Base != p.Below || !strings.Contains(" && "+b.Command, " && "+p.buildInShell()) ||
			!strings.Contains(b.Command, cmp.Or(p.Own, "npx --yes sitelink@9.8.7")+" check") {
			t.Errorf("%s: %+v", name, b)
		}
		if profile := p.Profile != "netlify"; profile != strings.HasSuffix(file.Build.Command, " --profile netlify") {
			t.Errorf("%s: %s", name, file.Build.Command)
		}
		p.Has = func(name string) bool { return strings.HasSuffix(name, "netlify.toml") }
		if advice := server(t, "netlify").Advice(&p); advice.File != nil || !strings.Contains(advice.Add, "command = ") {
			t.Errorf("%s: an existing netlify.toml: %+v", name, advice)
		}
		if advice := server(t, "cloudflare").Advice(&p); advice.File != nil || !strings.Contains(advice.Add, cmp.Or(p.Own, "sitelink@9.8.7")+" check") {
			t.Errorf("%s: %+v", name, advice)
		}
	}
}

// A server is recognised by its files, or by the address of a remote.
func TestServers(t *testing.T) {
	for _, test := range []struct{ file, remotes, want string }{
		{".github", "", "github"}, {"", "git@github.com:me/site.git\n", "github"},
		{".gitlab-ci.yml", "", "gitlab"}, {"", "https://gitlab.example.org/me/site.git\n", "gitlab"},
		{"netlify.toml", "", "netlify"}, {"wrangler.toml", "", "cloudflare"}, {"index.html", "https://example.org/site.git", ""},
	} {
		used := ""
		for _, s := range Servers() {
			if s.Used(func(name string) bool { return name == test.file }, test.remotes) {
				used += s.Name
			}
		}
		if used != test.want {
			t.Errorf("%+v: %q", test, used)
		}
	}
}

// A text is the same after YAML and TOML have read it.
func TestQuotes(t *testing.T) {
	texts := []string{"", "a b", "a: b", "a #b", "'", `"`, "it's \"x\"\\", "\n\t\x00", "yes", "1.5", "- a", "café", "\u2028", "a:", "~", "{}", "*x", "C:\\x"}
	for _, text := range texts {
		var fromYAML, fromTOML struct{ V string }
		if err := yaml.Unmarshal([]byte("v: "+scalar(text)+"\n"), &fromYAML); err != nil || fromYAML.V != text {
			t.Errorf("YAML: %q became %s and %q, %v", text, scalar(text), fromYAML.V, err)
		}
		if err := toml.Unmarshal([]byte("V = "+quote(text)+"\n"), &fromTOML); err != nil || fromTOML.V != text {
			t.Errorf("TOML: %q became %s and %q, %v", text, quote(text), fromTOML.V, err)
		}
	}
}

// The configuration sets what must be set, and no more.
func TestConfigKeys(t *testing.T) {
	for name, p := range projects() {
		var set map[string]any
		text := p.Config().Text
		if err := toml.Unmarshal([]byte(text), &set); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
			continue
		}
		_, docroot := set["docroot"]
		if want := p.Docroot != "" && p.DocrootBy == ""; docroot != want {
			t.Errorf("%s: docroot set: %t", name, docroot)
		}
		delete(set, "docroot")
		for key, value := range set {
			if table, ok := value.(map[string]any); !ok || len(table) > 0 {
				t.Errorf("%s sets %s to %v", name, key, value)
			}
		}
	}
	if _, err := os.Stat(ConfigName); err == nil {
		t.Error("a test wrote a configuration")
	}
}

// TestOwn: the project's packages may have sitelink, and a plugin that checks each build.
func TestOwn(t *testing.T) {
	for _, c := range []struct {
		name, text, own string
		plugin          bool
	}{
		{"package.json", `{"devDependencies": {"sitelink": "0.1.0", "@11ty/eleventy": "3.1.2"}}`, "npx sitelink", false},
		{"package.json", `{"devDependencies":{"eleventy-plugin-sitelink":"0.1.0","@11ty/eleventy":"3"}}`, "", true},
		{"package.json", `{"name": "sitelinks", "devDependencies": {"@11ty/eleventy": "3"}}`, "", false},
		{"Gemfile", "gem 'jekyll'\ngem 'jekyll-sitelink'\ngem \"sitelink\", '~> 0.1'\n", "bundle exec sitelink", true},
		{"requirements.txt", "mkdocs\nsitelink==0.1.0\nmkdocs-sitelink>=0.1\n", "sitelink", true},
		{"pyproject.toml", "[project]\nname = 'x'\ndependencies = ['mkdocs', 'mkdocs-sitelink']\n", "", true},
		{"mkdocs.yml", "plugins:\n  - search\n  - sitelink\n", "", true},
		{"conf.py", "project = 'x'\nextensions = ['sphinx_sitelink']\n", "", true},
	} {
		dir := t.TempDir()
		config := map[string]string{"package.json": "eleventy.config.js", "Gemfile": "_config.yml"}[c.name]
		if c.name != "mkdocs.yml" && c.name != "conf.py" {
			testkit.AddFiles(t, dir, map[string]string{cmp.Or(config, "mkdocs.yml"): ""})
		}
		testkit.AddFiles(t, dir, map[string]string{c.name: c.text})
		s := testkit.Must(Look(t.Context(), dir, Options{}))(t)
		if s.Own != c.own || s.Plugin != c.plugin {
			t.Errorf("%s: %q, plugin %t", c.text, s.Own, s.Plugin)
		}
	}
	for language, registry := range map[string]string{"npm": "npm", "python": "pip", "ruby": "gem"} {
		for _, e := range testkit.Must(os.ReadDir("../../../plugins/" + language))(t) {
			if own := registry + ":" + e.Name(); e.Name() != "sitelink" && !slices.Contains(strings.Fields(plugins), own) {
				t.Errorf("%s is not among the plugins", own)
			}
		}
	}
}

// TestPackages: a project's own package manager installs what it needs. In a monorepo,
// the lock file may be above the project. The configuration says what MkDocs needs.
func TestPackages(t *testing.T) {
	for _, c := range []struct {
		files, install, build string
	}{
		{"mkdocs.yml=theme: material\nplugins:\n  - search\n  - awesome-pages\nmarkdown_extensions:\n  - pymdownx.emoji:\n      x: 1\n", "pip install mkdocs mkdocs-material mkdocs-awesome-pages-plugin pymdown-extensions", "mkdocs build"},
		{"mkdocs.yml=theme:\n  name: material\n|requirements.txt=mkdocs<2\n", "pip install -r requirements.txt mkdocs-material", "mkdocs build"},
		{"mkdocs.yml=theme:\n  name: material\nplugins:\n  - mkdocstrings\n|requirements.txt=MkDocs<2\nmkdocs-material[imaging]==9.6.1 \\\n  --hash=sha256:0\nmkdocstrings\n", "pip install -r requirements.txt", "mkdocs build"},
		{"mkdocs.yml=theme: material\n|pyproject.toml=[project]\nname = 'x'\ndependencies = ['mkdocs>=1', 'x']\noptional-dependencies.docs = ['mkdocs-material']\n", "pip install . mkdocs-material", "mkdocs build"},
		{"mkdocs.yml=site_name: x\n|pyproject.toml=[tool.ruff]\n", "pip install mkdocs", "mkdocs build"},
		{"mkdocs.yml=site_name: x\n|pyproject.toml=[project]\nname = 'x'\n", "pip install . mkdocs", "mkdocs build"},
		{"mkdocs.yml=site_name: x\n|pyproject.toml=[project]\n|uv.lock=x", "pip install uv && uv sync --all-groups", "uv run mkdocs build"},
		{"conf.py=project = 'x'\nhtml_theme = \"furo\"\nextensions = ['myst_parser', 'sphinx.ext.todo']\n", "pip install sphinx furo myst-parser", "sphinx-build -b html . _build/html"},
		{"eleventy.config.js=x|package.json={}|bun.lock=x", "npm install --global bun && bun install --frozen-lockfile", "npx eleventy"},
		{"eleventy.config.js=x|package.json={}|../../pnpm-lock.yaml=x", "corepack enable && pnpm install --frozen-lockfile", "npx eleventy"},
		{"eleventy.config.js=x|package.json={}", "npm install", "npx eleventy"},
		{"_config.yml=x: y|Gemfile=gem 'jekyll'", "bundle install", "bundle exec jekyll build"},
	} {
		root := t.TempDir()
		dir := filepath.Join(root, "sites", "one")
		for _, d := range []string{filepath.Join(root, ".git"), dir} {
			testkit.Check(t, os.MkdirAll(d, 0o777))
		}
		for file := range strings.SplitSeq(c.files, "|") {
			name, text, _ := strings.Cut(file, "=")
			testkit.Check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
		}
		s := testkit.Must(Look(t.Context(), dir, Options{Untrusted: true}))(t)
		tools, builds := s.tools()
		if got := strings.Join(tools.lines(false), "; "); !builds || got != c.install || s.buildLine() != c.build {
			t.Errorf("%s:\n got %s; %s\nwant %s; %s", c.files, got, s.buildLine(), c.install, c.build)
		}
	}
}
