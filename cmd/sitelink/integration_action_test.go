//go:build integration && unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// actionStep is a step of action.yml that runs a script.
type actionStep struct {
	name, script string
	env          map[string]string // values as written there
}

// actionSteps reads action.yml as far as its form is used: steps with one line
// each of name, shell and run, and a table env.
func actionSteps(t *testing.T) (steps []actionStep, defaults map[string]string) {
	t.Helper()
	text := testkit.Read(t, "../../action.yml")
	head, body, ok := strings.Cut(string(text), "\n  steps:\n")
	if !ok {
		t.Fatal("action.yml has no steps")
	}
	defaults = map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z-]+):\n    description: .*\n    default: (.*)$`).FindAllStringSubmatch(head, -1) {
		defaults[m[1]] = strings.Trim(m[2], `"`)
	}
	for _, part := range strings.Split(body, "\n    - ")[1:] {
		if action, ok := strings.CutPrefix(part, "uses: "); ok {
			if !strings.HasPrefix(action, "actions/cache@") || !strings.Contains(part, "        path: .sitelink\n") {
				t.Fatalf("the step is not understood:\n%s", part)
			}
			continue
		}
		step := actionStep{env: map[string]string{}}
		shell := ""
		for line := range strings.Lines("      " + part) {
			line = strings.TrimRight(line, "\n")
			if value, ok := strings.CutPrefix(line, "      name: "); ok {
				step.name = value
			}
			if value, ok := strings.CutPrefix(line, "      shell: "); ok {
				shell = value
			}
			if value, ok := strings.CutPrefix(line, "      run: "); ok {
				step.script = value
			}
			if m := regexp.MustCompile(`^        ([A-Z_]+): (.*)$`).FindStringSubmatch(line); m != nil {
				step.env[m[1]] = m[2]
			}
		}
		if shell != "bash" || step.script == "" {
			t.Fatalf("the step %q is not understood:\n%s", step.name, part)
		}
		steps = append(steps, step)
	}
	if len(steps) != 2 || len(defaults) != 6 {
		t.Fatalf("%d steps, %d inputs in action.yml", len(steps), len(defaults))
	}
	return steps, defaults
}

// TestActionSteps runs the steps of action.yml one after the other, as the
// runner does: with its shell, its variables, and the inputs put in.
func TestActionSteps(t *testing.T) {
	steps, defaults := actionSteps(t)
	root := testkit.Must(filepath.Abs("../.."))(t)
	temp := t.TempDir()
	// step runs one step in the workspace with inputs, and returns its output.
	step := func(s actionStep, workspace, summary string, inputs map[string]string) (string, error) {
		file := filepath.Join(t.TempDir(), "step.sh")
		testkit.Write(t, file, s.script+"\n")
		cmd := exec.Command("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", file)
		cmd.Dir = workspace
		cmd.Env = append(os.Environ(), "CI=true", "GITHUB_ACTIONS=true", "GITHUB_ACTION_PATH="+root, "GITHUB_WORKSPACE="+workspace,
			"RUNNER_TEMP="+temp, "GITHUB_STEP_SUMMARY="+summary)
		for name, value := range s.env {
			input, ok := strings.CutPrefix(value, "${{ inputs.")
			input, ok2 := strings.CutSuffix(input, " }}")
			if !ok || !ok2 {
				t.Fatalf("the value %s of %s is not understood", value, name)
			}
			given, ok := inputs[input]
			if !ok {
				given = defaults[input]
			}
			cmd.Env = append(cmd.Env, name+"="+given)
		}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := step(steps[0], t.TempDir(), "", nil); err != nil {
		t.Fatalf("%s: %v\n%s", steps[0].name, err, out)
	}

	workspace := t.TempDir()
	testkit.Write(t, filepath.Join(workspace, "dist", "a.html"), `<title>t</title><a href="gone.html">t</a><a href="Other.html">t</a>`)
	testkit.Write(t, filepath.Join(workspace, "dist", "other.html"), "<title>t</title>")
	accepted := exec.Command("sitelink", "baseline", "write", "dist", "--reason", "a test", "--baseline", "accepted.jsonl")
	accepted.Dir = workspace
	testkit.Run(t, accepted)
	testkit.Write(t, filepath.Join(workspace, "dist", "new.html"), `<title>t</title><a href="also-gone.html">t</a>`)
	testkit.Write(t, filepath.Join(workspace, "blog", "_config.yml"), "title: t\n")
	testkit.Write(t, filepath.Join(workspace, "blog", "index.md"), "---\n---\n\nA [link](gone.html).\n")
	testkit.Write(t, filepath.Join(workspace, "blog", "_site", "index.html"), `<title>t</title><p>A <a href="gone.html">link</a>.`)
	for _, test := range []struct {
		name         string
		inputs       map[string]string
		code         int
		log, summary []string
		notInLog     string
	}{
		{"docroot", map[string]string{"docroot": "dist"}, exitFindings,
			[]string{"::error file=dist/a.html,line=1,col=26", "::error file=dist/new.html,line=1,col=26"}, []string{"gone.html", "also-gone.html", "new.html"}, ""},
		{"format", map[string]string{"docroot": "dist", "format": "text"}, exitFindings,
			[]string{"dist/a.html:1:26: error: ", "3 errors"}, []string{"also-gone.html"}, "::error"},
		{"fail-on", map[string]string{"docroot": "dist", "fail-on": "never"}, exitClean,
			[]string{"::error file=dist/a.html"}, []string{"also-gone.html"}, ""},
		{"baseline", map[string]string{"docroot": "dist", "baseline": "accepted.jsonl"}, exitFindings,
			[]string{"::error file=dist/new.html"}, []string{"also-gone.html"}, "file=dist/a.html"},
		{"profile", map[string]string{"docroot": "dist", "format": "text", "profile": "hugo-server"}, exitFindings,
			[]string{"(profile hugo-server)"}, []string{"also-gone.html"}, ""},
		{"lines of the sources", map[string]string{"docroot": "blog/_site"}, exitFindings,
			[]string{"::error file=blog/index.md,line=4,col=10"}, []string{"blog/index.md"}, "file=blog/_site"},
		{"no docroot", map[string]string{"docroot": "public"}, exitFailed,
			[]string{"no such file or directory", "build the site first"}, nil, "::error file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			summary := filepath.Join(t.TempDir(), "summary.md")
			out, err := step(steps[1], workspace, summary, test.inputs)
			checkExit(t, err, test.code)
			for _, want := range test.log {
				if !strings.Contains(out, want) {
					t.Errorf("the log\n%s\nhas no %q", out, want)
				}
			}
			if test.notInLog != "" && strings.Contains(out, test.notInLog) {
				t.Errorf("the log\n%s\nhas %q", out, test.notInLog)
			}
			text, _ := os.ReadFile(summary)
			for _, want := range test.summary {
				if !strings.Contains(string(text), want) {
					t.Errorf("the summary\n%s\nhas no %q", text, want)
				}
			}
			if test.summary == nil && len(text) > 0 {
				t.Errorf("the summary of a check that was not made:\n%s", text)
			}
		})
	}
}
