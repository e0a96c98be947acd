//go:build integration

package inject

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/testkit"
)

// tool finds a program among the npm packages of .ci/run, in an environment
// variable such as SITELINK_MKDOCS, or in PATH.
func tool(t *testing.T, name string) string {
	t.Helper()
	if npm := os.Getenv("SITELINK_NPM"); npm != "" {
		if program := filepath.Join(npm, "node_modules", ".bin", name); exec.Command("test", "-x", program).Run() == nil {
			return program
		}
	}
	if program := os.Getenv("SITELINK_" + strings.ToUpper(name)); program != "" {
		return program
	}
	program, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return program
}

func TestOtherGenerators(t *testing.T) {
	for _, c := range others {
		if c.tool == "" { // tested by hand: see docs/guide/link-elements.md
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			program := tool(t, c.tool)
			dir := t.TempDir()
			write(t, dir, c.files)
			build := func() string {
				cmd := exec.Command(program, c.args...)
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				if err == nil {
					_, err = os.Stat(filepath.Join(dir, c.docroot))
				}
				if err != nil {
					t.Fatalf("%s %v: %v\n%s", c.tool, c.args, err, out)
				}
				kept := t.TempDir()
				testkit.Check(t, os.CopyFS(kept, os.DirFS(filepath.Join(dir, c.docroot))))
				for _, made := range []string{c.docroot, ".jekyll-cache"} {
					testkit.Check(t, os.RemoveAll(filepath.Join(dir, made)))
				}
				return kept
			}
			if c.generator == generator.Eleventy { // it is called as the project has it
				bin := filepath.Join(dir, "node_modules", ".bin")
				testkit.Check(t, errors.Join(os.MkdirAll(bin, 0o755), os.Symlink(program, filepath.Join(bin, "eleventy"))))
			}
			before := state(t, dir)
			if p, ok := generator.Detect(dir, generator.None); !ok || p.Generator != c.generator {
				t.Fatalf("detected as %q", p.Generator)
			}
			p, plan, err := findWith(t, string(c.generator), program, dir, c.choice)
			testkit.Check(t, err)
			mustApply(t, plan)
			if again, err := Find(t.Context(), p); err != nil || !again.Clean() {
				t.Errorf("a second run would change: %v", err)
			}
			if again, err := Refresh(p); err != nil || !again.Clean() {
				t.Errorf("a second run without a build would change: %v", err)
			}
			built := readPages(t, build())
			for _, name := range c.with {
				if !slices.ContainsFunc(built, func(p page) bool { return p.name == name && p.count == 1 && p.inHead }) {
					t.Errorf("PB-65: %s does not have the elements exactly once in its head: %+v\n%s", name, built, plan.Diff())
				}
			}
			for _, name := range c.without {
				if !slices.ContainsFunc(built, func(p page) bool { return p.name == name && p.count == 0 }) {
					t.Errorf("%s must exist without the elements: %+v\n%s", name, built, plan.Diff())
				}
			}
			undo, err := Undo(p)
			if err == nil {
				err = undo.Apply()
			}
			if err != nil || state(t, dir) != before {
				found, _ := exec.Command("find", dir).Output()
				t.Errorf("after --undo the project differs from what it was: %v\n%s", err, found)
			}
			for _, p := range plan.Places {
				t.Logf("%s:%d: %s", p.Path, p.Line, strings.TrimSpace(p.How))
			}
		})
	}
}
