package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/run/setup"
	"github.com/sitelink/sitelink/internal/testkit"
)

// atTerminal runs a command line as if a user typed it at a terminal.
func atTerminal(t *testing.T, ctx context.Context, stdin io.Reader, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(ctx, args, env{Stdin: stdin, Stdout: &out, Stderr: &errs, StdinTTY: true, StderrTTY: true, Getenv: func(string) string { return "" }})
	return out.String(), errs.String(), code
}

// inRepository makes a repository at GitHub with a small site, and enters it.
func inRepository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	dir = filepath.Join(dir, "repo")
	testkit.Check(t, os.MkdirAll(filepath.Join(dir, "public"), 0o755))
	testkit.Check(t, os.WriteFile(filepath.Join(dir, "public", "index.html"), []byte("<title>t</title>"), 0o644))
	for _, args := range [][]string{{"init", "-q", "."}, {"remote", "add", "origin", "https://github.com/me/site"}} {
		testkit.Git(t, dir, args...)
	}
	t.Chdir(dir)
	return dir
}

// On a terminal each offer is a question, and its answer is kept to; --yes asks
// nothing, and an end of the input is no answer to anything.
func TestInitAsks(t *testing.T) {
	const hookQuestion, ciQuestion = "Check each push before it leaves this machine? [y/N] ",
		"Write .github/workflows/sitelink.yml, so that GitHub Actions checks the site? [y/N] "
	for _, test := range []struct {
		name, typed string
		args        []string
		asked       string
		code        int
		hook, ci    bool
	}{
		{"both", "y\nYes\n", nil, hookQuestion + ciQuestion, exitClean, true, true},
		{"neither", "\nn\n", nil, hookQuestion + ciQuestion, exitClean, false, false},
		{"only the second", "maybe\nno\ny\n", nil, hookQuestion + hookQuestion + ciQuestion, exitClean, false, true},
		{"no sense at all", "1\n2\n3\ny\n", nil, strings.Repeat(hookQuestion, 3) + ciQuestion, exitClean, false, true},
		{"what a flag says is not asked", "y\n", []string{"--ci", "github"}, hookQuestion, exitClean, true, true},
		{"not asked", "y\ny\n", []string{"--yes"}, "", exitClean, false, false},
		{"gone", "y\n", nil, hookQuestion + ciQuestion + "\nsitelink: error: no answer\nsitelink: hint: nothing was written; use sitelink init --yes to answer yes to all questions\n",
			exitFailed, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := inRepository(t)
			stdout, stderr, code := atTerminal(t, t.Context(), strings.NewReader(test.typed), append([]string{"init"}, test.args...)...)
			if code != test.code || stderr != test.asked {
				t.Errorf("left with %d\nstdout %s\nstderr %q\nwant   %q", code, stdout, stderr, test.asked)
			}
			_, ciErr := os.Stat(filepath.Join(dir, ".github", "workflows", "sitelink.yml"))
			status, _, _ := atTerminal(t, t.Context(), nil, "hook", "status")
			if hooked := strings.Contains(status, "pre-push: installed "); hooked != test.hook || (ciErr == nil) != test.ci {
				t.Errorf("hook %v, CI %v; want %v, %v", hooked, ciErr == nil, test.hook, test.ci)
			}
			if _, err := os.Stat(filepath.Join(dir, setup.ConfigName)); (err == nil) != (code == exitClean) {
				t.Errorf("the configuration: %v", err)
			}
		})
	}
}

// A core.hooksPath that leads out of the repository is a question of its own: an archive can
// bring it along.
func TestInitAsksForHooksPath(t *testing.T) {
	if major, minor := 0, 0; testkit.Must(fmt.Sscanf(testkit.Git(t, t.TempDir(), "version"), "git version %d.%d", &major, &minor))(t) == 2 && (major > 2 || minor >= 54) {
		t.Skip("this git runs hooks by its configuration")
	}
	for answer, installed := range map[string]bool{"y": true, "n": false, "": false} {
		dir := inRepository(t)
		elsewhere := filepath.Join(filepath.Dir(dir), "elsewhere")
		testkit.Check(t, os.Mkdir(elsewhere, 0o755))
		testkit.Git(t, dir, "config", "core.hooksPath", elsewhere)
		stdout, asked, code := atTerminal(t, t.Context(), strings.NewReader("n\n"+answer+"\n"), "init", "--hook")
		_, err := os.Stat(filepath.Join(elsewhere, "pre-push"))
		if (err == nil) != installed || (code == exitClean) != installed || !strings.Contains(asked, "core.hooksPath leads out of the repository. Write the hook to "+elsewhere+"? [y/N] ") {
			t.Errorf("%q: exit code %d, hook %v\n%s\nasked %s", answer, code, err == nil, stdout, asked)
		}
	}
}

