package setup

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/testkit"
)

// examined examines a project of these files, and returns the diagnoses by name.
func examined(t *testing.T, files map[string]string) map[string]Diagnosis {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	bin := t.TempDir() // git alone, and no generator
	if err := os.Symlink(git, filepath.Join(bin, "git")); err != nil {
		t.Skip(err)
	}
	t.Setenv("PATH", bin)
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	for name, text := range files {
		testkit.Write(t, name, text)
	}
	survey := testkit.Must(Look(t.Context(), dir, Options{Env: os.Environ(), Version: "1.2.3"}))(t)
	d := &Doctor{Survey: survey, Env: os.Environ(), Getenv: os.Getenv}
	cfg, err := config.Load(config.Input{})
	if d.ConfigErr = err; err == nil {
		if d.Project, err = project.Find(t.Context(), dir, project.Options{Config: cfg, Env: os.Environ()}); err != nil {
			t.Fatal(err)
		}
	}
	all := map[string]Diagnosis{}
	for _, one := range d.Examine(t.Context()) {
		all[one.Name] = one
	}
	return all
}

func TestExamine(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  map[string]string // name to state
	}{
		{"site", map[string]string{"public/index.html": "<p>x", "sitelink.toml": "base-url = 'https://example.net/'\nprofile = 'nginx'\n"},
			map[string]string{"config": OK, "docroot": OK, "base-url": OK, "host": OK, "generator": Off, "hook": Off, "ledger": Off, "endpoints": Off, "ci": Off}},
		{"not_built", map[string]string{"hugo.toml": "baseURL = 'https://example.org/'\n"},
			map[string]string{"config": Off, "docroot": Wrong, "base-url": Off, "generator": Wrong}},
		{"own_machine", map[string]string{"hugo.toml": "baseURL = 'http://0.0.0.0:1313/docs/'\n"}, map[string]string{"base-url": Off}},
		{"intranet", map[string]string{"hugo.toml": "baseURL = 'http://docs.internal/'\n"}, map[string]string{"base-url": OK}},
		{"wrong_configuration", map[string]string{"public/index.html": "x", "sitelink.toml": "docrot = 'public'\n"},
			map[string]string{"config": Wrong, "docroot": OK, "ledger": Off, "endpoints": Off}},
		{"host_conflict", map[string]string{"public/index.html": "x", "netlify.toml": "", "vercel.json": "{}"},
			map[string]string{"host": Wrong}},
		{"endpoints_missing", map[string]string{
			"hugo.toml": "", "layouts/_default/baseof.html": "<html><head><title>x</title></head></html>", "public/index.html": "x",
			"sitelink.toml": "[templates]\nwebmention = 'https://example.net/webmention'\n"},
			map[string]string{"endpoints": Wrong}},
		{"ci", map[string]string{"public/index.html": "x", ".github/workflows/site.yml": "run: sitelink check public\n"},
			map[string]string{"ci": OK}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			all := examined(t, test.files)
			for name, state := range test.want {
				if one := all[name]; one.State != state || one.Text == "" || one.State == Wrong && one.Command == "" {
					t.Errorf("%s: %+v, want the state %s", name, one, state)
				}
			}
		})
	}
}

// TestDoctorFiles: doctor names the two files to commit, as the project calls them.
func TestDoctorFiles(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"commit sitelink.toml and sitelink-baseline.jsonl, if there; git ignores .sitelink, where everything else is": {"public/index.html": "x"},
		"commit .sitelink.toml and known.jsonl, if there; git ignores .sitelink, where everything else is": {
			"public/index.html": "x", ".sitelink.toml": "[check]\nbaseline = 'known.jsonl'\n"},
	} {
		if one := examined(t, files)["files"]; one.State != OK || one.Text != want {
			t.Errorf("%+v, want %q", one, want)
		}
	}
}
