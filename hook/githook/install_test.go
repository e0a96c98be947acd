package githook

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.InMemory()
	m.Run()
}

// Older versions of git have one hook file. Install neither replaces that of a
// manager nor writes one that other repositories share, and leaves nothing behind.
func TestInstallRefused(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for _, test := range []struct {
		name   string
		config []string // key and value
		file   string   // in the root
		want   func(err error) bool
	}{
		{"husky", []string{"core.hooksPath", ".husky/_"}, "", func(err error) bool {
			var e *ManagedError
			return errors.As(err, &e) && e.Manager == "husky" && e.File == ".husky/pre-push"
		}},
		{"lefthook", nil, ".lefthook.yaml", func(err error) bool {
			var e *ManagedError
			return errors.As(err, &e) && e.Manager == "lefthook" && e.File == ".lefthook.yaml"
		}},
		{"hooks of all repositories", []string{"--global", "core.hooksPath", "~/../hooks"}, "", func(err error) bool {
			var e *SharedHooksError
			return errors.As(err, &e) && e.Scope == "global"
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			g := Git{Env: append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "GIT_CONFIG_NOSYSTEM=1")}.In(dir)
			if _, err := g.run(t.Context(), "init", "-q", "."); err != nil {
				t.Fatal(err)
			}
			if test.config != nil {
				if _, err := g.run(t.Context(), append([]string{"config"}, test.config...)...); err != nil {
					t.Fatal(err)
				}
			}
			if test.file != "" {
				testkit.Check(t, os.WriteFile(filepath.Join(dir, test.file), nil, 0o644))
			}
			repo, err := Open(t.Context(), g)
			testkit.Check(t, err)
			status, err := repo.Install(t.Context(), InstallOptions{Program: "/opt/my tools/sitelink"})
			if status.ConfigHooks {
				if err != nil || status.Method != ByConfig {
					t.Errorf("git %s needs no file, got %v, %v", status.Git, status.Method, err)
				}
				return
			}
			if !test.want(err) {
				t.Errorf("got %v", err)
			}
			if _, err := os.Lstat(status.File); err == nil {
				t.Errorf("%s was written", status.File)
			}
		})
	}
}

func TestShellQuote(t *testing.T) {
	for in, want := range map[string]string{"/usr/bin/sitelink": "/usr/bin/sitelink", "C:/Program Files/x": "'C:/Program Files/x'", "a'b": `'a'\''b'`, "": "''", "$(x)": "'$(x)'"} {
		if got := shellQuote(in); got != want {
			t.Errorf("%q became %s, want %s", in, got, want)
		}
	}
}

// What Install writes is read back, and so is what people write into the files of
// managers.
func TestSitesOf(t *testing.T) {
	for _, sites := range [][]string{{"."}, {"one"}, {".", "two"}, {"a 'quoted' b", "one", "two"}} {
		if got := sitesOf(hookFile("/opt/sitelink", "/usr/local/bin", sites, true)); !slices.Equal(got, sites) {
			t.Errorf("hook file of %q: got %q", sites, got)
		}
		if got := sitesOf("'/opt/my tools/sitelink'" + runs(sites)); !slices.Equal(got, sites) {
			t.Errorf("command of %q: got %q", sites, got)
		}
	}
	for _, manager := range []string{"husky", "lefthook", "pre-commit", "overcommit", "core.hooksPath"} {
		for _, sites := range [][]string{{"."}, {"docs"}, {".", "docs/site", "my site"}} {
			if got := sitesOf(Snippet(manager, sites...)); !slices.Equal(got, sites) {
				t.Errorf("%s, %q: got %q from\n%s", manager, sites, got, Snippet(manager, sites...))
			}
		}
	}
	for text, want := range map[string][]string{
		"sitelink hook run pre-push --dir=two \"$@\"\nother --dir three\nsitelink hook run pre-push \"$@\"\n":                                                         {".", "two"},
		"    hooks:\n      - id: sitelink-system\n        args: ['--dir', \"my site\"]\n      - id: other\n        args: [--dir, three]\n":                            {"my site"},
		"- id: sitelink\n  args:\n    - --dir\n    - one/\n    - --dir\n    - two\n- repo: https://example.org/\n  hooks:\n  - id: black\n    args: [--dir, three]\n": {"one", "two"},
		"echo nothing of the kind": nil,
	} {
		if got := sitesOf(text); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q from\n%s", got, want, text)
		}
	}
}
