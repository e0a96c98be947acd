//go:build integration && unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"github.com/sitelink/sitelink/internal/setup"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestInitWorkflow runs what `init --ci` says for each server, command by command, with the
// ordinary clients of npm and PyPI: a good site passes, a broken link fails. Only what
// comes from elsewhere is here already: Hugo, Debian's packages and sitelink itself.
func TestInitWorkflow(t *testing.T) {
	action, err := filepath.Abs("../../.ci/action")
	testkit.Check(t, err)
	sitelink, err := exec.LookPath("sitelink")
	testkit.Check(t, err)
	golang, err := exec.LookPath("go")
	testkit.Check(t, err)
	home := os.Getenv("HOME")
	for _, p := range []struct {
		name, below string // the project is there in the repository
		files       map[string]string
		prepare     string
		bad, place  string // the file with the broken link, and its place
	}{
		{"hugo", "", smallHugo, "true", "content/bad.md", "content/bad.md:4:8"},
		{"hugo below", "docs/site", smallHugo, "true", "content/bad.md", "content/bad.md:4:8"},
		{"mkdocs", "handbook", map[string]string{"mkdocs.yml": "site_name: t\ntheme: material\n", "docs/index.md": "# t\n"}, "python3 -m venv $VENV", "docs/bad.md", "docs/bad.md:4:8"},
		{"sphinx", "", map[string]string{"conf.py": "project = 't'\nhtml_theme = 'furo'\n", "index.rst": "t\n=\n", "requirements.txt": "furo\n"}, "python3 -m venv $VENV", "bad.rst", "bad.rst:4:8"},
		{"eleventy", "sites/one", map[string]string{"package.json": `{"private": true, "devDependencies": {"@11ty/eleventy": "3.1.2"}}`, "eleventy.config.mjs": "export default () => ({})\n", "index.md": "# t\n"},
			"npm install --package-lock-only --no-audit --no-fund --no-update-notifier --loglevel error", "bad.md", "bad.md:4:8"},
	} {
		t.Run(p.name, func(t *testing.T) {
			dir, _ := pushed(t, "")
			gitIn(t, dir, "rm", "-q", "-r", "public")
			os.Remove(filepath.Join(dir, "dirty.html"))
			project := filepath.Join(dir, p.below)
			for name, text := range p.files {
				write(t, filepath.Join(project, filepath.FromSlash(name)), text)
			}
			tools, venv := t.TempDir(), filepath.Join(t.TempDir(), "venv")
			write(t, filepath.Join(tools, "go"), "#!/bin/sh\ncase $* in 'install github.com/sitelink/'*) ;; *) exec "+golang+" \"$@\" ;; esac\n")
			write(t, filepath.Join(tools, "bin", "sitelink"), "#!/bin/sh\nexec "+sitelink+" \"$@\"\n")
			for _, name := range []string{"go", "bin/sitelink"} {
				testkit.Check(t, os.Chmod(filepath.Join(tools, name), 0o777))
			}
			for name, value := range map[string]string{"GOPATH": tools, "VENV": venv, "PROJECT": project, "PATH": tools + ":" + venv + "/bin:" + os.Getenv("PATH"),
				"npm_config_cache": filepath.Join(home, ".npm"), "PIP_CACHE_DIR": filepath.Join(home, ".cache", "pip"), "PIP_QUIET": "1"} {
				t.Setenv(name, value)
			}
			command(t, project, "bash", "-c", p.prepare)
			facts, err := setup.Look(t.Context(), project, setup.Options{})
			testkit.Check(t, err)
			facts.Release = "v9.8.7"
			config := facts.Config()
			write(t, filepath.Join(project, config.Path), config.Text)
			for _, bad := range []bool{false, true} {
				for _, server := range setup.Servers() {
					code, out := runAll(t, dir, workflowScripts(t, server, server.Advice(&facts.Facts), action))
					place := p.place
					if file, rest, _ := strings.Cut(place, ":"); server.Name == "github" {
						line, column, _ := strings.Cut(rest, ":")
						place = "::error file=" + filepath.Join(p.below, file) + ",line=" + line + ",col=" + column
					}
					if !bad && code != exitClean || bad && (code != exitFindings || !strings.Contains(out, place)) {
						t.Errorf("%s, broken link: %t: left with %d\n%s", server.Name, bad, code, out)
					}
				}
				text := "---\ntitle: bad\n---\n[gone](#gone)\n"
				if filepath.Ext(p.bad) == ".rst" {
					text = "bad\n===\n\n`gone <#gone>`__\n"
				}
				write(t, filepath.Join(project, filepath.FromSlash(p.bad)), text)
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

// runAll runs scripts until one fails, without lines that load something from other hosts
// than registries of packages.
func runAll(t *testing.T, dir string, scripts []string) (code int, said string) {
	t.Helper()
	for _, script := range scripts {
		script = regexp.MustCompile(`(?m)^(sudo )?(curl|apt-get) .*`).ReplaceAllString(script, "")
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
		cmd.Dir = dir
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
	gitIn(t, dir, "init", "-q", "--bare", remote)
	gitIn(t, dir, "remote", "add", "origin", remote)
	command(t, dir, filepath.Join(bin, "husky"))
	before := listing(t, filepath.Join(dir, ".husky"))
	if out := command(t, dir, "sitelink", "init", "--hook"); !strings.Contains(out, "wrote   .husky/pre-push\n") && !strings.Contains(out, "in the configuration of git") {
		t.Errorf("init: %s", out)
	}
	gitIn(t, dir, "add", "-A")
	gitIn(t, dir, "commit", "-q", "-m", "husky")
	if out := gitIn(t, dir, "push", "origin", "main"); !strings.Contains(out, "main: links are fine") {
		t.Errorf("a good push: %s", out)
	}
	write(t, filepath.Join(dir, "public", "b.html"), `<title>t</title><a href="gone.html">t</a>`)
	gitIn(t, dir, "add", "-A")
	gitIn(t, dir, "commit", "-q", "-m", "bad")
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