// A site with old faults is asked about a baseline; without a terminal, the answer
// is no.
// A Hugo site with an endpoint is offered the partial for mentions, any other site is
// not.
func TestInitAsksForMentions(t *testing.T) {
	inRepository(t)
	git := testkit.Must(exec.LookPath("git"))(t)
	bin := t.TempDir() // without Hugo
	testkit.Check(t, os.Symlink(git, filepath.Join(bin, "git")))
	t.Setenv("PATH", bin)
	const question = "Write layouts/partials/sitelink/mentions.html, which shows links from other sites on your pages? [y/N] "
	for _, step := range []struct{ file, text, typed string }{
		{"content/a.md", "a", "n\nn\n"},
		{"hugo.toml", "baseURL = 'https://blog.example/'\n", "n\nn\n"},
		{"sitelink.toml", "[templates]\nwebmention = 'https://blog.example/webmention'\n", "n\nn\nn\ny\n"},
	} {
		testkit.Write(t, step.file, step.text)
		_, asked, code := atTerminal(t, t.Context(), strings.NewReader(step.typed), "init")
		want := step.file == "sitelink.toml"
		if code != exitClean || strings.HasSuffix(asked, question) != want {
			t.Errorf("with %s: exit code %d, asked %q", step.file, code, asked)
		}
		if _, err := os.Stat("layouts/partials/sitelink/mentions.html"); (err == nil) != want {
			t.Errorf("with %s: %v", step.file, err)
		}
		if !want {
			os.Remove("sitelink.toml")
		}
	}
}

func TestInitAsksForBaseline(t *testing.T) {
	for typed, want := range map[string]bool{"n\ny\nn\n": true, "n\nn\nn\n": false} {
		dir := inRepository(t)
		testkit.Write(t, filepath.Join(dir, "public", "index.html"), `<title>t</title><a href="/gone.html">t</a>`)
		stdout, stderr, code := atTerminal(t, t.Context(), strings.NewReader(typed), "init")
		if code != exitClean || !strings.Contains(stdout, "found   1 finding in public; sitelink check lists them\n") ||
			!strings.Contains(stderr, "Accept these findings in a baseline, so that only new ones are reported? [y/N] ") {
			t.Errorf("left with %d\n%s%s", code, stdout, stderr)
		}
		if _, err := os.Stat(filepath.Join(dir, "sitelink-baseline.jsonl")); (err == nil) != want {
			t.Errorf("after %q a baseline: %v", typed, err)
		}
		if _, _, code := atTerminal(t, t.Context(), nil, "check"); (code == exitClean) != want {
			t.Errorf("after %q check leaves with %d", typed, code)
		}
	}
}

// Ctrl-C at a question ends init at once, and nothing is written.
func TestInitInterrupted(t *testing.T) {
	dir := inRepository(t)
	ctx, cancel := context.WithCancel(t.Context())
	silent, typist := io.Pipe()
	defer typist.Close()
	var out bytes.Buffer
	asked := writerFunc(func(p []byte) (int, error) {
		if bytes.Contains(p, []byte("[y/N]")) {
			cancel()
		}
		return len(p), nil
	})
	code := run(ctx, []string{"init"}, env{Stdin: silent, Stdout: &out, Stderr: asked, StdinTTY: true, StderrTTY: true, Getenv: func(string) string { return "" }})
	if code != exitInterrupted {
		t.Errorf("left with %d", code)
	}
	for _, name := range []string{setup.ConfigName, ".sitelink"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// Every key that the written configuration suggests is one that is understood:
// without the # in front of it the file still loads.
func TestInitSuggestions(t *testing.T) {
	key := regexp.MustCompile(`(?m)^# (\[\[ignore\]\]|[a-z-]+ = )`)
	for name, p := range map[string]setup.Facts{
		"found":   {Title: "Hugo", Build: `hugo --destination "$SITELINK_OUT"`, Docroot: "public", DocrootBy: "hugo.toml", BaseURLs: []string{"https://a.example/x/", "https://b.example/"}, Profile: "netlify", ProfileBy: "netlify.toml"},
		"nothing": {},
		"said":    {Docroot: "public", BaseURLs: []string{"https://a.example/"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := inRepository(t)
			text := p.Config().Text
			all := key.ReplaceAllString(text, "$1")
			if n := len(key.FindAllString(text, -1)); n < 9 {
				t.Fatalf("%d keys are suggested:\n%s", n, text)
			}
			for _, text := range []string{text, all} {
				testkit.Check(t, os.WriteFile(filepath.Join(dir, setup.ConfigName), []byte(text), 0o644))
				if _, stderr, code := atTerminal(t, t.Context(), nil, "check", "--fail-on", "never"); code != exitClean {
					t.Errorf("left with %d: %s\n%s", code, stderr, text)
				}
			}
		})
	}
}
