//go:build integration && unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestInitWorkflow runs what `init --ci github` writes, step by step as a runner
// would, but for the installation of Hugo: a good site passes, a broken link
// fails the job. The project is at the root of the repository, or below.
func TestInitWorkflow(t *testing.T) {
	if _, err := exec.LookPath("hugo"); err != nil {
		t.Skip("hugo is not installed; .ci/run installs it")
	}
	script, err := filepath.Abs("../../.ci/action")
	testkit.Check(t, err)
	for _, below := range []string{"", "docs/site"} {
		t.Run("below "+below, func(t *testing.T) {
			dir, _ := pushed(t, "")
			project := filepath.Join(dir, below)
			for name, text := range map[string]string{
				"hugo.toml":                    "baseURL = 'https://blog.example.net/'\ntitle = 't'\ndisableKinds = ['taxonomy', 'term', 'RSS', 'sitemap']\n",
				"layouts/_default/single.html": "<title>{{ .Title }}</title>{{ .Content }}",
				"layouts/_default/list.html":   "<title>t</title>{{ range .Pages }}<a href=\"{{ .RelPermalink }}\">t</a>{{ end }}",
				"content/good.md":              "---\ntitle: good\n---\n[home](https://blog.example.net/)\n",
			} {
				write(t, filepath.Join(project, filepath.FromSlash(name)), text)
			}
			gitIn(t, dir, "rm", "-q", "-r", "public")
			command(t, project, "sitelink", "init", "--ci", "github")
			text, err := os.ReadFile(filepath.Join(dir, ".github", "workflows", "sitelink.yml"))
			testkit.Check(t, err)
			if code, out := runWorkflow(t, dir, script, text); code != exitClean {
				t.Errorf("a good site: left with %d\n%s", code, out)
			}
			write(t, filepath.Join(project, "content", "bad.md"), "---\ntitle: bad\n---\n[gone](/gone/)\n")
			code, out := runWorkflow(t, dir, script, text)
			if want := "::error file=" + filepath.ToSlash(filepath.Join(below, "content/bad.md")) + ",line=4,col=8"; code != exitFindings || !strings.Contains(out, want) {
				t.Errorf("a broken link: left with %d\n%s\nhas no %s", code, out, want)
			}
		})
	}
}

// runWorkflow runs the steps of a workflow in a repository and returns the exit
// code of the first that fails.
func runWorkflow(t *testing.T, dir, action string, workflow []byte) (code int, said string) {
	t.Helper()
	var w struct {
		Jobs map[string]struct {
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
	testkit.Check(t, yaml.Unmarshal(workflow, &w))
	ran := 0
	for _, step := range w.Jobs["links"].Steps {
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		cmd.Dir = filepath.Join(dir, w.Jobs["links"].Defaults.Run.Dir)
		switch {
		case strings.HasPrefix(step.Uses, "sitelink/sitelink@"):
			cmd = exec.Command("bash", action)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "INPUT_DOCROOT="+step.With["docroot"], "INPUT_ARGS="+step.With["args"], "INPUT_FORMAT=github")
		case step.Uses != "", strings.HasPrefix(step.Run, "curl "):
			continue
		}
		ran++
		out, err := cmd.CombinedOutput()
		said += string(out)
		if err != nil {
			return cmd.ProcessState.ExitCode(), said
		}
	}
	if ran != 2 {
		t.Errorf("%d steps were run:\n%s", ran, workflow)
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
