//go:build integration

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// recipeStep is a marked block of design/recipes.md.
var recipeStep = regexp.MustCompile("(?m)^<!-- (file|before|replace|run:) (.*) -->\n(?:````\\w*\n((?:.*\n)*?)````|```\\w*\n((?:.*\n)*?)```)$")

// TestRecipes follows design/recipes.md on a copy of the repository.
func TestRecipes(t *testing.T) {
	text, err := os.ReadFile("design/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	copyTree := exec.Command("sh", "-c", `git ls-files -co --exclude-standard -z | xargs -0 cp --parents -t "$0"`, dir)
	copyTree.Dir = ".."
	testkit.Run(t, copyTree)
	edit := func(name string, change func(string) string) {
		name = filepath.Join(dir, filepath.FromSlash(name))
		old, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := change(string(old))
		if text == string(old) {
			t.Fatalf("%s: nothing to change", name)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	runs := 0
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		title, _, _ := strings.Cut(section, "\n")
		for _, m := range recipeStep.FindAllStringSubmatch(section, -1) {
			what, block := m[2], m[3]+m[4]
			switch m[1] {
			case "file":
				name := filepath.Join(dir, filepath.FromSlash(what))
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(block), 0o644); err != nil {
					t.Fatal(err)
				}
			case "before":
				line, name, _ := strings.Cut(what, " in ")
				edit(name, func(s string) string { return strings.Replace(s, "\n"+line, "\n"+block+line, 1) })
			case "replace":
				old, instead, _ := strings.Cut(strings.TrimSuffix(block, "\n"), "\n")
				edit(strings.TrimPrefix(what, "in "), func(s string) string { return strings.Replace(s, old, instead, 1) })
			case "run:":
				runs++
				cmd := exec.Command("bash", "-eu", "-c", block)
				cmd.Dir = dir
				out, _ := cmd.CombinedOutput()
				if want := strings.TrimPrefix(what, "exit "); cmd.ProcessState == nil || want == "0" != cmd.ProcessState.Success() {
					t.Errorf("%s: %s\n%s%s", title, cmd.ProcessState, block, out)
				}
			}
		}
	}
	if runs < 2 {
		t.Errorf("%d recipes run", runs)
	}
}
