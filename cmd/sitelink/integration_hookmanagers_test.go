//go:build integration && unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/testkit"
)

// Programs that manage hooks run sitelink with the snippets that `hook install` prints and
// docs/guide/git-hooks.md shows. In a repository with two sites, they stop a bad commit in
// one of them, and let a good one pass. SITELINK_NPM is where npm put lefthook and husky,
// SITELINK_PRECOMMIT the program pre-commit.
func TestHookManagers(t *testing.T) {
	npm := os.Getenv("SITELINK_NPM")
	bin := filepath.Join(npm, "node_modules", ".bin")
	sites := []string{"blog", "my docs"}
	for _, m := range []struct {
		name, program string
		set           func(t *testing.T, dir string)
	}{
		{"husky", filepath.Join(bin, "husky"), func(t *testing.T, dir string) {
			command(t, dir, filepath.Join(bin, "husky"))
			testkit.Write(t, filepath.Join(dir, ".husky", "pre-push"), githook.Snippet("husky", sites...))
		}},
		{"lefthook", filepath.Join(bin, "lefthook"), func(t *testing.T, dir string) {
			testkit.Write(t, filepath.Join(dir, "lefthook.yml"), githook.Snippet("lefthook", sites...))
			command(t, dir, filepath.Join(bin, "lefthook"), "install")
		}},
		{"pre-commit", os.Getenv("SITELINK_PRECOMMIT"), func(t *testing.T, dir string) {
			source, commit := manifest(t)
			text := strings.NewReplacer("https://github.com/sitelink/sitelink", source,
				"v0.1.0", commit, "id: sitelink", "id: sitelink-system").Replace(githook.Snippet("pre-commit", sites...))
			testkit.Write(t, filepath.Join(dir, ".pre-commit-config.yaml"), text)
			t.Setenv("PRE_COMMIT_HOME", t.TempDir())
			program := os.Getenv("SITELINK_PRECOMMIT")
			command(t, source, program, "validate-manifest", ".pre-commit-hooks.yaml")
			command(t, dir, program, "install", "--hook-type", "pre-push")
		}},
	} {
		t.Run(m.name, func(t *testing.T) {
			if info, err := os.Stat(m.program); err != nil || info.IsDir() {
				t.Skipf("%s is not installed at %q; .ci/run installs it", m.name, m.program)
			}
			dir, _ := pushed(t, "")
			t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			os.Remove(filepath.Join(dir, "dirty.html"))
			command(t, dir, "mkdir", "blog")
			testkit.Git(t, dir, "mv", "public", "blog/public")
			remote := filepath.Join(t.TempDir(), "remote.git")
			testkit.Git(t, dir, "init", "-q", "--bare", remote)
			testkit.Git(t, dir, "remote", "add", "origin", remote)
			testkit.Write(t, filepath.Join(dir, "my docs", "public", "index.html"), "<title>t</title>")
			m.set(t, dir)
			testkit.Git(t, dir, "add", "-A")
			testkit.Git(t, dir, "commit", "-q", "--no-verify", "-m", m.name)

			out := command(t, dir, "sitelink", "hook", "status")
			if !strings.Contains(out, "pre-push: run by "+m.name) || !strings.Contains(out, "; checks blog, my docs\n") {
				t.Errorf("status: %s", out)
			}
			// pre-commit shows what failed only.
			if out := testkit.Git(t, dir, "push", "origin", "main"); !(strings.Contains(out, "blog in main: links are fine") && strings.Contains(out, "my docs in main: links are fine")) && !strings.Contains(out, "sitelink (installed).....................................................Passed") {
				t.Errorf("sitelink did not check the push: %s", out)
			}
			testkit.Write(t, filepath.Join(dir, "my docs", "public", "b.html"), `<title>t</title><a href="gone.html">t</a>`)
			testkit.Git(t, dir, "add", "-A")
			testkit.Git(t, dir, "commit", "-q", "--no-verify", "-m", "bad")
			os.Remove(filepath.Join(dir, "my docs", "public", "b.html"))
			cmd := exec.Command("git", "push", "origin", "main")
			cmd.Dir = dir
			said, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(said), "sitelink: 1 finding in what is pushed to main\n") || !strings.Contains(string(said), "\nmy docs/public/b.html:1:26: error: ") {
				t.Errorf("a bad commit: %v\n%s", err, said)
			}
			if known := strings.Contains(testkit.Git(t, dir, "worktree", "list"), "trees"); known {
				t.Error("a temporary tree is left")
			}
		})
	}
}

// manifest returns a repository that has the manifest of this working tree for pre-commit, which
// takes commits only. Its hooks run the sitelink on PATH.
func manifest(t *testing.T) (source, commit string) {
	t.Helper()
	source = filepath.Join(t.TempDir(), "source")
	text := strings.ReplaceAll(string(testkit.Read(t, "../../.pre-commit-hooks.yaml")), "language: golang", "language: system")
	testkit.Write(t, filepath.Join(source, ".pre-commit-hooks.yaml"), text)
	testkit.Git(t, source, "init", "-q", ".")
	testkit.Git(t, source, "add", "-A")
	testkit.Git(t, source, "commit", "-q", "-m", "manifest")
	return source, strings.TrimSpace(testkit.Git(t, source, "rev-parse", "HEAD"))
}

// TestPreCommitMarkdown: the hook for Markdown stops a commit that breaks the links of a file
// which it does not change.
func TestPreCommitMarkdown(t *testing.T) {
	program := os.Getenv("SITELINK_PRECOMMIT")
	if info, err := os.Stat(program); err != nil || info.IsDir() {
		t.Skipf("pre-commit is not installed at %q; .ci/run installs it", program)
	}
	dir, _ := pushed(t, "")
	t.Setenv("PRE_COMMIT_HOME", t.TempDir())
	source, commit := manifest(t)
	testkit.Write(t, filepath.Join(dir, ".pre-commit-config.yaml"), "repos: [{repo: '"+source+"', rev: '"+commit+"', hooks: [{id: sitelink-markdown}]}]\n")
	testkit.Write(t, filepath.Join(dir, "README.md"), "[a](docs/a.md#one) ![p](p.png)\n")
	testkit.Write(t, filepath.Join(dir, "docs", "a.md"), "# One\n")
	testkit.Write(t, filepath.Join(dir, "p.png"), "png")
	command(t, dir, program, "install")
	testkit.Git(t, dir, "add", "-A")
	if out := testkit.Git(t, dir, "commit", "-m", "good"); !strings.Contains(out, "Passed") {
		t.Errorf("a good commit: %s", out)
	}
	for _, c := range []struct {
		change string
		flags  string
		want   string
	}{
		{"git rm -q docs/a.md", "-m", "README.md:1:5: error: file not found: /docs/a.md"},
		{"git mv docs/a.md docs/b.md", "-m", "README.md:1:5: error: file not found: /docs/a.md"},
		{"rm p.png", "-am", "README.md:1:25: error: file not found: /p.png"},
		{"echo '# Other' >docs/a.md", "-am", "README.md:1:5: error: docs/a.md has no element with id"},
	} {
		command(t, dir, "sh", "-c", c.change)
		cmd := exec.Command("git", "commit", c.flags, "bad")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %v\n%s", c.change, err, out)
		}
		testkit.Git(t, dir, "reset", "-q", "--hard")
	}
}
