//go:build integration && linux

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// moduleSite is the real Hugo site of a Go module, in a repository of its own: such sites
// ask git about their files.
type moduleSite struct {
	t           *testing.T
	module, sub string
	repo, dir   string // the site is in dir
}

// newModuleSite makes the repository. It sets environment variables, so the test is not
// parallel.
func newModuleSite(t *testing.T, module, sub string) *moduleSite {
	t.Helper()
	hugo := os.Getenv("SITELINK_HUGO")
	if hugo == "" {
		t.Skip("SITELINK_HUGO is not set: it names a Hugo that is newer than Debian's")
	}
	for name, value := range map[string]string{
		"PATH":                       filepath.Dir(hugo) + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"HUGO_SECURITY_ALLOWCONTENT": ".*", "HUGO_TIMEOUT": "300s", "HUGO_CACHEDIR": t.TempDir(), "XDG_CACHE_HOME": t.TempDir(),
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
		"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
	} {
		t.Setenv(name, value)
	}
	repo := t.TempDir()
	s := &moduleSite{t: t, module: module, sub: sub, repo: repo, dir: filepath.Join(repo, sub)}
	s.in(repo, "git", "init", "-q", "-b", "main", ".")
	return s
}

// commit makes the files those of a version of the module, and commits and tags them.
func (s *moduleSite) commit(version string) {
	s.t.Helper()
	var module struct{ Dir string }
	testkit.Check(s.t, json.Unmarshal(s.in(s.t.TempDir(), "go", "mod", "download", "-json", s.module+"@"+version), &module))
	testkit.Check(s.t, os.RemoveAll(s.dir))
	s.in(s.repo, "cp", "-r", filepath.Join(module.Dir, s.sub), s.dir)
	s.in(s.repo, "chmod", "-R", "u+w", s.dir)
	s.in(s.repo, "git", "add", "-A")
	s.in(s.repo, "git", "commit", "-q", "-m", version)
	s.in(s.repo, "git", "tag", version)
}

// run runs a program in the directory of the site and returns its standard output.
func (s *moduleSite) run(name string, args ...string) []byte {
	s.t.Helper()
	return s.in(s.dir, name, args...)
}

func (s *moduleSite) in(dir, name string, args ...string) []byte {
	s.t.Helper()
	cmd := exec.Command(name, args...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("%s %q: %v\n%s%s", name, args, err, out, stderr.Bytes())
	}
	return out
}
