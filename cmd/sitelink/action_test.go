//go:build unix

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

// TestAction runs the script of the GitHub action as action.yml does.
func TestAction(t *testing.T) {
	script := testkit.Must(filepath.Abs("../../.ci/action"))(t)
	dir := t.TempDir()
	testkit.Write(t, filepath.Join(dir, "public", "a.html"), `<title>t</title><a href="gone.html">t</a>`)
	for _, test := range []struct {
		name    string
		env     []string
		code    int
		log     string
		summary string
		outputs string
	}{
		{"annotations and a summary", []string{"INPUT_DOCROOT=public", "INPUT_FORMAT=github"}, exitFindings, "::error file=public/a.html,line=1", "gone.html", "1 1"},
		{"another format", []string{"INPUT_DOCROOT=public", "INPUT_FORMAT=text"}, exitFindings, "public/a.html:1:26: error: ", "gone.html", "1 1"},
		{"markdown only once", []string{"INPUT_DOCROOT=public", "INPUT_FORMAT=markdown"}, exitFindings, "gone.html", "^before\n$", "1 1"},
		{"never fails", []string{"INPUT_DOCROOT=public", "INPUT_FAIL_ON=never"}, exitClean, "::error", "gone.html", "0 1"},
		{"arguments, one per line", []string{"INPUT_DOCROOT=public", "INPUT_ARGS=--ignore\ngone.html\n"}, exitClean, "", "before", "0 0"},
		{"a missing baseline", []string{"INPUT_DOCROOT=public", "INPUT_BASELINE=no such"}, exitUsage, "read baseline no such", "^before\n$", "2 "},
		{"no command comes of an input", []string{"INPUT_DOCROOT=$(touch evil); `touch evil`"}, exitFailed, "no such file", "^before\n$", "3 "},
	} {
		t.Run(test.name, func(t *testing.T) {
			summary := filepath.Join(t.TempDir(), "summary.md")
			testkit.Write(t, summary, "before\n")
			cmd := exec.Command("bash", script)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), append(test.env, "GITHUB_STEP_SUMMARY="+summary, "GITHUB_OUTPUT="+summary+".out")...)
			out, err := cmd.CombinedOutput()
			checkExit(t, err, test.code)
			if !strings.Contains(string(out), test.log) {
				t.Errorf("log %s\nhas no %q", out, test.log)
			}
			text, err := os.ReadFile(summary)
			if err != nil || !regexp.MustCompile(test.summary).Match(text) || !strings.HasPrefix(string(text), "before\n") {
				t.Errorf("summary %q, %v, want %q", text, err, test.summary)
			}
			code, findings, _ := strings.Cut(test.outputs, " ")
			if got, want := string(testkit.Read(t, summary+".out")), "exit-code="+code+"\nfindings="+findings+"\n"; got != want {
				t.Errorf("outputs %q, want %q", got, want)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "evil")); err == nil {
		t.Error("an input became a command")
	}
}

// TestActionInputs: each input of action.yml reaches the script, and the
// script reads no other.
func TestActionInputs(t *testing.T) {
	action := testkit.Read(t, "../../action.yml")
	script := testkit.Read(t, "../../.ci/action")
	head, outputs, _ := strings.Cut(string(action), "\noutputs:")
	inputs := regexp.MustCompile(`(?m)^  ([a-z-]+):$`).FindAllStringSubmatch(head, -1)
	if len(inputs) != 6 {
		t.Fatalf("action.yml has %d inputs", len(inputs))
	}
	read := map[string]bool{}
	for _, m := range regexp.MustCompile(`INPUT_[A-Z_]+`).FindAllString(string(script), -1) {
		read[m] = true
	}
	for _, m := range inputs {
		name := "INPUT_" + strings.ToUpper(strings.ReplaceAll(m[1], "-", "_"))
		if !strings.Contains(string(action), name+": ${{ inputs."+m[1]+" }}") || !read[name] {
			t.Errorf("the input %s gets lost on its way to the script", m[1])
		}
		delete(read, name)
	}
	if len(read) > 0 {
		t.Errorf("the script reads %v", read)
	}
	// The script writes each output, and the guide names it.
	outputs, _, _ = strings.Cut(outputs, "\nruns:")
	guide := string(testkit.Read(t, "../../docs/guide/ci.md"))
	names := regexp.MustCompile(`(?m)^  ([a-z-]+):$`).FindAllStringSubmatch(outputs, -1)
	for _, m := range names {
		if !strings.Contains(outputs, "value: ${{ steps.check.outputs."+m[1]+" }}") || !strings.Contains(string(script), m[1]+"=%s") || !strings.Contains(guide, "`"+m[1]+"`") {
			t.Errorf("the output %s gets lost on its way from the script", m[1])
		}
	}
	if len(names) != 2 || !strings.Contains(string(action), "\n      id: check\n") {
		t.Errorf("%d outputs", len(names))
	}
}
